//! A conversation that was cut off goes on where it was also where its session's id is not enough: the ids of A2A, the threads of
//! watsonx and the responses of OpenAI come with the replies, and are kept with the turns.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use serde_json::{Value, json};

use super::{eval_job, words};
use crate::servers::http::{Reply, Request, Server};

const AGENT: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const THREAD: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// The status of a run whose agent keeps the session: it may have had the message that is sent again.
const KEPT: i32 = 102;

/// An agent that answers `one` with `reply 1`, and so on; one of its messages is never answered.
struct Peer {
    folder: tempfile::TempDir,
    server: Server,
    arrived: mpsc::Receiver<()>,
    /// Which message it is, counted from 1; 0 for none.
    silent_at: Arc<AtomicUsize>,
    is_message: fn(&Request) -> bool,
}

fn number_of(message: &str) -> usize {
    ["one", "two", "three"].iter().position(|line| *line == message).map_or(0, |place| place + 1)
}

impl Peer {
    fn start(target: &str, is_message: fn(&Request) -> bool, answer: fn(&Request) -> Reply) -> Peer {
        let (sender, arrived) = mpsc::channel();
        let (sender, silent_at) = (Mutex::new(sender), Arc::new(AtomicUsize::new(0)));
        let (silent, messages) = (silent_at.clone(), AtomicUsize::new(0));
        let server = Server::start(move |request| {
            if is_message(request) && messages.fetch_add(1, Ordering::SeqCst) + 1 == silent.load(Ordering::SeqCst) {
                let _ = sender.lock().unwrap().send(());
                return Reply::Silence;
            }
            answer(request)
        });
        let folder = tempfile::tempdir().unwrap();
        let job = format!(
            "greetings: []\nevaluator: {{model: scripted}}\nscorer: {{model: scripted}}\nfacts: []\n\
             target: {{user: u, chatbot: helper, {}}}\n\
             cases: [{{id: a, script: [one, two, three], tasks: [{{task: t, acceptanceCriteria: reply 3}}]}}]\n",
            target.replace("ADDRESS", &server.address)
        );
        std::fs::write(folder.path().join("job.yml"), job).unwrap();
        Peer { folder, server, arrived, silent_at, is_message }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = eval_job(self.folder.path());
        command.args(line.split_whitespace()).stdin(Stdio::null());
        command
    }

    fn killed_at(&self, message: usize) {
        self.silent_at.store(message, Ordering::SeqCst);
        let mut run = self.command("run job.yml --no-progress");
        let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.arrived.recv().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        self.silent_at.store(0, Ordering::SeqCst);
    }

    /// What is printed by the run that goes on, and ends so.
    fn resumed(&self, status: i32) -> String {
        let output = self.command("run --resume --no-progress").output().unwrap();
        let printed = words(&output);
        assert_eq!(output.status.code(), Some(status), "{printed}");
        printed
    }

    fn messages(&self) -> Vec<Request> {
        self.server.requests().into_iter().filter(self.is_message).collect()
    }

    fn record(&self) -> Value {
        let output = self.command("show --json").output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Kills a run at each of its messages in turn: it goes on with the same request to the byte, and holds nothing twice.
    fn goes_on_at_each_message(&self, which: &str, status: i32) {
        for at in 1..=3 {
            let before = self.messages().len();
            self.killed_at(before + at);
            let printed = self.resumed(status);
            assert!(printed.contains("1 to be run; 1 of them goes on where it was"), "{which} {at}: {printed}");
            let asked = self.messages().split_off(before);
            assert_eq!(asked.len(), 4, "{which} {at}: only the message on its way is sent again");
            let [cut_off, again] = [&asked[at - 1], &asked[at]];
            let thread = |request: &Request| request.header("x-ibm-thread-id").map(str::to_owned);
            assert_eq!((cut_off.json(), thread(cut_off)), (again.json(), thread(again)), "{which} {at}");
            let trial = &self.record()["trials"][0];
            let turns = trial["evidence"]["transcript"].as_array().unwrap();
            let said: Vec<&str> = turns.iter().map(|turn| turn["agent"].as_str().unwrap()).collect();
            assert_eq!(said, ["reply 1", "reply 2", "reply 3"], "{which} {at}");
            assert!(trial["resumePoints"].is_null() && trial["usedMs"].is_null(), "a record has neither");
        }
    }
}

fn is_rpc(request: &Request) -> bool {
    request.path == "/rpc"
}

/// The second message becomes a task that waits for the third.
fn a2a(request: &Request) -> Reply {
    if !is_rpc(request) {
        let url = format!("http://{}/rpc", request.header("host").unwrap());
        let interface = json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
        return Reply::Json(200, json!({"supportedInterfaces": [interface], "capabilities": {"streaming": false}}));
    }
    let message = &request.json()["params"]["message"];
    let number = number_of(message["parts"][0]["text"].as_str().unwrap());
    let expected = match number {
        1 => [Value::Null, Value::Null],
        2 => [json!("c-7"), Value::Null],
        _ => [json!("c-7"), json!("t-2")],
    };
    if [message["contextId"].clone(), message["taskId"].clone()] != expected {
        return Reply::Json(400, json!({}));
    }
    let parts = json!([{"text": format!("reply {number}")}]);
    let result = match number {
        2 => json!({"task": {"id": "t-2", "contextId": "c-7",
                             "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": {"parts": parts}}}}),
        _ => json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "contextId": "c-7", "parts": parts}}),
    };
    Reply::Json(200, json!({"jsonrpc": "2.0", "id": "1", "result": result}))
}

