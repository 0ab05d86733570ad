//! An agent behind a WebSocket, written with Python's own `websockets`, from the first frame to the score.

use eval_job::evidence::EventKind;
use eval_job::score::Outcome;

use super::{peer, run};
use crate::house::root;

/// A job that starts the agent and talks in fixed lines.
fn job(lines: &str, more: &str) -> Option<String> {
    // Google's ADK brings `websockets` along.
    let (python, agent) = (peer("adk", "python")?, root().join("tests/transports/peers/websocket/agent.py"));
    Some(format!(
        "evaluator: {{script: {lines}}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\nmaxTurns: 20\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n\
         target:\n  user: ann\n  chatbot: helper\n  websocket:\n    url: '{{{{ baseUrl }}}}/talk?user={{{{ user }}}}'\n    \
         subprotocols: [talk.v1]\n    greeting: true\n    sessionId: $.session\n    say: {{say: '{{{{ message }}}}'}}\n    \
         reply:\n      delta: $.piece\n      events: $.tool\n      usage: {{input: $.tokens.in, output: $.tokens.out}}\n      \
         done: {{path: $.end}}\n  \
         start: {{command: {}, args: [{}]}}\n{more}",
        python.display(),
        agent.display()
    ))
}

#[test]
fn a_conversation_is_held_with_its_greeting() {
    let more = "timing: {on: firstToken}\naspirationalAverage: 60000\nassertions:\n  - expression: 'evaluation.functionCalls.\
                any(|it| it.function == \"count\")'\n";
    let Some(job) = job(r#"["Count the words of this"]"#, more) else { return };
    let (output, record) = run(&job, &["--condition", "without-facts"]);
    let page = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{page}{}", String::from_utf8_lossy(&output.stderr));
    let trial = &record.trials[0];
    assert_eq!(trial.outcome, Some(Outcome::Graded), "{page}");
    let turns = &trial.evidence.as_ref().unwrap().transcript.turns;
    let said: Vec<&str> = turns.iter().filter_map(|turn| turn.agent.as_deref()).collect();
    assert_eq!(said.last(), Some(&"ann said 5 words: Count the words of this"), "{said:?}");
    assert!(said[0].starts_with("Welcome, ann"), "{said:?}");
    let last = turns.last().unwrap();
    assert!(matches!(&last.events[0].kind, EventKind::FunctionCall(call) if call.function == "count"), "{last:?}");
    assert_eq!(last.usage.unwrap().input_tokens, Some(5));
    assert!(last.first_token_ms.unwrap() <= last.latency_ms.unwrap());
}

#[test]
fn an_agent_that_breaks_off_has_failed() {
    let Some(job) = job(r#"["Now break"]"#, "") else { return };
    let (output, record) = run(&job, &["--condition", "without-facts"]);
    let Some(Outcome::AgentFailed { error }) = &record.trials[0].outcome else {
        panic!("{:?} {}", record.trials[0].outcome, String::from_utf8_lossy(&output.stdout));
    };
    assert!(error.contains("closed the connection in the middle of its reply (code 1011"), "{error}");
}
