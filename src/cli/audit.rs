//! `eval-job audit FILE…`

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::args::AuditArgs;
use super::context::Context;
use super::error::{CliError, FileArgument};
use super::grade::kept_templates;
use super::invocation::Invocation;
use super::jobs::Loaded;
use super::label::is_judged;
use super::mutate;
use super::planning::{LoadArgs, load_without_agent};
use super::printer::Printer;
use super::run::runtime;
use crate::agent::trivial::TrivialKind;
use crate::cache::Cache;
use crate::cassette::Cassette;
use crate::job::Job;
use crate::plan::Plan;
use crate::prompt::Templates;
use crate::record::{Audit, AuditedTrial, Entry, Verdict};
use crate::report;
use crate::run::{self, Credentials, Engine, RunDeps};
use crate::score::Score;
use crate::store::StoreError;
use crate::store::folder::JournalFile;

/// How many conversations are run at once.
const AT_ONCE: usize = 4;

/// Holds the conversations of jobs with agents that do nothing. The status is 100 where one gets more than it may, and 102
/// where that could not be determined; of several jobs the highest counts, as for `run`.
pub(super) fn audit(args: &AuditArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let runtime = runtime()?;
    let argument = FileArgument::job("eval-job audit");
    let read_by = LoadArgs { data: &args.data, selection: &args.selection, files: &args.own_files };
    let (runs, typed) = mutate::part(args)?;
    let (mut worst, mut written) = (0, Vec::new());
    let (jobs, notes) = match (runs.is_empty(), typed.is_empty()) {
        (false, true) => Default::default(),
        _ => load_without_agent(&typed, argument, read_by, context)?,
    };
    notes.iter().for_each(|note| printer.note(&format!("note: {}", report::plain(note))));
    for run in runs {
        // One that can't be read says nothing of the others.
        let folder = run.path().parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        match audit_run(Invocation { args, context, printer }, run, &folder, &runtime) {
            Ok((status, json)) => {
                worst = worst.max(status);
                written.push(json);
            }
            Err(error) => {
                printer.error(&error);
                worst = worst.max(error.exit_status());
                written.push(json!({ "run": folder, "error": error.message() }));
            }
        }
    }
    for loaded in jobs {
        let (file, name) = (loaded.file.clone(), loaded.job.name.clone());
        let (status, audit) = limited(Invocation { args, context, printer }, loaded, &runtime)?;
        worst = worst.max(status);
        if args.json {
            written.push(json!({ "file": file, "job": name, "score": audit.score(), "audit": audit }));
        }
    }
    if args.json {
        printer.data(&format!("{:#}\n", Value::Array(written)))?;
    }
    runtime.shutdown_background();
    Ok(worst)
}

/// The mutants that the assertions of a stored run notice; with `--max-trivial-score`, or `gate.maxTrivialScore` of its job, also the
/// scores of trivial agents.
fn audit_run(
    invocation: Invocation<'_, AuditArgs>,
    mut run: JournalFile,
    folder: &str,
    runtime: &Runtime,
) -> Result<(u8, Value), CliError> {
    let args = invocation.args;
    run.planned()?;
    let of_job = run.job.as_deref().and_then(|job| job.pointer("/gate/maxTrivialScore")).filter(|most| !most.is_null());
    let is_limited = args.max_trivial_score.is_some() || of_job.is_some();
    let loaded = if is_limited { Some(stored_job(&mut run, folder.to_owned())?) } else { None };
    let (status, mut json) = mutate::mutate(invocation, run, runtime)?;
    let Some(loaded) = loaded else { return Ok((status, json)) };
    let (of_trivial, audit) = limited(invocation, loaded, runtime)?;
    json["score"] = json!(audit.score());
    json["audit"] = json!(audit);
    Ok((status.max(of_trivial), json))
}

/// The job that a run was made with.
fn stored_job(run: &mut JournalFile, file: String) -> Result<Loaded, CliError> {
    let planned = run.planned()?;
    let path = run.path().to_path_buf();
    let unreadable = |why: &str| StoreError::Unreadable { path, why: why.to_owned() };
    let restored = run.job.as_deref().map(Job::restored).transpose();
    let job = match restored {
        Ok(Some(job)) if !job.cases.is_empty() => job,
        Ok(Some(_)) => return Err(unreadable("its cases are kept with its conversations; say its FILE").into()),
        Ok(None) => return Err(unreadable("an earlier version kept it without its job").into()),
        Err(why) => return Err(unreadable(&format!("its job is not whole: {why}")).into()),
    };
    let templates = kept_templates(run, &planned, &job).unwrap_or_else(Templates::embedded);
    Ok(Loaded { file, text: String::new(), job, templates, selection: None })
}

