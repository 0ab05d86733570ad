//! `eval-job compare [RUN…]`, and the gate's comparison with a baseline.

mod baseline;
mod bridge;
mod read;

use std::sync::Arc;

use super::args::{CompareArgs, runs_dir_flag};
use super::context::Context;
use super::error::CliError;
use super::export::Printed;
use super::invocation::Invocation;
use super::printer::Printer;
use super::team;
use crate::compare::{
    Comparison, ComparisonRules, Relation, RuleDifference, ScoredSide, Scores, Side, compare as compared,
};
use crate::record::Verdict;
use crate::report;
use crate::store::folder::RunsFolder;
use bridge::BridgeOutcome;
pub(super) use read::ComparedRun;

pub(super) use baseline::{baseline_check, missing_baseline, note_check, recorded_check};

/// Why runs can't be compared.
#[derive(Debug, thiserror::Error)]
pub(super) enum CompareError {
    /// A single run has a single model.
    #[error("run {run} has one model, {model}: there is nothing to compare it with")]
    Alone { run: String, model: String },
    /// A run is named twice.
    #[error("{run} and {other} are the same run")]
    Twice { run: String, other: String },
    /// Runs of several models have none in common.
    #[error("runs {first} and {second} have no model in common ({} and {})", .models[0].join(", "), .models[1].join(", "))]
    NoSharedModel { first: String, second: String, models: Box<[Vec<String>; 2]> },
    /// Runs have no case in common.
    #[error("runs {first} ({}) and {second} ({}) have no case in common", .jobs[0], .jobs[1])]
    NoSharedCase { first: String, second: String, jobs: Box<[String; 2]> },
    /// Runs were not made by the same rules.
    #[error("runs {first} and {second} were not run alike, so that their scores say nothing of each other{}", lines(.differences))]
    HeldApart { first: String, second: String, differences: Vec<RuleDifference> },
    /// Not two runs are to be bridged.
    #[error("--bridge judges the older of two runs again, and {0}")]
    NoBridge(String),
}

fn lines(differences: &[RuleDifference]) -> String {
    let line = |it: &RuleDifference| format!("\n  {}: {} and {}", it.what, it.first, it.second);
    differences.iter().map(line).collect()
}

impl CompareError {
    /// The remedy to suggest.
    pub(super) fn help(&self) -> &'static str {
        match self {
            CompareError::Alone { .. } => "name a second run, or compare models in one: eval-job run --model a,b",
            CompareError::Twice { .. } => "name two runs; eval-job list shows them",
            CompareError::NoSharedModel { .. } => "compare runs of one model each, or hold both with the same models",
            CompareError::NoSharedCase { .. } => "compare runs of one job, with the same kinds of users (--persona)",
            CompareError::HeldApart { differences, .. } if differences.iter().all(|it| it.is_of_judging) => {
                "--bridge, which judges the older run again by the job of the newer one"
            }
            CompareError::HeldApart { .. } => "hold both runs by the same job",
            CompareError::NoBridge(_) => "name two runs: eval-job compare OLD NEW --bridge",
        }
    }
}

/// Compares runs with the first one, or the models of a single one. The status is 100 where one is worse, 101 where that is open,
/// 102 where a run that is judged again was not judged to the end.
pub(super) fn compare(args: &CompareArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let newest = [None];
    let named: Vec<Option<&str>> = args.runs.iter().map(|run| Some(run.as_str())).collect();
    let named = if named.is_empty() { &newest[..] } else { &named };
    team::bring(named, &args.runs_dir.runs_dir, context, printer)?;
    let mut runs = named.iter().map(|id| open(*id, args, context, printer)).collect::<Result<Vec<_>, CliError>>()?;
    for (place, run) in runs.iter().enumerate() {
        if let Some(first) = runs[..place].iter().position(|known| known.id == run.id) {
            let [run, other] = [first, place].map(|place| args.runs[place].clone());
            return Err(CompareError::Twice { run, other }.into());
        }
    }
    let bridge = match args.bridge {
        true => bridge::bridge(named, &mut runs, Invocation { args, context, printer })?,
        false => BridgeOutcome::Alike,
    };
    let bridge = match bridge {
        BridgeOutcome::Interrupted => return Ok(Verdict::Interrupted.exit_status()),
        BridgeOutcome::Alike => None,
        BridgeOutcome::Again(bridge) => Some(bridge),
    };
    let rules = rules(args, &runs);
    let comparisons = compared(&pairs(&runs)?, rules);
    let shown = report::Compared { comparisons: &comparisons, bridge: bridge.as_ref(), rules };
    match args.json {
        true => {
            let out = Printed { printer, bytes: Vec::new() };
            report::write_comparisons(&shown, out).map_err(CliError::Stdout)?;
        }
        false => printer.data(&report::comparisons(&shown, context.screen(args.verbose)))?,
    }
    if !args.json && runs.len() > 1 {
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        let flag = runs_dir_flag(&args.runs_dir.runs_dir);
        printer.note(&format!(
            "what each of them said: eval-job show {}{flag}",
            ids.join(&format!("{flag}, eval-job show "))
        ));
    }
    match bridge.is_some_and(|bridge| bridge.stopped.is_some()) {
        true => Ok(Verdict::Incomplete.exit_status()),
        false => Ok(status(&comparisons)),
    }
}

