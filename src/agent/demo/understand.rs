//! What a user wants, read out of what it says. English, by rules; what no rule knows is [`Request::Unknown`].

mod name;
mod statement;
mod text;

use super::notebook::Field;
use super::when::{self, When};
use name::{email, field, names, phone, quoted};
pub(super) use statement::Told;
use text::{bare_words, sentences, upper_first};

/// One thing that a user wants or tells.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Request {
    Greeting,
    Thanks,
    Goodbye,
    AddReminder {
        title: Option<String>,
        when: When,
    },
    MoveReminder {
        described: String,
        when: When,
    },
    CancelReminder {
        described: String,
    },
    WhenIsReminder {
        described: String,
    },
    ListReminders,
    CountReminders,
    /// `wants` is a part that was spoken of, whether or not its value was given.
    AddContact {
        name: Option<String>,
        phone: Option<String>,
        email: Option<String>,
        wants: Option<Field>,
    },
    ChangeContact {
        name: Option<String>,
        field: Field,
        value: Option<String>,
    },
    LookUpContact {
        name: Option<String>,
        field: Field,
    },
    DeleteContact {
        name: Option<String>,
    },
    ListContacts,
    CountContacts,
    Tell(Vec<Told>),
    /// A question about the user, in its words.
    Recall(String),
    Capital(String),
    Sum {
        left: f64,
        operator: char,
        right: f64,
    },
    Unknown,
}

/// Everything that a message wants, in order. Thanks and the like are left out where there is something else.
pub(super) fn understand(message: &str) -> Vec<Request> {
    if let Some(told) = statement::dictated(message) {
        return vec![Request::Tell(told)];
    }
    let mut found: Vec<Request> = sentences(message).iter().map(|sentence| one(sentence)).collect();
    let is_courtesy = |request: &Request| matches!(request, Request::Greeting | Request::Thanks | Request::Goodbye);
    let is_known = |request: &Request| *request != Request::Unknown;
    if found.iter().any(|request| is_known(request) && !is_courtesy(request)) {
        found.retain(|request| is_known(request) && !is_courtesy(request));
    } else if found.iter().any(is_courtesy) {
        let farewell = found.iter().rfind(|request| is_courtesy(request)).cloned();
        found = farewell.into_iter().collect();
    } else {
        found.truncate(1);
    }
    found
}

fn one(sentence: &str) -> Request {
    let all = bare_words(sentence);
    let everything: Vec<String> = all.iter().map(|word| word.to_lowercase()).collect();
    if let Some(courtesy) = courtesy(&everything) {
        return courtesy;
    }
    let words = &all[lead_in(&everything)..];
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let Some(verb) = lower.first().map(String::as_str) else { return Request::Unknown };
    let about = Sentence { text: sentence, words, lower: &lower, verb };
    reminder(&about)
        .or_else(|| contact(&about))
        .or_else(|| statement::remembered(sentence, verb).map(Request::Tell))
        .or_else(|| general(&about))
        .or_else(|| statement::told(sentence).map(|told| Request::Tell(vec![told])))
        .unwrap_or(Request::Unknown)
}

/// A sentence without its lead-in (`Could you please …`).
struct Sentence<'a> {
    text: &'a str,
    words: &'a [&'a str],
    lower: &'a [String],
    verb: &'a str,
}

impl Sentence<'_> {
    fn has(&self, any: &[&str]) -> bool {
        self.lower.iter().any(|word| any.contains(&word.as_str()))
    }

    fn place(&self, any: &[&str]) -> Option<usize> {
        self.lower.iter().position(|word| any.contains(&word.as_str()))
    }

    fn is(&self, verbs: &[&str]) -> bool {
        verbs.contains(&self.verb)
    }
}

const CREATE: &[&str] = &["create", "add", "set", "make", "save", "store", "schedule", "put", "new", "enter", "book"];
const DELETE: &[&str] = &["cancel", "delete", "remove", "drop", "erase"];
const CHANGE: &[&str] =
    &["move", "reschedule", "change", "postpone", "push", "shift", "update", "correct", "set", "bring"];
const SHOW: &[&str] = &["list", "show", "which", "what", "give", "read", "do", "who", "are"];
const REMINDER: &[&str] = &["reminder", "reminders"];
const CONTACT: &[&str] = &["contact", "contacts"];

