use crate::compiler::instructions::Instruction;
use crate::error::{Error, ErrorKind};
use crate::value::{Value, ValueKind};
use std::time::{Duration, Instant};

/// The deepest value that may be made.
const MOST_DEPTH: usize = 100;

/// Helper for tracking fuel consumption
pub struct FuelTracker {
    // The initial fuel level.
    initial: u64,
    remaining: isize,
    // eval-job: when it must be over, and how often nobody looked at the time.
    time_limit: TimeLimit,
    unlooked: u8,
}

// eval-job: one step can read a long text again.
/// The longest that anything may take.
pub const MOST_TIME: Duration = Duration::from_secs(5);

// eval-job: a machine with much else to do takes nothing off it.
/// A limit of the processor time of the thread that made it, and of twelve times as long by the clock; where no processor time is known, of
/// the time by the clock.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit {
    since: Instant,
    limit: Duration,
    /// How the thread's time is read, and what it was.
    thread: Option<(fn() -> Option<Duration>, Duration)>,
}

impl TimeLimit {
    pub fn new(limit: Duration, thread_clock: Option<fn() -> Option<Duration>>) -> TimeLimit {
        let thread = thread_clock.and_then(|clock| Some((clock, clock()?)));
        TimeLimit { since: Instant::now(), limit, thread }
    }

    fn is_over(&self) -> bool {
        let elapsed = self.since.elapsed();
        if elapsed <= self.limit {
            return false;
        }
        match self.thread {
            Some((clock, before)) if elapsed < self.limit.saturating_mul(12) => {
                clock().map_or(true, |now| now.saturating_sub(before) > self.limit)
            }
            _ => true,
        }
    }
}

impl FuelTracker {
    /// Creates a new fuel tracker.
    ///
    pub fn new(fuel: u64, time_limit: TimeLimit) -> FuelTracker {
        FuelTracker {
            initial: fuel,
            remaining: fuel as isize,
            time_limit,
            unlooked: 0,
        }
    }

    /// Tracks an instruction.  If it runs out of fuel an error is returned.
    pub fn track(&mut self, instr: &Instruction) -> Result<(), Error> {
        self.track_time()?;
        let fuel_to_consume = fuel_for_instruction(instr);
        if fuel_to_consume != 0 {
            self.remaining -= fuel_to_consume;
            if self.remaining <= 0 {
                return Err(Error::from(ErrorKind::OutOfFuel));
            }
        }
        Ok(())
    }

    // eval-job
    /// Looks at the time, now and then.
    pub fn track_time(&mut self) -> Result<(), Error> {
        self.unlooked += 1;
        if self.unlooked == 32 {
            self.unlooked = 0;
            if self.time_limit.is_over() {
                return Err(Error::new(ErrorKind::OutOfFuel, "it takes too long"));
            }
        }
        Ok(())
    }

    // eval-job: what is made costs by its size.
    /// Tracks the size of a value: one unit for each of its parts and for every 32 bytes of text.
    pub fn track_size(&mut self, value: &Value) -> Result<(), Error> {
        self.spend_value(value, 0);
        self.check()
    }

    // eval-job: what is written costs by its size.
    /// Tracks so many bytes of text.
    pub fn track_text(&mut self, bytes: usize) -> Result<(), Error> {
        self.remaining -= (bytes / 32) as isize;
        self.check()
    }

    fn check(&self) -> Result<(), Error> {
        if self.remaining <= 0 {
            return Err(Error::from(ErrorKind::OutOfFuel));
        }
        Ok(())
    }

    fn spend_value(&mut self, value: &Value, depth: usize) {
        self.remaining -= 1;
        if let Some(text) = value.as_str() {
            self.remaining -= (text.len() / 32) as isize;
            return;
        }
        if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable | ValueKind::Map) {
            return;
        }
        // Whatever walks through a deeper value later needs as much stack.
        if depth == MOST_DEPTH {
            self.remaining = 0;
            return;
        }
        let is_map = value.kind() == ValueKind::Map;
        for item in value.try_iter().into_iter().flatten() {
            if self.remaining <= 0 {
                return;
            }
            if is_map {
                if let Ok(entry) = value.get_item(&item) {
                    self.spend_value(&entry, depth + 1);
                }
            }
            self.spend_value(&item, depth + 1);
        }
    }

    /// Returns the remaining fuel.
    pub fn remaining(&self) -> u64 {
        self.remaining.max(0) as _
    }

    /// Returns the consumed fuel.
    pub fn consumed(&self) -> u64 {
        self.initial.saturating_sub(self.remaining())
    }
}

// eval-job
/// Whether an instruction leaves something new on the stack that can be larger than what it was made of.
pub fn makes_values(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::StringConcat
            | Instruction::Add
            | Instruction::Mul
            | Instruction::BuildMap(_)
            | Instruction::BuildKwargs(_)
            | Instruction::BuildList(_)
            | Instruction::BuildTuple(_)
            | Instruction::EndCapture
            | Instruction::ApplyFilter(..)
            | Instruction::CallFunction(..)
            | Instruction::CallMethod(..)
            | Instruction::CallObject(_)
    )
}

/// How much fuel does an instruction consume?
fn fuel_for_instruction(instruction: &Instruction) -> isize {
    match instruction {
        Instruction::BeginCapture(_)
        | Instruction::PushLoop(_)
        | Instruction::PushDidNotIterate
        | Instruction::PushWith
        | Instruction::PopFrame
        | Instruction::PopLoopFrame
        | Instruction::DupTop
        | Instruction::DiscardTop
        | Instruction::PushAutoEscape
        | Instruction::PopAutoEscape => 0,
        #[cfg(feature = "multi_template")]
        Instruction::ExportLocals => 0,
        #[cfg(feature = "macros")]
        Instruction::LoadBlocks | Instruction::BuildMacro(..) | Instruction::Return => 0,
        _ => 1,
    }
}
