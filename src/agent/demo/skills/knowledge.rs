//! What the user tells of itself, and asks to have told back.

use serde_json::json;

use super::super::dialogue::Talk;
use super::super::notebook::{Change, Contact, words};
use super::super::understand::Told;
use super::super::zone;

pub(in super::super) fn learn(talk: &mut Talk<'_>, told: Vec<Told>) {
    let several = told.len() > 1;
    for told in told {
        let reply = learn_one(talk, told);
        if !several {
            talk.say(reply);
        }
    }
    if several {
        talk.say("Thank you, I'll remember all of that.");
    }
}

fn learn_one(talk: &mut Talk<'_>, told: Told) -> String {
    match told {
        Told::Name(name) => {
            let reply = format!("Nice to meet you, {name}! I'll remember your name.");
            talk.change("rememberName", json!({"name": name}), Change::Name(name));
            reply
        }
        Told::Home(home) => {
            let reply = format!("Thank you, I'll remember that you live in {home}.");
            talk.change("rememberHome", json!({"home": home}), Change::Home(home));
            reply
        }
        Told::TimeZone(zone) => {
            talk.change("rememberTimeZone", json!({"timeZone": zone.name()}), Change::TimeZone(zone));
            format!("Thank you, I'll remember that your time zone is {}.", zone.name())
        }
        Told::Detail { name, field, value } => {
            let mut contact =
                talk.book.contact(&name).cloned().unwrap_or_else(|| Contact { name, ..Contact::default() });
            let reply = format!("Thank you, I've noted {}'s {}: {value}.", contact.name, field.words());
            contact.put(field, value);
            let arguments = json!({"name": contact.name, "phone": contact.phone, "email": contact.email});
            talk.change("updateContact", arguments, Change::PutContact(contact));
            reply
        }
        Told::Note(note) => {
            let reply = format!("Thank you, I'll remember that {}.", second_person(&note));
            talk.change("rememberNote", json!({"note": note}), Change::Note(note));
            reply
        }
    }
}

pub(in super::super) fn recall(talk: &mut Talk<'_>, question: &str) {
    let lower = question.to_lowercase();
    let book = &talk.book;
    let home_zone = book.home.as_deref().and_then(|home| Some((home, zone::find(home)?)));
    let reply = if lower.contains("my name") || lower.contains("called") {
        book.name.as_ref().map(|name| format!("Your name is {name}."))
    } else if lower.contains("live") {
        book.home.as_ref().map(|home| format!("You live in {home}."))
    } else if lower.contains("time zone") || lower.contains("timezone") {
        match (book.time_zone, home_zone) {
            (Some(zone), _) => Some(format!("Your time zone is {}.", zone.name())),
            (None, Some((home, zone))) => {
                Some(format!("You live in {home}, so your time zone should be {}.", zone.name()))
            }
            (None, None) => None,
        }
    } else {
        let asked = words(question);
        let shared = |note: &str| words(note).iter().filter(|word| word.len() > 3 && asked.contains(word)).count();
        let best = book.notes.iter().rev().max_by_key(|note| shared(note)).filter(|note| shared(note) > 0);
        best.map(|note| format!("You told me that {}.", second_person(note)))
    };
    talk.look_up("recall", json!({"question": question}), json!(reply));
    talk.say(reply.unwrap_or_else(|| "I'm sorry, you haven't told me that yet.".to_owned()));
}

/// What was said by the user, or of the user, as it is said to the user.
fn second_person(note: &str) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut third_person_verb = false;
    for word in note.split_whitespace() {
        let turned = match word.to_lowercase().replace('’', "'").as_str() {
            "i" => "you".to_owned(),
            "i'm" => "you're".to_owned(),
            "am" => "are".to_owned(),
            "my" => "your".to_owned(),
            "me" => "you".to_owned(),
            "user" if said.last().is_some_and(|last| last.eq_ignore_ascii_case("the")) => {
                said.pop();
                third_person_verb = true;
                said.push("you".to_owned());
                continue;
            }
            "user's" if said.last().is_some_and(|last| last.eq_ignore_ascii_case("the")) => {
                said.pop();
                "your".to_owned()
            }
            "is" if third_person_verb => "are".to_owned(),
            "has" if third_person_verb => "have".to_owned(),
            "does" if third_person_verb => "do".to_owned(),
            verb if third_person_verb && verb.ends_with('s') && !verb.ends_with("ss") => {
                verb[..verb.len() - 1].to_owned()
            }
            _ => word.to_owned(),
        };
        third_person_verb = false;
        said.push(turned);
    }
    said.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_told_back() {
        assert_eq!(second_person("I drink my tea black"), "you drink your tea black");
        assert_eq!(second_person("The user prefers tea"), "you prefer tea");
        assert_eq!(second_person("The user's cat is old"), "your cat is old");
        assert_eq!(second_person("I'm allergic to nuts"), "you're allergic to nuts");
    }
}
