//! An agent behind a command, with shells that misbehave.

use eval_job::agent::AgentErrorKind::{BeyondLimit, Unreachable};
use eval_job::agent::command::CommandConfig;
use eval_job::agent::{Session, Transport};
use eval_job::evidence::EventKind;
use serde_json::{Value, json};

use crate::servers::client::{Client, Talk};

fn settings(script: &str, more: Value) -> Client<CommandConfig> {
    let mut config = json!({"command": "sh", "args": ["-c", script, "sh", "{user}"], "greeting": false});
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Client::unchecked(serde_json::from_value(config).unwrap())
}

async fn session(settings: Client<CommandConfig>) -> Box<dyn Session> {
    settings.session().await
}

const ECHO: &str = r#"while read -r line; do printf 'noise\nagent: %s\nfor %s %s\n\n%s\n' "$line" "$USER_ID" "$1" "$AGENT_MESSAGE_TERMINATOR"; done"#;

#[tokio::test]
async fn a_line_goes_in_and_a_message_comes_out() {
    let mut session = session(settings(ECHO, json!({"terminator": "=END="}))).await;
    assert_eq!(session.greeting().await.unwrap(), None);
    let reply = session.talk("two\nlines").await.reply.unwrap();
    assert_eq!(reply.text, "two lines\nfor ann ann");
    assert!(reply.latency_ms > 0.0);
    assert_eq!(session.talk("more").await.reply.unwrap().text, "more\nfor ann ann");
    assert!(session.talk(" \n").await.reply.unwrap_err().message.contains("a blank line gets no reply"));
}

#[tokio::test]
async fn it_greets_is_reset_and_counts_its_tokens() {
    let script = r#"echo banner; echo 'agent: Welcome'; echo :DONE; calls=0
        while read -r line; do
            if [ "$line" = '**tokens**' ]; then
                echo "CURRENT_TOKEN_SUMMARY:INPUT:$((calls * 10)):OUTPUT:$calls:TOTAL:9:CALLS:$calls"; echo TOKEN_SUMMARY_END
            else calls=$((calls + 1)); echo "agent: $line"; echo :DONE; fi
        done"#;
    let mut greeted = session(settings(script, json!({"greeting": true}))).await;
    assert_eq!(greeted.greeting().await.unwrap().unwrap().text, "Welcome");
    assert_eq!(greeted.talk("Hi").await.reply.unwrap().text, "Hi");
    // Whoever does not ask for the greeting does not get it for a reply.
    let mut seeded = session(settings(script, json!({"greeting": true}))).await;
    assert_eq!(seeded.talk("Hi").await.reply.unwrap().text, "Hi");

    let more = json!({"greeting": true, "resetConversation": true, "tokens": true});
    let mut session = session(settings(script, more)).await;
    assert!(session.greeting().await.unwrap().unwrap().text.starts_with("Please introduce yourself"));
    let first = session.talk("Hi").await.reply.unwrap().usage.unwrap();
    assert_eq!((first.input_tokens, first.calls), (Some(30), 3), "those of the opening too");
    let second = session.talk("Hi").await.reply.unwrap().usage.unwrap();
    assert_eq!((second.input_tokens, second.output_tokens, second.calls), (Some(10), Some(1), 1));
}

#[tokio::test]
async fn a_line_without_end_is_not_read_to_its_end() {
    let script = "read -r line; head -c 100000000 /dev/zero";
    let error = session(settings(script, json!({}))).await.talk("Hi").await.reply.unwrap_err();
    assert_eq!(error.kind, BeyondLimit);
    assert!(error.message.contains("longer than 8 MiB"), "{error}");
}

#[tokio::test]
async fn a_flood_on_the_error_stream_is_in_nobodys_way() {
    let script = "head -c 50000000 /dev/zero >&2; read -r line; echo \"agent: $line\"; echo :DONE";
    assert_eq!(session(settings(script, json!({}))).await.talk("Hi").await.reply.unwrap().text, "Hi");
}

#[tokio::test]
async fn what_can_not_be_started_is_told() {
    for (more, words) in [
        (json!({"command": "no-such-program"}), "`no-such-program` could not be started"),
        (json!({"cwd": "nowhere-at-all"}), "no such folder; target.command.cwd"),
    ] {
        let error = settings("", more).open().await.err().unwrap();
        assert_eq!(error.kind, Unreachable);
        assert!(error.message.contains(words), "{error}");
    }
    let problems = settings("", json!({"env": {"A=B": "s3cret"}, "resetConversation": true})).config.check();
    assert!(problems.len() == 2 && !problems[0].to_string().contains("s3cret"), "{problems:?}");
}

#[tokio::test]
async fn what_is_printed_between_two_messages_is_no_answer_to_the_second() {
    let script = r#"printf 'agent: Welcome\n:DONE\n> '
        while read -r line; do printf 'agent: %s\n:DONE\n\nagent: and more\n:DONE\n--\n> ' "$line"; done"#;
    let mut session = session(settings(script, json!({"greeting": true}))).await;
    assert_eq!(session.greeting().await.unwrap().unwrap().text, "Welcome");
    assert_eq!(session.talk("One").await.reply.unwrap().events, []);
    for said in ["Two", "Three"] {
        let reply = session.talk(said).await.reply.unwrap();
        assert_eq!(reply.text, said);
        let kinds: Vec<EventKind> = reply.events.into_iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [EventKind::Other { data: json!({"afterReply": "agent: and more\n:DONE"}) }]);
    }
}
