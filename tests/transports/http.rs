//! Agents of nobody's protocol, on the HTTP servers of Python and Node themselves.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use eval_job::evidence::Observed;
use eval_job::score::Outcome;
use serde_json::json;

use super::run;
use crate::house::root;
use crate::servers::http::{Reply, Server};

/// A job that starts the server and talks to it in fixed lines, with this key.
fn job(program: &str, file: &str, stream: &str, key: &str) -> String {
    let agent = root().join("tests/transports/peers/http").join(file);
    format!(
        "evaluator: {{script: ['Größer \"& 😀', Thanks]}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\nmaxTurns: 20\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n\
         target:\n  user: ann\n  chatbot: helper\n  http:\n    \
         open: {{url: '{{{{ baseUrl }}}}/talks', headers: {{X-Key: {key}}}, sessionId: $.talk.id}}\n    \
         say:\n      url: '{{{{ baseUrl }}}}/talks/{{{{ sessionId }}}}'\n      headers: {{X-Key: {key}}}\n      \
         body: {{say: '{{{{ message }}}}'}}\n      reply: $.reply.words\n      usage: {{input: $.tokens.in, output: $.tokens.out}}\n      \
         stream: {stream}\n    state: {{url: '{{{{ baseUrl }}}}/talks/{{{{ sessionId }}}}'}}\n  \
         start: {{command: {program}, args: [{}], ready: {{http: /health}}}}\n\
         assertions: [{{expression: 'objectContext.context.heard.size == 3'}}]\n",
        agent.display()
    )
}

/// Whether a program is there; on CI it is.
fn is_there(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    assert!(is_there || std::env::var_os("CI").is_none(), "{program} is missing");
    is_there
}

const PEERS: [(&str, &str, &str); 2] = [("python3", "agent.py", "json"), ("node", "agent.js", "sse")];

#[test]
fn a_conversation_is_held_with_the_servers_of_python_and_node() {
    for (program, file, stream) in PEERS.into_iter().filter(|(program, ..)| is_there(program)) {
        let (output, record) = run(&job(program, file, stream, "peer-key"), &["--condition", "without-facts"]);
        let page = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{file}: {page}{}", String::from_utf8_lossy(&output.stderr));
        let evidence = record.trials[0].evidence.as_ref().unwrap();
        let turns = &evidence.transcript.turns;
        let said: Vec<&str> = turns.iter().filter_map(|turn| turn.agent.as_deref()).collect();
        let expected = ["You said: Hello (1)", "You said: Größer \"& 😀 (2)", "You said: Thanks (3)"];
        assert_eq!(said, expected, "{file}");
        assert_eq!(turns[1].usage.unwrap().input_tokens, Some(11), "{file}");
        assert!(turns.iter().all(|turn| turn.first_token_ms.is_some() == (stream == "sse")), "{file}");
        let Some(Observed::Seen(context)) = &evidence.object_context else { panic!("{evidence:?}") };
        assert_eq!(context.context, json!({"heard": ["Hello", "Größer \"& 😀", "Thanks"]}), "{file}");
    }
}

#[test]
fn a_wrong_key_is_told_and_shown_to_nobody() {
    for (program, file, stream) in PEERS.into_iter().filter(|(program, ..)| is_there(program)) {
        let (output, record) = run(&job(program, file, stream, "wr0ng-s3cret"), &["--condition", "without-facts"]);
        assert_eq!(output.status.code(), Some(102), "{file}");
        let Some(Outcome::Broken { error }) = &record.trials[0].outcome else {
            panic!("{:?}", record.trials[0].outcome)
        };
        assert!(error.contains("answered 401") && error.contains("who are you?"), "{file}: {error}");
        assert!(!serde_json::to_string(&record).unwrap().contains("wr0ng-s3cret"), "{file}");
    }
}

#[test]
fn a_path_that_never_found_any_text_is_not_tried_again() {
    let messages = AtomicUsize::new(0);
    // The third message is answered in another shape, once.
    let server = Server::start(move |_| match messages.fetch_add(1, Ordering::SeqCst) {
        2 => Reply::Json(200, json!({"status": "warming up"})),
        _ => Reply::Json(200, json!({"answer": {"text": "Certainly."}})),
    });
    let job = |path: &str| {
        format!(
            "evaluator: {{script: [one, two]}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\n\
             tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n\
             target: {{user: u, chatbot: c, http: {{say: {{url: '{}', body: {{m: '{{{{ message }}}}'}}, reply: {path}}}}}}}\n",
            server.address
        )
    };
    let (output, record) = run(&job("$.text"), &[]);
    assert_eq!(output.status.code(), Some(102));
    let Some(Outcome::Broken { error }) = &record.trials[0].outcome else { panic!("{:?}", record.trials[0].outcome) };
    assert!(error.contains("there is text at $.answer.text"), "{error}");
    assert_eq!(server.requests().len(), 1, "the same comes again");

    let (_, record) = run(&job("$.answer.text"), &[]);
    let turns = &record.trials[0].evidence.as_ref().unwrap().transcript.turns;
    let failures: Vec<usize> = turns.iter().map(|turn| turn.failures.len()).collect();
    assert_eq!(failures, [0, 1, 0], "a path that found text before may find it again");
}

#[test]
fn a_path_of_events_beside_the_tool_calls_is_no_failure_of_the_agent() {
    let call = json!({"name": "find_order", "args": {"id": 7}});
    let server = Server::start(move |_| Reply::Json(200, json!({"answer": "Certainly.", "calls": [call]})));
    let run_with = |events: &str| {
        run(
            &format!(
                "evaluator: {{script: [one]}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\n\
                 tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n\
                 target: {{user: u, chatbot: c, http: {{say: {{url: '{}', body: {{m: '{{{{ message }}}}'}}, reply: $.answer, events: '{events}'}}}}}}\n",
                server.address
            ),
            &[],
        )
    };
    let (output, record) = run_with("$.callz[*]");
    assert_eq!(output.status.code(), Some(102));
    let Some(Outcome::Broken { error }) = &record.trials[0].outcome else { panic!("{:?}", record.trials[0].outcome) };
    assert!(error.contains("target.http.say.events has found nothing, and there are tool calls at $.calls"), "{error}");
    let (_, record) = run_with("$.calls[*]");
    assert_eq!(record.trials[0].outcome, Some(Outcome::Graded));
}
