//! Whether a run may be resumed: with the same job, prompts, models and seed.

use std::sync::Arc;

use super::super::args::{CommandChanges, ResumeMode, RunArgs, rebuilt_command};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::planning::Planned;
use super::refused;
use crate::cache::Cache;
use crate::cassette::Cassette;
use crate::evidence::Usage;
use crate::job::Job;
use crate::metric::MetricConfig;
use crate::money::Cost;
use crate::record::{Entry, Overview, Provenance, RunStart, SettingDifference};
use crate::report::{one_line, plain};
use crate::run::{Engine, RunDeps, WrittenSteps};

/// The most differences that are shown.
const MOST_SHOWN: usize = 8;

/// The most characters of a value that are shown.
const VALUE: usize = 80;

/// A stored run that is to be resumed.
pub(super) struct StoredBeginning<'a> {
    /// Its first entry.
    pub(super) first: &'a Entry,
    pub(super) overview: &'a Overview,
    /// A note on damage of its journal.
    pub(super) note: Option<&'a str>,
}

/// Checks that a run may be resumed by this plan, which gets the steps that the judge wrote for the run.
pub(super) fn check(
    run: StoredBeginning<'_>,
    planned: &mut Planned,
    args: &RunArgs,
    context: &Context,
) -> Result<(), CliError> {
    let StoredBeginning { first, overview, note } = run;
    let id = &overview.summary.id;
    let Provenance { merged, recorded, replayed, rng_seed, .. } = &overview.summary.provenance;
    if merged.is_some() {
        return Err(refused(
            format!("run {id} was merged of the runs of parts"),
            "go on with the runs of the parts, and merge them again",
        ));
    }
    if replayed.is_some() {
        let what = format!("run {id} is the replay of a recording: nobody was asked, and it can't be resumed");
        return Err(refused(what, "record again: eval-job run, with --cassette-record and another folder"));
    }
    if !recorded.is_empty() {
        let what = format!("the conversations of run {id} were recorded elsewhere: it can't be resumed");
        return Err(refused(what, "eval-job grade, with the same files"));
    }
    if overview.is_damaged() {
        let why = note.unwrap_or("its journal is damaged");
        return Err(refused(format!("run {id} can't be resumed: {}", plain(why)), "a new run"));
    }
    if let Entry::RunStarted { job: Some(kept), .. } = first
        && let Ok(kept) = Job::restored(kept)
    {
        steps_of(&kept).fill_in(Arc::make_mut(&mut planned.plan.job));
    }
    let now = beginning_now(planned, args.rng_seed.unwrap_or(*rng_seed), context)?;
    let then = RunStart::from_entry(completed(first.clone()));
    let then = then.ok_or_else(|| CliError::Internal("a run without a beginning was read".to_owned()))?;
    let differences = then.differences(&now);
    if differences.is_empty() {
        return Ok(());
    }
    let mut lines: Vec<String> = differences.iter().take(MOST_SHOWN).map(difference_text).collect();
    if differences.len() > MOST_SHOWN {
        lines.push(format!("and {} more", differences.len() - MOST_SHOWN));
    }
    let what = format!("run {id} can't be resumed, since this has changed:\n  {}", lines.join("\n  "));
    Err(match flags(&differences) {
        Some(flags) => {
            refused(what, format!("the flags that it was begun with: {}", flags_command(id, &flags, context)))
        }
        None => refused(what, "what it was begun with, the same flags too; or a new run"),
    })
}

/// The flags that make up for these differences, each with its name among the arguments; `None` where flags alone don't.
fn flags(differences: &[SettingDifference]) -> Option<Vec<(&'static str, &'static str, String)>> {
    let flag = |difference: &SettingDifference| {
        let (then, _) = difference.values.as_ref()?;
        let (argument, flag) = match difference.what.as_str() {
            "repeat" => ("repeat", "--repeat"),
            "gate.minScore" => ("min_score", "--min-score"),
            "the agent's models" => ("model", "--model"),
            "the part of the suite" => ("partition", "--partition"),
            _ => return None,
        };
        let is_value = then != "nothing" && then != "all of it";
        is_value.then(|| (argument, flag, then.replace(", ", ",")))
    };
    differences.iter().map(flag).collect()
}

/// The command that was typed, with these flags.
fn flags_command(id: &str, flags: &[(&str, &str, String)], context: &Context) -> String {
    let resume = ResumeMode::Unfinished.flag();
    let without: Vec<&str> = ["resume", "retry_errors", "cassette_record", "cassette_replay"]
        .into_iter()
        .chain(flags.iter().map(|(argument, ..)| *argument))
        .collect();
    let with: Vec<&str> =
        [resume, id].into_iter().chain(flags.iter().flat_map(|(_, flag, value)| [*flag, value])).collect();
    rebuilt_command(&context.typed, CommandChanges { without: &without, with: &with, ..CommandChanges::default() })
}

fn difference_text(difference: &SettingDifference) -> String {
    let what = plain(&difference.what);
    match &difference.values {
        Some((then, now)) => {
            format!("{what}: {} then, {} now", one_line(&plain(then), VALUE), one_line(&plain(now), VALUE))
        }
        None => what,
    }
}

/// How a run of this plan would begin now, as it would be kept.
fn beginning_now(planned: &Planned, rng_seed: u64, context: &Context) -> Result<RunStart, CliError> {
    let internal = |what: String| CliError::Internal(what);
    let deps = RunDeps {
        id: String::new(),
        templates: planned.templates.clone(),
        credentials: context.credentials.clone(),
        clock: context.clock,
        rng_seed,
        random: Box::new(Context::random),
        on_wait: None,
        max_concurrency: 1,
        sink: Arc::new(|_| Ok(())),
        person: None,
        cassette: Cassette::Off,
        cache: Cache::OFF,
    };
    let engine = Engine::new(planned.plan.clone(), deps).map_err(|error| internal(error.to_string()))?;
    let provenance = Provenance { part: planned.part.clone(), ..engine.provenance(&planned.file) };
    let entry = engine.first_entry(provenance);
    let cleared = serde_json::to_vec(&entry).and_then(|line| context.redactor().cleared(&entry, &line));
    let entry = cleared.map_err(|error| internal(error.to_string()))?.unwrap_or(entry);
    RunStart::from_entry(completed(entry)).ok_or_else(|| internal("a run has no beginning".to_owned()))
}

/// The entry with its job as this version writes it: earlier ones may have left out what is new.
fn completed(entry: Entry) -> Entry {
    let Entry::RunStarted { version, id, at, provenance, job, templates, trials } = entry else { return entry };
    let again = |job: &serde_json::Value| serde_json::to_value(Job::restored(job).ok()?).ok().map(Box::new);
    let job = job.map(|job| again(&job).unwrap_or(job));
    Entry::RunStarted { version, id, at, provenance, job, templates, trials }
}

/// The steps of a run's `geval` metrics: those that its judge wrote are not asked for again.
fn steps_of(kept: &Job) -> WrittenSteps {
    let of_metric = |metric: &MetricConfig| match metric {
        MetricConfig::Geval(options) => Some((options.criteria.clone(), options.steps.clone())),
        _ => None,
    };
    let of_criteria = kept.metrics.iter().filter_map(|entry| of_metric(&entry.metric)).collect();
    WrittenSteps { judge: String::new(), of_criteria, usage: Usage::default(), cost: Cost::NOTHING }
}
