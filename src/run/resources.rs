//! What the trials of a run have in common, and what they must not have in common.
//!
//! Invariants: what is started or made here is ended and deleted by [`RunResources::close`] at the latest, also when a trial
//! was interrupted and could not do it itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::RandomSource;
use super::contamination::{LeakDetector, TOKEN};
use super::trial_graph::TrialGraph;
use crate::agent::managed::{Listener, ManagedAgent, ManagedAgents, StartSettings};
use crate::evidence::{Evidence, TrialId};
use crate::graph::neo4j::Neo4jGraph;
use crate::secret::Secret;

/// What the trials of a run have in common.
pub(super) struct RunResources {
    /// Every agent that was started.
    pub(super) agents: ManagedAgents,
    /// The graph of a run whose trials share the embedded one.
    pub(super) trial_graph: tokio::sync::Mutex<Option<Arc<TrialGraph>>>,
    agent: tokio::sync::Mutex<SharedAgent>,
    /// The databases that were made and not yet deleted.
    databases: Mutex<BTreeSet<String>>,
    marks: Mutex<LeakDetector>,
    tokens: Mutex<BTreeMap<u32, String>>,
    random: Box<RandomSource>,
    has_answered: AtomicBool,
}

/// The agent of a run whose trials share one.
enum SharedAgent {
    NotYet,
    Running(Arc<ManagedAgent>),
    /// It can't be started, for this reason: nobody tries again.
    Failed(String),
}

impl RunResources {
    pub(super) fn new(random: Box<RandomSource>) -> RunResources {
        RunResources {
            agents: ManagedAgents::default(),
            trial_graph: tokio::sync::Mutex::default(),
            agent: tokio::sync::Mutex::new(SharedAgent::NotYet),
            databases: Mutex::default(),
            marks: Mutex::default(),
            tokens: Mutex::default(),
            random,
            has_answered: AtomicBool::new(false),
        }
    }

    /// The trial's token, drawn when it is first asked for: 16 characters from a to z and 0 to 9.
    pub(super) fn token(&self, id: &TrialId) -> String {
        let mut tokens = unpoisoned(&self.tokens);
        let draw = || {
            let token = self.draw(TOKEN);
            unpoisoned(&self.marks).add_token(id, &token);
            token
        };
        tokens.entry(id.number).or_insert_with(draw).clone()
    }

    /// A password that nobody can guess.
    pub(super) fn password(&self) -> Secret {
        Secret::new(self.draw(2 * TOKEN))
    }

    fn draw(&self, length: usize) -> String {
        const CHARACTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        // Eight characters are 42 bits of the 53 that a number has.
        let eight = |_| {
            let mut number = (self.random)();
            let next = move |_| {
                let character = char::from(CHARACTERS[(number % 36) as usize]);
                number /= 36;
                character
            };
            (0..8).map(next).collect::<String>()
        };
        (0..length / 8).map(eight).collect()
    }

    /// Keeps in mind that the agent has answered a message of this job.
    pub(super) fn agent_answered(&self) {
        self.has_answered.store(true, Ordering::Relaxed);
    }

    /// Whether the agent has answered a message of this job in any conversation: what the job says of it can't be wrong.
    pub(super) fn has_agent_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    /// Keeps in mind which session is whose.
    pub(super) fn session_opened(&self, id: &TrialId, session_id: &str) {
        unpoisoned(&self.marks).add_session(id, session_id);
    }

    /// Whether something of another trial came up in this one, in words.
    pub(super) fn leak(&self, id: &TrialId, evidence: &Evidence) -> Option<String> {
        unpoisoned(&self.marks).leak(id, evidence)
    }

    /// The run's one agent: started by the first trial, and again by the first one that finds it ended.
    pub(super) async fn agent(
        &self,
        settings: &StartSettings,
        listener: &Listener,
    ) -> Result<Arc<ManagedAgent>, String> {
        let mut shared = self.agent.lock().await;
        match &*shared {
            SharedAgent::Running(agent) if agent.lifeline().has_ended().is_none() => {
                agent.tell(listener);
                return Ok(agent.clone());
            }
            SharedAgent::Failed(error) => return Err(error.clone()),
            SharedAgent::NotYet | SharedAgent::Running(_) => {}
        }
        match self.agents.start(settings, listener).await {
            Ok(agent) => {
                let agent = Arc::new(agent);
                *shared = SharedAgent::Running(agent.clone());
                Ok(agent)
            }
            Err(error) => {
                *shared = SharedAgent::Failed(error.clone());
                Err(error)
            }
        }
    }

    /// A database is about to be made.
    pub(super) fn database_made(&self, name: &str) {
        unpoisoned(&self.databases).insert(name.to_owned());
    }

    /// A database is there no more.
    pub(super) fn database_dropped(&self, name: &str) {
        unpoisoned(&self.databases).remove(name);
    }

    /// Ends and deletes whatever is left.
    pub(super) async fn close(&self, neo4j: Option<&Neo4jGraph>) {
        let shared = std::mem::replace(&mut *self.agent.lock().await, SharedAgent::NotYet);
        if let SharedAgent::Running(agent) = shared
            && let Some(agent) = Arc::into_inner(agent)
        {
            agent.stop().await;
        }
        // Those of interrupted trials have been asked to end.
        self.agents.all_ended().await;
        if let Some(trial_graph) = self.trial_graph.lock().await.take().and_then(Arc::into_inner)
            && let Some(door) = trial_graph.door
        {
            door.stop().await;
        }
        let left = std::mem::take(&mut *unpoisoned(&self.databases));
        if let Some(neo4j) = neo4j {
            for name in &left {
                // Nobody is left who could be told.
                let _ = neo4j.drop_database(name).await;
            }
        }
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::evidence::Condition;

    #[test]
    fn tokens_differ_and_stay() {
        let number = AtomicU64::new(0);
        let random = move || number.fetch_add(0x0013_9E37_79B9_7F4A, Ordering::Relaxed) % (1 << 53);
        let resources = RunResources::new(Box::new(random));
        let trial = |number| TrialId {
            number,
            case: "c".to_owned(),
            model: "m".to_owned(),
            condition: Condition::WithFacts,
            repeat: 1,
        };
        let tokens: BTreeSet<String> = (1..=100).map(|number| resources.token(&trial(number))).collect();
        assert_eq!(tokens.len(), 100);
        for token in &tokens {
            assert_eq!(token.len(), TOKEN, "{token}");
            assert!(token.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{token}");
        }
        assert_eq!(resources.token(&trial(7)), resources.token(&trial(7)));
        assert_eq!(resources.password().expose().len(), 32);
    }
}
