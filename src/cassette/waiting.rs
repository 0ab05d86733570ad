//! Waits that were given up: in replay, a request that was no longer waited for ends the same wait at once.

use std::sync::Arc;

use tokio::sync::Notify;

tokio::task_local! {
    static WAITING: Arc<Notify>;
}

/// Waits for a future that may be given up; `None` where a request within it was given up in the recording.
pub async fn while_answered<F: Future>(future: F) -> Option<F::Output> {
    let given_up = Arc::new(Notify::new());
    tokio::select! {
        biased;
        outcome = WAITING.scope(given_up.clone(), future) => Some(outcome),
        () = given_up.notified() => None,
    }
}

/// Signals the waiting caller that a request was given up; `false` where none waits.
pub(super) fn give_up() -> bool {
    WAITING.try_with(|given_up| given_up.notify_one()).is_ok()
}
