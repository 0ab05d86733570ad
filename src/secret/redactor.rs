//! The one redactor: whatever is written or shown goes through it.
//!
//! Invariants: what one clone has learnt all of them know; a secret is found in every spelling of [`super::spelling`]; a
//! text without secrets is neither copied nor changed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::DateTime;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::address::secret_parts;
use super::naming::{is_key_name, is_worth_hiding};
use super::spelling::Spellings;
use super::{Secret, Variables};

/// What stands where a secret stood.
const BLOT: &str = "***";

/// How much of a secret is recognised where a text was cut off within it, `…`.
const LEAST_OF_A_CUT: usize = 6;

/// A line of a secret with several lines is looked for by itself from this length on: of a private key.
const LEAST_OF_A_LINE: usize = 16;

/// Blots secrets out of texts. Cheap to clone.
#[derive(Clone, Default)]
pub struct Redactor(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    secrets: BTreeSet<String>,
    /// `None` where something was learnt since it was made, or nothing at all.
    matcher: Option<Arc<Matcher>>,
}

/// All spellings of all secrets, looked for at once.
struct Matcher {
    automaton: AhoCorasick,
    /// How many of the patterns stand for a secret alone; those after them are parts of Base64 texts.
    exact: usize,
    /// The secrets as they are, for texts that were cut off.
    secrets: Vec<String>,
}

impl Redactor {
    /// A redactor that knows these.
    pub fn of<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Redactor {
        let redactor = Redactor::default();
        redactor.learn_all(secrets.into_iter().map(Secret::expose));
        redactor
    }

    /// Learns a secret. What is short or commonplace is none: see [`is_worth_hiding`].
    pub fn learn(&self, secret: &Secret) {
        self.learn_all([secret.expose()]);
    }

