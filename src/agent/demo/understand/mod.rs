//! What a user wants, read out of what it says. English, by rules; what no rule knows is [`Request::Unknown`].

mod contact;
mod name;
mod reminder;
mod sentence;
mod statement;
mod text;

use super::notebook::Field;
use super::when::When;
pub(super) use contact::detail;
use name::names;
use sentence::Sentence;
pub(super) use statement::Told;
use text::{bare_words, sentences};

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
    let mut found: Vec<Request> = Vec::new();
    for sentence in sentences(message) {
        match (reminder::subject(&sentence), found.last_mut()) {
            (Some(subject), Some(Request::AddReminder { title: title @ None, .. })) => *title = Some(subject),
            _ => found.push(one(&sentence)),
        }
    }
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
    reminder::read(&about)
        .or_else(|| contact::read(&about))
        .or_else(|| statement::remembered(sentence, verb).map(Request::Tell))
        .or_else(|| general(&about))
        .or_else(|| statement::told(sentence).map(|told| Request::Tell(vec![told])))
        .unwrap_or(Request::Unknown)
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
    "i'd like",
    "i would like",
    "i need",
    "i want",
    "can i have",
    "can i get",
    "could i get",
    "actually",
    "sorry",
    "oh",
    "hey",
];

#[cfg(test)]
mod tests;
