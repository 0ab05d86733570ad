//! What a user tells of itself and of others, in the first person or, when it is dictated, in the third.

use chrono_tz::Tz;

use super::super::notebook::Field;
use super::super::zone;
use super::name::{email, field, names, phone};
use super::text::{bare_words, sentences};

/// Something that a user told.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum Told {
    Name(String),
    Home(String),
    TimeZone(Tz),
    Detail {
        name: String,
        field: Field,
        value: String,
    },
    /// Anything else, in its own words.
    Note(String),
}

/// `Please remember …: …` with everything after the colon.
pub(super) fn dictated(message: &str) -> Option<Vec<Told>> {
    let (head, text) = message.split_once(':')?;
    let asks = head.to_lowercase().contains("remember") && head.len() < 120 && !head.contains(['?', '!']);
    asks.then(|| sentences(text).iter().flat_map(|sentence| told_all(sentence)).collect())
}

/// `Remember that …`.
pub(super) fn remembered(sentence: &str, verb: &str) -> Option<Vec<Told>> {
    if !matches!(verb, "remember" | "note") {
        return None;
    }
    let at = sentence.to_lowercase().find(verb)? + verb.len();
    let rest = sentence.get(at..)?.trim_start_matches([' ', ',']);
    let rest = rest.strip_prefix("that ").unwrap_or(rest);
    (!rest.is_empty()).then(|| told_all(rest))
}

fn told_all(sentence: &str) -> Vec<Told> {
    let sentence = sentence.trim_end_matches(['.', '!', ' ']);
    let joint = [" and she ", " and he ", " and they ", " and I ", " and my ", " and the user"]
        .iter()
        .find_map(|joint| sentence.find(joint));
    match joint {
        Some(at) => {
            let (first, rest) = (&sentence[..at], &sentence[at + " and ".len()..]);
            told_all(first).into_iter().chain(told_all(rest)).collect()
        }
        None => vec![told(sentence).unwrap_or_else(|| Told::Note(sentence.to_owned()))],
    }
}

/// What a sentence tells, if it tells anything.
pub(super) fn told(sentence: &str) -> Option<Told> {
    let sentence = sentence.trim_end_matches(['.', '!', ' ']);
    let lower = sentence.to_lowercase().replace('’', "'");
    if lower.ends_with('?') || ["don't know", "afraid", "no idea", "not sure"].iter().any(|doubt| lower.contains(doubt))
    {
        return None;
    }
    let after = |starts: &[&str]| {
        starts.iter().find_map(|start| lower.find(start).and_then(|at| sentence.get(at + start.len()..))).map(str::trim)
    };
    if lower.contains("time zone") || lower.contains("timezone") {
        return zone::find(sentence).map(Told::TimeZone);
    }
    if let Some(name) = after(&["my name is ", "user's name is ", "call me ", "i'm called ", "i am called "]) {
        return Some(Told::Name(name.to_owned()));
    }
    if let Some(home) = after(&["i live in ", "lives in ", "they live in "]) {
        return Some(Told::Home(home.to_owned()));
    }
    let words = bare_words(sentence);
    let lowers: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    if let Some(field) = field(&lowers).filter(|_| !matches!(lowers[0].as_str(), "my" | "i")) {
        let value = match field {
            Field::Phone => phone(&words),
            Field::Email => email(&words),
        };
        if let (Some(name), Some(value)) = (names(&words), value) {
            return Some(Told::Detail { name, field, value });
        }
    }
    let of_the_user = lower.starts_with("the user")
        || lower.starts_with("my ")
        || TELLING.iter().any(|start| lower.starts_with(start));
    of_the_user.then(|| Told::Note(sentence.to_owned()))
}

const TELLING: &[&str] = &[
    "i prefer ",
    "i like ",
    "i love ",
    "i hate ",
    "i drink ",
    "i eat ",
    "i work ",
    "i have ",
    "i'm allergic",
    "i am allergic",
    "i never ",
    "i always ",
    "i usually ",
    "i take ",
    "i don't ",
    "i speak ",
    "i play ",
    "i own ",
];
