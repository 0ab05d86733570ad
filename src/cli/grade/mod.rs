//! `eval-job grade RUN…`

mod again;
mod asking;
mod bridge;
mod check;
mod earlier;
mod queries;
mod recorded;
mod rejudge;
mod text;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::args::{CommandChanges, GradeArgs, rebuilt_command};
use super::cache;
use super::context::Context;
use super::error::{CliError, FileArgument};
use super::invocation::Invocation;
use super::jobs::{self, Loaded};
use super::outputs::{self, OutputFile, OutputRun, check_outputs};
use super::printer::Printer;
use super::run::runtime;
use super::signals::Signals;
use super::stored::StoredPrompts;
use super::team;
use crate::cassette::Cassette;
use crate::job::Job;
use crate::metric::MetricEntry;
use crate::plan::Refusal;
use crate::prompt::Templates;
use crate::record::{BaselineCheck, Overview, TrialRecord, Verdict};
use crate::report::{self, Gathered, one_line, plain};
use crate::run::AskingStopped;
use crate::score::GateRules;
use crate::store::folder::{JournalFile, RunsFolder};
use crate::store::{StoreError, StoredRun};
pub(super) use again::can_be_judged;
pub(super) use bridge::bridge;
pub(super) use check::{canaries, check, check_canaries};
pub(super) use rejudge::rejudge;

use again::Regrader;
use asking::{AskRequest, JudgeAnswers, JudgeSession};

/// Grades stored runs again, from their evidence. The status is that of the worst new verdict.
pub(super) fn grade(args: &GradeArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let files = check_outputs(&args.output, &context.credentials.variables)?;
    if files.iter().any(OutputFile::is_stdout) {
        return Err(CliError::UnknownFormat("-".into()));
    }
    if let Some(dataset) = &args.recorded.dataset {
        return recorded::grade(Invocation { args, context, printer }, dataset, &files);
    }
    recorded::note_unused(&args.recorded, printer);
    if let Some((name, _)) = args
        .weights
        .iter()
        .enumerate()
        .find_map(|(at, weight)| args.weights[..at].iter().find(|(name, _)| *name == weight.0))
    {
        return Err(CliError::RepeatedWeight(name.clone()));
    }
    let jobs: Vec<_> = args.job.iter().cloned().collect();
    let job = jobs::load(
        &jobs,
        FileArgument::job("eval-job grade --job"),
        args.files.prompts.as_deref(),
        context.redactor(),
    )?
    .pop();
    let asking = asking(args, context, printer)?;
    let store = RunsFolder::at(&args.runs_dir.runs_dir);
    let ids: Vec<Option<&str>> =
        if args.runs.is_empty() { vec![None] } else { args.runs.iter().map(|id| Some(id.as_str())).collect() };
    team::bring(&ids, &args.runs_dir.runs_dir, context, printer)?;
    let (mut worst, mut to_write) = (Verdict::Passed, Vec::new());
    for (place, id) in ids.into_iter().enumerate() {
        let run = store.open_unattended(id)?.with_redactor(context.redactor().clone());
        let left = args.runs.get(place + 1..).unwrap_or_default();
        let regraded =
            grade_run(Invocation { args, context, printer }, NamedRun { run, left }, job.as_ref(), asking.as_ref())?;
        let verdict = regraded.as_ref().map_or(Verdict::Interrupted, |it| it.overview.summary.verdict);
        worst = if verdict.exit_status() > worst.exit_status() { verdict } else { worst };
        to_write.extend(regraded.filter(|_| !files.is_empty()));
        if verdict == Verdict::Interrupted && asking.as_ref().is_some_and(JudgeSession::is_interrupted) {
            break;
        }
    }
    // All of them are in each file.
    let outputs: Vec<_> = to_write.iter().map(GradedRun::output).collect();
    if !outputs.is_empty() {
        outputs::write(&files, &outputs)?;
    }
    if let Some(asking) = asking {
        asking.runtime.shutdown_background();
    }
    Ok(worst.exit_status())
}

/// The means of asking the judge of `--scorer-model`, where there is one.
fn asking<'a>(
    args: &GradeArgs,
    context: &'a Context,
    printer: &'a Arc<Printer>,
) -> Result<Option<JudgeSession<'a>>, CliError> {
    Ok(match &args.scorer_model {
        Some(judge) => Some(JudgeSession {
            args: args.into(),
            context,
            printer,
            judge: judge.clone(),
            runtime: runtime()?,
            signals: listen(printer)?,
            cassette: (Cassette::Off, Context::random()),
            cache: cache::open(args.cache, &args.runs_dir.runs_dir, context),
        }),
        None => None,
    })
}

