//! What else was wrong when a try failed: what the agent needs may have been down, and then the try says nothing about it.
//!
//! Whoever talks with an agent says whom to ask; the places where tries fail ask. It travels with the task, so that no
//! transport has to carry it.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{AgentError, AgentErrorKind};
use crate::descriptors;

tokio::task_local! {
    static WITNESS: Witness;
}

type Look = dyn Fn(String) -> BoxFuture<'static, Option<String>> + Send + Sync;

/// Knows what a try may have failed for, beside the agent.
#[derive(Clone)]
pub struct Witness(Arc<Look>);

impl Witness {
    /// `look` is given the words of the failure and tells what else was wrong, in a sentence.
    pub fn new(look: impl Fn(String) -> BoxFuture<'static, Option<String>> + Send + Sync + 'static) -> Witness {
        Witness(Arc::new(look))
    }

    /// Is asked about every try that fails in this talk.
    pub async fn during<T>(self, talk: impl Future<Output = T>) -> T {
        WITNESS.scope(self, talk).await
    }

    /// Why a try that has just failed does not count, if there is a reason.
    pub async fn excuse(&self, error: &AgentError) -> Option<String> {
        if error.kind == AgentErrorKind::NoDescriptor || descriptors::none_left() {
            return Some(descriptors::NONE_LEFT.to_owned());
        }
        (self.0)(error.message.clone()).await
    }
}

/// The same, of whoever is asked in this task; nobody knows anything where nobody is.
pub(super) async fn excuse(error: &AgentError) -> Option<String> {
    match WITNESS.try_with(Clone::clone) {
        Ok(witness) => witness.excuse(error).await,
        Err(_) => None,
    }
}
