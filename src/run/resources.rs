//! The resources that the trials of a run share, and those that must be released when it ends: ports, databases, process
//! groups, and the tokens that make users unique.
//!
//! Invariants: whatever is started or made is ended and deleted by [`RunResources::close`] at the latest, also when a trial
//! was interrupted and could not do it itself.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::RandomSource;
use super::contamination::{Leak, LeakDetector, TOKEN, TrialAttempt};
use super::trial_graph::TrialGraph;
use crate::agent::managed::{Listener, ManagedAgent, ManagedAgents, StartError, StartSettings};
use crate::evidence::Evidence;
use crate::graph::GraphError;
use crate::graph::embedded::EmbeddedGraph;
use crate::graph::neo4j::Neo4jGraph;
use crate::plan::Trial;
use crate::secret::Secret;

/// The resources that the trials of a run share.
pub(super) struct RunResources {
    /// Every agent that was started.
    pub(super) agents: ManagedAgents,
    /// The embedded graph that trials share.
    pub(super) trial_graph: tokio::sync::Mutex<Option<Arc<TrialGraph>>>,
    /// A graph without anything in it: made when it is first needed, never written to.
    pub(super) empty_graph: OnceLock<Result<Arc<EmbeddedGraph>, GraphError>>,
    /// One permit a processor: the deadline of an evaluation is not spent by others.
    pub(super) evaluations: Arc<Semaphore>,
    agent: tokio::sync::Mutex<SharedAgent>,
    /// The databases that were made and not yet deleted.
    databases: Mutex<BTreeSet<String>>,
    leak_detector: Mutex<LeakDetector>,
    /// All tokens are derived from it: none has to be kept.
    token_key: [u64; 4],
    random: Box<RandomSource>,
    agent_has_answered: AtomicBool,
    /// Whether the agent's state could be read after any conversation; `None` before one has ended.
    state_was_read: Mutex<Option<bool>>,
    /// Held by the one conversation that finds out whether it can be.
    state_probe: Arc<tokio::sync::Mutex<()>>,
}

/// The right to find out whether the agent's state can be read.
pub(super) struct StateProbe {
    _turn: tokio::sync::OwnedMutexGuard<()>,
}

/// The started agent that trials share.
enum SharedAgent {
    NotStarted,
    Running(Arc<ManagedAgent>),
    /// It is not started again.
    Failed(StartError),
}

impl RunResources {
    /// Tokens derive from this key, or a new one.
    pub(super) fn new(random: Box<RandomSource>, token_key: Option<[u64; 4]>) -> RunResources {
        RunResources {
            agents: ManagedAgents::default(),
            trial_graph: tokio::sync::Mutex::default(),
            empty_graph: OnceLock::new(),
            evaluations: Arc::new(Semaphore::new(std::thread::available_parallelism().map_or(2, usize::from))),
            agent: tokio::sync::Mutex::new(SharedAgent::NotStarted),
            databases: Mutex::default(),
            leak_detector: Mutex::default(),
            token_key: token_key.unwrap_or_else(|| std::array::from_fn(|_| random())),
            random,
            agent_has_answered: AtomicBool::new(false),
            state_was_read: Mutex::default(),
            state_probe: Arc::default(),
        }
    }

    /// The token of a conversation, 16 characters from a to z and 0 to 9. From now on it is a leak in any other one. It is made of
    /// the trial's key, so that a recorded trial has its own also where others are left out (`--filter`).
    pub(super) fn token(&self, trial: &Trial) -> String {
        self.token_of(&trial.id.key(), trial.into())
    }

    fn token_of(&self, key: &str, holding: TrialAttempt) -> String {
        let mut hash = Sha256::new();
        self.token_key.iter().for_each(|number| hash.update(number.to_le_bytes()));
        hash.update(key.as_bytes());
        hash.update(holding.attempt.to_le_bytes());
        let digest = hash.finalize();
        let number = |place: usize| u64::from_le_bytes(std::array::from_fn(|byte| digest[8 * place + byte]));
        let token = format!("{}{}", letters(number(0)), letters(number(1)));
        unpoisoned(&self.leak_detector).add_token(holding, &token);
        token
    }

    /// A password that nobody can guess.
    pub(super) fn password(&self) -> Secret {
        Secret::new((0..2 * TOKEN / 8).map(|_| letters((self.random)())).collect::<String>())
    }

    /// Notes that the agent has answered a message of this job.
    pub(super) fn note_answer(&self) {
        self.agent_has_answered.store(true, Ordering::Relaxed);
    }

    /// Whether the agent has answered a message of this job in any conversation: the job's description of it can't be wrong.
    pub(super) fn agent_has_answered(&self) -> bool {
        self.agent_has_answered.load(Ordering::Relaxed)
    }

    /// Notes whether the agent's state could be read after a conversation.
    pub(super) fn note_state(&self, was_read: bool) {
        let mut known = unpoisoned(&self.state_was_read);
        *known = Some(was_read || *known == Some(true));
    }