/// The rules: those of the run where its own models are compared and repetitions were added until they differ.
fn rules(args: &CompareArgs, runs: &[ComparedRun]) -> ComparisonRules {
    let until = runs.first().filter(|_| runs.len() == 1).and_then(|run| run.until.as_ref());
    let usual = ComparisonRules::default();
    let rules = ComparisonRules::for_run(until, args.rng_seed);
    if args.min_effect == usual.min_effect { rules } else { ComparisonRules { min_effect: args.min_effect, ..rules } }
}

/// The exit status: a side that is worse outweighs one of which nothing is shown.
fn status(comparisons: &[Comparison]) -> u8 {
    let has = |relation| comparisons.iter().any(|comparison| comparison.relation() == relation);
    match () {
        () if has(Relation::Worse) => Verdict::GateFailed.exit_status(),
        () if has(Relation::Inconclusive) => Verdict::Inconclusive.exit_status(),
        () => 0,
    }
}

fn open(id: Option<&str>, args: &CompareArgs, context: &Context, printer: &Printer) -> Result<ComparedRun, CliError> {
    let store = RunsFolder::at(&args.runs_dir.runs_dir);
    let mut file = store.open_unattended(id)?.with_redactor(context.redactor().clone());
    // Messages are read only where they are shown.
    let run = match args.verbose || args.json {
        true => ComparedRun::read_with_transcripts(&mut file)?,
        false => ComparedRun::read(&mut file)?,
    };
    if let Some(note) = &file.note {
        let damaged = if run.is_damaged { format!("run {} is damaged: ", run.id) } else { String::new() };
        printer.note(&format!("note: {damaged}{note}"));
    }
    if let Some(verdict) = run.broken_off {
        let text = "conversations without a score are left out";
        printer.note(&format!("note: run {} is {}: {text}", run.id, verdict.label()));
    }
    Ok(run)
}

/// Which sides are compared with which.
fn pairs(runs: &[ComparedRun]) -> Result<Vec<[ScoredSide<'_>; 2]>, CliError> {
    let Some((first, others)) = runs.split_first() else { return Ok(Vec::new()) };
    if others.is_empty() {
        let mut models = first.models.iter().map(|(side, scores)| (side, scores));
        let one = models.next();
        let pairs: Vec<[ScoredSide<'_>; 2]> = models.filter_map(|other| Some([one?, other])).collect();
        if pairs.is_empty() {
            let model = first.names().concat();
            return Err(CompareError::Alone { run: first.id.clone(), model }.into());
        }
        return Ok(pairs);
    }
    let mut pairs = Vec::new();
    for other in others {
        let own = beside(first, other)?;
        for [(_, one), (_, another)] in &own {
            if !one.cases().iter().any(|case| another.has(case)) {
                let jobs = Box::new([&first.job, &other.job].map(|job| report::plain(job)));
                let (first, second) = (first.id.clone(), other.id.clone());
                return Err(CompareError::NoSharedCase { first, second, jobs }.into());
            }
            let differences = first.rules.differences(&other.rules, one, another);
            if !differences.is_empty() {
                let (first, second) = (first.id.clone(), other.id.clone());
                return Err(CompareError::HeldApart { first, second, differences }.into());
            }
        }
        pairs.extend(own);
    }
    Ok(pairs)
}

/// The models of two runs beside each other: those of the same name, or the only one of each.
fn beside<'a>(first: &'a ComparedRun, other: &'a ComparedRun) -> Result<Vec<[ScoredSide<'a>; 2]>, CompareError> {
    if let ([(one, scores)], [(another, others)]) = (first.models.as_slice(), other.models.as_slice()) {
        return Ok(vec![[(one, scores), (another, others)]]);
    }
    let shared = |(side, scores): &'a (Side, Scores)| Some([(side, scores), other.side(&side.model)?]);
    let pairs: Vec<[ScoredSide<'a>; 2]> = first.models.iter().filter_map(shared).collect();
    if pairs.is_empty() {
        let models = Box::new([first.names(), other.names()]);
        return Err(CompareError::NoSharedModel { first: first.id.clone(), second: other.id.clone(), models });
    }
    Ok(pairs)
}
