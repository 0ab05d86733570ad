//! Reasons why others can't work with the database just now.

use std::time::Duration;

use tokio::time::timeout;

use super::client::Neo4jGraph;
use crate::clock::Clock;
use crate::graph::{GraphErrorKind, Parameters, Table, Value};

/// How long the simplest question may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the rest may take: a server that was just started plans slowly.
const PLANNING_TIMEOUT: Duration = Duration::from_secs(30);

/// How far the server's clock may be from ours: some run a few hundredths faster.
const SLACK: Duration = Duration::from_secs(1);

/// The most characters of a query that are shown.
const QUERY: usize = 120;

const UPTIME: &str =
    "CALL dbms.queryJmx('java.lang:type=Runtime') YIELD attributes RETURN attributes.Uptime.value AS ms";

const TRANSACTIONS: &str = "SHOW TRANSACTIONS YIELD transactionId, status, currentQuery, elapsedTime, activeLockCount \
     RETURN transactionId, status, currentQuery, elapsedTime.milliseconds AS ms, activeLockCount";

impl Neo4jGraph {
    /// Why others can't work with the database: it does not answer, it was started again within this time, or a
    /// transaction waits for another one's lock. `failure` is the error of whoever needs it.
    pub(super) async fn trouble_now(&self, within: Duration, failure: &str) -> Option<String> {
        let since = Clock::system().start();
        // Where our own statements take all connections, nothing can be asked.
        let _connection = timeout(3 * ANSWER_TIMEOUT, self.free()).await.ok()?;
        match timeout(ANSWER_TIMEOUT, self.once("RETURN 1")).await {
            Err(_) => return Some(format!("Neo4j did not answer `RETURN 1` within {} s", ANSWER_TIMEOUT.as_secs())),
            Ok(Err(error)) if error.kind != GraphErrorKind::Unauthorized => return Some(error.message),
            Ok(_) => {}
        }
        // Not every user may ask the rest, and not every server knows it.
        let asked = async {
            let uptime = self.once(UPTIME).await;
            if let Ok(Some(up)) = uptime.as_ref().map(number)
                && up < (within + Duration::from_secs_f64(since.elapsed_ms() / 1000.0)).mul_f64(1.1) + SLACK
            {
                return Some(format!("Neo4j was started again {:.0} s before", up.as_secs_f64()));
            }
            let transactions = self.once(TRANSACTIONS).await;
            if let Ok(transactions) = &transactions {
                return locked(transactions, within, failure);
            }
            let mut errors = [uptime.err(), transactions.err()].into_iter().flatten();
            errors
                .find(|error| matches!(error.kind, GraphErrorKind::Unreachable | GraphErrorKind::Limit))
                .map(|error| error.message)
        };
        // A server that answers the simplest question only is as good as gone.
        let slow = || format!("Neo4j did not say within {} s how long it has been up", PLANNING_TIMEOUT.as_secs());
        timeout(PLANNING_TIMEOUT, asked).await.unwrap_or_else(|_| Some(slow()))
    }

    /// One try: what is transient is what is asked for.
    async fn once(&self, statement: &str) -> Result<Table, crate::graph::GraphError> {
        self.read_now(statement, &Parameters::new()).await.map_err(|failure| failure.error)
    }
}

fn number(table: &Table) -> Option<Duration> {
    match table.rows.first()?.first()? {
        Value::Int(ms) => u64::try_from(*ms).ok().map(Duration::from_millis),
        _ => None,
    }
}

/// A transaction as the server lists it.
struct ListedTransaction<'t> {
    id: &'t str,
    status: &'t str,
    query: &'t str,
    age: Duration,
    locks: i64,
}

