//! A Neo4j database as the rest of the program holds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use neo4rs::{BoltType, ConfigBuilder, Graph as Driver, Query, Row};
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};
use tokio::time::{sleep, timeout};

use super::connection::{Neo4jConnection, Neo4jLimits};
use super::error::{Neo4jFailure, from_driver, is_our_limit, is_transient, unreachable};
use super::wire;
use crate::cypher::{Columns, Statement, columns, split};
use crate::graph::{Graph, GraphError, GraphErrorKind, Parameters, Table};
use crate::retry::{OnWait, RetryPolicy, WaitReason};

/// The most connections to one database, and so the most statements at once.
const CONNECTIONS: usize = 16;

/// For what the server calls transient. The limit on a call's time holds over all its tries.
const RETRY: RetryPolicy = RetryPolicy {
    tries: 6,
    first_delay: Duration::from_millis(50),
    max_delay: Duration::from_secs(2),
    retry_after_cap: Duration::ZERO,
};

/// The extra time in which the server ends a read by itself: it knows the limit and checks its clock every 2 s. It is
/// waited for, because a connection whose query was ended in order is as good as new.
const GRACE: Duration = Duration::from_secs(4);

/// A Neo4j database. It is reached when it is first asked.
pub struct Neo4jGraph {
    driver: Driver,
    connection: Neo4jConnection,
    limits: Neo4jLimits,
    reached: OnceCell<()>,
    /// The error for credentials that it refused: a server that is asked too often with wrong ones locks the
    /// user out.
    locked_out: OnceCell<GraphError>,
    /// Whoever finds no free connection waits here, before its own time begins to count.
    free: Semaphore,
    calls: AtomicU64,
    on_wait: Option<Arc<OnWait>>,
}

impl Neo4jGraph {
    /// Prepares the way to a database, without a request. Fails when the address is none.
    pub fn connect(connection: Neo4jConnection, limits: Neo4jLimits) -> Result<Neo4jGraph, GraphError> {
        // A provider that was installed before is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut config = ConfigBuilder::default()
            .uri(&connection.uri)
            .user(&connection.username)
            .password(connection.password.expose())
            .max_connections(CONNECTIONS)
            // The driver takes this limit for every answer too, and so it must not be shorter than ours.
            .connection_timeout(limits.time.max(limits.connect) + GRACE + GRACE);
        if let Some(database) = &connection.database {
            config = config.db(database.as_str());
        }
        let ours = |theirs: neo4rs::Error| from_driver(&connection.uri, &theirs);
        let driver = Driver::connect(config.build().map_err(ours)?).map_err(ours)?;
        Ok(Neo4jGraph {
            driver,
            connection,
            limits,
            reached: OnceCell::new(),
            locked_out: OnceCell::new(),
            free: Semaphore::new(CONNECTIONS),
            calls: AtomicU64::new(0),
            on_wait: None,
        })
    }

    /// Reports its retries from now on.
    pub fn report_waits(&mut self, on_wait: Option<Arc<OnWait>>) {
        self.on_wait = on_wait;
    }

