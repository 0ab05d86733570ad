//! Merges the runs of the parts of one job: what their first entries add up to, and the numbers that their trials get.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::part_differences::{NO_JUDGE, NO_PERSONA, differences};
use super::{Entry, FORMAT_VERSION, MergedPart, MergedParts, MissingPart, Provenance, RunPart};
use crate::evidence::TrialId;

/// How a run began: its first entry.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStart {
    /// The run's id.
    pub id: String,
    /// When it started.
    pub at: DateTime<Utc>,
    /// Its provenance.
    pub provenance: Provenance,
    pub(super) job: Option<Value>,
    pub(super) templates: BTreeMap<String, String>,
    pub(super) trials: Vec<TrialId>,
}

impl RunStart {
    /// Reads the run's start from a journal's first entry; `None` for any other entry.
    pub fn from_entry(entry: Entry) -> Option<RunStart> {
        let Entry::RunStarted { id, at, provenance, job, templates, trials, .. } = entry else { return None };
        let trials = trials.iter().collect();
        Some(RunStart { id, at, provenance: *provenance, job: job.map(|job| *job), templates, trials })
    }

    /// Whether it is of the same job as another run: of the same name in the same file.
    pub fn is_of_same_job(&self, other: &RunStart) -> bool {
        let [own, other] = [self, other].map(|it| (&it.provenance.job, &it.provenance.job_file));
        own == other
    }
}

/// Why runs can't be merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// A run is no part.
    #[error("run {run} is no part of a suite: it was made without --partition")]
    NoPart {
        /// Its id.
        run: String,
    },
    /// Two runs were not made with the same.
    #[error("run {run} can't be merged with run {first}: they differ in {}", .what.join(", "))]
    Differs {
        /// The id of the first run.
        first: String,
        /// The id of the other.
        run: String,
        /// The difference.
        what: Vec<String>,
    },
    /// Two runs hold the same cases.
    #[error("runs {first} and {run} are both part {part} of {of}")]
    Overlaps {
        /// The id of the first run.
        first: String,
        /// The id of the other.
        run: String,
        /// The part.
        part: u32,
        /// How many parts there are.
        of: u32,
    },
    /// The trials of a run are not those of its part.
    #[error("run {run} can't be merged: {what}")]
    Unusable {
        /// Its id.
        run: String,
        /// The problem, in a sentence.
        what: &'static str,
    },
}

/// The merged runs of the parts of one job.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    beginning: RunStart,
    /// The runs in the order of their parts, by their places among those that were given.
    pub order: Vec<usize>,
    /// The new number of each trial, in the order of the runs that were given.
    pub numbers: Vec<BTreeMap<u32, u32>>,
}

impl Merge {
    /// Plans the merge of the parts of one job, given in any order. `runs` must not be empty.
    ///
    /// # Errors
    /// Why they can't be merged.
    pub fn new(runs: &[RunStart]) -> Result<Merge, MergeError> {
        let parts = runs.iter().map(checked_part).collect::<Result<Vec<&RunPart>, _>>()?;
        let mut order: Vec<usize> = (0..runs.len()).collect();
        order.sort_by_key(|at| parts[*at].number);
        let (first, part) = (&runs[order[0]], parts[order[0]]);
        // All that the parts before say: a part has only what its own cases need.
        let mut known = first.clone();
        for pair in order.windows(2) {
            let (one, other) = (&runs[pair[0]], &runs[pair[1]]);
            let what = differences(&known, other);
            if !what.is_empty() {
                return Err(MergeError::Differs { first: first.id.clone(), run: other.id.clone(), what });
            }
            let (number, of) = (parts[pair[1]].number, part.of);
            if parts[pair[0]].number == number {
                return Err(MergeError::Overlaps { first: one.id.clone(), run: other.id.clone(), part: number, of });
            }
            known.templates.extend(other.templates.clone());
            known.provenance.add_models_and_prompts(&other.provenance);
        }
        let (trials, numbers) = numbered(runs, &parts);
        let in_order: Vec<&RunStart> = order.iter().map(|at| &runs[*at]).collect();
        let provenance = provenance(&in_order, part);
        let at = runs.iter().map(|run| run.at).min().unwrap_or(first.at);
        let job = merged_job(runs, &parts);
        let templates = runs.iter().flat_map(|run| run.templates.clone()).collect();
        let beginning = RunStart { id: String::new(), at, provenance, job, templates, trials };
        Ok(Merge { beginning, order, numbers })
    }

    /// The provenance of the merged run.
    pub fn provenance(&self) -> &Provenance {
        &self.beginning.provenance
    }

    /// When its first part began.
    pub fn started_at(&self) -> DateTime<Utc> {
        self.beginning.at
    }

