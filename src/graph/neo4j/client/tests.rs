use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::secret::Secret;

fn graph(uri: String, connect: Duration) -> Neo4jGraph {
    let connection =
        Neo4jConnection { uri, username: "neo4j".to_owned(), password: Secret::new("hunter2"), database: None };
    Neo4jGraph::connect(connection, Neo4jLimits { connect, ..Neo4jLimits::default() }).unwrap()
}

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn error(graph: &Neo4jGraph) -> GraphError {
    graph.read("RETURN 1", &Parameters::new()).await.unwrap_err()
}

#[tokio::test]
async fn a_refused_connection_is_unreachable() {
    let (listener, address) = listener().await;
    drop(listener);
    for scheme in ["bolt", "neo4j", "bolt+ssc"] {
        let error = error(&graph(format!("{scheme}://{address}"), Duration::from_secs(5))).await;
        assert_eq!(error.kind, GraphErrorKind::Unreachable, "{error}");
        assert!(error.message.contains(&address.to_string()), "{error}");
    }
}

#[tokio::test]
async fn a_listener_that_never_answers_is_given_up() {
    let (listener, address) = listener().await;
    let silent = tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            open.push(stream);
        }
    });
    for scheme in ["bolt", "bolt+ssc"] {
        let error = error(&graph(format!("{scheme}://{address}"), Duration::from_millis(100))).await;
        assert_eq!(error.kind, GraphErrorKind::Unreachable, "{error}");
        assert!(error.message.contains("no answer within 0.1 s"), "{error}");
    }
    silent.abort();
}

#[tokio::test]
async fn something_else_behind_the_port_is_unreachable() {
    let (listener, address) = listener().await;
    let web = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 20];
            let _ = stream.read(&mut asked).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    for scheme in ["bolt", "bolt+s", "bolt+ssc", "neo4j+ssc"] {
        let error = error(&graph(format!("{scheme}://{address}"), Duration::from_secs(5))).await;
        assert_eq!(error.kind, GraphErrorKind::Unreachable, "{scheme}: {error}");
    }
    web.abort();
}

#[test]
fn an_address_of_another_kind_is_refused_at_once() {
    for uri in ["http://localhost", "not an address"] {
        let connection = Neo4jConnection {
            uri: uri.to_owned(),
            username: "neo4j".to_owned(),
            password: Secret::new("hunter2"),
            database: None,
        };
        assert!(Neo4jGraph::connect(connection, Neo4jLimits::default()).is_err(), "{uri}");
    }
}
