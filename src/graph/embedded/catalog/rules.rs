//! The indexes and constraints of a graph, and what may be added to them.

use serde::{Deserialize, Serialize};

use crate::graph::embedded::error::{StatementError, StatementErrorKind};
use crate::graph::{GraphError, GraphErrorKind};

/// All rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rules {
    pub(super) indexes: Vec<Index>,
    pub(super) constraints: Vec<Constraint>,
    next: i64,
}

/// The kind of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum IndexKind {
    Range,
    Text,
    Point,
    Lookup,
}

/// Whether it is about nodes or relationships.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum EntityKind {
    Node,
    Relationship,
}

/// The entities and properties that an index or constraint covers: `(:Label {property})`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RuleSubject {
    pub(super) entity: EntityKind,
    /// Labels or types; none means all.
    pub(super) names: Vec<String>,
    pub(super) properties: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Index {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) kind: IndexKind,
    pub(super) subject: RuleSubject,
    /// The constraint that it belongs to.
    pub(super) owner: Option<String>,
}

/// A uniqueness constraint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Constraint {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) subject: RuleSubject,
    pub(super) index: i64,
}

/// Why a schema command was refused: each is one of Neo4j's error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaFault {
    /// The very same rule is there.
    Equivalent,
    /// An index on the same properties is there.
    IndexExists,
    /// An index has the name.
    IndexNamed,
    /// A constraint on the same properties is there.
    ConstraintExists,
    /// A constraint has the name.
    ConstraintNamed,
    /// There is no such index, or it belongs to a constraint.
    IndexDrop,
    /// There is no such constraint.
    ConstraintDrop,
    /// The data break it, or it is for Neo4j's Enterprise Edition.
    ConstraintCreation,
}

pub(super) fn fault(fault: SchemaFault, message: String) -> StatementError {
    StatementError {
        reason: StatementErrorKind::Schema(fault),
        error: GraphError::new(GraphErrorKind::Statement, message),
    }
}

impl Default for Rules {
    /// The two indexes that every Neo4j has.
    fn default() -> Rules {
        let lookup = |id, name: &str, entity| Index {
            id,
            name: name.to_owned(),
            kind: IndexKind::Lookup,
            subject: RuleSubject { entity, names: Vec::new(), properties: Vec::new() },
            owner: None,
        };
        Rules {
            indexes: vec![
                lookup(1, "index_343aff4e", EntityKind::Node),
                lookup(2, "index_f7700477", EntityKind::Relationship),
            ],
            constraints: Vec::new(),
            next: 3,
        }
    }
}

impl RuleSubject {
    /// `(:A {x, y})`, as Neo4j writes it.
    pub(super) fn text(&self) -> String {
        let names = if self.names.is_empty() { "<any-labels>".to_owned() } else { self.names.join("|") };
        let properties = self.properties.join(", ");
        match self.entity {
            EntityKind::Node if properties.is_empty() => format!("(:{names})"),
            EntityKind::Node => format!("(:{names} {{{properties}}})"),
            EntityKind::Relationship if properties.is_empty() => format!("()-[:{names}]-()"),
            EntityKind::Relationship => format!("()-[:{names} {{{properties}}}]-()"),
        }
    }
}

impl Constraint {
    pub(super) fn label_or_type(&self) -> &str {
        self.subject.names.first().map_or("", String::as_str)
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.subject.entity {
            EntityKind::Node => "UNIQUENESS",
            EntityKind::Relationship => "RELATIONSHIP_UNIQUENESS",
        }
    }
}

impl Rules {
    /// Adds an index; `false` when it was there and may be.
    pub(super) fn add_index(
        &mut self,
        name: Option<String>,
        kind: IndexKind,
        subject: RuleSubject,
        unless_there: bool,
    ) -> Result<bool, StatementError> {
        let text = subject.text();
        let name = name.unwrap_or_else(|| generated("index", &format!("{kind:?}{text}")));
        let same = self.indexes.iter().find(|index| index.kind == kind && index.subject == subject);
        let taken = self.name_is_taken(&name);
        if unless_there && (same.is_some() || taken.is_some()) {
            return Ok(false);
        }
        match same {
            Some(same) if same.owner.is_some() => {
                return Err(fault(
                    SchemaFault::ConstraintExists,
                    format!(
                        "There is a uniqueness constraint on {text}, so an index is already created that matches this."
                    ),
                ));
            }
            Some(same) if same.name == name => {
                return Err(fault(
                    SchemaFault::Equivalent,
                    format!("An equivalent index already exists, '{name}' on {text}."),
                ));
            }
            _ => {}
        }
        if let Some(refusal) = taken {
            return Err(refusal);
        }
        if same.is_some() {
            return Err(fault(SchemaFault::IndexExists, format!("There already exists an index {text}.")));
        }
        let id = self.next_id();
        self.indexes.push(Index { id, name, kind, subject, owner: None });
        Ok(true)
    }