/// Holds a job's conversations with agents that do nothing, shows what they get, and says whether that is more than it may be.
fn limited(invocation: Invocation<'_, AuditArgs>, loaded: Loaded, runtime: &Runtime) -> Result<(u8, Audit), CliError> {
    let Invocation { args, context, printer } = invocation;
    let (file, name) = (loaded.file.clone(), loaded.job.name.clone());
    let most = match args.max_trivial_score {
        Some(most) => Some((most, "--max-trivial-score")),
        None => loaded.job.gate.max_trivial_score.map(|most| (most, "gate.maxTrivialScore")),
    };
    let audit = runtime.block_on(hold(loaded, context))?;
    if !args.json {
        printer.data(&report::audit(&file, &name, &audit))?;
    }
    let (status, file) = (status_of(&audit, most.map(|(most, _)| most)), report::plain(&file));
    match (most, audit.score()) {
        (Some((most, by)), Some(score)) if status == Verdict::GateFailed.exit_status() => {
            let (most, score) = (most.get(), report::beside_gate(score, Some(most.get())));
            printer.note(&format!("{file}: an agent that does nothing gets {score}, more than {most} ({by})"));
        }
        (Some((most, by)), _) if status == Verdict::Incomplete.exit_status() => {
            let (most, why) = (most.get(), audit.why_no_score());
            printer.note(&format!(
                "{file}: whether an agent that does nothing gets more than {most} ({by}) was not determined: {why}"
            ));
        }
        _ => {}
    }
    Ok((status, audit))
}

/// Tries agents that do nothing with a job that is to be run, where its `gate.maxTrivialScore` wants it. Returns what the best
/// of them gets.
///
/// # Errors
/// One gets more than it may, or that could not be determined: then the job may not be run.
pub(super) fn gate(loaded: Loaded, runtime: &Runtime, context: &Context) -> Result<Option<f64>, CliError> {
    let Some(most) = loaded.job.gate.max_trivial_score else { return Ok(None) };
    let file = loaded.file.clone();
    let audit = runtime.block_on(hold(loaded, context))?;
    match (status_of(&audit, Some(most)), audit.score()) {
        (0, score) => Ok(score),
        (status, Some(score)) if status == Verdict::GateFailed.exit_status() => {
            Err(CliError::TrivialScore { file, score, most: most.get() })
        }
        _ => {
            let why = audit.broken.first().cloned().unwrap_or_else(|| audit.why_no_score().to_owned());
            Err(CliError::TrivialUnknown { file, why })
        }
    }
}

/// The exit status. An unknown score does not pass.
fn status_of(audit: &Audit, most: Option<Score>) -> u8 {
    let is_above = most.zip(audit.score()).is_some_and(|(most, score)| score - most.get() > Score::HAIR);
    let is_unknown = !audit.broken.is_empty() || most.is_some() && audit.score().is_none();
    match (is_above, !is_unknown) {
        (true, _) => Verdict::GateFailed.exit_status(),
        (false, false) => Verdict::Incomplete.exit_status(),
        (false, true) => 0,
    }
}

async fn hold(loaded: Loaded, context: &Context) -> Result<Audit, CliError> {
    let agents = TrivialKind::ALL.map(TrivialKind::as_str);
    let plan = Plan::for_audit(loaded.job, agents.map(str::to_owned).to_vec());
    let ids: Vec<_> = plan.trials().map(|trial| trial.id).collect();
    let held = Arc::new(Mutex::new(Vec::new()));
    let kept = held.clone();
    let deps = RunDeps {
        id: "audit".to_owned(),
        templates: loaded.templates,
        // No key is needed, so none is given.
        credentials: Credentials { redactor: context.redactor().clone(), ..Credentials::default() },
        clock: context.clock,
        rng_seed: 0,
        random: Box::new(Context::random),
        on_wait: None,
        max_concurrency: AT_ONCE,
        person: None,
        cassette: Cassette::Off,
        sink: Arc::new(move |entry| {
            if let Entry::TrialFinished { trial, outcome, scorecard, .. } = entry
                && let Some(id) = ids.get(trial as usize - 1)
            {
                let trial = AuditedTrial { trial: id.clone(), outcome, scorecard };
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(trial);
            }
            Ok(())
        }),
        cache: Cache::OFF,
    };
    let internal = |error: String| CliError::Internal(error);
    let engine = Engine::new(plan, deps).map_err(|error| internal(error.to_string()))?;
    let provenance = engine.provenance(&loaded.file);
    let (lanes, engine) = (engine.plan.lanes(), Arc::new(engine));
    let held_all = run::run(engine, provenance, run::Rounds::one(lanes), CancellationToken::new()).await;
    held_all.map_err(|error| internal(error.to_string()))?;
    let mut trials = std::mem::take(&mut *held.lock().unwrap_or_else(PoisonError::into_inner));
    trials.sort_by_key(|it| it.trial.number);
    Ok(Audit::new(&agents, &trials, is_judged))
}
