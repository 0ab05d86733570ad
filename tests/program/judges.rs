//! Metrics that ask a judge, with the built program: their verdicts, their evidence, and judges that fail.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::eval_job;
use crate::servers::http::{Reply, Server};

/// An agent that always says the same.
pub fn agent() -> Server {
    Server::start(|_| {
        let message = json!({"role": "assistant", "content": "Your table is booked for 7 pm. The soup is leek."});
        Reply::Json(200, json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}))
    })
}

fn says(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    Reply::Json(200, json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}))
}

fn verdict(id: &str, decision: &str, quote: &str) -> Value {
    json!({"id": id, "reason": "so it is", "quotes": [{"turn": 1, "text": quote}], "turnsRead": [], "verdict": decision})
}

/// Runs a job with these metrics; its status, its record and what it printed.
fn run(judge: &Server, metrics: &Value, scorer: &Value) -> (Option<i32>, Value, String) {
    let agent = agent();
    let folder = tempfile::tempdir().unwrap();
    let mut scorer = scorer.clone();
    scorer["model"] = json!({"name": "openai/judge", "baseUrl": format!("{}/v1", judge.address)});
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "evaluator": {"script": ["A table for two at seven, please"]},
        "scorer": scorer,
        "facts": [],
        "greetings": [],
        "metrics": metrics,
    });
    std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    let output = eval_job(folder.path())
        .args(["run", "job.yml", "--model", "m", "--no-progress", "-v", "-o", "run.json"])
        .output()
        .unwrap();
    let record = std::fs::read_to_string(folder.path().join("run.json")).unwrap_or_default();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), serde_json::from_str(&record).unwrap_or_default(), words)
}

/// The dimension of a record's only trial.
fn dimension(record: &Value) -> Value {
    record["trials"][0]["scorecard"]["dimensions"][0].clone()
}

fn rubric() -> Value {
    json!([{"rubric": {"rubrics": [
        {"id": "booked", "text": "The table is booked.", "weight": 3},
        {"id": "polite", "text": "The agent thanks the user."},
    ]}}])
}

#[test]
fn a_verdict_rests_on_words_that_were_said() {
    let judge = Server::start(|_| {
        says(
            &json!({"verdicts": [
                verdict("booked", "yes", "booked for 7 PM"),
                {"id": "polite", "reason": "no thanks", "quotes": [], "turnsRead": [1], "verdict": "no"},
            ]})
            .to_string(),
        )
    });
    let (status, record, words) = run(&judge, &rubric(), &json!({}));
    assert_eq!(status, Some(0), "{words}");
    assert_eq!(dimension(&record)["component"]["score"], 0.75, "{record:#}");
    let asked = judge.requests();
    assert_eq!(asked.iter().filter(|request| request.path.ends_with("/chat/completions")).count(), 1);
}

#[test]
fn words_that_nobody_said_make_their_verdict_missing_after_one_more_try() {
    let judge = Server::start(|_| {
        says(
            &json!({"verdicts": [
                verdict("booked", "yes", "I have booked it and mailed you"),
                verdict("polite", "yes", "Your table"),
            ]})
            .to_string(),
        )
    });
    let (status, record, words) = run(&judge, &rubric(), &json!({}));
    assert_eq!(status, Some(102), "{words}");
    let found = dimension(&record);
    assert!(found["component"]["kind"] == "missing", "{found:#}");
    assert!(found["items"][0]["component"]["error"].to_string().contains("does not stand in turn 1"), "{found:#}");
    assert_eq!(found["items"][1]["component"]["score"], 1.0);
    let asked = judge.requests();
    let asked: Vec<_> = asked.iter().filter(|request| request.path.ends_with("/chat/completions")).collect();
    assert_eq!(asked.len(), 2, "{words}");
    assert!(asked[1].body.contains("does not stand in turn 1"), "the judge is told what is wrong");
}

