//! Requests by templates: each text is filled in on its own, so that no message can break out of its place.

use std::collections::BTreeMap;
use std::fmt::Write;

use minijinja::value::{Serde, Value as Filling};
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior};
use serde_json::{Value, json};

use super::config::MethodConfig;
use crate::http::Url;

/// What templates may name.
pub(super) const NAMES: [&str; 8] = ["user", "chatbot", "sessionId", "message", "model", "history", "turn", "baseUrl"];

/// A request's four parts, as the job has them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) method: MethodConfig,
    pub(super) url: &'a str,
    pub(super) headers: &'a BTreeMap<String, String>,
    pub(super) body: &'a Value,
}

/// A request, filled in.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) method: crate::http::Method,
    pub(super) url: Url,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<Value>,
}

impl Parts<'_> {
    /// Fills everything in. The error says which part can't be and holds none of the values.
    pub(super) fn fill(&self, values: &Value) -> Result<Filled, String> {
        let (encoding, plain) = (environment(true), environment(false));
        let everywhere = Filling::from(Serde(values));
        let mut in_address = values.clone();
        // The one value that is an address itself.
        let base = in_address["baseUrl"].take();
        let mut in_address = Filling::from(Serde(&in_address));
        if let Some(base) = base.as_str() {
            let base = Filling::from_safe_string(base.to_owned());
            in_address = minijinja::context! { baseUrl => base, ..in_address };
        }
        let url = encoding.render_str(self.url, in_address).map_err(|error| format!("url: {}", words(&error)))?;
        let url = Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or("url: that is no address; write it like http://localhost:8080/chat/{{ sessionId }}")?;
        let mut headers = Vec::new();
        for (name, value) in self.headers {
            let value = plain
                .render_str(value, everywhere.clone())
                .map_err(|error| format!("headers.{name}: {}", words(&error)))?;
            headers.push((name.clone(), value));
        }
        let body = match self.body {
            Value::Null => None,
            body => Some(fill(&plain, body, &everywhere).map_err(|error| format!("body: {}", words(&error)))?),
        };
        let method = match self.method {
            MethodConfig::Get => crate::http::Method::GET,
            MethodConfig::Post => crate::http::Method::POST,
            MethodConfig::Put => crate::http::Method::PUT,
            MethodConfig::Patch => crate::http::Method::PATCH,
        };
        Ok(Filled { method, url, headers, body })
    }

    /// What is wrong with it, whatever the values.
    pub(super) fn problem(&self) -> Option<String> {
        let stand_in = json!({
            "user": "user", "chatbot": "chatbot", "sessionId": "1", "message": "message", "model": "model",
            "history": [{"role": "user", "content": "Hello"}], "turn": 1, "baseUrl": "http://127.0.0.1:1",
        });
        self.fill(&stand_in).err()
    }
}

fn environment(is_address: bool) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    if is_address {
        environment.set_formatter(percent_encoded);
    }
    environment
}

/// Puts a value into an address: as one segment, or one part of a query, whatever it holds (RFC 3986, section 2).
fn percent_encoded(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Filling) -> Result<(), Error> {
    if value.is_safe() || value.is_undefined() {
        return minijinja::escape_formatter(out, state, value);
    }
    for byte in value.to_string().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.write_char(byte.into())?,
            byte => write!(out, "%{byte:02X}")?,
        }
    }
    Ok(())
}

fn fill(environment: &Environment<'_>, body: &Value, values: &Filling) -> Result<Value, Error> {
    Ok(match body {
        Value::String(text) => match lone(text) {
            Some(name) => {
                let value = environment.compile_expression(name)?.eval(values.clone())?;
                if value.is_undefined() {
                    environment.render_str(text, values.clone())?;
                }
                serde_json::to_value(value).unwrap_or_default()
            }
            None => environment.render_str(text, values.clone())?.into(),
        },
        Value::Array(list) => {
            list.iter().map(|item| fill(environment, item, values)).collect::<Result<Vec<_>, _>>()?.into()
        }
        Value::Object(map) => {
            let filled = map.iter().map(|(key, value)| Ok((key.clone(), fill(environment, value, values)?)));
            Value::Object(filled.collect::<Result<_, Error>>()?)
        }
        other => other.clone(),
    })
}

