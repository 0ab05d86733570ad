use super::super::packed::tests::{json, values};
use super::*;
use crate::graph::embedded::{EmbeddedGraph, EmbeddedLimits};
use crate::graph::{Graph, Value};

const TIMEOUTS: Timeouts = Timeouts { statement: Duration::from_secs(20), turn: Duration::from_millis(100) };

fn graph() -> (EmbeddedGraph, Sessions) {
    let graph = EmbeddedGraph::shareable(EmbeddedLimits::default()).unwrap();
    let sessions = graph.sessions().unwrap();
    (graph, sessions)
}

async fn count(session: &mut GraphSession) -> Value {
    let answer = session.run(AccessMode::Read, "MATCH (n) RETURN count(n)", &Parameters::new(), TIMEOUTS).await;
    values(answer.unwrap().rows)[0][0].clone()
}

async fn create(session: &mut GraphSession) -> Result<StatementResult, StatementError> {
    session.run(AccessMode::Write, "CREATE (:X)", &Parameters::new(), TIMEOUTS).await
}

#[tokio::test]
async fn sessions_and_their_graph_see_what_is_committed_and_only_that() {
    let (graph, sessions) = graph();
    let (mut one, mut other) = (sessions.session(json()), sessions.session(json()));
    one.begin(AccessMode::Write);
    assert_eq!(one.run_inside("CREATE (:X)", &Parameters::new(), TIMEOUTS).await.unwrap().effect, Effect::Write);
    let own = one.run_inside("MATCH (n) RETURN count(n)", &Parameters::new(), TIMEOUTS).await.unwrap();
    assert_eq!(values(own.rows)[0][0], Value::Int(1));
    assert_eq!(count(&mut other).await, Value::Int(0));
    assert_eq!(sessions.commits(), 0);
    one.commit().await.unwrap();
    assert_eq!((count(&mut other).await, sessions.commits()), (Value::Int(1), 1));
    let table = graph.read("MATCH (n) RETURN count(n)", &Parameters::new()).await.unwrap();
    assert_eq!(table.rows[0][0], Value::Int(1));
    graph.write("CREATE (:X)", &Parameters::new()).await.unwrap();
    assert_eq!(count(&mut one).await, Value::Int(2));
}

#[tokio::test]
async fn a_second_writer_waits_and_then_has_to_try_again() {
    let (_graph, sessions) = graph();
    let (mut one, mut other) = (sessions.session(json()), sessions.session(json()));
    one.begin(AccessMode::Write);
    one.run_inside("CREATE (:X)", &Parameters::new(), TIMEOUTS).await.unwrap();
    assert_eq!(create(&mut other).await.unwrap_err().reason, StatementErrorKind::Locked);
    one.roll_back();
    create(&mut other).await.unwrap();
    assert_eq!(count(&mut one).await, Value::Int(1));
}

#[tokio::test]
async fn a_transaction_that_fails_undoes_nothing_of_the_next_one() {
    let (_graph, sessions) = graph();
    let (mut one, mut other) = (sessions.session(json()), sessions.session(json()));
    for session in [&mut one, &mut other] {
        session.begin(AccessMode::Write);
    }
    one.run_inside("CREATE (:X)", &Parameters::new(), TIMEOUTS).await.unwrap();
    let none = Parameters::new();
    let patient = Timeouts { turn: Duration::from_secs(20), ..TIMEOUTS };
    let (failed, written) =
        tokio::join!(one.run_inside("RETURN 1 / 0", &none, TIMEOUTS), other.run_inside("CREATE (:X)", &none, patient));
    assert_eq!(failed.unwrap_err().reason, StatementErrorKind::Arithmetic);
    written.unwrap();
    other.run_inside("CREATE (:X)", &none, TIMEOUTS).await.unwrap();
    other.commit().await.unwrap();
    assert_eq!(count(&mut one).await, Value::Int(2));
}

#[tokio::test]
async fn a_session_that_goes_takes_its_transaction_along() {
    let (_graph, sessions) = graph();
    let mut one = sessions.session(json());
    one.begin(AccessMode::Write);
    one.run_inside("CREATE (:X)", &Parameters::new(), TIMEOUTS).await.unwrap();
    drop(one);
    let mut other = sessions.session(json());
    create(&mut other).await.unwrap();
    assert_eq!(count(&mut other).await, Value::Int(1));
}