#[test]
fn samples_differ_by_their_seed_and_their_majority_decides() {
    let count = AtomicUsize::new(0);
    let judge = Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        let yes = count.fetch_add(1, Ordering::SeqCst) != 1;
        let decision = if yes { "yes" } else { "no" };
        says(
            &json!({"verdicts": [
                verdict("booked", decision, "table is booked"), verdict("polite", "yes", "Your table"),
            ]})
            .to_string(),
        )
    });
    let (status, record, words) = run(&judge, &rubric(), &json!({"samples": 3}));
    assert_eq!(status, Some(0), "{words}");
    let found = dimension(&record);
    assert_eq!(found["component"]["score"], 1.0, "{found:#}");
    assert_eq!(found["items"][0]["component"]["why"], "so it is (unstable: 2 of 3 verdicts)");
    assert_eq!(found["items"][1]["component"]["why"], "so it is (all 3 verdicts)");
    let mut seeds: Vec<Value> = judge
        .requests()
        .iter()
        .filter(|request| request.path.ends_with("/chat/completions"))
        .map(|request| request.json()["seed"].clone())
        .collect();
    seeds.sort_by_key(ToString::to_string);
    assert_eq!(seeds, [json!(1), json!(2), Value::Null]);
}

#[test]
fn a_judge_that_fails_never_yields_a_zero() {
    for (way, answer) in [
        ("prose", "All is well."),
        ("empty", ""),
        ("no list", "{\"verdicts\": \"yes\"}"),
        ("another item", "{\"verdicts\": [{\"id\": \"x\", \"reason\": \"y\", \"verdict\": \"yes\"}]}"),
        ("a number", "{\"verdicts\": [{\"id\": \"booked\", \"reason\": \"y\", \"verdict\": 0.0}]}"),
        ("cut off", "{\"verdicts\": [{\"id\": \"booked\", \"rea"),
    ] {
        let judge = Server::start(move |_| says(answer));
        let (status, record, words) = run(&judge, &rubric(), &json!({}));
        assert_eq!(status, Some(102), "{way}: {words}");
        assert!(record["trials"][0]["scorecard"].is_null() || dimension(&record)["component"]["kind"] == "missing");
    }
    let judge = Server::start(|_| Reply::Json(400, json!({"error": {"message": "no such model"}})));
    let (status, _, words) = run(&judge, &rubric(), &json!({}));
    assert_eq!(status, Some(102), "{words}");
}

#[test]
fn each_metric_asks_and_scores() {
    let turn = |decision: &str| verdict("1", decision, "table is booked");
    for (metric, verdicts, score) in [
        (
            json!({"geval": {"criteria": "Clarity."}}),
            json!([{"id": "1", "reason": "clear",
            "quotes": [{"turn": 1, "text": "booked"}], "turnsRead": [], "score": 7}]),
            0.7,
        ),
        (json!({"turnRelevancy": {}}), json!([turn("yes")]), 1.0),
        (json!({"roleAdherence": {"role": "A waiter."}}), json!([turn("no")]), 0.0),
        (
            json!({"completeness": {}}),
            json!([
            {"id": "1", "item": "a table", "reason": "booked", "quotes": [{"turn": 1, "text": "table is booked"}],
             "turnsRead": [], "verdict": "yes"},
            {"id": "2", "item": "a vase", "reason": "absent", "quotes": [], "turnsRead": [1], "verdict": "no"}]),
            0.5,
        ),
        (
            json!({"hallucination": {}}),
            json!([verdict("1.1", "supported", "at seven"), verdict("1.2", "unsupported", "leek")]),
            0.5,
        ),
        (json!({"finalResponse": {}}), json!([turn("yes")]), 1.0),
    ] {
        let answer = json!({"verdicts": verdicts}).to_string();
        let judge = Server::start(move |_| says(&answer));
        let agent = agent();
        let folder = tempfile::tempdir().unwrap();
        let job = json!({
            "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
            "scorer": {"model": {"name": "openai/judge", "baseUrl": format!("{}/v1", judge.address)}},
            "facts": [],
        "greetings": [],
            "evaluator": {"script": [{"say": "A table at seven", "expected": {"reply": "It is booked."}}]},
            "metrics": [metric],
        });
        std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
        let output =
            eval_job(folder.path()).args(["run", "job.yml", "--model", "m", "-o", "run.json"]).output().unwrap();
        let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let record = std::fs::read_to_string(folder.path().join("run.json")).unwrap_or_else(|_| panic!("{words}"));
        let record: Value = serde_json::from_str(&record).unwrap();
        assert_eq!(dimension(&record)["component"]["score"], score, "{metric} {words}");
        let request = judge.requests().into_iter().find(|request| request.path.ends_with("/chat/completions"));
        let schema = request.unwrap().json()["response_format"]["json_schema"]["schema"].clone();
        assert!(schema["properties"]["verdicts"].is_object(), "{schema}");
    }
}

