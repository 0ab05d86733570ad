//! The environment of one trial: its graph, agent and user. It is set up before the first turn: graph, setups, agent, seeds.
//! Its time, turns and failures never count.
//!
//! Invariants: [`TrialEnv`] is the one owner of whatever was made for the trial. Closing it releases all and waits for it;
//! one that is dropped, because the trial was interrupted, asks its agent to end, and
//! [`RunResources`](super::resources::RunResources) does the rest.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::managed::ended;
use super::resources::StateProbe;
use super::seeds::{deliver_seeds, history};
use super::trial::TrialAbort;
use super::trial_graph::{TrialGraph, TrialGraphError};
use super::turn::with_hint;
use super::turn_parts::CaseTurns;
use super::written_results::WrittenResults;
use super::{Engine, audit};
use crate::agent::demo::DemoAgent;
use crate::agent::managed::{Lifeline, Listener, ManagedAgent, StartError};
use crate::agent::{Ability, Agent, AgentContext, AgentError, Hosting, Session, UnfinishedSession};
use crate::cassette::{Party, SessionOf, Tape, TapedAgent};
use crate::evidence::{Message, Role, Turn};
use crate::graph::{Graph, GraphError, GraphErrorKind, Parameters};
use crate::job::Target;
use crate::limiter::ConversationLimiter;
use crate::plan::{Trial, UnfinishedTrial};
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// The environment of one trial.
pub(super) struct TrialEnv<'a> {
    pub(super) engine: &'a Engine,
    pub(super) trial: &'a Trial,
    /// The graph that setups and assertions look at.
    pub(super) graph: Option<Arc<dyn Graph>>,
    /// The agent under test.
    pub(super) agent: Box<dyn Agent>,
    /// The agent whose turns are expected of it, where the case has one.
    pub(super) reference: Option<Reference>,
    /// The conversation's part of the limiter of all those with the same agent.
    pub(super) limiter: ConversationLimiter,
    /// The user that the agent talks with.
    pub(super) user: String,
    /// The trial's part of the cassette.
    pub(super) tape: Tape,
    /// Who makes up the results of tools.
    pub(super) writer: Arc<WrittenResults>,
    /// The messages that the conversation begins after, where seeds are delivered so.
    history: Vec<Message>,
    owned: Owned,
    /// Held where this conversation finds out for all whether the agent's state can be read.
    probe: Mutex<Option<StateProbe>>,
}

/// The reference agent. Its rate limits are its own.
pub(super) struct Reference {
    pub(super) agent: Box<dyn Agent>,
    pub(super) limiter: ConversationLimiter,
    /// The messages that its conversation begins after.
    pub(super) history: Vec<Message>,
}

/// The processes and graphs of a trial, its own or shared with others.
#[derive(Default)]
struct Owned {
    trial_graph: Option<Arc<TrialGraph>>,
    demo: Option<DemoAgent>,
    managed: Option<Arc<ManagedAgent>>,
}

