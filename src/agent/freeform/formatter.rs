//! How values are written into texts and addresses.

use std::fmt::Write;

use minijinja::value::{Value as Filling, ValueKind};
use minijinja::{Error, Output, State};

/// Puts a value into a text: a mapping or a list as JSON.
pub(super) fn written(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Filling) -> Result<(), Error> {
    match as_json(value) {
        Some(json) => out.write_str(&json).map_err(Error::from),
        None => minijinja::escape_formatter(out, state, value),
    }
}

/// A mapping or a list as JSON.
fn as_json(value: &Filling) -> Option<String> {
    matches!(value.kind(), ValueKind::Map | ValueKind::Seq).then(|| serde_json::to_string(value).ok())?
}

/// Puts a value into an address: as one segment, or one part of a query, whatever it holds (RFC 3986, section 2). Only `base`, the
/// address of the agent, stays as it is.
pub(super) fn percent_encoded(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Filling,
    base: Option<&str>,
) -> Result<(), Error> {
    if value.is_safe() && value.as_str() == base || value.is_undefined() {
        return minijinja::escape_formatter(out, state, value);
    }
    for byte in as_json(value).unwrap_or_else(|| value.to_string()).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.write_char(byte.into())?,
            byte => write!(out, "%{byte:02X}")?,
        }
    }
    Ok(())
}
