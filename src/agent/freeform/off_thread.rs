//! Computations that may be slow, off the asynchronous threads.

use std::time::Duration;

/// The most of a processor's time that the templates of a request may take.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// The longest that they, or the paths of a reply, may take by the clock: others may need the processor.
const LONGEST: Duration = Duration::from_secs(60);

/// Why a computation has no result.
#[derive(Debug, thiserror::Error)]
pub(in crate::agent) enum OffThreadError {
    /// It takes longer than the limit.
    #[error("it takes longer than {LONGEST:?}")]
    TooSlow,
    /// It panicked.
    #[error("eval-job itself failed: {0}")]
    Panicked(#[from] tokio::task::JoinError),
}

/// Runs a computation on a thread of its own, and waits for it no longer than a minute.
pub(in crate::agent) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, OffThreadError> {
    let done = tokio::time::timeout(LONGEST, tokio::task::spawn_blocking(work)).await;
    Ok(done.map_err(|_| OffThreadError::TooSlow)??)
}
