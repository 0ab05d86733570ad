//! `eval-job check PATH…`: whether a judge tells conversations that are known to be bad from those that are known to be good.

mod known;
mod page;
mod sets;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::super::args::{
    CheckArgs, CommandChanges, FileArgs, JudgingArgs, MetricSetArg, RunArgs, RunsArgs, rebuilt_command,
};
use super::super::cassettes::{CassetteRun, JobCassette};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::invocation::Invocation;
use super::super::jobs::Loaded;
use super::super::label::is_judged;
use super::super::printer::Printer;
use super::super::recordings::RecordedConversations;
use super::super::run::runtime;
use super::super::selection::CaseSelection;
use super::super::signals::Signals;
use super::again::Regrader;
use super::asking::{AskArgs, AskRequest, JudgeSession, SCORER_MODEL};
use super::earlier::{EarlierAnswers, ReusePolicy};
use super::recorded::{GradingScope, Matched, keep};
use super::{kept_templates, listen, unreadable};
use crate::cache::Cache;
use crate::calibration::{CheckVerdict, Finding, Known, finding};
use crate::cassette::Cassette;
use crate::dataset::RecordingKey;
use crate::evidence::Usage;
use crate::job::{Job, JobPlace};
use crate::money::{Cost, Dollars, SpendLimits};
use crate::plan::Refusal;
use crate::prompt::Templates;
use crate::record::{CanaryCheck, Verdict};
use crate::report::{self, Screen};
use crate::run::AskingStopped;
use crate::store::StoredRun;
use crate::store::folder::RunsFolder;
use known::KnownConversation;
use sets::{CheckSet, grade_args, load, only_judged, take_cases};

/// A conversation with what the judge makes of it.
struct CheckedConversation {
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
    let sets = load(args, conversations, context)?;
    let signals = listen(printer)?;
    let (mut checked, mut left) = (Vec::new(), args.judging.spend());
    for set in sets {
        let asked_by =
            CheckSession { spend: left, signals: signals.clone(), cassette: (Cassette::Off, Context::random()) };
        let Some(judged) = judged(Invocation { args, context, printer }, set, asked_by)? else {
            return Ok(Verdict::Interrupted.exit_status());
        };
        checked.extend(judged.checked);
        left.cost = left.cost.map(|cost| cost.minus(judged.cost.known()));
        let used = judged.usage.total_tokens().unwrap_or_default();
        left.tokens = left.tokens.map(|tokens| tokens.saturating_sub(used));
    }
    let findings: Vec<(Known, Finding)> = checked.iter().map(|it| (it.known, it.finding.clone())).collect();
    let verdict = CheckVerdict::new(&findings, args.dialect_strict);
    if args.json {
        let entry = |it: &CheckedConversation| json!({"name": it.name, "known": it.known, "fails": it.must_fail, "finding": it.finding});
        let all: Vec<_> = checked.iter().map(entry).collect();
        printer.data(&format!("{:#}\n", json!({"verdict": verdict, "conversations": all})))?;
    } else {
        printer.data(&page::page(&checked, verdict, context.screen(false)))?;
    }
    Ok(verdict.exit_status())
}

