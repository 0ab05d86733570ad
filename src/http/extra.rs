//! The options of a request.

use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};

use super::{HttpFault, HttpFaultKind};
use crate::secret::Secret;

/// The length from which a header's value counts as a secret: redacting shorter ones would spoil every message.
const SHORTEST_SECRET: usize = 8;

/// The options of a request, beside method, address, key and body.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extra<'a> {
    /// Headers of the user's own: name and value. They replace ours of the same name.
    pub headers: &'a [(String, Secret)],
    /// Headers without secrets that a service requires, by their names in lower case.
    pub plain: &'a [(&'static str, &'a str)],
    /// A secret in the body, which is redacted in messages.
    pub secret: Option<&'a Secret>,
    /// The `Accept` header, where it is not JSON alone.
    pub accept: Option<&'static str>,
}

impl Extra<'_> {
    pub(super) fn add_to(&self, headers: &mut HeaderMap, place: &str) -> Result<(), HttpFault> {
        if let Some(accept) = self.accept {
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
        }
        for (name, value) in self.plain {
            let value = HeaderValue::from_str(value).map_err(|_| {
                HttpFault::new(HttpFaultKind::Unsendable, place, format!("the header `{name}` can't be sent"))
            })?;
            headers.insert(*name, value);
        }
        for (name, value) in self.headers {
            let (name, value) = header(name, value.expose()).map_err(|error| {
                HttpFault::new(HttpFaultKind::Unsendable, place, format!("the header `{name}` {}", error.as_str()))
            })?;
            headers.insert(name, value);
        }
        Ok(())
    }

    /// The secrets that a server might echo: header values, and the parts after their scheme (`Bearer …`).
    pub(super) fn secrets(&self) -> impl Iterator<Item = Secret> {
        let parts = self.headers.iter().flat_map(|(_, value)| {
            let rest = value.expose().split_once(' ').map(|(_, rest)| rest);
            [Some(value.expose()), rest].into_iter().flatten().filter(|part| is_secret(part)).map(Secret::new)
        });
        parts.chain(self.secret.cloned())
    }
}

/// The problem with a header that no request can have, completing a sentence: `has a name …`.
pub fn header_problem(name: &str, value: &str) -> Option<&'static str> {
    header(name, value).err().map(HeaderError::as_str)
}

/// The problem with a key that no header can carry, or that is none, completing a sentence: `holds …`.
pub fn key_problem(key: &str) -> Option<&'static str> {
    match HeaderValue::from_str(key) {
        Ok(_) if key.chars().any(char::is_alphanumeric) => None,
        Ok(_) => Some("is a placeholder: no letter or digit is in it"),
        Err(_) if key.contains(['\n', '\r']) => Some("holds a line break, which no header can carry"),
        Err(_) => Some("holds a character that no header can carry: was it copied badly?"),
    }
}

/// A header that no request can have.
#[derive(Debug, Clone, Copy)]
enum HeaderError {
    Name,
    Value,
}

impl HeaderError {
    fn as_str(self) -> &'static str {
        match self {
            HeaderError::Name => "has a name that no header can have",
            HeaderError::Value => "holds a character that no header can carry; is there a line break in it?",
        }
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), HeaderError> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| HeaderError::Name)?;
    let mut value = HeaderValue::from_str(value).map_err(|_| HeaderError::Value)?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Whether a part of a header's value must be redacted.
fn is_secret(part: &str) -> bool {
    part.len() >= SHORTEST_SECRET && !part.starts_with("application/") && !part.starts_with("text/")
}