    /// Waits until it is known whether the agent's state can be read after a conversation, or no other one finds that out: then
    /// this one does, as long as it holds what is returned.
    pub(super) async fn probe_state(&self) -> Option<StateProbe> {
        let is_unknown = || unpoisoned(&self.state_was_read).is_none();
        if !is_unknown() {
            return None;
        }
        let probe = Arc::clone(&self.state_probe).lock_owned().await;
        is_unknown().then_some(StateProbe { _turn: probe })
    }

    /// Whether the agent's state could not be read after any of the conversations that have ended.
    pub(super) fn state_is_unreadable(&self) -> bool {
        *unpoisoned(&self.state_was_read) == Some(false)
    }

    /// From now on the id of a trial's session is a leak in any other trial.
    pub(super) fn note_session(&self, holding: TrialAttempt, session_id: &str) {
        unpoisoned(&self.leak_detector).add_session(holding, session_id);
    }

    /// Finds something of another trial in this one's evidence.
    pub(super) fn leak(&self, holding: TrialAttempt, evidence: &Evidence) -> Option<Leak> {
        unpoisoned(&self.leak_detector).leak(holding, evidence)
    }

    /// An agent of a trial's own.
    pub(super) async fn start_agent(
        &self,
        settings: &StartSettings,
        listener: &Listener,
    ) -> Result<Arc<ManagedAgent>, StartError> {
        self.agents.start(settings, listener).await.map(Arc::new)
    }

    /// The run's one agent: started by the first trial, and again by the first one that finds it ended.
    pub(super) async fn shared_agent(
        &self,
        settings: &StartSettings,
        listener: &Listener,
    ) -> Result<Arc<ManagedAgent>, StartError> {
        let mut shared = self.agent.lock().await;
        match &*shared {
            SharedAgent::Running(agent) if agent.lifeline().has_ended().is_none() => {
                agent.add_listener(listener);
                return Ok(agent.clone());
            }
            SharedAgent::Failed(error) => return Err(error.clone()),
            SharedAgent::NotStarted | SharedAgent::Running(_) => {}
        }
        let started = self.start_agent(settings, listener).await;
        *shared = match &started {
            Ok(agent) => SharedAgent::Running(agent.clone()),
            Err(error) => SharedAgent::Failed(error.clone()),
        };
        started
    }

    /// Notes a database that is about to be made.
    pub(super) fn note_database(&self, name: &str) {
        unpoisoned(&self.databases).insert(name.to_owned());
    }

    /// Forgets a database that was deleted.
    pub(super) fn forget_database(&self, name: &str) {
        unpoisoned(&self.databases).remove(name);
    }

    /// Ends and deletes whatever is left.
    pub(super) async fn close(&self, neo4j: Option<&Neo4jGraph>) {
        let shared = std::mem::replace(&mut *self.agent.lock().await, SharedAgent::NotStarted);
        if let SharedAgent::Running(agent) = shared
            && let Some(agent) = Arc::into_inner(agent)
        {
            agent.stop().await;
        }
        // Those of interrupted trials have been asked to end.
        self.agents.all_ended().await;
        if let Some(trial_graph) = self.trial_graph.lock().await.take().and_then(Arc::into_inner)
            && let Some(bolt_server) = trial_graph.bolt_server
        {
            bolt_server.stop().await;
        }
        let left = std::mem::take(&mut *unpoisoned(&self.databases));
        if let Some(neo4j) = neo4j {
            for name in &left {
                // There is no one left to report an error to.
                let _ = neo4j.drop_database(name).await;
            }
        }
    }
}

/// Eight letters and digits: 42 bits of a number.
fn letters(number: u64) -> String {
    const CHARACTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let character = |place| char::from(CHARACTERS[(number / 36_u64.pow(place) % 36) as usize]);
    (0..8).map(character).collect()
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn token(resources: &RunResources, trial: u32, attempt: u32) -> String {
        resources.token_of(&format!("case-{trial}/m/withFacts/1"), TrialAttempt { trial, attempt })
    }

    #[test]
    fn tokens_differ_and_stay() {
        let number = AtomicU64::new(0);
        let random = move || number.fetch_add(0x0013_9E37_79B9_7F4A, Ordering::Relaxed) % (1 << 53);
        let resources = RunResources::new(Box::new(random), None);
        let tokens: BTreeSet<String> =
            (1..=50).flat_map(|trial| [0, 1].map(|attempt| token(&resources, trial, attempt))).collect();
        assert_eq!(tokens.len(), 100);
        for token in &tokens {
            assert_eq!(token.len(), TOKEN, "{token}");
            assert!(token.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{token}");
        }
        assert_eq!(token(&resources, 7, 0), token(&resources, 7, 0));
        let place = TrialAttempt { trial: 1, attempt: 0 };
        assert_eq!(
            token(&resources, 7, 0),
            resources.token_of("case-7/m/withFacts/1", place),
            "its number does not count"
        );
        assert_eq!(resources.password().expose().len(), 32);
        let other = RunResources::new(Box::new(|| 7), None);
        assert_ne!(token(&resources, 7, 0), token(&other, 7, 0), "another run has other tokens");
    }
}
