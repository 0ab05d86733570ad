//! A reply that was read to its end.

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

use super::json::{is_too_deep, read_json};
use super::{HttpFault, HttpFaultKind, excerpt, too_deep};
use crate::secret::{Redactor, Secret};

/// A reply: any status but a redirect's.
#[derive(Debug, Clone)]
pub struct HttpReply {
    /// The call, as messages name it: method and address.
    pub place: String,
    /// The status.
    pub status: u16,
    /// The value of `Retry-After`.
    pub retry_after: Option<String>,
    /// The body; only the start of an error's.
    pub body: Vec<u8>,
    content_type: Option<String>,
    encoding: Option<String>,
    headers: HeaderMap,
    secrets: Vec<Secret>,
    redactor: Redactor,
}

impl HttpReply {
    pub(super) fn from_head(
        response: &Response,
        place: String,
        secrets: Vec<Secret>,
        redactor: &Redactor,
    ) -> HttpReply {
        let header = |name: HeaderName| {
            response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        HttpReply {
            place,
            status: response.status().as_u16(),
            retry_after: header(RETRY_AFTER),
            body: Vec::new(),
            content_type: header(CONTENT_TYPE),
            encoding: header(CONTENT_ENCODING),
            headers: response.headers().clone(),
            secrets,
            redactor: redactor.clone(),
        }
    }

    /// The value of a header, by its name in lower case; it is untrusted.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether the status is a success (2xx).
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The call, the status and the start of the body, as a sentence.
    pub fn refusal(&self) -> String {
        let name = StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        let body = if self.body.is_empty() { String::new() } else { format!(": {}", self.start()) };
        format!("{}: answered {}{name}{body}", self.place, self.status)
    }

    /// The body as a JSON object of this shape. The fault says why it can't be read.
    pub fn object<T: DeserializeOwned>(&self) -> Result<T, HttpFault> {
        let unreadable = |what: String| HttpFault::new(HttpFaultKind::Unreadable, &self.place, what);
        let text = self.json_text()?;
        // The usual case in one step; a body that fails is read again to find the reason.
        if text.trim_start().starts_with('{')
            && let Ok(object) = read_json(text)
        {
            return Ok(object);
        }
        let value = self.value(text)?;
        if !value.is_object() {
            return Err(unreadable(format!("the reply is JSON, but no object: {}", self.start())));
        }
        // The error's message can quote the text.
        serde_json::from_value(value).map_err(|error| {
            let error = self.hidden(&error.to_string());
            unreadable(format!("the reply's JSON is not of the expected shape ({error}): {}", self.start()))
        })
    }

    /// The body as JSON of any shape.
    pub fn json(&self) -> Result<Value, HttpFault> {
        self.value(self.json_text()?)
    }

    /// Whether the content type is that of server-sent events.
    pub fn is_event_stream(&self) -> bool {
        self.is_of_type("text/event-stream")
    }

    /// The fault of a reply that is no stream of server-sent events, although one was asked for.
    pub fn no_event_stream(&self) -> HttpFault {
        let what = self.content_type.as_deref().map_or("no content type".to_owned(), |kind| self.hidden(kind));
        let what = format!("answered {what} instead of text/event-stream: {}", self.start());
        HttpFault::new(HttpFaultKind::WrongType, &self.place, what)
    }

    /// The data of a stream's event as JSON. A stream of lines may begin with a byte order mark.
    pub fn event_json(&self, data: &str) -> Result<Value, HttpFault> {
        read_json(data.trim_start_matches('\u{feff}')).map_err(|error| {
            let how = if error.classify() == Category::Eof { "stops in the middle of its JSON" } else { "is not JSON" };
            let what = match is_too_deep(&error) {
                true => too_deep("an event of the stream"),
                false => format!("an event of the stream {how}: {}", self.quote(data)),
            };
            HttpFault::new(kind_of(&error), &self.place, what)
        })
    }

    fn text(&self) -> Result<&str, HttpFault> {
        let text = str::from_utf8(&self.body).map_err(|error| {
            let what = format!("the reply is not valid UTF-8 (byte {}): {}", error.valid_up_to(), self.start());
            HttpFault::new(HttpFaultKind::Useless, &self.place, what)
        })?;
        Ok(text.trim_start_matches('\u{feff}'))
    }

    fn json_text(&self) -> Result<&str, HttpFault> {
        self.check_type()?;
        if self.body.is_empty() {
            let what = format!("answered {} with an empty body instead of JSON", self.status);
            return Err(HttpFault::new(HttpFaultKind::Useless, &self.place, what));
        }
        self.text()
    }

    fn value(&self, text: &str) -> Result<Value, HttpFault> {
        read_json(text).map_err(|error| {
            let what = if is_too_deep(&error) {
                too_deep("the reply")
            } else if error.classify() == Category::Eof {
                let bytes = self.body.len();
                format!("the reply stops in the middle of its JSON, after {bytes} bytes: {}", self.start())
            } else {
                format!("the reply is not JSON ({error}): {}", self.start())
            };
            HttpFault::new(kind_of(&error), &self.place, what)
        })
    }

    /// Whether the content type is this one, whatever its parameters.
    pub fn is_of_type(&self, media_type: &str) -> bool {
        let name = self.content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(media_type)
    }

    /// Whether the content type is that of a web page.
    pub fn is_page(&self) -> bool {
        self.is_of_type("text/html") || self.is_of_type("application/xhtml+xml")
    }

    /// The fault of a reply that can't be used, with this message alone.
    pub fn malformed(&self, what: &str) -> HttpFault {
        HttpFault::new(HttpFaultKind::Useless, &self.place, what)
    }

    /// The fault of a reply of another shape, with this message alone.
    pub fn misshapen(&self, what: &str) -> HttpFault {
        HttpFault::new(HttpFaultKind::Unreadable, &self.place, what)
    }

    /// The fault of a reply that can't be used, with its beginning.
    pub fn useless(&self, what: &str) -> HttpFault {
        HttpFault { kind: HttpFaultKind::Useless, ..self.unreadable(what) }
    }

    /// The fault of a reply of another shape, with its beginning.
    pub fn unreadable(&self, what: &str) -> HttpFault {
        HttpFault::new(HttpFaultKind::Unreadable, &self.place, format!("{what}: {}", self.start()))
    }

    /// An excerpt of untrusted text from this call, in quotes and without secrets.
    pub fn quote(&self, text: &str) -> String {
        excerpt(&self.redactor.redact(text), &self.secrets)
    }

    fn check_type(&self) -> Result<(), HttpFault> {
        let wrong = |what: String| HttpFault::new(HttpFaultKind::WrongType, &self.place, what);
        if let Some(encoding) = self.encoding.as_deref().filter(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            let encoding = self.hidden(encoding);
            return Err(wrong(format!("the reply is compressed ({encoding}), although nobody asked for that")));
        }
        match &self.content_type {
            // Without a type the body decides.
            None => Ok(()),
            Some(content_type) if is_json(content_type) => Ok(()),
            Some(content_type) => {
                let content_type = self.hidden(content_type);
                Err(wrong(format!("answered {content_type} instead of JSON: {}", self.start())))
            }
        }
    }

    fn start(&self) -> String {
        self.quote(&String::from_utf8_lossy(&self.body))
    }

    fn hidden(&self, text: &str) -> String {
        self.quote(text).trim_matches('"').to_owned()
    }
}

/// JSON that was cut off is a failure of the server, JSON that is too deep may be right, and other invalid JSON is a reply of
/// another shape.
fn kind_of(error: &serde_json::Error) -> HttpFaultKind {
    match error.classify() {
        _ if is_too_deep(error) => HttpFaultKind::BeyondLimit,
        Category::Eof => HttpFaultKind::Useless,
        _ => HttpFaultKind::Unreadable,
    }
}

/// Whether a content type names JSON: `application/json` or a type that ends in `+json` (RFC 6839).
fn is_json(content_type: &str) -> bool {
    let name = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    name == "application/json" || name.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::http::JSON_DEPTH;

    fn reply(content_type: Option<&str>, body: &[u8]) -> HttpReply {
        HttpReply {
            place: "GET http://h/x".to_owned(),
            status: 200,
            retry_after: None,
            body: body.to_vec(),
            content_type: content_type.map(str::to_owned),
            encoding: None,
            headers: HeaderMap::new(),
            secrets: vec![Secret::new("hush")],
            redactor: Redactor::default(),
        }
    }

    #[test]
    fn json_is_read_under_each_of_its_types() {
        for content_type in
            [None, Some("application/json"), Some("Application/JSON; charset=utf-8"), Some("application/problem+json")]
        {
            assert_eq!(reply(content_type, b"\xef\xbb\xbf{\"a\":1}").object::<Value>().unwrap()["a"], 1);
        }
    }

    #[test]
    fn what_no_one_can_hold_beside_the_reply_makes_none_unreadable() {
        let huge = format!(r#"{{"message":"Hello","events":["\ud800",1e999,1{}]}}"#, "0".repeat(400));
        let read = reply(None, huge.as_bytes());
        assert_eq!(read.object::<Value>().unwrap()["message"], "Hello");
        assert_eq!(read.json().unwrap()["events"][0], "\u{fffd}");
        assert_eq!(read.event_json(&huge).unwrap()["events"][1], "1e999");
    }

    #[test]
    fn each_unreadable_body_has_a_message_of_its_own() {
        let json = Some("application/json");
        for (content_type, body, message) in [
            (Some("text/html"), &b"<html>hush"[..], "answered text/html instead of JSON: \"<html>***\""),
            (Some("application/jsonp"), b"f({})", "answered application/jsonp instead of JSON: \"f({})\""),
            (json, b"", "answered 200 with an empty body instead of JSON"),
            (json, b"{\"a\xff", "the reply is not valid UTF-8 (byte 3): \"{\"a\u{fffd}\""),
            (json, b"{\"a\":", "the reply stops in the middle of its JSON, after 5 bytes: \"{\"a\":\""),
            (json, b"nope", "the reply is not JSON (expected ident at line 1 column 2): \"nope\""),
            (json, b"[1]", "the reply is JSON, but no object: \"[1]\""),
            (
                json,
                b"{\"a\":\"hush\"}",
                "the reply's JSON is not of the expected shape (invalid type: string \"***\", expected u8): \
                 \"{\"a\":\"***\"}\"",
            ),
        ] {
            let fault = reply(content_type, body).object::<BTreeMap<String, u8>>().unwrap_err();
            assert_eq!(fault.message, format!("GET http://h/x: {message}"));
        }
    }

    #[test]
    fn a_body_nested_beyond_the_limit_is_no_failure_of_whoever_sent_it() {
        let fault = reply(None, "[".repeat(100_000).as_bytes()).object::<Value>().unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::BeyondLimit);
        assert!(
            fault.message.ends_with("the reply's JSON is nested deeper than 100 levels, the most that is read"),
            "{fault}"
        );
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(reply(None, b"").event_json(&nested(JSON_DEPTH)).is_ok());
        let fault = reply(None, b"").event_json(&nested(JSON_DEPTH + 1)).unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::BeyondLimit);
    }

    #[test]
    fn a_compressed_reply_is_named() {
        let reply = HttpReply { encoding: Some("gzip".to_owned()), ..reply(None, b"\x1f\x8b") };
        assert!(reply.object::<Value>().unwrap_err().message.contains("compressed (gzip)"));
    }

    #[test]
    fn a_refusal_has_status_and_body() {
        let reply = HttpReply { status: 500, ..reply(None, b"key hush is bad\n") };
        assert_eq!(reply.refusal(), "GET http://h/x: answered 500 Internal Server Error: \"key *** is bad\"");
        let reply = HttpReply { status: 599, ..self::reply(None, b"") };
        assert_eq!(reply.refusal(), "GET http://h/x: answered 599");
    }
}
