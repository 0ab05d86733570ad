//! How a notebook lies in the graph:
//!
//! ```text
//! (:User {id, name, home, timeZone})-[:HAS_REMINDER]->(:Reminder {title, at, timeZone})
//!                                   -[:HAS_CONTACT]-> (:Contact {name, phone, email})
//!                                   -[:TOLD]->        (:Note {text})
//! ```
//!
//! `at` is ISO 8601 with its offset. Nodes that somebody else wrote in this shape, a job's setup for one, are read like
//! the assistant's own.

use std::collections::BTreeMap;

use chrono::DateTime;
use serde_json::Map;

use super::notebook::{Change, Contact, Notebook, Reminder};
use crate::evidence::{ObjectContext, Resource};
use crate::graph::{Graph, GraphError, Node, Parameters, Value};

const USER: &str = "MATCH (u:User {id: $user}) RETURN u";
const REMINDERS: &str = "MATCH (:User {id: $user})-[:HAS_REMINDER]->(r:Reminder) RETURN r ORDER BY r.at, r.title";
const CONTACTS: &str = "MATCH (:User {id: $user})-[:HAS_CONTACT]->(c:Contact) RETURN c ORDER BY c.name";
const NOTES: &str = "MATCH (:User {id: $user})-[:TOLD]->(n:Note) RETURN n";

/// What the graph holds of a user.
pub(super) async fn load(graph: &dyn Graph, user: &str) -> Result<Notebook, GraphError> {
    let own = nodes(graph, USER, user).await?;
    let own = own.first();
    let of_user = |key: &str| own.and_then(|node| text(node, key));
    Ok(Notebook {
        name: of_user("name"),
        home: of_user("home"),
        time_zone: of_user("timeZone").and_then(|zone| zone.parse().ok()),
        reminders: nodes(graph, REMINDERS, user).await?.iter().filter_map(reminder).collect(),
        contacts: nodes(graph, CONTACTS, user).await?.iter().filter_map(contact).collect(),
        notes: nodes(graph, NOTES, user).await?.iter().filter_map(|node| text(node, "text")).collect(),
    })
}

/// The reminders and contacts that the graph holds of a user, in the shape of an object context.
pub(super) async fn resources(graph: &dyn Graph, user: &str) -> Result<Vec<Resource>, GraphError> {
    let mut found = nodes(graph, REMINDERS, user).await?;
    found.extend(nodes(graph, CONTACTS, user).await?);
    Ok(found.into_iter().map(resource).collect())
}

fn resource(node: Node) -> Resource {
    let name = text(&node, "title").or_else(|| text(&node, "name")).unwrap_or_default();
    let mut labels = node.labels;
    labels.push(ObjectContext::ENTITY_LABEL.to_owned());
    let properties: Map<String, serde_json::Value> = node
        .properties
        .into_iter()
        .filter_map(|(key, value)| match value {
            Value::String(text) => Some((key, text.into())),
            Value::Int(number) => Some((key, number.into())),
            Value::Bool(truth) => Some((key, truth.into())),
            _ => None,
        })
        .collect();
    Resource { id: node.id, description: name.clone(), name, properties, labels, aliases: Vec::new() }
}

/// Writes a change down. Returns the statement, which is what the agent reports of it.
pub(super) async fn write(graph: &dyn Graph, user: &str, change: &Change) -> Result<&'static str, GraphError> {
    let (statement, mut parameters) = statement(change);
    parameters.insert("user".to_owned(), Value::String(user.to_owned()));
    graph.write(statement, &parameters).await?;
    Ok(statement)
}

