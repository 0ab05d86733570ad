//! Cases whose figures say nothing of the agent, and agents that say nothing.

use super::{count, plain};
use crate::record::{Overview, TrialRecord};
use crate::score::{Score, composite};

/// The most cases that are named.
const NAMED: usize = 5;

/// The cases whose figures could not have been others, and those in which an agent that does nothing gets no less, a sentence each.
pub(super) fn idle_texts(run: &Overview) -> Vec<String> {
    // What a person says is no test.
    if run.summary.provenance.by_person {
        return Vec::new();
    }
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
    (silent > 0)
        .then(|| format!("In {} the agent never replied: {each}, whatever holds there", count(silent, "conversation")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, Evidence, Transcript, TrialId, Turn};
    use crate::score::{Component, Dimension, Scorecard, Weight};

    fn trial(replied: bool, held: Component) -> TrialRecord {
        let turn = if replied { Turn::answered(1, "Hi", "Hello") } else { Turn::begun(1, "Hi".to_owned()) };
        let evidence = Evidence { transcript: Transcript { turns: vec![turn] }, ..Evidence::sample() };
        let (case, model) = ("c".to_owned(), "m".to_owned());
        let id = TrialId { number: 1, case, model, condition: Condition::WithoutFacts, repeat: 1 };
        let dimensions = vec![Dimension::new("assertions", Weight::ONE, held)];
        let composite = Component::scored(Score::ZERO, "the agent never replied");
        let card = Scorecard { dimensions, failure_count: 0, penalty: 0.0, composite };
        TrialRecord { evidence: Some(evidence), scorecard: Some(card), ..TrialRecord::planned(id) }
    }

    #[test]
    fn the_rule_of_silence_is_told_where_it_decided() {
        let holds = || Component::scored(Score::ONE, "it holds");
        assert!(scores_zero_for_silence(&trial(false, holds())));
        assert!(!scores_zero_for_silence(&trial(true, holds())), "it replied");
        assert!(
            !scores_zero_for_silence(&trial(false, Component::scored(Score::ZERO, "it fails"))),
            "0 without the rule"
        );
        assert!(!scores_zero_for_silence(&trial(false, Component::missing("the graph is down"))));
        assert_eq!(silence_text(0), None);
        let words = "In 2 conversations the agent never replied: each scores 0, whatever holds there";
        assert_eq!(silence_text(2).as_deref(), Some(words));
    }
}
