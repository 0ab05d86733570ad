//! `eval-job check PATH…`: whether a judge tells conversations that are known to be bad from those that are known to be good.

mod known;
mod page;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::super::args::{
    CheckArgs, DEFAULT_JOB, FileArgs, GradeArgs, Instead, MetricSetArg, ReadingArgs, RecordedArgs, RunArgs, RunsArgs,
    SelectionArgs, retyped,
};
use super::super::context::Context;
use super::super::error::{CliError, FileArgument};
use super::super::held::Held;
use super::super::jobs::{self, Loaded};
use super::super::label::is_judged;
use super::super::printer::Printer;
use super::super::run::runtime;
use super::super::signals::Signals;
use super::again::Again;
use super::asking::{AskArgs, Asking};
use super::earlier::{Earlier, GoesOn};
use super::recorded::{Matched, keep, of_data};
use super::{kept_templates, listen, unreadable};
use crate::calibration::{CheckVerdict, Finding, Known, finding};
use crate::dataset::RecordingKey;
use crate::evidence::Usage;
use crate::job::{Case, Job, JobPlace, Panel, User};
use crate::metric::{MetricConfig, MetricEntry};
use crate::money::{Cost, SpendLimits};
use crate::plan::Refusal;
use crate::prompt::Templates;
use crate::record::{CanaryCheck, Verdict};
use crate::report::{self, Screen};
use crate::run::AskingStopped;
use crate::store::StoredRun;
use crate::store::folder::RunsFolder;
use known::KnownConversation;

/// A conversation with what the judge makes of it.
struct Checked {
    name: String,
    known: Known,
    must_fail: Vec<String>,
    finding: Finding,
}

/// Checks the judge of a job, or of Red Hat's metrics, against known conversations.
pub(in crate::cli) fn check(args: &CheckArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let conversations = known::read(&args.paths)?;
    if conversations.is_empty() && !args.dialect_strict {
        let paths: Vec<String> = args.paths.iter().map(|path| path.display().to_string()).collect();
        let what = format!("there is no conversation in {}", paths.join(" and "));
        return Err(CliError::Unprepared(Refusal::new(
            what,
            "a folder of .yml or .json files with known conversations",
        )));
    }
    // The original decides by whether one bad conversation fails, and takes what there is.
    if !args.dialect_strict && !conversations.iter().any(|it| it.known == Known::Bad) {
        let what = "no conversation is known to be bad: nothing can show that the judge finds fault".to_owned();
        let help = "one that the judge must find fault with: `known: bad`";
        return Err(CliError::Unprepared(Refusal::new(what, help)));
    }
    let loaded = load(args, &conversations, context)?;
    let signals = listen(printer)?;
    let Some(Judged { checked, .. }) = judged((args, context, printer), (loaded, conversations), signals)? else {
        return Ok(Verdict::Interrupted.exit_status());
    };
    let findings: Vec<(Known, Finding)> = checked.iter().map(|it| (it.known, it.finding.clone())).collect();
    let verdict = CheckVerdict::new(&findings, args.dialect_strict);
    if args.json {
        let entry =
            |it: &Checked| json!({"name": it.name, "known": it.known, "fails": it.must_fail, "finding": it.finding});
        let all: Vec<_> = checked.iter().map(entry).collect();
        printer.data(&format!("{:#}\n", json!({"verdict": verdict, "conversations": all})))?;
    } else {
        printer.data(&page::page(&checked, verdict, context.screen(false)))?;
    }
    Ok(verdict.exit_status())
}

/// Checks that the conversations of `gate.canaries` are there and can show what they are for.
pub(in crate::cli) fn check_canaries(job: &Job, file: &str) -> Result<(), Refusal> {
    let Some(folder) = job.gate.canaries.clone() else { return Ok(()) };
    let (file, text) = (file.to_owned(), String::new());
    let mut loaded = Loaded { file, text, job: job.clone(), templates: Templates::embedded(), selection: None };
    let Err(error) = canary_set(&mut loaded, &folder) else { return Ok(()) };
    let refusal = match error {
        CliError::Unprepared(refusal) => refusal,
        _ => Refusal::new(format!("a file in {folder} can't be read"), format!("`eval-job check {folder}` says why")),
    };
    let place = Some(JobPlace::key("gate.canaries"));
    Err(Refusal { place, what: format!("gate.canaries: {}", refusal.what), ..refusal })
}