/// Why something that a trial runs on could not be started.
#[derive(Debug, thiserror::Error)]
enum EnvError {
    #[error("the graph: {0}")]
    Graph(#[from] TrialGraphError),
    #[error("the demo agent could not be started: {0}")]
    Demo(#[from] io::Error),
    /// The agent that eval-job starts.
    #[error(transparent)]
    Managed(#[from] StartError),
    /// The agent's client.
    #[error(transparent)]
    Client(#[from] AgentError),
    /// The reference agent's client.
    #[error("the reference agent: {0}")]
    Reference(AgentError),
}

/// The extent of a setup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetupMode {
    /// All that a trial needs.
    Everything,
    /// All but setups in a database of the user's own, and seeds, which would remain after the trial.
    LeavesNoTrace,
    /// All but setups and seeds: they were carried out when the conversation that goes on was begun.
    IsContinued,
}

impl<'a> TrialEnv<'a> {
    /// Sets up what a trial runs on. The listener gets the output of an agent that eval-job starts.
    pub(super) async fn set_up(
        engine: &'a Engine,
        trial: &'a Trial,
        mode: SetupMode,
        listener: &Listener,
    ) -> Result<TrialEnv<'a>, TrialAbort> {
        let tape = engine.cassette.tape(trial.id.number);
        let writer = Arc::new(WrittenResults::new(engine, trial));
        let (owned, reference) = (Owned::default(), None);
        let mut setup = EnvSetup { engine, trial, mode, tape, writer, graph: None, owned, reference };
        // Boxed: the compiler's own limit for futures within futures is near.
        match Box::pin(setup.carry_out(listener)).await {
            Ok((agent, limiter)) => Ok(TrialEnv {
                engine,
                trial,
                graph: setup.graph.take(),
                agent,
                reference: setup.reference.take(),
                limiter,
                user: engine.user(trial),
                writer: setup.writer,
                history: match mode {
                    SetupMode::Everything | SetupMode::IsContinued => history(&engine.plan.job.target, &trial.case),
                    SetupMode::LeavesNoTrace => Vec::new(),
                },
                tape: setup.tape,
                owned: setup.owned,
                probe: Mutex::default(),
            }),
            Err(stop) => {
                setup.graph = None;
                setup.owned.release(engine).await;
                Err(stop)
            }
        }
    }

    /// Keeps this to the end of the conversation.
    pub(super) fn keep_probe(&self, probe: Option<StateProbe>) {
        *self.probe.lock().unwrap_or_else(PoisonError::into_inner) = probe;
    }

    /// Ends and deletes what was made for the trial.
    pub(super) async fn close(self) {
        drop((self.graph, self.agent, self.reference, self.limiter));
        self.owned.release(self.engine).await;
    }

    /// Opens the session in which the conversation is run.
    pub(super) async fn open(&self) -> Result<Box<dyn Session>, TrialAbort> {
        let mut lifeline = self.lifeline();
        tokio::select! {
            biased;
            opened = self.agent.open_after(&self.history) => {
                opened.map_err(|error| {
                    TrialAbort::broken(format!("no session could be opened: {}", with_hint(self.engine, &error)))
                })
            }
            how = ended(lifeline.as_mut()) => {
                Err(TrialAbort::broken(format!("the agent's process ended ({how}) when it was asked for a session")))
            }
        }
    }

    /// Takes up the session of a conversation that was cut off.
    pub(super) async fn reopen(&self, left: &UnfinishedTrial) -> Result<Box<dyn Session>, TrialAbort> {
        let UnfinishedTrial { evidence, resume_points, .. } = left;
        let of_turn = |turn: &Turn| {
            let user = (!turn.is_greeting()).then(|| Message::new(Role::User, turn.user.clone()));
            let reply = turn.agent.clone().map(|reply| Message::new(Role::Assistant, reply));
            user.into_iter().chain(reply)
        };
        let turns = &evidence.transcript.turns;
        let left = UnfinishedSession {
            id: evidence.session_id.clone(),
            messages: self.history.iter().cloned().chain(turns.iter().flat_map(of_turn)).collect(),
            turns: turns.iter().filter(|turn| !turn.is_greeting()).count() as u32,
            resume_points: resume_points.clone(),
        };
        let reopened = self.agent.reopen(&left).await;
        reopened.map_err(|error| TrialAbort::NotContinued(format!("the session could not be continued: {error}")))
    }

    /// Notifies when the agent's process has ended, where eval-job started it.
    pub(super) fn lifeline(&self) -> Option<Lifeline> {
        self.owned.lifeline()
    }

    /// A graph with nothing in it.
    pub(super) fn empty_graph(&self) -> Result<Arc<dyn Graph>, GraphError> {
        let empty: Option<Arc<dyn Graph>> = match self.tape.is_replayed() {
            true => None,
            false => Some(self.engine.empty_graph()?),
        };
        let absent = || GraphError { kind: GraphErrorKind::Other, message: "there is no empty graph".to_owned() };
        self.engine.taped(&self.tape, Party::EmptyGraph, empty).ok_or_else(absent)
    }

    /// The parameters that every statement gets.
    pub(super) fn parameters(&self, session_id: &str) -> Parameters {
        self.engine.parameters(self.trial, Some(session_id))
    }
}

impl Owned {
    fn graph(&self) -> Option<Arc<dyn Graph>> {
        self.trial_graph.as_ref().map(|trial_graph| trial_graph.graph.clone())
    }

    fn lifeline(&self) -> Option<Lifeline> {
        self.managed.as_ref().map(|agent| agent.lifeline())
    }

    /// Ends all that no other trial uses.
    async fn release(self, engine: &Engine) {
        if let Some(demo) = self.demo {
            demo.stop().await;
        }
        if let Some(managed) = self.managed {
            managed.wait_for_output().await;
            if let Some(managed) = Arc::into_inner(managed) {
                managed.stop().await;
            }
        }
        if let Some(trial_graph) = self.trial_graph {
            engine.release_graph(trial_graph).await;
        }
    }
}

/// A setup that is under way. It owns what it has started, so that it is released even if the rest fails.
struct EnvSetup<'a> {
    engine: &'a Engine,
    trial: &'a Trial,
    mode: SetupMode,
    tape: Tape,
    writer: Arc<WrittenResults>,
    /// The graph as the trial sees it.
    graph: Option<Arc<dyn Graph>>,
    owned: Owned,
    reference: Option<Reference>,
}

impl EnvSetup<'_> {
    async fn carry_out(&mut self, listener: &Listener) -> Result<(Box<dyn Agent>, ConversationLimiter), TrialAbort> {
        let (engine, trial, transport) = (self.engine, self.trial, &self.engine.plan.job.target.transport);
        self.set_up_graph().await?;
        self.run_setups().await?;
        if engine.plan.is_audit
            && let Some(agent) = audit::agent(trial, self.owned.graph()).await
        {
            return Ok((agent, engine.budget.conversation_limiter(&engine.plan)));
        }
        let limiter = engine.budget.conversation_limiter(&engine.plan);
        let connected = match self.tape.is_replayed() {
            true => Ok(None),
            false => self.connect(limiter.clone(), listener).await.map(Some),
        };
        let agent = self.tried("the agent's start", connected)?;
        let agent = self.taped(Party::Agent, || self.agent_context(limiter.clone()), agent)?;
        if let (Some(target), Some(_)) = (&engine.plan.job.reference, trial.case.reference) {
            let limiter = engine.budget.reference_limiter.open_conversation();
            let context = || AgentContext {
                user: target.user.clone(),
                chatbot: target.chatbot.clone(),
                started_at: None,
                turns: self.turns().parts(target, |line| &line.reference_mocks),
                api_key: self.reference_key(target),
                ..self.agent_context(limiter.clone())
            };
            let connected = match self.tape.is_replayed() {
                true => Ok(None),
                false => target.transport.connect(context()).map(Some),
            };
            let agent = self.tried("the reference agent's start", connected.map_err(EnvError::Reference))?;
            let agent = self.taped(Party::Reference, context, agent)?;
            self.reference = Some(Reference { agent, limiter, history: history(target, &trial.case) });
        }
        if self.mode == SetupMode::Everything && !transport.can(Ability::TakesHistory) {
            let mut lifeline = self.owned.lifeline();
            tokio::select! {
                biased;
                delivered = deliver_seeds(engine, trial, agent.as_ref()) => delivered?,
                how = ended(lifeline.as_mut()) => {
                    return Err(TrialAbort::broken(format!("the agent's process ended ({how}) while it was given its seeds")));
                }
            }
        }
        Ok((agent, limiter))
    }

