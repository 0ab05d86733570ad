//! Whether what an assertion looks at has changed since the first message.

use super::GradeInput;
use crate::assertion::{AssertionCheck, cypher};
use crate::evidence::{Change, Entity, Evidence, Observed, ObservedState, Table, Value};
use crate::job::Assertion;

/// Whether the subject of an assertion has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SubjectChange {
    Changed,
    Unchanged,
    /// It is not known, with the reason.
    Unknown(String),
}

/// Whether what an assertion looks at, and nothing else, has changed since the first message. A script that looks only
/// at the conversation sees something new with every message.
pub(super) fn since(check: &AssertionCheck, trial: GradeInput<'_>, before: &ObservedState) -> SubjectChange {
    let evidence = trial.evidence;
    match check {
        AssertionCheck::Cypher(check) if cypher::reads_no_graph(&check.cypher) => SubjectChange::Unchanged,
        AssertionCheck::Cypher(cypher) => {
            let relevant = before.may_be_left_over.then_some(cypher.cypher.as_str());
            since_graph(relevant, trial, before)
        }
        AssertionCheck::Changes(_) => since_changes(evidence, |_| true),
        AssertionCheck::Expression(script) => {
            let changes = check.needs_changes().then(|| since_changes(evidence, |_| true));
            let context = check.needs_object_context().then(|| match check.shows_the_same(evidence) {
                Some(true) => SubjectChange::Unchanged,
                Some(false) => SubjectChange::Changed,
                None => SubjectChange::Unknown("the object context could not be read before the first word".to_owned()),
            });
            match (changes, context) {
                (None, None) if script.uses_evaluation() => {
                    let is_silent = evidence.transcript.turns.is_empty();
                    if is_silent { SubjectChange::Unchanged } else { SubjectChange::Changed }
                }
                (None, None) => SubjectChange::Unchanged,
                (Some(one), None) | (None, Some(one)) => one,
                (Some(SubjectChange::Changed), _) | (_, Some(SubjectChange::Changed)) => SubjectChange::Changed,
                (Some(unknown @ SubjectChange::Unknown(_)), _) | (_, Some(unknown)) => unknown,
            }
        }
    }
}

fn since_changes(evidence: &Evidence, counts: impl Fn(&Change) -> bool) -> SubjectChange {
    match &evidence.changes {
        Some(Observed::Seen(changes)) if changes.iter().any(counts) => SubjectChange::Changed,
        Some(Observed::Seen(_)) => SubjectChange::Unchanged,
        Some(Observed::Failed(trouble)) => SubjectChange::Unknown(format!("the graph was not watched: {trouble}")),
        None => SubjectChange::Unknown("the graph was not watched".to_owned()),
    }
}

/// Whether the graph has changed: what was watched, and beyond that what the assertions' queries return. Where `cypher`
/// is given, a change counts only if it is of something that the query names: what others left is not shown to be this
/// conversation's doing by a log that the agent writes.
fn since_graph(cypher: Option<&str>, trial: GradeInput<'_>, before: &ObservedState) -> SubjectChange {
    let (watch, evidence) = (&trial.job.graph.watch, trial.evidence);
    let watched = since_changes(evidence, |change| cypher.is_none_or(|cypher| is_named(cypher, change)));
    let sees_all = watch.labels.is_empty() && watch.predicate.is_none();
    let by_user = evidence.changes_by_user().any(|change| cypher.is_none_or(|cypher| is_named(cypher, change)));
    let watched = if by_user { SubjectChange::Changed } else { watched };
    if watched == SubjectChange::Changed || (watched == SubjectChange::Unchanged && sees_all) {
        return watched;
    }
    let differs = |assertion: &Assertion| match (before.table(&assertion.id), evidence.table(&assertion.id)) {
        (Some(before), Some(after)) => !is_same(before, after),
        _ => false,
    };
    if trial.case.assertions.iter().any(differs) { SubjectChange::Changed } else { watched }
}

/// Whether two tables have the same rows, in whichever order.
pub(super) fn is_same(one: &Table, other: &Table) -> bool {
    let same_row = |one: &Vec<Value>, other: &Vec<Value>| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_same(other))
    };
    let same_order = one.rows.iter().zip(&other.rows).all(|(one, other)| same_row(one, other));
    let sorted = |table: &Table| {
        let mut rows: Vec<String> = table.rows.iter().map(|row| format!("{row:?}")).collect();
        rows.sort();
        rows
    };
    one.rows.len() == other.rows.len() && (same_order || sorted(one) == sorted(other))
}

