//! Models that refuse requests for a while: whatever they ask for, a run goes on soon, and one that never gets through ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::eval_job;
use crate::edges::server::{Answer, Received, Server};
use crate::servers::all_turns;

/// Agent, persona and judge at one address. The nth question to a model is answered like this, where it is refused.
async fn server(refusal: impl Fn(usize) -> Option<Answer> + Send + Sync + 'static) -> Server {
    let asked = AtomicUsize::new(0);
    Server::start(move |_, request: &Received| match request.target.as_str() {
        "/api/v1/chat/sessions" => Answer::json(200, r#"{"sessionId": "s"}"#),
        "/v1/chat/completions" => {
            refusal(asked.fetch_add(1, Ordering::SeqCst) + 1).unwrap_or_else(|| completion(&request.body))
        }
        _ => Answer::json(200, r#"{"message": {"content": "Certainly.", "role": "assistant"}, "events": []}"#),
    })
    .await
}

fn completion(body: &str) -> Answer {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let is_judge = messages.iter().any(|message| message.to_string().contains("<transcript>"));
    let content = match messages.iter().filter(|message| message["role"] == "assistant").count() {
        _ if is_judge => {
            json!({"tasks": [{"index": 1, "reason": "It was said.", "turnsRead": all_turns(), "score": 0.9}], "tone": {"reason": "polite", "turnsRead": all_turns(), "score": 0.9}})
        }
        0 => json!({"message": "Please say anything", "done": false}),
        1 => json!({"message": "Thank you, that was kind", "done": false}),
        _ => json!({"message": "", "done": true}),
    };
    let message = json!({"role": "assistant", "content": content.to_string()});
    let reply = json!({
        "id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    });
    Answer::json(200, reply.to_string())
}

fn run(server: &Server) -> (Option<i32>, String, Duration) {
    let model = format!("{{model: {{name: openai/m, baseUrl: '{}/v1'}}}}", server.url);
    let job = format!(
        "evaluator: {model}\nscorer: {model}\nfacts: []\nisolation: user\n\
         target: {{user: u, chatbot: c, embabel: {{baseUrl: '{}'}}}}\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n",
        server.url
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let mut command = eval_job(folder.path());
    command.env("OPENAI_API_KEY", "k").args(["run", "job.yml", "--rng-seed", "7", "--model", "a,b", "-v"]);
    let began = Instant::now();
    let output = tokio::task::block_in_place(|| command.output()).unwrap();
    let words = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (output.status.code(), words, began.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_costs_hardly_more_than_the_wait_that_it_asks_for() {
    let refused = || Answer::json(429, r#"{"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}"#);
    type Way = (&'static str, fn(Answer) -> Answer);
    let ways: [Way; 5] = [
        ("missing", |answer| answer),
        ("negative", |answer| answer.with("retry-after", "-5")),
        ("fraction", |answer| answer.with("retry-after", "1.5")),
        ("past", |answer| answer.with("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")),
        ("years", |answer| answer.with("retry-after", "99999999")),
    ];
    for (what, way) in ways {
        let server = server(move |number| (number == 3).then(|| way(refused()))).await;
        let (status, words, took) = run(&server);
        assert_eq!(status, Some(0), "{what}: {words}");
        assert!(took < Duration::from_secs(15), "{what} took {took:?}: {words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_server_that_says_when_to_come_back_is_waited_for_in_the_queue_and_that_is_told() {
    let busy = |number: usize| (number == 3).then(|| Answer::json(503, "").with("retry-after", "3"));
    let server = server(busy).await;
    let (status, words, took) = run(&server);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("waiting for the rate limit"), "{words}");
    assert!(took < Duration::from_secs(15), "{took:?}: {words}");
}
