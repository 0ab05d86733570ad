//! A graph whose answers are recorded or replayed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::Tape;
use super::line::{Answer, Party};
use super::tape::RequestOutcome;
use crate::graph::{Graph, GraphError, GraphErrorKind, Parameters, Table, Value};

/// A graph with the tape of a trial.
pub struct TapedGraph {
    tape: Tape,
    party: Party,
    backend: &'static str,
    lasting_ids: bool,
    /// `None` in replay.
    graph: Option<Arc<dyn Graph>>,
}

/// A request to a graph, as it is recorded.
#[derive(Serialize)]
struct GraphRequest<'a> {
    call: GraphCall,
    #[serde(skip_serializing_if = "str::is_empty")]
    statement: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<&'a str, &'a Value>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
enum GraphCall {
    Read,
    Write,
    Version,
}

/// The parameters that a statement can use. No answer depends on the others, such as the number of the trial.
fn relevant<'a>(statement: &str, parameters: &'a Parameters) -> BTreeMap<&'a str, &'a Value> {
    let all = parameters.iter().map(|(name, value)| (name.as_str(), value));
    all.filter(|(name, _)| statement.contains(*name)).collect()
}

type TableAnswer = Answer<Table, GraphError>;

#[derive(Default, Serialize, Deserialize)]
struct CassetteVersion {
    version: Option<u64>,
}

impl TapedGraph {
    /// A graph of which the exchanges are recorded.
    pub fn recorded(tape: Tape, party: Party, graph: Arc<dyn Graph>) -> TapedGraph {
        let lasting_ids = tape.noted(lasting_ids(party), graph.lasting_ids());
        TapedGraph { tape, party, backend: graph.backend(), lasting_ids, graph: Some(graph) }
    }

    /// A graph that is not there, of which the exchanges are replayed.
    pub fn replayed(tape: Tape, party: Party, backend: &'static str) -> TapedGraph {
        let lasting_ids = tape.noted(lasting_ids(party), false);
        TapedGraph { tape, party, backend, lasting_ids, graph: None }
    }

    async fn exchange(&self, call: GraphCall, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        let request = GraphRequest { call, statement, parameters: relevant(statement, parameters) };
        match self.tape.replayed::<TableAnswer, ()>(self.party, &request).await {
            None => {}
            Some(RequestOutcome::Answered(answer)) => return answer.into_result(),
            Some(RequestOutcome::Abandoned(())) => return self.tape.abandon().await,
        }
        let Some(graph) = &self.graph else { return Err(absent()) };
        let recorded = self.tape.request(self.party, &request);
        let table = match call {
            GraphCall::Write => graph.write(statement, parameters).await,
            GraphCall::Read | GraphCall::Version => graph.read(statement, parameters).await,
        };
        recorded.answered(&TableAnswer::from(table.clone()));
        table
    }
}

/// Under which name it is noted whether a graph never gives an id twice.
fn lasting_ids(party: Party) -> &'static str {
    if party == Party::EmptyGraph { "empty graph: lasting ids" } else { "graph: lasting ids" }
}

fn absent() -> GraphError {
    GraphError { kind: GraphErrorKind::Other, message: "the recorded graph has no such answer".to_owned() }
}

#[async_trait]
impl Graph for TapedGraph {
    fn backend(&self) -> &'static str {
        self.backend
    }

    async fn read(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        self.exchange(GraphCall::Read, statement, parameters).await
    }

    async fn write(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        self.exchange(GraphCall::Write, statement, parameters).await
    }

    /// Not recorded: its result is part of the failed attempts.
    async fn trouble(&self, within: Duration, failure: &str) -> Option<String> {
        self.graph.as_ref()?.trouble(within, failure).await
    }

    fn version(&self) -> Option<u64> {
        let request = GraphRequest { call: GraphCall::Version, statement: "", parameters: BTreeMap::new() };
        if let Some(answer) = self.tape.replayed_at_once::<CassetteVersion>(self.party, &request) {
            return answer.unwrap_or_default().version;
        }
        let version = self.graph.as_ref()?.version();
        self.tape.request(self.party, &request).answered(&CassetteVersion { version });
        version
    }

    fn lasting_ids(&self) -> bool {
        self.lasting_ids
    }
}
