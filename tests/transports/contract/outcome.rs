//! What came of one message.

use eval_job::agent::{AgentError, AgentErrorKind};

use crate::servers::client::Exchange;

/// What came of one message, in a form that is the same in every run.
pub struct Outcome {
    /// Why there is no reply; `None` where there is one.
    pub kind: Option<AgentErrorKind>,
    /// How often the message arrived, as far as the server can tell.
    pub arrived: usize,
    /// All of it in a line.
    pub line: String,
}

impl Outcome {
    /// Of a message to a server at this address.
    pub fn of(exchange: Exchange, arrived: usize, address: &str) -> Outcome {
        let Exchange { reply, attempts } = exchange;
        let failed = attempts.failures.len();
        let last = attempts.failures.last();
        let doubt = last.map_or("", |last| if last.maybe_received { "may have arrived" } else { "did not arrive" });
        let twice = if attempts.maybe_delivered { ", sent again all the same" } else { "" };
        let failures = if failed == 0 { String::new() } else { format!(" ({failed} failed: {doubt}{twice})") };
        match reply {
            Ok(reply) => {
                let text: String = reply.text.chars().take(40).flat_map(char::escape_default).collect();
                let length = reply.text.chars().count();
                Outcome { kind: None, arrived, line: format!("said \"{text}\", {length} characters{failures}") }
            }
            Err(error) => Outcome {
                line: format!("{:?}{failures}: {}", error.kind, plain(&error.message, address)),
                ..Outcome::unopened(&error, arrived, address)
            },
        }
    }

    /// Of a conversation that could not be opened.
    pub fn unopened(error: &AgentError, arrived: usize, address: &str) -> Outcome {
        assert!(!error.message.contains("hush"), "a key is shown: {error}");
        assert!(!error.message.contains('\u{1b}'), "a terminal is steered: {error}");
        let line = format!("{:?}, not opened: {}", error.kind, plain(&error.message, address));
        Outcome { kind: Some(error.kind), arrived, line }
    }
}

/// Without what differs from run to run: addresses, and the words of the libraries beneath.
fn plain(message: &str, address: &str) -> String {
    let mut message = message.replace(address, "ADDRESS");
    while let Some(at) = message.find("http://127.0.0.1:") {
        let digits = message[at + 17..].chars().take_while(char::is_ascii_digit).count();
        message.replace_range(at..at + 17 + digits, "ELSEWHERE");
    }
    message
}
