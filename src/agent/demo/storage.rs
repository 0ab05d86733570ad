//! The data of a user in the graph:
//!
//! ```text
//! (:User {id, timeZone})-[:HAS_REMINDER]->(:Reminder {title, at, timeZone})
//! ```
//!
//! `at` is ISO 8601 with an offset. Nodes of this shape that others write, such as a job's setup, are read like the agent's
//! own.

use serde_json::Map;

use super::reminders::{Reminder, ReminderAction, UserData};
use crate::evidence::{ObjectContext, Resource};
use crate::graph::{Graph, GraphError, Node, Parameters, Value};

const USER: &str = "MATCH (u:User {id: $user}) RETURN u";
const REMINDERS: &str = "MATCH (:User {id: $user})-[:HAS_REMINDER]->(r:Reminder) RETURN r ORDER BY r.at, r.title";

/// Reads the data of a user.
pub(super) async fn load(graph: &dyn Graph, user: &str) -> Result<UserData, GraphError> {
    let time_zone = nodes(graph, USER, user).await?.first().and_then(|node| text(node, "timeZone"));
    Ok(UserData {
        time_zone: time_zone.and_then(|zone| zone.parse().ok()),
        reminders: nodes(graph, REMINDERS, user).await?.iter().filter_map(reminder).collect(),
    })
}

fn reminder(node: &Node) -> Option<Reminder> {
    Some(Reminder {
        title: text(node, "title")?,
        at: text(node, "at").unwrap_or_default(),
        time_zone: text(node, "timeZone").and_then(|zone| zone.parse().ok()),
    })
}

/// The reminders of a user as resources of an object context.
pub(super) async fn resources(graph: &dyn Graph, user: &str) -> Result<Vec<Resource>, GraphError> {
    Ok(nodes(graph, REMINDERS, user).await?.into_iter().map(resource).collect())
}

fn resource(mut node: Node) -> Resource {
    let name = text(&node, "title").unwrap_or_default();
    node.labels.push(ObjectContext::ENTITY_LABEL.to_owned());
    let properties: Map<String, serde_json::Value> =
        node.properties.keys().filter_map(|key| Some((key.clone(), text(&node, key)?.into()))).collect();
    Resource { id: node.id, description: name.clone(), name, properties, labels: node.labels, aliases: Vec::new() }
}

/// Carries out an action. Returns the statement that it took, if any.
pub(super) async fn write(
    graph: &dyn Graph,
    user: &str,
    action: &ReminderAction,
) -> Result<Option<&'static str>, GraphError> {
    let Some((statement, mut parameters)) = statement(action) else { return Ok(None) };
    parameters.insert("user".to_owned(), Value::String(user.to_owned()));
    graph.write(statement, &parameters).await?;
    Ok(Some(statement))
}

fn statement(action: &ReminderAction) -> Option<(&'static str, Parameters)> {
    Some(match action {
        ReminderAction::Create(reminder) => (
            "MERGE (u:User {id: $user}) CREATE (u)-[:HAS_REMINDER]->(:Reminder {title: $title, at: $at, timeZone: $timeZone})",
            reminder_parameters(reminder),
        ),
        ReminderAction::Reschedule { before, after } => {
            let mut parameters = reminder_parameters(after);
            parameters.insert("before".to_owned(), Value::String(before.at.clone()));
            (
                "MATCH (:User {id: $user})-[:HAS_REMINDER]->(r:Reminder {title: $title}) WHERE coalesce(toString(r.at), '') = $before SET r.at = $at, r.timeZone = $timeZone",
                parameters,
            )
        }
        ReminderAction::Cancel(reminder) => (
            "MATCH (:User {id: $user})-[:HAS_REMINDER]->(r:Reminder {title: $title}) WHERE coalesce(toString(r.at), '') = $at DETACH DELETE r",
            parameters([("title", &reminder.title), ("at", &reminder.at)]),
        ),
        ReminderAction::RememberTimeZone(zone) => {
            ("MERGE (u:User {id: $user}) SET u.timeZone = $timeZone", parameters([("timeZone", zone.name())]))
        }
        ReminderAction::List { .. } => return None,
    })
}

fn reminder_parameters(reminder: &Reminder) -> Parameters {
    let zone = reminder.time_zone.map(|zone| zone.name()).unwrap_or_default();
    parameters([("title", reminder.title.as_str()), ("at", &reminder.at), ("timeZone", zone)])
}

fn parameters<const N: usize>(values: [(&str, &str); N]) -> Parameters {
    values.into_iter().map(|(name, text)| (name.to_owned(), Value::String(text.to_owned()))).collect()
}

async fn nodes(graph: &dyn Graph, statement: &str, user: &str) -> Result<Vec<Node>, GraphError> {
    let table = graph.read(statement, &parameters([("user", user)])).await?;
    let node = |value| match value {
        Value::Node(node) => Some(node),
        _ => None,
    };
    Ok(table.rows.into_iter().flatten().filter_map(node).collect())
}

fn text(node: &Node, key: &str) -> Option<String> {
    match node.properties.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Temporal(moment) => Some(moment.text.clone()),
        _ => None,
    }
}