/// The conversations of `gate.canaries`; the job is left with a case for each, and what judges ask.
fn canary_set(loaded: &mut Loaded, folder: &str) -> Result<Vec<KnownConversation>, CliError> {
    let conversations = known::read(&[loaded.job.folder.join(folder)])?;
    let refused = |what: String, help| Err(CliError::Unprepared(Refusal::new(what, help)));
    if conversations.is_empty() {
        let help = "a folder of .yml or .json files with known conversations";
        return refused(format!("there is no conversation in {folder}"), help);
    }
    if !conversations.iter().any(|it| it.known == Known::Bad) {
        let help = "one that the judge must find fault with: `known: bad`";
        return refused(format!("no conversation in {folder} is known to be bad"), help);
    }
    take_cases(loaded, &conversations)?;
    only_judged(loaded, &conversations)?;
    Ok(conversations)
}

/// Checks the judge of a job that is to be run against the conversations of its `gate.canaries`; `None` where it names none.
pub(in crate::cli) fn canaries(
    (args, context, printer): (&RunArgs, &Context, &Arc<Printer>),
    mut loaded: Loaded,
    signals: Signals,
) -> Result<Option<CanaryCheck>, CliError> {
    let Some(folder) = loaded.job.gate.canaries.clone() else { return Ok(None) };
    let file = loaded.file.clone();
    let conversations = canary_set(&mut loaded, &folder)?;
    let paths = vec![loaded.job.folder.join(&folder)];
    let args = CheckArgs {
        paths,
        job: None,
        scorer_model: None,
        max_concurrency: args.max_concurrency,
        cost_limit: loaded.job.limits.cost,
        token_limit: loaded.job.limits.tokens,
        dialect_strict: false,
        metric_set: MetricSetArg::default(),
        files: FileArgs {
            prices: args.plan.files.prices.clone(),
            prompts: args.plan.files.prompts.clone(),
            env_file: args.plan.files.env_file.clone(),
        },
        runs: RunsArgs { runs_dir: args.runs.runs_dir.clone() },
        json: false,
    };
    let count = conversations.len();
    let checked = judged((&args, context, printer), (loaded, conversations), signals)?;
    let Some(Judged { checked, usage, cost, stopped }) = checked else { return Err(CliError::Interrupted) };
    let findings: Vec<(Known, Finding)> = checked.iter().map(|it| (it.known, it.finding.clone())).collect();
    let verdict = CheckVerdict::new(&findings, false);
    if verdict == CheckVerdict::Passed {
        let known = report::count(count, "known conversation");
        printer.note(&format!("{file}: the judge tells {known} apart (gate.canaries)"));
        let bad = checked.iter().filter(|it| it.known == Known::Bad).count();
        return Ok(Some(CanaryCheck { folder, bad, good: count - bad, usage, cost: cost.known() }));
    }
    if let Some(AskingStopped::LimitReached(why)) = stopped {
        return Err(CliError::CanariesUnpaid { file, why });
    }
    let screen = Screen { ink: context.stderr_ink, ..context.screen(false) };
    printer.note(page::page(&checked, verdict, screen).trim_end());
    Err(CliError::Canaries { file, is_unknown: verdict == CheckVerdict::Unknown })
}

/// The job that judges: a case for each conversation.
fn load(args: &CheckArgs, conversations: &[KnownConversation], context: &Context) -> Result<Loaded, CliError> {
    let is_data = conversations.iter().all(|it| it.is_data) && !conversations.is_empty();
    let mut loaded = match (&args.job, is_data) {
        (None, true) => of_files(args, conversations, context)?,
        (job, _) => {
            let path = job.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_JOB));
            let argument = FileArgument::job("eval-job check PATH --job");
            let loaded = jobs::load(&[path], argument, args.files.prompts.as_deref(), context.redactor())?;
            let mut loaded =
                loaded.into_iter().next().ok_or_else(|| CliError::Internal("a job was lost".to_owned()))?;
            take_cases(&mut loaded, conversations)?;
            loaded
        }
    };
    only_judged(&mut loaded, conversations)?;
    Ok(loaded)
}