    pub(super) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Until one of the connections is free.
    pub(super) async fn free(&self) -> Option<SemaphorePermit<'_>> {
        self.free.acquire().await.ok()
    }

    pub(super) fn limits(&self) -> Neo4jLimits {
        self.limits
    }

    /// Reaches the server once, under a limit that is shorter than a query's.
    pub(super) async fn reach(&self) -> Result<(), GraphError> {
        let reach = async {
            let transaction = self.driver.start_txn().await?;
            transaction.rollback().await
        };
        let within = || async {
            match timeout(self.limits.connect, reach).await {
                Ok(reached) => reached.map_err(|theirs| self.ours(&theirs).error),
                Err(_) => {
                    let limit = self.limits.connect.as_secs_f64();
                    Err(unreachable(&self.connection.uri, &format!("no answer within {limit} s")))
                }
            }
        };
        if let Some(refusal) = self.locked_out.get() {
            return Err(refusal.clone());
        }
        let reached = self.reached.get_or_try_init(within).await.copied();
        if let Err(error) = &reached
            && error.kind == GraphErrorKind::Unauthorized
        {
            // Another one was faster, with the same result.
            let _ = self.locked_out.set(error.clone());
        }
        reached
    }

    pub(super) async fn read_now(&self, text: &str, parameters: &Parameters) -> Result<Table, Neo4jFailure> {
        let statements = split(text);
        let [statement] = statements.as_slice() else {
            return Err(GraphError::new(
                GraphErrorKind::Statement,
                format!("One statement was expected here, not {}.", statements.len()),
            )
            .into());
        };
        let limit = i64::try_from(self.limits.time.as_millis()).unwrap_or(i64::MAX);
        let query = query(statement, parameters)?.extra("tx_timeout", limit);
        let mut stream = self.driver.execute_read(query).await.map_err(|theirs| self.ours(&theirs))?;
        let mut rows = Rows::new(statement, self.limits.rows);
        while let Some(row) = stream.next().await.map_err(|theirs| self.ours(&theirs))? {
            rows.push(&row)?;
        }
        Ok(rows.table)
    }

    async fn write_now(&self, text: &str, parameters: &Parameters) -> Result<Table, Neo4jFailure> {
        let statements = split(text);
        if statements.is_empty() {
            return Err(GraphError::new(GraphErrorKind::Statement, "There is no statement in this text.").into());
        }
        // A transaction that is dropped unfinished is rolled back by the server.
        let mut transaction = self.driver.start_txn().await.map_err(|theirs| self.ours(&theirs))?;
        let mut table = Table::default();
        for (at, statement) in statements.iter().enumerate() {
            let number = |mut failure: Neo4jFailure| {
                if statements.len() > 1 {
                    let message = &mut failure.error.message;
                    *message = format!("Statement {} of {}: {message}", at + 1, statements.len());
                }
                failure
            };
            let query = query(statement, parameters).map_err(|error| number(error.into()))?;
            let mut stream = transaction.execute(query).await.map_err(|theirs| number(self.ours(&theirs)))?;
            let mut rows = Rows::new(statement, self.limits.rows);
            while let Some(row) =
                stream.next(transaction.handle()).await.map_err(|theirs| number(self.ours(&theirs)))?
            {
                rows.push(&row).map_err(|error| number(error.into()))?;
            }
            table = rows.table;
        }
        transaction.commit().await.map_err(|theirs| self.ours(&theirs))?;
        Ok(table)
    }

    async fn within<F>(&self, limit: Duration, work: impl Fn() -> F) -> Result<Table, GraphError>
    where
        F: Future<Output = Result<Table, Neo4jFailure>>,
    {
        // It has no owner that closes it.
        let _connection = self.free.acquire().await;
        self.reach().await?;
        let answered = timeout(limit, self.again_if_transient(work)).await;
        answered.unwrap_or_else(|_| Err(self.too_long("was not waited for")))
    }

    /// Ends the transaction of a writing that was given up: the driver keeps its connection as it is, with all locks of
    /// the transaction, until somebody takes it. The oldest is taken first, so that each is taken once.
    async fn close_open_transactions(&self) {
        let end = async {
            for _ in 0..CONNECTIONS {
                let Ok(transaction) = self.driver.start_txn().await else { return };
                if transaction.rollback().await.is_err() {
                    return;
                }
            }
        };
        // A server that does not answer needs no further look.
        let _ = timeout(GRACE + GRACE, end).await;
    }

    async fn again_if_transient<F>(&self, work: impl Fn() -> F) -> Result<Table, GraphError>
    where
        F: Future<Output = Result<Table, Neo4jFailure>>,
    {
        // Any number will do that differs from call to call: two that stood in each other's way must not meet again.
        let mut delays = RETRY.delays(self.calls.fetch_add(1, Ordering::Relaxed));
        loop {
            let failure = match work().await {
                Ok(table) => return Ok(table),
                Err(failure) => failure,
            };
            match delays.next(None) {
                Some(delay) if failure.transient => {
                    if let Some(on_wait) = &self.on_wait {
                        on_wait(WaitReason::Retry { service: "the graph", error: &failure.error.message }, delay);
                    }
                    sleep(delay).await;
                }
                _ => return Err(failure.error),
            }
        }
    }

    pub(super) fn too_long(&self, end: &str) -> GraphError {
        let limit = self.limits.time.as_secs_f64();
        let message =
            format!("Neo4j took longer than {limit} s and {end}. limits.query in the job file says how long.");
        GraphError::new(GraphErrorKind::Limit, message)
    }

    pub(super) fn ours(&self, theirs: &neo4rs::Error) -> Neo4jFailure {
        if is_our_limit(theirs) {
            return self.too_long("ended the query").into();
        }
        let error = from_driver(&self.connection.uri, theirs);
        let error = GraphError { message: self.connection.password.redact(&error.message), ..error };
        Neo4jFailure { error, transient: is_transient(theirs) }
    }
}

