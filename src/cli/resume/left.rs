//! Which of the trials that were cut off go on where they were, and why others begin again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::super::error::CliError;
use crate::evidence::{Ending, Observed};
use crate::money::Amount;
use crate::plan::{BegunTrial, Plan, ResumedTrials, Trial, UnfinishedTrial};
use crate::record::TrialRecord;
use crate::report::count;
use crate::store::folder::JournalFile;

/// The trials that were cut off while their conversation was held, or after it.
#[derive(Debug, Default)]
pub(super) struct ResumeCounts {
    /// How many go on where they were.
    continued: usize,
    /// How many begin again, by the reason.
    restarted: BTreeMap<String, usize>,
}

impl ResumeCounts {
    /// Finds out which of these trials, each with what it has cost, go on where they were; the others begin again.
    ///
    /// # Errors
    /// When the journal can't be read.
    pub(super) fn take_up(
        run: &JournalFile,
        plan: &Plan,
        whole: &HashMap<u32, Amount>,
        held: &mut ResumedTrials,
    ) -> Result<ResumeCounts, CliError> {
        let mut left = ResumeCounts::default();
        if whole.is_empty() {
            return Ok(left);
        }
        for trial in plan.trials() {
            let Some(spent) = whole.get(&trial.id.number).copied() else { continue };
            let Some(record) = run.trial_numbered(trial.id.number)? else { continue };
            match continued(plan, CutOffTrial { trial: &trial, record, spent }, held) {
                Ok(begun) => {
                    left.continued += 1;
                    held.begun.insert(trial.id.number, begun);
                }
                Err(why) => *left.restarted.entry(why).or_default() += 1,
            }
        }
        Ok(left)
    }

    /// What comes of them, in a clause; empty where there are none.
    pub(super) fn description(&self) -> String {
        let continued = match self.continued {
            0 => String::new(),
            1 => "; 1 of them goes on where it was".to_owned(),
            several => format!("; {several} of them go on where they were"),
        };
        let restarted = self.restarted.iter().map(|(why, times)| {
            let begin = if *times == 1 { "begins" } else { "begin" };
            format!("; {} that was cut off {begin} again: {why}", count(*times, "conversation"))
        });
        std::iter::once(continued).chain(restarted).collect()
    }
}

/// A trial that was cut off.
struct CutOffTrial<'a> {
    trial: &'a Trial,
    record: TrialRecord,
    /// What it has cost.
    spent: Amount,
}

/// A trial as it goes on; else why it begins again.
fn continued(plan: &Plan, of: CutOffTrial<'_>, held: &ResumedTrials) -> Result<BegunTrial, String> {
    let CutOffTrial { trial, record, spent } = of;
    if record.is_cleared {
        return Err("what was said is not kept in full (a secret was cleared from it)".to_owned());
    }
    let (persona_usage, used_ms) = (record.persona_usage_so_far(), record.used_so_far());
    let was_over = record.outcome.is_some();
    let stopped_at = record.finished_at.or(held.stopped_at);
    let may_lack_turns = held.may_lack_turns || held.lacking_turns.contains(&trial.id.number);
    let TrialRecord { evidence, pending, farewell, mut judgements, discarded, replaced, resume_points, .. } = record;
    if was_over {
        judgements.retain(|judgement| matches!(judgement.reply, Observed::Seen(_)));
    }
    let evidence = evidence.ok_or_else(|| "no session was opened".to_owned())?;
    let was_calling = evidence.user_tool_calls.last().is_some_and(|call| call.result.is_none());
    if evidence.ending == Ending::CutOff && was_calling {
        return Err("a tool of the user was being called, and nobody knows what came of it".to_owned());
    }
    let lacks_reference = trial.case.reference.is_some() && evidence.reference.is_none();
    if (evidence.ending == Ending::CutOff || lacks_reference)
        && let Some(why) = plan.why_restarts(&trial.case)
    {
        return Err(why);
    }
    let left = UnfinishedTrial {
        evidence,
        pending,
        farewell,
        persona_usage,
        spent,
        judgements,
        used_ms,
        resume_points,
        stopped_at,
        may_lack_turns,
        was_over,
    };
    let (attempt, restart) = (discarded.len() as u32, replaced.len() as u32);
    Ok(BegunTrial { attempt, restart, left: Some(Arc::new(left)) })
}
