//! Contacts. One without a number is asked for once; what nobody knows is left out, in so many words.

use serde_json::json;

use super::super::dialogue::{Pending, Talk};
use super::super::notebook::{Change, Contact, Field};
use super::super::understand::detail;
use super::{counted, enumerate};

pub(in super::super) fn add(
    talk: &mut Talk<'_>,
    name: Option<String>,
    phone: Option<String>,
    email: Option<String>,
    wants: Option<Field>,
) {
    let Some(name) = name else { return nameless(talk) };
    let field = wants.unwrap_or(Field::Phone);
    if talk.book.contact(&name).is_some() {
        return add_to(talk, &name, field, phone, email);
    }
    let contact = Contact { name, phone, email };
    if contact.phone.is_none() && contact.email.is_none() || wants.is_some_and(|wanted| contact.get(wanted).is_none()) {
        talk.say(format!("Gladly. What is {}'s {}?", contact.name, field.words()));
        talk.mind.pending = Some(Pending::Detail { name: contact.name.clone(), field, adds: true });
        if contact.phone.is_none() && contact.email.is_none() {
            return;
        }
    }
    save(talk, contact);
}

/// Somebody who is in the book already gets what is new.
fn add_to(talk: &mut Talk<'_>, name: &str, field: Field, phone: Option<String>, email: Option<String>) {
    if phone.is_none() && email.is_none() {
        return change(talk, Some(name.to_owned()), field, None);
    }
    for (field, value) in [(Field::Phone, phone), (Field::Email, email)] {
        if value.is_some() {
            change(talk, Some(name.to_owned()), field, value);
        }
    }
}

/// The answer to the question for a number or an address.
pub(in super::super) fn resume(talk: &mut Talk<'_>, name: &str, field: Field, adds: bool, message: &str) {
    match (detail(message, field), adds) {
        (Some(value), true) => {
            let mut contact = talk.book.contact(name).cloned().unwrap_or_else(|| named(name));
            contact.put(field, value);
            save(talk, contact);
        }
        (Some(value), false) => change(talk, Some(name.to_owned()), field, Some(value)),
        (None, true) => {
            let contact = talk.book.contact(name).cloned().unwrap_or_else(|| named(name));
            let words = field.words();
            talk.say(format!("I've added {name} to your contacts without a {words}; tell me when you have it."));
            put(talk, "addContact", contact);
        }
        (None, false) => {
            let words = field.words();
            talk.say(match talk.book.contact(name).and_then(|contact| contact.get(field)) {
                Some(_) => format!("Then I've left {name}'s {words} as it was; tell me when you have the new one."),
                None => format!("Then your contact {name} stays without a {words} for now; tell me when you have it."),
            });
        }
    }
}

fn save(talk: &mut Talk<'_>, contact: Contact) {
    let parts: Vec<String> = [Field::Phone, Field::Email]
        .into_iter()
        .filter_map(|field| Some(format!("{} {}", field.words(), contact.get(field)?)))
        .collect();
    talk.say(format!("I've added {} to your contacts with {}.", contact.name, enumerate(&parts)));
    put(talk, "addContact", contact);
}

fn put(talk: &mut Talk<'_>, function: &'static str, contact: Contact) {
    let arguments = json!({"name": contact.name, "phone": contact.phone, "email": contact.email});
    talk.change(function, arguments, Change::PutContact(contact));
}

fn named(name: &str) -> Contact {
    Contact { name: name.to_owned(), ..Contact::default() }
}

pub(in super::super) fn change(talk: &mut Talk<'_>, name: Option<String>, field: Field, value: Option<String>) {
    let Some(name) = name else { return nameless(talk) };
    let Some(mut contact) = talk.book.contact(&name).cloned() else { return unknown(talk, &name) };
    let name = contact.name.clone();
    match value {
        Some(value) => {
            let words = field.words();
            talk.say(match contact.get(field) {
                Some(_) => format!("I've changed {name}'s {words} to {value}."),
                None => format!("I've added the {words} {value} to your contact {name}."),
            });
            contact.put(field, value);
            put(talk, "updateContact", contact);
        }
        None => {
            let new = if contact.get(field).is_some() { "new " } else { "" };
            talk.say(format!("Sure. What is {name}'s {new}{}?", field.words()));
            talk.mind.pending = Some(Pending::Detail { name, field, adds: false });
        }
    }
}

pub(in super::super) fn look_up(talk: &mut Talk<'_>, name: Option<String>, field: Field) {
    let Some(name) = name else { return nameless(talk) };
    let Some(contact) = talk.book.contact(&name).cloned() else { return unknown(talk, &name) };
    talk.look_up("findContact", json!({"name": name}), json!(contact.name));
    match contact.get(field) {
        Some(value) => talk.say(format!("{}'s {} is {value}.", contact.name, field.words())),
        None => talk.say(format!("I have no {} for {} yet.", field.words(), contact.name)),
    }
}

pub(in super::super) fn delete(talk: &mut Talk<'_>, name: Option<String>) {
    let Some(name) = name else { return nameless(talk) };
    let Some(contact) = talk.book.contact(&name).cloned() else { return unknown(talk, &name) };
    talk.say(format!("I've removed {} from your contacts.", contact.name));
    talk.change("deleteContact", json!({"name": contact.name}), Change::DeleteContact(contact.name));
}

pub(in super::super) fn list(talk: &mut Talk<'_>) {
    let names: Vec<String> = talk.book.contacts.iter().map(|contact| contact.name.clone()).collect();
    talk.look_up("listContacts", json!({}), json!(names));
    match names.len() {
        0 => talk.say("You have no contacts."),
        count => talk.say(format!("You have {}: {}.", counted(count, "contact"), enumerate(&names))),
    }
}

pub(in super::super) fn count(talk: &mut Talk<'_>) {
    let count = talk.book.contacts.len();
    talk.look_up("listContacts", json!({}), json!(count));
    talk.say(format!("You have {}.", counted(count, "contact")));
}

fn nameless(talk: &mut Talk<'_>) {
    talk.say("I'm sorry, I didn't catch the name. Please say it again with the name in capitals.");
}

fn unknown(talk: &mut Talk<'_>, name: &str) {
    talk.say(format!("I'm sorry, I have no contact called {name}."));
}
