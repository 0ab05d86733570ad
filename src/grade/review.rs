//! A conversation beside what its case expects: call by call, for reports that show what went wrong with which tool.

use super::expected_turns;
use crate::evidence::{
    CallFinding, Evidence, ExpectationReview, MissedCall, ReviewedCall, ToolUse, TurnExpectation, ValueDifference,
};
use crate::job::{Case, Job};
use crate::metric::MetricConfig;
use crate::metric::trajectory::{
    Expectation, ExpectedCall, LettersOnly, TrajectoryCheck, TrajectoryInput, TrajectoryMatcher,
};

/// A trial beside what its case expects. Calls are compared as the job's first metric `trajectory` does; without one they
/// are not judged.
pub fn review(job: &Job, case: &Case, evidence: &Evidence) -> ExpectationReview {
    let uses = evidence.transcript.tool_uses();
    let turns = evidence.transcript.turns.iter().flat_map(|turn| std::iter::repeat_n(turn.number, turn.call_count()));
    let made =
        uses.into_iter().zip(turns).map(|(call, turn)| ReviewedCall { turn, call, finding: CallFinding::Unjudged });
    let mut review = ExpectationReview { made: made.collect(), ..ExpectationReview::default() };
    let check = job.metrics.iter().find_map(|entry| match &entry.metric {
        MetricConfig::Trajectory(check) => Some(&**check),
        _ => None,
    });
    for line in expected_turns(job, case) {
        let calls = line.expected.calls.as_deref().map(|calls| calls.iter().map(to_use).collect());
        let (turn, reply) = (line.turn, line.expected.reply.clone());
        review.turns.push(TurnExpectation { turn, say: line.say.to_owned(), reply, calls });
        compare(&mut review, check, &line.expected, Some(turn));
    }
    if let Some(expected) = &case.expected {
        review.calls = expected.calls.as_deref().map(|calls| calls.iter().map(to_use).collect());
        compare(&mut review, check, expected, None);
    }
    review
}

fn to_use(call: &ExpectedCall) -> ToolUse {
    let (args, result) = (call.args.clone().unwrap_or_default(), call.result.clone());
    ToolUse { id: None, tool: call.tool.clone(), args, result }
}

/// Compares the calls of a turn, or of all turns, with those that are expected.
fn compare(review: &mut ExpectationReview, check: Option<&TrajectoryCheck>, expected: &Expectation, turn: Option<u32>) {
    let Some(wanted) = &expected.calls else { return };
    review.expected += wanted.len();
    let Some(matcher) = check.and_then(|check| check.matcher(expected).ok()) else { return };
    let places: Vec<usize> =
        (0..review.made.len()).filter(|at| turn.is_none_or(|turn| review.made[*at].turn == turn)).collect();
    let actual: Vec<ToolUse> = places.iter().map(|at| review.made[*at].call.clone()).collect();
    let input = TrajectoryInput {
        expected: wanted,
        actual: &actual,
        goals: expected.goals.as_ref(),
        ..TrajectoryInput::default()
    };
    let Ok(trajectory) = matcher.compare(input, &LettersOnly) else { return };
    let mut findings: Vec<Option<CallFinding>> = vec![None; actual.len()];
    for made in trajectory.pairs.iter().flatten() {
        findings[*made] = Some(CallFinding::AsExpected);
    }
    for call in wanted.iter().zip(&trajectory.pairs).filter(|(_, made)| made.is_none()).map(|(call, _)| call) {
        match nearest(matcher, call, &actual, &findings) {
            Some((at, finding)) => findings[at] = Some(finding),
            None => review.missed.push(MissedCall { turn, call: to_use(call) }),
        }
    }
    let rest = if matcher.allows_other_calls() { CallFinding::Unjudged } else { CallFinding::NotExpected };
    for (at, finding) in places.into_iter().zip(findings) {
        let known = &mut review.made[at].finding;
        // What one expectation finds right, another one does not make wrong.
        if *known != CallFinding::AsExpected {
            *known = finding.unwrap_or_else(|| rest.clone());
        }
    }
}

/// The free call of the same tool that differs least, and how.
fn nearest(
    matcher: &TrajectoryMatcher,
    wanted: &ExpectedCall,
    actual: &[ToolUse],
    findings: &[Option<CallFinding>],
) -> Option<(usize, CallFinding)> {
    let free = actual.iter().enumerate().filter(|(at, made)| findings[*at].is_none() && made.tool == wanted.tool);
    let differing = free.filter_map(|(at, made)| Some((at, matcher.differences(wanted, made).ok()?)));
    let (at, differences) = differing.min_by_key(|(_, differences)| differences.len())?;
    let difference = |it: crate::metric::trajectory::CallDifference| ValueDifference {
        path: it.path,
        expected: it.expected,
        actual: it.actual,
    };
    let differences: Vec<ValueDifference> = differences.into_iter().map(difference).collect();
    let finding = if differences.is_empty() { CallFinding::OutOfOrder } else { CallFinding::Differs(differences) };
    Some((at, finding))
}

#[cfg(test)]
mod tests;
