//! Google's own `adk api_server`, from PyPI, with an agent whose model is a few rules.

use eval_job::evidence::{EventKind, Observed, ToolCall};
use eval_job::score::Outcome;
use serde_json::json;

use super::{peer, run};
use crate::house::root;

/// A job that starts the server with its agent and talks in fixed lines.
fn job(adk: &str, lines: &str, more: &str) -> Option<String> {
    let (program, agents) = (peer("adk", "adk")?, root().join("tests/transports/peers/adk"));
    let serve = format!(
        "exec {} api_server --host 127.0.0.1 --port $PORT --session_service_uri memory:// --artifact_service_uri memory:// {}",
        program.display(),
        agents.display()
    );
    Some(format!(
        "evaluator: {{script: {lines}}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\nmaxTurns: 20\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n\
         target:\n  user: ann\n  chatbot: helper\n  adk: {adk}\n  start:\n    command: sh\n    args: [-c, '{serve}']\n    \
         ready: {{http: /health}}\n{more}"
    ))
}

const NOTES: &str = "assertions:\n  - expression: objectContext.context.notes == [\"milk\"] && objectContext.context.city == \"Rome\"\n  \
    - expression: 'evaluation.functionCalls.count(|it| it.function == \"note\") == 1'\n";

#[test]
fn a_conversation_with_tools_and_state_is_held() {
    let lines = r#"["Please note the milk", "Tell me what you noted"]"#;
    for (adk, streams) in [("{state: {city: Rome}}", false), ("{state: {city: Rome}, streaming: true}", true)] {
        let timing = if streams { "timing: {on: firstToken}\naspirationalAverage: 60000\n" } else { "" };
        let Some(job) = job(adk, lines, &format!("{timing}{NOTES}")) else { return };
        let (output, record) = run(&job, &["--condition", "without-facts"]);
        let page = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{page}{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(record.provenance.agent, "adk, started by `sh`");
        let trial = &record.trials[0];
        assert_eq!(trial.outcome, Some(Outcome::Graded));
        let evidence = trial.evidence.as_ref().unwrap();
        let turns = &evidence.transcript.turns;
        let said: Vec<&str> = turns.iter().filter_map(|turn| turn.agent.as_deref()).collect();
        assert_eq!(said, ["You said: Hello", "Noted: milk.", "Your notes: milk."]);
        let call =
            EventKind::FunctionCall(ToolCall { function: "note".to_owned(), args: json!({"thing": "milk"}).into() });
        assert_eq!(turns[1].events[1].kind, call);
        assert_eq!(
            turns[1].events[2].kind,
            EventKind::FunctionResponse { output: json!({"noted": "milk", "count": 1}).into() }
        );
        assert_eq!(turns[1].usage.unwrap().input_tokens, Some(24));
        for turn in turns {
            assert_eq!(turn.first_token_ms.is_some(), streams, "{turn:?}");
            assert!(turn.first_token_ms.unwrap_or(0.0) <= turn.latency_ms.unwrap());
        }
        let Some(Observed::Seen(context)) = &evidence.object_context else { panic!("{evidence:?}") };
        assert_eq!(context.context, json!({"city": "Rome", "notes": ["milk"]}));
        assert!(trial.scorecard.as_ref().is_some(), "{page}");
    }
}

#[test]
fn a_model_that_breaks_is_the_agents_failure() {
    for (adk, words) in [
        ("{streaming: true}", "the agent reported a failure: RuntimeError: the model is out of order"),
        ("{}", "answered 500 Internal Server Error"),
    ] {
        let Some(job) = job(adk, r#"["Now break"]"#, "") else { return };
        let (output, record) = run(&job, &["--condition", "without-facts"]);
        let Some(Outcome::AgentFailed { error }) = &record.trials[0].outcome else {
            panic!("{:?} {}", record.trials[0].outcome, String::from_utf8_lossy(&output.stdout));
        };
        assert!(error.contains(words), "{error}");
        let turn = record.trials[0].evidence.as_ref().unwrap().transcript.turns.last().unwrap();
        assert_eq!(turn.failures.len(), if adk == "{}" { 4 } else { 1 }, "what it reports itself is not tried again");
    }
}