    /// The first entry of the merged run.
    pub fn entry(self, id: String) -> Entry {
        let RunStart { at, provenance, job, templates, trials, .. } = self.beginning;
        let (provenance, job) = (Box::new(provenance), job.map(Box::new));
        let trials = trials.into_iter().collect();
        Entry::RunStarted { version: FORMAT_VERSION, id, at, provenance, job, templates, trials }
    }
}

/// The part that a run is, if it holds what that says.
fn checked_part(run: &RunStart) -> Result<&RunPart, MergeError> {
    let part = run.provenance.part.as_ref().ok_or_else(|| MergeError::NoPart { run: run.id.clone() })?;
    let unusable = |what| Err(MergeError::Unusable { run: run.id.clone(), what });
    let sizes = [part.cases.len(), part.suite.len()];
    let own = part.number.checked_sub(1).and_then(|at| part.cases.get(at as usize));
    if sizes != [part.of as usize; 2] || own.is_none_or(|own| *own as usize != part.places.len()) {
        return unusable("its record says something impossible of its part");
    }
    let cases = cases_of(run);
    if cases.len() != part.places.len() {
        return unusable("it was kept without its job, or with other cases than its part has");
    }
    let known: BTreeSet<&str> = cases.iter().filter_map(|case| case["id"].as_str()).collect();
    match run.trials.iter().all(|trial| known.contains(trial.case.as_str())) {
        true => Ok(part),
        false => unusable("it holds conversations about cases that its job does not have"),
    }
}

fn cases_of(run: &RunStart) -> &[Value] {
    run.job.as_ref().and_then(|job| job["cases"].as_array()).map(Vec::as_slice).unwrap_or_default()
}

/// All trials in the order of the whole job, repetition by repetition, and the new number of each by its run and its old one.
fn numbered(runs: &[RunStart], parts: &[&RunPart]) -> (Vec<TrialId>, Vec<BTreeMap<u32, u32>>) {
    let mut all: Vec<(u32, u32, usize, usize)> = Vec::new();
    for (run, (beginning, part)) in runs.iter().zip(parts).enumerate() {
        let ids = cases_of(beginning).iter().filter_map(|case| case["id"].as_str());
        let places: BTreeMap<&str, u32> = ids.zip(part.places.iter().copied()).collect();
        for (at, trial) in beginning.trials.iter().enumerate() {
            all.push((trial.repeat, places.get(trial.case.as_str()).copied().unwrap_or_default(), run, at));
        }
    }
    all.sort_unstable();
    let mut numbers = vec![BTreeMap::new(); runs.len()];
    let renumbered = all.into_iter().zip(1..).map(|((.., run, at), number)| {
        let trial = &runs[run].trials[at];
        numbers[run].insert(trial.number, number);
        TrialId { number, ..trial.clone() }
    });
    (renumbered.collect(), numbers)
}

/// The job with the cases of all parts, in their order.
fn merged_job(runs: &[RunStart], parts: &[&RunPart]) -> Option<Value> {
    let placed = runs.iter().zip(parts).flat_map(|(run, part)| part.places.iter().zip(cases_of(run)));
    let cases: BTreeMap<u32, &Value> = placed.map(|(place, case)| (*place, case)).collect();
    let mut job = runs.first()?.job.clone()?;
    job["cases"] = cases.into_values().cloned().collect();
    Some(job)
}

/// The provenance of the merged run: that which all runs share, and the parts of their own put together.
fn provenance(runs: &[&RunStart], part: &RunPart) -> Provenance {
    let there =
        |number: &u32| runs.iter().any(|run| run.provenance.part.as_ref().is_some_and(|it| it.number == *number));
    let lacks = |(number, cases): (u32, u32)| (cases > 0 && !there(&number)).then_some((number, cases));
    let missing = (1..).zip(part.cases.iter().copied()).filter_map(lacks);
    let merged_part = |run: &&RunStart| MergedPart {
        part: run.provenance.part.as_ref().map_or(0, |part| part.number),
        run: run.id.clone(),
        rng_seed: run.provenance.rng_seed,
    };
    let merged = MergedParts {
        of: part.of,
        parts: runs.iter().map(merged_part).collect(),
        missing: missing.map(|(part, cases)| MissingPart { part, cases }).collect(),
    };
    let mut all = runs[0].provenance.clone();
    for other in runs[1..].iter().map(|run| &run.provenance) {
        all.prices.extend(other.prices.clone());
        all.add_models_and_prompts(other);
        for persona in &other.personas {
            if !all.personas.contains(persona) {
                all.personas.push(persona.clone());
            }
        }
        all.reviewer_model = all.reviewer_model.or_else(|| other.reviewer_model.clone());
        all.trivial_score = all.trivial_score.zip(other.trivial_score).map(|(one, other)| one.max(other));
        if let (Some(sum), Some(other)) = (&mut all.canaries, &other.canaries) {
            sum.usage = sum.usage.plus(other.usage);
            sum.cost = sum.cost.zip(other.cost).map(|(one, other)| one.plus(other));
        }
        if let (Some(sum), Some(other)) = (&mut all.steps, &other.steps) {
            sum.usage = sum.usage.plus(other.usage);
            sum.cost = sum.cost.zip(other.cost).map(|(one, other)| one.plus(other));
        }
    }
    let joined = |of: fn(&Provenance) -> Option<&String>| {
        let mut texts: Vec<&String> = Vec::new();
        for text in runs.iter().filter_map(|run| of(&run.provenance)) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts.into_iter().cloned().collect::<Vec<_>>().join(" and ")
    };
    all.agent = joined(|it| Some(&it.agent));
    all.model_endpoint = Some(joined(|it| it.model_endpoint.as_ref())).filter(|endpoint| !endpoint.is_empty());
    Provenance { selection: part.selection.clone(), part: None, merged: Some(merged), ..all }
}

