//! The same faults from a command: what a script does that has the same meaning.

use std::time::Duration;

use serde_json::json;

use super::outcome::Outcome;
use super::wire::{Limits, connect};
use crate::servers::client::Talk;

/// The script of a fault; `None` where a command has no such thing.
fn script(fault: &str) -> Option<&'static str> {
    Some(match fault {
        "none" => "read -r line; echo 'agent: Hello'; echo :DONE",
        "silence" => "cat > /dev/null",
        "silence in mid-body" => "read -r line; echo 'agent: Hel'; cat > /dev/null",
        "closed without a word" => "read -r line; echo 'no hush-key' >&2; exit 3",
        "cut in mid-body" => "read -r line; echo 'agent: Hel'",
        "session expired" => "read -r line; echo 'agent: Hello'; echo :DONE; read -r line; exit 0",
        "invalid UTF-8" => r"read -r line; printf 'agent: H\377llo\n:DONE\n'",
        "empty text" => "read -r line; echo 'agent: '; echo :DONE",
        "endless" => "read -r line; yes",
        "10 MB at once" => {
            r"read -r line; printf 'agent: '; head -c 10485760 /dev/zero | tr '\0' x; printf '\n:DONE\n'"
        }
        "a text that steers a terminal" => r"read -r line; printf 'agent: \033[2J\342\200\256Hi\n:DONE\n'",
        "CRLF" => r"read -r line; printf 'agent: Hello\r\n:DONE\r\n'",
        _ => return None,
    })
}

/// What the transport makes of a fault.
pub async fn meet(fault: &str, silence: Duration) -> Option<Outcome> {
    let target = json!({"command": {"command": "sh", "args": ["-c", script(fault)?], "greeting": false}});
    let turn = if fault.contains("silence") { silence } else { Duration::from_secs(60) };
    let mut session = connect(&target, Limits { turn, tries: 1 }).open().await.unwrap();
    if fault == "session expired" {
        session.talk("Hi").await.reply.unwrap();
    }
    let exchange = session.talk("Hi").await;
    let arrived = exchange.attempts.failures.len().max(usize::from(exchange.reply.is_ok()));
    Some(Outcome::of(exchange, arrived, "\0"))
}
