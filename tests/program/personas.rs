//! Kinds of users, with the built program: each case is held with each of them, and the persona's model is told who it is.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{eval_job, words};
use crate::servers::all_turns;
use crate::servers::http::{Reply, Server};

fn says(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    Reply::Json(200, json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}))
}

/// An agent and a judge that are content with everything.
fn agent_and_judge() -> Server {
    Server::start(|request| {
        if request.body.contains("acceptance") || request.body.contains("turnsRead") {
            let task = json!({"index": 1, "reason": "so", "turnsRead": all_turns(), "score": 0.8});
            let tone = json!({"reason": "fine", "turnsRead": all_turns(), "score": 1});
            return says(&json!({"tasks": [task], "tone": tone}).to_string());
        }
        says("The desk opens at nine o'clock. Is there anything else?")
    })
}

/// The persona's model, and the instructions that it was given.
fn persona() -> (Server, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = seen.clone();
    let server = Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        let instructions = request.json()["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
        kept.lock().unwrap().push(instructions);
        says(&match request.body.matches("<agent-reply>").count() {
            0 => json!({"message": "When does the desk open?", "done": false, "reason": ""}).to_string(),
            _ => {
                json!({"message": "Thanks, that was all.", "done": true, "reason": "I know \u{1b}[31mwhen"}).to_string()
            }
        })
    });
    (server, seen)
}

fn job(agent: &Server, persona: &Server, more: &Value) -> String {
    let model = |server: &Server| json!({"name": "openai/m", "baseUrl": format!("{}/v1", server.address)});
    let mut job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "evaluator": {"model": model(persona)},
        "scorer": {"model": model(agent)},
        "greetings": [],
        "facts": [],
        "tasks": [{"task": "Find out when the desk opens", "acceptanceCriteria": "The time is given"}],
    });
    job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    job.to_string()
}

#[test]
fn each_case_is_held_with_each_kind_of_user_and_each_has_a_figure() {
    let (agent, (persona, seen)) = (agent_and_judge(), persona());
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("prompts/personas");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("mine.yml"), "style: You write in capital letters\nallow: [twoTasks]\n").unwrap();
    std::fs::write(folder.path().join("job.yml"), job(&agent, &persona, &json!({}))).unwrap();
    let arguments =
        ["run", "job.yml", "--persona", "terse,mine", "-j", "1", "--no-progress", "-o", "run.json", "-o", "run.html"];
    let output = eval_job(folder.path()).args(arguments).output().unwrap();
    let page = words(&output);
    assert_eq!(output.status.code(), Some(0), "{page}");
    assert!(page.contains("by user: terse 0.80, mine 0.80"), "{page}");
    let seen = seen.lock().unwrap();
    assert!(seen[0].contains("<trait>Says as little as possible</trait>"), "{}", seen[0]);
    assert!(seen[0].contains("You write fragments") && seen[0].contains("Bring up one entry at a time"), "{}", seen[0]);
    let mine = seen.last().unwrap();
    assert!(mine.contains("You write in capital letters") && !mine.contains("one entry at a time"), "{mine}");
    let record = std::fs::read_to_string(folder.path().join("run.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let cases: Vec<_> =
        record["trials"].as_array().unwrap().iter().map(|it| it["trial"]["case"].as_str().unwrap()).collect();
    assert_eq!(cases, ["job@terse", "job@mine"]);
    assert_eq!(record["figures"][0]["personas"][1]["persona"], "mine");
    assert_eq!(record["trials"][0]["evidence"]["ending"]["reason"], "I know \\u{1b}[31mwhen");
    let html = std::fs::read_to_string(folder.path().join("run.html")).unwrap();
    assert!(html.contains("by user: terse") && html.contains("the user left: I know"), "the page names them");
}

#[test]
fn a_persona_that_does_not_exist_is_refused_before_anything_is_paid() {
    let (agent, (persona, seen)) = (agent_and_judge(), persona());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job(&agent, &persona, &json!({}))).unwrap();
    for (named, part) in [
        ("hostlie", "There is no persona `hostlie`. Did you mean `hostile`?"),
        ("../x", "There is no persona `../x`."),
        ("", "There is no persona ``."),
    ] {
        let output = eval_job(folder.path()).args(["run", "job.yml", "--persona", named]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", words(&output));
        let page = words(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(part), "{page}");
    }
    assert!(seen.lock().unwrap().is_empty());
}