impl Provenance {
    /// Adds what another part names and this one does not: a part without a persona, or without questions to the judge, names none.
    fn add_models_and_prompts(&mut self, other: &Provenance) {
        for prompt in &other.prompts {
            if !self.prompts.contains(prompt) {
                self.prompts.push(prompt.clone());
            }
        }
        if self.persona_model == NO_PERSONA {
            self.persona_model.clone_from(&other.persona_model);
        }
        if self.judge_model == NO_JUDGE {
            self.judge_model.clone_from(&other.judge_model);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::PromptDigest;

    /// Part `number` of two, with one case.
    fn part(number: u32, persona: &str, prompts: &[(&str, &str)]) -> RunStart {
        let case = format!("c{number}");
        let digest =
            |(name, digest): &(&str, &str)| PromptDigest { name: (*name).to_owned(), digest: (*digest).to_owned() };
        let provenance = Provenance {
            part: Some(RunPart {
                number,
                of: 2,
                places: vec![number - 1],
                cases: vec![1, 1],
                suite: vec![1, 1],
                selection: None,
            }),
            persona_model: persona.to_owned(),
            prompts: prompts.iter().map(digest).collect(),
            ..Provenance::default()
        };
        RunStart {
            id: format!("run{number}"),
            at: DateTime::UNIX_EPOCH,
            provenance,
            job: Some(json!({"name": "j", "cases": [{"id": case}]})),
            templates: BTreeMap::new(),
            trials: Vec::new(),
        }
    }

    #[test]
    fn a_part_of_scripted_cases_names_no_persona() {
        let prompts = [("persona", "1"), ("judge", "2")];
        let (scripted, played) = (part(1, NO_PERSONA, &prompts[1..]), part(2, "openai/a", &prompts));
        let merged = Merge::new(&[scripted.clone(), played]).unwrap();
        assert_eq!(merged.provenance().persona_model, "openai/a");
        assert_eq!(merged.provenance().prompts.len(), 2);
        let differs = |one: RunStart, other: RunStart| Merge::new(&[one, other]).unwrap_err().to_string();
        let other_judge = part(2, "openai/a", &[("persona", "1"), ("judge", "3")]);
        assert!(differs(scripted, other_judge).ends_with("differ in the prompts"));
        let (one, other) = (part(1, "openai/a", &prompts), part(2, "openai/b", &prompts));
        assert!(differs(one, other).ends_with("differ in the persona's model"));
    }

    #[test]
    fn each_part_is_compared_with_all_before_it() {
        let of_three = |number: u32, persona: &str, prompt: Option<&str>| {
            let mut it =
                part(number, persona, &prompt.map(|digest| ("persona", digest)).into_iter().collect::<Vec<_>>());
            let own = it.provenance.part.as_mut().unwrap();
            (own.of, own.cases, own.suite) = (3, vec![1; 3], vec![1; 3]);
            it.templates.extend(prompt.map(|text| ("persona".to_owned(), text.to_owned())));
            it
        };
        let scripted = of_three(1, NO_PERSONA, None);
        let merged = |prompt: &str, persona: &str| {
            let parts = [scripted.clone(), of_three(2, "openai/a", Some("1")), of_three(3, persona, Some(prompt))];
            Merge::new(&parts).map(|merge| merge.provenance().prompts.len()).map_err(|error| error.to_string())
        };
        assert_eq!(merged("1", "openai/a"), Ok(1));
        assert!(merged("2", "openai/a").unwrap_err().ends_with("differ in the prompts"));
        assert!(merged("1", "openai/b").unwrap_err().ends_with("differ in the persona's model"));
    }
}
