//! Splits a stream into its events: server-sent ones, or one per line.

use super::STREAM_CAP;
use super::sse::SseReader;

/// Splits a stream into its events, none longer than [`STREAM_CAP`].
#[derive(Debug)]
pub enum EventSplitter {
    /// Server-sent events; only their data are used.
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

    /// The events that these bytes complete; `None` where one is too long.
    pub fn push(&mut self, bytes: &[u8]) -> Option<Vec<String>> {
        match self {
            EventSplitter::Sse(reader) => Some(reader.push(bytes).ok()?.into_iter().map(|event| event.data).collect()),
            EventSplitter::Lines(line) => {
                let mut events = Vec::new();
                for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                    if line.len() + piece.len() > STREAM_CAP {
                        return None;
                    }
                    line.extend_from_slice(piece);
                    if piece.ends_with(b"\n") {
                        events.push(String::from_utf8_lossy(&std::mem::take(line)).into_owned());
                    }
                }
                Some(events)
            }
        }
    }

    /// The rest at the end of the stream, which may be incomplete.
    pub fn finish(self) -> Option<String> {
        match self {
            EventSplitter::Sse(reader) => reader.finish().map(|event| event.data),
            EventSplitter::Lines(line) => Some(String::from_utf8_lossy(&line).into_owned()),
        }
    }
}