fn statement(change: &Change) -> (&'static str, Parameters) {
    match change {
        Change::AddReminder(reminder) => (
            "MERGE (u:User {id: $user}) CREATE (u)-[:HAS_REMINDER]->(:Reminder {title: $title, at: $at, timeZone: $timeZone})",
            of_reminder(reminder),
        ),
        Change::MoveReminder(before, after) => {
            let mut parameters = of_reminder(after);
            parameters.insert("before".to_owned(), moment(before));
            (
                "MATCH (:User {id: $user})-[:HAS_REMINDER]->(r:Reminder {title: $title}) WHERE coalesce(toString(r.at), '') = $before SET r.at = $at, r.timeZone = $timeZone",
                parameters,
            )
        }
        Change::CancelReminder(reminder) => (
            "MATCH (:User {id: $user})-[:HAS_REMINDER]->(r:Reminder {title: $title}) WHERE coalesce(toString(r.at), '') = $at DETACH DELETE r",
            parameters(&[("title", Some(&reminder.title))])
                .into_iter()
                .chain([("at".to_owned(), moment(reminder))])
                .collect(),
        ),
        Change::PutContact(contact) => (
            "MERGE (u:User {id: $user}) MERGE (u)-[:HAS_CONTACT]->(c:Contact {name: $name}) SET c.phone = $phone, c.email = $email",
            parameters(&[
                ("name", Some(&contact.name)),
                ("phone", contact.phone.as_ref()),
                ("email", contact.email.as_ref()),
            ]),
        ),
        Change::DeleteContact(name) => (
            "MATCH (:User {id: $user})-[:HAS_CONTACT]->(c:Contact {name: $name}) DETACH DELETE c",
            parameters(&[("name", Some(name))]),
        ),
        Change::Name(name) => ("MERGE (u:User {id: $user}) SET u.name = $name", parameters(&[("name", Some(name))])),
        Change::Home(home) => ("MERGE (u:User {id: $user}) SET u.home = $home", parameters(&[("home", Some(home))])),
        Change::TimeZone(zone) => (
            "MERGE (u:User {id: $user}) SET u.timeZone = $timeZone",
            parameters(&[("timeZone", Some(&zone.name().to_owned()))]),
        ),
        Change::Note(note) => (
            "MERGE (u:User {id: $user}) CREATE (u)-[:TOLD]->(:Note {text: $text})",
            parameters(&[("text", Some(note))]),
        ),
    }
}

fn of_reminder(reminder: &Reminder) -> Parameters {
    let zone = reminder.time_zone.map(|zone| zone.name().to_owned());
    let mut parameters = parameters(&[("title", Some(&reminder.title)), ("timeZone", zone.as_ref())]);
    parameters.insert("at".to_owned(), moment(reminder));
    parameters
}

fn moment(reminder: &Reminder) -> Value {
    Value::String(reminder.written.clone())
}

fn parameters(values: &[(&str, Option<&String>)]) -> Parameters {
    let value = |text: &Option<&String>| text.map_or(Value::Null, |text| Value::String(text.clone()));
    values.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect()
}

async fn nodes(graph: &dyn Graph, statement: &str, user: &str) -> Result<Vec<Node>, GraphError> {
    let parameters = BTreeMap::from([("user".to_owned(), Value::String(user.to_owned()))]);
    let table = graph.read(statement, &parameters).await?;
    Ok(table
        .rows
        .into_iter()
        .flatten()
        .filter_map(|value| match value {
            Value::Node(node) => Some(node),
            _ => None,
        })
        .collect())
}

fn text(node: &Node, key: &str) -> Option<String> {
    match node.properties.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Temporal(moment)) => Some(moment.text.clone()),
        _ => None,
    }
}

fn reminder(node: &Node) -> Option<Reminder> {
    let written = text(node, "at").unwrap_or_default();
    Some(Reminder {
        title: text(node, "title")?,
        at: DateTime::parse_from_rfc3339(&written).ok(),
        written,
        time_zone: text(node, "timeZone").and_then(|zone| zone.parse().ok()),
    })
}

fn contact(node: &Node) -> Option<Contact> {
    Some(Contact { name: text(node, "name")?, phone: text(node, "phone"), email: text(node, "email") })
}
