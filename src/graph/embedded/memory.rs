//! The memory limit of a statement, and how it is enforced.
//!
//! Every allocation of this process is counted for the thread that makes it, so that a bound holds for all that the
//! engine and we do with a statement, whatever it is. Memory that is free again goes back to the system.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graphdblite::allocator::PerThread;
use graphdblite::bounds::{Bounds, Counting, Exceeded, bounded, give_back, held, was_large};

use super::cancel::CommitOrCancel;
use super::engine::OpenDatabase;
use super::error::StatementError;
use super::pool::Worker;
use crate::graph::{GraphError, GraphErrorKind};

#[global_allocator]
static ALLOCATOR: Counting<PerThread> = Counting(PerThread);

/// From this size on the memory of a result that was handed over goes back at once.
const LARGE: usize = 8 << 20;

impl Worker {
    /// Works on the engine within its memory limit until the caller stops waiting. A statement that is cut off has been
    /// undone.
    pub(super) fn bounded<T>(
        &mut self,
        request: &CommitOrCancel,
        work: impl FnOnce(&mut OpenDatabase) -> Result<T, StatementError>,
    ) -> Result<T, StatementError> {
        let store = &mut self.store;
        let bounds = Bounds { memory: store.memory, signal: request.signal() };
        let done = bounded(bounds, || work(store));
        if done.is_err() {
            store.roll_back();
        }
        if was_large() {
            store.database.shrink();
            give_back();
        }
        done.unwrap_or_else(|exceeded| match exceeded {
            Exceeded::Memory => Err(store.too_large().into()),
            Exceeded::Stopped => Err(StatementError::gave_up()),
        })
    }
}

impl OpenDatabase {
    fn too_large(&self) -> GraphError {
        GraphError::new(
            GraphErrorKind::Limit,
            format!(
                "The statement takes more memory than the embedded graph allows, {}, and was given up; nothing of it was \
                 kept. Let it hold less at a time (LIMIT, a bound on the hops of *, fewer rows before CREATE or \
                 collect), or raise the limit ({KEY}).",
                megabytes(self.memory)
            ),
        )
    }
}

/// Where the limit is set.
const KEY: &str = "graph.embedded.memory, `graph serve --memory`";

/// The sentence for a graph that has no room for what a statement writes.
pub(super) fn full(memory: usize) -> GraphError {
    GraphError::new(
        GraphErrorKind::Limit,
        format!(
            "The embedded graph may not grow past {} (or there is no room for it in TMPDIR); nothing of the statement was \
             kept. Write less, delete what isn't needed, or raise the limit ({KEY}).",
            megabytes(memory)
        ),
    )
}

fn megabytes(bytes: usize) -> String {
    format!("{} MB", bytes >> 20)
}

/// The memory of all results that are waiting to be fetched.
#[derive(Debug, Default)]
pub(super) struct ResultMemory(AtomicUsize);

/// The memory of one result, until it is dropped.
#[derive(Debug, Default)]
pub struct ReservedMemory {
    waiting: Arc<ResultMemory>,
    bytes: usize,
}

impl ResultMemory {
    /// Takes what the statement on this thread holds now, unless the results would have more than `most` together.
    pub(super) fn hold(self: &Arc<ResultMemory>, most: usize) -> Result<ReservedMemory, GraphError> {
        let bytes = held();
        let before = self.0.fetch_add(bytes, Ordering::AcqRel);
        let held = ReservedMemory { waiting: Arc::clone(self), bytes };
        if before > 0 && before + bytes > most {
            return Err(GraphError::new(
                GraphErrorKind::Limit,
                format!(
                    "The results that wait to be fetched would take more than {} together. Fetch or discard the rows of \
                     earlier ones, or raise the limit ({KEY}).",
                    megabytes(most)
                ),
            ));
        }
        Ok(held)
    }
}

impl Drop for ReservedMemory {
    fn drop(&mut self) {
        self.waiting.0.fetch_sub(self.bytes, Ordering::AcqRel);
        if self.bytes > LARGE {
            give_back();
        }
    }
}
