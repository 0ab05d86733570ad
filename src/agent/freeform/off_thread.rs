//! Computations that may be slow, off the asynchronous threads.

use std::time::Duration;

/// The longest that the templates of a request, or the paths of a reply, may take.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// Carries it out on a thread of its own, which nobody waits for longer than the limit.
pub(in crate::agent) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    match tokio::time::timeout(LIMIT, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(made)) => Ok(made),
        Ok(Err(error)) => Err(format!("eval-job itself failed: {error}")),
        Err(_) => Err(format!("it takes longer than {LIMIT:?}")),
    }
}
