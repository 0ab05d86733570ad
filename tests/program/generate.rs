//! Conversations made from nothing: scenarios of Red Hat's layout, held live, judged and written back.

use std::path::Path;

use serde_json::{Value, json};

use super::{eval_job, words};
use crate::servers::all_turns;
use crate::servers::http::{Reply, Server};

fn says(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5});
    Reply::Json(200, json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}))
}

/// The agent, its user and its judge in one; the judge finds every conversation with `Ticket` in a rule's name wanting.
fn server() -> Server {
    Server::start(|request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        let text = request.json()["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
        if text.starts_with("You play") {
            let (message, done) = match request.body.matches("<agent-reply>").count() {
                0 => ("Hello, when does the IT desk open?", false),
                _ => ("Thanks, that was all.", true),
            };
            return says(&json!({"message": message, "done": done, "reason": ""}).to_string());
        }
        if text.contains("acceptance") {
            let task = json!({"index": 1, "reason": "so", "turnsRead": all_turns(), "score": 1.0});
            let tone = json!({"reason": "so", "turnsRead": all_turns(), "score": 1.0});
            return says(&json!({"tasks": [task], "tone": tone}).to_string());
        }
        if text.starts_with("You are the judge") {
            let ids =
                text.split("<item id=\"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default().to_owned());
            let ids: Vec<String> = ids.collect();
            let ids = if ids.is_empty() { vec!["1".to_owned()] } else { ids };
            let score = if text.contains("icket number") { 2 } else { 10 };
            let verdict = |id: &String| json!({"id": id, "item": "it", "reason": "so", "quotes": [], "turnsRead": all_turns(), "verdict": "yes", "score": score});
            return says(&json!({"verdicts": ids.iter().map(verdict).collect::<Vec<_>>()}).to_string());
        }
        says("The IT desk opens at nine.")
    })
}

/// Red Hat's layout with one predefined conversation and this scenario.
fn folder(scenario: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("evaluations/conversations_config");
    std::fs::create_dir_all(root.join("conversations")).unwrap();
    std::fs::write(root.join("authoritative_user_ids"), "ann@x.org\nbob@x.org\n").unwrap();
    let flow = json!({"metadata": {"authoritative_user_id": "bob@x.org", "description": ""},
        "conversation": [{"role": "user", "content": "When do you open?"}]});
    std::fs::write(root.join("conversations/hours.json"), flow.to_string()).unwrap();
    std::fs::write(root.join("conversations/desk.json"), scenario.to_string()).unwrap();
    folder
}

fn run(folder: &Path, server: &Server, more: &[&str]) -> std::process::Output {
    let address = format!("{}/v1", server.address);
    let target = format!("openai={address}");
    let arguments = ["run", "evaluations", "--target", &target, "--model", "m", "-j", "2", "--no-progress"];
    let models = ["--evaluator-model", "openai/u", "--scorer-model", "openai/j"];
    let mut command = eval_job(folder);
    command.env("OPENAI_BASE_URL", &address).env("OPENAI_API_KEY", "k");
    command.args(arguments).args(models).args(more).output().unwrap()
}

#[test]
fn red_hats_pipeline_is_one_command() {
    let scenario = json!({"scenario": "An employee wants to find out when the IT desk opens.",
        "expected_outcome": "The opening time was named", "user_description": "Jo from sales"});
    let (server, folder) = (server(), folder(&scenario));
    let more = ["--generate", "3", "--max-turns", "12", "--timeout", "60", "-o", "out.json", "-o", "redhat=results"];
    let output = run(folder.path(), &server, &more);
    let page = words(&output);
    assert_eq!(output.status.code(), Some(100), "{page}");
    let line = |name: &str| {
        page.lines().find(|line| line.starts_with(name) && line.contains('/')).unwrap_or_default().to_owned()
    };
    assert!(line("Turn Relevancy").contains("4/4") && line("Turn Relevancy").contains("100 %"), "{page}");
    assert!(line("Ticket number validation").contains("0/4"), "{page}");
    assert!(line("Expected outcome").contains("3/3"), "{page}");
    let record: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("out.json")).unwrap()).unwrap();
    let of_trial = |trial: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&trial["trial"]["case"]), text(&trial["evidence"]["user"]))
    };
    let held: Vec<(String, String)> = record["trials"].as_array().unwrap().iter().map(of_trial).collect();
    let expected = [("hours", "bob@x.org"), ("desk-1", "ann@x.org"), ("desk-2", "bob@x.org"), ("desk-3", "ann@x.org")];
    assert_eq!(held, expected.map(|(case, user)| (case.to_owned(), user.to_owned())));
    assert_eq!(record["provenance"]["maxTurns"], 12);
    let written = folder.path().join("results/conversation_results/desk-2.json");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(written).unwrap()).unwrap();
    assert_eq!(written["metadata"]["authoritative_user_id"], "bob@x.org");
    assert_eq!(written["conversation"][1]["content"], "The IT desk opens at nine.");
    let tokens = std::fs::read_dir(folder.path().join("results/token_usage")).unwrap().count();
    assert_eq!(tokens, 1, "one file of tokens");
}

#[test]
fn a_scenario_that_says_too_little_is_refused_with_its_place() {
    let server = server();
    let refused = |scenario: &Value, more: &[&str], part: &str| {
        let folder = folder(scenario);
        let output = run(folder.path(), &server, more);
        let page = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{page}");
        assert!(page.contains(part), "{page}");
    };
    refused(&json!({"scenario": "x"}), &[], "desk.json:1:1: this scenario has no `expected_outcome`");
    refused(&json!([{"scenario": " ", "expected_outcome": "y"}]), &[], "desk.json:1:");
    let flow = json!({"metadata": {"authoritative_user_id": "a"}, "conversation": [{"role": "user", "content": "x"}]});
    refused(&flow, &["--generate", "2"], "there is no scenario that conversations could be generated from");
    refused(&flow, &["--generate", "0"], "--generate");
}