/// The expression of a text that is nothing but one.
fn lone(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{") && !inner.contains("}}") && !inner.contains("{%")).then_some(inner)
}

/// An error's kind, and the name that is not known. Its own words could quote the template, which may hold a key.
fn words(error: &Error) -> String {
    use minijinja::ErrorKind::{SyntaxError, UndefinedError, UnknownFilter, UnknownFunction, UnknownTest};
    match error.kind() {
        UndefinedError => format!("a name in it is not known; templates may name {}", NAMES.join(", ")),
        SyntaxError => "this is no template: look at its {{ and }}".to_owned(),
        UnknownFilter | UnknownFunction | UnknownTest => "it uses something that templates do not have".to_owned(),
        kind => format!("it can't be filled in ({kind})"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(message: &str) -> Value {
        json!({"user": "ann", "chatbot": "c", "sessionId": "a/b ?ä", "message": message, "model": "m",
               "history": [{"role": "user", "content": "Hi"}], "turn": 2, "baseUrl": "http://127.0.0.1:9"})
    }

    fn filled(url: &str, body: Value) -> Result<Filled, String> {
        let headers = BTreeMap::from([("X-User".to_owned(), "is {{ user }}".to_owned())]);
        Parts { method: MethodConfig::Post, url, headers: &headers, body: &body }.fill(&values("Say \"hi\"\n{{ x }}"))
    }

    #[test]
    fn each_part_is_filled_in_by_its_own_rules() {
        let body = json!({"say": "{{ message }}", "all": "{{ history }}", "turn": "{{ turn }}", "n": 5, "{{ k }}": null,
                          "in": ["{{ user }}: {{ message }}"]});
        let request = filled("{{ baseUrl }}/s/{{ sessionId }}?m={{ message }}", body).unwrap();
        assert_eq!(
            request.url.as_str(),
            "http://127.0.0.1:9/s/a%2Fb%20%3F%C3%A4?m=Say%20%22hi%22%0A%7B%7B%20x%20%7D%7D"
        );
        assert_eq!(request.headers, [("X-User".to_owned(), "is ann".to_owned())]);
        assert_eq!(
            request.body.unwrap(),
            json!({"say": "Say \"hi\"\n{{ x }}", "all": [{"role": "user", "content": "Hi"}], "turn": 2, "n": 5,
                   "{{ k }}": null, "in": ["ann: Say \"hi\"\n{{ x }}"]})
        );
    }

    #[test]
    fn what_can_not_be_filled_in_is_told_without_the_template() {
        for (url, body, words) in [
            ("http://h/{{ nope }}", Value::Null, "url: a name in it is not known; templates may name user"),
            ("http://h/{{ user", Value::Null, "url: this is no template"),
            ("h/{{ user }}", Value::Null, "url: that is no address"),
            ("ftp://h", Value::Null, "url: that is no address"),
            ("http://h", json!({"a": ["{{ nope }}"]}), "body: a name in it is not known"),
            ("http://h", json!("s3cret {{ user | nope }}"), "body: it uses something that templates do not have"),
        ] {
            let problem = filled(url, body).unwrap_err();
            assert!(problem.starts_with(words) && !problem.contains("s3cret"), "{url}: {problem}");
        }
    }

    proptest! {
        #[test]
        fn no_message_breaks_out(message in "\\PC{0,30}|[\"\\\\{}%/?#&\r\n]{0,20}") {
            let (headers, body) = (BTreeMap::new(), json!({"a": "{{ message }}", "b": "x{{ message }}"}));
            let parts = Parts {
                method: MethodConfig::Post, url: "http://h/a/{{ message }}?q={{ message }}&z=1", headers: &headers, body: &body,
            };
            let request = parts.fill(&values(&message)).unwrap();
            prop_assert_eq!(request.body.unwrap(), json!({"a": &message, "b": format!("x{message}")}));
            prop_assert_eq!(request.url.query_pairs().count(), 2);
            prop_assert_eq!(request.url.host_str(), Some("h"));
        }
    }
}
