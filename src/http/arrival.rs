//! When the pieces of a reply arrived.

use crate::clock::Stopwatch;

/// When the pieces of a reply arrived, by how much of it was there.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrivals {
    stopwatch: Option<Stopwatch>,
    /// Bytes that were there, and the milliseconds at which they were; both rise.
    pieces: Vec<(usize, f64)>,
}

impl Arrivals {
    /// Notes times of this stopwatch; without one, none.
    pub(super) fn timed_by(stopwatch: Option<Stopwatch>) -> Arrivals {
        Arrivals { stopwatch, pieces: Vec::new() }
    }

    /// So many bytes are there now.
    pub(super) fn note(&mut self, bytes: usize) {
        self.pieces.extend(self.stopwatch.map(|stopwatch| (bytes, stopwatch.elapsed_ms())));
    }

    /// When this many bytes were there, in milliseconds of the stopwatch.
    pub(super) fn of(&self, bytes: usize) -> Option<f64> {
        let index = self.pieces.partition_point(|(there, _)| *there < bytes);
        self.pieces.get(index).map(|(_, ms)| *ms)
    }

    #[cfg(test)]
    pub(super) fn noted(pieces: &[(usize, f64)]) -> Arrivals {
        Arrivals { stopwatch: None, pieces: pieces.to_vec() }
    }
}
