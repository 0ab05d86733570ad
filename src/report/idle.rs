//! Cases whose figures say nothing of the agent, and agents that say nothing.

use super::{count, plain};
use crate::record::{Overview, TrialRecord};
use crate::score::{Score, composite};

/// The most cases that are named.
const NAMED: usize = 5;

/// The cases whose figures could not have been others, and those in which an agent that does nothing gets no less, a sentence each.
pub(super) fn idle_texts(run: &Overview) -> Vec<String> {
    let sentence = |cases: Vec<&str>, what: &str| {
        let more = cases.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let names = cases.iter().take(NAMED).map(|case| plain(case)).collect::<Vec<_>>().join(", ");
        let file = plain(&run.summary.provenance.job_file);
        let help = format!("`eval-job audit {file}` names what lets it pass");
        (!cases.is_empty()).then(|| format!("In {} {what} ({names}{more}); {help}", count(cases.len(), "case")))
    };
    let vacuous = sentence(run.doubts.vacuous_cases(), "nothing that counts could have failed, whatever the agent did");
    let idle = sentence(run.doubts.idle_cases(), "an agent that does nothing gets no less");
    vacuous.into_iter().chain(idle).collect()
}

/// Whether a conversation scores 0 only because the agent never replied: what was scored would have made more.
pub(super) fn scores_zero_for_silence(trial: &TrialRecord) -> bool {
    let is_silent = trial.evidence.as_ref().is_some_and(|evidence| !evidence.transcript.has_reply());
    let Some(card) = trial.scorecard.as_ref().filter(|card| is_silent && card.score() == Some(Score::ZERO)) else {
        return false;
    };
    composite(&card.dimensions, card.failure_count).score().is_some_and(|score| score > Score::ZERO)
}

/// The rule by which such conversations score 0.
pub(super) fn silence_text(silent: usize) -> Option<String> {
    let each = if silent == 1 { "it scores 0" } else { "each scores 0" };
    (silent > 0).then(|| {
        format!(
            "In {} the agent never replied: {each}, whatever holds of what it never touched",
            count(silent, "conversation")
        )
    })
}
