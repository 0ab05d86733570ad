//! Whether changes are those that a `changes` assertion allows for.

use std::collections::BTreeMap;

use super::config::{ChangeConfig, ChangesConfig, EndConfig, PropertiesConfig};
use super::union::{AllowedConfig, LabelsConfig, NumbersConfig};
use crate::evidence::{Change, ChangeTime, Entity, Node, Value};

impl ChangesConfig {
    /// Whether it holds whatever happens: it can't fail.
    pub fn allows_everything(&self) -> bool {
        let all = [&self.created, &self.deleted, &self.changed];
        all.iter().all(|allowed| **allowed == AllowedConfig::Any) && self.turn.is_none()
    }

    /// Whether a change at this time is in a turn that it may be in. What came after the last reply is in none.
    pub(super) fn is_in_turn(&self, time: ChangeTime) -> bool {
        self.turn.is_none_or(|turns| !time.late && turns.contains(time.turn))
    }
}

impl ChangeConfig {
    /// Whether it is about this change, which is of the right kind: created, deleted or changed.
    pub(super) fn matches(&self, change: &Change) -> bool {
        let entity = change.entity();
        let fits = match (&self.node, &self.relationship, entity) {
            (Some(labels), _, Entity::Node(node)) => labels.are_on(node),
            (None, Some(kind), Entity::Relationship { relationship, from, to }) => {
                let fits = |end: &Option<EndConfig>, node| end.as_ref().is_none_or(|end| end.matches(node));
                *kind == relationship.kind && fits(&self.from, from) && fits(&self.to, to)
            }
            _ => false,
        };
        fits && all_match(&self.properties, entity.properties()) && self.only_sets(change)
    }

    fn only_sets(&self, change: &Change) -> bool {
        let Some(set) = &self.set else { return true };
        let same_labels = change.before().is_some_and(|before| before.labels() == change.entity().labels());
        same_labels
            && change.property_changes().iter().all(|changed| set.contains_key(changed.name))
            && all_match(set, change.entity().properties())
    }

    /// How many such changes there must be.
    pub(super) fn counts(&self) -> NumbersConfig {
        self.count.unwrap_or(NumbersConfig::AT_LEAST_ONE)
    }
}

impl EndConfig {
    fn matches(&self, node: &Node) -> bool {
        self.node.as_ref().is_none_or(|labels| labels.are_on(node)) && all_match(&self.properties, &node.properties)
    }
}

impl LabelsConfig {
    fn are_on(&self, node: &Node) -> bool {
        self.0.iter().all(|label| node.labels.contains(label))
    }
}

fn all_match(expected: &PropertiesConfig, found: &BTreeMap<String, Value>) -> bool {
    expected.iter().all(|(name, matcher)| matcher.matches(found.get(name)))
}