fn listen(printer: &Arc<Printer>) -> Result<Signals, CliError> {
    Signals::listen(printer.clone())
}

/// A run that a command names.
pub(super) struct NamedRun<'a> {
    pub(super) run: JournalFile,
    /// The runs that are named after it.
    pub(super) left: &'a [String],
}

/// Grades a run and shows it; `None` where it was interrupted before it was graded.
fn grade_run<'a>(
    invocation: Invocation<'a, GradeArgs>,
    named: NamedRun<'_>,
    corrected: Option<&Loaded>,
    asking: Option<&JudgeSession<'_>>,
) -> Result<Option<GradedRun<'a>>, CliError> {
    let Invocation { args, context, printer } = invocation;
    let NamedRun { mut run, left } = named;
    let planned = run.planned()?;
    if let Some(corrected) = corrected {
        check_cases(&planned, corrected, printer)?;
    }
    let kept = match &run.job {
        Some(kept) => {
            Some(Job::restored(kept).map_err(|why| unreadable(&run, &format!("its job is not whole: {why}")))?)
        }
        None if corrected.is_some() => None,
        None => {
            return Err(unreadable(
                &run,
                "an earlier version kept it without its job, or its first line is damaged; say --job FILE",
            ));
        }
    };
    let kept = kept.map(|job| {
        let templates = kept_templates(&run, &planned, &job);
        (job, templates)
    });
    let mut again = Regrader::new(&args.weights, context, kept, corrected, &planned)
        .ok_or_else(|| unreadable(&run, "it has no job"))?;
    if let Some(asking) = asking {
        again = again.judged_by(&asking.judge);
    }
    let mut overview = planned.without_trials();
    let metrics = || again.job.metrics.iter().map(MetricEntry::label);
    if let Some((name, _)) = args.weights.iter().find(|(name, _)| !metrics().any(|metric| metric == name)) {
        return Err(CliError::UnknownWeight(name.clone(), metrics().map(str::to_owned).collect()));
    }
    let id = overview.summary.id.clone();
    let (gate, provenance) = (&again.job.gate, &mut overview.summary.provenance);
    provenance.min_score = gate.min_score.or(provenance.min_score);
    provenance.vacuous = gate.vacuous;
    let (baseline, max_drop) = (gate.baseline.clone(), gate.max_drop);
    let (baseline, max_drop) = (baseline.or(provenance.gate.baseline.take()), max_drop.or(provenance.gate.max_drop));
    // With its baseline it was compared when it ended; by this grading it never was, so that this rule shows nothing.
    let not_compared = baseline.clone().map(|name| not_compared(name, &id));
    provenance.gate = GateRules { baseline, max_drop, ..gate.rules() };
    let mut number = run.free_grading();
    if let Some(asking) = asking {
        let before = run.read(|_, _| {})?;
        let rest = rest(args, context, &before.summary.id, left);
        let request = AskRequest { before: &before, elsewhere: None, rest: &rest };
        let JudgeAnswers { number: taken, grading, stopped, prices, .. } = asking.ask(&run, &mut again, request)?;
        if stopped == Some(AskingStopped::Interrupted) {
            return Ok(None);
        }
        number = taken;
        overview.summary.provenance.judge_model.clone_from(&grading.judge);
        overview.summary.provenance.prices.extend(prices);
        if let Some(AskingStopped::LimitReached(why)) = &stopped {
            overview.summary.limit_reached = Some(why.clone());
        }
        again.asked(grading, stopped);
    }
    let mut gathered = Gathered::planned(&overview);
    let before = run.read_with_texts(|trial| {
        let trial = again.grade(trial)?;
        let group = overview.add(&trial);
        gathered.add(group, &trial);
        Ok(())
    })?;
    overview.ended_like(&before);
    overview.summary.baseline = not_compared;
    overview.conclude();
    if let Some(note) = &run.note {
        printer.note(&format!("note: {note}"));
    }
    printer.data(&report::terminal(&overview, &gathered, context.screen(args.verbose)))?;
    let kept = run.write_grading(number, &overview.summary)?;
    printer.data(&again.difference(&before, &overview))?;
    printer.note(&format!("graded again: kept in {}, beside the first verdict", kept.display()));
    let prompts = StoredPrompts::from_run(&run, context.clock);
    let run = RegradedRun { run, again: RefCell::new(again) };
    Ok(Some(GradedRun { run, prompts, overview }))
}

