//! What a server can do wrong, each in the same way to every transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use eval_job::agent::AgentErrorKind::{
    self, BadReply, BeyondLimit, Busy, Cut, NotFound, Status, Timeout, Unauthorized, Unreachable, Unreadable,
};

use super::outcome::Outcome;
use super::wire::{Form, Limits, Wire};
use crate::edges::server::{Answer, Server};
use crate::servers::client::Talk;

/// What a server does wrong.
pub struct Fault {
    pub name: &'static str,
    /// Its answers to messages, the last one for ever; none where the transport has no such thing.
    pub answers: fn(&Wire) -> Vec<Answer>,
    /// Why there is no reply in the end, and how often the message arrives.
    pub comes_out: (Option<AgentErrorKind>, usize),
    special: Special,
}

/// What is not a matter of answers alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    No,
    /// Nobody listens at all.
    Nobody,
    /// A short limit for each turn.
    Hurry,
    /// The first message goes well: only the second counts.
    Later,
    /// One try: it takes long enough.
    Once,
    /// The server sends the client on to another, which must hear nothing.
    Redirect,
    /// The server asks for a wait, which must be kept.
    Asked,
}

/// How long a silent agent is waited for: long enough for a message to arrive; on a machine that has much else to do, in the
/// second or third attempt.
pub const SILENCES: [Duration; 3] = [Duration::from_millis(600), Duration::from_secs(5), Duration::from_secs(40)];

const fn fault(
    name: &'static str,
    answers: fn(&Wire) -> Vec<Answer>,
    comes_out: (Option<AgentErrorKind>, usize),
) -> Fault {
    Fault { name, answers, comes_out, special: Special::No }
}

const fn special(special: Special, fault: Fault) -> Fault {
    Fault { special, ..fault }
}

const fn broken(kind: AgentErrorKind, tries: usize) -> (Option<AgentErrorKind>, usize) {
    (Some(kind), tries)
}

pub const FAULTS: &[Fault] = &[
    fault("none", good, (None, 1)),
    special(Special::Nobody, fault("nobody listens", good, broken(Unreachable, 0))),
    fault("400", |_| vec![Answer::json(400, "no")], broken(Status(400), 1)),
    fault("401", |_| vec![Answer::json(401, "no hush-key")], broken(Unauthorized, 1)),
    fault("403", |_| vec![Answer::json(403, "")], broken(Unauthorized, 1)),
    fault("404", |_| vec![Answer::json(404, "{}")], broken(NotFound, 1)),
    special(Special::Later, fault("session expired", |_| vec![Answer::json(404, "{}")], broken(NotFound, 1))),
    special(
        Special::Asked,
        fault("429, then good", |wire| then_good(wire, Answer::json(429, "").with("retry-after", "0.03")), (None, 2)),
    ),
    fault("503, then good", |wire| then_good(wire, Answer::json(503, "")), (None, 2)),
    fault("500, then good", |wire| then_good(wire, Answer::json(500, "")), (None, 2)),
    fault("429 for ever", |_| vec![Answer::json(429, "slow down")], broken(Busy, 2)),
    fault("500 for ever", |_| vec![Answer::json(500, "oops hush-key")], broken(Status(500), 2)),
    special(Special::Hurry, fault("silence", |_| vec![Answer::Hang], broken(Timeout, 2))),
    special(
        Special::Hurry,
        fault("silence in mid-body", |_| vec![Answer::Stall { declared: 99, body: b" ".to_vec() }], broken(Timeout, 2)),
    ),
    fault("closed without a word", |_| vec![Answer::Close], broken(Cut, 2)),
    fault("not HTTP", |_| vec![Answer::Raw(b"SSH-2.0-OpenSSH\r\n")], broken(Cut, 2)),
    fault("cut in mid-body", |_| vec![Answer::Cut { declared: 99, body: b" ".to_vec() }], broken(Timeout, 2)),
    fault("ends in mid-JSON", |wire| vec![wire.reply(half(wire))], broken(BadReply, 2)),
    fault("a web page", |_| vec![Answer::of_type(200, "text/html", "<html>log in hush-key")], broken(Unreadable, 2)),
    fault("no JSON", |wire| vec![wire.reply(no_json(wire))], broken(Unreadable, 2)),
    fault("invalid UTF-8", |wire| vec![wire.reply(not_utf8(wire))], broken(BadReply, 2)),
    fault("empty body", |wire| vec![wire.reply("")], broken(BadReply, 2)),
    fault("empty text", |wire| vec![wire.reply((wire.says)(" \n"))], broken(BadReply, 2)),
    fault("in-band error", reported, broken(BadReply, 1)),
    special(Special::Once, fault("endless", |_| vec![Answer::Flood { bytes: 200 << 20 }], broken(BeyondLimit, 1))),
    special(
        Special::Once,
        fault("10 MB at once", |wire| vec![wire.reply((wire.says)(&"x".repeat(10 << 20)))], (None, 1)),
    ),
    special(Special::Redirect, fault("redirect", good, broken(Status(307), 1))),
    fault("a text that steers a terminal", |wire| vec![wire.reply((wire.says)("\u{1b}[2J\u{202e}Hi"))], (None, 1)),
    fault("an error that steers a terminal", |_| vec![Answer::json(400, "\u{1b}[2J\u{202e}")], broken(Status(400), 1)),
    fault(
        "comments and other fields",
        |wire| framed(wire, |body| format!(": ping\nretry: 9\nid: 1\n\n{body}")),
        (None, 1),
    ),
    fault("CRLF", |wire| framed(wire, |body| body.replace('\n', "\r\n")), (None, 1)),
    fault("lone CR", |wire| framed(wire, |body| body.replace('\n', "\r")), (None, 1)),
    fault("a byte order mark", |wire| vec![wire.reply(format!("\u{feff}{}", (wire.says)("Hello")))], (None, 1)),
];

