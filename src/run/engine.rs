//! The engine: everything that carrying out a plan needs, and a run from its first entry to its last.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use super::budget::{Budget, RestOfTrial, TrialNeeds};
use super::clients::{ClientError, Clients, Credentials};
use super::lanes::{self, TimeLimit};
use super::metered_call::CallRecorder;
use super::preflight::PreflightFailure;
use super::provenance::prices;
use super::refusals::ModelRefusals;
use super::resources::RunResources;
use super::sink::{Durability, Sink, TapedSink};
use super::stuck_persona::StuckPersona;
use crate::cache::Cache;
use crate::cassette::Cassette;
use crate::clock::{Clock, Stopwatch, watch_for_pauses};
use crate::conversation::guard;
use crate::evidence::Usage;
use crate::limiter::OnWait;
use crate::llm::Llm;
use crate::money::{Amount, Dollars, SpendLimits};
use crate::plan::{Lane, Plan, Trial};
use crate::prompt::{Templates, USER_TOOLS_TEMPLATE};
use crate::record::{Entry, FORMAT_VERSION, Provenance};
use crate::score::{Outcome, RepeatsEnded};

/// Unpredictable numbers of 53 bits each.
pub type RandomSource = dyn Fn() -> u64 + Send + Sync;

/// Everything that carrying out a plan needs beside the plan.
pub struct RunDeps {
    /// The run's id.
    pub id: String,
    /// The prompts.
    pub templates: Templates,
    /// Keys, passwords and addresses.
    pub credentials: Credentials,
    /// The clock.
    pub clock: Clock,
    /// The seed of every random choice that can be made again.
    pub rng_seed: u64,
    /// The source of tokens and passwords.
    pub random: Box<RandomSource>,
    /// Called before a long wait: for a rate limit, or for the agent's greeting.
    pub on_wait: Option<Arc<OnWait>>,
    /// The most lanes that run at once, 1 or more.
    pub max_concurrency: usize,
    /// The sink of all entries.
    pub sink: Arc<dyn Sink>,
    /// A person who speaks in the place of the persona's model.
    pub person: Option<Arc<dyn Llm>>,
    /// Whether its exchanges are recorded or replayed.
    pub cassette: Cassette,
    /// The cache of judges' verdicts, where it may be used; nothing is taken from it in replay.
    pub cache: Cache,
}

/// A plan with everything that carrying it out needs.
pub struct Engine {
    pub(super) id: String,
    /// The plan.
    pub plan: Plan,
    pub(super) templates: Templates,
    pub(super) clients: Clients,
    pub(super) resources: RunResources,
    pub(super) budget: Arc<Budget>,
    pub(super) calls: CallRecorder,
    pub(super) clock: Clock,
    /// Since the engine was made: what `limits.time` counts from.
    pub(super) since: Stopwatch,
    pub(super) rng_seed: u64,
    pub(super) on_wait: Option<Arc<OnWait>>,
    pub(super) max_concurrency: usize,
    pub(super) sink: Arc<dyn Sink>,
    pub(super) cassette: Cassette,
    pub(super) cache: Cache,
    pub(super) refusals: ModelRefusals,
    pub(super) stuck_persona: StuckPersona,
}

impl Engine {
    /// The engine of a plan. Nothing is contacted before a trial asks.
    ///
    /// # Errors
    /// Why a client can't be made.
    pub fn new(plan: Plan, deps: RunDeps) -> Result<Engine, ClientError> {
        let RunDeps {
            id,
            templates,
            credentials,
            clock,
            rng_seed,
            random,
            on_wait,
            max_concurrency,
            sink,
            person,
            cassette,
            cache,
        } = deps;
        let sink: Arc<dyn Sink> = match &cassette {
            Cassette::Off => sink,
            _ => Arc::new(TapedSink { sink, cassette: cassette.clone() }),
        };
        let cache = if cassette.is_replayed() { Cache::OFF } else { cache };
        // Nothing is spent in replay, and what a limit ended then is noted.
        let spend = if cassette.is_replayed() { SpendLimits::default() } else { plan.job.limits.spend() };
        let budget = Arc::new(Budget::new(&plan, spend, clock, rng_seed, on_wait.clone()));
        let mut clients = Clients::new(&plan, credentials, &budget)?;
        if person.is_some() {
            clients.models.persona = person;
        }
        let token_key = cassette.header().map(|header| header.token_key);
        let (resources, since) = (RunResources::new(random, token_key), clock.start());
        Ok(Engine {
            id,
            plan,
            templates,
            clients,
            resources,
            calls: CallRecorder::new(sink.clone(), budget.clone(), clock),
            budget,
            clock,
            since,
            rng_seed,
            on_wait,
            max_concurrency,
            sink,
            cassette,
            cache,
            refusals: ModelRefusals::default(),
            stuck_persona: StuckPersona::default(),
        })
    }

