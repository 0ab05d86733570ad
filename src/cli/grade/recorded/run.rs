//! Recorded conversations of a job as a run: graded one by one, and kept in a journal like any other.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use super::super::super::args::GradeArgs;
use super::super::super::context::Context;
use super::super::super::error::CliError;
use super::super::super::held::{Conversation, Held};
use super::super::super::jobs::Loaded;
use super::super::super::outputs::{OutputRun, StoredPrompts};
use super::super::super::printer::Printer;
use super::super::super::run::runtime;
use super::super::again::{render, without_reply};
use crate::dataset::Recorded;
use crate::evidence::{Condition, Evidence, Judgement, TrialId, Turn};
use crate::grade::{self, GradeInput};
use crate::job::{Case, Job, Problems, User};
use crate::prompt::Templates;
use crate::record::{Entry, FORMAT_VERSION, Overview, Provenance, Verdict};
use crate::report::{self, Gathered};
use crate::score::Outcome;
use crate::store::folder::{Journal, JournalFile, NewRun, RunsFolder};
use crate::store::{Store, StoredRun};

/// The agent's model in runs of which nobody knows it.
const MODEL: &str = "recorded";

/// So many conversations are written at once.
const AT_ONCE: usize = 64;

/// A job, and the case of each conversation.
pub(super) struct Matched {
    pub(super) loaded: Loaded,
    /// The place of each conversation's case in `ids`.
    pub(super) case_of: Vec<Option<usize>>,
    /// The ids of all its cases, those included that are not selected.
    pub(super) ids: Vec<String>,
}

/// A run that was kept.
pub(super) struct RecordedRun {
    /// As it was read back; `None` once it was handed on.
    pub(super) stored: Option<JournalFile>,
    id: String,
    folder: PathBuf,
    read: Option<(Overview, Gathered, StoredPrompts)>,
}

/// Grades a job's conversations, and keeps them as a run.
pub(super) fn keep(
    matched: Matched,
    held: &Held,
    (args, context): (&GradeArgs, &Context),
) -> Result<RecordedRun, CliError> {
    let Matched { mut loaded, case_of, ids } = matched;
    loaded.job.gate.min_score = args.recorded.min_score.or(loaded.job.gate.min_score);
    let greetings = match held.keys.iter().any(|held| held.own.is_some()) {
        true => Vec::new(),
        // Nobody knows of our greetings elsewhere: the first message is the first line.
        false => std::mem::take(&mut loaded.job.greetings),
    };
    let trials = Trials::new(&loaded.job, held, &case_of, &ids);
    let mut chance = fastrand::Rng::with_seed(Context::random());
    let runs = RunsFolder::at(&args.runs_dir.runs_dir);
    let created = runs.create(&loaded.job.name, context.clock.wall(), &mut chance);
    let NewRun { id, folder, journal } = created.map_err(CliError::NoRunsFolder)?;
    let journal = journal.with_redactor(context.redactor().clone());
    let keeper = Keeper { journal, context, loaded: &loaded, greetings };
    let kept = keeper.keep(&id, held, &trials);
    kept.map_err(|error| match error {
        KeepError::Journal(source) => {
            CliError::Journal { folder: folder.clone(), source, show: Some(show_command(&id, args)) }
        }
        KeepError::Cli(error) => error,
    })?;
    let mut stored = JournalFile::from_journal(&folder, &keeper.journal);
    let mut gathered = Gathered::default();
    let overview = stored.read(|group, trial| gathered.add(group, trial))?;
    stored.write_summary(&overview.summary)?;
    let prompts = StoredPrompts::from_run(&stored, context.clock);
    Ok(RecordedRun { stored: Some(stored), id, folder, read: Some((overview, gathered, prompts)) })
}

impl RecordedRun {
    /// Shows it, and returns its verdict.
    pub(super) fn show(&self, context: &Context, printer: &Printer) -> Result<Verdict, CliError> {
        let Some((overview, gathered, _)) = &self.read else { return Ok(Verdict::Incomplete) };
        printer.data(&report::terminal(overview, gathered, context.screen(false)))?;
        Ok(overview.summary.verdict)
    }

    /// Where it is, and how it is shown again.
    pub(super) fn kept_words(&self, args: &GradeArgs) -> String {
        format!("kept in {}\nshow it again: {}", self.folder.display(), show_command(&self.id, args))
    }

    /// For the files of `-o`.
    pub(super) fn output(&self) -> Option<OutputRun<'_, JournalFile>> {
        let (overview, _, prompts) = self.read.as_ref()?;
        Some(OutputRun { run: self.stored.as_ref()?, prompts, overview })
    }
}

