//! What kept a conversation from a score, or from going on.

use crate::record::TrialRecord;
use crate::score::Outcome;

/// That the agent failed, though there is a score of what was said before; and why there is no score.
pub(super) fn lost_texts(trial: &TrialRecord) -> Vec<String> {
    let failed = match &trial.outcome {
        Some(outcome @ Outcome::AgentFailed { error }) => Some(format!("{}: {error}", outcome.label())),
        _ => None,
    };
    failed.into_iter().chain(trial.why_no_score()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, TrialId};
    use crate::score::{Component, Score, Scorecard};

    #[test]
    fn an_agent_that_failed_is_told_also_where_there_is_a_score() {
        let id = || TrialId {
            number: 1,
            case: "c".to_owned(),
            model: "m".to_owned(),
            condition: Condition::WithFacts,
            repeat: 1,
        };
        let told = |outcome: Outcome, composite: Component| {
            let scorecard = Some(Scorecard { dimensions: Vec::new(), failure_count: 0, penalty: 0.0, composite });
            lost_texts(&TrialRecord { outcome: Some(outcome), scorecard, ..TrialRecord::planned(id()) })
        };
        let scored = || Component::scored(Score::ONE, "");
        let failed = || Outcome::AgentFailed { error: "boom".to_owned() };
        assert_eq!(told(failed(), scored()), ["agent failed: boom"]);
        assert_eq!(told(failed(), Component::missing("no verdict")), ["agent failed: boom", "no verdict"]);
        assert_eq!(told(Outcome::Graded, scored()), [""; 0]);
    }
}
