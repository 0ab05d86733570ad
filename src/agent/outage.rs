//! Outages of the agent's dependencies: an attempt that fails meanwhile says nothing about the agent.
//!
//! The runner sets the check; the places where attempts fail call it. It is local to the task, so that no transport has to
//! pass it on.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{AgentError, AgentErrorKind};
use crate::clock::was_paused_lately;
use crate::descriptors;

tokio::task_local! {
    static OUTAGE_CHECK: OutageCheck;
}

type CheckOutage = dyn Fn(String) -> BoxFuture<'static, Option<String>> + Send + Sync;

/// Checks whether an outage beside the agent made an attempt fail.
#[derive(Clone)]
pub struct OutageCheck(Arc<CheckOutage>);

impl OutageCheck {
    /// `check` gets the failure's message and returns the outage, in a sentence.
    pub fn new(check: impl Fn(String) -> BoxFuture<'static, Option<String>> + Send + Sync + 'static) -> OutageCheck {
        OutageCheck(Arc::new(check))
    }

    /// Uses it for every attempt that fails in this conversation.
    pub async fn during<T>(self, talk: impl Future<Output = T>) -> T {
        OUTAGE_CHECK.scope(self, talk).await
    }

    /// The outage because of which an attempt that has just failed does not count.
    pub async fn excuse(&self, error: &AgentError) -> Option<String> {
        if error.kind == AgentErrorKind::NoDescriptor || descriptors::are_exhausted() {
            return Some(descriptors::NONE_LEFT.to_owned());
        }
        if error.kind == AgentErrorKind::NoNetwork {
            return Some("this machine had no network".to_owned());
        }
        let may_be_of_pause = matches!(
            error.kind,
            AgentErrorKind::Cut | AgentErrorKind::Timeout | AgentErrorKind::BadReply | AgentErrorKind::Unreachable
        );
        if may_be_of_pause && was_paused_lately() {
            return Some("eval-job itself was stopped meanwhile".to_owned());
        }
        (self.0)(error.message.clone()).await
    }
}

/// The outage by the check of the current task.
pub(super) async fn excuse(error: &AgentError) -> Option<String> {
    match OUTAGE_CHECK.try_with(Clone::clone) {
        Ok(check) => check.excuse(error).await,
        Err(_) => None,
    }
}