    /// Learns several.
    pub fn learn_all<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        let mut new: Vec<String> = Vec::new();
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            for text in secrets.into_iter().flat_map(parts) {
                if is_worth_hiding(&text) && !known.secrets.contains(&text) {
                    new.push(text);
                }
            }
        }
        if !new.is_empty() {
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            known.secrets.extend(new);
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

    /// Learns a header of a request, where it is a key by its name.
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
        blotted(text, spans)
    }

    /// The text without secrets that were learnt: for words that are somebody's own and must else stay as they are.
    pub fn redact_known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        blotted(text, self.spans(text))
    }

    /// Redacts every text and every key of a JSON value.
    pub fn redact_json(&self, value: &mut Value) {
        self.redact_texts(value, &|_| true);
    }

    fn redact_texts(&self, value: &mut Value, is_meant: &dyn Fn(&str) -> bool) {
        match value {
            Value::String(text) => {
                if let (true, Cow::Owned(redacted)) = (is_meant(text), self.redact(text)) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_texts(item, is_meant)),
            Value::Object(entries) => {
                for (key, mut value) in std::mem::take(entries) {
                    self.redact_texts(&mut value, is_meant);
                    // Two keys may be the same now: both values stay.
                    let mut key = if is_meant(&key) { self.redact(&key).into_owned() } else { key };
                    while entries.contains_key(&key) {
                        key.push('*');
                    }
                    entries.insert(key, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A document of ours without secrets; `None` where there are none in it. `json` is how it is written.
    ///
    /// # Errors
    /// Where it would be no such document any more: a secret is a word of our own format.
    pub fn cleared<T: Serialize + DeserializeOwned>(&self, document: &T, json: &[u8]) -> serde_json::Result<Option<T>> {
        let is_clean = std::str::from_utf8(json).is_ok_and(|text| matches!(self.redact(text), Cow::Borrowed(_)));
        if is_clean {
            return Ok(None);
        }
        let mut value = serde_json::to_value(document)?;
        let mut words_kept = value.clone();
        self.redact_json(&mut value);
        serde_json::from_value(value)
            .or_else(|_| {
                // A word or a time of our own format was taken for a secret: these are left alone.
                let is_ours = |text: &str| {
                    text.bytes().all(|byte| byte.is_ascii_alphabetic()) || DateTime::parse_from_rfc3339(text).is_ok()
                };
                self.redact_texts(&mut words_kept, &|text| !is_ours(text));
                serde_json::from_value(words_kept)
            })
            .map(Some)
    }

    /// How many of the last bytes are the beginning of a secret: where they are cut off, its rest is missing.
    pub fn begun_at_end(&self, bytes: &[u8]) -> usize {
        let begun = |text: &String| (1..text.len()).rev().find(|length| bytes.ends_with(&text.as_bytes()[..*length]));
        self.matcher().iter().flat_map(|matcher| &matcher.secrets).filter_map(begun).max().unwrap_or(0)
    }

    /// How many of the first bytes are the end of a secret.
    pub fn ended_at_start(&self, bytes: &[u8]) -> usize {
        let rest = |text: &String| {
            (1..text.len()).find(|from| bytes.starts_with(&text.as_bytes()[*from..])).map(|from| text.len() - from)
        };
        self.matcher().iter().flat_map(|matcher| &matcher.secrets).filter_map(rest).max().unwrap_or(0)
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
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let made = Matcher::of(&known.secrets).map(Arc::new);
        known.matcher = made.clone();
        made
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Matcher {
    /// `None` where the automaton can't be built: with patterns of these sizes that does not happen.
    fn of(secrets: &BTreeSet<String>) -> Option<Matcher> {
        let (mut exact, mut within) = (Vec::new(), Vec::new());
        for secret in secrets {
            let spellings = Spellings::of(secret);
            exact.extend(spellings.exact);
            within.extend(spellings.within_base64);
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(exact.iter().chain(&within));
        Some(Matcher { automaton: automaton.ok()?, exact: exact.len(), secrets: secrets.iter().cloned().collect() })
    }

    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        for found in self.automaton.find_overlapping_iter(text) {
            let span = found.span();
            let is_exact = found.pattern().as_usize() < self.exact;
            spans.push(if is_exact { span.start..span.end } else { widened(text, span.start..span.end) });
        }
        for (cut, _) in text.match_indices('…') {
            let before = &text[..cut];
            let begun = |secret: &String| {
                let lengths = secret.char_indices().map(|(at, _)| at).filter(|at| *at >= LEAST_OF_A_CUT);
                lengths.rev().find(|length| before.ends_with(&secret[..*length]))
            };
            spans.extend(self.secrets.iter().filter_map(begun).max().map(|begun| cut - begun..cut));
        }
        spans
    }
}

/// The whole Base64 text in which a part was found.
fn widened(text: &str, part: Range<usize>) -> Range<usize> {
    let belongs = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/' | b'=' | b'-' | b'_');
    let bytes = text.as_bytes();
    let before = bytes[..part.start].iter().rev().take_while(|c| belongs(c)).count();
    let after = bytes[part.end..].iter().take_while(|c| belongs(c)).count();
    part.start - before..part.end + after
}

fn blotted(text: &str, mut spans: Vec<Range<usize>>) -> Cow<'_, str> {
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

/// What of a value with a name is secret.
pub fn secrets_of<'a>(name: &str, value: &'a str) -> Vec<&'a str> {
    if is_key_name(name) {
        return vec![value];
    }
    let passwords = secret_parts(value).into_iter().map(|part| &value[part]);
    passwords.flat_map(|login| [login, login.split_once(':').map_or("", |(_, password)| password)]).collect()
}

/// What of a secret is one by itself: what follows its scheme (`Bearer …`), the login in `Basic …`, the values of cookies,
/// and the lines of a private key.
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
    // A password in an address can be percent-encoded there and bare elsewhere.
    if whole.contains('%') {
        parts.extend(percent_decoded(whole));
    }
    parts
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let encoded =
            (*first == b'%').then(|| text.get(text.len() - after.len()..text.len() - after.len() + 2)).flatten();
        match encoded.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|decoded| decoded != text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-canary/9+1=\"ö x";

    fn redactor(secrets: &[&str]) -> Redactor {
        let redactor = Redactor::default();
        redactor.learn_all(secrets.iter().copied());
        redactor
    }

    #[test]
    fn every_spelling_is_found() {
        let known = redactor(&[KEY]);
        let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
        let mut texts = vec![
            KEY.to_owned(),
            json!(KEY).to_string().trim_matches('"').to_owned(),
            json!(json!(KEY).to_string()).to_string().trim_matches(['"', '\\']).to_owned(),
            r#"sk-canary\/9+1=\"\u00f6 x"#.to_owned(),
            "sk-canary%2F9%2B1%3D%22%C3%B6%20x".to_owned(),
            "sk-canary%2f9%2b1%3d%22%c3%b6%20x".to_owned(),
            "sk-canary%2F9%2B1%3D%22%C3%B6+x".to_owned(),
            "sk-canary/9+1=&quot;ö x".to_owned(),
            hex.to_uppercase(),
            hex,
        ];
        for before in ["", "u", "us", "use"] {
            for after in ["", "!", "!!"] {
                let encoded = STANDARD.encode(format!("{before}{KEY}{after}"));
                texts.push(encoded.trim_end_matches('=').to_owned());
                texts.push(encoded.replace('+', "-").replace('/', "_"));
                texts.push(encoded);
            }
        }
        for text in texts {
            assert_eq!(known.redact(&format!("it is: {text}.")), "it is: ***.", "{text}");
        }
    }

    #[test]
    fn what_a_header_or_a_login_holds_is_known_by_itself() {
        let known = redactor(&[
            "Bearer abc-12345",
            &format!("Basic {}", STANDARD.encode("me:hunter-2")),
            "a=b; session=0a1b2c3d4e",
            "p%40ss%2Fword1",
        ]);
        known.learn_login("neo4j", &Secret::new("weak"));
        let text = format!("abc-12345 hunter-2 0a1b2c3d4e p@ss/word1 {} weak", STANDARD.encode("neo4j:weak"));
        assert_eq!(known.redact(&text), "*** *** *** *** *** weak");
    }

    #[test]
    fn a_text_that_was_cut_within_a_secret_loses_the_half_too() {
        let known = redactor(&["sk-canary-123456"]);
        assert_eq!(known.redact("it said sk-canary-1…\" and sk-…"), "it said ***…\" and sk-…");
        assert_eq!(known.begun_at_end(b"x sk-ca"), 5);
        assert_eq!(known.ended_at_start(b"3456 x"), 4);
    }

    #[test]
    fn a_document_stays_one_and_numbers_and_names_stay() {
        let known = redactor(&["canary-1"]);
        let document = json!({"text": "my canary-1", "list": [{"canary-1": 1, "***": 2}], "n": 1.5});
        let json = serde_json::to_vec(&document).unwrap();
        let cleared = known.cleared(&document, &json).unwrap().unwrap();
        assert_eq!(cleared, json!({"text": "my ***", "list": [{"***": 1, "****": 2}], "n": 1.5}));
        assert_eq!(known.cleared(&cleared, &serde_json::to_vec(&cleared).unwrap()).unwrap(), None);
    }

    #[test]
    fn what_is_learnt_by_one_is_known_to_all_and_addresses_lose_their_logins() {
        let known = Redactor::default();
        let other = known.clone();
        assert!(matches!(other.redact("token-12345"), Cow::Borrowed(_)));
        known.learn(&Secret::new("token-12345"));
        assert_eq!(other.redact("token-12345 http://me:x@h/?sig=1"), "*** http://***@h/?sig=***");
        assert_eq!(other.redact_known("token-12345 http://me:x@h/?sig=1"), "*** http://me:x@h/?sig=1");
    }

    #[test]
    fn a_short_or_common_value_blots_nothing() {
        let known = redactor(&["x", "1234", "password", "neo4j"]);
        assert!(matches!(known.redact("x 1234 password neo4j"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn no_secret_is_left_and_what_is_redacted_stays_so(
            secret in "[ -~äß\n]{6,24}", before in ".{0,12}", after in ".{0,12}"
        ) {
            let known = redactor(&[&secret]);
            prop_assume!(is_worth_hiding(secret.trim()));
            let once = known.redact(&format!("{before}{secret}{after}")).into_owned();
            prop_assert!(!once.contains(secret.trim()) || BLOT.contains(secret.trim()));
        }

        #[test]
        fn a_line_of_json_is_dirty_wherever_its_texts_are(secret in "[ -~ä\u{1}\n]{8,24}", words in ".{0,20}") {
            let known = redactor(&[&secret]);
            prop_assume!(is_worth_hiding(secret.trim()));
            let document = json!({"text": format!("{words}{secret}{words}")});
            let cleared = known.cleared(&document, &serde_json::to_vec(&document).unwrap()).unwrap();
            prop_assert!(cleared.is_some_and(|cleared| !cleared["text"].as_str().unwrap().contains(secret.trim())));
        }
    }
}
