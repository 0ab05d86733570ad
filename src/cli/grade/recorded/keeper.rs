//! Grades recorded conversations one by one, and keeps them in a journal.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::super::super::args::GradeArgs;
use super::super::super::context::Context;
use super::super::super::error::CliError;
use super::super::super::jobs::Loaded;
use super::super::super::recordings::{ReadConversation, RecordedConversations};
use super::super::super::run::runtime;
use super::super::again::{can_be_judged, render, without_reply};
use super::super::not_compared;
use super::expected::{LargeFile, cases_of, templates_for};
use super::kept::Kept;
use super::script_match::broken;
use super::trials::Trials;
use crate::dataset::{LargeDataset, Recorded};
use crate::evidence::{Evidence, Judgement, TrialId, Turn};
use crate::grade::{self, GradeInput};
use crate::job::{Case, Problems, User, VerifiedCases};
use crate::money::Price;
use crate::prompt::Templates;
use crate::record::{Entry, FORMAT_VERSION, Provenance};
use crate::run;
use crate::score::{Outcome, Scorecard};

/// How many conversations are written per batch.
const BATCH: usize = 64;

/// Why conversations could not be kept.
pub(super) enum KeepError {
    Journal(std::io::Error),
    Cli(CliError),
}

impl From<std::io::Error> for KeepError {
    fn from(error: std::io::Error) -> KeepError {
        KeepError::Journal(error)
    }
}

/// Cases that are read a few at a time.
pub(super) struct Large<'a> {
    pub(super) large: LargeDataset,
    /// The ids of all its cases.
    pub(super) ids: &'a [String],
}

/// How many cases are lowered per batch.
const CASE_BATCH: usize = 100;

/// Grades recorded conversations and keeps their records.
pub(super) struct RecordedGrader<'a> {
    pub(super) kept: Kept,
    pub(super) args: &'a GradeArgs,
    pub(super) context: &'a Context,
    pub(super) loaded: &'a Loaded,
    /// The job's greetings, for conversations of other systems.
    pub(super) greetings: Vec<String>,
    /// Where users say other things than their cases.
    pub(super) notes: RefCell<Vec<String>>,
    /// Whether the conversations are those of a run of eval-job's.
    pub(super) is_own: bool,
    /// Cancelled when the user interrupts.
    pub(super) interrupt: &'a CancellationToken,
    /// The judge that is asked, where one is: conversations wait for its answers, and the run does not end before.
    pub(super) judge: Option<KeptJudge>,
    /// The trials that wait for a judge, and how they came out without one.
    pub(super) waiting: BTreeMap<u32, Outcome>,
}

/// The judge of a run that is kept.
pub(super) struct KeptJudge {
    /// Its name, as a run has it.
    pub(super) name: String,
    /// The prices of its models, where they are known.
    pub(super) prices: BTreeMap<String, Price>,
}

