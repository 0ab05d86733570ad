//! The user of a trial, and the parameters of its statements.

use super::Engine;
use crate::evidence::Value;
use crate::graph::{GraphConfig, Parameters};
use crate::job::Isolation;
use crate::plan::Trial;

impl Engine {
    /// Whether the graph is in a database of the user's own, so that what is written there stays.
    pub(super) fn graph_lasts(&self) -> bool {
        matches!(self.plan.graph, Some(GraphConfig::Neo4j(_))) && self.plan.isolation != Isolation::Database
    }

    /// The user of a trial.
    pub(super) fn user(&self, trial: &Trial) -> String {
        if let Some(left) = &trial.left {
            return left.evidence.user.clone();
        }
        let user = trial.case.session.user.as_ref().unwrap_or(&self.plan.job.target.user);
        match self.plan.isolation {
            Isolation::User => format!("{user}-{}", self.resources.token(trial)),
            Isolation::Shared | Isolation::Database | Isolation::Process => user.clone(),
        }
    }

    /// The parameters that every statement gets: `$user`, `$sessionId` (null in setups), `$trial`, `$model`.
    pub(super) fn parameters(&self, trial: &Trial, session_id: Option<&str>) -> Parameters {
        let id = &trial.id;
        let text = |text: &str| Value::String(text.to_owned());
        // What was written in a conversation that was cut off is still there, and not of this one.
        let restart = trial.restart.filter(|restart| *restart > 0).map_or_else(String::new, |it| format!("-r{it}"));
        // In replay that of the recorded run, as the answers have it.
        let run = self.cassette.header().map_or(&self.id, |header| &header.run_id);
        Parameters::from([
            ("user".to_owned(), text(&self.user(trial))),
            ("sessionId".to_owned(), session_id.map_or(Value::Null, text)),
            (
                "trial".to_owned(),
                text(&match trial.attempt {
                    0 => format!("{run}-{}{restart}", id.number),
                    again => format!("{run}-{}-{again}{restart}", id.number),
                }),
            ),
            ("model".to_owned(), text(&id.model)),
        ])
    }
}
