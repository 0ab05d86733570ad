//! One turn of the dialogue: what is said, what is done, what is kept in mind until the next message. Pure.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::notebook::{Change, Field, Notebook};
use super::skills::{contacts, courtesy, knowledge, reminders, trivia};
use super::understand::{Request, understand};

/// What a session keeps in mind between two messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Mind {
    /// The question that waits for an answer.
    pub(super) pending: Option<Pending>,
    /// The user does not know its time zone: it is not asked again.
    pub(super) zone_unknown: bool,
}

/// A question that waits for an answer, and what it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Pending {
    TimeZone {
        request: Request,
    },
    /// The value of a contact's part, to add the contact or to change it.
    Detail {
        name: String,
        field: Field,
        adds: bool,
    },
}

/// Something that the assistant does with one of its functions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Act {
    pub(super) function: &'static str,
    pub(super) arguments: Value,
    pub(super) output: Value,
    /// What is to be written down; `None` for looking something up.
    pub(super) change: Option<Change>,
}

/// A turn under way: the skills read the book, say something and do something.
pub(super) struct Talk<'a> {
    pub(super) book: Notebook,
    pub(super) now: DateTime<Utc>,
    pub(super) mind: &'a mut Mind,
    said: Vec<String>,
    acts: Vec<Act>,
}

impl Talk<'_> {
    pub(super) fn say(&mut self, text: impl Into<String>) {
        self.said.push(text.into());
    }

    /// Does something that changes the book.
    pub(super) fn change(&mut self, function: &'static str, arguments: Value, change: Change) {
        self.book.apply(&change);
        self.acts.push(Act { function, arguments, output: Value::from("ok"), change: Some(change) });
    }

    /// Looks something up.
    pub(super) fn look_up(&mut self, function: &'static str, arguments: Value, output: Value) {
        self.acts.push(Act { function, arguments, output, change: None });
    }

    pub(super) fn perform(&mut self, request: Request) {
        match request {
            Request::Greeting => courtesy::greet(self),
            Request::Thanks => courtesy::welcome(self),
            Request::Goodbye => courtesy::part(self),
            Request::Unknown => courtesy::puzzle(self),
            Request::AddReminder { .. } | Request::MoveReminder { .. } => reminders::place(self, request),
            Request::CancelReminder { described } => reminders::cancel(self, &described),
            Request::WhenIsReminder { described } => reminders::tell_when(self, &described),
            Request::ListReminders => reminders::list(self),
            Request::CountReminders => reminders::count(self),
            Request::AddContact { name, phone, email, wants } => contacts::add(self, name, phone, email, wants),
            Request::ChangeContact { name, field, value } => contacts::change(self, name, field, value),
            Request::LookUpContact { name, field } => contacts::look_up(self, name, field),
            Request::DeleteContact { name } => contacts::delete(self, name),
            Request::ListContacts => contacts::list(self),
            Request::CountContacts => contacts::count(self),
            Request::Tell(told) => knowledge::learn(self, told),
            Request::Recall(question) => knowledge::recall(self, &question),
            Request::Capital(country) => trivia::capital(self, &country),
            Request::Sum { left, operator, right } => trivia::sum(self, left, operator, right),
        }
    }
}

/// What is said in reply to a message, and what is done.
pub(super) fn answer(book: Notebook, now: DateTime<Utc>, mind: &mut Mind, message: &str) -> (String, Vec<Act>) {
    let pending = mind.pending.take();
    let mut talk = Talk { book, now, mind, said: Vec::new(), acts: Vec::new() };
    let mut requests = understand(message);
    if let Some(pending) = pending {
        match pending {
            Pending::TimeZone { request } => reminders::resume(&mut talk, request, message),
            Pending::Detail { name, field, adds } => contacts::resume(&mut talk, &name, field, adds, message),
        }
        // What was the answer is no request of its own; whatever else was said is.
        requests.retain(|request| {
            !matches!(request, Request::Tell(_) | Request::Unknown | Request::Thanks | Request::Recall(_))
        });
    }
    for request in requests {
        talk.perform(request);
    }
    if talk.said.is_empty() {
        courtesy::puzzle(&mut talk);
    }
    (talk.said.join(" "), talk.acts)
}
