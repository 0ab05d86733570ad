//! Splits a stream into its events: server-sent ones, or one per line.

use super::STREAM_CAP;
use super::sse::{SseEvent, SseReader};

/// Splits a stream into its events, none longer than [`STREAM_CAP`].
#[derive(Debug)]
pub enum EventSplitter {
    /// Server-sent events.
    Sse(SseReader),
    /// Lines (NDJSON).
    Lines(Vec<u8>),
}

impl EventSplitter {
    /// For server-sent events.
    pub fn sse() -> EventSplitter {
        EventSplitter::Sse(SseReader::new(STREAM_CAP))
    }

    /// For lines.
    pub fn lines() -> EventSplitter {
        EventSplitter::Lines(Vec::new())
    }

    /// The events that these bytes complete; `None` where one is too long. Lines have no names.
    pub fn push(&mut self, bytes: &[u8]) -> Option<Vec<SseEvent>> {
        match self {
            EventSplitter::Sse(reader) => reader.push(bytes).ok(),
            EventSplitter::Lines(line) => {
                let mut events = Vec::new();
                for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                    if line.len() + piece.len() > STREAM_CAP {
                        return None;
                    }
                    line.extend_from_slice(piece);
                    if piece.ends_with(b"\n") {
                        events.push(unnamed(&std::mem::take(line)));
                    }
                }
                Some(events)
            }
        }
    }

    /// The rest at the end of the stream, which may be incomplete.
    pub fn finish(self) -> Option<SseEvent> {
        match self {
            EventSplitter::Sse(reader) => reader.finish(),
            EventSplitter::Lines(line) => Some(unnamed(&line)),
        }
    }
}

fn unnamed(line: &[u8]) -> SseEvent {
    SseEvent { name: String::new(), data: String::from_utf8_lossy(line).into_owned() }
}
