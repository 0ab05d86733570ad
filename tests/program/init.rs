//! `eval-job init`: for each way of reaching an agent, a job that is valid and that runs.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use super::eval_job;
use crate::house::root;
use crate::servers::http::{Reply, Request, Server};
use crate::servers::websocket::{Do, Peer};
use crate::servers::{agent, model};

const TARGETS: [&str; 11] =
    ["embabel", "openai", "responses", "http", "websocket", "command", "adk", "a2a", "trpc", "watsonx", "start"];

fn init(folder: &Path, more: &[&str]) -> Output {
    eval_job(folder).arg("init").args(more).output().unwrap()
}

fn job(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("data/eval/agent.yml")).unwrap()
}

#[test]
fn a_target_that_the_environment_names_for_runs_is_none_of_init() {
    let folder = tempfile::tempdir().unwrap();
    let run_with = "adk=http://localhost:8000";
    let output = eval_job(folder.path()).arg("init").env("EVAL_JOB_TARGET", run_with).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(job(folder.path()).contains("embabel:"), "{}", job(folder.path()));
    let folder = tempfile::tempdir().unwrap();
    eval_job(folder.path()).arg("init").env("EVAL_JOB_INIT_TARGET", "http").output().unwrap();
    assert!(job(folder.path()).contains("  http:"), "{}", job(folder.path()));
}

#[test]
fn every_target_gets_a_valid_job_with_its_schema() {
    for target in TARGETS {
        let folder = tempfile::tempdir().unwrap();
        let output = init(folder.path(), &["--target", target]);
        assert_eq!(output.status.code(), Some(0), "{target}: {output:?}");
        let output = eval_job(folder.path()).arg("validate").env("OPENAI_API_KEY", "any").output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{target}: {output:?}");
        assert!(!shown.contains("warning"), "{target}: {shown}");
        assert!(job(folder.path()).starts_with("# yaml-language-server: $schema=job.schema.json\n"), "{target}");
        let schema = std::fs::read(folder.path().join("data/eval/job.schema.json")).unwrap();
        assert!(serde_json::from_slice::<serde_json::Value>(&schema).unwrap()["properties"]["target"].is_object());
        assert!(folder.path().join(".env.example").is_file());
        let workflow = std::fs::read_to_string(folder.path().join(".github/workflows/agent-eval.yml")).unwrap();
        let outputs = "-o result.html -o junit.xml -o result.json -o \"$GITHUB_STEP_SUMMARY\"";
        assert!(workflow.contains(outputs) && workflow.contains("result.*\\njunit.xml"), "{workflow}");
    }
    let help = String::from_utf8(eval_job(root()).args(["init", "--help"]).output().unwrap().stdout).unwrap();
    assert!(TARGETS.iter().all(|target| help.contains(target)), "{help}");
}

#[test]
fn the_job_runs_against_an_agent_and_models() {
    let (_agent, address) = agent::start("good");
    let (_model, base) = model::start("good");
    let program = r#"args: [-uc, "import sys\nfor line in sys.stdin: print('I book trains.\\n:DONE')"]"#;
    for (target, from, to) in [
        ("embabel", "http://localhost:8081", address.as_str()),
        ("openai", "http://localhost:11434/v1", base.as_str()),
        ("command", "args: [my_agent.py]", program),
    ] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(init(folder.path(), &["--target", target]).status.code(), Some(0));
        let own = job(folder.path());
        let changed = own.replace(from, to);
        assert_ne!(own, changed, "{target}");
        std::fs::write(folder.path().join("data/eval/agent.yml"), changed).unwrap();
        let output = eval_job(folder.path())
            .arg("run")
            .envs([("OPENAI_API_KEY", "sk-test"), ("OPENAI_BASE_URL", &base)])
            .output()
            .unwrap();
        assert!(matches!(output.status.code(), Some(0 | 100)), "{target}: {output:?}");
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains("Score"), "{target}: {shown}");
    }
}

