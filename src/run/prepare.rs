//! Everything before the first word of a conversation: graph, setups, agent, seeds. Its time, turns and failures never
//! count.

use std::sync::Arc;

use super::Engine;
use super::trial::Stop;
use crate::agent::demo::DemoAgent;
use crate::agent::{Agent, AgentError, AgentErrorKind, TransportConfig};
use crate::evidence::{Role, TrialId, Value};
use crate::graph::{Graph, GraphConfig, Parameters};
use crate::job::Seed;

/// What a conversation plays on.
pub(super) struct Stage {
    /// The graph that setups and assertions look at.
    pub(super) graph: Option<Arc<dyn Graph>>,
    /// The agent under test.
    pub(super) agent: Box<dyn Agent>,
    demo: Option<DemoAgent>,
}

impl Stage {
    /// Ends what the trial started.
    pub(super) async fn close(self) {
        if let Some(demo) = self.demo {
            demo.stop().await;
        }
    }
}

/// How much is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All that a trial needs.
    Everything,
    /// All but what would stay behind when the trial is over: setups in a database of the user's own, and seeds.
    LeavesNoTrace,
}

/// Sets the stage for a trial.
pub(super) async fn prepare(engine: &Engine, id: &TrialId, extent: Extent) -> Result<Stage, Stop> {
    let job = &engine.plan.job;
    let graph = match &engine.plan.graph {
        Some(config) => Some(engine.edges.graph(config).map_err(|error| Stop::broken(format!("the graph: {error}")))?),
        None => None,
    };
    let is_own = matches!(engine.plan.graph, Some(GraphConfig::Neo4j(_)));
    if let Some(graph) = graph.as_ref().filter(|_| extent == Extent::Everything || !is_own) {
        let parameters = parameters(engine, id, None);
        for (index, setup) in job.setups.iter().enumerate() {
            graph
                .write(&setup.cypher, &parameters)
                .await
                .map_err(|error| Stop::broken(format!("setup {}: {error}", index + 1)))?;
        }
    }
    let (demo, base_url) = match (&job.target.transport, &graph) {
        (TransportConfig::Demo(_), Some(graph)) => {
            let demo = DemoAgent::start(graph.clone(), engine.clock)
                .await
                .map_err(|error| Stop::broken(format!("the demo agent could not be started: {error}")))?;
            let base_url = demo.base_url();
            (Some(demo), Some(base_url))
        }
        _ => (None, None),
    };
    let agent = engine.edges.agent(engine, id, base_url).map_err(|error| Stop::broken(error.to_string()))?;
    let stage = Stage { graph, agent, demo };
    if extent == Extent::Everything {
        deliver_seeds(engine, &stage).await?;
    }
    Ok(stage)
}

/// The parameters that every statement gets: `$user`, `$sessionId` (null in setups), `$trial`, `$model`.
pub(super) fn parameters(engine: &Engine, id: &TrialId, session_id: Option<&str>) -> Parameters {
    let text = |text: &str| Value::String(text.to_owned());
    Parameters::from([
        ("user".to_owned(), text(&engine.plan.job.target.user)),
        ("sessionId".to_owned(), session_id.map_or(Value::Null, text)),
        ("trial".to_owned(), text(&format!("{}-{}", engine.id, id.number))),
        ("model".to_owned(), text(&id.model)),
    ])
}

/// Primes the agent's memory, each seed in an earlier session of its own.
async fn deliver_seeds(engine: &Engine, stage: &Stage) -> Result<(), Stop> {
    let seeds = &engine.plan.job.seeds;
    if seeds.is_empty() {
        return Ok(());
    }
    stage
        .agent
        .prepare_memory()
        .await
        .map_err(|error| Stop::broken(format!("the agent's memory could not be made ready: {error}")))?;
    for (index, seed) in seeds.iter().enumerate() {
        deliver(stage.agent.as_ref(), seed)
            .await
            .map_err(|error| Stop::broken(format!("seed {} could not be delivered: {error}", index + 1)))?;
    }
    Ok(())
}

async fn deliver(agent: &dyn Agent, seed: &Seed) -> Result<(), AgentError> {
    let lines: Vec<String> = match seed {
        Seed::Text(text) => vec![format!("Please remember the following:\n\n{text}")],
        Seed::Conversation(messages) => messages
            .iter()
            .filter(|message| message.role == Role::User)
            .map(|message| message.content.clone())
            .collect(),
    };
    let mut session = agent.open().await?;
    for line in lines {
        let exchange = session.say(&line).await;
        exchange.reply?;
        if exchange.tries.maybe_delivered {
            // A memory that holds it twice would be blamed on the agent.
            let message = "a line was sent again after a try that the agent may have received".to_owned();
            return Err(AgentError { kind: AgentErrorKind::Timeout, message });
        }
    }
    Ok(())
}