#[test]
fn rules_that_stand_in_for_a_judge_decide_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let agent = agent();
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "evaluator": {"script": ["Hi"]},
        "scorer": {"model": "scripted"},
        "facts": [],
        "greetings": [],
        "metrics": rubric(),
    });
    std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    let output = eval_job(folder.path()).args(["run", "job.yml", "--model", "m"]).output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(102), "{words}");
    assert!(words.contains("no model judges"), "{words}");
}

/// A judge's score of 8, with the probabilities of others.
fn weighed() -> Reply {
    let before =
        r#"{"verdicts":[{"id":"1","reason":"nearly","quotes":[{"turn":1,"text":"Your table"}],"turnsRead":[],""#;
    let parts = [before, "score", "\":", "8", "}]}"];
    let top = |token: &str| match token {
        "8" => {
            json!([{"token": "8", "logprob": -0.5108256}, {"token": "6", "logprob": -0.9162907}, {"token": "3", "logprob": -6.0}])
        }
        _ => json!([]),
    };
    let tokens: Vec<Value> =
        parts.iter().map(|token| json!({"token": token, "logprob": -0.1, "top_logprobs": top(token)})).collect();
    let message = json!({"role": "assistant", "content": parts.concat()});
    let choice = json!({"index": 0, "finish_reason": "stop", "message": message, "logprobs": {"content": tokens}});
    Reply::Json(200, json!({"choices": [choice]}))
}

#[test]
fn a_score_is_weighted_by_the_probabilities_of_others() {
    let geval = json!([{"geval": {"criteria": "The reply is short."}}]);
    let judge = Server::start(|request| match request.path.ends_with("/chat/completions") {
        true => weighed(),
        false => Reply::Json(200, json!({"data": []})),
    });
    let (status, record, words) = run(&judge, &geval, &json!({}));
    assert_eq!(status, Some(0), "{words}");
    let asked =
        judge.requests().into_iter().find(|request| request.path.ends_with("/chat/completions")).unwrap().json();
    assert_eq!((&asked["logprobs"], &asked["top_logprobs"]), (&json!(true), &json!(20)));
    let found = dimension(&record)["component"].clone();
    // 8 with 0.6 and 6 with 0.4; 3 is too improbable.
    assert!((found["score"].as_f64().unwrap() - 0.72).abs() < 1e-6, "{found:#}");
    assert_eq!(found["why"], "nearly (8 of 10, 7.20 by the probabilities of all scores)");
    assert_eq!(record["trials"][0]["judgements"][0]["alternatives"].as_array().unwrap().len(), 2);
}

#[test]
fn a_judge_without_probabilities_scores_as_it_says() {
    let geval = json!([{"geval": {"criteria": "The reply is short."}}]);
    let judge = Server::start(|request| {
        match request.path.ends_with("/chat/completions") {
        true if request.json()["logprobs"] == true => {
            Reply::Json(403, json!({"error": {"message": "You are not allowed to request logprobs from this model."}}))
        }
        true => says(&json!({"verdicts": [{"id": "1", "reason": "nearly", "quotes": [{"turn": 1, "text": "Your table"}], "turnsRead": [], "score": 8}]}).to_string()),
        false => Reply::Json(200, json!({"data": []})),
    }
    });
    let (status, record, words) = run(&judge, &geval, &json!({}));
    assert_eq!(status, Some(0), "{words}");
    assert_eq!(dimension(&record)["component"], json!({"kind": "scored", "score": 0.8, "why": "nearly"}));
    assert!(!words.contains("logprobs"), "what is only a refinement is no warning: {words}");
    // Only geval of one criterion asks for them.
    let judge = Server::start(|_| {
        says(
            &json!({"verdicts": [verdict("booked", "yes", "booked"), verdict("polite", "yes", "Your table")]})
                .to_string(),
        )
    });
    let (_, _, words) = run(&judge, &rubric(), &json!({}));
    let asked =
        judge.requests().into_iter().find(|request| request.path.ends_with("/chat/completions")).unwrap().json();
    assert!(asked.get("logprobs").is_none(), "{words}");
}

