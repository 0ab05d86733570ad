//! Keeps the entries of a run while it goes on, and shows them.

use std::io;
use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::progress::Live;
use crate::record::Entry;
use crate::run::{self, Durability};
use crate::store::folder::Journal;

/// The sink of a run: entries go to the journal first, then to the screen.
pub(super) struct RunSink {
    pub(super) journal: Journal,
    pub(super) live: Live,
    /// Lines of entries that may not be written yet.
    lines: Mutex<Vec<String>>,
    /// Held while lines are given to the screen, so that they keep their order; nothing else waits for it.
    showing: Mutex<()>,
}

impl RunSink {
    /// Keeps entries in this journal.
    pub(super) fn new(journal: Journal, live: &Live) -> RunSink {
        RunSink { journal, live: live.clone(), lines: Mutex::default(), showing: Mutex::default() }
    }

    /// Shows appended entries.
    fn show(&self) {
        let indent = self.live.progress().indent();
        let _showing = self.showing.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner));
        if !lines.is_empty() {
            self.live.show(lines.join("\n"), indent);
        }
    }
}

impl run::Sink for RunSink {
    fn append(&self, entry: Entry) -> io::Result<()> {
        let kept = self.journal.append(&entry)?;
        let mut progress = self.live.progress();
        if let Some(lines) = progress.lines(&kept) {
            self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(lines);
        }
        Ok(())
    }

    fn kept(&self, durability: Durability) -> BoxFuture<'_, io::Result<()>> {
        let kept = async move {
            match durability {
                Durability::Process => self.journal.written().await?,
                Durability::Machine => self.journal.synced().await?,
            }
            self.show();
            Ok(())
        };
        kept.boxed()
    }
}