/// Checks that the conversations of `gate.canaries` are there and can show what they are for.
pub(in crate::cli) fn check_canaries(job: &Job, selection: Option<&CaseSelection>, file: &str) -> Result<(), Refusal> {
    let Some(folder) = job.gate.canaries.clone() else { return Ok(()) };
    let (file, text, selection) = (file.to_owned(), String::new(), selection.cloned());
    let mut loaded = Loaded { file, text, job: job.clone(), templates: Templates::embedded(), selection };
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
    invocation: Invocation<'_, RunArgs>,
    mut loaded: Loaded,
    signals: Signals,
    cassette: &JobCassette,
) -> Result<Option<CanaryCheck>, CliError> {
    let Invocation { args, context, printer } = invocation;
    let Some(folder) = loaded.job.gate.canaries.clone() else { return Ok(None) };
    let recorded = CassetteRun { job: &loaded.job, id: "canaries", rng_seed: args.rng_seed };
    let cassette = cassette.part("canaries").begin(&recorded, context)?;
    let file = loaded.file.clone();
    let conversations = canary_set(&mut loaded, &folder)?;
    let paths = vec![loaded.job.folder.join(&folder)];
    let args = CheckArgs {
        paths,
        job: None,
        scorer_model: None,
        judging: JudgingArgs {
            max_concurrency: args.max_concurrency,
            cost_limit: loaded.job.limits.cost,
            token_limit: loaded.job.limits.tokens,
        },
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
    let spend = args.judging.spend();
    let set = CheckSet { loaded, conversations };
    let invocation = Invocation { args: &args, context, printer };
    let checked = judged(invocation, set, CheckSession { spend, signals, cassette })?;
    let Some(JudgedSet { checked, usage, cost, stopped }) = checked else { return Err(CliError::Interrupted) };
    let findings: Vec<(Known, Finding)> = checked.iter().map(|it| (it.known, it.finding.clone())).collect();
    let verdict = CheckVerdict::new(&findings, false);
    if verdict == CheckVerdict::Passed {
        let known = report::count(count, "known conversation");
        printer.note(&format!("{file}: the judge tells {known} apart (gate.canaries)"));
        let bad = checked.iter().filter(|it| it.known == Known::Bad).count();
        let cost = match cost {
            Cost::Exactly(cost) => Some(cost),
            Cost::AtLeast(cost) if cost > Dollars::ZERO => Some(cost),
            Cost::AtLeast(_) | Cost::Unknown => None,
        };
        return Ok(Some(CanaryCheck { folder, bad, good: count - bad, usage, cost }));
    }
    if let Some(AskingStopped::LimitReached(why)) = stopped {
        return Err(CliError::CanariesUnpaid { file, why });
    }
    let screen = Screen { ink: context.stderr_ink, ..context.screen(false) };
    printer.note(page::page(&checked, verdict, screen).trim_end());
    Err(CliError::Canaries { file, is_unknown: verdict == CheckVerdict::Unknown })
}

/// The judge's verdicts on known conversations.
struct JudgedSet {
    checked: Vec<CheckedConversation>,
    usage: Usage,
    cost: Cost,
    /// Why not all were judged, where they were not.
    stopped: Option<AskingStopped>,
}

/// The limits of spending on a judge, the signals that interrupt it, and the cassette of its answers, with its seed.
struct CheckSession {
    spend: SpendLimits,
    signals: Signals,
    cassette: (Cassette, u64),
}

/// The judge's verdicts on all of them; `None` where it was interrupted.
fn judged(
    invocation: Invocation<'_, CheckArgs>,
    set: CheckSet,
    session: CheckSession,
) -> Result<Option<JudgedSet>, CliError> {
    let Invocation { args, context, printer } = invocation;
    let CheckSet { loaded, conversations } = set;
    let CheckSession { spend, signals, cassette } = session;
    let judge = args.scorer_model.clone().unwrap_or_else(|| loaded.job.judge.model.clone());
    let asking = JudgeSession {
        args: AskArgs {
            goes_on: ReusePolicy::WhereStopped,
            asked_by: SCORER_MODEL,
            job: args.job.clone(),
            max_concurrency: args.judging.max_concurrency,
            spend,
            prices: args.files.prices.clone(),
        },
        context,
        printer,
        judge,
        runtime: runtime()?,
        signals,
        cassette,
        // It is the judge of today that must tell them apart.
        cache: Cache::OFF,
    };
    asking.check(&loaded.job, loaded.file.clone())?;
    let (mut held, mut expected) = (Vec::new(), Vec::new());
    for KnownConversation { name, file, known, must_fail, recorded, .. } in conversations {
        let (file_stem, id, file) = (name.as_str().into(), name.clone(), file.into());
        held.push((
            RecordingKey { id, other_ids: Vec::new(), model: None, session: None, file_stem, file, line: 1 },
            recorded,
        ));
        expected.push((name, known, must_fail));
    }
    let held = RecordedConversations::from_conversations(held);
    let ids = expected.iter().map(|(name, ..)| name.clone()).collect();
    let case_of = (0..expected.len()).map(Some).collect();
    let matched = Matched { loaded, case_of, ids, large: None };
    let grade_args = grade_args(args);
    let by = GradingScope { args: &grade_args, context, interrupt: &asking.signals.interrupt };
    let mut kept = keep(matched, &held, by, None)?;
    let words = kept.kept_text(&grade_args);
    let mut run = kept.stored.take().ok_or_else(|| CliError::Internal("a run was lost".to_owned()))?;
    let planned = run.planned()?;
    let job = run.job.as_ref().and_then(|job| Job::restored(job).ok());
    let job = job.ok_or_else(|| unreadable(&run, "its job is not whole"))?;
    let templates = kept_templates(&run, &planned, &job);
    let mut again = Regrader::new(&[], context, Some((job, templates)), None, &planned)
        .ok_or_else(|| unreadable(&run, "it has no job"))?
        .judged_by(&asking.judge);
    let before = run.read(|_, _| {})?;
    let earlier = EarlierAnswers::from_checks(&RunsFolder::at(checks(args)), &run, &asking.judge.to_string())?;
    let rest = rebuilt_command(&context.typed, CommandChanges::default());
    let request = AskRequest { before: &before, elsewhere: Some(earlier), rest: &rest };
    let answers = asking.ask(&run, &mut again, request)?;
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
        checked.push(CheckedConversation { name: name.clone(), known: *known, must_fail: must_fail.clone(), finding });
    }
    Ok(Some(JudgedSet { checked, usage, cost, stopped }))
}

/// Where checks are kept: they are no runs of the job.
fn checks(args: &CheckArgs) -> PathBuf {
    args.runs.runs_dir.join("checks")
}