fn good(wire: &Wire) -> Vec<Answer> {
    vec![wire.reply((wire.says)("Hello"))]
}

fn then_good(wire: &Wire, first: Answer) -> Vec<Answer> {
    [vec![first], good(wire)].concat()
}

/// A reply that ends in the middle of its last JSON.
fn half(wire: &Wire) -> String {
    let body = (wire.says)("Hello");
    let last = match wire.form {
        Form::Document => 0,
        Form::Events => body.rfind("data: {").unwrap() + 6,
        Form::Lines => body.trim_end().rfind('\n').unwrap(),
    };
    body[..last + 5].to_owned()
}

fn no_json(wire: &Wire) -> String {
    match wire.form {
        Form::Document => "nope".to_owned(),
        Form::Events => "data: {nope}\n\n".to_owned(),
        Form::Lines => "nope\n".to_owned(),
    }
}

fn not_utf8(wire: &Wire) -> Vec<u8> {
    let mut body = (wire.says)("Hello").into_bytes();
    let at = body.windows(4).rposition(|window| window == b"ello").unwrap();
    body[at] = 0xff;
    body
}

fn reported(wire: &Wire) -> Vec<Answer> {
    wire.reports.map(|body| wire.reply(body)).into_iter().collect()
}

/// Server-sent events in another dress.
fn framed(wire: &Wire, dress: impl Fn(String) -> String) -> Vec<Answer> {
    if wire.form == Form::Events { vec![wire.reply(dress((wire.says)("Hello")))] } else { Vec::new() }
}

/// What a transport makes of a fault.
pub async fn meet(wire: &Wire, fault: &Fault, silence: Duration) -> Option<Outcome> {
    let mut answers = (fault.answers)(wire);
    if answers.is_empty() {
        return None;
    }
    let elsewhere = Server::with(good(wire)).await;
    if fault.special == Special::Redirect {
        answers = vec![Answer::json(307, "").with("location", &format!("{}/x", elsewhere.url))];
    }
    let turn = if fault.special == Special::Hurry { silence } else { Duration::from_secs(60) };
    let limits = Limits { turn, tries: if fault.special == Special::Once { 1 } else { 2 } };
    if fault.special == Special::Later {
        answers.splice(0..0, good(wire));
    }
    let (before, messages) = (wire.before, Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&messages);
    let server = Server::start(move |_, request| {
        before(request)
            .unwrap_or_else(|| answers[counted.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1)].clone())
    })
    .await;
    let arrived = || messages.load(Ordering::SeqCst);
    let address = if fault.special == Special::Nobody { Server::refusing().await } else { server.url.clone() };
    let mut session = match wire.agent(&address, limits).open().await {
        Ok(session) => session,
        Err(error) => return Some(Outcome::unopened(&error, arrived(), &address)),
    };
    let mut earlier = 0;
    if fault.special == Special::Later {
        session.talk("Hi").await.reply.unwrap();
        earlier = arrived();
    }
    let exchange = session.talk("Hi").await;
    if let (Special::Asked, Some(failed)) = (fault.special, exchange.attempts.failures.first()) {
        assert!(failed.waited_ms.unwrap() >= 30.0 && failed.took_ms.unwrap() > 0.0, "{}: {failed:?}", wire.name);
    }
    assert_eq!(elsewhere.received().len(), 0, "{}: somebody else was shown the key", wire.name);
    // What lies in the sockets' buffers was written and not read.
    assert!(server.flooded() < 90 << 20, "{}: {} bytes were taken", wire.name, server.flooded());
    Some(Outcome::of(exchange, arrived() - earlier, &address))
}
