//! Whether a run that adds repetitions until its models differ has run enough of them.

use std::io;

use super::compare::ComparedRun;
use crate::compare::{Comparison, ComparisonRules, Relation, compare};
use crate::plan::{Plan, ResumedTrials};
use crate::run::{Lanes, Rounds};
use crate::score::{Decision, RepeatsEnded, UntilDecided};
use crate::store::folder::JournalFile;

/// The rounds of a plan, as far as they are left; after each it is looked at the scores in the run that is `stored`.
pub(super) fn rounds<'a>(
    plan: &Plan,
    held: ResumedTrials,
    stored: impl Fn() -> JournalFile + Send + 'a,
    rng_seed: u64,
) -> Rounds<'a> {
    let looks = plan.looks_left(&held);
    let lanes = Box::new(plan.rounds(held, &looks).map(|lanes| lanes as Lanes<'a>));
    let Some(until) = plan.until.clone() else { return Rounds { lanes, ended: Box::new(|_| Ok(None)) } };
    let ended = move |place: usize| -> io::Result<Option<RepeatsEnded>> {
        let Some(repeats) = looks.get(place).copied() else { return Ok(None) };
        let run = ComparedRun::read(&mut stored()).map_err(io::Error::other)?;
        let decision = decision(&comparisons(&run, ComparisonRules::for_run(Some(&until), rng_seed)), repeats, &until);
        Ok(decision.map(|decision| RepeatsEnded { repeats, decision }))
    };
    Rounds { lanes, ended: Box::new(ended) }
}

/// Each model beside the first one.
fn comparisons(run: &ComparedRun, rules: ComparisonRules) -> Vec<Comparison> {
    let mut models = run.models.iter().map(|(side, scores)| (side, scores));
    let Some(first) = models.next() else { return Vec::new() };
    compare(&models.map(|other| [first, other]).collect::<Vec<_>>(), rules)
}

/// Why there are no more repetitions after these; `None` where there are.
fn decision(comparisons: &[Comparison], repeats: u32, until: &UntilDecided) -> Option<Decision> {
    let mut open = comparisons.iter().filter(|comparison| comparison.relation() == Relation::Inconclusive).peekable();
    let is_last = until.looks.last() == Some(&repeats);
    if open.peek().is_none() {
        return Some(Decision::Decided);
    }
    let is_hopeless = |comparison: &Comparison| comparison.scores.first().is_some_and(|it| !it.repeats_may_decide);
    match (open.all(is_hopeless), is_last) {
        (true, _) => Some(Decision::MoreCasesNeeded),
        (false, true) => Some(Decision::MostHeld),
        (false, false) => None,
    }
}
