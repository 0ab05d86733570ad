//! A `changes` assertion with every default filled in and every pattern read.

use std::collections::BTreeMap;

use super::config::{ChangedConfig, ChangesConfig, EndConfig, EntityConfig};
use super::property::Matcher;
use super::union::{AllowedConfig, MatcherConfig, NumbersConfig};
use crate::evidence::{Change, ChangeTime, Entity, Node};

/// `changes`: what the conversation may do to the graph, and must.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangesCheck {
    /// As the job says it.
    config: ChangesConfig,
    pub(super) created: Allowed,
    pub(super) deleted: Allowed,
    pub(super) changed: Allowed,
    /// In which turns all of it may happen.
    pub(super) turn: Option<NumbersConfig>,
}

/// What may happen.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Allowed {
    Nothing,
    Anything,
    Lines(Vec<Line>),
}

/// Changes of one sort.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) what: What,
    pub(super) properties: Properties,
    /// The only properties that may differ, with what they are afterwards; `None` for all.
    pub(super) set: Option<Properties>,
    pub(super) count: NumbersConfig,
}

pub(super) type Properties = BTreeMap<String, Matcher>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    Node { labels: Vec<String> },
    Relationship { kind: String, from: End, to: End },
}

/// The node at an end of a relationship.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct End {
    pub(super) labels: Vec<String>,
    pub(super) properties: Properties,
}

impl ChangesCheck {
    /// Whether it holds whatever happens: it can't fail.
    pub fn allows_everything(&self) -> bool {
        let all = [&self.created, &self.deleted, &self.changed];
        all.iter().all(|allowed| **allowed == Allowed::Anything) && self.turn.is_none()
    }

    /// # Errors
    /// A sentence, if something slipped through the checks of the job file.
    pub fn new(config: ChangesConfig) -> Result<ChangesCheck, String> {
        let written = config.clone();
        Ok(ChangesCheck {
            config: written,
            created: allowed(config.created, entity)?,
            deleted: allowed(config.deleted, entity)?,
            changed: allowed(config.changed, changed)?,
            turn: config.turn,
        })
    }

    /// As the job says it.
    pub fn config(&self) -> &ChangesConfig {
        &self.config
    }

    /// Whether a change at this moment is in a turn that it may be in. What came after the last reply is in none.
    pub(super) fn is_in_turn(&self, when: ChangeTime) -> bool {
        self.turn.is_none_or(|turns| !when.late && turns.contains(when.turn))
    }
}

impl Line {
    /// Whether it speaks of this change; which kind of change it is has been seen to.
    pub(super) fn matches(&self, change: &Change) -> bool {
        let entity = change.entity();
        let is_it = match (&self.what, entity) {
            (What::Node { labels }, Entity::Node(node)) => labels.iter().all(|label| node.labels.contains(label)),
            (What::Relationship { kind, from, to }, Entity::Relationship { relationship, from: start, to: end }) => {
                *kind == relationship.kind && from.matches(start) && to.matches(end)
            }
            _ => false,
        };
        is_it && all_match(&self.properties, entity.properties()) && self.only_sets(change)
    }

    fn only_sets(&self, change: &Change) -> bool {
        let Some(set) = &self.set else { return true };
        let same_labels = change.before().is_some_and(|before| before.labels() == change.entity().labels());
        same_labels
            && change.property_changes().iter().all(|changed| set.contains_key(changed.name))
            && all_match(set, change.entity().properties())
    }
}

impl End {
    fn matches(&self, node: &Node) -> bool {
        self.labels.iter().all(|label| node.labels.contains(label)) && all_match(&self.properties, &node.properties)
    }
}

fn all_match(wanted: &Properties, found: &BTreeMap<String, crate::evidence::Value>) -> bool {
    wanted.iter().all(|(name, matcher)| matcher.matches(found.get(name)))
}

fn allowed<C>(config: AllowedConfig<C>, line: impl Fn(C) -> Result<Line, String>) -> Result<Allowed, String> {
    Ok(match config {
        AllowedConfig::None => Allowed::Nothing,
        AllowedConfig::Any => Allowed::Anything,
        AllowedConfig::Lines(lines) => Allowed::Lines(lines.into_iter().map(line).collect::<Result<_, _>>()?),
    })
}

fn entity(config: EntityConfig) -> Result<Line, String> {
    let EntityConfig { node, relationship, from, to, properties, count } = config;
    changed(ChangedConfig { node, relationship, from, to, properties, set: None, count })
}

fn changed(config: ChangedConfig) -> Result<Line, String> {
    let what = match (config.node, config.relationship) {
        (Some(labels), None) => What::Node { labels: labels.0 },
        (None, Some(kind)) => What::Relationship { kind, from: end(config.from)?, to: end(config.to)? },
        _ => return Err("a change is either of a node or of a relationship".to_owned()),
    };
    Ok(Line {
        what,
        properties: properties(config.properties)?,
        set: config.set.map(properties).transpose()?,
        count: config.count.unwrap_or(NumbersConfig::AT_LEAST_ONE),
    })
}

fn end(config: Option<EndConfig>) -> Result<End, String> {
    let config = config.unwrap_or_default();
    let labels = config.node.map(|labels| labels.0).unwrap_or_default();
    Ok(End { labels, properties: properties(config.properties)? })
}

fn properties(config: BTreeMap<String, MatcherConfig>) -> Result<Properties, String> {
    config.into_iter().map(|(name, matcher)| Ok((name, Matcher::new(matcher)?))).collect()
}
