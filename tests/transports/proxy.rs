//! The proxy of the environment: who goes through it, and who does not.

use std::process::Command;

use serde_json::json;

use crate::program::eval_job;
use crate::servers::http::{Reply, Server};

/// A proxy that answers by itself: no word leaves this machine.
fn proxy() -> Server {
    Server::start(|_| {
        let message = json!({"role": "assistant", "content": "Hello"});
        Reply::Json(200, json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
    })
}

/// Says hello to an agent there; what was printed.
fn probe(agent: &str, environment: impl Fn(&mut Command)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "target: {{user: u, chatbot: c, openai: {{baseUrl: '{agent}/v1'}}}}\nfacts: []\nconditions: [withoutFacts, withFacts]\nscorer: {{model: scripted}}\n\
         evaluator: {{script: [Thanks]}}\ntasks: [{{task: Ask, acceptanceCriteria: Anything}}]\n"
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let mut command = eval_job(folder.path());
    command.args(["probe", "job.yml"]);
    environment(&mut command);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn a_host_elsewhere_is_asked_through_the_proxy() {
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let proxy = proxy();
        let page = probe("http://agent.invalid:8080", |command| {
            command.env(variable, &proxy.address);
        });
        assert!(page.contains("reply           Hello"), "{variable}: {page}");
        assert_eq!(proxy.requests()[0].path, "http://agent.invalid:8080/v1/chat/completions", "{variable}");
    }
}

#[test]
fn tls_goes_through_a_tunnel_of_the_proxy_and_a_proxy_that_refuses_is_named() {
    let proxy = Server::start(|_| Reply::Json(403, json!({"error": "not for you"})));
    let page = probe("https://agent.invalid", |command| {
        command.env("HTTPS_PROXY", &proxy.address);
    });
    assert!(page.contains("reachable       no"), "{page}");
    assert!(page.contains("tunnel"), "{page}");
    let request = &proxy.requests()[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("CONNECT", "agent.invalid:443"));
}

#[test]
fn this_machine_and_whom_no_proxy_names_are_asked_directly() {
    let (proxy, agent) = (proxy(), proxy());
    let page = probe(&agent.address, |command| {
        command.env("HTTP_PROXY", &proxy.address).env("ALL_PROXY", &proxy.address);
    });
    assert!(page.contains("reply           Hello"), "{page}");
    assert_eq!((proxy.connections(), agent.requests().len()), (0, 1));

    for names in ["agent.invalid", ".invalid", "*"] {
        let page = probe("http://agent.invalid:8080", |command| {
            command.env("HTTP_PROXY", &proxy.address).env("NO_PROXY", names);
        });
        assert!(page.contains("the host name was not found"), "{names}: {page}");
        assert_eq!(proxy.connections(), 0, "{names}");
    }
}
