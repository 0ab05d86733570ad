//! Outages of what the agent needs: an attempt that fails meanwhile says nothing about the agent.
//!
//! The runner sets the check; the places where attempts fail call it. It is local to the task, so that no
//! transport has to carry it.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{AgentError, AgentErrorKind};
use crate::descriptors;

tokio::task_local! {
    static OUTAGE_CHECK: OutageCheck;
}

type Look = dyn Fn(String) -> BoxFuture<'static, Option<String>> + Send + Sync;

/// Checks whether something beside the agent made an attempt fail.
#[derive(Clone)]
pub struct OutageCheck(Arc<Look>);

impl OutageCheck {
    /// `look` is given the failure's message and returns the outage, in a sentence.
    pub fn new(look: impl Fn(String) -> BoxFuture<'static, Option<String>> + Send + Sync + 'static) -> OutageCheck {
        OutageCheck(Arc::new(look))
    }

    /// Uses it for every attempt that fails in this conversation.
    pub async fn during<T>(self, talk: impl Future<Output = T>) -> T {
        OUTAGE_CHECK.scope(self, talk).await
    }

    /// Why an attempt that has just failed does not count, if there is a reason.
    pub async fn excuse(&self, error: &AgentError) -> Option<String> {
        if error.kind == AgentErrorKind::NoDescriptor || descriptors::none_left() {
            return Some(descriptors::NONE_LEFT.to_owned());
        }
        (self.0)(error.message.clone()).await
    }
}

/// The same by the task's own check, where it has one.
pub(super) async fn excuse(error: &AgentError) -> Option<String> {
    match OUTAGE_CHECK.try_with(Clone::clone) {
        Ok(witness) => witness.excuse(error).await,
        Err(_) => None,
    }
}
