//! Server-sent events (WHATWG HTML, "Server-sent events", 9.2.6), as far as replies use them: their data.

use super::arrival::Arrivals;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct SseEvent {
    /// Its data, lines joined by line feeds.
    pub data: String,
    /// When its last byte was there, in milliseconds from sending; `None` where nobody took the time.
    pub at_ms: Option<f64>,
}

/// Whether a content type names a stream of events.
pub(super) fn is_event_stream(content_type: &str) -> bool {
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}

/// The events of a whole stream. Comments and other fields than `data` are skipped. Unlike a browser, what stands after
/// the last empty line is an event too: whether it is whole, its reader can tell.
pub(super) fn events(text: &str, arrivals: &Arrivals) -> Vec<SseEvent> {
    let mut events = Vec::new();
    let mut data: Option<String> = None;
    let mut rest = text;
    loop {
        let end = rest.find(['\r', '\n']);
        let line = &rest[..end.unwrap_or(rest.len())];
        rest = &rest[line.len()..];
        rest = rest.strip_prefix("\r\n").or(rest.strip_prefix(['\r', '\n'])).unwrap_or(rest);
        if let Some(value) = data_of(line) {
            match &mut data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => data = Some(value.to_owned()),
            }
        }
        if (line.is_empty() || rest.is_empty())
            && let Some(data) = data.take()
        {
            events.push(SseEvent { data, at_ms: arrivals.of(text.len() - rest.len()) });
        }
        if end.is_none() {
            return events;
        }
    }
}

/// The value of a `data` line, without the one space that may stand before it.
fn data_of(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':').unwrap_or((line, ""));
    (name == "data").then(|| value.strip_prefix(' ').unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn data(text: &str) -> Vec<String> {
        events(text, &Arrivals::default()).into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn lines_are_fields_and_an_empty_one_ends_an_event() {
        assert_eq!(data("data: a\n\ndata:b\r\n\r\ndata: c\rdata:  d\r\r"), ["a", "b", "c\n d"]);
        assert_eq!(data(": ping\n\nretry: 10\nevent: x\nid: 7\ndata: a\n\ndatum: b\n\n"), ["a"]);
        assert_eq!(data("data\n\ndata:\ndata:\n\n"), ["", "\n"]);
    }

    #[test]
    fn what_is_cut_off_is_given_to_its_reader() {
        assert_eq!(data("data: {\"a\":1}\n\ndata: {\"b\":"), ["{\"a\":1}", "{\"b\":"]);
        assert_eq!(data("data: a\n"), ["a"]);
        assert_eq!(data(""), Vec::<String>::new());
    }

    #[test]
    fn an_event_is_as_late_as_its_last_byte() {
        let arrivals = Arrivals::noted(&[(4, 1.0), (9, 2.0), (20, 3.0)]);
        let at: Vec<_> = events("data: a\n\ndata: bcd\n\n", &arrivals).into_iter().map(|event| event.at_ms).collect();
        assert_eq!(at, [Some(2.0), Some(3.0)]);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "(data: |[:\r\na]){0,40}") {
            let _ = data(&text);
        }

        #[test]
        fn lines_come_back(lines in proptest::collection::vec("[^\r\n]{0,9}", 1..5), end in "(\n|\r\n|\r)") {
            let text: String = lines.iter().map(|line| format!("data: {line}{end}")).collect();
            prop_assert_eq!(data(&format!("{text}{end}")), [lines.join("\n")]);
        }
    }
}
