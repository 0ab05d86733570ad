//! Assertions on what the conversation did to the graph: what had to happen has, and nothing else.
//!
//! Invariants: whatever no line of the job allows for fails, and is named with its turn; lines are independent, each
//! counts all the changes that it speaks of; a graph that was not watched is missing, never untouched.

mod check;
mod config;
mod property;
mod show;
mod union;

pub use config::{ChangeConfig, ChangesConfig, EndConfig, PropertiesConfig, PropertyConfig, PropertyTypeConfig};
pub use property::{Pattern, PropertyProblem, property_problem};
pub use union::{AllowedConfig, BoundConfig, LabelsConfig, MatcherConfig, NumbersConfig};

use crate::evidence::{Change, Evidence, Observed};
use crate::score::{Component, Score};

/// The most reasons that are given.
const SHOWN: usize = 5;

/// The assertion on one line.
pub fn label(check: &ChangesConfig) -> String {
    show::label(check)
}

/// Evaluates it on what a trial left behind.
///
/// A change is what differs between two looks at the graph, before and after a turn: what a turn creates and changes is
/// created as it was at the turn's end, and what it creates and deletes again never was. The same node changed in two
/// turns has changed twice. What happens after the last reply, before the conversation is looked at, counts, but is in no
/// turn.
pub fn evaluate(check: &ChangesConfig, evidence: &Evidence) -> Component {
    let changes = match &evidence.changes {
        Some(Observed::Seen(changes)) => changes,
        Some(Observed::Failed(trouble)) => {
            return Component::missing(format!("the graph could not be watched: {trouble}"));
        }
        None => return Component::missing("the graph was not watched"),
    };
    let mut missing = Vec::new();
    let mut beyond = Vec::new();
    for (verb, allowed) in verbs(check) {
        let of_kind = || changes.iter().filter(|change| self::verb(change) == verb);
        if let AllowedConfig::Lines(lines) = allowed {
            for line in lines {
                let count = of_kind().filter(|change| line.matches(change)).count();
                if !line.counts().contains(u32::try_from(count).unwrap_or(u32::MAX)) {
                    let wanted = show::count(line.counts());
                    missing.push(format!("{verb} {count} {}, expected {wanted}", show::line(line)));
                }
            }
        }
    }
    for change in changes {
        let verb = self::verb(change);
        let allowed =
            verbs(check).into_iter().find(|(own, _)| *own == verb).is_some_and(|(_, allowed)| match allowed {
                AllowedConfig::None => false,
                AllowedConfig::Any => true,
                AllowedConfig::Lines(lines) => lines.iter().any(|line| line.matches(change)),
            });
        match check.turn {
            _ if !allowed => beyond.push(format!("also {verb} {change} {}", change.when())),
            Some(turns) if !check.is_in_turn(change.when()) => beyond.push(format!(
                "{verb} {change} {}, but only {} may change the graph",
                change.when(),
                show::turns(turns)
            )),
            _ => {}
        }
    }
    missing.extend(beyond);
    if missing.is_empty() {
        return Component::scored(Score::ONE, happened(check, changes));
    }
    let more = missing.len().saturating_sub(SHOWN);
    missing.truncate(SHOWN);
    if more > 0 {
        missing.push(format!("and {more} more"));
    }
    Component::scored(Score::ZERO, missing.join("; "))
}

fn verbs(check: &ChangesConfig) -> [(&'static str, &AllowedConfig); 3] {
    [("created", &check.created), ("deleted", &check.deleted), ("changed", &check.changed)]
}

fn verb(change: &Change) -> &'static str {
    match change {
        Change::Created { .. } => "created",
        Change::Deleted { .. } => "deleted",
        Change::Changed { .. } => "changed",
    }
}

/// Counts of the changes, where all of them were allowed: `created 2, deleted 1`.
fn happened(check: &ChangesConfig, changes: &[Change]) -> String {
    let count = |verb| changes.iter().filter(|change| self::verb(change) == verb).count();
    let counts: Vec<String> = verbs(check)
        .iter()
        .map(|(verb, _)| (verb, count(*verb)))
        .filter(|(_, count)| *count > 0)
        .map(|(verb, count)| format!("{verb} {count}"))
        .collect();
    if counts.is_empty() { "nothing has changed".to_owned() } else { format!("{}, nothing else", counts.join(", ")) }
}

#[cfg(test)]
mod tests;
