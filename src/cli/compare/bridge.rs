//! `eval-job compare OLD NEW --bridge`: the older run is judged again by the job of the newer one.

use super::super::args::CompareArgs;
use super::super::error::CliError;
use super::super::grade;
use super::super::invocation::Invocation;
use super::read::ComparedRun;
use super::{CompareError, beside};
use crate::compare::{Bridge, RuleDifference};
use crate::record::TrialRecord;
use crate::report::{count, plain};
use crate::store::Store;
use crate::store::folder::RunsFolder;

/// The result of bridging.
pub(super) enum BridgeOutcome {
    /// Both runs were judged alike.
    Alike,
    /// The older run was judged again.
    Again(Bridge),
    /// It was interrupted; what was answered is kept.
    Interrupted,
}

/// Replaces the scores of the older of two runs by those that the job of the newer gives it.
pub(super) fn bridge(
    named: &[Option<&str>],
    runs: &mut [ComparedRun],
    invocation: Invocation<'_, CompareArgs>,
) -> Result<BridgeOutcome, CliError> {
    let Invocation { args, context, printer } = invocation;
    let [first, second] = runs else {
        let named = if runs.len() < 2 { "one is named" } else { "more are named" };
        return Err(CompareError::NoBridge(named.to_owned()).into());
    };
    let mut differences: Vec<RuleDifference> = Vec::new();
    for [(_, one), (_, other)] in beside(first, second)? {
        for difference in first.rules.differences(&second.rules, one, other) {
            if !differences.contains(&difference) {
                differences.push(difference);
            }
        }
    }
    if differences.is_empty() {
        return Ok(BridgeOutcome::Alike);
    }
    if !differences.iter().all(|difference| difference.is_of_judging) {
        // What differs in judging would be mended: the rest is what stands in the way.
        differences.retain(|difference| !difference.is_of_judging);
        let (first, second) = (first.id.clone(), second.id.clone());
        return Err(CompareError::HeldApart { first, second, differences }.into());
    }
    let older = usize::from(second.started_at < first.started_at);
    let store = RunsFolder::at(&args.runs_dir.runs_dir);
    let open = |place: usize| {
        let id = named.get(place).copied().flatten();
        store.open(id).map(|file| file.with_redactor(context.redactor().clone()))
    };
    let (mut older_file, mut newer_file) = (open(older)?, open(1 - older)?);
    let rules = runs[1 - older].rules.clone();
    let mut again = runs[older].without_trials(rules);
    let has_words = args.verbose || args.json;
    let each = |trial: &TrialRecord| again.add(trial, has_words);
    let Some(bridge) = grade::bridge(invocation, &mut older_file, &mut newer_file, each)? else {
        return Ok(BridgeOutcome::Interrupted);
    };
    runs[older] = again;
    let judge = plain(bridge.judge.as_deref().unwrap_or_default());
    let asked = match (bridge.asked, &bridge.stopped) {
        (0, _) => "nobody was asked".to_owned(),
        (_, Some(why)) => format!("{judge} was not asked to the end: {}", plain(why)),
        (asked, None) => format!("{judge} was asked about {}", count(asked, "conversation")),
    };
    let kept = bridge.kept.as_ref().map(|kept| format!("; kept in {}", plain(kept))).unwrap_or_default();
    printer.note(&format!("run {} is judged again by the job of run {}: {asked}{kept}", bridge.run, bridge.by));
    Ok(BridgeOutcome::Again(bridge))
}
