//! An agent that mixes up its sessions is found out, and nobody gets a score for it.

use std::sync::Mutex;

use serde_json::json;

use super::{broken, run};
use crate::servers::http::{Reply, Server};

/// An agent that answers each session, once there are two, by what it knows of the other one.
fn agent() -> Server {
    let users: Mutex<Vec<String>> = Mutex::default();
    Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => {
            let mut users = users.lock().unwrap();
            users.push(request.json()["user"].as_str().unwrap().to_owned());
            Reply::Json(200, json!({"sessionId": users.len().to_string()}))
        }
        "/api/v1/chat/messages" => {
            let own: usize = request.json()["sessionId"].as_str().unwrap().parse().unwrap();
            while users.lock().unwrap().len() < 2 {
                std::thread::yield_now();
            }
            let other = users.lock().unwrap()[2 - own].clone();
            let text = format!("I've written that down for {}.", other.to_uppercase());
            Reply::Json(200, json!({"message": {"content": text, "role": "assistant"}, "events": []}))
        }
        _ => Reply::Json(404, json!({})),
    })
}

#[test]
fn an_agent_that_mixes_up_sessions_is_found_out() {
    let server = agent();
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "evaluator: {{script: [one]}}\nscorer: {{model: scripted}}\ngreetings: [Hello]\nfacts: []\nconditions: [withoutFacts, withFacts]\nisolation: user\n\
         target: {{user: ann, chatbot: c, embabel: {{baseUrl: \"{}\"}}}}\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n",
        server.address
    );
    let (output, record) = run(folder.path(), &job, &[], &[]);
    assert_eq!(output.status.code(), Some(102));
    for (trial, other) in record.trials.iter().zip(["with facts", "without facts"]) {
        let expected = format!(
            "state leaked from the trial gpt-4.1-mini {other} (repeat 1): its user id's token was found in the reply of turn 1"
        );
        assert_eq!(broken(trial), expected);
        assert_eq!(trial.score(), None);
        let evidence = trial.evidence.as_ref().unwrap();
        assert_eq!(evidence.transcript.turns.len(), 2, "what happened is kept");
        assert!(evidence.user.starts_with("ann-") && evidence.user.len() == 20, "{}", evidence.user);
    }
    let users: Vec<&str> = record.trials.iter().map(|trial| trial.evidence.as_ref().unwrap().user.as_str()).collect();
    assert_ne!(users[0], users[1]);
}
