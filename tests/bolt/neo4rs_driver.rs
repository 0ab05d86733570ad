//! neo4rs, which speaks Bolt 4.4.

use neo4rs::{BoltNull, ConfigBuilder, Graph, Node, Path, Relation, UnboundedRelation, query};

use super::{PASSWORD, door, number, patient};

async fn connect(uri: &str, password: &str) -> neo4rs::Result<Graph> {
    let config = ConfigBuilder::default().uri(uri).user("neo4j").password(password).fetch_size(100).build()?;
    let graph = Graph::connect(config)?;
    graph.run(query("RETURN 1")).await?;
    Ok(graph)
}

async fn one<T: for<'a> serde::Deserialize<'a>>(graph: &Graph, text: &str) -> T {
    let mut rows = graph.execute(query(text)).await.unwrap();
    let row = rows.next().await.unwrap().unwrap();
    assert!(rows.next().await.unwrap().is_none());
    row.get("x").unwrap()
}

#[tokio::test]
async fn a_wrong_password_is_refused() {
    let (_graph, door) = door(patient()).await;
    let Err(error) = connect(&door.uri(), "wrong").await else { panic!("it was let in") };
    assert!(error.to_string().contains("unauthorized"), "{error}");
    door.stop().await;
}

#[tokio::test]
async fn transactions_are_kept_or_undone() {
    let (owner, door) = door(patient()).await;
    let graph = connect(&door.uri(), PASSWORD).await.unwrap();
    let mut transaction = graph.start_txn().await.unwrap();
    transaction.run(query("CREATE (:X)")).await.unwrap();
    assert_eq!(number(&owner, "MATCH (n) RETURN count(n)").await, 0);
    transaction.rollback().await.unwrap();
    let mut transaction = graph.start_txn().await.unwrap();
    transaction.run(query("CREATE (:X {a: $a})").param("a", "b")).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(number(&owner, "MATCH (n:X {a: 'b'}) RETURN count(n)").await, 1);
    graph.run(query("CREATE (:X)")).await.unwrap();
    assert_eq!(number(&owner, "MATCH (n) RETURN count(n)").await, 2);
    door.stop().await;
}

#[tokio::test]
async fn ten_thousand_rows_come_in_batches() {
    let (_owner, door) = door(patient()).await;
    let graph = connect(&door.uri(), PASSWORD).await.unwrap();
    let mut rows = graph.execute(query("UNWIND range(1, 10000) AS x RETURN x")).await.unwrap();
    let mut expected = 1;
    while let Some(row) = rows.next().await.unwrap() {
        assert_eq!(row.get::<i64>("x").unwrap(), expected);
        expected += 1;
    }
    assert_eq!(expected, 10_001);
    door.stop().await;
}

#[tokio::test]
async fn graph_values_have_the_shape_of_version_four() {
    let (_owner, door) = door(patient()).await;
    let graph = connect(&door.uri(), PASSWORD).await.unwrap();
    graph.run(query("CREATE (:A {n: 1})-[:R {w: 0.5}]->(:A:B {n: 2})")).await.unwrap();
    let node: Node = one(&graph, "MATCH (x:B) RETURN x").await;
    assert_eq!((node.labels(), node.get::<i64>("n").unwrap()), (vec!["A", "B"], 2));
    let relation: Relation = one(&graph, "MATCH ()-[x:R]->() RETURN x").await;
    assert_eq!((relation.typ(), relation.get::<f64>("w").unwrap(), relation.end_node_id()), ("R", 0.5, node.id()));
    let path: Path = one(&graph, "MATCH x = (:B)<--() RETURN x").await;
    assert_eq!((path.nodes().len(), path.rels().len()), (2, 1));
    let _: &UnboundedRelation = &path.rels()[0];
    door.stop().await;
}

#[tokio::test]
async fn temporal_values_come_and_go() {
    let (_owner, door) = door(patient()).await;
    let graph = connect(&door.uri(), PASSWORD).await.unwrap();
    let date = chrono::NaiveDate::from_ymd_opt(2020, 2, 29).unwrap();
    let moment = chrono::DateTime::parse_from_rfc3339("2020-07-01T12:00:00.5+02:00").unwrap();
    let wall = date.and_hms_nano_opt(1, 2, 3, 4).unwrap();
    let text = "RETURN $date AS date, $moment AS moment, $wall AS wall, toString($moment) AS text, $null AS null";
    let asked = query(text)
        .param("date", date)
        .param("moment", moment)
        .param("wall", wall)
        .param("null", neo4rs::BoltType::Null(BoltNull));
    let row = graph.execute(asked).await.unwrap().next().await.unwrap().unwrap();
    assert_eq!(row.get::<chrono::NaiveDate>("date").unwrap(), date);
    assert_eq!(row.get::<chrono::DateTime<chrono::FixedOffset>>("moment").unwrap(), moment);
    assert_eq!(row.get::<chrono::NaiveDateTime>("wall").unwrap(), wall);
    assert_eq!(row.get::<String>("text").unwrap(), "2020-07-01T12:00:00.5+02:00");
    assert_eq!(row.get::<Option<i64>>("null").unwrap(), None);
    door.stop().await;
}

#[tokio::test]
async fn a_failure_carries_its_code_and_the_connection_goes_on() {
    let (_owner, door) = door(patient()).await;
    let graph = connect(&door.uri(), PASSWORD).await.unwrap();
    for _ in 0..20 {
        let error = graph.run(query("RETRUN 1")).await.unwrap_err();
        let neo4rs::Error::Neo4j(error) = error else { panic!("{error}") };
        assert_eq!(error.code(), "Neo.ClientError.Statement.SyntaxError");
    }
    assert_eq!(one::<i64>(&graph, "RETURN 1 AS x").await, 1);
    door.stop().await;
}
