//! Measured times beside the true ones. That none is shorter than what the server took is a test: load only makes them
//! longer. How much longer is a table, which `scripts/latency` prints.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::websocket;
use super::wire::{Form, Limits, Wire, connect};
use super::wires::wires;
use crate::edges::server::{Answer, Server};
use crate::servers::client::Talk;
use crate::servers::websocket::{Do, Peer};

/// How often each transport is measured: once, or as often as whoever wants the table says.
fn messages() -> Option<usize> {
    std::env::var("EVAL_JOB_LATENCY_MESSAGES").ok().map(|text| text.parse().unwrap())
}

/// The waits before the first byte of a reply, and between that and the last.
const WAITS: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(70)];

const LIMITS: Limits = Limits { turn: Duration::from_secs(10), tries: 1 };

/// Measured less true, in milliseconds: of the first words, where the transport streams, and of the last byte.
type Errors = (Vec<f64>, Vec<f64>);

#[tokio::test(flavor = "multi_thread")]
async fn no_measured_time_is_shorter_than_the_true_one() {
    let times = messages().unwrap_or(1);
    let mut page = format!("error of the measured times over {times} messages, ms: median, 95th percentile, largest\n");
    page.push_str(&format!("{:<16} {:>22} {:>22}\n", "", "first words", "last byte"));
    for wire in wires() {
        page.push_str(&row(wire.name, over_http(&wire, times).await));
    }
    page.push_str(&row("websocket", over_a_websocket(times).await));
    page.push_str(&row("command", of_command(times).await));
    if messages().is_some() {
        std::io::stdout().write_all(page.as_bytes()).unwrap();
    }
}

fn row(name: &str, (first, last): Errors) -> String {
    let shown = |mut errors: Vec<f64>| {
        assert!(errors.iter().all(|error| *error >= 0.0), "{name}: {errors:?}");
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| errors[((errors.len() - 1) as f64 * share).round() as usize];
        if errors.is_empty() { "–".to_owned() } else { format!("{:.2} {:.2} {:.2}", at(0.5), at(0.95), at(1.0)) }
    };
    format!("{name:<16} {:>22} {:>22}\n", shown(first), shown(last))
}

async fn over_http(wire: &Wire, times: usize) -> Errors {
    let (kept, own) = (Arc::new(Mutex::new(Vec::new())), wire.clone());
    let took = Arc::clone(&kept);
    let server = Server::start(move |_, request| {
        (own.before)(request).unwrap_or_else(|| {
            let body = (own.says)("Hello");
            let first = match own.form {
                Form::Events => body.find("\n\n").unwrap() + 2,
                Form::Lines => body.find('\n').unwrap() + 1,
                Form::Document => body.len() / 2,
            };
            // What has only one event comes as a whole when it is over.
            let first = if first == body.len() { first / 2 } else { first };
            let pieces = [body.as_bytes()[..first].to_vec(), body.as_bytes()[first..].to_vec()];
            Answer::Paced { content_type: own.content_type(), pieces, waits: WAITS, took: Arc::clone(&took) }
        })
    })
    .await;
    let mut session = wire.agent(&server.url, LIMITS).open().await.unwrap();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let is_one_event = wire.form == Form::Events && (wire.says)("Hello").matches("\n\n").count() == 1;
    for nth in 0..times {
        let reply = session.talk("Hi").await.reply.unwrap();
        let [first_ms, last_ms] = kept.lock().unwrap()[nth];
        let first_true = if is_one_event { last_ms } else { first_ms };
        first.extend(reply.first_token_ms.map(|measured| measured - first_true));
        last.push(reply.latency_ms - last_ms);
    }
    (first, last)
}

async fn over_a_websocket(times: usize) -> Errors {
    let took = Arc::new(Mutex::new(Vec::new()));
    let note = Do::Note(Arc::clone(&took));
    let peer = Peer::answering(vec![], vec![], move |_, _| {
        let mut frames = websocket::says("Hello");
        let rest = frames.split_off(1);
        [vec![Do::Wait(WAITS[0]), note.clone()], frames, vec![Do::Wait(WAITS[1]), note.clone()], rest].concat()
    });
    let mut session = connect(&websocket::target(&peer.await.url), LIMITS).open().await.unwrap();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for nth in 0..times {
        let reply = session.talk("Hi").await.reply.unwrap();
        let noted = took.lock().unwrap();
        first.push(reply.first_token_ms.unwrap() - noted[2 * nth]);
        last.push(reply.latency_ms - noted[2 * nth + 1]);
    }
    (first, last)
}

/// Says, as its reply, how long it took by its own clock.
const SCRIPT: &str = "
import sys, time
while sys.stdin.readline():
    began = time.perf_counter()
    time.sleep(0.05)
    print('agent: ', end='', flush=True)
    time.sleep(0.07)
    print((time.perf_counter() - began) * 1000, '\\n:DONE', flush=True)
";

async fn of_command(times: usize) -> Errors {
    let mut session =
        connect(&json!({"command": {"command": "python3", "args": ["-c", SCRIPT], "greeting": false}}), LIMITS)
            .open()
            .await
            .unwrap();
    // Its start is not in it: the interpreter takes its time to come up.
    session.talk("Hi").await.reply.unwrap();
    let mut last = Vec::new();
    for _ in 0..times {
        let reply = session.talk("Hi").await.reply.unwrap();
        last.push(reply.latency_ms - reply.text.trim().parse::<f64>().unwrap());
    }
    (Vec::new(), last)
}