#[test]
fn a2a_goes_on_by_its_context_and_the_task_that_waits() {
    Peer::start("a2a: {baseUrl: 'ADDRESS'}", is_rpc, a2a).goes_on_at_each_message("a2a", KEPT);
}

fn is_run(request: &Request) -> bool {
    request.path.contains("/runs") || request.path.ends_with("/chat/completions")
}

/// Both APIs of watsonx; each reply has a tool's call and result before it.
fn watsonx(request: &Request) -> Reply {
    let body = request.json();
    if request.path == "/v1/orchestrate/agents" {
        return Reply::Json(200, json!([{"id": AGENT, "name": "helper"}]));
    }
    let steps = json!([
        {"type": "tool_calls", "tool_calls": [{"id": "c1", "name": "note", "args": {}}]},
        {"type": "tool_response", "name": "note", "content": "{}", "tool_call_id": "c1"},
    ]);
    let content = |text: &str| json!([{"response_type": "text", "text": text}]);
    if request.path.contains("/runs") {
        let number = number_of(body["message"]["content"].as_str().unwrap());
        if body["thread_id"].as_str() != (number > 1).then_some(THREAD) {
            return Reply::Json(400, json!({}));
        }
        let content = content(&format!("reply {number}"));
        let lines = [
            ("run.started", json!({"run_id": "r"})),
            ("message.created", json!({"message": {"role": "assistant", "content": content}})),
            ("run.completed", json!({})),
            ("done", json!({})),
        ];
        let line = |(name, mut data): (&str, Value)| {
            data["thread_id"] = THREAD.into();
            format!("{}\n", json!({"id": "e", "event": name, "data": data}))
        };
        let lines: String = lines.into_iter().map(line).collect();
        return Reply::Body(200, "application/x-ndjson", lines.into_bytes());
    }
    let number = number_of(body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap());
    let text = format!("reply {number}");
    let thread = body["thread_id"].as_str().unwrap_or(THREAD);
    let frame = json!({
        "object": "thread.message.completed", "thread_id": thread, "run_id": "r",
        "data": {"message": {"role": "assistant", "content": content(&text), "step_details": steps}},
        "choices": [{"message": {"role": "assistant", "content": text}}],
    });
    Reply::Body(200, "text/event-stream", format!("data: {frame}\n\n").into_bytes())
}

#[test]
fn watsonx_goes_on_by_its_thread_or_the_messages_of_the_journal() {
    for (api, status) in [("api: v1", KEPT), ("api: v2", 0), ("api: v2, threads: server", KEPT)] {
        let target = format!("watsonx: {{baseUrl: 'ADDRESS', {api}}}");
        Peer::start(&target, is_run, watsonx).goes_on_at_each_message(api, status);
    }
}

fn is_response(request: &Request) -> bool {
    request.path == "/v1/responses"
}

fn responses(request: &Request) -> Reply {
    let body = request.json();
    let number = number_of(body["input"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap());
    if body["previous_response_id"].as_str() != (number > 1).then(|| format!("resp_{}", number - 1)).as_deref() {
        return Reply::Json(400, json!({}));
    }
    let content = json!([{"type": "output_text", "text": format!("reply {number}"), "annotations": []}]);
    let output =
        json!([{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}]);
    Reply::Json(
        200,
        json!({"id": format!("resp_{number}"), "object": "response", "status": "completed", "output": output}),
    )
}

#[test]
fn responses_go_on_by_the_last_of_them() {
    let target = "responses: {baseUrl: 'ADDRESS/v1', streaming: false}";
    Peer::start(target, is_response, responses).goes_on_at_each_message("responses", 0);
}

#[test]
fn the_time_for_which_a_run_was_stopped_is_not_its_duration() {
    let peer = Peer::start("a2a: {baseUrl: 'ADDRESS'}", is_rpc, a2a);
    peer.killed_at(3);
    peer.resumed(KEPT);
    let record = peer.record();
    let at = |value: &Value| value.as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    let [started, resumed, finished] = [&record["startedAt"], &record["resumedAt"][0], &record["finishedAt"]].map(at);
    let idle = record["idleMs"].as_i64().unwrap();
    assert!(0 < idle && idle <= (resumed - started).num_milliseconds(), "{record:#}");
    let continued = &record["trials"][0]["continued"][0];
    let [stopped, went_on] = [&continued["stoppedAt"], &continued["at"]].map(at);
    assert_eq!((resumed - stopped).num_milliseconds(), idle);
    assert!(started <= stopped && stopped < resumed && resumed <= went_on && went_on <= finished, "{record:#}");
    let csv = peer.command("export --format csv").output().unwrap();
    let csv = String::from_utf8(csv.stdout).unwrap();
    let mut rows = csv.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let (names, row) = (rows.next().unwrap(), rows.next().unwrap());
    let seconds: f64 = row[names.iter().position(|name| name == "seconds").unwrap()].parse().unwrap();
    let held = (finished - started - (went_on - stopped)).num_milliseconds() as f64 / 1000.0;
    assert!(seconds <= held + 0.002, "{seconds} of {held}: {csv}");
}
