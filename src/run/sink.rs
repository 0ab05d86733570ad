//! The interface to the journal of a run.

use std::io;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::record::Entry;

/// The crash that an entry must outlive before anything goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A crash or a kill of this process.
    Process,
    /// A crash of the machine.
    Machine,
}

/// Receives the entries of a run. An error ends the run, since nothing may happen that is not recorded.
pub trait Sink: Send + Sync {
    /// Appends an entry. Entries of one trial keep their order.
    ///
    /// # Errors
    /// This entry, or one before it, can't be kept.
    fn append(&self, entry: Entry) -> io::Result<()>;

    /// Waits until all entries appended before this call are kept.
    fn kept(&self, durability: Durability) -> BoxFuture<'_, io::Result<()>>;
}

/// The longest time for which what was appended waits for more, to be kept with it.
const SOON: Duration = Duration::from_millis(50);

/// Waits for something. What was appended before is kept soon, also where that takes long: what a model has answered is paid for.
///
/// # Errors
/// Those of the sink.
pub(super) async fn kept_soon<F: Future>(sink: &dyn Sink, awaited: F) -> io::Result<F::Output> {
    let mut awaited = std::pin::pin!(awaited);
    match tokio::time::timeout(SOON, &mut awaited).await {
        Ok(output) => Ok(output),
        Err(_) => {
            // Together: what is awaited may itself be writing for all, and would never get on while nobody polls it.
            let (kept, output) = tokio::join!(sink.kept(Durability::Process), awaited);
            kept.map(|()| output)
        }
    }
}

/// A function that has kept an entry when it returns.
impl<F: Fn(Entry) -> io::Result<()> + Send + Sync> Sink for F {
    fn append(&self, entry: Entry) -> io::Result<()> {
        self(entry)
    }

    fn kept(&self, _: Durability) -> BoxFuture<'_, io::Result<()>> {
        std::future::ready(Ok(())).boxed()
    }
}