#[tokio::test]
async fn transactions_that_only_read_stand_in_nobodys_way() {
    let (_graph, sessions) = graph();
    let (mut one, mut other) = (sessions.session(json()), sessions.session(json()));
    for session in [&mut one, &mut other] {
        session.begin(AccessMode::Write);
        session.run_inside("MATCH (n) RETURN n", &Parameters::new(), TIMEOUTS).await.unwrap();
    }
    one.run_inside("CREATE (:X)", &Parameters::new(), TIMEOUTS).await.unwrap();
    other.run_inside("MATCH (n) RETURN n", &Parameters::new(), TIMEOUTS).await.unwrap();
    one.commit().await.unwrap();
    other.commit().await.unwrap();
}

#[tokio::test]
async fn a_write_where_only_reading_is_allowed_is_refused() {
    let (_graph, sessions) = graph();
    let mut session = sessions.session(json());
    let refused = session.run(AccessMode::Read, "CREATE (:X)", &Parameters::new(), TIMEOUTS).await.unwrap_err();
    assert_eq!(refused.reason, StatementErrorKind::AccessMode);
    let index = "CREATE INDEX i FOR (n:X) ON (n.x)";
    let refused = session.run(AccessMode::Read, index, &Parameters::new(), TIMEOUTS).await.unwrap_err();
    assert_eq!(refused.reason, StatementErrorKind::AccessMode);
    let answer = session.run(AccessMode::Write, index, &Parameters::new(), TIMEOUTS).await.unwrap();
    assert_eq!(answer.effect, Effect::Schema);
    session.begin(AccessMode::Read);
    let refused = session.run_inside("CREATE (:X)", &Parameters::new(), TIMEOUTS).await.unwrap_err();
    assert_eq!(refused.reason, StatementErrorKind::AccessMode);
    assert!(!session.in_transaction());
    assert_eq!(count(&mut session).await, Value::Int(0));
}

#[tokio::test]
async fn what_takes_too_long_is_given_up_and_the_writer_goes_on() {
    let (_graph, sessions) = graph();
    let mut session = sessions.session(json());
    let slow = "CREATE (:X) WITH 1 AS one UNWIND range(1, 500000) AS x WITH count(x) AS c RETURN c";
    let timeouts = Timeouts { statement: Duration::from_millis(30), ..TIMEOUTS };
    let refused = session.run(AccessMode::Write, slow, &Parameters::new(), timeouts).await.unwrap_err();
    assert_eq!(refused.reason, StatementErrorKind::TimedOut);
    let patient = Timeouts { turn: Duration::from_secs(20), ..TIMEOUTS };
    session.run(AccessMode::Write, "CREATE (:X)", &Parameters::new(), patient).await.unwrap();
    assert_eq!(count(&mut session).await, Value::Int(1));
}

/// How a driver wants numbers, more or less.
fn small() -> Form {
    Form::new(|row, bytes| row.iter().for_each(|value| bytes.extend_from_slice(value.to_string().as_bytes())))
}

#[tokio::test]
async fn rows_are_packed_as_they_come() {
    let graph = EmbeddedGraph::shareable(EmbeddedLimits { memory: 6 << 20, ..EmbeddedLimits::default() }).unwrap();
    let mut session = graph.sessions().unwrap().session(small());
    let timeouts = Timeouts { statement: Duration::from_secs(300), ..TIMEOUTS };
    let none = Parameters::new();
    let create = "UNWIND range(1, 500) AS x CREATE (:A {name: 'a name of a node', x: x})-[:R {y: x}]->(:B {x: x})";
    for _ in 0..6 {
        session.run(AccessMode::Write, create, &none, timeouts).await.unwrap();
    }
    for (rows, statement) in [
        (50_000, "UNWIND range(1, 50000) AS x RETURN x, -x AS y"),
        (50_000, "UNWIND range(1, 50000) AS x WITH x, {a: x} AS m RETURN x, m.a AS y"),
        (6_000, "MATCH (n) RETURN n.x"),
        (6_000, "MATCH (n) RETURN id(n), labels(n)"),
        (6_000, "MATCH (n) WHERE n.x > 0 RETURN n"),
        (6_000, "MATCH (n) WITH n AS m RETURN m"),
        (3_000, "MATCH (a:A)-[r]->(b) RETURN id(a), r.y, id(b)"),
        (3_000, "MATCH (a)-[r:R]->(b) RETURN a, r, b"),
        (3_000, "MATCH p = (a:A)-[:R]->() RETURN p"),
        (6_000, "MATCH (n) OPTIONAL MATCH (n)-[r:R]->(m) RETURN id(n), id(m)"),
        (6_000, "MATCH (n:A) RETURN n UNION ALL MATCH (n:B) RETURN n"),
        (4_900, "MATCH (n) RETURN n SKIP 100 LIMIT 4900"),
        (1, "MATCH (n) RETURN count(n), max(n.x)"),
        (1, "MATCH (a)-[r]->(b) RETURN count(r)"),
        (2, "MATCH (n) RETURN DISTINCT labels(n)"),
        (2, "MATCH (n) RETURN labels(n) AS l, count(*) AS c ORDER BY c"),
    ] {
        let answer = session.run(AccessMode::Read, statement, &none, timeouts).await;
        assert_eq!(answer.map(|answer| answer.rows.len()), Ok(rows), "{statement}");
    }
}

