//! Watches the graph during a conversation: creations, deletions and changes, turn by turn.
//!
//! It never breaks a trial and its time never counts. After a failure it is not tried again in the trial.

use std::io;
use std::sync::Arc;

use super::trial_env::TrialEnv;
use crate::clock::Stopwatch;
use crate::evidence::{Change, ChangeTime, Observed};
use crate::graph::snapshot::{GraphSnapshot, SnapshotError, Window, difference};
use crate::graph::{Graph, GraphConfig, Parameters};
use crate::job::Isolation;
use crate::record::Entry;

/// The most nodes that are watched where the job sets no limit: in a database that is reached over a network, and in the
/// embedded graph, which returns no more rows.
const MOST_IN_NEO4J: u32 = 10_000;
const MOST_IN_EMBEDDED: u32 = 100_000;

/// Watches the graph of one trial.
pub(super) struct Watch<'a> {
    env: &'a TrialEnv<'a>,
    /// `None` where there is nothing to watch, and after a failure.
    snapshotter: Option<Snapshotter>,
    changes: Option<Observed<Vec<Change>>>,
}

struct Snapshotter {
    graph: Arc<dyn Graph>,
    window: Window,
    parameters: Parameters,
    last: GraphSnapshot,
}

/// Why the graph can't be watched.
#[derive(Debug, thiserror::Error)]
enum WatchError {
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// It takes longer than this many seconds.
    #[error("a look at it takes longer than limits.query allows ({0} s)")]
    TooSlow(f64),
}

impl<'a> Watch<'a> {
    /// Takes a snapshot of the graph before the first turn.
    pub(super) async fn before(env: &'a TrialEnv<'a>, session_id: &str) -> Watch<'a> {
        let (engine, mut watch) = (env.engine, Watch { env, snapshotter: None, changes: None });
        let config = &engine.plan.job.graph.watch;
        let Some(graph) = env.graph.clone().filter(|_| config.is_on()) else { return watch };
        let most = match &engine.plan.graph {
            Some(GraphConfig::Neo4j(_)) => MOST_IN_NEO4J,
            _ => MOST_IN_EMBEDDED,
        };
        let (window, parameters) = (Window::new(config, most), env.parameters(session_id));
        if engine.plan.isolation == Isolation::User && !config.is_of_one_user() {
            let trouble = "conversations share it (isolation: user), and graph.watch.where does not name $user";
            watch.give_up(trouble.to_owned());
            return watch;
        }
        watch.changes = Some(Observed::Seen(Vec::new()));
        let taking = GraphSnapshot::take(graph.as_ref(), &window, &parameters, None);
        match watch.in_time("the first look took too long", taking).await {
            Ok(first) => {
                watch.snapshotter = Some(Snapshotter { graph, window, parameters, last: first.unwrap_or_default() });
            }
            Err(error) => watch.give_up(error.to_string()),
        }
        watch
    }

    /// The changes up to now, as far as they are known.
    pub(super) fn so_far(self) -> Option<Observed<Vec<Change>>> {
        self.changes
    }

    /// Takes a snapshot of the graph after a turn and appends the changes to the sink.
    pub(super) async fn after_turn(&mut self, turn: u32) -> io::Result<()> {
        self.look(ChangeTime { turn, late: false }, &format!("the look after turn {turn}")).await
    }

    /// Takes a snapshot before a call of one of the user's tools, `number` of them counted from 1: what has changed by then is the
    /// agent's, and of the turn before.
    pub(super) async fn before_tool(&mut self, turn: u32, number: u32) -> io::Result<()> {
        let when = ChangeTime { turn: turn.saturating_sub(1).max(1), late: false };
        self.look(when, &format!("the look before call {number} of a tool")).await
    }

    /// Takes a snapshot after the call. What has changed by now is the user's doing, and not among the changes of the conversation.
    pub(super) async fn after_tool(&mut self, turn: u32, number: u32) -> Vec<Change> {
        self.differences(ChangeTime { turn, late: false }, &format!("the look after call {number} of a tool")).await
    }

    /// Takes the last snapshot. Returns all changes of the conversation, or why they are unknown; `None` where there is no graph or
    /// it is not watched.
    pub(super) async fn at_end(mut self, last_turn: u32) -> io::Result<Option<Observed<Vec<Change>>>> {
        self.look(ChangeTime { turn: last_turn, late: true }, "the last look").await?;
        Ok(self.changes)
    }

    async fn look(&mut self, when: ChangeTime, what: &str) -> io::Result<()> {
        let new = self.differences(when, what).await;
        if new.is_empty() {
            return Ok(());
        }
        if let Some(Observed::Seen(changes)) = &mut self.changes {
            changes.extend(new.iter().cloned());
        }
        self.env.engine.sink.append(Entry::GraphChanged { trial: self.env.trial.id.number, changes: new })
    }

    /// Takes a snapshot: what differs from the one before.
    async fn differences(&mut self, when: ChangeTime, what: &str) -> Vec<Change> {
        let Some(snapshotter) = &self.snapshotter else { return Vec::new() };
        let taking = GraphSnapshot::take(
            snapshotter.graph.as_ref(),
            &snapshotter.window,
            &snapshotter.parameters,
            Some(&snapshotter.last),
        );
        let next = match self.in_time(&format!("{what} took too long"), taking).await {
            Ok(Some(next)) => next,
            Ok(None) => return Vec::new(),
            Err(error) => {
                self.give_up(error.to_string());
                return Vec::new();
            }
        };
        let Some(snapshotter) = &mut self.snapshotter else { return Vec::new() };
        let new = difference(&snapshotter.last, &next, when);
        snapshotter.last = next;
        new
    }

    /// Fails where all queries of a snapshot together take longer than `limits.query`, to which the graph holds each of them: it
    /// would take as long after each turn.
    async fn in_time<T>(
        &self,
        too_slow: &str,
        taking: impl Future<Output = Result<T, SnapshotError>>,
    ) -> Result<T, WatchError> {
        let since: Stopwatch = self.env.engine.clock.start();
        let taken = taking.await?;
        let limit = self.env.engine.plan.job.limits.query_seconds;
        if self.env.tape.noted(too_slow, since.elapsed_ms() > limit * 1000.0) {
            return Err(WatchError::TooSlow(limit));
        }
        Ok(taken)
    }

    fn give_up(&mut self, trouble: String) {
        self.snapshotter = None;
        self.changes = Some(Observed::Failed(trouble));
    }
}
