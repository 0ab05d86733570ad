//! What can be done for the conversations of a run that have no score.

use super::grade::can_be_judged;
use crate::evidence::Observed;
use crate::llm::CHECK_NAME;
use crate::record::TrialRecord;
use crate::score::Dimension;

/// What stands in errors that come of the job file, and come again with the same file.
const OF_JOB: [&str; 6] = [
    CHECK_NAME,
    "say.url says what was asked for",
    "open.url and its method say what was asked for",
    "state.url says what was asked for",
    "target.http.open.sessionId",
    "picks no text out of",
];

/// The conversations of a run that have no score, by what can be done for them.
#[derive(Debug, Default)]
pub(super) struct LostTrials {
    /// Some lack a verdict alone.
    pub(super) lack_verdict: bool,
    /// All verdicts are lacking because there is no judge of that name.
    pub(super) judge_is_misnamed: bool,
    /// Some broke and may go well when they are held again.
    pub(super) may_go: bool,
    /// Some broke and would break again.
    pub(super) go_never: bool,
}

impl LostTrials {
    /// Takes in a trial; `has_judge` where a model judges.
    pub(super) fn add(&mut self, trial: &TrialRecord, has_judge: bool) {
        let Some(outcome) = &trial.outcome else { return };
        let refused = trial.judgements.iter().find_map(|judgement| match &judgement.reply {
            Observed::Failed(error) => Some(error),
            Observed::Seen(_) => None,
        });
        let lacks_verdict = has_judge && can_be_judged(trial);
        // An agent that failed is scored by what there is, once there is a verdict.
        let is_open = trial.scorecard.as_ref().is_some_and(|card| card.score().is_none());
        match outcome.counts() {
            true if !(is_open && lacks_verdict && (refused.is_some() || lacks_usable_verdicts(trial))) => {
                self.may_go |= is_open && trial.is_to_be_retried();
                return;
            }
            false if !lacks_verdict => {
                let error = outcome.error().unwrap_or_default();
                let is_of_job = OF_JOB.iter().any(|sign| error.contains(sign));
                self.go_never |= is_of_job;
                self.may_go |= !is_of_job;
                return;
            }
            _ => {}
        }
        let is_misnamed = refused.is_some_and(|error| error.contains(CHECK_NAME));
        self.judge_is_misnamed = is_misnamed && (self.judge_is_misnamed || !self.lack_verdict);
        self.lack_verdict = true;
    }
}

/// Whether all that a trial's score lacks are verdicts that were given and can't be used.
fn lacks_usable_verdicts(trial: &TrialRecord) -> bool {
    let Some(card) = &trial.scorecard else { return false };
    // What was asked of a message that was sent again is withheld, whatever the judge says.
    if trial.evidence.as_ref().is_some_and(|evidence| evidence.turn_after_break().is_some()) {
        return false;
    }
    let of_judge = |dimension: &Dimension| {
        let metric = dimension.metric.as_deref().unwrap_or(&dimension.name);
        let asked = if metric == "tone" { "tasks" } else { metric };
        trial.judgements.iter().any(|it| it.question.split(['-', '@']).next() == Some(asked))
    };
    let missing = card.dimensions.iter().filter(|dimension| dimension.component.is_missing());
    missing.clone().next().is_some() && missing.into_iter().all(of_judge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Condition, TrialId};
    use crate::score::Outcome;

    fn lost(outcome: Outcome, has_judge: bool) -> LostTrials {
        let id = TrialId {
            number: 1,
            case: "c".to_owned(),
            model: "m".to_owned(),
            condition: Condition::WithoutFacts,
            repeat: 1,
        };
        let mut lost = LostTrials::default();
        lost.add(&TrialRecord { outcome: Some(outcome), ..TrialRecord::planned(id) }, has_judge);
        lost
    }

    #[test]
    fn what_the_job_file_is_to_blame_for_is_not_held_again() {
        let broken = |error: &str| lost(Outcome::Broken { error: error.to_owned() }, true);
        let of_job = "the persona's model: answered 404; check the name of the model, \"nope\", and OPENAI_BASE_URL";
        let made = broken(of_job);
        assert!(made.go_never && !made.may_go && !made.lack_verdict, "{made:?}");
        let address = "POST http://127.0.0.1:1/x: answered 404; target.http.say.url says what was asked for; or is the session over?";
        assert!(broken(address).go_never);
        let down =
            broken("the agent can't be reached; try starting the agent, or its own address in target.http.say.url");
        assert!(down.may_go && !down.go_never, "{down:?}");
    }
}