#[tokio::test]
async fn what_is_set_on_something_deleted_is_counted_and_not_kept() {
    let (_graph, sessions) = graph();
    let mut session = sessions.session(json());
    // As Neo4j 5.26 does it, each.
    for (statement, counted) in [
        ("CREATE (n:Q {x: 1}) DELETE n SET n.x = 2 RETURN 1", 2),
        ("CREATE (n:Q {x: 1}) DELETE n REMOVE n.x", 1),
        ("CREATE (n:Q {x: 1}) DELETE n SET n += {a: 1}", 2),
        ("CREATE (a:Q)-[r:R]->(b:Q) DELETE r SET r.x = 1 DELETE a, b", 1),
    ] {
        let answer = session.run(AccessMode::Write, statement, &Parameters::new(), TIMEOUTS).await;
        assert_eq!(answer.map(|answer| answer.counts.properties_set), Ok(counted), "{statement}");
    }
    assert_eq!(count(&mut session).await, Value::Int(0));
    for label in ["SET n:Z", "REMOVE n:Q"] {
        let statement = format!("CREATE (n:Q) DELETE n {label}");
        let refused = session.run(AccessMode::Write, &statement, &Parameters::new(), TIMEOUTS).await.unwrap_err();
        assert_eq!(refused.reason, StatementErrorKind::EntityNotFound, "{statement}");
    }
}

#[tokio::test]
async fn a_procedure_behind_with_yields_several_columns() {
    let (_graph, sessions) = graph();
    let mut session = sessions.session(json());
    let statement = "WITH 1 AS a CALL dbms.components() YIELD name AS n, versions AS v WITH a, n, v WHERE a = 1 \
                     RETURN a, n, size(v)";
    let answer = session.run(AccessMode::Read, statement, &Parameters::new(), TIMEOUTS).await.unwrap();
    assert_eq!(values(answer.rows), [["1", "\"Neo4j Kernel\"", "1"].map(|json| serde_json::from_str(json).unwrap())]);
    session.run(AccessMode::Write, "CREATE (:A:B {x: 1}), (:C {x: 2})", &Parameters::new(), TIMEOUTS).await.unwrap();
    let labels = "MATCH (n) WITH n ORDER BY n.x WITH collect(n) AS ns \
                  RETURN [m IN ns WHERE m:A | m.x], any(m IN ns WHERE m:C), size([m IN ns WHERE m:A&B])";
    let answer = session.run(AccessMode::Read, labels, &Parameters::new(), TIMEOUTS).await.unwrap();
    assert_eq!(values(answer.rows), [["[1]", "true", "1"].map(|json| serde_json::from_str(json).unwrap())]);
}

#[tokio::test]
async fn results_that_nobody_has_fetched_are_bounded_together() {
    let graph = EmbeddedGraph::shareable(EmbeddedLimits { memory: 64 << 20, ..EmbeddedLimits::default() }).unwrap();
    let mut session = graph.sessions().unwrap().session(json());
    let rows = "UNWIND range(1, 10000) AS x RETURN x, range(1, 200) AS y";
    let mut answers = Vec::new();
    let refused = loop {
        assert!(answers.len() < 20, "{} results are held", answers.len());
        match session.run(AccessMode::Read, rows, &Parameters::new(), TIMEOUTS).await {
            Ok(answer) => answers.push(answer),
            Err(refused) => break refused,
        }
    };
    assert_eq!(refused.reason, StatementErrorKind::TooLarge);
    assert!(refused.error.message.contains("results that wait to be fetched"), "{refused}");
    answers.clear();
    session.run(AccessMode::Read, rows, &Parameters::new(), TIMEOUTS).await.unwrap();
}

