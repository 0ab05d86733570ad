//! Labels and relationship types, by where they are known from.

use std::collections::{BTreeMap, BTreeSet};

use super::CoverageSubject;
use crate::assertion::AssertionCheck;
use crate::assertion::changes::{AllowedConfig, ChangeConfig, ChangesConfig};
use crate::cypher::Statement;
use crate::evidence::{AssertionId, Change, Entity, Evidence, Observed, Value};
use crate::job::{Assertion, Case};

/// A label or a type.
pub(super) type GraphName = (CoverageSubject, String);

/// The coverage of a label or a type.
#[derive(Debug, Default)]
pub(super) struct NameCoverage {
    /// How many conversations changed a node or relationship that has it.
    changed: usize,
    /// Whether a setup names it.
    is_prepared: bool,
    /// Whether an assertion of a case looks at it.
    is_named: bool,
    /// Whether one did in a conversation that was run.
    is_checked: bool,
}

/// Labels and types of a suite.
#[derive(Debug, Default)]
pub(super) struct GraphNames {
    names: BTreeMap<GraphName, NameCoverage>,
    /// The scripts of all assertions, which may name a label in a text.
    scripts: BTreeSet<String>,
    /// The scripts of cases with a conversation.
    used_scripts: BTreeSet<String>,
}

impl GraphNames {
    /// The names in a case's setups and assertions.
    pub(super) fn case(&mut self, case: &Case) {
        for setup in &case.setups {
            for name in names_in(&setup.cypher) {
                self.names.entry(name).or_default().is_prepared = true;
            }
        }
        self.scripts.extend(case.assertions.iter().filter_map(script).map(str::to_owned));
        for name in case.assertions.iter().flat_map(names_checked) {
            self.names.entry(name).or_default().is_named = true;
        }
    }

    /// The labels and types that a conversation showed.
    pub(super) fn conversation(&mut self, case: &Case, evidence: &Evidence) {
        self.used_scripts.extend(case.assertions.iter().filter_map(script).map(str::to_owned));
        for name in case.assertions.iter().flat_map(names_checked) {
            self.names.entry(name).or_default().is_checked = true;
        }
        // An assertion on changes fails by whatever it does not allow, whatever its label is.
        let watches_all = case.assertions.iter().any(|assertion| match &assertion.check {
            AssertionCheck::Changes(check) => !check.allows_everything(),
            _ => false,
        });
        let mut changed = BTreeSet::new();
        if let Some(Observed::Seen(changes)) = &evidence.changes {
            changed.extend(changes.iter().flat_map(names_changed));
        }
        for name in changed {
            let seen = self.names.entry(name).or_default();
            seen.changed += 1;
            seen.is_checked |= watches_all;
        }
        for row in evidence.table(&AssertionId::labels()).iter().flat_map(|table| &table.rows) {
            if let [Value::String(name), Value::Bool(is_type)] = row.as_slice() {
                self.names.entry((subject(*is_type), name.clone())).or_default();
            }
        }
    }

    /// All of them, with whether an assertion looks at each, and what is known of it.
    pub(super) fn into_touches(self) -> impl Iterator<Item = (GraphName, bool, String)> {
        let Self { names, scripts, used_scripts } = self;
        names.into_iter().map(move |(name, seen)| {
            let quoted = ['"', '\'', '`'].map(|quote| format!("{quote}{}{quote}", name.1));
            let is_in = |scripts: &BTreeSet<String>| {
                scripts.iter().any(|script| quoted.iter().any(|it| script.contains(it.as_str())))
            };
            let is_checked = seen.is_checked || is_in(&used_scripts);
            let changed = match seen.changed {
                0 => "no conversation changed it".to_owned(),
                1 => "changed in 1 conversation".to_owned(),
                several => format!("changed in {several} conversations"),
            };
            let checked = match is_checked {
                true => "an assertion looks at it",
                false if seen.is_named || is_in(&scripts) => "no conversation was run whose assertions look at it",
                false => "no assertion looks at it",
            };
            let prepared = if seen.is_prepared { "prepared by a setup, " } else { "" };
            (name, is_checked, format!("{prepared}{changed}, {checked}"))
        })
    }
}

fn subject(is_type: bool) -> CoverageSubject {
    if is_type { CoverageSubject::Relationship } else { CoverageSubject::Label }
}

fn names_in(cypher: &str) -> impl Iterator<Item = GraphName> + use<> {
    let names = Statement::parse(cypher).labels_and_types();
    let names: Vec<GraphName> = names.into_iter().map(|(name, is_type)| (subject(is_type), name.to_owned())).collect();
    names.into_iter()
}

fn script(assertion: &Assertion) -> Option<&str> {
    match &assertion.check {
        AssertionCheck::Expression(check) => Some(check.text()),
        AssertionCheck::Cypher(_) | AssertionCheck::Changes(_) => None,
    }
}

fn names_checked(assertion: &Assertion) -> Vec<GraphName> {
    match &assertion.check {
        AssertionCheck::Cypher(check) => names_in(&check.cypher).collect(),
        AssertionCheck::Expression(_) => Vec::new(),
        AssertionCheck::Changes(ChangesConfig { created, deleted, changed, .. }) => {
            let lines = [created, deleted, changed].into_iter().flat_map(|allowed| match allowed {
                AllowedConfig::Lines(lines) => lines.as_slice(),
                AllowedConfig::None | AllowedConfig::Any => &[],
            });
            lines.flat_map(names_of_line).collect()
        }
    }
}

fn names_of_line(line: &ChangeConfig) -> impl Iterator<Item = GraphName> {
    let ends = [&line.from, &line.to].into_iter().flatten().filter_map(|end| end.node.as_ref());
    let labels = line.node.iter().chain(ends).flat_map(|labels| labels.0.clone());
    labels
        .map(|label| (CoverageSubject::Label, label))
        .chain(line.relationship.clone().map(|it| (CoverageSubject::Relationship, it)))
}

fn names_changed(change: &Change) -> Vec<GraphName> {
    match change.entity() {
        Entity::Node(node) => node.labels.iter().map(|label| (CoverageSubject::Label, label.clone())).collect(),
        Entity::Relationship { relationship, .. } => vec![(CoverageSubject::Relationship, relationship.kind.clone())],
    }
}
