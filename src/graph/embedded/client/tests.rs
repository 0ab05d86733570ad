use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::graph::{GraphErrorKind, Value};

async fn count(graph: &EmbeddedGraph) -> Value {
    let table = graph.read("MATCH (n) RETURN count(n)", &Parameters::new()).await.unwrap();
    table.rows[0][0].clone()
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_given_up_and_not_kept() {
    let limits = EmbeddedLimits { time: Duration::from_millis(50), ..EmbeddedLimits::default() };
    let graph = EmbeddedGraph::with_limits(limits).unwrap();
    let slow = "CREATE (:X) WITH 1 AS one UNWIND range(1, 500000) AS x WITH count(x) AS c RETURN c";
    let error = graph.write(slow, &Parameters::new()).await.unwrap_err();
    assert_eq!(error.kind, GraphErrorKind::Limit, "{error}");
    let patient = EmbeddedGraph { pool: graph.pool.clone(), limits: EmbeddedLimits::default(), is_shared: false };
    assert_eq!(count(&patient).await, Value::Int(0));
}

#[tokio::test]
async fn what_nobody_waits_for_any_longer_stops() {
    // Each would keep the engine busy for hours.
    let endless = [
        "RETURN any(x IN range(1, 4000000) WHERE any(y IN range(1, 40000) WHERE y = -x)) AS x",
        "UNWIND range(1, 9000000) AS x UNWIND range(1, 9000000) AS y RETURN count(*)",
        "MATCH (a)-[:R*1..]-(b) RETURN count(*)",
        "UNWIND range(1, 9000000) AS x MATCH (n:X) SET n.x = x",
    ];
    let limits = EmbeddedLimits { time: Duration::from_millis(50), ..EmbeddedLimits::default() };
    let graph = EmbeddedGraph::with_limits(limits).unwrap();
    let patient = EmbeddedGraph { pool: graph.pool.clone(), limits: EmbeddedLimits::default(), is_shared: false };
    let setup = "UNWIND range(1, 12) AS i CREATE (:X) WITH i MATCH (a:X), (b:X) MERGE (a)-[:R]->(b)";
    patient.write(setup, &Parameters::new()).await.unwrap();
    for statement in endless {
        let error = graph.write(statement, &Parameters::new()).await.unwrap_err();
        assert!(error.message.contains("took longer than 0.05 s"), "{statement}: {error}");
        assert_eq!(count(&patient).await, Value::Int(12), "{statement}");
        // The one who waits may also just go.
        let none = Parameters::new();
        let asked = patient.write(statement, &none);
        assert!(tokio::time::timeout(Duration::from_millis(50), asked).await.is_err());
        assert_eq!(count(&patient).await, Value::Int(12), "{statement}");
    }
}

#[tokio::test]
async fn waiting_for_other_large_statements_is_reported() {
    let small = EmbeddedLimits { memory: 64 << 20, ..EmbeddedLimits::default() };
    let graph = EmbeddedGraph::with_limits(small).unwrap();
    let other = EmbeddedGraph::with_limits(EmbeddedLimits { time: Duration::from_secs(2), ..small }).unwrap();
    // It holds a list, and then is busy for hours.
    let large = "RETURN any(x IN range(1, 400000) WHERE any(y IN range(1, 40000) WHERE y = -x)) AS x";
    let none = Parameters::new();
    let mut busy = graph.read(large, &none);
    assert!(tokio::time::timeout(Duration::from_millis(1500), &mut busy).await.is_err());
    let error = other.read(large, &none).await.unwrap_err();
    assert!(error.message.contains("It was waiting until another statement"), "{error}");
}

#[tokio::test]
async fn a_statement_may_take_so_much_memory_and_no_more() {
    let limits = EmbeddedLimits { memory: 32 << 20, ..EmbeddedLimits::default() };
    for graph in [EmbeddedGraph::with_limits(limits).unwrap(), EmbeddedGraph::shareable(limits).unwrap()] {
        for statement in [
            "UNWIND range(1, 9000000) AS x RETURN size(collect(x)) AS n",
            "RETURN size(range(1, 9000000)) AS n",
            "UNWIND range(1, 5000000) AS x RETURN x % 4000000 AS g, count(*) AS n",
            "UNWIND $rows AS x RETURN [x, x, x, x] AS l",
        ] {
            let rows = Value::List(vec![Value::String("text".repeat(10)); 90_000]);
            let error = graph.read(statement, &Parameters::from([("rows".to_owned(), rows)])).await.unwrap_err();
            assert_eq!(error.kind, GraphErrorKind::Limit, "{statement}: {error}");
            assert!(error.message.contains("takes more memory"), "{statement}: {error}");
        }
        let created = graph.write("UNWIND range(1, 9000000) AS x CREATE (:X {x: x})", &Parameters::new()).await;
        assert_eq!(created.unwrap_err().kind, GraphErrorKind::Limit);
        graph.write("UNWIND range(1, 100) AS x CREATE (:X {x: x})", &Parameters::new()).await.unwrap();
        assert_eq!(count(&graph).await, Value::Int(100));
    }
}

#[tokio::test]
async fn a_graph_has_a_largest_size_and_can_be_emptied_again() {
    let limits = EmbeddedLimits { memory: 16 << 20, ..EmbeddedLimits::default() };
    for graph in [EmbeddedGraph::with_limits(limits).unwrap(), EmbeddedGraph::shareable(limits).unwrap()] {
        let more = "UNWIND range(1, 1000) AS x CREATE (:X {text: $text})";
        let text = Parameters::from([("text".to_owned(), Value::String("x".repeat(2000)))]);
        let spare = more.replace(":X", ":Y");
        graph.write(&spare, &text).await.unwrap();
        let mut times = 1;
        let error = loop {
            match graph.write(more, &text).await {
                Ok(_) => times += 1,
                Err(error) => break error,
            }
        };
        assert!((3..10).contains(&times), "{times}");
        assert_eq!(error.kind, GraphErrorKind::Limit, "{error}");
        assert!(error.message.contains("may not grow past 16 MB"), "{error}");
        assert_eq!(count(&graph).await, Value::Int(times * 1000));
        graph.write("MATCH (n:Y) DETACH DELETE n", &Parameters::new()).await.unwrap();
        graph.write(more, &text).await.unwrap();
    }
}

#[tokio::test]
async fn a_full_graph_can_be_read_and_emptied() {
    let limits = EmbeddedLimits { memory: 6 << 20, time: Duration::from_secs(300), ..EmbeddedLimits::default() };
    for graph in [EmbeddedGraph::with_limits(limits).unwrap(), EmbeddedGraph::shareable(limits).unwrap()] {
        let none = Parameters::new();
        let text = Parameters::from([("text".to_owned(), Value::String("x".repeat(1500)))]);
        let more = "UNWIND range(1, 200) AS x CREATE (:A {x: x, text: $text, n: [x, x, x]})-[:R]->(:B)";
        let mut pairs = 0;
        while graph.write(more, &text).await.is_ok() {
            pairs += 200;
        }
        assert!(pairs > 800, "{pairs}");
        for (statement, expected) in [
            ("MATCH (n) RETURN count(n)", 2 * pairs),
            ("MATCH (n:A) WHERE n.x > 0 RETURN count(n)", pairs),
            ("MATCH (n) WHERE any(x IN n.n WHERE x = 7) RETURN count(n)", pairs / 200),
            ("MATCH (a)-[r]->(b) RETURN count(*)", pairs),
            ("MATCH (a) OPTIONAL MATCH (a)-[:R]->(b) RETURN count(b)", pairs),
        ] {
            let table = graph.read(statement, &none).await;
            let found = table.map(|table| table.rows[0][0].clone());
            assert_eq!(found, Ok(Value::Int(expected)), "{statement}");
        }
        for (statement, left) in [
            ("MATCH (n:A) WHERE n.x <= 100 DETACH DELETE n", pairs / 200 * 300),
            ("MATCH ()-[r]->() DELETE r", pairs / 200 * 300),
            ("MATCH (n:A) REMOVE n.text SET n.x = 0, n:Small", pairs / 200 * 300),
            ("MATCH (n:B) WITH n LIMIT 100 DELETE n", pairs / 200 * 300 - 100),
            ("MATCH (n) DETACH DELETE n", 0),
        ] {
            let done = graph.write(statement, &none).await;
            assert_eq!(done.map(|_| ()), Ok(()), "{statement}");
            assert_eq!(count(&graph).await, Value::Int(left), "{statement}");
        }
        graph.write(more, &text).await.unwrap();
    }
}

#[tokio::test]
async fn a_result_over_the_cap_is_refused_whole() {
    let graph = EmbeddedGraph::with_limits(EmbeddedLimits { rows: 10, ..EmbeddedLimits::default() }).unwrap();
    let error = graph.read("UNWIND range(1, 11) AS x RETURN x", &Parameters::new()).await.unwrap_err();
    assert_eq!(error.kind, GraphErrorKind::Limit, "{error}");
    let table = graph.read("UNWIND range(1, 10) AS x RETURN x", &Parameters::new()).await.unwrap();
    assert_eq!(table.rows.len(), 10);
}

#[tokio::test]
async fn graphs_know_nothing_of_each_other() {
    let (one, other) = (EmbeddedGraph::new().unwrap(), EmbeddedGraph::new().unwrap());
    one.write("CREATE (:X)", &Parameters::new()).await.unwrap();
    assert_eq!((count(&one).await, count(&other).await), (Value::Int(1), Value::Int(0)));
}

#[tokio::test]
async fn many_may_ask_at_once() {
    let graph = Arc::new(EmbeddedGraph::new().unwrap());
    let writers: Vec<_> = (0..20)
        .map(|_| {
            let graph = Arc::clone(&graph);
            tokio::spawn(async move { graph.write("CREATE (:X); CREATE (:X)", &Parameters::new()).await })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap().unwrap();
    }
    assert_eq!(count(&graph).await, Value::Int(40));
}