    /// Counts what was spent on the run before its first conversation towards its limits, beside the most that requests of which
    /// the usage is unknown can have cost.
    pub fn spent_before(&self, usage: &Usage, dollars: Dollars, set_aside: Amount) {
        let tokens = usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0));
        self.budget.spend_tracker.spend(Amount { dollars, tokens }.plus(set_aside));
    }

    /// The most that one conversation of the run has cost before, and whether one has come to its end: at a limit that leaves less none
    /// is begun.
    pub fn costliest_before(&self, costliest: Amount, has_ended: bool) {
        self.budget.costliest_before(costliest, has_ended);
    }

    /// The most by which what was set aside for a request of the run was more than it cost, before it was resumed.
    pub fn margin_before(&self, margin: Amount) {
        self.budget.spend_tracker.margin_before(margin);
    }

    /// So much could a request of the run cost that did not fit any more before it was resumed. Where it still does not fit nothing
    /// is begun. What was spent is counted first.
    pub fn refused_before(&self, most: Amount) {
        self.budget.spend_tracker.refused_before(most);
    }

    /// Waits until a trial may begin; `false` if it may not.
    pub(super) async fn admits(&self, trial: &Trial) -> bool {
        let stops = !self.cassette.is_replayed() && self.refusals.stop();
        let rest = trial.left.as_ref().map(|left| RestOfTrial { spent: left.spent, turns: left.turns_to_go_on_from() });
        let needs = TrialNeeds { together: trial.together, rest };
        !stops && self.cassette.was_held(&trial.id) && self.budget.admits_with(trial.id.number, needs).await
    }

    /// The limit on money or tokens that leaves nothing for a step of a trial; `when` is that step, once in a conversation.
    pub(super) fn exhausted(&self, trial: u32, when: &str) -> Option<String> {
        let exhausted = self.budget.spend_tracker.exhausted().map(|limit_exceeded| limit_exceeded.to_string());
        self.cassette.tape(trial).noted(when, exhausted)
    }

    /// The first entry of a run of this plan.
    pub fn first_entry(&self, provenance: Provenance) -> Entry {
        Entry::RunStarted {
            version: FORMAT_VERSION,
            id: self.id.clone(),
            at: self.clock.wall(),
            provenance: Box::new(provenance),
            job: serde_json::to_value(&*self.plan.job).ok().map(Box::new),
            templates: self.recorded_templates(),
            trials: self.plan.trials().map(|trial| trial.id).collect(),
        }
    }

    /// The texts of the prompts of the run.
    fn recorded_templates(&self) -> BTreeMap<String, String> {
        let job = &self.plan.job;
        let of_tools = self.templates.sources().get_key_value(USER_TOOLS_TEMPLATE);
        let of_tools =
            of_tools.filter(|_| !job.persona.tools.is_empty()).map(|(name, text)| (name.clone(), text.clone()));
        self.templates.recorded(job.asks_questions()).into_iter().chain(of_tools).collect()
    }

    async fn begin(&self, provenance: Provenance) -> io::Result<()> {
        self.sink.append(self.first_entry(provenance))?;
        self.sink.kept(Durability::Machine).await
    }

    async fn begin_again(&self, stop: RunBreak) -> io::Result<()> {
        let (limits, RunBreak { stopped_at, may_lack_turns }) = (&self.plan.job.limits, stop);
        let prices = prices(&self.plan);
        self.sink.append(Entry::RunResumed {
            at: self.clock.wall(),
            stopped_at,
            may_lack_turns,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            cost_limit: limits.cost,
            token_limit: limits.tokens,
            time_limit: limits.run_seconds,
            prices: prices.models,
            prices_dated: prices.dated,
        })?;
        self.sink.kept(Durability::Machine).await
    }

    async fn finish(&self, interrupted: bool) -> io::Result<()> {
        self.sink.append(Entry::RunFinished { at: self.clock.wall(), interrupted })?;
        self.sink.kept(Durability::Machine).await
    }
}

/// Records a run in which no conversation could begin, for these reasons: each trial is broken, and no request was made.
///
/// # Errors
/// Those of the sink.
pub async fn refuse(engine: Arc<Engine>, provenance: Provenance, failures: &[PreflightFailure]) -> io::Result<()> {
    engine.begin(provenance).await?;
    let error = failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and ");
    for planned in engine.plan.trials() {
        let (trial, outcome) = (planned.id.number, Outcome::Broken { error: error.clone() });
        engine.sink.append(Entry::TrialStarted { trial, at: engine.clock.wall(), case: None })?;
        engine.sink.append(Entry::TrialFinished { trial, at: engine.clock.wall(), outcome, scorecard: None })?;
    }
    engine.close().await;
    engine.finish(false).await
}

