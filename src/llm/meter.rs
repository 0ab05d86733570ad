//! Measures the usage of a request over all its tries.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::evidence::Usage;

/// The usage of a request so far, which is known even if its answer is no longer waited for.
#[derive(Debug, Default)]
pub struct UsageMeter(Mutex<MeterReading>);

#[derive(Debug, Default)]
struct MeterReading {
    taken: Usage,
    on_its_way: bool,
    last_failure: Option<String>,
}

impl UsageMeter {
    /// The usage of all tries; a try that has no response yet counts as a call without token counts.
    pub fn taken(&self) -> Usage {
        let reading = self.reading();
        if reading.on_its_way { reading.taken.plus(Usage::from_counts(None, None)) } else { reading.taken }
    }

    /// A try was sent.
    pub(super) fn left(&self) {
        self.reading().on_its_way = true;
    }

    /// The try is over, with this usage.
    pub(super) fn took(&self, usage: Usage) {
        let mut reading = self.reading();
        reading.on_its_way = false;
        reading.taken = reading.taken.plus(usage);
    }

    /// A try has failed, and another one may follow.
    pub(super) fn failed(&self, why: &str) {
        self.reading().last_failure = Some(why.to_owned());
    }

    /// Why the last try failed, if one has.
    pub fn last_failure(&self) -> Option<String> {
        self.reading().last_failure.clone()
    }

    fn reading(&self) -> MutexGuard<'_, MeterReading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
