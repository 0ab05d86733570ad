//! The reports of waits and retries.

use std::time::Duration;

/// The reason of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason<'a> {
    /// A model of our own.
    Model,
    /// The agent under test, which refuses requests.
    Agent,
    /// The agent's own greeting.
    Greeting,
    /// Another attempt after one that failed.
    Retry {
        /// Who failed: [`WaitReason::AGENT`], `the judge's model`.
        service: &'a str,
        /// The error.
        error: &'a str,
    },
}

impl WaitReason<'_> {
    /// The agent under test, as one that failed is called.
    pub const AGENT: &'static str = "the agent";
}

/// Called with the reason and the length of a wait that begins.
pub type OnWait = dyn Fn(WaitReason<'_>, Duration) + Send + Sync;
