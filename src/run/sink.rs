//! The interface to the journal of a run.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::cassette::{Cassette, KeptEntry};
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

/// The sink of a run that is recorded or replayed. Where the time limit of the recorded run cut a trial off, its replay keeps the same
/// entries as were kept then, and no more.
pub(super) struct TapedSink {
    pub(super) sink: Arc<dyn Sink>,
    pub(super) cassette: Cassette,
}

impl Sink for TapedSink {
    fn append(&self, entry: Entry) -> io::Result<()> {
        let Some((trial, kept)) = kept_entry(&entry) else { return self.sink.append(entry) };
        let tape = self.cassette.tape(trial);
        if !tape.may_keep(kept) {
            return Ok(());
        }
        self.sink.append(entry)?;
        tape.kept(kept);
        Ok(())
    }

    fn kept(&self, durability: Durability) -> BoxFuture<'_, io::Result<()>> {
        self.sink.kept(durability)
    }
}

/// The trial of an entry, and what a recording has to know of it; `None` of those that are kept also when a trial is dropped.
fn kept_entry(entry: &Entry) -> Option<(u32, KeptEntry)> {
    let kept = match entry {
        Entry::ModelAsking { .. } | Entry::ModelAsked { .. } | Entry::AgentOutput { .. } => return None,
        Entry::Judged { place: Some(place), .. } => KeptEntry::Verdict(*place),
        _ => KeptEntry::InOrder,
    };
    Some((entry.trial()?, kept))
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

#[cfg(test)]
mod tests {
    use tokio::sync::{Mutex, watch};

    use super::*;

    /// Keeps entries by a lock that is handed on in the order in which it was asked for, as a journal does.
    struct FairSink {
        lock: Mutex<()>,
        /// How often it was asked to keep what was appended.
        asked: watch::Sender<u32>,
    }

    impl Sink for FairSink {
        fn append(&self, _: Entry) -> io::Result<()> {
            Ok(())
        }

        fn kept(&self, _: Durability) -> BoxFuture<'_, io::Result<()>> {
            self.asked.send_modify(|asked| *asked += 1);
            self.lock.lock().map(|_| Ok(())).boxed()
        }
    }

    #[tokio::test]
    async fn what_is_awaited_may_be_the_one_that_writes_for_all() {
        let sink = FairSink { lock: Mutex::default(), asked: watch::Sender::new(0) };
        let writer = sink.lock.lock().await;
        // It asks first, so it has the lock next, and must be polled to give it up.
        let awaited = async {
            sink.kept(Durability::Process).await.unwrap();
            "answer"
        };
        let writes = async {
            sink.asked.subscribe().wait_for(|asked| *asked == 2).await.unwrap();
            drop(writer);
        };
        let both = async { tokio::join!(kept_soon(&sink, awaited), writes).0.unwrap() };
        assert_eq!(tokio::time::timeout(Duration::from_secs(20), both).await, Ok("answer"));
    }
}