    async fn set_up_graph(&mut self) -> Result<(), TrialAbort> {
        let made = match self.tape.is_replayed() {
            true => Ok(None),
            false => self.engine.trial_graph(self.trial).await.map_err(EnvError::Graph),
        };
        self.owned.trial_graph = self.tried("the graph's start", made)?;
        self.graph = self.engine.taped(&self.tape, Party::Graph, self.owned.graph());
        Ok(())
    }

    /// Starts the agent, where that is ours to do, and makes a client for it.
    async fn connect(&mut self, limiter: ConversationLimiter, listener: &Listener) -> Result<Box<dyn Agent>, EnvError> {
        let (engine, transport) = (self.engine, &self.engine.plan.job.target.transport);
        if let (Hosting::InProcess, Some(graph)) = (transport.hosting(), self.owned.graph()) {
            self.owned.demo = Some(DemoAgent::start(graph, engine.clock).await?);
        }
        self.owned.managed = engine.managed_agent(self.owned.trial_graph.as_deref(), listener).await?;
        Ok(transport.connect(self.agent_context(limiter))?)
    }

    /// The part that was started. In replay the recorded error takes precedence.
    fn tried<T>(&self, what: &str, made: Result<T, EnvError>) -> Result<T, TrialAbort> {
        match (self.tape.noted(what, made.as_ref().err().map(ToString::to_string)), made) {
            (None, Ok(made)) => Ok(made),
            (Some(error), _) => Err(TrialAbort::broken(error)),
            (None, Err(error)) => Err(TrialAbort::broken(error.to_string())),
        }
    }

