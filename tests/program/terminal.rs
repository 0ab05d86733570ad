//! What is painted on a terminal, seen by `terminal.py` through a pseudo-terminal: the bar, the lines above it, interruptions,
//! windows that change their size, silence, colours.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::house::root;
use crate::servers::http::{Reply, Request, Server};

/// An agent behind OpenAI's chat completions that takes a tenth of a second, or for ever; and a model that never answers as a
/// judge, and fails as a persona.
fn answer(request: &Request) -> Reply {
    let json = request.json();
    let Some(messages) = json["messages"].as_array() else {
        return Reply::Json(
            400,
            json!({"error": {"message": "there are no messages", "type": "invalid_request_error"}}),
        );
    };
    if !request.path.starts_with("/agent/") {
        let is_persona = request.path.starts_with("/v1/") && !request.body.contains("<transcript>");
        let failed =
            || Reply::Json(500, json!({"error": {"message": "no luck today ".repeat(8), "type": "server_error"}}));
        return if is_persona { failed() } else { Reply::Silence };
    }
    std::thread::sleep(Duration::from_millis(100));
    let is_call = messages.len() == 3;
    let call = json!([{"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{\"train\": \"to Lyon\"}"}}]);
    let words = "Here is a reply that is longer than any line of a terminal, so that it has to go on in the next one. ";
    let message = match is_call {
        true => json!({"role": "assistant", "content": null, "tool_calls": call}),
        false => json!({"role": "assistant", "content": words.repeat(2)}),
    };
    Reply::Json(200, json!({"choices": [{"message": message}], "usage": {"prompt_tokens": 40, "completion_tokens": 2}}))
}

#[test]
fn a_terminal_shows_what_goes_on_and_nothing_is_left_behind() {
    let server = Server::start(answer);
    let folder = tempfile::tempdir().unwrap();
    let job = |name: &str, agent: &str, evaluator: &str, scorer: &str| {
        let address = &server.address;
        let text = format!(
            "target: {{user: u, chatbot: c, openai: {{baseUrl: '{address}/{agent}/v1'}}}}\nevaluator: {{{evaluator}}}\n\
             scorer: {{model: {scorer}}}\nfacts: [The train leaves at nine]\ngate: {{minScore: 0.99}}\n\
             tasks: [{{task: Ask for a train to Lyon, acceptanceCriteria: Seventeen zebras}}]\n"
        );
        fs::write(folder.path().join(name), text).unwrap();
    };
    let script = "script: [Good morning, I want to go to Lyon, When does it leave?, Thank you]";
    job("slow.yml", "agent", script, "scripted");
    job("quick.yml", "agent", "script: [Hello]", "scripted");
    job("slow-agent.yml", "nobody", script, "scripted");
    job("slow-persona.yml", "agent", "model: openai/gpt-4.1-mini", "scripted");
    job("slow-judge.yml", "agent", "script: [Hello]", "openai/gpt-4.1-mini");
    let quick = fs::read_to_string(folder.path().join("quick.yml")).unwrap();
    let warned = "target: {user: u, chatbot: c, embabel: {baseUrl: 'http://127.0.0.1:9'}}\nevaluator: {script: [Hello]}\n\
                  scorer: {model: scripted}\nfacts: []\ntasks: [{task: t, acceptanceCriteria: a}]\n\
                  assertions: [{expression: 'objectContext.entities.count(|it| true) == 1'}]\n";
    fs::write(folder.path().join("warned.yml"), warned).unwrap();
    fs::write(folder.path().join("wrong.yml"), format!("{quick}acceptanceCriteria: none\n")).unwrap();
    fs::write(folder.path().join(".env"), format!("OPENAI_API_KEY=sk-x\nOPENAI_BASE_URL={}/v1\n", server.address))
        .unwrap();
    let output = Command::new("python3")
        .arg(root().join("tests/program/terminal.py"))
        .args([env!("CARGO_BIN_EXE_eval-job").as_ref(), folder.path()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