/// Whether a query names what was changed: a label, a type of relationship, or both its ends. One that names nothing at
/// all looks at everything.
fn is_named(cypher: &str, change: &Change) -> bool {
    let tokens: Vec<&str> = cypher.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    // A name with spaces is not looked for.
    let names =
        |name: &String| tokens.contains(&name.as_str()) || !name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_node = |labels: &[String]| labels.is_empty() || labels.iter().any(names);
    let is_one = |entity: &Entity| match entity {
        Entity::Node(node) => is_node(&node.labels),
        Entity::Relationship { relationship, from, to } => {
            names(&relationship.kind) || (is_node(&from.labels) && is_node(&to.labels))
        }
    };
    !cypher.contains(':') || has_any_node(cypher) || is_one(change.entity()) || change.before().is_some_and(is_one)
}

/// Whether a query has a node without a label, which can be any: `(t)` where nothing says what `t` is, `()`, `(t {x: 1})`.
fn has_any_node(cypher: &str) -> bool {
    let mut before = ' ';
    for (place, character) in cypher.char_indices() {
        // Behind a name the bracket is a function's.
        if character == '(' && !before.is_alphanumeric() && before != '_' {
            let inside = cypher[place + 1..].trim_start();
            let end = inside.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inside.len());
            let (name, rest) = inside.split_at(end);
            let is_bare = rest.trim_start().starts_with([')', '{']);
            let is_labelled_elsewhere = || !name.is_empty() && cypher.contains(&format!("({name}:"));
            if is_bare && !is_labelled_elsewhere() {
                return true;
            }
        }
        before = character;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{ChangeTime, Node, Relationship};

    fn node(label: &str) -> Node {
        Node { id: label.to_owned(), labels: vec![label.to_owned()], properties: Default::default() }
    }

    fn created(entity: Entity) -> Change {
        Change::Created { when: ChangeTime { turn: 1, late: false }, entity }
    }

    fn joined(from: &str, kind: &str, to: &str) -> Change {
        let (start, end) = (from.to_owned(), to.to_owned());
        let relationship =
            Relationship { id: "r".to_owned(), kind: kind.to_owned(), start, end, properties: Default::default() };
        created(Entity::Relationship { relationship, from: node(from), to: node(to) })
    }

    #[test]
    fn a_query_names_what_it_looks_at() {
        let query = "MATCH (:User {id: $user})-[:BOOKED]->(t:Train) RETURN count(t)";
        assert!(is_named(query, &created(Entity::Node(node("Train")))));
        assert!(is_named(query, &joined("User", "BOOKED", "Train")));
        assert!(!is_named(query, &created(Entity::Node(node("Message")))));
        assert!(!is_named(query, &joined("User", "SAID", "Message")), "one end is not enough");
        assert!(is_named("MATCH (:User)-->(t:Train) RETURN t", &joined("User", "BOOKED", "Train")));
        assert!(is_named("MATCH (n) RETURN count(n)", &created(Entity::Node(node("Message")))));
        assert!(!is_named("MATCH (n:Trains) RETURN count(n)", &created(Entity::Node(node("Train")))));
        let any = "MATCH (:User {id: $user})-[:BOOKED]->(t) WHERE t.x = 1 RETURN count(t)";
        assert!(is_named(any, &created(Entity::Node(node("Train")))), "t can be anything");
        let known = "MATCH (t:Trains) MATCH (:User)-[:BOOKED]->(t) RETURN count(t)";
        assert!(!is_named(known, &created(Entity::Node(node("Message")))));
    }

    #[test]
    fn the_order_of_rows_is_no_difference() {
        let table = |values: &[i64]| Table {
            columns: vec!["x".to_owned()],
            rows: values.iter().map(|value| vec![Value::Int(*value)]).collect(),
        };
        assert!(is_same(&table(&[1, 2]), &table(&[2, 1])));
        assert!(!is_same(&table(&[1, 2]), &table(&[1, 1])));
        assert!(!is_same(&table(&[1]), &table(&[1, 1])));
    }
}
