//! Reads the requests in a user's message. English, by keywords.

use chrono_tz::Tz;

use super::time_zone;
use super::when::{self, When};

/// One request, or piece of information, of a user.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum UserRequest {
    Create { title: Option<String>, when: When },
    Reschedule { description: String, when: When },
    Cancel { description: String },
    List,
    RememberTimeZone(Tz),
    Greeting,
    Thanks,
    Goodbye,
}

impl UserRequest {
    fn is_courtesy(&self) -> bool {
        matches!(self, UserRequest::Greeting | UserRequest::Thanks | UserRequest::Goodbye)
    }
}

/// The requests of a message, in order. Greetings and thanks count only where there is nothing else, and then only the last.
pub(super) fn read(message: &str) -> Vec<UserRequest> {
    let mut found: Vec<UserRequest> = sentences(message).iter().filter_map(|words| read_sentence(words)).collect();
    if found.iter().all(UserRequest::is_courtesy) {
        found.drain(..found.len().saturating_sub(1));
    } else {
        found.retain(|request| !request.is_courtesy());
    }
    found
}

/// The words of each sentence, without marks around them.
fn sentences(message: &str) -> Vec<Vec<&str>> {
    let mut sentences = vec![Vec::new()];
    for word in message.split_whitespace() {
        if let (Some(sentence), Some(word)) = (sentences.last_mut(), bare(word)) {
            sentence.push(word);
        }
        if word.ends_with(['.', '!', '?']) && !ABBREVIATIONS.contains(&word) {
            sentences.push(Vec::new());
        }
    }
    sentences
}

/// The words of a text, without marks around them.
pub(super) fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().filter_map(bare).collect()
}

fn bare(word: &str) -> Option<&str> {
    if ABBREVIATIONS.contains(&word) {
        return Some(word);
    }
    let bare = word.trim_matches(['.', ',', '!', '?', ';', ':', '"', '“', '”', '(', ')']);
    (!bare.is_empty()).then_some(bare)
}

const ABBREVIATIONS: &[&str] = &["Dr.", "Mr.", "Mrs.", "Ms.", "a.m.", "p.m."];

fn read_sentence(words: &[&str]) -> Option<UserRequest> {
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let has = |any: &[&str]| lower.iter().any(|word| any.contains(&word.as_str()));
    let about_reminders = has(&["reminder", "reminders"]);
    // The first verb decides: what follows it may hold others (`remind me to cancel …`).
    for (at, word) in lower.iter().enumerate() {
        let rest = &words[at + 1..];
        match word.as_str() {
            "remind" => return Some(create(rest)),
            "create" | "add" | "set" | "make" | "schedule" | "a" | "another" if about_reminders => {
                return Some(create(rest));
            }
            "cancel" | "delete" | "remove" => return Some(UserRequest::Cancel { description: rest.join(" ") }),
            "change" if !about_reminders => {}
            "move" | "reschedule" | "postpone" | "push" | "change" => {
                let (when, left) = when::read(rest);
                return Some(UserRequest::Reschedule { description: left.join(" "), when });
            }
            "which" | "what" | "list" | "show" | "many" | "any" | "when" if about_reminders => {
                return Some(UserRequest::List);
            }
            _ => {}
        }
    }
    let names_zone = has(&["timezone"]) || lower.windows(2).any(|pair| pair[0] == "time" && pair[1] == "zone");
    match lower.first()?.as_str() {
        _ if names_zone => time_zone::find(words).map(UserRequest::RememberTimeZone),
        _ if has(&["goodbye", "bye"]) => Some(UserRequest::Goodbye),
        "thanks" | "thank" => Some(UserRequest::Thanks),
        "hello" | "hi" | "hey" | "greetings" | "yo" | "good" => Some(UserRequest::Greeting),
        _ => None,
    }
}

fn create(rest: &[&str]) -> UserRequest {
    let (when, mut left) = when::read(rest);
    left.retain(|word| !word.eq_ignore_ascii_case("reminder") && !word.eq_ignore_ascii_case("please"));
    let title = left.iter().position(|word| !FILLERS.contains(&word.to_lowercase().as_str()));
    UserRequest::Create { title: title.map(|start| upper_first(&left[start..].join(" "))), when }
}

/// Words between the verb and the title: `a reminder for me to …`.
const FILLERS: &[&str] =
    &["a", "an", "the", "another", "new", "up", "me", "for", "to", "about", "of", "that", "i", "should", "called"];

fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
