//! Server-sent events, by the HTML standard's "Interpreting an event stream": bytes in, events out, wherever the bytes were
//! split.
//!
//! Invariants: every byte is read once; no more than the cap is ever held.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Its `event` field; empty for the usual kind.
    pub name: String,
    /// Its `data` lines, joined by line breaks.
    pub data: String,
}

/// An event, or a line of it, is longer than the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

/// Reads a stream piece by piece. `id` and `retry` fields and comments are skipped: nothing is ever resumed.
#[derive(Debug)]
pub struct SseReader {
    cap: usize,
    line: Vec<u8>,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a CR, of which an LF would be the second half.
    after_cr: bool,
    is_first_line: bool,
}

impl SseReader {
    /// A reader that holds at most `cap` bytes of one event.
    pub fn new(cap: usize) -> SseReader {
        SseReader {
            cap,
            line: Vec::new(),
            name: String::new(),
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            is_first_line: true,
        }
    }

    /// Takes the next bytes; returns the events that they complete.
    ///
    /// # Errors
    /// An event that is longer than the cap.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<SseEvent>, TooLong> {
        let mut events = Vec::new();
        if let (true, [first, rest @ ..]) = (self.after_cr, bytes) {
            self.after_cr = false;
            if *first == b'\n' {
                bytes = rest;
            }
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.hold(&bytes[..end])?;
            events.extend(self.end_line());
            bytes = match &bytes[end..] {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
        }
        self.hold(bytes)?;
        Ok(events)
    }

    /// The rest at the end of the stream: an event without its last line breaks, which may be incomplete.
    pub fn finish(mut self) -> Option<SseEvent> {
        let ended = (!self.line.is_empty()).then(|| self.end_line()).flatten();
        ended.or_else(|| self.end_line())
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + self.data.len() + bytes.len() > self.cap {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let is_first = std::mem::replace(&mut self.is_first_line, false);
        let line = if is_first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let data = std::mem::take(&mut self.data);
            let data = String::from_utf8_lossy(&data).into_owned();
            return std::mem::take(&mut self.has_data).then_some(SseEvent { name, data });
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = colon.map_or((line, &line[line.len()..]), |at| (&line[..at], &line[at + 1..]));
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> (Vec<SseEvent>, Option<SseEvent>) {
        let mut reader = SseReader::new(1 << 20);
        let events = pieces.iter().flat_map(|piece| reader.push(piece).unwrap()).collect();
        (events, reader.finish())
    }

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn the_examples_of_the_standard_are_read() {
        for (text, events) in [
            ("data: YHOO\ndata: +2\ndata: 10\n\n", vec![event("", "YHOO\n+2\n10")]),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                vec![event("", "first event"), event("", "second event"), event("", " third event")],
            ),
            ("data\n\ndata\ndata\n\n", vec![event("", ""), event("", "\n")]),
            ("data:test\n\ndata: test\n\n", vec![event("", "test"), event("", "test")]),
            ("event: add\ndata: 73857293\n\ndata: x\n\n", vec![event("add", "73857293"), event("", "x")]),
            ("\u{feff}retry: 10\r\ndata: a\r\n\r\n:\r\rdata: b\r\r", vec![event("", "a"), event("", "b")]),
        ] {
            assert_eq!(read(&[text.as_bytes()]), (events, None), "{text:?}");
        }
    }

    #[test]
    fn what_the_end_leaves_is_handed_out() {
        for text in ["data: [DONE]", "data: [DONE]\n", "data: [DONE]\r"] {
            assert_eq!(read(&[text.as_bytes()]), (vec![], Some(event("", "[DONE]"))), "{text:?}");
        }
        assert_eq!(read(&[b": nothing"]), (vec![], None));
        assert_eq!(read(&[b"event: x\n"]), (vec![], None));
    }

    #[test]
    fn an_event_of_ten_megabytes_is_refused_at_the_cap_and_nothing_grows() {
        for piece in [&[b'x'; 1 << 16][..], &b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".repeat(2000)] {
            let mut reader = SseReader::new(1 << 20);
            reader.push(b"data: ").unwrap();
            let taken = (0..160).take_while(|_| reader.push(piece).is_ok()).count();
            assert!(taken < 20, "{taken}");
            assert!(reader.line.len() + reader.data.len() <= 1 << 20);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut reader = SseReader::new(64);
            let _ = pieces.iter().try_for_each(|piece| reader.push(piece).map(drop));
            reader.finish();
        }

        #[test]
        fn where_it_is_cut_makes_no_difference(
            lines in prop::collection::vec("(data|event|id|:)?:? ?[a-zä]{0,4}", 0..12),
            breaks in prop::collection::vec(0..3_usize, 12),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let text: String =
                lines.iter().zip(breaks).map(|(line, kind)| format!("{line}{}", ["\n", "\r\n", "\r"][kind])).collect();
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[bytes]));
        }
    }
}
