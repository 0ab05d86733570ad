//! The graph as the rest of the program holds it.

use async_trait::async_trait;

use super::limits::EmbeddedLimits;
use super::pool::{Sessions, TargetThread};
use crate::graph::{Graph, GraphError, Parameters, Table};

/// A property graph in this process, empty when it is made and gone when it is dropped.
#[derive(Debug)]
pub struct EmbeddedGraph {
    pool: Sessions,
    limits: EmbeddedLimits,
    is_shared: bool,
}

impl EmbeddedGraph {
    /// A fresh graph in memory with the default limits. Fails when the engine or its thread can't be started.
    pub fn new() -> Result<EmbeddedGraph, GraphError> {
        EmbeddedGraph::with_limits(EmbeddedLimits::default())
    }

    /// A fresh graph in memory with limits of one's own.
    pub fn with_limits(limits: EmbeddedLimits) -> Result<EmbeddedGraph, GraphError> {
        Ok(EmbeddedGraph { pool: Sessions::private(limits)?, limits, is_shared: false })
    }

    /// A fresh graph that others may work on through [`EmbeddedGraph::sessions`] at the same time. It lives in a
    /// temporary folder, which goes when the graph and all its sessions are gone.
    pub fn shareable(limits: EmbeddedLimits) -> Result<EmbeddedGraph, GraphError> {
        Ok(EmbeddedGraph { pool: Sessions::shared(limits)?, limits, is_shared: true })
    }

    /// The way to work on this graph beside its owner; `None` when it was not made shareable.
    pub fn sessions(&self) -> Option<Sessions> {
        self.is_shared.then(|| self.pool.clone())
    }
}

#[async_trait]
impl Graph for EmbeddedGraph {
    fn backend(&self) -> &'static str {
        "embedded"
    }

    async fn read(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        let (statement, parameters, rows) = (statement.to_owned(), parameters.clone(), self.limits.rows);
        let work = self.pool.ask(TargetThread::Owner, self.limits.time, move |worker, request| {
            worker.bounded(request, |store| store.read_table(&statement, &parameters, rows))
        });
        work.await.map_err(|refusal| refusal.error)
    }

    async fn write(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        let (text, parameters, rows) = (statement.to_owned(), parameters.clone(), self.limits.rows);
        let _turn = self.pool.turn(self.limits.time).await.map_err(|refusal| refusal.error)?;
        let work = self.pool.ask(TargetThread::Writer, self.limits.time, move |worker, request| {
            let table = worker.bounded(request, |store| store.write_table(&text, &parameters, rows));
            worker.end(request, table)
        });
        work.await.map_err(|refusal| refusal.error)
    }

    fn version(&self) -> Option<u64> {
        Some(self.pool.commits())
    }

    /// The engine counts nodes and relationships and never goes back.
    fn lasting_ids(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