    /// An agent as the trial meets it: itself, or in replay what is recorded of it.
    fn taped(
        &self,
        party: Party,
        context: impl Fn() -> AgentContext,
        agent: Option<Box<dyn Agent>>,
    ) -> Result<Box<dyn Agent>, TrialAbort> {
        match (&self.tape, agent) {
            (Tape::Off, Some(agent)) => Ok(agent),
            (Tape::Off, None) => Err(TrialAbort::broken("eval-job itself failed: there is no agent")),
            (tape, agent) => {
                let AgentContext { user, chatbot, model, state, .. } = context();
                Ok(TapedAgent::boxed(tape.clone(), party, SessionOf { user, chatbot, model, state }, agent))
            }
        }
    }

    async fn run_setups(&self) -> Result<(), TrialAbort> {
        let is_run = match self.mode {
            SetupMode::Everything => true,
            SetupMode::LeavesNoTrace => !self.engine.graph_lasts(),
            SetupMode::IsContinued => false,
        };
        let Some(graph) = self.graph.clone().filter(|_| is_run) else { return Ok(()) };
        let parameters = self.engine.parameters(self.trial, None);
        for (setup, number) in self.trial.case.setups.iter().zip(1..) {
            let written = graph.write(&setup.cypher, &parameters).await;
            written.map_err(|error| TrialAbort::broken(format!("setup {number}: {error}")))?;
        }
        Ok(())
    }

    /// What the case says for others in each turn.
    fn turns(&self) -> CaseTurns<'_> {
        CaseTurns { job: &self.engine.plan.job, case: &self.trial.case, results: self.writer.clone() }
    }

    /// The key of the reference agent: its own, or the agent's where both are at one address. Elsewhere the agent's key is nobody's
    /// business.
    fn reference_key(&self, target: &Target) -> Option<Secret> {
        let credentials = &self.engine.clients.credentials;
        let origin = |target: &Target| Some(reqwest::Url::parse(target.transport.address()?).ok()?.origin());
        let own = origin(&self.engine.plan.job.target);
        let agents = credentials.agent_api_key.clone().filter(|_| own.is_some() && own == origin(target));
        credentials.reference_api_key.clone().or(agents)
    }

    /// The parts of the agent's state that assertions of the case look at.
    fn state_parts(&self) -> Vec<&'static str> {
        let assertions = self.trial.case.assertions.iter();
        let parts: BTreeSet<&'static str> = assertions.flat_map(|assertion| assertion.check.context_parts()).collect();
        parts.into_iter().collect()
    }

    fn agent_context(&self, limiter: ConversationLimiter) -> AgentContext {
        let Engine { plan, clients, .. } = self.engine;
        let (id, session) = (&self.trial.id, &self.trial.case.session);
        let managed = self.owned.managed.as_ref().map(|agent| agent.base_url());
        AgentContext {
            user: self.engine.user(self.trial),
            chatbot: session.chatbot.as_ref().unwrap_or(&plan.job.target.chatbot).clone(),
            model: id.model.clone(),
            state: session.state.clone(),
            turns: self.turns().parts(&plan.job.target, |line| &line.mocks),
            started_at: self.owned.demo.as_ref().map(DemoAgent::base_url).or(managed),
            api_key: clients.credentials.agent_api_key.clone(),
            folder: plan.job.folder.clone(),
            variables: clients.credentials.variables.clone(),
            redactor: clients.redactor().clone(),
            state_parts: self.state_parts(),
            http: clients.http.clone(),
            turn_limit: Duration::from_secs_f64(plan.job.limits.turn_seconds),
            rng_seed: self.engine.rng_seed.wrapping_add(u64::from(id.number)),
            clock: self.engine.clock,
            retry: RetryPolicy::AGENT,
            reading: RetryPolicy::READING,
            limiter,
        }
    }
}
