//! The usage of a request, try by try.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::evidence::Usage;

/// The usage of a request so far: known also to those who give up waiting for its answer.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Reading>);

#[derive(Debug, Default)]
struct Reading {
    taken: Usage,
    on_its_way: bool,
}

impl Meter {
    /// All of it; a try that is on its way, or went and brought nothing, is a call without counts.
    pub fn taken(&self) -> Usage {
        let reading = self.reading();
        if reading.on_its_way { reading.taken.plus(Usage::from_counts(None, None)) } else { reading.taken }
    }

    /// A try leaves.
    pub(super) fn left(&self) {
        self.reading().on_its_way = true;
    }

    /// It is over, and took so much.
    pub(super) fn took(&self, usage: Usage) {
        let mut reading = self.reading();
        reading.on_its_way = false;
        reading.taken = reading.taken.plus(usage);
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
