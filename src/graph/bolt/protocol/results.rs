//! Results with rows that a client has not fetched yet.

use super::DATABASE;
use crate::clock::Stopwatch;
use crate::graph::bolt::packstream::Pack;
use crate::graph::embedded::{Effect, StatementResult};

/// The most results of one transaction that wait to be fetched: each is held in memory.
pub(super) const MOST: usize = 50;

/// The open results of a transaction, which numbers them.
#[derive(Default)]
pub(super) struct OpenResults {
    open: Vec<(i64, OpenResult)>,
    next: i64,
}

/// A result with rows that were not fetched yet.
pub(super) struct OpenResult {
    answer: StatementResult,
    watch: Stopwatch,
}

impl OpenResults {
    pub(super) fn are_too_many(&self) -> bool {
        self.open.len() >= MOST
    }

    /// Keeps the rows of an answer and returns the number of the result.
    pub(super) fn open(&mut self, answer: StatementResult, watch: Stopwatch) -> i64 {
        self.open.push((self.next, OpenResult { answer, watch }));
        self.next += 1;
        self.last()
    }

    /// The number of the last result.
    pub(super) fn last(&self) -> i64 {
        self.next - 1
    }

    /// The result of this number, or the last one.
    pub(super) fn get(&mut self, number: Option<i64>) -> Option<&mut OpenResult> {
        let number = number.unwrap_or(self.last());
        self.open.iter_mut().find(|(own, _)| *own == number).map(|(_, open)| open)
    }

    /// Drops a result.
    pub(super) fn close(&mut self, number: Option<i64>) {
        let number = number.unwrap_or(self.last());
        self.open.retain(|(own, _)| *own != number);
    }
}

impl OpenResult {
    /// The next row.
    pub(super) fn fetch(&mut self) -> Option<&[u8]> {
        self.answer.rows.fetch()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.answer.rows.is_empty()
    }

    /// The metadata that come after the last row.
    pub(super) fn summary(&self) -> Vec<(String, Pack)> {
        let kind = match self.answer.effect {
            Effect::Read => "r",
            Effect::Write => "w",
            Effect::ReadWrite => "rw",
            Effect::Schema => "s",
        };
        let mut metadata = vec![
            ("type".to_owned(), kind.into()),
            ("t_last".to_owned(), milliseconds(self.watch)),
            ("db".to_owned(), DATABASE.into()),
        ];
        let counts = self.answer.counts.named();
        let mut stats: Vec<(String, Pack)> =
            counts.map(|(name, count)| (name.to_owned(), Pack::Int(count as i64))).collect();
        // As Neo4j: a statement that could write and didn't has none.
        if !stats.is_empty() {
            stats.push(("contains-updates".to_owned(), true.into()));
            metadata.push(("stats".to_owned(), Pack::Map(stats)));
        }
        metadata
    }
}

pub(super) fn milliseconds(watch: Stopwatch) -> Pack {
    Pack::Int(watch.elapsed_ms() as i64)
}
