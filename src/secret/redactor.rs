//! The one redactor: whatever is written or shown goes through it.
//!
//! Invariants: what one clone has learnt all of them know; a secret is found in every spelling of [`super::spelling`],
//! behind every escape of [`super::decoding`]; a text without secrets is neither copied nor changed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::DateTime;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::address::secret_parts;
use super::matcher::Matcher;
use super::naming::{is_key_name, is_worth_hiding};
use super::spelling::LEAST_OF_NUMBERS;
use super::{Secret, Variables};

/// The replacement for a secret.
pub(super) const BLOT: &str = "***";

/// A line of a secret with several lines is looked for by itself from this length on: of a private key.
const LEAST_OF_A_LINE: usize = 16;

/// Blots secrets out of texts. Cheap to clone.
#[derive(Clone, Default)]
pub struct Redactor(Arc<RwLock<RedactorState>>);

#[derive(Default)]
struct RedactorState {
    /// The texts that were learnt, as they were given: most are learnt again and again, with every request.
    given: BTreeSet<String>,
    /// The secrets in them.
    secrets: BTreeSet<String>,
    /// `None` where something was learnt since it was made, or nothing at all.
    matcher: Option<Arc<Matcher>>,
}

impl Redactor {
    /// A redactor that knows these.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Redactor {
        let redactor = Redactor::default();
        redactor.learn_all(secrets.into_iter().map(Secret::expose));
        redactor
    }

    /// Learns a secret. Short and commonplace texts are ignored: see [`is_worth_hiding`].
    pub fn learn(&self, secret: &Secret) {
        self.learn_all([secret.expose()]);
    }

    /// Learns several.
    pub fn learn_all<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        let mut new: Vec<&str> = Vec::new();
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            new.extend(secrets.into_iter().filter(|given| !known.given.contains(*given)));
        }
        if new.is_empty() {
            return;
        }
        let worth_hiding: Vec<String> =
            new.iter().flat_map(|given| parts(given)).filter(|part| is_worth_hiding(part)).collect();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.given.extend(new.into_iter().map(str::to_owned));
        let before = known.secrets.len();
        known.secrets.extend(worth_hiding);
        if known.secrets.len() > before {
            known.matcher = None;
        }
    }

    /// Learns what of the environment is secret.
    pub fn learn_variables(&self, variables: &Variables) {
        let secrets: Vec<Secret> = variables.secrets().collect();
        self.learn_all(secrets.iter().map(Secret::expose));
    }

    /// Learns a value that has a name: all of it where the name is a key's, else the logins and keys of its addresses.
    pub fn learn_named(&self, name: &str, value: &str) {
        self.learn_all(secrets_of(name, value));
    }

    /// Learns a header of a request, where it is a key by its name. What else may be one is learnt from the job's file: a
    /// request also says what was made of templates.
    pub fn learn_header(&self, name: &str, value: &Secret) {
        if is_key_name(name) {
            self.learn(value);
        }
    }

    /// Learns a login: the password, and both together as they are sent.
    pub fn learn_login(&self, user: &str, password: &Secret) {
        if !password.expose().is_empty() {
            let basic = STANDARD.encode(format!("{user}:{}", password.expose()));
            self.learn_all([password.expose(), basic.as_str()]);
        }
    }

    /// Where secrets that were learnt stand in a text.
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        self.spans(text)
    }

    /// The text without secrets, and without logins and keys in its addresses.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut spans = self.spans(text);
        spans.extend(secret_parts(text));
        redact_spans(text, spans)
    }

    /// The text without learnt secrets, and otherwise unchanged: for users' own texts.
    pub fn redact_known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        redact_spans(text, self.spans(text))
    }

    /// Redacts every text, every key and every number of a JSON value.
    pub fn redact_json(&self, value: &mut Value) {
        self.redact_texts(value, &|_| true);
        self.redact_across(std::iter::once(&mut *value));
        self.secret_numbers(value).into_iter().for_each(|number| *number = BLOT.into());
    }

    /// The numbers of a JSON value that are secrets, digit by digit.
    fn secret_numbers<'v>(&self, value: &'v mut Value) -> Vec<&'v mut Value> {
        match value {
            Value::Array(items) => {
                let listed = self.listed_numbers(items);
                let items = items.iter_mut().zip(listed);
                let found = |(item, is_listed)| if is_listed { vec![item] } else { self.secret_numbers(item) };
                items.flat_map(found).collect()
            }
            Value::Object(entries) => entries.values_mut().flat_map(|item| self.secret_numbers(item)).collect(),
            Value::Number(number) => {
                let digits = number.to_string();
                if self.spans(&digits).contains(&(0..digits.len())) { vec![value] } else { Vec::new() }
            }
            Value::Null | Value::Bool(_) | Value::String(_) => Vec::new(),
        }
    }

    /// Which items of a list are numbers that together are the bytes of a secret.
    fn listed_numbers(&self, items: &[Value]) -> Vec<bool> {
        let is_byte = |item: &Value| item.as_u64().is_some_and(|number| number < 256);
        if !items.windows(LEAST_OF_NUMBERS).any(|row| row.iter().all(is_byte)) {
            return vec![false; items.len()];
        }
        let mut text = String::new();
        let places: Vec<Range<usize>> = items
            .iter()
            .map(|item| {
                let start = text.len();
                // Whatever else stands between two numbers, they are not in a row.
                text.push_str(&if is_byte(item) { item.to_string() } else { "x".to_owned() });
                let end = text.len();
                text.push(',');
                start..end
            })
            .collect();
        let spans = self.spans(&text);
        let is_in = |place: &Range<usize>| spans.iter().any(|span| span.start < place.end && span.end > place.start);
        places.iter().zip(items).map(|(place, item)| is_byte(item) && is_in(place)).collect()
    }

    fn redact_texts(&self, value: &mut Value, is_redacted: &dyn Fn(&str) -> bool) {
        match value {
            Value::String(text) => {
                if let (true, Cow::Owned(redacted)) = (is_redacted(text), self.redact(text)) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_texts(item, is_redacted)),
            Value::Object(entries) => {
                for (key, mut value) in std::mem::take(entries) {
                    self.redact_texts(&mut value, is_redacted);
                    // Two keys may be the same now: both values stay.
                    let mut key = if is_redacted(&key) { self.redact(&key).into_owned() } else { key };
                    while entries.contains_key(&key) {
                        key.push('*');
                    }
                    entries.insert(key, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Whether nothing secret is in these bytes.
    pub fn is_clean(&self, json: &[u8]) -> bool {
        std::str::from_utf8(json).is_ok_and(|text| matches!(self.redact(text), Cow::Borrowed(_)))
    }

    /// A document of ours without secrets; `None` where there are none in it. `json` is how it is written.
    ///
    /// # Errors
    /// Where it would be no such document any more: a secret is a word of our own format.
    pub fn cleared<T: Serialize + DeserializeOwned>(&self, document: &T, json: &[u8]) -> serde_json::Result<Option<T>> {
        if self.is_clean(json) {
            return Ok(None);
        }
        let written = serde_json::to_value(document)?;
        let mut cleared = written.clone();
        self.redact_texts(&mut cleared, &|_| true);
        if serde_json::from_value::<T>(cleared.clone()).is_err() {
            // A word or a time of our own format was taken for a secret: these are left alone.
            let is_ours = |text: &str| {
                text.bytes().all(|byte| byte.is_ascii_alphabetic()) || DateTime::parse_from_rfc3339(text).is_ok()
            };
            cleared = written;
            self.redact_texts(&mut cleared, &|text| !is_ours(text));
        }
        let mut whole = cleared.clone();
        self.redact_across(std::iter::once(&mut whole));
        if serde_json::from_value::<T>(whole.clone()).is_ok() {
            cleared = whole;
        }
        self.redact_numbers::<T>(&mut cleared);
        serde_json::from_value(cleared).map(Some)
    }

    /// Redacts the numbers of a document of ours, but those without which it would be none: our own that are secrets by
    /// chance.
    fn redact_numbers<T: DeserializeOwned>(&self, document: &mut Value) {
        let blotted = |is_chosen: &dyn Fn(usize) -> bool| {
            let mut tried = document.clone();
            let numbers = self.secret_numbers(&mut tried).into_iter().enumerate();
            numbers.filter(|(at, _)| is_chosen(*at)).for_each(|(_, number)| *number = BLOT.into());
            tried
        };
        let is_document = |tried: &Value| serde_json::from_value::<T>(tried.clone()).is_ok();
        let mut chosen = blotted(&|_| true);
        if !is_document(&chosen) {
            let count = self.secret_numbers(&mut document.clone()).len();
            let is_free: Vec<bool> = (0..count).map(|only| is_document(&blotted(&|at| at == only))).collect();
            chosen = blotted(&|at| is_free[at]);
        }
        if is_document(&chosen) {
            *document = chosen;
        }
    }

    /// How many of the last bytes are the beginning of a secret, however it is written: where they are cut off, its rest is missing.
    pub fn begun_at_end(&self, bytes: &[u8]) -> usize {
        let begun = |text: &String| (1..text.len()).rev().find(|length| bytes.ends_with(&text.as_bytes()[..*length]));
        let Some(matcher) = self.matcher() else { return 0 };
        matcher.secrets().iter().filter_map(begun).max().max(matcher.begun_at_end(bytes)).unwrap_or(0)
    }

    /// How many of the first bytes are the end of a secret.
    pub fn ended_at_start(&self, bytes: &[u8]) -> usize {
        let rest = |text: &String| {
            (1..text.len()).find(|from| bytes.starts_with(&text.as_bytes()[*from..])).map(|from| text.len() - from)
        };
        self.matcher().iter().flat_map(|matcher| matcher.secrets()).filter_map(rest).max().unwrap_or(0)
    }

    /// Whether nothing was learnt.
    pub(super) fn is_empty(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).secrets.is_empty()
    }

    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        self.matcher().map(|matcher| matcher.spans(text)).unwrap_or_default()
    }

    fn matcher(&self) -> Option<Arc<Matcher>> {
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if known.matcher.is_some() || known.secrets.is_empty() {
                return known.matcher.clone();
            }
        }
        // Made without holding the lock: an error in here is reported through this redactor.
        let secrets = self.0.read().unwrap_or_else(PoisonError::into_inner).secrets.clone();
        let made = Matcher::new(&secrets).map(Arc::new);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.secrets.len() == secrets.len() {
            known.matcher = made.clone();
        }
        made
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

pub(super) fn redact_spans(text: &str, mut spans: Vec<Range<usize>>) -> Cow<'_, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    spans.sort_unstable_by_key(|span| span.start);
    let (mut redacted, mut done) = (String::with_capacity(text.len()), 0);
    for span in spans {
        if span.start >= done {
            redacted.push_str(&text[done..span.start]);
            redacted.push_str(BLOT);
        }
        done = done.max(span.end);
    }
    redacted.push_str(&text[done..]);
    Cow::Owned(redacted)
}

/// The secret parts of a named value.
pub fn secrets_of<'a>(name: &str, value: &'a str) -> Vec<&'a str> {
    if is_key_name(name) {
        return vec![value];
    }
    let passwords = secret_parts(value).into_iter().map(|part| &value[part]);
    passwords.flat_map(|login| [login, login.split_once(':').map_or("", |(_, password)| password)]).collect()
}

/// The parts of a secret that are secrets by themselves: the text after its scheme (`Bearer …`), the login in `Basic
/// …`, the values of cookies, and the lines of a private key.
fn parts(secret: &str) -> Vec<String> {
    let whole = secret.trim();
    let mut parts = vec![whole.to_owned()];
    if let Some((scheme, rest)) = whole.split_once(' ')
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    {
        parts.push(rest.trim().to_owned());
        if scheme.eq_ignore_ascii_case("basic")
            && let Some(login) = STANDARD.decode(rest.trim()).ok().and_then(|login| String::from_utf8(login).ok())
        {
            parts.extend(login.split_once(':').map(|(_, password)| password.to_owned()));
            parts.push(login);
        }
    }
    if whole.contains(['=', ';']) {
        parts.extend(whole.split(';').filter_map(|part| Some(part.split_once('=')?.1.trim().to_owned())));
    }
    if whole.contains('\n') {
        parts.extend(whole.lines().map(str::trim).filter(|line| line.len() >= LEAST_OF_A_LINE).map(str::to_owned));
    }
    parts
}
