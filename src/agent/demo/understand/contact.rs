//! What a sentence wants of the contacts.

use super::super::notebook::Field;
use super::Request;
use super::name::{email, field, names, phone};
use super::sentence::{CHANGE, CREATE, DELETE, SHOW, Sentence};
use super::text::bare_words;

const CONTACT: &[&str] = &["contact", "contacts"];

/// What is wanted of the contacts, if anything is.
pub(super) fn read(sentence: &Sentence<'_>) -> Option<Request> {
    let wants = field(sentence.lower);
    if !sentence.has(CONTACT) && wants.is_none() {
        return None;
    }
    let name = names(&sentence.words[1..]);
    let (phone, email) = (phone(sentence.words), email(sentence.words));
    if sentence.starts(&["how", "many"]) {
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

/// The number or address in an answer to the question for it.
pub(in super::super) fn detail(message: &str, wanted: Field) -> Option<String> {
    let words = bare_words(message);
    match wanted {
        Field::Phone => phone(&words),
        Field::Email => email(&words),
    }
}
