//! The trials of a run of recorded conversations.

use std::collections::{HashMap, HashSet};

use super::super::super::recordings::RecordedConversations;
use crate::evidence::{Condition, TrialId};
use crate::job::{Case, Job};

/// The agent's model where the recording names none.
const MODEL: &str = "recorded";

/// The trials of a run.
pub(super) struct Trials {
    /// In the order of the plan.
    pub(super) list: Vec<TrialId>,
    /// The trial of each conversation, by its place in the list.
    pub(super) of_held: Vec<Option<usize>>,
    /// The agent's models.
    pub(super) models: Vec<String>,
}

impl Trials {
    /// A trial for each conversation, and one for each case that there is none of; of runs of eval-job's, where each model has all
    /// cases, one for each case and model. Several conversations of a case and a
    /// model are repeats.
    pub(super) fn new(job: &Job, held: &RecordedConversations, case_of: &[Option<usize>], ids: &[String]) -> Trials {
        let places: HashMap<&str, usize> =
            job.cases.iter().enumerate().map(|(place, case)| (case.id.as_str(), place)).collect();
        let mut models: Vec<String> = Vec::new();
        let mut trials: Vec<(usize, usize, TrialId, Option<usize>)> = Vec::new();
        let mut repeats: HashMap<(usize, usize, Condition), u32> = HashMap::new();
        for (at, (held, case)) in held.keys.iter().zip(case_of).enumerate() {
            // A case that is not selected has no place.
            let Some(place) = case.and_then(|case| places.get(ids[case].as_str()).copied()) else { continue };
            let model =
                held.own.as_ref().map(|own| &own.model).or(held.key.model.as_ref()).map_or(MODEL, String::as_str);
            let model = models.iter().position(|known| known == model).unwrap_or_else(|| {
                models.push(model.to_owned());
                models.len() - 1
            });
            let condition = held.own.as_ref().map_or_else(|| condition_of(&job.cases[place]), |own| own.condition);
            let repeat = repeats.entry((place, model, condition)).or_insert(0);
            *repeat += 1;
            trials.push((place, model, trial(&job.cases[place], &models[model], condition, *repeat), Some(at)));
        }
        if models.is_empty() {
            models.push(MODEL.to_owned());
        }
        let is_own = held.keys.iter().any(|held| held.own.is_some());
        let known: HashSet<(usize, usize)> = trials
            .iter()
            .flat_map(|(place, own, ..)| {
                (0..models.len()).map(move |model| (*place, if is_own { *own } else { model }))
            })
            .collect();
        for (place, case) in job.cases.iter().enumerate() {
            for (at, model) in models.iter().enumerate().filter(|(at, _)| !known.contains(&(place, *at))) {
                trials.push((place, at, trial(case, model, condition_of(case), 1), None));
            }
        }
        trials.sort_by_key(|(place, model, id, _)| (id.repeat, *place, *model, id.condition));
        let mut of_held = vec![None; held.keys.len()];
        let mut list = Vec::with_capacity(trials.len());
        for (_, _, id, at) in trials {
            if let Some(at) = at {
                of_held[at] = Some(list.len());
            }
            list.push(TrialId { number: u32::try_from(list.len() + 1).unwrap_or(u32::MAX), ..id });
        }
        Trials { list, of_held, models }
    }
}

fn trial(case: &Case, model: &str, condition: Condition, repeat: u32) -> TrialId {
    TrialId { number: 0, case: case.id.clone(), model: model.to_owned(), condition, repeat }
}

/// The condition of a conversation without information on what its user knew.
fn condition_of(case: &Case) -> Condition {
    case.conditions.first().copied().unwrap_or(Condition::WithoutFacts)
}
