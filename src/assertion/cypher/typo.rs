//! Labels and relationship types of a query that the graph does not have, beside one that is spelled nearly so.

use crate::cypher::Statement;
use crate::evidence::{AssertionId, Change, Entity, Evidence, Observed, Value};
use crate::text::nearest;

/// Asks a graph for its labels and relationship types.
pub const LABELS: &str = "CALL db.labels() YIELD label RETURN label AS name, false AS isType \
                          UNION ALL CALL db.relationshipTypes() YIELD relationshipType \
                          RETURN relationshipType AS name, true AS isType";

/// The hint for a query that named a label or type that is not in the graph and was not, where there is a near one.
pub(super) fn hint(cypher: &str, evidence: &Evidence) -> Option<String> {
    let known: Vec<(&str, bool)> = evidence
        .table(&AssertionId::labels())?
        .rows
        .iter()
        .filter_map(|row| match row.as_slice() {
            [Value::String(name), Value::Bool(is_type)] => Some((name.as_str(), *is_type)),
            _ => None,
        })
        .collect();
    let statement = Statement::parse(cypher);
    statement.labels_and_types().into_iter().find_map(|(name, is_type)| {
        let names = || known.iter().filter(|(_, other)| *other == is_type).map(|(name, _)| *name);
        if names().any(|known| known == name) || was_deleted(name, is_type, evidence) {
            return None;
        }
        let near = nearest(name, names())?;
        let what = if is_type { "relationship has the type" } else { "node has the label" };
        Some(format!("no {what} `{name}`; there is `{near}`"))
    })
}

fn was_deleted(name: &str, is_type: bool, evidence: &Evidence) -> bool {
    let of = |entity: &Entity| match entity {
        Entity::Relationship { relationship, .. } => is_type && relationship.kind == name,
        Entity::Node(node) => !is_type && node.labels.iter().any(|label| label == name),
    };
    let was = |change: &Change| match change {
        Change::Created { .. } => false,
        Change::Deleted { entity, .. } => of(entity),
        Change::Changed { before, .. } => of(before),
    };
    matches!(&evidence.changes, Some(Observed::Seen(changes)) if changes.iter().any(was))
        || evidence.changes_by_user().any(was)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{ChangeTime, Node, QueryObservation, Table};

    fn evidence() -> Evidence {
        let row = |name: &str, is_type| vec![Value::String(name.to_owned()), Value::Bool(is_type)];
        let rows = vec![row("Booking", false), row("User", false), row("BOOKED", true)];
        let result = Observed::Seen(Table { columns: vec!["name".to_owned(), "isType".to_owned()], rows });
        Evidence {
            queries: vec![QueryObservation { assertion: AssertionId::labels(), result, sides: None }],
            ..Evidence::sample()
        }
    }

    #[test]
    fn a_misspelled_label_or_type_is_found() {
        let hint = |cypher| hint(cypher, &evidence());
        let label = "no node has the label `Bookng`; there is `Booking`";
        assert_eq!(hint("MATCH (:User)-->(b:Bookng {x: 1}) RETURN count(b)").as_deref(), Some(label));
        let kind = "no relationship has the type `BOKED`; there is `BOOKED`";
        assert_eq!(hint("MATCH (:User)-[:BOKED]->(b) RETURN count(b)").as_deref(), Some(kind));
        assert_eq!(hint("MATCH (b:Booking) WHERE b:User RETURN count(b)"), None);
        assert_eq!(hint("MATCH (i:Invoice) RETURN count(i)"), None, "nothing is near");
        assert_eq!(super::hint("MATCH (b:Bookng) RETURN b", &Evidence::sample()), None, "nobody asked the graph");
    }

    #[test]
    fn a_label_that_was_there_is_none() {
        let node = Node { id: "1".to_owned(), labels: vec!["Users".to_owned()], properties: Default::default() };
        let deleted = Change::Deleted { when: ChangeTime { turn: 1, late: false }, entity: Entity::Node(node) };
        let evidence = Evidence { changes: Some(Observed::Seen(vec![deleted])), ..evidence() };
        assert_eq!(hint("MATCH (u:Users) RETURN u", &evidence), None);
    }
}
