//! When the pieces of a reply arrived.

use super::STREAM_CAP;
use super::sse::{SseReader, TooLong};
use crate::clock::Stopwatch;

/// One server-sent event of a reply that was read to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedEvent {
    /// Its data, lines joined by line feeds.
    pub data: String,
    /// When its last byte was there, in milliseconds from the request's last byte; `None` where nobody took the time.
    pub at_ms: Option<f64>,
}

/// When the pieces of a reply arrived, by how much of it was there.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrivals {
    /// Since the request's last byte.
    since: Option<Stopwatch>,
    /// When the head was there.
    head_ms: f64,
    /// Bytes of the body that were there, and the milliseconds at which they were; both rise.
    pieces: Vec<(usize, f64)>,
}

impl Arrivals {
    /// The head is there now; the stopwatch has run since the request's last byte.
    pub(super) fn since(sent: Stopwatch) -> Arrivals {
        Arrivals { since: Some(sent), head_ms: sent.elapsed_ms(), pieces: Vec::new() }
    }

    /// So many bytes of the body are there now.
    pub(super) fn note(&mut self, bytes: usize) {
        self.pieces.extend(self.since.map(|since| (bytes, since.elapsed_ms())));
    }

    /// When the last byte came: the end of the connection that may follow says nothing more.
    pub(super) fn last_ms(&self) -> f64 {
        self.pieces.last().map_or(self.head_ms, |(_, ms)| *ms)
    }

    /// The server-sent events of a whole body, each with the time at which it was complete. What stands after the last
    /// empty line is an event too: whether it is whole, its reader can tell.
    pub(super) fn events(&self, body: &[u8]) -> Result<Vec<TimedEvent>, TooLong> {
        let mut reader = SseReader::new(STREAM_CAP);
        let mut events = Vec::new();
        let mut read = 0;
        let pieces = self.pieces.iter().map(|(there, ms)| (*there, Some(*ms)));
        for (there, at_ms) in pieces.chain([(body.len(), None)]) {
            let there = there.clamp(read, body.len());
            let complete = reader.push(&body[read..there])?;
            events.extend(complete.into_iter().map(|event| TimedEvent { data: event.data, at_ms }));
            read = there;
        }
        let at_ms = self.pieces.last().map(|(_, ms)| *ms);
        events.extend(reader.finish().map(|event| TimedEvent { data: event.data, at_ms }));
        Ok(events)
    }

    #[cfg(test)]
    pub(super) fn noted(pieces: &[(usize, f64)]) -> Arrivals {
        Arrivals { pieces: pieces.to_vec(), ..Arrivals::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_as_late_as_its_last_byte() {
        let arrivals = Arrivals::noted(&[(4, 1.0), (9, 2.0), (20, 3.0)]);
        let events = arrivals.events(b"data: a\n\ndata: bcd\n\n").unwrap();
        let at: Vec<_> = events.into_iter().map(|event| event.at_ms).collect();
        assert_eq!(at, [Some(2.0), Some(3.0)]);
    }

    #[test]
    fn what_is_cut_off_is_given_to_its_reader() {
        let data = |text: &str| -> Vec<String> {
            let events = Arrivals::default().events(text.as_bytes()).unwrap();
            events.into_iter().map(|event| event.data).collect()
        };
        assert_eq!(data("data: {\"a\":1}\n\ndata: {\"b\":"), ["{\"a\":1}", "{\"b\":"]);
        assert_eq!(data(": ping\n\nretry: 10\n\n"), Vec::<String>::new());
    }
}
