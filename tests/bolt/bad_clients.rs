//! Clients that misbehave: each is dropped or told so, within its limit, and the door lives on.

use std::time::Duration;

use eval_job::graph::bolt::{BoltLimits, BoltServer, BoltSettings};
use eval_job::graph::embedded::EmbeddedGraph;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{PASSWORD, door, number};

/// `RESET`, in chunks.
const RESET: &[u8] = &[0, 2, 0xb0, 0x0f, 0, 0];
const PULL_ALL: &[u8] = &[0, 6, 0xb1, 0x3f, 0xa1, 0x81, b'n', 0xff, 0, 0];
const BEGIN: &[u8] = &[0, 3, 0xb1, 0x11, 0xa0, 0, 0];

fn short() -> BoltLimits {
    BoltLimits {
        handshake: Duration::from_millis(200),
        stall: Duration::from_millis(200),
        transaction: Duration::from_millis(300),
        message: 100_000,
        connections: 4,
        ..BoltLimits::default()
    }
}

/// A socket and nothing more.
struct Raw(TcpStream);

impl Raw {
    async fn connect(door: &BoltServer) -> Raw {
        let address = door.uri();
        Raw(TcpStream::connect(address.strip_prefix("bolt://").unwrap()).await.unwrap())
    }

    /// A client that has shown the right password, in Bolt 5.0.
    async fn welcome(door: &BoltServer) -> Raw {
        let mut raw = Raw::connect(door).await;
        raw.shake([0, 0, 0, 5]).await;
        raw.send(&hello(PASSWORD)).await;
        assert_eq!(raw.message().await.unwrap()[1], 0x70);
        raw
    }

    async fn shake(&mut self, version: [u8; 4]) {
        let offers = [&[0x60, 0x60, 0xb0, 0x17][..], &version, &[0; 12]].concat();
        self.send(&offers).await;
        let mut answer = [0; 4];
        self.0.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, version);
    }

    async fn send(&mut self, bytes: &[u8]) {
        // The door may have hung up already.
        let _ = self.0.write_all(bytes).await;
    }

    /// The next message; `None` when the door hung up.
    async fn message(&mut self) -> Option<Vec<u8>> {
        let read = async {
            let mut message = Vec::new();
            loop {
                let size = self.0.read_u16().await.ok()?;
                if size == 0 {
                    return Some(message);
                }
                let start = message.len();
                message.resize(start + usize::from(size), 0);
                self.0.read_exact(&mut message[start..]).await.ok()?;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), read).await.expect("the door neither answers nor hangs up")
    }

    /// The next message's kind, and its text for a search.
    async fn answer(&mut self) -> (u8, String) {
        let message = self.message().await.expect("the door hung up");
        (message[1], String::from_utf8_lossy(&message).into_owned())
    }

    async fn is_hung_up(&mut self) {
        assert_eq!(self.message().await, None);
    }
}

fn text(text: &str) -> Vec<u8> {
    [&[0xd0, u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat()
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&u16::try_from(message.len()).unwrap().to_be_bytes()[..], message, &[0, 0]].concat()
}

fn hello(password: &str) -> Vec<u8> {
    let mut message = vec![0xb1, 0x01, 0xa3];
    for (key, value) in [("scheme", "basic"), ("principal", "neo4j"), ("credentials", password)] {
        message.extend([text(key), text(value)].concat());
    }
    framed(&message)
}

fn run(statement: &str) -> Vec<u8> {
    framed(&[&[0xb3, 0x10][..], &text(statement), &[0xa0, 0xa0]].concat())
}

/// The door still serves others.
async fn lives(door: &BoltServer) {
    let mut raw = Raw::welcome(door).await;
    raw.send(&[run("RETURN 1 AS x"), PULL_ALL.to_vec()].concat()).await;
    for kind in [0x70, 0x71, 0x70] {
        assert_eq!(raw.answer().await.0, kind);
    }
}

#[tokio::test]
async fn garbage_is_hung_up_on() {
    let (_graph, door) = door(short()).await;
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 64], &[0xff; 4096]] {
        let mut raw = Raw::connect(&door).await;
        raw.send(garbage).await;
        raw.is_hung_up().await;
    }
    lives(&door).await;
    door.stop().await;
}

#[tokio::test]
async fn a_client_without_a_common_version_is_told_so() {
    let (_graph, door) = door(short()).await;
    let mut raw = Raw::connect(&door).await;
    raw.send(&[&[0x60, 0x60, 0xb0, 0x17][..], &[0, 0, 0, 3], &[0; 12]].concat()).await;
    let mut answer = Vec::new();
    raw.0.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, [0; 4]);
    lives(&door).await;
}

