//! Certificates, good and bad, as the program meets them: at the agent, at the model, at the graph.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use eval_job::record::RunRecord;
use serde_json::json;

use crate::program::eval_job;
use crate::servers::agent;
use crate::servers::http::{Reply, Server};
use crate::servers::tls::certificate;

/// A bare model over TLS, as the agent or as our own.
fn server() -> Server {
    Server::start_tls(Duration::ZERO, |_| {
        let message = json!({"role": "assistant", "content": "Hello"});
        Reply::Json(200, json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
    })
}

fn job(agent: &str, more: &str) -> String {
    format!(
        "target: {{user: u, chatbot: c, openai: {{baseUrl: '{agent}/v1'}}}}\nfacts: []\nconditions: [withoutFacts, withFacts]\nmaxTurns: 4\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n{more}"
    )
}

const OWN_LINES: &str = "evaluator: {script: [Thanks]}\nscorer: {model: scripted}\n";

fn run(folder: &Path, job: &str, environment: impl Fn(&mut Command)) -> (Output, String) {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let mut command = eval_job(folder);
    command.args(["run", "job.yml", "--no-progress", "--condition", "without-facts"]);
    environment(&mut command);
    let output = command.output().unwrap();
    let words = [output.stdout.as_slice(), &output.stderr].concat();
    // The page is as wide as it is: what is looked for may be broken into lines.
    let words = String::from_utf8_lossy(&words).split_whitespace().collect::<Vec<_>>().join(" ");
    (output, words)
}

#[test]
fn a_certificate_that_is_trusted_works_and_one_that_is_not_is_named_and_not_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let agent = server();
    let (output, words) = run(folder.path(), &job(&agent.address, OWN_LINES), |command| {
        command.env("SSL_CERT_FILE", certificate());
    });
    assert_eq!(output.status.code(), Some(0), "{words}");
    // One to see whether it is there, and two messages.
    assert_eq!(agent.requests().len(), 3);

    let agent = server();
    let (output, words) = run(folder.path(), &job(&agent.address, OWN_LINES), |_| {});
    assert_eq!(output.status.code(), Some(102), "{words}");
    for part in ["certificate is from nobody whom this machine trusts", "UnknownIssuer", "SSL_CERT_FILE"] {
        assert!(words.contains(part), "{words}");
    }
    assert_eq!((agent.connections(), agent.requests().len()), (1, 0), "{words}");
}

#[test]
fn connecting_is_kept_apart_from_the_agents_time() {
    let say = "say: {url: ADDRESS/talks/7/words, body: {say: '{{ message }}'}, reply: $.word, stream: ndjson}";
    for transport in ["openai: {baseUrl: ADDRESS/v1}", &format!("http: {{{say}}}")] {
        let (_agent, address) = agent::start("slow-handshake");
        let job = format!(
            "target: {{user: u, chatbot: c, {}}}\nfacts: []\nconditions: [withoutFacts, withFacts]\n{OWN_LINES}\
             tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n",
            transport.replace("ADDRESS", &address)
        );
        let folder = tempfile::tempdir().unwrap();
        let (output, words) = run(folder.path(), &job, |command| {
            command.env("SSL_CERT_FILE", certificate()).args(["-o", "record.json"]);
        });
        assert_eq!(output.status.code(), Some(0), "{words}");
        let record: RunRecord =
            serde_json::from_slice(&std::fs::read(folder.path().join("record.json")).unwrap()).unwrap();
        let turn = &record.trials[0].evidence.as_ref().unwrap().transcript.turns[0];
        let beside = turn.spent_ms.unwrap() - turn.latency_ms.unwrap();
        assert!(beside >= 200.0, "{transport}: {turn:?}");
    }
}

#[test]
fn another_hosts_certificate_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let agent = server();
    let other = agent.address.replace("127.0.0.1", "localhost");
    let (output, words) = run(folder.path(), &job(&other, OWN_LINES), |command| {
        command.env("SSL_CERT_FILE", certificate());
    });
    assert_eq!(output.status.code(), Some(102), "{words}");
    assert!(words.contains("the server's certificate is another host's"), "{words}");
    assert_eq!(agent.requests().len(), 0);
}

#[test]
fn a_graphs_certificate_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let graph = server();
    let uri = graph.address.replace("https:", "bolt+s:");
    let job = format!(
        "target: {{user: u, chatbot: c, demo: {{}}}}\nfacts: []\nconditions: [withoutFacts, withFacts]\ngraph: {{neo4j: {{uri: '{uri}', password: s3cret}}}}\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n\
         assertions: [{{cypher: 'RETURN 1 AS n', expected: 1}}]\n{OWN_LINES}"
    );
    let (output, words) = run(folder.path(), &job, |_| {});
    assert_eq!(output.status.code(), Some(102), "{words}");
    for part in ["its certificate is from nobody whom this machine trusts", "SSL_CERT_FILE", "+ssc takes any"] {
        assert!(words.contains(part), "{words}");
    }
    assert!(!words.contains("s3cret"), "{words}");
}

#[test]
fn a_models_certificate_is_named_and_not_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let model = server();
    let plain = Server::start(|_| {
        let message = json!({"role": "assistant", "content": "Hello"});
        Reply::Json(200, json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
    });
    let (output, words) = run(folder.path(), &job(&plain.address, ""), |command| {
        command.env("OPENAI_BASE_URL", format!("{}/v1", model.address)).env("OPENAI_API_KEY", "sk-s3cret");
    });
    assert_eq!(output.status.code(), Some(102), "{words}");
    assert!(words.contains("certificate is from nobody whom this machine trusts"), "{words}");
    assert_eq!((model.connections(), model.requests().len()), (1, 0), "{words}");
}
