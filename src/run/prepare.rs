//! Everything before the first word of a conversation: graph, setups, agent, seeds. Its time, turns and failures never
//! count.

use std::sync::Arc;

use super::Engine;
use super::managed::ended;
use super::trial::Stop;
use super::trial_graph::TrialGraph;
use super::turn::with_hint;
use crate::agent::demo::DemoAgent;
use crate::agent::managed::{Lifeline, Listener, ManagedAgent};
use crate::agent::{Ability, Agent, AgentError, AgentErrorKind, Attempts, Hosting, Session};
use crate::evidence::{Message, Role, TrialId, Usage, Value};
use crate::graph::{Graph, GraphConfig, Parameters};
use crate::job::{Case, Isolation, Job, Seed};
use crate::limiter::ConversationLimiter;
use crate::plan::Trial;
use crate::record::Entry;

/// What a conversation plays on.
pub(super) struct TrialEnv {
    /// The graph that setups and assertions look at.
    pub(super) graph: Option<Arc<dyn Graph>>,
    /// The agent under test.
    pub(super) agent: Box<dyn Agent>,
    /// The conversation's part of the limiter of all those with the same agent.
    pub(super) limiter: ConversationLimiter,
    /// The user that it talks with.
    pub(super) user: String,
    /// What the conversation begins after, where seeds are told so.
    history: Vec<Message>,
    started: Started,
}

/// What was started for a trial, or is shared with others.
#[derive(Default)]
struct Started {
    trial_graph: Option<Arc<TrialGraph>>,
    demo: Option<DemoAgent>,
    managed: Option<Arc<ManagedAgent>>,
}

impl Started {
    /// Ends all that no other trial uses.
    async fn end(self, engine: &Engine) {
        if let Some(demo) = self.demo {
            demo.stop().await;
        }
        if let Some(managed) = self.managed {
            managed.last_words().await;
            if let Some(managed) = Arc::into_inner(managed) {
                managed.stop().await;
            }
        }
        if let Some(trial_graph) = self.trial_graph {
            engine.edges.leave(trial_graph).await;
        }
    }
}

/// How much is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetupMode {
    /// All that a trial needs.
    Everything,
    /// All but what would stay behind when the trial is over: setups in a database of the user's own, and seeds.
    LeavesNoTrace,
}

impl TrialEnv {
    /// Ends what the trial started.
    pub(super) async fn close(self, engine: &Engine) {
        drop((self.graph, self.agent, self.limiter));
        self.started.end(engine).await;
    }

    /// Opens the session in which the conversation is held.
    pub(super) async fn open(&self, engine: &Engine) -> Result<Box<dyn Session>, Stop> {
        let mut lifeline = self.lifeline();
        tokio::select! {
            biased;
            opened = self.agent.open_after(&self.history) => {
                opened.map_err(|error| {
                    Stop::broken(format!("no session could be opened: {}", with_hint(engine, &error)))
                })
            }
            how = ended(lifeline.as_mut()) => {
                Err(Stop::broken(format!("the agent's process ended ({how}) when it was asked for a session")))
            }
        }
    }

    /// Tells when the agent's process has ended, where eval-job started it.
    pub(super) fn lifeline(&self) -> Option<Lifeline> {
        self.started.managed.as_ref().map(|agent| agent.lifeline())
    }
}

/// Prepares what a trial runs on. `listener` hears what the agent prints, where eval-job starts it.
pub(super) async fn prepare(
    engine: &Engine,
    trial: &Trial,
    (setup_mode, listener): (SetupMode, &Listener),
) -> Result<TrialEnv, Stop> {
    let mut started = Started::default();
    // Boxed: the compiler's own limit for futures within futures is near.
    match Box::pin(set(engine, trial, (setup_mode, listener), &mut started)).await {
        Ok((graph, agent, limiter)) => {
            let history =
                if setup_mode == SetupMode::Everything { earlier(&engine.plan.job, &trial.case) } else { Vec::new() };
            Ok(TrialEnv { graph, agent, limiter, user: engine.edges.user(&engine.plan, &trial.id), history, started })
        }
        Err(stop) => {
            started.end(engine).await;
            Err(stop)
        }
    }
}