fn show_command(id: &str, args: &GradeArgs) -> String {
    let runs = &args.runs_dir.runs_dir;
    let elsewhere = runs.as_os_str() != "runs";
    let runs = if elsewhere { format!(" --runs-dir {}", runs.display()) } else { String::new() };
    format!("eval-job show {id}{runs}")
}

/// The trials of a run.
struct Trials {
    /// In the order of the plan.
    list: Vec<TrialId>,
    /// The trial of each conversation, by its place in the list.
    of_held: Vec<Option<usize>>,
    models: Vec<String>,
}

impl Trials {
    /// A trial for each conversation, and one for each case and model that there is none of. Several conversations of a case and a
    /// model are repeats.
    fn new(job: &Job, held: &Held, case_of: &[Option<usize>], ids: &[String]) -> Trials {
        let places: HashMap<&str, usize> =
            job.cases.iter().enumerate().map(|(place, case)| (case.id.as_str(), place)).collect();
        let mut models: Vec<String> = Vec::new();
        let mut trials: Vec<(usize, usize, TrialId, Option<usize>)> = Vec::new();
        let mut repeats: HashMap<(usize, usize, Condition), u32> = HashMap::new();
        for (at, (held, case)) in held.keys.iter().zip(case_of).enumerate() {
            // A case that is not selected has no place.
            let Some(place) = case.and_then(|case| places.get(ids[case].as_str()).copied()) else { continue };
            let model = held.own.as_ref().map_or(MODEL, |own| own.model.as_str());
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
        let known: std::collections::HashSet<(usize, usize)> =
            trials.iter().map(|(place, model, ..)| (*place, *model)).collect();
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

/// The condition of a conversation of which nobody says what its user knew.
fn condition_of(case: &Case) -> Condition {
    case.conditions.first().copied().unwrap_or(Condition::WithoutFacts)
}

/// Why conversations could not be kept.
enum KeepError {
    Journal(std::io::Error),
    Cli(CliError),
}

impl From<std::io::Error> for KeepError {
    fn from(error: std::io::Error) -> KeepError {
        KeepError::Journal(error)
    }
}

/// Grades and keeps.
struct Keeper<'a> {
    journal: Journal,
    context: &'a Context,
    loaded: &'a Loaded,
    /// The job's greetings, where the conversations are somebody else's.
    greetings: Vec<String>,
}

impl Keeper<'_> {
    fn keep(&self, id: &str, held: &Held, trials: &Trials) -> Result<(), KeepError> {
        let runtime = runtime().map_err(KeepError::Cli)?;
        let clock = self.context.clock;
        let Loaded { job, templates, .. } = self.loaded;
        self.journal.append(&Entry::RunStarted {
            version: FORMAT_VERSION,
            id: id.to_owned(),
            at: clock.wall(),
            provenance: Box::new(self.provenance(held, trials)),
            job: serde_json::to_value(job).ok().map(Box::new),
            templates: templates.sources().clone(),
            trials: trials.list.clone(),
        })?;
        let cases: HashMap<&str, &Arc<Case>> = job.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        let mut is_held = vec![false; trials.list.len()];
        for (number, (conversation, trial)) in held.conversations().zip(&trials.of_held).enumerate() {
            let Some(trial) = *trial else { continue };
            let conversation = conversation.map_err(|error| KeepError::Cli(error.into()))?;
            let (id, case) = (&trials.list[trial], cases[trials.list[trial].case.as_str()]);
            is_held[trial] = true;
            self.keep_one(id, case, conversation)?;
            if number % AT_ONCE == AT_ONCE - 1 {
                runtime.block_on(self.journal.written())?;
            }
        }
        for (id, _) in trials.list.iter().zip(&is_held).filter(|(_, is_held)| !**is_held) {
            let error = "no conversation about this case was recorded".to_owned();
            self.begin(id)?;
            self.finish(id, Outcome::Broken { error }, None)?;
        }
        self.journal.append(&Entry::RunFinished { at: clock.wall(), interrupted: false })?;
        Ok(runtime.block_on(self.journal.synced())?)
    }

    fn provenance(&self, held: &Held, trials: &Trials) -> Provenance {
        const NAMED: usize = 2;
        let Loaded { file, job, selection, .. } = self.loaded;
        let more = held.files.len().saturating_sub(NAMED);
        let named = held.files.iter().take(NAMED).cloned().collect::<Vec<_>>().join(" and ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Provenance {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            job: job.name.clone(),
            job_file: file.clone(),
            selection: selection.clone(),
            job_digest: job.digest.clone(),
            agent: format!("recorded in {named}{more}"),
            recorded: held.files.clone(),
            models: trials.models.clone(),
            persona: job.persona.name.clone(),
            persona_model: "recorded".to_owned(),
            judge_model: "none".to_owned(),
            max_turns: job.max_turns,
            min_score: job.gate.min_score,
            vacuous: job.gate.vacuous,
            ..Provenance::default()
        }
    }

    fn begin(&self, id: &TrialId) -> std::io::Result<()> {
        self.journal.append(&Entry::TrialStarted { trial: id.number, at: self.context.clock.wall() }).map(drop)
    }

    fn finish(
        &self,
        id: &TrialId,
        outcome: Outcome,
        scorecard: Option<crate::score::Scorecard>,
    ) -> std::io::Result<()> {
        let at = self.context.clock.wall();
        self.journal.append(&Entry::TrialFinished { trial: id.number, at, outcome, scorecard }).map(drop)
    }

    fn keep_one(&self, id: &TrialId, case: &Case, conversation: Conversation) -> std::io::Result<()> {
        self.begin(id)?;
        let (evidence, outcome) = match conversation {
            Conversation::Recorded(Err(problems)) => (None, broken(first_of(&problems))),
            Conversation::Recorded(Ok(recorded)) => self.evidence_of(recorded, id, case),
            Conversation::Own(trial) => {
                let outcome = trial.outcome.unwrap_or_else(|| broken("the conversation was cut off".to_owned()));
                // Whether a judge failed then is nothing to this grading.
                let outcome = if matches!(outcome, Outcome::JudgeFailed { .. }) { Outcome::Graded } else { outcome };
                let renamed = |it| Evidence { model: id.model.clone(), condition: id.condition, ..it };
                (trial.evidence.map(renamed), outcome)
            }
        };
        let scorecard = evidence.as_ref().filter(|_| outcome.counts()).map(|evidence| {
            let input = GradeInput { job: &self.loaded.job, case, evidence, clock: self.context.clock };
            grade::grade(input, &unasked(input, &self.loaded.templates))
        });
        if let Some(evidence) = evidence {
            self.keep_evidence(id.number, evidence)?;
        }
        self.finish(id, outcome, scorecard)
    }

    fn evidence_of(&self, recorded: Recorded, id: &TrialId, case: &Case) -> (Option<Evidence>, Outcome) {
        if recorded.turns.is_empty() {
            let why = recorded.error.map(|error| format!(": {error}")).unwrap_or_default();
            return (None, broken(format!("no turn of this conversation was recorded{why}")));
        }
        let mut evidence = recorded.into_evidence(id);
        self.set_greeting_apart(&mut evidence.transcript.turns, case);
        let outcome = grade::outcome(&evidence.ending, &[]);
        (Some(evidence), outcome)
    }

    /// A conversation that begins with one of the job's greetings was held as eval-job holds it: the script begins after it.
    fn set_greeting_apart(&self, turns: &mut [Turn], case: &Case) {
        let User::Lines(lines) = &case.user else { return };
        let (Some(first), Some(line)) = (turns.first(), lines.first()) else { return };
        if first.number == 1 && first.user != line.say && self.greetings.contains(&first.user) {
            turns.iter_mut().zip(0..).for_each(|(turn, number)| turn.number = number);
        }
    }

    fn keep_evidence(&self, trial: u32, evidence: Evidence) -> std::io::Result<()> {
        let Evidence { session_id, user, transcript, .. } = evidence;
        self.journal.append(&Entry::SessionOpened { trial, session_id, user })?;
        if let (Some(before), Some(empty)) = (evidence.before, evidence.empty) {
            self.journal.append(&Entry::LookedBefore { trial, before, empty })?;
        }
        for turn in transcript.turns {
            self.journal.append(&Entry::TurnFinished { trial, turn })?;
        }
        self.journal.append(&Entry::ConversationEnded {
            trial,
            ending: evidence.ending,
            object_context: evidence.object_context,
            queries: evidence.queries,
            changes: evidence.changes,
            persona_usage: evidence.persona_usage,
            persona_notes: evidence.persona_notes,
        })?;
        Ok(())
    }
}

fn broken(error: String) -> Outcome {
    Outcome::Broken { error }
}

/// The first of these problems, with its place.
fn first_of(problems: &Problems) -> String {
    let told = |problem: &crate::job::Problem| {
        format!("{}:{}:{}: {}", problem.file, problem.line, problem.column, problem.message)
    };
    problems.list.first().map(told).unwrap_or_default()
}

/// That no judge was asked, for each question of the job's metrics.
fn unasked(trial: GradeInput<'_>, templates: &Templates) -> Vec<Judgement> {
    if trial.job.judge_model().is_none() {
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