/// Refuses a job that has none of the run's cases, and tells which of them it lacks. Where both have one, it is that: files are
/// renamed.
fn check_cases(before: &Overview, corrected: &Loaded, printer: &Printer) -> Result<(), CliError> {
    let Loaded { file, job, .. } = corrected;
    let held: BTreeSet<&str> = before.groups.iter().map(|group| group.case.as_str()).collect();
    let missing: Vec<&str> = held.iter().copied().filter(|id| job.cases.iter().all(|case| case.id != **id)).collect();
    let (run, first) = (&before.summary.id, &before.summary.provenance.job);
    if missing.is_empty() {
        return Ok(());
    }
    if held.len() == 1 && job.cases.len() == 1 {
        if job.name != *first {
            let text = format!("note: {run} is a run of {first}, and is graded by {file}, the job {}", job.name);
            printer.note(&plain(&text));
        }
        return Ok(());
    }
    let listed = named_cases(&missing);
    if missing.len() == held.len() {
        let known: Vec<&str> = job.cases.iter().map(|case| case.id.as_str()).collect();
        let what =
            format!("{file} has none of the cases that {run} is about ({listed}): its own are {}", named_cases(&known));
        let help =
            format!("--job FILE is a corrected version of {}, the job of the run", before.summary.provenance.job_file);
        return Err(CliError::Unprepared(Refusal::new(plain(&what), plain(&help))));
    }
    let text = format!("note: {file} has not all cases of {run}: there is no new score for {listed}");
    printer.note(&plain(&text));
    Ok(())
}

/// The first of these cases, and how many more there are.
fn named_cases(ids: &[&str]) -> String {
    const MOST: usize = 6;
    let more = ids.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", ids.iter().take(MOST).map(|id| one_line(id, 60)).collect::<Vec<_>>().join(", "))
}

/// The check of a gate's baseline that is not made where conversations of before are graded.
fn not_compared(name: String, id: &str) -> BaselineCheck {
    BaselineCheck {
        uses: None,
        why_not: Some(format!(
            "it is not compared once more where a run is graded again; `eval-job compare {name} {id}` compares the first verdicts"
        )),
        name,
        run: None,
        models: Vec::new(),
    }
}

/// The command that asks for the rest of this run, and about the runs that were named after it.
fn rest(args: &GradeArgs, context: &Context, id: &str, left: &[String]) -> String {
    let runs: Vec<&str> = std::iter::once(id).chain(left.iter().map(String::as_str)).collect();
    // Recorded conversations are kept as a run by now.
    let of_data = ["dataset", "actual", "min_score", "tag", "filter", "limit", "config_file_path", "session_file"];
    let of_data: Vec<&str> = of_data.into_iter().chain(["metric_set", "dialect_strict"]).collect();
    let without: &[&str] = if args.recorded.dataset.is_some() { &of_data } else { &[] };
    rebuilt_command(&context.typed, CommandChanges { runs: Some(&runs), without, ..CommandChanges::default() })
}

/// The templates of the judge's questions; `None` where an earlier version stored none and the current ones differ.
pub(super) fn kept_templates(run: &JournalFile, before: &Overview, job: &Job) -> Option<Templates> {
    if !run.templates.is_empty() {
        return Some(Templates::from_sources(run.templates.clone()));
    }
    let (name, embedded) = (&job.judge.prompt, Templates::embedded());
    let used = before.summary.provenance.prompts.iter().find(|prompt| prompt.name == *name)?;
    (embedded.digest(name).as_ref() == Some(&used.digest)).then_some(embedded)
}

fn unreadable(run: &JournalFile, why: &str) -> CliError {
    CliError::Store(StoreError::Unreadable { path: run.path().to_path_buf(), why: why.to_owned() })
}

/// A run that was graded again.
struct GradedRun<'a> {
    run: RegradedRun<'a>,
    prompts: StoredPrompts,
    overview: Overview,
}

impl<'a> GradedRun<'a> {
    fn output(&self) -> OutputRun<'_, RegradedRun<'a>> {
        OutputRun { run: &self.run, prompts: &self.prompts, overview: &self.overview }
    }
}

/// A run, of which the trials are graded again while they are read.
struct RegradedRun<'a> {
    run: JournalFile,
    again: RefCell<Regrader<'a>>,
}

impl StoredRun for RegradedRun<'_> {
    fn read(&mut self, each: impl FnMut(usize, &TrialRecord)) -> Result<Overview, StoreError> {
        self.run.read(each)
    }

    fn trials(&self) -> impl Iterator<Item = Result<TrialRecord, StoreError>> {
        self.run.trials().map(|trial| self.again.borrow_mut().grade(trial?))
    }
}
