//! Puts a task, which says what the persona is to do, into the words that it says.

use super::perspective::first_person;
use super::sentence::{lower_first, sentences, unclosed, upper_first};

/// What the persona says to bring a task up: `Ask the assistant to paint the fence` becomes `Please paint the fence.`
pub(super) fn wording(task: &str) -> String {
    sentences(task)
        .iter()
        .map(|sentence| one(unclosed(sentence)))
        .filter(|said| !said.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn one(sentence: &str) -> String {
    let mut rest = sentence;
    while let Some(shorter) = LEADS.iter().find_map(|lead| after(rest, lead)) {
        rest = shorter;
    }
    let said = ["ask", "request", "tell", "inform", "have", "get", "instruct", "find out", "mention", "say"]
        .iter()
        .find_map(|verb| Some((*verb, after(rest, verb)?)))
        .and_then(|(verb, object)| spoken(verb, object));
    let said = said.unwrap_or_else(|| request(rest));
    upper_first(&first_person(&said))
}

/// What comes of a verb of asking or telling; `None` when the verb is itself what is wanted.
fn spoken(verb: &str, object: &str) -> Option<String> {
    let addressed = ADDRESSEES.iter().find_map(|addressee| after(object, addressee));
    let content = addressed.unwrap_or(object);
    let starts = |word: &str| after(content, word);
    Some(match verb {
        "have" | "get" | "instruct" => request(addressed.map(|content| after(content, "to").unwrap_or(content))?),
        "tell" | "inform" if starts("to").is_some() => request(starts("to")?),
        "tell" | "inform" | "mention" | "say" => format!("{}.", starts("that").unwrap_or(content)),
        _ if starts("to").is_some() => request(starts("to")?),
        _ if starts("for").is_some() => format!("Please give me {}.", starts("for")?),
        _ if starts("that").is_some() => format!("Please see to it that {}.", starts("that")?),
        "request" => format!("Please give me {content}."),
        _ => format!("Could you tell me {content}?"),
    })
}

fn request(what: &str) -> String {
    match after(what, "please") {
        Some(what) => format!("Please {what}."),
        None => format!("Please {}.", lower_first(what)),
    }
}

/// The rest of the text after these words; case does not matter.
fn after<'a>(text: &'a str, lead: &str) -> Option<&'a str> {
    let start = text.get(..lead.len()).filter(|start| start.eq_ignore_ascii_case(lead))?;
    let rest = &text[start.len()..];
    rest.starts_with([' ', ',']).then(|| rest.trim_start_matches([' ', ',']))
}

const LEADS: &[&str] = &["then", "and", "now", "next", "finally", "first", "also", "afterwards", "as the user"];

const ADDRESSEES: &[&str] =
    &["the assistant", "the agent", "the chatbot", "the bot", "your assistant", "it", "them", "him", "her"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_becomes_what_a_user_says() {
        for (task, said) in [
            ("Ask the assistant to paint the fence green.", "Please paint the fence green."),
            ("Have it water the user's plants", "Please water my plants."),
            ("Get the agent to feed the cat", "Please feed the cat."),
            ("Tell the assistant to hurry", "Please hurry."),
            ("Tell the assistant that the user prefers tea", "I prefer tea."),
            ("Ask what the best tea is", "Could you tell me what the best tea is?"),
            ("Ask the chatbot which songs the user has", "Could you tell me which songs I have?"),
            ("Find out whether it rains", "Could you tell me whether it rains?"),
            ("Ask about the weather", "Could you tell me about the weather?"),
            ("Ask for a list of songs", "Please give me a list of songs."),
            ("Paint the fence", "Please paint the fence."),
            (
                "Ask it to feed the cat. Then ask how old it is.",
                "Please feed the cat. Could you tell me how old it is?",
            ),
            ("Get a ladder", "Please get a ladder."),
            ("", ""),
        ] {
            assert_eq!(wording(task), said, "{task}");
        }
    }
}