impl RecordedGrader<'_> {
    /// Keeps a whole run.
    pub(super) fn keep(
        &mut self,
        id: &str,
        held: &RecordedConversations,
        trials: &Trials,
        large: Option<&Large<'_>>,
    ) -> Result<(), KeepError> {
        let runtime = runtime().map_err(KeepError::Cli)?;
        let clock = self.context.clock;
        let Loaded { templates, .. } = self.loaded;
        self.kept.append(Entry::RunStarted {
            version: FORMAT_VERSION,
            id: id.to_owned(),
            at: clock.wall(),
            provenance: Box::new(self.provenance(held, trials)),
            job: self.kept_job(large.is_some()).map(Box::new),
            templates: templates.recorded(self.loaded.job.asks_questions()),
            trials: trials.list.iter().cloned().collect(),
        })?;
        let is_held = match large {
            Some(large) => self.keep_large(held, trials, large, &runtime)?,
            None => self.keep_all(held, trials, &runtime)?,
        };
        let interrupted = self.interrupt.is_cancelled();
        for (id, _) in trials.list.iter().zip(&is_held).filter(|(_, is_held)| !**is_held && !interrupted) {
            let error = "no conversation about this case was recorded".to_owned();
            self.begin(id, None)?;
            self.finish(id.number, Outcome::Broken { error }, None)?;
        }
        if self.judge.is_none() {
            self.end(interrupted)?;
        }
        Ok(runtime.block_on(self.kept.journal().synced())?)
    }

    /// Ends the run.
    pub(super) fn end(&mut self, interrupted: bool) -> std::io::Result<()> {
        let at = self.context.clock.wall();
        let baseline = self.loaded.job.gate.baseline.clone();
        if let Some(check) = baseline.and_then(|name| Some(not_compared(name, self.kept.id()?))) {
            self.kept.append(Entry::BaselineCompared { at, check: Box::new(check) })?;
        }
        self.kept.append(Entry::RunFinished { at, interrupted })
    }

    /// The job as the journal's first line has it: without cases that are kept with their trials.
    fn kept_job(&self, is_large: bool) -> Option<serde_json::Value> {
        let mut job = self.loaded.job.clone();
        if is_large {
            job.cases.clear();
        }
        serde_json::to_value(job).ok()
    }

    /// Reads some cases at a time, and the conversations about them. Returns which trials have one.
    fn keep_large(
        &mut self,
        held: &RecordedConversations,
        trials: &Trials,
        large: &Large<'_>,
        runtime: &Runtime,
    ) -> Result<Vec<bool>, KeepError> {
        let Large { large, ids } = large;
        let mut is_held = vec![false; trials.list.len()];
        let mut of_case: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (key, trial) in trials.of_held.iter().enumerate() {
            let Some(trial) = *trial else { continue };
            of_case.entry(trials.list[trial].case.as_str()).or_default().push((key, trial));
        }
        // Those about the first case, and about the set as a whole, were shown before.
        let templates = templates_for(&self.loaded.file, self.args);
        let file = LargeFile { typed: &self.loaded.file, large, templates: &templates };
        let of_first = cases_of(file, 0..1, self.args, self.context).map_err(KeepError::Cli)?;
        let mut shown: HashSet<String> = of_first.1.into_iter().collect();
        for from in (0..ids.len()).step_by(CASE_BATCH) {
            if self.interrupt.is_cancelled() {
                break;
            }
            let some = from..(from + CASE_BATCH).min(ids.len());
            if !ids[some.clone()].iter().any(|id| of_case.contains_key(id.as_str())) {
                continue;
            }
            let (cases, warnings) = cases_of(file, some, self.args, self.context).map_err(KeepError::Cli)?;
            let new = warnings.into_iter().filter(|warning| shown.insert(warning.clone()));
            self.notes.borrow_mut().extend(new);
            for case in cases {
                for (key, trial) in of_case.get(case.id.as_str()).into_iter().flatten() {
                    let Some(conversation) = held.conversation(*key) else { continue };
                    is_held[*trial] = true;
                    self.keep_one(&trials.list[*trial], Some(&case), &case, conversation)?;
                }
            }
            runtime.block_on(self.kept.journal().written())?;
        }
        Ok(is_held)
    }

    /// Reads one conversation at a time; the cases are there. Returns which trials have one.
    fn keep_all(
        &mut self,
        held: &RecordedConversations,
        trials: &Trials,
        runtime: &Runtime,
    ) -> Result<Vec<bool>, KeepError> {
        let mut is_held = vec![false; trials.list.len()];
        let job = &self.loaded.job;
        let cases: HashMap<&str, &Arc<Case>> = job.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        for (number, (conversation, trial)) in held.conversations().zip(&trials.of_held).enumerate() {
            if self.interrupt.is_cancelled() {
                break;
            }
            let Some(trial) = *trial else { continue };
            let conversation = conversation.map_err(|error| KeepError::Cli(error.into()))?;
            let (id, case) = (&trials.list[trial], cases[trials.list[trial].case.as_str()]);
            is_held[trial] = true;
            self.keep_one(id, None, case, conversation)?;
            if number % BATCH == BATCH - 1 {
                runtime.block_on(self.kept.journal().written())?;
            }
        }
        Ok(is_held)
    }

    fn provenance(&self, held: &RecordedConversations, trials: &Trials) -> Provenance {
        const NAMED: usize = 2;
        let Loaded { file, job, selection, .. } = self.loaded;
        let more = held.files.len().saturating_sub(NAMED);
        let named = held.files.iter().take(NAMED).cloned().collect::<Vec<_>>().join(" and ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Provenance {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            job: job.name.clone(),
            job_file: file.clone(),
            selection: selection.as_ref().map(|it| it.text.clone()),
            job_digest: job.digest.clone(),
            agent: format!("recorded in {named}{more}"),
            recorded: held.files.clone(),
            models: trials.models.clone(),
            persona: job.persona.name.clone(),
            persona_model: "recorded".to_owned(),
            judge_model: self.judge.as_ref().map_or("none", |judge| &judge.name).to_owned(),
            prices: self.judge.as_ref().map(|judge| judge.prices.clone()).unwrap_or_default(),
            max_turns: job.max_turns,
            min_score: job.gate.min_score,
            gate: job.gate.rules(),
            vacuous: job.gate.vacuous,
            verified_at_random: job.judge.verified_cases == VerifiedCases::Random,
            canaries: None,
            ..Provenance::default()
        }
    }

    fn begin(&mut self, id: &TrialId, case: Option<&Case>) -> std::io::Result<()> {
        self.kept.begin(id.number, self.context.clock.wall(), case)
    }

    pub(super) fn finish(&mut self, trial: u32, outcome: Outcome, scorecard: Option<Scorecard>) -> std::io::Result<()> {
        let at = self.context.clock.wall();
        self.kept.append(Entry::TrialFinished { trial, at, outcome, scorecard })
    }

    /// Grades and keeps a conversation; its case too, where the job does not hold it.
    fn keep_one(
        &mut self,
        id: &TrialId,
        kept: Option<&Case>,
        case: &Case,
        conversation: ReadConversation,
    ) -> std::io::Result<()> {
        self.begin(id, kept)?;
        let (evidence, outcome) = match conversation {
            ReadConversation::Recorded(Err(problems)) => (None, broken(first_of(&problems))),
            ReadConversation::Recorded(Ok(recorded)) => self.evidence_of(*recorded, id, case),
            ReadConversation::Own(trial) => {
                // Whether a judge failed then, or was interrupted, is nothing to this grading.
                let is_judgeable = can_be_judged(&trial);
                let outcome = match trial.outcome {
                    Some(outcome) if outcome.counts() || !is_judgeable => outcome,
                    None if !is_judgeable => broken("the conversation was cut off".to_owned()),
                    _ => Outcome::Graded,
                };
                let renamed = |it| Evidence { model: id.model.clone(), condition: id.condition, ..it };
                (trial.evidence.map(renamed), outcome)
            }
        };
        let evidence = evidence.map(|it| Evidence { fact_uses: run::fact_uses(case, &it.transcript), ..it });
        let outcome = match &evidence {
            Some(evidence) if outcome.counts() => self.outcome_by_script(evidence, id, case).unwrap_or(outcome),
            _ => outcome,
        };
        let waits = self.judge.is_some() && outcome.counts();
        let counted = evidence.as_ref().filter(|_| outcome.counts() && !waits);
        let scorecard = counted.map(|evidence| self.unjudged(case, evidence));
        if waits && evidence.is_some() {
            self.waiting.insert(id.number, outcome);
            return evidence.map_or(Ok(()), |evidence| self.keep_evidence(id.number, evidence));
        }
        if let Some(evidence) = evidence {
            self.keep_evidence(id.number, evidence)?;
        }
        self.finish(id.number, outcome, scorecard)
    }

    /// The scores of a conversation about which no judge was asked.
    pub(super) fn unjudged(&self, case: &Case, evidence: &Evidence) -> Scorecard {
        let input = GradeInput { job: &self.loaded.job, case, evidence, clock: self.context.clock };
        grade::grade(input, &unasked(input, &self.loaded.templates))
    }

    fn evidence_of(&self, recorded: Recorded, id: &TrialId, case: &Case) -> (Option<Evidence>, Outcome) {
        if recorded.turns.is_empty() {
            let why = recorded.error.map(|error| format!(": {error}")).unwrap_or_default();
            return (None, broken(format!("no turn of this conversation was recorded{why}")));
        }
        let mut evidence = recorded.into_evidence(id);
        self.set_greeting_apart(&mut evidence.transcript.turns, case);
        let outcome = grade::outcome(&evidence.ending, &[], &self.loaded.job);
        (Some(evidence), outcome)
    }

    /// A conversation that begins with one of the job's greetings was run as eval-job holds it: the script begins after it.
    fn set_greeting_apart(&self, turns: &mut [Turn], case: &Case) {
        let User::Lines(lines) = &case.user else { return };
        let (Some(first), Some(line)) = (turns.first(), lines.first()) else { return };
        if first.number == 1 && first.user != line.say && self.greetings.contains(&first.user) {
            turns.iter_mut().zip(0..).for_each(|(turn, number)| turn.number = number);
        }
    }

    fn keep_evidence(&mut self, trial: u32, evidence: Evidence) -> std::io::Result<()> {
        let Evidence { session_id, user, transcript, .. } = evidence;
        self.kept.append(Entry::SessionOpened { trial, session_id, user })?;
        if let (Some(before), Some(empty)) = (evidence.before, evidence.empty) {
            self.kept.append(Entry::LookedBefore { trial, before, empty })?;
        }
        for fault in evidence.persona_faults {
            self.kept.append(Entry::PersonaFaulted { trial, fault })?;
        }
        for call in evidence.user_tool_calls {
            self.kept.append(Entry::UserToolCalled { trial, call })?;
        }
        for turn in transcript.turns {
            self.kept.append(Entry::TurnFinished { trial, turn, resume_point: None })?;
        }
        self.kept.append(Entry::ConversationEnded {
            trial,
            ending: evidence.ending,
            object_context: evidence.object_context,
            queries: evidence.queries,
            changes: evidence.changes,
            persona_usage: evidence.persona_usage,
            persona_notes: evidence.persona_notes,
            fact_uses: evidence.fact_uses,
        })?;
        Ok(())
    }
}

/// The first of these problems, with its place.
fn first_of(problems: &Problems) -> String {
    let with_place = |problem: &crate::job::Problem| {
        format!("{}:{}:{}: {}", problem.file, problem.line, problem.column, problem.message)
    };
    problems.list.first().map(with_place).unwrap_or_default()
}

/// A judgement without a reply for each question of the job's metrics, where neither judge nor embeddings were asked.
fn unasked(trial: GradeInput<'_>, templates: &Templates) -> Vec<Judgement> {
    if trial.job.judges().next().is_none() && trial.job.embeddings().is_none() {
        return Vec::new();
    }
    let questions = render(trial, templates).unwrap_or_default();
    let why = "no judge was asked; --scorer-model MODEL asks one";
    let mut known: BTreeMap<String, Judgement> = BTreeMap::new();
    for question in questions {
        known.entry(question.id.clone()).or_insert_with(|| without_reply(&question.id, why));
    }
    known.into_values().collect()
}