/// What is started is told as it is started, so that it is ended even if the rest fails.
async fn set(
    engine: &Engine,
    trial: &Trial,
    (setup_mode, listener): (SetupMode, &Listener),
    started: &mut Started,
) -> Result<(Option<Arc<dyn Graph>>, Box<dyn Agent>, ConversationLimiter), Stop> {
    let (id, job, edges) = (&trial.id, &engine.plan.job, &engine.edges);
    started.trial_graph =
        edges.trial_graph(&engine.plan, id).await.map_err(|error| Stop::broken(format!("the graph: {error}")))?;
    let graph = started.trial_graph.as_ref().map(|trial_graph| trial_graph.graph.clone());
    if let Some(graph) = graph.as_ref().filter(|_| setup_mode == SetupMode::Everything || !graph_lasts(engine)) {
        let parameters = parameters(engine, id, None);
        for (index, setup) in trial.case.setups.iter().enumerate() {
            graph
                .write(&setup.cypher, &parameters)
                .await
                .map_err(|error| Stop::broken(format!("setup {}: {error}", index + 1)))?;
        }
    }
    if let (Hosting::InProcess, Some(graph)) = (job.target.transport.hosting(), &graph) {
        let demo = DemoAgent::start(graph.clone(), engine.clock)
            .await
            .map_err(|error| Stop::broken(format!("the demo agent could not be started: {error}")))?;
        started.demo = Some(demo);
    }
    started.managed =
        edges.managed_agent(&engine.plan, started.trial_graph.as_deref(), listener).await.map_err(Stop::broken)?;
    let managed = started.managed.as_ref().map(|agent| agent.base_url());
    let base_url = started.demo.as_ref().map(DemoAgent::base_url).or(managed);
    let limiter = edges.conversation_limiter(&engine.plan);
    let agent = edges.agent(engine, id, (base_url, &limiter)).map_err(|error| Stop::broken(error.to_string()))?;
    if setup_mode == SetupMode::Everything && !job.target.transport.can(Ability::TakesHistory) {
        let mut lifeline = started.managed.as_ref().map(|agent| agent.lifeline());
        tokio::select! {
            biased;
            delivered = deliver_seeds(engine, trial, agent.as_ref()) => delivered?,
            how = ended(lifeline.as_mut()) => {
                return Err(Stop::broken(format!("the agent's process ended ({how}) while it was given its seeds")));
            }
        }
    }
    Ok((graph, agent, limiter))
}

/// Whether the graph is in a database of the user's own, so that what is written there stays.
pub(super) fn graph_lasts(engine: &Engine) -> bool {
    matches!(engine.plan.graph, Some(GraphConfig::Neo4j(_))) && engine.plan.isolation != Isolation::Database
}

/// The parameters that every statement gets: `$user`, `$sessionId` (null in setups), `$trial`, `$model`.
pub(super) fn parameters(engine: &Engine, id: &TrialId, session_id: Option<&str>) -> Parameters {
    let text = |text: &str| Value::String(text.to_owned());
    Parameters::from([
        ("user".to_owned(), text(&engine.edges.user(&engine.plan, id))),
        ("sessionId".to_owned(), session_id.map_or(Value::Null, text)),
        ("trial".to_owned(), text(&format!("{}-{}", engine.id, id.number))),
        ("model".to_owned(), text(&id.model)),
    ])
}

/// The seeds as the conversation's beginning, for an agent that keeps nothing from one conversation to the next.
fn earlier(job: &Job, case: &Case) -> Vec<Message> {
    if !job.target.transport.can(Ability::TakesHistory) {
        return Vec::new();
    }
    let told = |seed: &Seed| match seed {
        Seed::Text(text) => vec![
            Message::new(Role::User, remember(text)),
            // Some endpoints want the two to take turns.
            Message::new(Role::Assistant, "I will remember it."),
        ],
        Seed::Conversation(messages) => messages.clone(),
    };
    case.seeds.iter().flat_map(told).collect()
}

fn remember(text: &str) -> String {
    format!("Please remember the following:\n\n{text}")
}

/// Primes the agent's memory, each seed in an earlier session of its own.
async fn deliver_seeds(engine: &Engine, trial: &Trial, agent: &dyn Agent) -> Result<(), Stop> {
    let (id, seeds) = (&trial.id, &trial.case.seeds);
    if seeds.is_empty() {
        return Ok(());
    }
    agent
        .prepare_memory()
        .await
        .map_err(|error| Stop::broken(format!("the agent's memory could not be made ready: {error}")))?;
    let mut told: Vec<Option<Usage>> = Vec::new();
    let mut undelivered = None;
    for (index, seed) in seeds.iter().enumerate() {
        if let Some(limit_exceeded) = engine.edges.budget.spend_tracker.exhausted() {
            undelivered = Some(limit_exceeded.to_string());
            break;
        }
        let before = told.len();
        let delivered = deliver(agent, seed, &mut told).await;
        let used = Usage::of_replies(told[before..].iter().copied());
        engine.edges.budget.agent_used(id.number, &id.model, used.as_ref());
        if let Err(error) = delivered {
            undelivered = Some(format!("seed {} could not be delivered: {error}", index + 1));
            break;
        }
    }
    engine.sink.append(Entry::Primed { trial: id.number, usage: Usage::of_replies(told) })?;
    undelivered.map_or(Ok(()), |error| Err(Stop::broken(error)))
}

/// Says a seed's lines in a session of their own; the agent's tokens are told as they are used, line by line.
async fn deliver(agent: &dyn Agent, seed: &Seed, told: &mut Vec<Option<Usage>>) -> Result<(), AgentError> {
    let lines: Vec<String> = match seed {
        Seed::Text(text) => vec![remember(text)],
        Seed::Conversation(messages) => messages
            .iter()
            .filter(|message| message.role == Role::User)
            .map(|message| message.content.clone())
            .collect(),
    };
    let mut session = agent.open().await?;
    for line in lines {
        let mut attempts = Attempts::default();
        let reply = session.say(&line, &mut attempts).await;
        let is_heard = reply.is_ok() || attempts.failures.iter().any(|failed| failed.maybe_received);
        if is_heard {
            told.push(reply.as_ref().ok().and_then(|reply| reply.usage));
        }
        reply?;
        if attempts.maybe_delivered {
            // A memory that holds it twice would be blamed on the agent.
            let message = "a line was sent again after a try that the agent may have received".to_owned();
            return Err(AgentError { kind: AgentErrorKind::Timeout, message });
        }
    }
    Ok(())
}
