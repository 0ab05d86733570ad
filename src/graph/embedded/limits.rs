//! How much a query of the embedded graph may take.

use std::time::Duration;

use super::config::Megabytes;

/// How much a query may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedLimits {
    /// The most rows of a result, and of what a query must hold on the way to it; 0 sets no limit. Sessions have none.
    pub rows: usize,
    /// The longest that a statement may take, waiting for earlier ones included.
    pub time: Duration,
    /// The most bytes that a statement may take, and the graph.
    pub memory: usize,
}

impl Default for EmbeddedLimits {
    fn default() -> EmbeddedLimits {
        EmbeddedLimits { rows: 100_000, time: Duration::from_secs(30), memory: Megabytes::default().bytes() }
    }
}
