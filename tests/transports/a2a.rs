//! The A2A project's own server for Python, from PyPI, in both versions of the protocol.

use eval_job::evidence::EventKind;
use eval_job::score::Outcome;
use serde_json::json;

use super::{peer, run};
use crate::house::root;

/// A job that starts the server, in this version of the protocol, and talks in fixed lines.
fn job(version: &str, lines: &str) -> Option<String> {
    let (python, agent) = (peer("a2a", "python")?, root().join("tests/transports/peers/a2a/agent.py"));
    Some(format!(
        "evaluator: {{script: {lines}}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\nmaxTurns: 20\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n\
         target:\n  user: ann\n  chatbot: repeats\n  a2a: {{}}\n  start:\n    command: {}\n    args: [{}, {version}]\n    \
         ready: {{http: /.well-known/agent-card.json}}\n",
        python.display(),
        agent.display()
    ))
}

#[test]
fn messages_and_tasks_are_the_same_conversation_in_each_version_and_way() {
    let lines = "[Please book a table, On Monday, Now work, Thanks]";
    for (version, streams) in
        [("'1.0', streaming", true), ("'1.0', plain", false), ("'0.3', streaming", true), ("'0.3', plain", false)]
    {
        let Some(job) = job(version, lines) else { return };
        let (output, record) = run(&job, &["--condition", "without-facts"]);
        let page = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{version}: {page}{}", String::from_utf8_lossy(&output.stderr));
        assert!(record.provenance.agent.starts_with("a2a, started by "), "{}", record.provenance.agent);
        let turns = &record.trials[0].evidence.as_ref().unwrap().transcript.turns;
        let said: Vec<&str> = turns.iter().filter_map(|turn| turn.agent.as_deref()).collect();
        let expected =
            ["You said: Hello", "For which day?", "Booked: On Monday", "The work is done.", "You said: Thanks"];
        assert_eq!(said, expected, "{version}");
        for turn in turns {
            assert_eq!(turn.first_token_ms.is_some(), streams, "{version}: {turn:?}");
        }
        if streams {
            let event = EventKind::Other { data: json!({"status": "working", "intermediate": "I am at it."}) };
            assert_eq!(turns[3].events.iter().map(|event| &event.kind).collect::<Vec<_>>(), [&event]);
            assert!(
                turns[3].first_token_ms.unwrap() >= 50.0,
                "what is said on the way is no reply yet: {:?}",
                turns[3]
            );
        }
    }
}

#[test]
fn a_task_that_fails_is_the_agents_failure() {
    let Some(job) = job("'1.0', streaming", "[Now fail]") else { return };
    let (_, record) = run(&job, &["--condition", "without-facts"]);
    let Some(Outcome::AgentFailed { error }) = &record.trials[0].outcome else { panic!("{record:?}") };
    assert!(error.contains("the agent's task ended as failed: out of order"), "{error}");
}