/// Puts a case for each conversation in the place of the job's cases, with what the first of those says.
fn take_cases(loaded: &mut Loaded, conversations: &[KnownConversation]) -> Result<(), CliError> {
    let first = loaded.job.cases.first().cloned();
    let first = first.ok_or_else(|| CliError::Internal("a job has no case".to_owned()))?;
    let case = |it: &KnownConversation| {
        // Nothing is known of graph and state, and the user said what is recorded.
        let (id, user, conditions) = (it.name.clone(), User::Persona, first.conditions[..1].to_vec());
        let (assertions, setups) = (Vec::new(), Vec::new());
        Arc::new(Case { id, user, conditions, assertions, setups, ..(*first).clone() })
    };
    loaded.job.cases = conversations.iter().map(case).collect();
    Ok(())
}

fn only_judged(loaded: &mut Loaded, conversations: &[KnownConversation]) -> Result<(), CliError> {
    loaded.job.metrics.retain(|metric| metric.kind().asks_judge());
    if loaded.job.metrics.is_empty() {
        let what = format!("no metric of {} asks a judge", loaded.file);
        return Err(CliError::Unprepared(Refusal::new(what, "a job with tasks, or with a metric that asks a judge")));
    }
    refuse_unknown(&loaded.job, conversations)
}

/// The job that other systems' files make, with the context that lies beside each.
fn of_files(args: &CheckArgs, conversations: &[KnownConversation], context: &Context) -> Result<Loaded, CliError> {
    let mut all: Option<Loaded> = None;
    for conversation in conversations {
        let job = of_data(&conversation.file, &grade_args(args), context)?;
        let case = job.job.cases.first().cloned();
        let case = case.ok_or_else(|| CliError::Internal("a file has no case".to_owned()))?;
        let case = Arc::new(Case { id: conversation.name.clone(), user: User::Persona, ..(*case).clone() });
        match &mut all {
            Some(all) => all.job.cases.push(case),
            None => {
                let mut job = job;
                job.job.cases = vec![case];
                all = Some(job);
            }
        }
    }
    all.ok_or_else(|| CliError::Internal("there are no files".to_owned()))
}

/// Refuses names of metrics that nothing measures: what must fail there would always slip through, and the judge be blamed.
fn refuse_unknown(job: &Job, conversations: &[KnownConversation]) -> Result<(), CliError> {
    let names = |metric: &MetricEntry| [metric.label().to_owned(), metric.kind().as_str().to_owned()];
    let tasks = job.cases.iter().flat_map(|case| case.tasks.iter().map(|task| task.task.clone()));
    let of_case = job.cases.iter().flat_map(|case| case.expectations()).flat_map(|expected| &expected.rubrics);
    let of_metrics = job.metrics.iter().flat_map(|metric| match &metric.metric {
        MetricConfig::Rubric(options) => options.rubrics.as_slice(),
        _ => &[],
    });
    // As they are called in scorecards.
    let rubrics = of_case.chain(of_metrics).map(|rubric| match &rubric.description {
        Some(description) => format!("{} ({description})", rubric.text),
        None => rubric.text.clone(),
    });
    let known: BTreeSet<String> = job.metrics.iter().flat_map(names).chain(tasks).chain(rubrics).collect();
    for conversation in conversations {
        if let Some(name) = conversation.must_fail.iter().find(|name| !known.contains(*name)) {
            let what = format!("{} must fail `{name}`, which the job does not measure", conversation.file.display());
            let known = known.iter().cloned().collect::<Vec<_>>().join(", ");
            return Err(CliError::Unprepared(Refusal::new(what, format!("one of {}", report::one_line(&known, 300)))));
        }
    }
    Ok(())
}

/// What the judge makes of known conversations.
struct Judged {
    checked: Vec<Checked>,
    usage: Usage,
    cost: Cost,
    /// Why not all were judged, where they were not.
    stopped: Option<AskingStopped>,
}

