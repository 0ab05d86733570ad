//! A subcommand as it was called.

use std::sync::Arc;

use super::context::Context;
use super::printer::Printer;

/// The arguments of a subcommand, the context of the process, and the printer.
pub(super) struct Invocation<'a, A> {
    pub(super) args: &'a A,
    pub(super) context: &'a Context,
    pub(super) printer: &'a Arc<Printer>,
}

impl<A> Clone for Invocation<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Invocation<'_, A> {}