/// Runs the trials of these rounds: the lanes of [`Plan::lanes`], or those of [`Plan::rounds`]. A lane is taken when it can begin,
/// its trials one by one. Returns whether the run was interrupted.
///
/// # Errors
/// Only those of the sink: everything else is an outcome.
pub async fn run(
    engine: Arc<Engine>,
    provenance: Provenance,
    rounds: Rounds<'_>,
    interrupt: CancellationToken,
) -> io::Result<bool> {
    engine.begin(provenance).await?;
    carry_out(engine, rounds, interrupt).await
}

/// How an earlier run had stopped.
#[derive(Debug, Clone, Copy)]
pub struct RunBreak {
    /// When, as far as known.
    pub stopped_at: Option<DateTime<Utc>>,
    /// Whether the end of its journal may be lost.
    pub may_lack_turns: bool,
}

/// Goes on with an earlier run, which had stopped so: with the trials of these rounds, those of [`Plan::rounds`]. Returns whether
/// it was interrupted.
///
/// # Errors
/// Those of [`run`].
pub async fn resume(
    engine: Arc<Engine>,
    stop: RunBreak,
    rounds: Rounds<'_>,
    interrupt: CancellationToken,
) -> io::Result<bool> {
    engine.begin_again(stop).await?;
    carry_out(engine, rounds, interrupt).await
}

/// The lanes of a round, each made when it can begin.
pub type Lanes<'a> = Box<dyn Iterator<Item = Lane> + Send + 'a>;

/// Lanes that are handed over one round after the other, and who decides after each but for the first few whether there is
/// another one.
pub struct Rounds<'a> {
    /// The lanes of each round.
    pub lanes: Box<dyn Iterator<Item = Lanes<'a>> + Send + 'a>,
    /// Asked when a round has come to its end and everything of it is kept, with its place from 0: why there are no more
    /// repetitions, or nothing where the next round begins.
    pub ended: Box<dyn FnMut(usize) -> io::Result<Option<RepeatsEnded>> + Send + 'a>,
}

impl<'a> Rounds<'a> {
    /// One round, and nothing is decided.
    pub fn one(lanes: Lanes<'a>) -> Rounds<'a> {
        Rounds { lanes: Box::new(std::iter::once(lanes)), ended: Box::new(|_| Ok(None)) }
    }
}

/// Holds the rounds until one says that it was the last, or is not run to its end. Returns whether every trial was finished.
async fn hold(
    engine: &Arc<Engine>,
    mut rounds: Rounds<'_>,
    interrupt: &CancellationToken,
    time: &Arc<TimeLimit>,
) -> io::Result<bool> {
    for (place, lanes) in rounds.lanes.enumerate() {
        if !lanes::carry_out(engine, lanes, interrupt, time).await? || interrupt.is_cancelled() {
            return Ok(false);
        }
        engine.sink.kept(Durability::Machine).await?;
        if let Some(ended) = (rounds.ended)(place)? {
            engine.sink.append(Entry::RepeatsEnded { at: engine.clock.wall(), ended })?;
            break;
        }
    }
    Ok(true)
}

/// Loads what the guards look for, off the threads that read the agent's replies: in a conversation that time would be the agent's.
async fn load_phrases(engine: &Engine) -> io::Result<()> {
    let has_persona = engine.clients.persona().is_some() && engine.plan.job.cases.iter().any(|it| it.user.is_persona());
    if !has_persona && engine.plan.job.cases.iter().all(|case| case.facts.is_empty()) {
        return Ok(());
    }
    tokio::task::spawn_blocking(guard::load)
        .await
        .map_err(|error| io::Error::other(format!("eval-job itself failed: {error}")))
}

async fn carry_out(engine: Arc<Engine>, rounds: Rounds<'_>, interrupt: CancellationToken) -> io::Result<bool> {
    watch_for_pauses();
    load_phrases(&engine).await?;
    let seconds = engine.plan.job.limits.run_seconds.filter(|_| !engine.cassette.is_replayed());
    let time = Arc::new(TimeLimit::new(seconds, engine.since));
    let carried_out = hold(&engine, rounds, &interrupt, &time).await;
    engine.close().await;
    let whole = carried_out?;
    let interrupted = interrupt.is_cancelled();
    let limit_exceeded = engine.budget.spend_tracker.limit_exceeded().map(|limit_exceeded| limit_exceeded.to_string());
    let out_of_time = (!whole && time.is_up()).then(|| time.to_string());
    if let Some(why) = engine.cassette.noted_limit(out_of_time.or(limit_exceeded).or(engine.refusals.why())) {
        let wanted = engine.budget.spend_tracker.largest_refused();
        engine.sink.append(Entry::LimitReached { at: engine.clock.wall(), why, wanted })?;
    }
    engine.finish(interrupted).await?;
    Ok(interrupted)
}
