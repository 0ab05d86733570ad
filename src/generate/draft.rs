//! Goals, situations and personas as cases of a job.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::distinct::WordBag;
use super::{UserGoal, UserKnowledge};
use crate::job::digest;
use crate::metric::trajectory::ExpectedCall;

/// A case to be reviewed.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Its id: the goal's name, and a few letters that change with what the case says.
    pub id: String,
    persona: Option<String>,
    wish: String,
    situation: UserKnowledge,
}

impl Draft {
    /// The tools whose calls it expects.
    pub fn calls(&self) -> &[ExpectedCall] {
        self.situation.calls.as_deref().unwrap_or_default()
    }
}

/// Up to so many cases, no two of them nearly the same. Each goal has its first case before any has its second; kinds of users
/// take turns.
pub fn drafts(goals: &[UserGoal], personas: &[String], most: usize) -> Vec<Draft> {
    let everybody: Vec<Option<&String>> = match personas.is_empty() {
        true => vec![None],
        false => personas.iter().map(Some).collect(),
    };
    let situations = goals.iter().map(|goal| goal.situations.len()).max().unwrap_or_default();
    let (mut drafts, mut ids) = (Vec::new(), BTreeSet::new());
    let mut openings: BTreeMap<(Option<&String>, &str), Vec<WordBag>> = BTreeMap::new();
    for round in 0..situations * everybody.len() {
        for (number, goal) in goals.iter().enumerate() {
            let Some(situation) = goal.situations.get(round / everybody.len()) else { continue };
            let persona = match &goal.persona {
                Some(_) if !round.is_multiple_of(everybody.len()) => continue,
                Some(own) => Some(own),
                None => everybody[(round + number) % everybody.len()],
            };
            if drafts.len() == most || goal.wishes.is_empty() {
                continue;
            }
            let wish = &goal.wishes[round % goal.wishes.len()];
            let condition = situation.condition.map_or("", crate::evidence::Condition::as_str);
            let bag = WordBag::new(&format!("{wish} {condition} {}", situation.facts.join(" ")));
            let others = openings.entry((persona, condition)).or_default();
            if others.iter().any(|other| bag.is_near(other)) {
                continue;
            }
            others.push(bag);
            let text = format!("{persona:?}\n{wish}\n{condition}\n{}", situation.facts.join("\n"));
            let (persona, wish, situation) = (persona.cloned(), wish.clone(), situation.clone());
            drafts.push(Draft { id: id(&goal.name, &digest(&text), &mut ids), persona, wish, situation });
        }
    }
    drafts
}

/// An id that no other case has.
fn id(name: &str, digest: &str, taken: &mut BTreeSet<String>) -> String {
    const LONGEST: usize = 60;
    const FEWEST: usize = 6;
    let kept = name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect::<String>();
    let parts = kept.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    let name: String = parts.chars().take(LONGEST).collect();
    let ids = (FEWEST..digest.len()).map(|length| format!("{name}-{}", &digest[..length]));
    ids.into_iter().find(|id| taken.insert(id.clone())).unwrap_or(name)
}

/// The job of these cases with this target. `with_calls` says whether the target reports calls of tools.
pub fn job_document(name: &str, target: &Value, drafts: &[Draft], with_calls: bool) -> Value {
    let with_calls = with_calls && drafts.iter().any(|draft| draft.situation.calls.is_some());
    let mut metrics = vec![json!("tasks")];
    if with_calls {
        // The agent may look something up before, and fill in what the user did not say.
        let options = json!({ "order": "anyOrder", "count": "subset", "extraArgs": true, "tolerance": 0.01 });
        metrics.push(json!({ "trajectory": options }));
    }
    let cases: Vec<Value> = drafts.iter().map(|draft| case(draft, with_calls)).collect();
    json!({ "name": name, "target": target, "isolation": "user", "metrics": metrics, "cases": cases })
}

fn case(draft: &Draft, with_calls: bool) -> Value {
    let Draft { id, persona, wish, situation } = draft;
    let mut case = Map::new();
    let mut add = |key: &str, value: Value| case.insert(key.to_owned(), value);
    add("id", json!(id));
    if let Some(persona) = persona {
        add("persona", json!(persona));
    }
    add("tasks", json!([{ "task": wish, "acceptanceCriteria": situation.outcome }]));
    if !situation.facts.is_empty() {
        add("facts", json!(situation.facts));
    }
    if let Some(condition) = situation.condition {
        add("conditions", json!([condition]));
    }
    if let Some(calls) = situation.calls.as_ref().filter(|_| with_calls) {
        add("expected", json!({ "calls": calls }));
    }
    Value::Object(case)
}