/// A result as it grows.
struct Rows {
    table: Table,
    declared: Columns,
    most: usize,
}

impl Rows {
    fn new(statement: &str, most: usize) -> Rows {
        let declared = columns(&Statement::parse(statement));
        let table = match &declared {
            Columns::Named(columns) => Table { columns: columns.clone(), rows: Vec::new() },
            _ => Table::default(),
        };
        Rows { table, declared, most }
    }

    fn push(&mut self, row: &Row) -> Result<(), GraphError> {
        if self.table.rows.len() == self.most {
            return Err(GraphError::new(
                GraphErrorKind::Limit,
                format!("The result has more than {} rows.", self.most),
            ));
        }
        if self.table.rows.is_empty() {
            self.table.columns = self.named(row);
        }
        let value = |column: &String| {
            let unreadable = |what: String| {
                GraphError::new(
                    GraphErrorKind::Other,
                    format!("The column `{column}` holds {what}, which can't be shown."),
                )
            };
            let bolt = row.get::<BoltType>(column).map_err(|error| unreadable(error.to_string()))?;
            wire::from_bolt(&bolt).map_err(|error| unreadable(error.to_string()))
        };
        let values = self.table.columns.iter().map(value).collect::<Result<_, _>>()?;
        self.table.rows.push(values);
        Ok(())
    }

    /// The driver forgets the order of columns: it is the statement's, and that of `*` is the alphabet's.
    fn named(&self, row: &Row) -> Vec<String> {
        let mut names: Vec<String> = row.keys().into_iter().map(|key| key.value.clone()).collect();
        names.sort();
        match &self.declared {
            Columns::Named(declared)
                if declared.len() == names.len() && declared.iter().all(|name| names.contains(name)) =>
            {
                declared.clone()
            }
            Columns::Star(last) => {
                names.sort_by_key(|name| last.iter().position(|last| last == name));
                names
            }
            _ => names,
        }
    }
}

pub(super) fn query(statement: &str, parameters: &Parameters) -> Result<Query, GraphError> {
    let map = wire::map(parameters).map_err(|problem| {
        GraphError::new(GraphErrorKind::Statement, format!("A parameter can't be sent: {problem}."))
    })?;
    Ok(Query::new(statement.to_owned()).with_params(map))
}

#[async_trait]
impl Graph for Neo4jGraph {
    fn backend(&self) -> &'static str {
        "neo4j"
    }

    async fn read(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        self.within(self.limits.time + GRACE, || self.read_now(statement, parameters)).await
    }

    async fn write(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
        let written = self.within(self.limits.time, || self.write_now(statement, parameters)).await;
        if written.as_ref().is_err_and(|error| error.kind == GraphErrorKind::Limit) {
            self.close_open_transactions().await;
        }
        written
    }

    async fn trouble(&self, within: Duration, failure: &str) -> Option<String> {
        self.trouble_now(within, failure).await
    }
}

#[cfg(test)]
mod tests;