/// One server for every protocol over HTTP, by its path.
fn any_agent(request: &Request) -> Reply {
    const SAYS: &str = "I know one service at least, and your home town: Lyon.";
    let events = |events: &[Value]| {
        let data: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        Reply::Body(200, "text/event-stream", data.into_bytes())
    };
    let content = json!([{"response_type": "text", "text": SAYS}]);
    match request.path.split('?').next().unwrap_or_default() {
        "/.well-known/agent-card.json" => {
            let at = json!({"url": format!("http://{}/rpc", request.header("host").unwrap()), "protocolBinding": "JSONRPC",
                            "protocolVersion": "1.0"});
            Reply::Json(200, json!({"name": "n", "capabilities": {}, "supportedInterfaces": [at]}))
        }
        "/rpc" => {
            let parts = json!({"messageId": "m", "contextId": "c", "role": "ROLE_AGENT", "parts": [{"text": SAYS}]});
            Reply::Json(200, json!({"jsonrpc": "2.0", "id": request.json()["id"], "result": {"message": parts}}))
        }
        "/trpc-agent/v1/apps/my-agent/runs" => {
            let says = json!({"object": "chat.completion", "done": true,
                              "choices": [{"index": 0, "message": {"role": "assistant", "content": SAYS}}]});
            Reply::Json(200, json!({"status": "completed", "events": [says]}))
        }
        "/v1/orchestrate/agents" => Reply::Json(200, json!([{"id": "4a1c", "name": "my-agent-id"}])),
        "/v1/orchestrate/runs" => {
            let data = json!({"thread_id": "t", "message": {"role": "assistant", "content": content}});
            let line = json!({"event": "message.created", "data": data});
            Reply::Body(200, "application/json", format!("{line}\n").into_bytes())
        }
        "/v1/responses" => {
            let message =
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAYS}]});
            let response = json!({"id": "r", "object": "response", "status": "completed", "output": [message]});
            events(&[json!({"type": "response.completed", "response": response})])
        }
        "/run" | "/run_sse" => {
            let event = json!({"author": "my_agent", "content": {"role": "model", "parts": [{"text": SAYS}]}});
            if request.path == "/run" { Reply::Json(200, json!([event])) } else { events(&[event]) }
        }
        path if path.starts_with("/apps/") => Reply::Json(200, json!({"id": "s", "appName": "my_agent", "state": {}})),
        path if path.ends_with("/messages") => Reply::Json(200, json!({"text": SAYS})),
        "/sessions" => Reply::Json(200, json!({"id": "s"})),
        _ => Reply::Json(404, json!({"error": "not found"})),
    }
}

/// An agent of `docs/protocol.md` that eval-job starts.
const MY_AGENT: &str = r#"
import http.server, json, os
class Agent(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        self.rfile.read(int(self.headers["content-length"]))
        said = {"role": "assistant", "content": "I know one service at least, and your home town: Lyon."}
        reply = json.dumps({"sessionId": "s", "message": said, "events": []}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Agent).serve_forever()
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_job_of_every_other_target_says_hello_and_runs_too() {
    let server = Server::start(any_agent);
    let says = Do::Send(r#"{"text": "I know one service at least, and your home town: Lyon."}"#.to_owned());
    let socket = Peer::start(Vec::new(), vec![vec![says]]).await;
    for target in ["a2a", "trpc", "watsonx", "responses", "adk", "http", "websocket", "start"] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(init(folder.path(), &["--target", target]).status.code(), Some(0));
        let own = job(folder.path());
        let changed: Vec<String> = own
            .replace("ws://localhost:8080", &socket.url)
            .split("http://localhost:")
            .enumerate()
            .map(|(place, part)| match place {
                0 => part.to_owned(),
                _ => format!("{}{}", server.address, part.trim_start_matches(|c: char| c.is_ascii_digit())),
            })
            .collect();
        assert_ne!(changed.concat() == own, target != "start", "{target}");
        std::fs::write(folder.path().join("data/eval/agent.yml"), changed.concat()).unwrap();
        std::fs::write(folder.path().join("my_agent.py"), MY_AGENT).unwrap();
        let done = |arguments: &[&str]| {
            let mut command = eval_job(folder.path());
            command.args(arguments).env("OPENAI_API_KEY", "sk-test");
            let output = command.output().unwrap();
            (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), output.stderr)
        };
        let (status, told, _) = done(&["probe"]);
        assert_eq!(status, Some(0), "{target}: {told}");
        assert!(told.contains("I know one service"), "{target}: {told}");
        let (status, told, errors) = done(&["run", "--evaluator-model", "scripted", "--scorer-model", "scripted"]);
        assert_eq!(status, Some(0), "{target}: {told}{}", String::from_utf8_lossy(&errors));
        assert!(told.contains("passed: ") && told.contains("8 turns"), "{target}: {told}");
    }
}

#[test]
fn what_is_there_already_is_replaced_only_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".env.example"), "mine").unwrap();
    let output = init(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("there already: .env.example; nothing was written"));
    assert!(!folder.path().join("data").exists());
    let output = init(folder.path(), &["--force"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_ne!(std::fs::read_to_string(folder.path().join(".env.example")).unwrap(), "mine");

    // In another folder, and where none can be written.
    let other = folder.path().join("a/b");
    assert_eq!(init(folder.path(), &[other.to_str().unwrap()]).status.code(), Some(0));
    assert!(job(&other).contains("name: My agent"));
    let output = init(folder.path(), &["/dev/null/x"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