fn reminder(sentence: &Sentence<'_>) -> Option<Request> {
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
    if sentence.lower.starts_with(&["how".to_owned(), "many".to_owned()]) {
        return Some(Request::CountReminders);
    }
    if sentence.verb == "when" || sentence.lower.starts_with(&["what".to_owned(), "time".to_owned()]) {
        return Some(Request::WhenIsReminder { described: described().1 });
    }
    if sentence.is(DELETE) {
        return Some(Request::CancelReminder { described: described().1 });
    }
    // `Set the reminder to …` changes one, `set a reminder` creates one.
    let creates =
        sentence.is(CREATE) && !(sentence.verb == "set" && sentence.lower.get(1).is_some_and(|word| word == "the"));
    if creates {
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

/// The number or address in an answer to the question for it.
pub(super) fn detail(message: &str, wanted: Field) -> Option<String> {
    let words = bare_words(message);
    match wanted {
        Field::Phone => phone(&words),
        Field::Email => email(&words),
    }
}

/// A title out of the words that are left when the moment is gone.
fn title(left: &[&str]) -> Option<String> {
    const FILLERS: &[&str] = &[
        "to", "for", "about", "called", "named", "titled", "that", "saying", "me", "i", "should", "of", "a", "an",
        "new", "up",
    ];
    let start = left.iter().position(|word| !FILLERS.contains(&word.to_lowercase().as_str()))?;
    Some(upper_first(&left[start..].join(" ")))
}

fn contact(sentence: &Sentence<'_>) -> Option<Request> {
    let wants = field(sentence.lower);
    if !sentence.has(CONTACT) && wants.is_none() {
        return None;
    }
    let name = names(&sentence.words[1..]);
    let (phone, email) = (phone(sentence.words), email(sentence.words));
    if sentence.lower.starts_with(&["how".to_owned(), "many".to_owned()]) {
        return Some(Request::CountContacts);
    }
    if let Some(field) = wants.filter(|_| sentence.is(CHANGE)) {
        let value = match field {
            Field::Phone => phone,
            Field::Email => email,
        };
        return Some(Request::ChangeContact { name, field, value });
    }
    if sentence.is(CREATE) {
        return Some(Request::AddContact { name, phone, email, wants });
    }
    if sentence.is(DELETE) {
        return Some(Request::DeleteContact { name });
    }
    if let Some(field) = wants.filter(|_| sentence.is(SHOW) || sentence.is(&["find", "look", "how"])) {
        return Some(Request::LookUpContact { name, field });
    }
    (sentence.is(SHOW) && sentence.has(CONTACT)).then_some(Request::ListContacts)
}

fn general(sentence: &Sentence<'_>) -> Option<Request> {
    if let Some(at) = sentence.place(&["capital"]) {
        return names(&sentence.words[at + 1..]).map(Request::Capital);
    }
    if let Some(sum) = sum(sentence.lower) {
        return Some(sum);
    }
    let asks = sentence.is(&["what", "where", "which", "how", "do", "who", "when", "whether", "if"]);
    (asks && sentence.has(&["my", "i", "me"])).then(|| Request::Recall(sentence.text.to_owned()))
}

fn sum(words: &[String]) -> Option<Request> {
    (0..words.len()).find_map(|at| {
        let left = words[at].parse().ok()?;
        let (operator, used) = match words.get(at + 1)?.as_str() {
            "plus" | "+" | "and" => ('+', 1),
            "minus" | "-" => ('-', 1),
            "times" | "x" | "*" | "×" => ('*', 1),
            "multiplied" => ('*', 2),
            "divided" => ('/', 2),
            "/" => ('/', 1),
            _ => return None,
        };
        let right = words.get(at + 1 + used)?.parse().ok()?;
        Some(Request::Sum { left, operator, right })
    })
}

fn courtesy(words: &[String]) -> Option<Request> {
    let first = words.first()?.as_str();
    let short = words.len() <= 4;
    match first {
        _ if words.iter().any(|word| matches!(word.as_str(), "goodbye" | "bye")) && words.len() <= 8 => {
            Some(Request::Goodbye)
        }
        "hello" | "hi" | "hey" | "greetings" | "yo" if short => Some(Request::Greeting),
        "good"
            if short
                && words
                    .get(1)
                    .is_some_and(|word| ["morning", "evening", "afternoon", "day"].contains(&word.as_str())) =>
        {
            Some(Request::Greeting)
        }
        "thanks" | "thank" if words.len() <= 6 => Some(Request::Thanks),
        "great" | "good" | "perfect" | "fine" | "okay" | "ok" | "lovely" | "wonderful" | "cool" | "all" | "alright"
            if words.len() <= 3 =>
        {
            Some(Request::Thanks)
        }
        _ => None,
    }
}

/// How many words of the beginning say nothing but `please`.
fn lead_in(words: &[String]) -> usize {
    let mut at = 0;
    while let Some(lead) = LEADS.iter().find(|lead| {
        let lead: Vec<&str> = lead.split(' ').collect();
        words.len() > at + lead.len() && words[at..].iter().zip(&lead).all(|(word, lead)| word == lead)
    }) {
        at += lead.split(' ').count();
    }
    at
}

const LEADS: &[&str] = &[
    "please",
    "kindly",
    "could you",
    "can you",
    "would you",
    "will you",
    "i'd like you to",
    "i would like you to",
    "i want you to",
    "i need you to",
    "i'd like to know",
    "i want to know",
    "i'd like to",
    "i want to",
    "i need to",
    "tell me",
    "let me know",
    "do you know",
    "and",
    "then",
    "also",
    "now",
    "next",
    "okay",
    "ok",
    "great",
    "thanks",
    "hi",
    "hello",
    "so",
    "well",
    "well then",
    "all right",
    "help me",
];

#[cfg(test)]
mod tests;
