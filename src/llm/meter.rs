//! Measures the usage of a request over all its tries.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::clock::{BusyTime, Queued};
use crate::evidence::Usage;
use crate::money::Amount;

/// Keeps what a request will have taken should nothing more be heard of it.
#[async_trait]
pub trait RequestLog: Send + Sync {
    /// A try is about to be sent: the usage so far, that try included, and the most that tries without a known usage can cost.
    ///
    /// # Errors
    /// That can't be kept: the try must not be sent.
    async fn about_to_send(&self, usage: Usage, set_aside: Amount) -> io::Result<()>;
}

/// The usage of a request so far, which is known even if its answer is no longer waited for.
#[derive(Default)]
pub struct UsageMeter {
    reading: Mutex<MeterReading>,
    busy: Option<Arc<BusyTime>>,
    log: Option<Arc<dyn RequestLog>>,
}

#[derive(Debug, Default)]
struct MeterReading {
    taken: Usage,
    /// The most that the try which has no response yet can cost.
    on_its_way: Option<Amount>,
    /// The most that tries without a known usage can have cost.
    set_aside: Amount,
    last_failure: Option<String>,
    /// Whether the log knows of a try.
    is_logged: bool,
}

impl UsageMeter {
    /// A meter of which the waits in queues of our own are left out of this time.
    pub fn timed_by(busy: Option<Arc<BusyTime>>) -> UsageMeter {
        UsageMeter { busy, ..UsageMeter::default() }
    }

    /// This meter, which tells the log of each try before it is sent.
    pub fn with_log(self, log: Option<Arc<dyn RequestLog>>) -> UsageMeter {
        UsageMeter { log, ..self }
    }

    /// Whether a try was logged.
    pub fn is_logged(&self) -> bool {
        self.reading().is_logged
    }

    /// The request waits for its turn, until the value is dropped.
    pub(super) fn queued(&self) -> Option<Queued> {
        self.busy.as_ref().map(BusyTime::queue)
    }

    /// The usage of all tries; a try that has no response yet counts as a call without token counts.
    pub fn usage(&self) -> Usage {
        let reading = self.reading();
        if reading.on_its_way.is_some() { reading.taken.plus(Usage::from_counts(None, None)) } else { reading.taken }
    }

    /// The most that tries without a reported usage can have cost: it counts as spent.
    pub fn set_aside(&self) -> Amount {
        let reading = self.reading();
        reading.set_aside.plus(reading.on_its_way.unwrap_or_default())
    }

    /// A try is sent next, for which so much is set aside. Whoever gives up from here on does not know what it cost.
    ///
    /// # Errors
    /// The log can't keep it: the try must not be sent.
    pub(super) async fn about_to_send(&self, most: Amount) -> io::Result<()> {
        self.reading().on_its_way = Some(most);
        let Some(log) = &self.log else { return Ok(()) };
        self.reading().is_logged = true;
        log.about_to_send(self.usage(), self.set_aside()).await
    }

    /// The try is over, with this usage.
    pub(super) fn took(&self, usage: Usage) {
        let mut reading = self.reading();
        let most = reading.on_its_way.take().filter(|_| usage.unreported_calls > 0);
        reading.set_aside = reading.set_aside.plus(most.unwrap_or_default());
        reading.taken = reading.taken.plus(usage);
    }

    /// A try has failed, and another one may follow.
    pub(super) fn failed(&self, why: &str) {
        self.reading().last_failure = Some(why.to_owned());
    }

    /// Sets what the tries of a request took that is not made: a recorded answer takes its place.
    pub fn set_recorded(&self, taken: Usage, last_failure: Option<String>) {
        *self.reading() = MeterReading { taken, last_failure, ..MeterReading::default() };
    }

    /// Why the last try failed, if one has.
    pub fn last_failure(&self) -> Option<String> {
        self.reading().last_failure.clone()
    }

    fn reading(&self) -> MutexGuard<'_, MeterReading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