#[tokio::test]
async fn many_sessions_write_at_once_and_none_is_lost() {
    let (_graph, sessions) = graph();
    let timeouts = Timeouts { turn: Duration::from_secs(20), ..TIMEOUTS };
    let tasks: Vec<_> = (0..32)
        .map(|_| {
            let mut session = sessions.session(json());
            tokio::spawn(async move {
                session
                    .run(AccessMode::Write, "MERGE (n:N) SET n.x = coalesce(n.x, 0) + 1", &Parameters::new(), timeouts)
                    .await
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let mut session = sessions.session(json());
    let answer = session.run(AccessMode::Read, "MATCH (n:N) RETURN n.x", &Parameters::new(), TIMEOUTS).await.unwrap();
    assert_eq!(values(answer.rows), [[Value::Int(32)]]);
}

#[tokio::test]
async fn failures_keep_their_sort() {
    let (_graph, sessions) = graph();
    let mut session = sessions.session(json());
    session.run(AccessMode::Write, "CREATE (:A)-[:R]->(:B)", &Parameters::new(), TIMEOUTS).await.unwrap();
    for (statement, expected) in [
        ("RETRUN 1", StatementErrorKind::Syntax),
        ("RETURN nope", StatementErrorKind::Syntax),
        ("", StatementErrorKind::Syntax),
        ("RETURN 1; RETURN 2", StatementErrorKind::Syntax),
        ("RETURN $x", StatementErrorKind::ParameterMissing),
        ("RETURN 1 / 0", StatementErrorKind::Arithmetic),
        ("MATCH (a:A) DELETE a", StatementErrorKind::Constraint),
        ("UNWIND [1, 'a'] AS x RETURN range(1, x)", StatementErrorKind::Type),
        ("FOREACH (x IN [1] | CREATE (:X))", StatementErrorKind::Unsupported),
        ("CALL nope.nope()", StatementErrorKind::Procedure),
    ] {
        let refused = session.run(AccessMode::Write, statement, &Parameters::new(), TIMEOUTS).await.unwrap_err();
        assert_eq!(refused.reason, expected, "{statement}: {refused}");
    }
}

#[tokio::test]
async fn a_session_reads_more_rows_than_an_assertion_may() {
    let (graph, sessions) = graph();
    let many = "UNWIND range(1, 100001) AS x RETURN x";
    let answer = sessions.session(json()).run(AccessMode::Read, many, &Parameters::new(), TIMEOUTS).await.unwrap();
    assert_eq!(answer.rows.len(), 100_001);
    let refused = graph.read(many, &Parameters::new()).await.unwrap_err();
    assert_eq!(refused.kind, crate::graph::GraphErrorKind::Limit, "{refused}");
}

#[tokio::test]
async fn functions_compute_their_argument_once_and_answer_as_neo4j_does() {
    let (_graph, sessions) = graph();
    let mut session = sessions.session(json());
    for (expression, expected) in [
        ("round(-2.5)", "-2.0"),
        ("round(2.5)", "3.0"),
        ("round(-0.4) = 0", "true"),
        ("toString(time('10:20Z'))", "\"10:20:00Z\""),
        ("toString(localdatetime('2024-01-01T00:00'))", "\"2024-01-01T00:00:00\""),
        ("isEmpty('') AND isEmpty([]) AND isEmpty({}) AND NOT isEmpty('a')", "true"),
        ("isEmpty(null)", "null"),
        ("lower('A') + upper('b') + toString(ceiling(0.5))", "\"aB1.0\""),
        ("randomUUID() =~ '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'", "true"),
        ("randomUUID() = randomUUID()", "false"),
        ("timestamp() = datetime().epochMillis", "true"),
        ("all(x IN range(1, 100) WHERE round(rand() - 0.5) IN [0.0, 1.0, -1.0])", "true"),
    ] {
        let statement = format!("RETURN {expression} AS x");
        let answer = session.run(AccessMode::Read, &statement, &Parameters::new(), TIMEOUTS).await.unwrap();
        assert_eq!(values(answer.rows), [[serde_json::from_str::<Value>(expected).unwrap()]], "{expression}");
    }
    let percentiles =
        "UNWIND [40, 10, 30, 20] AS x RETURN percentileDisc(x, 0.5), percentileDisc(x, 0.51), percentileDisc(x, 0)";
    let answer = session.run(AccessMode::Read, percentiles, &Parameters::new(), TIMEOUTS).await.unwrap();
    assert_eq!(values(answer.rows), [[Value::Int(20), Value::Int(30), Value::Int(10)]]);
    session.run(AccessMode::Write, "CREATE (:A)-[:R]->(:B)", &Parameters::new(), TIMEOUTS).await.unwrap();
    let ids = "MATCH (a)-[r]->(b) RETURN elementId(a) = toString(id(a)), elementId(r) = toString(id(r))";
    let answer = session.run(AccessMode::Read, ids, &Parameters::new(), TIMEOUTS).await.unwrap();
    assert_eq!(values(answer.rows), [[Value::Bool(true), Value::Bool(true)]]);
    let wrong = session.run(AccessMode::Read, "RETURN isEmpty(1)", &Parameters::new(), TIMEOUTS).await.unwrap_err();
    assert_eq!(wrong.reason, StatementErrorKind::Type);
}