/// What the judge makes of all of them; `None` where it was interrupted.
fn judged(
    (args, context, printer): (&CheckArgs, &Context, &Arc<Printer>),
    (loaded, conversations): (Loaded, Vec<KnownConversation>),
    signals: Signals,
) -> Result<Option<Judged>, CliError> {
    let judge = args.scorer_model.clone().unwrap_or_else(|| loaded.job.judge.model.clone());
    let asking = Asking {
        args: AskArgs {
            goes_on: GoesOn::WhereStopped,
            job: args.job.clone(),
            max_concurrency: args.max_concurrency,
            spend: SpendLimits { cost: args.cost_limit, tokens: args.token_limit },
            prices: args.files.prices.clone(),
        },
        context,
        printer,
        judge,
        runtime: runtime()?,
        signals,
    };
    asking.check(&loaded.job, loaded.file.clone())?;
    let (mut held, mut expected) = (Vec::new(), Vec::new());
    for KnownConversation { name, file, known, must_fail, recorded, .. } in conversations {
        let (file_stem, id) = (name.clone(), name.clone());
        held.push((RecordingKey { id, model: None, session: None, file_stem, file, line: 1 }, recorded));
        expected.push((name, known, must_fail));
    }
    let held = Held::given(held);
    let ids = expected.iter().map(|(name, ..)| name.clone()).collect();
    let case_of = (0..expected.len()).map(Some).collect();
    let matched = Matched { loaded, case_of, ids, large: None };
    let grade_args = grade_args(args);
    let mut kept = keep(matched, &held, (&grade_args, context, &asking.signals.interrupt))?;
    let words = kept.kept_words(&grade_args);
    let mut run = kept.stored.take().ok_or_else(|| CliError::Internal("a run was lost".to_owned()))?;
    let planned = run.planned()?;
    let job = run.job.as_ref().and_then(|job| Job::restored(job).ok());
    let job = job.ok_or_else(|| unreadable(&run, "its job is not whole"))?;
    let templates = kept_templates(&run, &planned, &job);
    let mut again = Again::new(&[], context, Some((job, templates)), None, &planned)
        .ok_or_else(|| unreadable(&run, "it has no job"))?
        .judged_by(&asking.judge);
    let before = run.read(|_, _| {})?;
    let earlier = Earlier::of_checks(&RunsFolder::at(checks(args)), &run, &asking.judge.to_string())?;
    let rest = retyped(&context.typed, Instead::default());
    let answers = asking.ask(&run, &mut again, (&before, Some(earlier)), &rest)?;
    asking.runtime.shutdown_background();
    printer.note(words.lines().next().unwrap_or_default());
    if answers.stopped == Some(AskingStopped::Interrupted) {
        return Ok(None);
    }
    let (usage, cost, stopped) = (answers.usage, answers.cost, answers.stopped.clone());
    again.asked(answers.grading, answers.stopped);
    let mut checked = Vec::new();
    for trial in run.trials() {
        let trial = again.grade(trial?)?;
        let Some((name, known, must_fail)) = expected.iter().find(|(name, ..)| *name == trial.trial.case) else {
            continue;
        };
        let finding = match &trial.scorecard {
            Some(card) => finding(*known, must_fail, card, is_judged),
            None => Finding::Unknown { why: trial.why_no_score().unwrap_or_default() },
        };
        checked.push(Checked { name: name.clone(), known: *known, must_fail: must_fail.clone(), finding });
    }
    Ok(Some(Judged { checked, usage, cost, stopped }))
}

/// Where checks are kept: they are no runs of the job.
fn checks(args: &CheckArgs) -> PathBuf {
    args.runs.runs_dir.join("checks")
}

/// What keeping conversations takes of the arguments of `grade`.
fn grade_args(args: &CheckArgs) -> GradeArgs {
    let CheckArgs { files: FileArgs { prices, prompts, env_file }, .. } = args;
    GradeArgs {
        runs: Vec::new(),
        recorded: RecordedArgs {
            dataset: None,
            actual: Vec::new(),
            min_score: None,
            selection: SelectionArgs::default(),
            reading: ReadingArgs {
                metric_set: args.metric_set,
                dialect_strict: args.dialect_strict,
                ..ReadingArgs::default()
            },
        },
        runs_dir: RunsArgs { runs_dir: checks(args) },
        job: None,
        weights: Vec::new(),
        scorer_model: None::<Panel>,
        max_concurrency: args.max_concurrency,
        cost_limit: args.cost_limit,
        token_limit: None,
        files: FileArgs { prices: prices.clone(), prompts: prompts.clone(), env_file: env_file.clone() },
        output: Vec::new(),
    }
}