    /// Adds a uniqueness constraint with its index; `false` when it was there and may be.
    pub(super) fn add_constraint(
        &mut self,
        name: Option<String>,
        subject: RuleSubject,
        unless_there: bool,
    ) -> Result<bool, StatementError> {
        let text = subject.text();
        let name = name.unwrap_or_else(|| generated("constraint", &text));
        let same = self.constraints.iter().find(|constraint| constraint.subject == subject);
        let named = self.constraints.iter().any(|constraint| constraint.name == name);
        if unless_there && (same.is_some() || named) {
            return Ok(false);
        }
        if let Some(same) = same {
            return Err(if same.name == name {
                fault(SchemaFault::Equivalent, format!("An equivalent constraint already exists, '{name}' on {text}."))
            } else {
                fault(SchemaFault::ConstraintExists, format!("Constraint already exists: '{}' on {text}.", same.name))
            });
        }
        if let Some(refusal) = self.name_is_taken(&name) {
            return Err(refusal);
        }
        if self.indexes.iter().any(|index| index.kind == IndexKind::Range && index.subject == subject) {
            return Err(fault(
                SchemaFault::IndexExists,
                format!(
                    "There already exists an index {text}. A constraint cannot be created until the index has been dropped."
                ),
            ));
        }
        let (index, id) = (self.next_id(), self.next_id());
        self.constraints.push(Constraint { id, name: name.clone(), subject: subject.clone(), index });
        let owner = Some(name.clone());
        self.indexes.push(Index { id: index, name, kind: IndexKind::Range, subject, owner });
        Ok(true)
    }

    /// Drops an index; `false` when there is none and needn't be.
    pub(super) fn drop_index(&mut self, name: &str, if_there: bool) -> Result<bool, StatementError> {
        let Some(at) = self.indexes.iter().position(|index| index.name == name) else {
            let message = format!("Unable to drop index called `{name}`. There is no such index.");
            return if if_there { Ok(false) } else { Err(fault(SchemaFault::IndexDrop, message)) };
        };
        if self.indexes[at].owner.is_some() {
            let message = format!("Unable to drop index: Index belongs to constraint: `{name}`");
            return Err(fault(SchemaFault::IndexDrop, message));
        }
        self.indexes.remove(at);
        Ok(true)
    }

    /// Drops a constraint with its index; `false` when there is none and needn't be.
    pub(super) fn drop_constraint(&mut self, name: &str, if_there: bool) -> Result<bool, StatementError> {
        let Some(at) = self.constraints.iter().position(|constraint| constraint.name == name) else {
            let message = format!("Unable to drop constraint `{name}`: No such constraint {name}.");
            return if if_there { Ok(false) } else { Err(fault(SchemaFault::ConstraintDrop, message)) };
        };
        self.constraints.remove(at);
        self.indexes.retain(|index| index.owner.as_deref() != Some(name));
        Ok(true)
    }

    fn name_is_taken(&self, name: &str) -> Option<StatementError> {
        if self.constraints.iter().any(|constraint| constraint.name == name) {
            let message = format!("There already exists a constraint called '{name}'.");
            return Some(fault(SchemaFault::ConstraintNamed, message));
        }
        self.indexes
            .iter()
            .any(|index| index.name == name)
            .then(|| fault(SchemaFault::IndexNamed, format!("There already exists an index called '{name}'.")))
    }

    fn next_id(&mut self) -> i64 {
        self.next += 1;
        self.next - 1
    }
}

/// A name for what was given none: the same for the same rule (FNV-1a).
fn generated(sort: &str, text: &str) -> String {
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{sort}_{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(label: &str, property: &str) -> RuleSubject {
        RuleSubject { entity: EntityKind::Node, names: vec![label.to_owned()], properties: vec![property.to_owned()] }
    }

    fn name(name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    fn reason(refused: Result<bool, StatementError>) -> SchemaFault {
        match refused.unwrap_err().reason {
            StatementErrorKind::Schema(fault) => fault,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_index_is_there_once() {
        let mut rules = Rules::default();
        let mut add = |named, subject, unless| rules.add_index(named, IndexKind::Range, subject, unless);
        assert_eq!(add(name("i"), subject("A", "x"), false), Ok(true));
        assert_eq!(add(name("i"), subject("A", "x"), true), Ok(false));
        assert_eq!(add(name("other"), subject("A", "x"), true), Ok(false));
        assert_eq!(reason(add(name("i"), subject("A", "x"), false)), SchemaFault::Equivalent);
        assert_eq!(reason(add(name("i"), subject("B", "x"), false)), SchemaFault::IndexNamed);
        assert_eq!(reason(add(name("j"), subject("A", "x"), false)), SchemaFault::IndexExists);
        assert_eq!(add(None, subject("A", "y"), false), Ok(true));
        assert_eq!(rules.drop_index("i", false), Ok(true));
        assert_eq!(rules.drop_index("i", true), Ok(false));
        assert_eq!(reason(rules.drop_index("i", false)), SchemaFault::IndexDrop);
    }

    #[test]
    fn a_constraint_brings_its_index_and_takes_it_away() {
        let mut rules = Rules::default();
        assert_eq!(rules.add_constraint(name("c"), subject("A", "x"), false), Ok(true));
        assert_eq!(rules.add_constraint(name("d"), subject("A", "x"), true), Ok(false));
        assert_eq!(reason(rules.add_constraint(name("c"), subject("A", "x"), false)), SchemaFault::Equivalent);
        assert_eq!(reason(rules.add_constraint(name("d"), subject("A", "x"), false)), SchemaFault::ConstraintExists);
        assert_eq!(reason(rules.add_constraint(name("c"), subject("B", "x"), false)), SchemaFault::ConstraintNamed);
        let index = rules.add_index(name("i"), IndexKind::Range, subject("A", "x"), false);
        assert_eq!(reason(index), SchemaFault::ConstraintExists);
        assert_eq!(reason(rules.drop_index("c", false)), SchemaFault::IndexDrop);
        assert_eq!(rules.indexes.len(), 3);
        assert_eq!(rules.drop_constraint("c", false), Ok(true));
        assert_eq!(rules, Rules { next: 5, ..Rules::default() });
        assert_eq!(reason(rules.drop_constraint("c", false)), SchemaFault::ConstraintDrop);
    }
}