#[test]
fn two_conversations_are_compared_in_both_orders() {
    // A judge that always prefers what it reads first.
    let judge = Server::start(|request| match request.path.ends_with("/chat/completions") {
        true => {
            let prompt = request.json()["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
            let first = prompt.split("<first>").nth(1).unwrap_or_default().split("</first>").next().unwrap_or_default();
            let quote = if first.contains("leek") { "The soup is leek" } else { "We are closed" };
            says(
                &json!({"reason": "so", "quotes": [{"conversation": "first", "text": quote}], "verdict": "first"})
                    .to_string(),
            )
        }
        false => Reply::Json(200, json!({"data": []})),
    });
    let agent = agent();
    let folder = tempfile::tempdir().unwrap();
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "evaluator": {"script": [{"say": "A table, please", "expected": {"reply": "We are closed today."}}]},
        "scorer": {"model": {"name": "openai/judge", "baseUrl": format!("{}/v1", judge.address)}},
        "facts": [],
        "greetings": [],
        "metrics": [{"pairwise": {}}],
    });
    std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    let output = eval_job(folder.path()).args(["run", "job.yml", "--model", "m", "-o", "run.json"]).output().unwrap();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{words}");
    let record: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("run.json")).unwrap()).unwrap();
    let found = dimension(&record)["component"].clone();
    assert_eq!(found["score"], 0.5, "{found:#}");
    assert_eq!(found["why"], "so (unstable: 1.00 where it is read first, 0.00 where it is read second)");
    let again = eval_job(folder.path()).args(["grade"]).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn a_conversation_without_a_reply_is_no_passed_case() {
    let agent = Server::start(|_| says(""));
    let judge = Server::start(|_| says(r#"{"verdicts": []}"#));
    let folder = tempfile::tempdir().unwrap();
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "evaluator": {"script": ["A table for two"]},
        "scorer": {"model": {"name": "openai/judge", "baseUrl": format!("{}/v1", judge.address)}},
        "facts": [],
        "greetings": [],
        "metrics": [{"rubric": {"rubrics": [{"id": "kind", "text": "It is kind."}]}}],
    });
    std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    let output = eval_job(folder.path()).args(["run", "job.yml", "--model", "m", "--no-progress"]).output().unwrap();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!words.contains("Passed: 1 of 1 case"), "{words}");
}

#[test]
fn a_judge_that_refuses_the_first_requests_stops_the_run_and_no_more_conversations_are_paid() {
    let (agent, judge) = (agent(), Server::start(|_| Reply::Json(401, json!({"error": {"message": "wrong key"}}))));
    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<Value> = (0..40).map(|case| json!({"id": format!("c{case}"), "script": ["Hi"]})).collect();
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
        "scorer": {"model": {"name": "openai/judge", "baseUrl": format!("{}/v1", judge.address)}},
        "greetings": [],
        "metrics": [{"rubric": {"rubrics": [{"id": "kind", "text": "It is kind."}]}}],
        "cases": cases,
    });
    std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    let flags = ["run", "job.yml", "--model", "m", "--no-progress", "-j", "2", "-o", "run.json"];
    let output = eval_job(folder.path()).args(flags).output().unwrap();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(102), "{words}");
    assert!(words.contains("stopped: the judge refused each of"), "{words}");
    assert!(words.contains("eval-job run --retry-errors goes on"), "{words}");
    let record: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("run.json")).unwrap()).unwrap();
    let trials = record["trials"].as_array().unwrap();
    let held = trials.iter().filter(|trial| trial["outcome"].is_object()).count();
    assert!((1..10).contains(&held), "{held} of {}", trials.len());
}
