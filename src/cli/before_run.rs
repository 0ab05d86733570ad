//! The state before a run: the checks of a new one, or the trials of one that goes on.

use tokio::runtime::Runtime;

use super::args::{ResumeMode, RunArgs};
use super::audit;
use super::compare::missing_baseline;
use super::error::CliError;
use super::grade::canaries;
use super::invocation::Invocation;
use super::planning::Planned;
use super::resume::{EarlierCosts, Resumed};
use super::signals::Signals;
use super::steps;
use crate::evidence::Usage;
use crate::money::{Amount, Dollars};
use crate::plan::ResumedTrials;
use crate::record::{CanaryCheck, StepsWritten};
use crate::report;

/// The state before a run.
pub(super) enum BeforeRun {
    /// It is a new one, for which this was found out.
    New(Box<Checks>),
    /// It was run before.
    Resumed(Box<Resumed>),
}

impl BeforeRun {
    /// The seed of the run, where it is known: that of the flag, or the one with which it was begun.
    pub(super) fn rng_seed(&self, args: &RunArgs) -> Option<u64> {
        match self {
            BeforeRun::New(_) => args.rng_seed,
            BeforeRun::Resumed(resumed) => Some(resumed.overview.summary.provenance.rng_seed),
        }
    }
}

/// The results of the checks before a new run.
#[derive(Debug, Clone, Default)]
pub(super) struct Checks {
    pub(super) steps: Option<StepsWritten>,
    pub(super) canaries: Option<CanaryCheck>,
    pub(super) trivial_score: Option<f64>,
}

/// Checks what can be checked before new runs of these jobs.
pub(super) fn checks(
    jobs: &mut [Planned],
    invocation: Invocation<'_, RunArgs>,
    runtime: &Runtime,
    signals: &Signals,
) -> Result<Vec<BeforeRun>, CliError> {
    let Invocation { args, context, printer } = invocation;
    for planned in jobs.iter() {
        let name = planned.plan.job.gate.baseline.as_deref();
        if let Some(text) = name.and_then(|name| missing_baseline(name, &args.runs.runs_dir)) {
            printer.note(&format!("{}: warning · {}", report::plain(&planned.file), report::plain(&text)));
        }
    }
    // What costs nothing goes first, for all of them.
    let trivial_scores = jobs.iter().map(|planned| audit::gate(planned.loaded(), runtime, context));
    let trivial_scores = trivial_scores.collect::<Result<Vec<_>, _>>()?;
    let mut before = Vec::new();
    for (planned, trivial_score) in jobs.iter_mut().zip(trivial_scores) {
        let steps = steps::write(planned, invocation, runtime, &signals.interrupt)?;
        let canaries = canaries(invocation, planned.loaded(), signals.clone(), &planned.cassette)?;
        before.push(BeforeRun::New(Box::new(Checks { steps, canaries, trivial_score })));
    }
    Ok(before)
}

/// How a run starts.
pub(super) enum Start {
    /// With its first entry, which tells what was found out before.
    New(Checks),
    /// After what was run and spent before.
    Resumed {
        held: ResumedTrials,
        spent: (Usage, Dollars),
        /// The most that requests without a reported usage can have cost.
        set_aside: Amount,
        /// What its conversations have cost, and what they would have.
        costs: EarlierCosts,
        mode: ResumeMode,
    },
}

impl Start {
    /// The flag that goes on with it again.
    pub(super) fn mode(&self) -> ResumeMode {
        match self {
            Start::New(_) => ResumeMode::Unfinished,
            Start::Resumed { mode, .. } => *mode,
        }
    }

    /// The most that earlier requests without a reported usage can have cost.
    pub(super) fn set_aside(&self) -> Amount {
        match self {
            Start::New(_) => Amount::default(),
            Start::Resumed { set_aside, .. } => *set_aside,
        }
    }

    /// What conversations of the run have cost before, and what they would have.
    pub(super) fn costs(&self) -> EarlierCosts {
        match self {
            Start::New(_) => EarlierCosts::default(),
            Start::Resumed { costs, .. } => *costs,
        }
    }

    /// The spending before.
    pub(super) fn spent(&self) -> (Usage, Dollars) {
        match self {
            Start::New(Checks { steps, canaries, .. }) => {
                let canaries = canaries.iter().map(|it| (it.usage, it.cost));
                let steps = steps.iter().map(|it| (it.usage, it.cost));
                canaries.chain(steps).fold(Default::default(), |(usage, sum), (more, cost)| {
                    (Usage::plus(usage, more), Dollars::plus(sum, cost.unwrap_or_default()))
                })
            }
            Start::Resumed { spent, .. } => *spent,
        }
    }
}