/// The holder of a lock that another transaction waits for; or a holder from before this time, where the failure speaks of a
/// lock or of a timeout: the waiting transaction has given up by now.
fn locked(table: &Table, within: Duration, failure: &str) -> Option<String> {
    let transactions: Vec<ListedTransaction<'_>> = table.rows.iter().filter_map(|row| transaction(row)).collect();
    let blocked = transactions.iter().find_map(|waiting| Some((waiting, waiting.status.strip_prefix("Blocked by: ")?)));
    if let Some((waiting, by)) = blocked {
        let ids: Vec<&str> = by.trim_matches(['[', ']']).split(", ").collect();
        let holder = transactions.iter().find(|other| ids.contains(&other.id));
        let holder = holder.map_or_else(|| ids.join(", "), described);
        return Some(format!(
            "a transaction waits in Neo4j for a lock that another one holds: {holder}; it is {} that waits",
            described(waiting)
        ));
    }
    let failure = failure.to_lowercase();
    let may_be_of_a_lock =
        ["lock", "timed out", "timeout", "time out", "ran out", "terminated", "no reply within", "took longer than"];
    let holder = transactions.iter().find(|other| other.locks > 0 && other.age > within)?;
    may_be_of_a_lock.iter().any(|part| failure.contains(part)).then(|| {
        let (holder, locks) = (described(holder), holder.locks);
        format!("another transaction has held locks in Neo4j all the time ({locks} of them): {holder}")
    })
}

fn transaction(row: &[Value]) -> Option<ListedTransaction<'_>> {
    let [Value::String(id), Value::String(status), query, Value::Int(ms), locks] = row else { return None };
    let query = if let Value::String(query) = query { query } else { "" };
    let locks = if let Value::Int(locks) = locks { *locks } else { 0 };
    Some(ListedTransaction { id, status, query, age: Duration::from_millis(u64::try_from(*ms).ok()?), locks })
}

fn described(transaction: &ListedTransaction<'_>) -> String {
    let one_line = transaction.query.split_whitespace().collect::<Vec<_>>().join(" ");
    let query: String = one_line.chars().take(QUERY).collect();
    let query = if query.is_empty() { String::new() } else { format!(", `{query}`") };
    format!("{}, open for {:.0} s{query}", transaction.id, transaction.age.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, status: &str, query: &str, ms: i64, locks: i64) -> Vec<Value> {
        vec![id.into(), status.into(), query.into(), Value::Int(ms), Value::Int(locks)]
    }

    fn holder(rows: Vec<Vec<Value>>, failure: &str) -> Option<String> {
        locked(&Table { columns: Vec::new(), rows }, Duration::from_secs(10), failure)
    }

    #[test]
    fn a_lock_is_reported_with_its_holder_and_the_waiting_transaction() {
        let rows = vec![
            row("neo4j-transaction-5", "Running", "", 34_000, 2),
            row("neo4j-transaction-9", "Blocked by: [neo4j-transaction-5]", "MATCH (n)\nSET n.x = 1", 4_000, 1),
            row("neo4j-transaction-10", "Running", "SHOW TRANSACTIONS", 1, 0),
        ];
        assert_eq!(
            holder(rows, "HTTP 500").unwrap(),
            "a transaction waits in Neo4j for a lock that another one holds: neo4j-transaction-5, open for 34 s; it is \
             neo4j-transaction-9, open for 4 s, `MATCH (n) SET n.x = 1` that waits"
        );
    }

    #[test]
    fn a_lock_that_nobody_waits_for_any_more_counts_only_where_the_failure_speaks_of_it() {
        let old = || vec![row("neo4j-transaction-5", "Running", "", 34_000, 2)];
        assert!(holder(old(), "500: LockAcquisitionTimeout").unwrap().contains("neo4j-transaction-5, open for 34 s"));
        assert!(holder(old(), "500: the statement took longer than 2 s").is_some());
        assert_eq!(holder(old(), "500: division by zero"), None);
        // It may be of the agent's own doing.
        assert_eq!(holder(vec![row("neo4j-transaction-5", "Running", "", 4_000, 2)], "timed out"), None);
        assert_eq!(holder(vec![row("neo4j-transaction-5", "Running", "", 34_000, 0)], "timed out"), None);
        assert_eq!(holder(vec![], "timed out"), None);
    }
}
