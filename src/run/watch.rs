//! Watching the graph while a conversation goes on: what is created, deleted and changed, turn by turn.
//!
//! It never breaks a trial and never counts as anybody's time. What goes wrong once is not tried again in the trial.

use std::io;
use std::sync::Arc;

use super::trial_env::TrialEnv;
use crate::clock::Stopwatch;
use crate::evidence::{Change, ChangeTime, Observed};
use crate::graph::snapshot::{GraphSnapshot, SnapshotError, Window, difference};
use crate::graph::{Graph, GraphConfig, Parameters};
use crate::job::Isolation;
use crate::record::Entry;

/// The most nodes that are watched where the job names no limit: in a database that is reached over a network, and in
/// the embedded graph, which gives no more rows.
const MOST_IN_NEO4J: u32 = 10_000;
const MOST_IN_EMBEDDED: u32 = 100_000;

/// Watches the graph of one trial.
pub(super) struct Watch<'a> {
    env: &'a TrialEnv<'a>,
    /// `None` where there is nothing to watch, and after the first trouble.
    snapshotter: Option<Snapshotter>,
    changes: Option<Observed<Vec<Change>>>,
}

struct Snapshotter {
    graph: Arc<dyn Graph>,
    window: Window,
    parameters: Parameters,
    last: GraphSnapshot,
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
        match watch.in_time(GraphSnapshot::take(graph.as_ref(), &window, &parameters, None)).await {
            Ok(first) => {
                watch.snapshotter = Some(Snapshotter { graph, window, parameters, last: first.unwrap_or_default() });
            }
            Err(trouble) => watch.give_up(trouble),
        }
        watch
    }

    /// The changes up to now, as far as they are known.
    pub(super) fn so_far(self) -> Option<Observed<Vec<Change>>> {
        self.changes
    }

    /// Takes a snapshot of the graph after a turn and tells the sink what has changed.
    pub(super) async fn after_turn(&mut self, turn: u32) -> io::Result<()> {
        self.look(ChangeTime { turn, late: false }).await
    }

    /// Takes a snapshot of the graph once more when everything is over. Returns all changes of the conversation, or why they
    /// are unknown; `None` where there is no graph or nobody wants it watched.
    pub(super) async fn at_end(mut self, last_turn: u32) -> io::Result<Option<Observed<Vec<Change>>>> {
        self.look(ChangeTime { turn: last_turn, late: true }).await?;
        Ok(self.changes)
    }

    async fn look(&mut self, when: ChangeTime) -> io::Result<()> {
        let Some(snapshotter) = &self.snapshotter else { return Ok(()) };
        let taking = GraphSnapshot::take(
            snapshotter.graph.as_ref(),
            &snapshotter.window,
            &snapshotter.parameters,
            Some(&snapshotter.last),
        );
        let next = match self.in_time(taking).await {
            Ok(Some(next)) => next,
            Ok(None) => return Ok(()),
            Err(trouble) => {
                self.give_up(trouble);
                return Ok(());
            }
        };
        let Some(snapshotter) = &mut self.snapshotter else { return Ok(()) };
        let new = difference(&snapshotter.last, &next, when);
        snapshotter.last = next;
        if new.is_empty() {
            return Ok(());
        }
        if let Some(Observed::Seen(changes)) = &mut self.changes {
            changes.extend(new.iter().cloned());
        }
        self.env.engine.sink.append(Entry::GraphChanged { trial: self.env.trial.id.number, changes: new })
    }

    /// Each of its few queries is held to `limits.query` by the graph itself. Whoever needs longer for all of them
    /// would need it after each turn.
    async fn in_time<T>(&self, taking: impl Future<Output = Result<T, SnapshotError>>) -> Result<T, String> {
        let since: Stopwatch = self.env.engine.clock.start();
        let taken = taking.await.map_err(|error| error.to_string())?;
        let limit = self.env.engine.plan.job.limits.query_seconds;
        if since.elapsed_ms() > limit * 1000.0 {
            return Err(format!("a look at it takes longer than limits.query allows ({limit} s)"));
        }
        Ok(taken)
    }

    fn give_up(&mut self, trouble: String) {
        self.snapshotter = None;
        self.changes = Some(Observed::Failed(trouble));
    }
}
