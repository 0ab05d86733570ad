//! What the assistant knows of one user, and what can change about it. Plain data.

use chrono::{DateTime, FixedOffset};
use chrono_tz::Tz;

/// What the assistant knows of one user.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Notebook {
    pub(super) name: Option<String>,
    pub(super) home: Option<String>,
    pub(super) time_zone: Option<Tz>,
    pub(super) reminders: Vec<Reminder>,
    pub(super) contacts: Vec<Contact>,
    /// Whatever else it was told, in the words in which it was told.
    pub(super) notes: Vec<String>,
}

/// A reminder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reminder {
    pub(super) title: String,
    /// Missing where somebody else wrote a reminder without a moment that can be read.
    pub(super) at: Option<DateTime<FixedOffset>>,
    /// The same as it is written in the graph: others write `Z` for `+00:00`.
    pub(super) written: String,
    pub(super) time_zone: Option<Tz>,
}

impl Reminder {
    /// A reminder as the assistant itself writes one.
    pub(super) fn new(title: String, at: DateTime<Tz>) -> Reminder {
        Reminder { title, written: at.to_rfc3339(), at: Some(at.fixed_offset()), time_zone: Some(at.timezone()) }
    }
}

/// A contact; known by its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Contact {
    pub(super) name: String,
    pub(super) phone: Option<String>,
    pub(super) email: Option<String>,
}

/// One part of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Phone,
    Email,
}

impl Field {
    pub(super) fn words(self) -> &'static str {
        match self {
            Field::Phone => "phone number",
            Field::Email => "email address",
        }
    }
}

impl Contact {
    pub(super) fn get(&self, field: Field) -> Option<&String> {
        match field {
            Field::Phone => self.phone.as_ref(),
            Field::Email => self.email.as_ref(),
        }
    }

    pub(super) fn put(&mut self, field: Field, value: String) {
        match field {
            Field::Phone => self.phone = Some(value),
            Field::Email => self.email = Some(value),
        }
    }
}

/// Something that is to be written down.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    AddReminder(Reminder),
    /// The second takes the place of the first.
    MoveReminder(Reminder, Reminder),
    CancelReminder(Reminder),
    /// Adds it, or replaces what was known under its name.
    PutContact(Contact),
    DeleteContact(String),
    Name(String),
    Home(String),
    TimeZone(Tz),
    Note(String),
}

impl Notebook {
    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::AddReminder(reminder) => self.reminders.push(reminder.clone()),
            Change::MoveReminder(before, after) => {
                if let Some(found) = self.reminders.iter_mut().find(|reminder| *reminder == before) {
                    *found = after.clone();
                }
            }
            Change::CancelReminder(gone) => self.reminders.retain(|reminder| reminder != gone),
            Change::PutContact(contact) => {
                self.contacts.retain(|other| other.name != contact.name);
                self.contacts.push(contact.clone());
            }
            Change::DeleteContact(name) => self.contacts.retain(|contact| contact.name != *name),
            Change::Name(name) => self.name = Some(name.clone()),
            Change::Home(home) => self.home = Some(home.clone()),
            Change::TimeZone(zone) => self.time_zone = Some(*zone),
            Change::Note(note) => self.notes.push(note.clone()),
        }
    }

    /// The contact that these words name: all of them are in its name.
    pub(super) fn contact(&self, called: &str) -> Option<&Contact> {
        let wanted: Vec<String> = words(called);
        let fits = |contact: &&Contact| {
            let has = words(&contact.name);
            !wanted.is_empty() && wanted.iter().all(|word| has.contains(word))
        };
        self.contacts.iter().find(fits)
    }

    /// The reminder whose title shares most words with these; at least half of its own must be among them.
    pub(super) fn reminder(&self, described: &str) -> Option<&Reminder> {
        let wanted = words(described);
        let likeness = |reminder: &Reminder| {
            let title = words(&reminder.title);
            let shared = title.iter().filter(|word| wanted.contains(word)).count();
            (shared * 2 >= title.len().min(wanted.len()) && shared > 0).then_some(shared)
        };
        let mut best: Option<(usize, &Reminder)> = None;
        for reminder in &self.reminders {
            if let Some(shared) = likeness(reminder)
                && best.is_none_or(|(most, _)| shared > most)
            {
                best = Some((shared, reminder));
            }
        }
        best.map(|(_, reminder)| reminder)
    }
}

/// The words of a text in lower case, without articles and their like.
pub(super) fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .replace("'s", "")
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| {
            !word.is_empty()
                && !matches!(
                    *word,
                    "the" | "a" | "an" | "my" | "to" | "of" | "for" | "about" | "dr" | "mr" | "mrs" | "ms"
                )
        })
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reminder(title: &str) -> Reminder {
        Reminder { title: title.to_owned(), at: None, written: String::new(), time_zone: None }
    }

    #[test]
    fn reminders_are_found_by_some_of_their_words() {
        let book =
            Notebook { reminders: vec![reminder("Water the plants"), reminder("Pay the rent")], ..Notebook::default() };
        assert_eq!(book.reminder("pay rent").unwrap().title, "Pay the rent");
        assert_eq!(book.reminder("plants").unwrap().title, "Water the plants");
        assert_eq!(book.reminder("the dog"), None);
        assert_eq!(book.reminder("the"), None);
    }

    #[test]
    fn contacts_are_found_by_part_of_their_name() {
        let contact = Contact { name: "Ada Lovelace".to_owned(), ..Contact::default() };
        let book = Notebook { contacts: vec![contact], ..Notebook::default() };
        assert!(book.contact("ada").is_some() && book.contact("Ada Lovelace's").is_some());
        assert!(book.contact("Ada King").is_none() && book.contact("").is_none());
    }

    #[test]
    fn changes_take_effect() {
        let mut book = Notebook::default();
        for change in [
            Change::AddReminder(reminder("a")),
            Change::MoveReminder(reminder("a"), reminder("b")),
            Change::PutContact(Contact { name: "X".to_owned(), ..Contact::default() }),
            Change::PutContact(Contact { name: "X".to_owned(), phone: Some("1".to_owned()), email: None }),
            Change::Note("n".to_owned()),
        ] {
            book.apply(&change);
        }
        assert_eq!((book.reminders[0].title.as_str(), book.contacts.len(), book.notes.len()), ("b", 1, 1));
        book.apply(&Change::CancelReminder(reminder("b")));
        book.apply(&Change::DeleteContact("X".to_owned()));
        assert!(book.reminders.is_empty() && book.contacts.is_empty());
    }
}