#[tokio::test]
async fn a_client_may_choose_from_the_doors_list() {
    let (_graph, door) = door(short()).await;
    let mut raw = Raw::connect(&door).await;
    raw.send(&[&[0x60, 0x60, 0xb0, 0x17][..], &[0, 0, 1, 0xff], &[0; 12]].concat()).await;
    let mut list = [0; 14];
    raw.0.read_exact(&mut list).await.unwrap();
    assert_eq!(list, [0, 0, 1, 0xff, 2, 0, 4, 4, 5, 0, 0, 4, 4, 0]);
    raw.send(&[0, 0, 0, 5, 0]).await;
    raw.send(&hello(PASSWORD)).await;
    assert_eq!(raw.answer().await.0, 0x70);
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_given_up() {
    let (_graph, door) = door(short()).await;
    let mut silent = Raw::connect(&door).await;
    let mut halfway = Raw::connect(&door).await;
    halfway.send(&[0x60, 0x60, 0xb0]).await;
    let mut anonymous = Raw::connect(&door).await;
    anonymous.shake([0, 0, 4, 4]).await;
    for raw in [&mut silent, &mut halfway, &mut anonymous] {
        raw.is_hung_up().await;
    }
    lives(&door).await;
}

#[tokio::test]
async fn a_wrong_password_ends_the_connection() {
    let (_graph, door) = door(short()).await;
    for password in ["", "wrong", "correct horse "] {
        let mut raw = Raw::connect(&door).await;
        raw.shake([0, 0, 0, 5]).await;
        raw.send(&[hello(password), run("CREATE (:X)")].concat()).await;
        let (kind, words) = raw.answer().await;
        assert_eq!(kind, 0x7f);
        assert!(words.contains("Neo.ClientError.Security.Unauthorized"), "{words}");
        raw.is_hung_up().await;
    }
    lives(&door).await;
}

#[tokio::test]
async fn nothing_is_done_for_a_stranger() {
    let (graph, door) = door(short()).await;
    let mut raw = Raw::connect(&door).await;
    raw.shake([0, 0, 0, 5]).await;
    raw.send(&[run("CREATE (:X)"), PULL_ALL.to_vec()].concat()).await;
    assert_eq!(raw.answer().await.0, 0x7f);
    raw.is_hung_up().await;
    assert_eq!(number(&graph, "MATCH (n) RETURN count(n)").await, 0);
}

#[tokio::test]
async fn an_oversized_message_is_refused() {
    let (_graph, door) = door(short()).await;
    let endless = [&[0xff, 0xff][..], &[0x80; 65_535]].concat();
    let mut raw = Raw::welcome(&door).await;
    raw.send(&endless).await;
    raw.send(&endless).await;
    let (kind, words) = raw.answer().await;
    assert!(kind == 0x7f && words.contains("larger than the limit of 100000 bytes"), "{words}");
    raw.is_hung_up().await;
    let mut stranger = Raw::connect(&door).await;
    stranger.shake([0, 0, 0, 5]).await;
    stranger.send(&endless).await;
    stranger.send(&endless).await;
    let (kind, words) = stranger.answer().await;
    assert!(kind == 0x7f && words.contains("65536"), "{words}");
    lives(&door).await;
}

#[tokio::test]
async fn a_message_that_is_none_is_answered_and_ends_the_connection() {
    let (_graph, door) = door(short()).await;
    for nonsense in [&[0xc0][..], &[0xb0, 0x99], &[0xb1, 0x3f, 0xa0], &[0xd6, 0xff, 0xff, 0xff, 0xff], &[0x91; 5000]] {
        let mut raw = Raw::welcome(&door).await;
        raw.send(&framed(nonsense)).await;
        let (kind, words) = raw.answer().await;
        assert!(kind == 0x7f && words.contains("Neo.ClientError.Request.Invalid"), "{words}");
        raw.is_hung_up().await;
    }
    lives(&door).await;
}

#[tokio::test]
async fn a_message_that_is_begun_and_not_finished_is_given_up() {
    let (_graph, door) = door(short()).await;
    let mut raw = Raw::welcome(&door).await;
    raw.send(&[0, 50, 0xb3]).await;
    raw.is_hung_up().await;
    lives(&door).await;
}

#[tokio::test]
async fn one_connection_too_many_is_hung_up_on() {
    let (_graph, door) = door(BoltLimits { handshake: Duration::from_secs(20), ..short() }).await;
    let mut guests = Vec::new();
    for _ in 0..4 {
        guests.push(Raw::welcome(&door).await);
    }
    let mut raw = Raw::connect(&door).await;
    raw.shake([0, 0, 0, 5]).await;
    raw.send(&hello(PASSWORD)).await;
    let (kind, words) = raw.answer().await;
    assert!(kind == 0x7f && words.contains("4 connections are open"), "{words}");
    raw.is_hung_up().await;
    drop(guests);
    // The door notices that they are gone in its own time.
    loop {
        let mut raw = Raw::connect(&door).await;
        raw.shake([0, 0, 0, 5]).await;
        raw.send(&hello(PASSWORD)).await;
        if raw.answer().await.0 == 0x70 {
            break;
        }
    }
}

#[tokio::test]
async fn idle_strangers_keep_nobody_out() {
    let limits = BoltLimits { handshake: Duration::from_secs(60), unauthenticated: 8, ..short() };
    let (_graph, door) = door(limits).await;
    let mut strangers = Vec::new();
    for number in 0..300 {
        let mut raw = Raw::connect(&door).await;
        match number % 3 {
            0 => {}
            1 => raw.send(&[0x60, 0x60, 0xb0]).await,
            _ => raw.send(&[&[0x60, 0x60, 0xb0, 0x17][..], &[0, 0, 0, 5], &[0; 12]].concat()).await,
        }
        strangers.push(raw);
        if number % 50 == 0 {
            lives(&door).await;
        }
    }
    lives(&door).await;
    // Whoever is inside stays there.
    let mut inside = Raw::welcome(&door).await;
    for _ in 0..30 {
        strangers.push(Raw::connect(&door).await);
    }
    lives(&door).await;
    inside.send(&run("RETURN 1")).await;
    assert_eq!(inside.answer().await.0, 0x70);
    assert!(strangers[0].message().await.is_none(), "the first ones were hung up on");
}

#[tokio::test]
async fn guessing_gets_slow_and_the_right_password_still_gets_in() {
    let (_graph, door) = door(BoltLimits { handshake: Duration::from_secs(20), ..short() }).await;
    let mut took = Vec::new();
    for _ in 0..6 {
        let mut raw = Raw::connect(&door).await;
        raw.shake([0, 0, 0, 5]).await;
        let start = std::time::Instant::now();
        raw.send(&hello("wrong")).await;
        assert_eq!(raw.answer().await.0, 0x7f);
        took.push(start.elapsed());
    }
    assert!(took[5] > Duration::from_millis(700) && took[5] > took[1] * 3, "{took:?}");
    // Others guess on at the same time.
    let mut guesses = Vec::new();
    for _ in 0..50 {
        let mut raw = Raw::connect(&door).await;
        raw.shake([0, 0, 0, 5]).await;
        raw.send(&hello("wrong")).await;
        guesses.push(raw);
    }
    let start = std::time::Instant::now();
    let mut inside = Raw::welcome(&door).await;
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    inside.send(&run("RETURN 1")).await;
    assert_eq!(inside.answer().await.0, 0x70);
}

#[tokio::test]
async fn a_message_out_of_turn_ends_the_connection() {
    let (_graph, door) = door(short()).await;
    for message in [&[0xb0, 0x12][..], &[0xb0, 0x13], &PULL_ALL[2..8]] {
        let mut raw = Raw::welcome(&door).await;
        raw.send(&framed(message)).await;
        assert_eq!(raw.answer().await.0, 0x7f);
        raw.is_hung_up().await;
    }
}

#[tokio::test]
async fn after_a_failure_everything_is_ignored_until_reset() {
    let (_graph, door) = door(short()).await;
    let mut raw = Raw::welcome(&door).await;
    raw.send(&[run("RETRUN"), PULL_ALL.to_vec(), run("RETURN 1")].concat()).await;
    for kind in [0x7f, 0x7e, 0x7e] {
        assert_eq!(raw.answer().await.0, kind);
    }
    raw.send(&[RESET.to_vec(), run("RETURN 1")].concat()).await;
    for kind in [0x70, 0x70] {
        assert_eq!(raw.answer().await.0, kind);
    }
}

#[tokio::test]
async fn a_reset_stops_a_statement_that_runs() {
    let (graph, door) = door(short()).await;
    let mut raw = Raw::welcome(&door).await;
    raw.send(&run("CREATE (:X) WITH 1 AS one UNWIND range(1, 90000) AS x UNWIND range(1, 1000) AS y RETURN count(*)"))
        .await;
    raw.send(RESET).await;
    assert_eq!((raw.answer().await.0, raw.answer().await.0), (0x7e, 0x70));
    raw.send(&run("RETURN 1")).await;
    assert_eq!(raw.answer().await.0, 0x70);
    assert_eq!(number(&graph, "MATCH (n) RETURN count(n)").await, 0);
}

#[tokio::test]
async fn a_client_that_goes_leaves_no_transaction_behind() {
    let (graph, door) = door(short()).await;
    let mut raw = Raw::welcome(&door).await;
    raw.send(&[BEGIN.to_vec(), run("CREATE (:X)")].concat()).await;
    assert_eq!((raw.answer().await.0, raw.answer().await.0), (0x70, 0x70));
    drop(raw);
    let mut other = Raw::welcome(&door).await;
    other.send(&run("CREATE (:Y)")).await;
    assert_eq!(other.answer().await.0, 0x70);
    assert_eq!(number(&graph, "MATCH (n) RETURN count(n)").await, 1);
}

#[tokio::test]
async fn a_transaction_that_is_left_open_is_rolled_back_and_its_client_told() {
    let (_graph, door) = door(short()).await;
    let mut raw = Raw::welcome(&door).await;
    raw.send(&[BEGIN.to_vec(), run("CREATE (:X)")].concat()).await;
    assert_eq!((raw.answer().await.0, raw.answer().await.0), (0x70, 0x70));
    let mut other = Raw::welcome(&door).await;
    other.send(&run("CREATE (:Y)")).await;
    assert_eq!(other.answer().await.0, 0x70, "the writer is free again");
    raw.send(&framed(&[0xb0, 0x12])).await;
    let (kind, words) = raw.answer().await;
    assert!(kind == 0x7f && words.contains("TransactionTimedOut"), "{words}");
}

#[tokio::test]
async fn a_stopped_door_hangs_up_and_frees_its_port() {
    let (graph, door) = door(short()).await;
    let mut raw = Raw::welcome(&door).await;
    raw.send(&[BEGIN.to_vec(), run("CREATE (:X)")].concat()).await;
    assert_eq!((raw.answer().await.0, raw.answer().await.0), (0x70, 0x70));
    let address = door.uri().strip_prefix("bolt://").unwrap().to_owned();
    door.stop().await;
    raw.is_hung_up().await;
    assert!(TcpStream::connect(&address).await.is_err());
    assert_eq!(number(&graph, "MATCH (n) RETURN count(n)").await, 0);
}

#[tokio::test]
async fn a_client_that_never_reads_is_hung_up_on() {
    let (graph, door) = door(short()).await;
    let mut raw = Raw::welcome(&door).await;
    let large =
        run("UNWIND range(1, 90000) AS x RETURN x, 'a text that fills the buffers of both ends in no time' AS y");
    raw.send(&[BEGIN.to_vec(), run("CREATE (:X)")].concat()).await;
    for _ in 0..3 {
        raw.send(&[large.clone(), PULL_ALL.to_vec()].concat()).await;
    }
    let mut other = Raw::welcome(&door).await;
    other.send(&run("CREATE (:Y)")).await;
    assert_eq!(other.answer().await.0, 0x70, "the writer is free again");
    assert_eq!(number(&graph, "MATCH (n) RETURN count(n)").await, 1);
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_given_up() {
    let (graph, door) = door(BoltLimits { query: Duration::from_millis(50), ..short() }).await;
    let mut raw = Raw::welcome(&door).await;
    raw.send(&run("CREATE (:X) WITH 1 AS a UNWIND range(1, 90000) AS x UNWIND range(1, 100) AS y RETURN count(*)"))
        .await;
    let (kind, words) = raw.answer().await;
    assert!(kind == 0x7f && words.contains("Neo.ClientError.Transaction.TransactionTimedOut"), "{words}");
    raw.send(&[RESET.to_vec(), run("RETURN 1")].concat()).await;
    assert_eq!((raw.answer().await.0, raw.answer().await.0), (0x70, 0x70));
    assert_eq!(number(&graph, "MATCH (n) RETURN count(n)").await, 0);
}

#[tokio::test]
async fn results_that_nobody_fetches_have_a_limit() {
    let (_graph, door) = door(BoltLimits { transaction: Duration::from_secs(20), ..short() }).await;
    let mut raw = Raw::welcome(&door).await;
    raw.send(BEGIN).await;
    for _ in 0..51 {
        assert_eq!(raw.answer().await.0, 0x70);
        raw.send(&run("RETURN 1")).await;
    }
    let (kind, words) = raw.answer().await;
    assert!(kind == 0x7f && words.contains("More than 50 results"), "{words}");
}

#[tokio::test]
async fn a_door_needs_a_free_port_and_a_graph_to_share() {
    let (graph, door) = door(short()).await;
    let port = door.uri().rsplit(':').next().unwrap().parse().unwrap();
    let settings = super::settings(short());
    let error = BoltServer::open(&graph, BoltSettings { port: Some(port), ..settings.clone() }).await.unwrap_err();
    assert!(error.to_string().contains(&format!("127.0.0.1:{port}")), "{error}");
    let private = EmbeddedGraph::new().unwrap();
    let error = BoltServer::open(&private, settings.clone()).await.unwrap_err();
    assert!(error.to_string().contains("shareable"), "{error}");
    door.stop().await;
    let door = BoltServer::open(&graph, BoltSettings { port: Some(port), ..settings }).await.unwrap();
    lives(&door).await;
}
