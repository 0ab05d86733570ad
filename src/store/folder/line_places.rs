//! Where the lines of each trial stand in a journal.

/// The place of lines that stand in a journal one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineSpan {
    pub(super) start: u64,
    /// In bytes, the breaks included.
    pub(super) length: u32,
}

impl LineSpan {
    /// The most bytes of several lines: they are read at once.
    pub(super) const MOST: u32 = 64 * 1024;
}

/// The places of the lines of each trial of a journal. Lines that follow each other are one span: where no other conversation goes on
/// at the same time, a trial takes as much memory as one of its lines, 16 bytes.
#[derive(Debug, Default)]
pub(super) struct LinePlaces(Vec<PlacedLines>);

#[derive(Debug, Clone, Copy)]
struct PlacedLines {
    start: u64,
    length: u32,
    trial: u32,
}

impl LinePlaces {
    /// Adds the place of the next line of the journal, which is one of a trial.
    pub(super) fn add(&mut self, trial: u32, next: LineSpan) {
        match self.0.last_mut() {
            Some(last)
                if last.trial == trial
                    && last.start + u64::from(last.length) == next.start
                    && last.length.saturating_add(next.length) <= LineSpan::MOST =>
            {
                last.length += next.length;
            }
            _ => self.0.push(PlacedLines { start: next.start, length: next.length, trial }),
        }
    }

    /// The same by trials, once all lines are read.
    pub(super) fn by_trial(mut self) -> LinePlaces {
        self.0.sort_by_key(|lines| lines.trial);
        self
    }

    /// The lines of a trial, where they stand by trials.
    pub(super) fn of(&self, trial: u32) -> impl Iterator<Item = LineSpan> {
        let first = self.0.partition_point(|lines| lines.trial < trial);
        let own = self.0[first..].iter().take_while(move |lines| lines.trial == trial);
        own.map(|lines| LineSpan { start: lines.start, length: lines.length })
    }
}
