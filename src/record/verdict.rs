//! The verdict on a run; the printed verdict and the exit status both come from here.

use serde::{Deserialize, Serialize};

use super::{GateState, Overview, gate_lines};
use crate::score::OnInconclusive;

/// The verdict on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Every figure is there and the gate, if there is one, is passed.
    Passed,
    /// A figure is below the gate, a case is below the threshold of a metric, or an assertion that must show something of the conversation can't fail or held before
    /// it; no other figure is missing.
    GateFailed,
    /// There were too few conversations to tell whether the gate is met.
    Inconclusive,
    /// Some figure is missing: agent unreachable, persona, judge or graph broken, or the run was killed.
    Incomplete,
    /// Its user stopped it.
    Interrupted,
}

impl Verdict {
    /// The verdict on a run.
    pub(super) fn new(run: &Overview) -> Verdict {
        let summary = &run.summary;
        if summary.interrupted {
            return Verdict::Interrupted;
        }
        // Results that are missing only for the gate's own subject fail the gate.
        let vacuous = run.fails_for_what_held_before();
        if Verdict::lacks_whole(run) || run.groups.iter().any(|group| group.outline().lacks_figure(vacuous)) {
            return Verdict::Incomplete;
        }
        let below = summary.provenance.min_score.is_some_and(|gate| {
            summary.figures.iter().any(|figure| figure.figure.score().is_none_or(|score| score.is_below(gate)))
        });
        let states: Vec<GateState> = gate_lines(run).iter().map(|line| line.state).collect();
        let is_broken = states.contains(&GateState::Broken);
        let is_open = states.contains(&GateState::Undecided);
        match summary.provenance.gate.on_inconclusive {
            _ if below || is_broken || vacuous || run.below_thresholds().next().is_some() => Verdict::GateFailed,
            OnInconclusive::Fail if is_open => Verdict::GateFailed,
            OnInconclusive::Tell if is_open => Verdict::Inconclusive,
            _ => Verdict::Passed,
        }
    }

    /// Whether the run as a whole lacks something, whatever figures its conversations have.
    pub(super) fn lacks_whole(run: &Overview) -> bool {
        let provenance = &run.summary.provenance;
        let is_invalid = provenance.min_validity.is_some_and(|least| run.validity.is_below(least));
        let lacks_part = provenance.merged.as_ref().is_some_and(|merged| !merged.missing.is_empty());
        is_invalid || lacks_part || run.is_damaged || run.unfinished > 0 || provenance.models.is_empty()
    }

    /// The exit status that stands for it.
    pub fn exit_status(self) -> u8 {
        match self {
            Verdict::Passed => 0,
            Verdict::GateFailed => 100,
            Verdict::Inconclusive => 101,
            Verdict::Incomplete => 102,
            Verdict::Interrupted => 130,
        }
    }

    /// The verdict's name.
    pub fn label(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::GateFailed => "gate failed",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Incomplete => "incomplete",
            Verdict::Interrupted => "interrupted",
        }
    }
}
