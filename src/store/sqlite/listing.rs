//! Runs one after the other: by their index where it has them as they are, else by their folders.

use std::marker::PhantomData;

use super::IndexedRuns;
use super::run_index::{Indexed, IndexedRun};
use crate::store::folder::StoreError;

/// How many runs that were read from their folders are indexed per transaction.
const BATCH: usize = 100;

/// All runs of a folder, oldest first. Those that were read from their folders are indexed on the way, and those whose folders
/// are gone are removed at the end.
#[derive(Debug)]
pub struct Listing<'a, T> {
    runs: &'a IndexedRuns,
    names: Vec<String>,
    next: usize,
    /// Whether the index is worth its while.
    is_indexed: bool,
    /// The runs to index.
    read: Vec<IndexedRun>,
    listed: PhantomData<T>,
}

impl<'a, T: Indexed> Listing<'a, T> {
    pub(super) fn new(runs: &'a IndexedRuns, names: Vec<String>) -> Listing<'a, T> {
        let is_indexed = runs.is_worth_indexing(&names);
        Listing { runs, names, next: 0, is_indexed, read: Vec::new(), listed: PhantomData }
    }

    fn one(&mut self, at: usize) -> Result<T, StoreError> {
        let name = &self.names[at];
        // Seen before anything is read: what is written meanwhile makes another one.
        let stamp = if self.is_indexed { self.runs.stamp(name) } else { None };
        if let Some(known) = stamp.and_then(|stamp| self.runs.indexed(name, stamp)) {
            return Ok(known);
        }
        let figures = self.runs.folder().figures_of(name)?;
        // A summary that was written on the way is noticed by the next one who lists.
        if let Some(stamp) = stamp {
            self.read.push(IndexedRun { folder: name.clone(), stamp, figures: figures.clone() });
            if self.read.len() >= BATCH {
                self.runs.write(&std::mem::take(&mut self.read));
            }
        }
        Ok(T::from_figures(figures))
    }

    fn end(&mut self) {
        if !self.is_indexed {
            return;
        }
        self.is_indexed = false;
        self.runs.write(&std::mem::take(&mut self.read));
        let mut names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        names.sort_unstable();
        self.runs.keep_only(&names);
    }
}

impl<T: Indexed> Iterator for Listing<'_, T> {
    type Item = Result<T, StoreError>;

    fn next(&mut self) -> Option<Result<T, StoreError>> {
        let at = self.next;
        if at == self.names.len() {
            self.end();
            return None;
        }
        self.next += 1;
        Some(self.one(at))
    }
}
