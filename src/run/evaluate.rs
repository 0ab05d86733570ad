//! Evaluating assertions: off the asynchronous threads, so that nothing else waits for a slow one.

use std::io;

use super::Engine;
use super::trial::TrialAbort;

/// Runs a computation, which may take as long as the deadlines of the assertions allow, without blocking the caller's thread.
pub(super) async fn off_thread<T: Send + 'static>(
    engine: &Engine,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TrialAbort> {
    let internal =
        |error: &dyn std::fmt::Display| TrialAbort::Sink(io::Error::other(format!("eval-job itself failed: {error}")));
    let slot = engine.resources.evaluations.clone().acquire_owned().await.map_err(|error| internal(&error))?;
    let done = tokio::task::spawn_blocking(move || {
        let _slot = slot;
        work()
    });
    done.await.map_err(|error| internal(&error))
}
