//! What a sentence wants of the reminders.

use super::super::when::{self, When};
use super::Request;
use super::name::quoted;
use super::sentence::{CHANGE, CREATE, DELETE, SHOW, Sentence};
use super::text::upper_first;

const REMINDER: &[&str] = &["reminder", "reminders"];

/// What is wanted of the reminders, if anything is.
pub(super) fn read(sentence: &Sentence<'_>) -> Option<Request> {
    if sentence.verb == "remind" {
        let (when, left) = when::read(&sentence.words[1..]);
        return Some(Request::AddReminder { title: quoted(sentence.text).or_else(|| title(&left)), when });
    }
    let at = sentence.place(REMINDER);
    let described = || {
        let (when, left) = when::read(&sentence.words[1..]);
        (when, quoted(sentence.text).unwrap_or_else(|| left.join(" ").replace("reminders", "").replace("reminder", "")))
    };
    let Some(at) = at else {
        // Moving and cancelling are things that are done to reminders only, whatever they are called.
        let (when, described) = described();
        return match sentence.verb {
            "move" | "reschedule" | "postpone" => Some(Request::MoveReminder { described, when }),
            "cancel" => Some(Request::CancelReminder { described }),
            _ => None,
        };
    };
    if sentence.starts(&["how", "many"]) {
        return Some(Request::CountReminders);
    }
    if sentence.verb == "when" || sentence.starts(&["what", "time"]) {
        return Some(Request::WhenIsReminder { described: described().1 });
    }
    if sentence.is(DELETE) {
        return Some(Request::CancelReminder { described: described().1 });
    }
    // `Set the reminder to …` changes one, `set a reminder` creates one.
    let sets_the = sentence.verb == "set" && sentence.lower.get(1).is_some_and(|word| word == "the");
    if (sentence.is(CREATE) && !sets_the) || sentence.is(&["a", "another"]) {
        let (mut when, left) = when::read(&sentence.words[at + 1..]);
        let (earlier, before) = when::read(&sentence.words[1..at]);
        when = When { day: when.day.or(earlier.day), time: when.time.or(earlier.time) };
        return Some(Request::AddReminder {
            title: quoted(sentence.text).or_else(|| title(&left)).or_else(|| title(&before)),
            when,
        });
    }
    if sentence.is(CHANGE) {
        let (when, described) = described();
        return Some(Request::MoveReminder { described, when });
    }
    sentence.is(SHOW).then_some(Request::ListReminders)
}

/// `It's to …`, said after the reminder was asked for.
pub(super) fn subject(sentence: &str) -> Option<String> {
    let lower = sentence.to_lowercase().replace('’', "'");
    let lead = ["it's to ", "it's about ", "it is to ", "it's for "].iter().find(|lead| lower.starts_with(*lead))?;
    let rest: Vec<&str> = sentence.split_whitespace().skip(lead.split_whitespace().count()).collect();
    Some(upper_first(rest.join(" ").trim_end_matches(['.', '!'])))
}

/// A title out of the words that are left when the moment is gone.
fn title(left: &[&str]) -> Option<String> {
    const FILLERS: &[&str] = &[
        "to", "for", "about", "called", "named", "titled", "that", "saying", "me", "i", "should", "of", "a", "an",
        "new", "up",
    ];
    let left = left.strip_suffix(&["please"]).unwrap_or(left);
    let start = left.iter().position(|word| !FILLERS.contains(&word.to_lowercase().as_str()))?;
    Some(upper_first(&left[start..].join(" ")))
}
