//! What a case of another system says for others in its turns: results of tools that a model makes up, and messages before a turn.

use eval_job::evidence::EventKind;
use serde_json::{Value, json};

use super::datasets::{heard, model, run, text, write_trpc};
use super::eval_job;
use crate::servers::http::{Reply, Request, Server};

/// An endpoint that answers every request with this text, of 7 tokens.
fn maker(text: &'static str) -> Server {
    Server::start(move |_: &Request| {
        let choice = json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
        let usage = json!({"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7});
        Reply::Json(
            200,
            json!({"id": "r", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [choice], "usage": usage}),
        )
    })
}

#[test]
fn the_result_of_a_tool_is_made_up_by_the_persona_s_model() {
    let folder = tempfile::tempdir().unwrap();
    let agent = model("It is");
    let target = format!("openai={}/v1", agent.address);
    let turn = json!({"userContent": {"role": "user", "content": "And the weather?"}, "toolMock": {"actual": [
        {"name": "get_weather", "arguments": {"expected": {"city": "Shenzhen"}},
            "llmGenerator": {"prompt": "Make up bad weather."}}]}});
    write_trpc(folder.path(), json!({"evalId": "c", "conversation": [turn]}));
    let run_with = |answer: &'static str| {
        let writer = maker(answer);
        // An import overwrites nothing.
        let _ = std::fs::remove_file(folder.path().join("job.yml"));
        let mut import = eval_job(folder.path());
        let imported = import.args(["import", "s.evalset.json", "-o", "job.yml", "--target", &target]);
        assert!(imported.output().unwrap().status.success());
        let job = std::fs::read_to_string(folder.path().join("job.yml")).unwrap();
        let evaluator = format!("evaluator: {{model: {{name: openai/maker, baseUrl: \"{}/v1\"}}}}\n", writer.address);
        std::fs::write(folder.path().join("job.yml"), format!("{evaluator}{job}")).unwrap();
        let (output, record) = run(folder.path(), &["job.yml"]);
        (output.clone(), record.unwrap_or_else(|| panic!("{}", text(&output))), writer)
    };
    let (output, record, writer) = run_with("{\"sky\": \"hail\"}");
    let evidence = record.trials[0].evidence.as_ref().unwrap();
    let turn = &evidence.transcript.turns[0];
    assert!(turn.agent.as_ref().unwrap().contains("hail"), "{}", text(&output));
    assert!(matches!(&turn.events[1].kind, EventKind::FunctionResponse { output } if output["sky"] == "hail"));
    let asked = writer.requests().last().unwrap().json()["messages"].clone();
    assert!(asked[0]["content"].as_str().unwrap().starts_with("Make up bad weather."), "{asked}");
    assert_eq!(asked[1]["content"], r#"{"city":"Shenzhen"}"#);
    let usage = evidence.persona_usage;
    assert_eq!((usage.calls, usage.input_tokens, usage.output_tokens), (1, Some(4), Some(3)));
    // Nobody makes anything up where no conversation is held.
    let probed = eval_job(folder.path()).args(["probe", "job.yml"]).output().unwrap();
    assert_eq!(probed.status.code(), Some(0), "{}", text(&probed));
    let again = eval_job(folder.path()).args(["grade", &record.id, "--scorer-model", "scripted"]).output().unwrap();
    assert!(!text(&again).contains("make no result up"), "{}", text(&again));
    // No result is nobody's score.
    let (output, record, _) = run_with("null");
    assert_eq!(output.status.code(), Some(102), "{}", text(&output));
    let why = record.trials[0].outcome.as_ref().unwrap().error().unwrap().to_owned();
    assert!(
        why.contains("the result of its tool get_weather could not be made up: the model's answer is null"),
        "{why}"
    );
    // Scripted rules make nothing up.
    let (output, _) = run(folder.path(), &["s.evalset.json", "--target", &target, "--evaluator-model", "scripted"]);
    assert!(text(&output).contains("scripted rules make no result up"), "{}", text(&output));
}

#[test]
fn results_that_were_made_up_are_paid_for_in_a_replay_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let (agent, writer) = (model("It is"), maker("{\"sky\": \"hail\"}"));
    let target = format!("openai={}/v1", agent.address);
    let turn = json!({"userContent": {"role": "user", "content": "And the weather?"}, "toolMock": {"actual": [
        {"name": "get_weather", "arguments": {"expected": {"city": "Shenzhen"}},
            "llmGenerator": {"prompt": "Make up bad weather."}}]}});
    write_trpc(folder.path(), json!({"evalId": "c", "conversation": [turn]}));
    let imported = eval_job(folder.path())
        .args(["import", "s.evalset.json", "-o", "job.yml", "--target", &target])
        .output()
        .unwrap();
    assert!(imported.status.success(), "{}", text(&imported));
    let job = std::fs::read_to_string(folder.path().join("job.yml")).unwrap();
    let evaluator = format!("evaluator: {{model: {{name: openai/maker, baseUrl: \"{}/v1\"}}}}\n", writer.address);
    std::fs::write(folder.path().join("job.yml"), format!("{evaluator}{job}")).unwrap();
    for (document, cassette) in [("recorded.json", "--cassette-record"), ("replayed.json", "--cassette-replay")] {
        let mut command = eval_job(folder.path());
        command.env("OPENAI_API_KEY", "sk-test");
        let output = command.args(["run", "job.yml", "-o", document, cassette, "tape"]).output().unwrap();
        assert!([0, 100].contains(&output.status.code().unwrap()), "{}", text(&output));
        let record: Value = serde_json::from_slice(&std::fs::read(folder.path().join(document)).unwrap()).unwrap();
        let trial = &record["trials"][0];
        let paid = [&trial["calls"][0]["asker"], &trial["calls"][0]["usage"]["inputTokens"]];
        assert_eq!(paid, [&json!("persona"), &json!(4)], "{trial}");
        assert_eq!(trial["evidence"]["personaUsage"]["calls"], 1, "{trial}");
    }
    super::cassette::assert_same(&folder.path().join("recorded.json"), &folder.path().join("replayed.json"));
    assert_eq!(writer.requests().iter().filter(|request| request.body.contains("\"messages\"")).count(), 1);
}

#[test]
fn messages_before_a_later_turn_are_said_then() {
    let folder = tempfile::tempdir().unwrap();
    let agent = model("You said");
    let target = format!("openai={}/v1", agent.address);
    let turn =
        |say: &str, before: Value| json!({"userContent": {"role": "user", "content": say}, "contextMessages": before});
    let told = json!([{"role": "user", "content": "I moved to Rome."}, {"role": "assistant", "content": "Noted."}]);
    write_trpc(
        folder.path(),
        json!({"evalId": "c", "conversation": [turn("Hello", json!([])), turn("Where am I?", told.clone()), turn("Bye", told)]}),
    );
    let said = |arguments: &[&str]| {
        let (output, _) = run(folder.path(), &[&["s.evalset.json", "--target", &target], arguments].concat());
        (heard(&agent).pop().unwrap(), text(&output))
    };
    // A turn that repeats what is there has nothing of its own.
    let (heard, shown) = said(&[]);
    assert_eq!(heard, ["Hello", "I moved to Rome.", "Where am I?", "Bye"], "{shown}");
    let (heard, shown) = said(&["--dialect-strict"]);
    assert_eq!(heard, ["Hello", "Where am I?", "Bye"], "{shown}");
    assert!(shown.contains("trpc-agent-go shows those to judges alone"), "{shown}");
}
