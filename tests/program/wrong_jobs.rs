//! What the job file says wrongly of an agent is never the agent's failure: nothing is scored, and the key is named.

use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::eval_job;
use crate::servers::http::{Reply, Request, Server};

fn run(target: &str, more: &str) -> (Output, String) {
    let job = format!(
        "evaluator: {{script: [one, two]}}\nscorer: {{model: scripted}}\nfacts: []\nconditions: [withoutFacts, withFacts]\nisolation: user\nlimits: {{turn: 4}}\n\
         gate: {{minScore: 0.5}}\ntarget: {{user: u, chatbot: c, {target}}}\n{more}\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let output = eval_job(folder.path()).args(["run", "job.yml", "-v"]).output().unwrap();
    let words = [output.stdout.as_slice(), &output.stderr].concat();
    let words = String::from_utf8_lossy(&words).split_whitespace().collect::<Vec<_>>().join(" ");
    (output, words)
}

#[test]
fn a_command_that_never_says_a_word_may_be_any_program() {
    for (command, key) in [
        ("command: python3, args: [no-such-file.py], greeting: false", "target.command.args"),
        ("command: sh, args: ['-c', 'exit 2'], greeting: false", "target.command.args"),
        ("command: 'true', greeting: false", "target.command.args"),
        ("command: sleep, args: ['600'], greeting: false", "target.command.command"),
        ("command: sleep, args: ['600']", "target.command.greeting: false"),
    ] {
        let (output, words) = run(&format!("command: {{{command}}}"), "");
        assert_eq!(output.status.code(), Some(102), "{command}: {words}");
        assert!(words.contains(key) && !words.contains("agent failed"), "{command}: {words}");
        let is_told = words.contains("waiting for the agent to speak first, ");
        assert_eq!(is_told, !command.contains("greeting"), "{command}: {words}");
    }
    // One that has spoken is the agent.
    let script = "read l; echo agent: hello; echo :DONE; read l; exit 2";
    let (output, words) = run(&format!("command: {{command: sh, args: ['-c', '{script}'], greeting: false}}"), "");
    assert_eq!(output.status.code(), Some(100), "{words}");
    assert!(words.contains("agent failed"), "{words}");
}

#[test]
fn a_request_that_can_not_be_made_is_never_the_agents_failure() {
    let server = Server::start(|_| Reply::Json(200, json!({"word": "certainly"})));
    let endless = "{% if turn > 1 %}{% for a in range(9000) %}{% for b in range(9000) %}{% endfor %}{% endfor %}{% endif %}{{ message }}";
    let header = "{% if turn > 1 %}\\u0007{% endif %}x";
    for (say, key) in [
        (format!("body: {{m: '{endless}'}}"), "target.http.say.body.m: line 1, column"),
        (
            format!("headers: {{X-Turn: \"{header}\"}}, body: {{m: '{{{{ message }}}}'}}"),
            "target.http.say.headers: `X-Turn` holds a character",
        ),
    ] {
        let say = format!("http: {{say: {{url: '{}', {say}, reply: $.word}}}}", server.address);
        let (output, words) = run(&say, "");
        assert_eq!(output.status.code(), Some(102), "{say}: {words}");
        assert!(words.contains(key) && !words.contains("agent failed"), "{say}: {words}");
    }
}

/// Three repetitions in both conditions, one after the other, against an agent that answers 422 while this is true of the
/// number of its messages so far.
fn refused_while(is_refused: fn(usize) -> bool) -> (Option<i32>, String) {
    let said = AtomicUsize::new(0);
    let server = Server::start(move |_| match is_refused(said.fetch_add(1, Ordering::Relaxed)) {
        true => Reply::Json(422, json!({"detail": "field required"})),
        false => Reply::Json(200, json!({"word": "certainly"})),
    });
    let say = format!("say: {{url: '{}', body: {{m: '{{{{ message }}}}'}}, reply: $.word}}", server.address);
    let (output, words) = run(&format!("maxConcurrency: 1, http: {{{say}}}"), "repeat: 3");
    (output.status.code(), words)
}

#[test]
fn what_the_job_says_is_right_once_the_agent_has_answered() {
    let (status, words) = refused_while(|said| said > 2);
    assert_eq!(status, Some(100), "{words}");
    assert!(words.contains("agent failed") && !words.contains("broken"), "{words}");
}

#[test]
fn a_repetition_without_a_figure_is_never_passed_over() {
    let (status, words) = refused_while(|said| said < 1);
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("broken") && words.contains("1 of 6 conversations could not be scored"), "{words}");
}

#[test]
fn an_app_that_the_server_does_not_have_is_told_though_it_answers_500() {
    let server = Server::start(|request| match request.path.as_str() {
        "/list-apps" => Reply::Json(200, json!(["weather"])),
        "/run" => Reply::Json(500, json!("Internal Server Error")),
        _ => Reply::Json(200, json!({"id": "s", "state": {}})),
    });
    for (app, status) in [("wether", 102), ("weather", 100)] {
        let (output, words) = run(&format!("adk: {{baseUrl: '{}', app: {app}}}", server.address), "");
        assert_eq!(output.status.code(), Some(status), "{words}");
        let is_named = words.contains("the server has no app `wether` (target.adk.app), it has: weather");
        assert_eq!(is_named, status == 102, "{words}");
    }
}

#[test]
fn a_state_in_which_nothing_is_ever_found_is_missing() {
    let answer = |request: &Request| match request.path.as_str() {
        "/say" => Reply::Json(200, json!({"text": "Certainly."})),
        "/none" => Reply::Json(200, json!({"data": {"things": []}})),
        _ => Reply::Json(200, json!({"data": {"things": [{"id": 1}]}})),
    };
    let server = Server::start(answer);
    let state = |path: &str, more: &str| {
        let (at, say) = (&server.address, "body: {text: '{{ message }}'}, reply: $.text");
        let target = format!("http: {{say: {{url: '{at}/say', {say}}}, state: {{url: '{at}{path}'{more}}}}}");
        run(&target, "assertions: [{expression: 'objectContext.entities.size == 2'}]")
    };
    for (path, more, status, key) in [
        ("/some", ", entities: '$.data.thngs[*]'", 102, "target.http.state.entities"),
        ("/some", "", 102, "target.http.state.entities is a JSONPath"),
        ("/some", ", entities: '$.data.things[*]'", 100, "fails"),
        ("/none", ", entities: '$.data.things[*]'", 100, "fails"),
    ] {
        let (output, words) = state(path, more);
        assert_eq!(output.status.code(), Some(status), "{path}{more}: {words}");
        assert!(words.contains(key), "{path}{more}: {words}");
    }
}
