//! Keys and passwords: whatever an agent does with them, none is found in anything that is written or shown.

use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;

use super::eval_job;
use crate::servers::http::{Reply, Server};

const CONVERSATION: &str = "
evaluator: {script: [Hello, What is my key?]}
scorer: {model: scripted}
tasks: [{task: t, acceptanceCriteria: the agent says a word}]
facts: []
conditions: [withoutFacts, withFacts]
";

/// All that a command wrote: both streams, and every file of its folder but the job.
fn everything(command: &mut Command, folder: &Path) -> (String, Option<i32>) {
    let output = command.output().unwrap();
    let mut all = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "json" || ending == "ndjson") {
            all.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
    (all, output.status.code())
}

/// Every spelling of a secret that an agent could find.
fn spellings(secret: &str) -> Vec<String> {
    let mut all = vec![secret.to_owned()];
    for separator in ["", ":", " ", "-"] {
        let bytes: Vec<String> = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        all.extend([bytes.join(separator), bytes.join(separator).to_uppercase()]);
    }
    for before in ["", "u:", "us:", "use:"] {
        all.push(STANDARD.encode(format!("{before}{secret}")));
        all.push(URL_SAFE_NO_PAD.encode(format!("{before}{secret}.")));
    }
    all.push(secret.bytes().map(|byte| format!("%{byte:02X}")).collect());
    all.push(secret.chars().map(|c| format!("&#{};", u32::from(c))).collect());
    all.push(secret.chars().map(|c| format!("&#x{:x};", u32::from(c))).collect());
    all.push(secret.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect());
    all
}

#[track_caller]
fn nothing_of(secrets: &[&str], all: &str) {
    for secret in secrets {
        for spelling in spellings(secret) {
            assert!(!all.contains(&spelling), "{secret} as {spelling} in\n{all}");
        }
    }
}

/// An agent that repeats all that it is sent, in every spelling of the headers.
fn echo() -> Server {
    Server::start(|request| {
        let headers: Vec<String> = request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let values = request.headers.iter().flat_map(|(_, value)| {
            let bare = value.rsplit(' ').next().unwrap_or_default().to_owned();
            [value.clone(), bare]
        });
        let spelled: Vec<String> = values.flat_map(|value| spellings(&value)).collect();
        Reply::Json(
            200,
            json!({
                "talk": {"id": format!("s-{}", request.header("x-canary").unwrap_or_default())},
                "word": format!("a word: {} {}", headers.join("\n"), spelled.join(" ")),
                "did": [{"type": "function_call", "name": "f", "arguments": {"headers": headers, "path": request.path}}],
            }),
        )
    })
}

#[test]
fn an_agent_that_repeats_its_headers_leaves_no_key_anywhere() {
    let (server, folder) = (echo(), tempfile::tempdir().unwrap());
    let secrets = ["sk-canary-header-1", "canary-\"2/x+ö y", "canary-query-3", "canary-basic-4"];
    let job = format!(
        "target:\n  user: u\n  chatbot: c\n  http:\n    open: {{url: '{0}/open?api_key=canary-query-3', headers: {{X-Canary: sk-canary-header-1}}, \
         sessionId: $.talk.id}}\n    say:\n      url: '{0}/say?sig=canary-query-3'\n      headers:\n        Authorization: Bearer \
         sk-canary-header-1\n        X-Other: 'canary-\"2/x+o y'\n        Proxy-Authorization: Basic {1}\n      body: {{say: '{{{{ message \
         }}}}'}}\n      reply: $.word\n      events: $.did\n{CONVERSATION}",
        server.address,
        STANDARD.encode("me:canary-basic-4"),
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let secrets = [secrets[0], "canary-\"2/x+o y", secrets[2], secrets[3]];
    let run = ["run", "job.yml", "-v", "-o", "out.json", "-o", "tokens.json"];
    let (all, status) = everything(eval_job(folder.path()).args(run), folder.path());
    assert!(status == Some(0) || status == Some(100), "{status:?} {all}");
    assert!(all.contains("a word: ") && all.contains("***"), "{all}");
    nothing_of(&secrets, &all);
    for command in
        [vec!["show", "-v", "-o", "again.json"], vec!["list"], vec!["probe", "job.yml"], vec!["validate", "job.yml"]]
    {
        nothing_of(&secrets, &everything(eval_job(folder.path()).args(&command), folder.path()).0);
    }
}

#[test]
fn every_value_of_a_header_is_a_secret_but_of_those_that_are_public() {
    let (server, folder) = (echo(), tempfile::tempdir().unwrap());
    let headers = "X-Tenant: acme-secret, X-Customer-Number: '190283', X-Callback: 'https://hooks/T0/canary', X-Plan: gold, \
                   X-Model: gpt-4.1-mini, anthropic-version: '2023-06-01', User-Agent: my-evals/1.2, X-Debug: 'true'";
    let secrets = ["acme-secret", "190283", "hooks/T0/canary"];
    let http = format!(
        "http: {{say: {{url: '{}', headers: {{{headers}}}, body: {{m: '{{{{message}}}}'}}, reply: $.word, events: $.did}}}}",
        server.address
    );
    let a2a = format!("a2a: {{baseUrl: '{}', headers: {{{headers}}}}}", server.address);
    let responses = format!("responses: {{baseUrl: '{}', headers: {{{headers}}}}}", server.address);
    for target in [http, a2a, responses] {
        std::fs::write(
            folder.path().join("job.yml"),
            format!("target:\n  user: u\n  chatbot: c\n  {target}\n{CONVERSATION}"),
        )
        .unwrap();
        for command in [
            vec!["run", "job.yml", "-v", "-o", "out.json"],
            vec!["show", "-v"],
            vec!["probe", "job.yml"],
            vec!["validate", "job.yml", "--live"],
        ] {
            let (all, _) = everything(eval_job(folder.path()).args(&command), folder.path());
            nothing_of(&secrets, &all);
            if target.starts_with("http") && command[0] == "run" {
                for public in ["gold", "gpt-4.1-mini", "2023-06-01", "my-evals/1.2", "true"] {
                    assert!(all.contains(&format!(": {public}")), "{public} in\n{all}");
                }
            }
        }
    }
}

#[test]
fn a_key_that_comes_in_pieces_is_in_no_event() {
    let (folder, key) = (tempfile::tempdir().unwrap(), "sk-canary-pieces-1");
    let server = Server::start(move |_| {
        let mut stream = String::new();
        let text = format!("a word, {key}!");
        for piece in text.as_bytes().chunks(3) {
            let piece = String::from_utf8_lossy(piece);
            stream.push_str(&format!(
                "data: {}\n\n",
                json!({"type": "delta", "delta": {"text": piece}, "again": [piece]})
            ));
        }
        Reply::Body(200, "text/event-stream", stream.into_bytes())
    });
    let job = format!(
        "target:\n  user: u\n  chatbot: c\n  http:\n    say: {{url: '{}', headers: {{X-Key: {key}}}, body: {{m: '{{{{message}}}}'}}, stream: sse, \
         reply: $.delta.text, events: $}}\n{CONVERSATION}",
        server.address
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    for command in [vec!["run", "job.yml", "-v", "-o", "out.json"], vec!["probe", "job.yml"]] {
        let (all, _) = everything(eval_job(folder.path()).args(&command), folder.path());
        assert!(all.contains("a word, ***!"), "{all}");
        // A piece of hex digits alone may begin a checksum.
        for piece in ["can", "ary", "-pi", "s-1"] {
            assert!(!all.contains(&format!("\"{piece}")), "{piece} in\n{all}");
        }
    }
}

#[test]
fn a_started_agent_gets_no_key_that_it_was_not_given_and_what_it_prints_is_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "target:\n  user: u\n  chatbot: c\n  command:\n    command: sh\n    args: [-c, 'env >&2; echo \"agent: a word, $GIVEN and \
         $MODEL_KEY\"; echo :DONE; while read x; do env | sort | tr \"\\n\" \" \" | sed \"s/^/agent: /\"; echo; echo :DONE; \
         done']\n    env: {{GIVEN: plain-value, DB_PASSWORD: canary-own-5}}\n    inheritEnv: [MODEL_KEY]\n{CONVERSATION}"
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    std::fs::write(folder.path().join(".env"), "FILE_TOKEN=canary-file-6\nMODEL_KEY=canary-model-7\n").unwrap();
    let mut command = eval_job(folder.path());
    command.args(["run", "job.yml", "-v"]).env("JUDGE_KEY", "canary-judge-8").env("HOME", "/home/somebody");
    command.env("LC_ALL", "C").env("HTTPS_PROXY", "http://me:canary-proxy-9@h:1").env("OTHER", "not-passed-on");
    let (all, _) = everything(&mut command, folder.path());
    for passed_on in ["GIVEN=plain-value", "HOME=/home/somebody", "LC_ALL=C", "MODEL_KEY=***", "DB_PASSWORD=***"] {
        assert!(all.contains(passed_on), "{passed_on} in\n{all}");
    }
    for kept in ["JUDGE_KEY", "FILE_TOKEN", "HTTPS_PROXY", "OTHER", "not-passed-on"] {
        assert!(!all.contains(kept), "{kept} in\n{all}");
    }
    nothing_of(&["canary-own-5", "canary-file-6", "canary-model-7", "canary-judge-8", "canary-proxy-9"], &all);
}

#[test]
fn a_key_that_the_agent_repeats_reaches_neither_the_judge_nor_the_persona() {
    let (model, base) = crate::servers::model::start("good");
    let (server, folder) = (echo(), tempfile::tempdir().unwrap());
    let job = format!(
        "target:\n  user: u\n  chatbot: c\n  http:\n    say: {{url: '{0}/say', headers: {{Authorization: Bearer sk-canary-agent-1}}, \
         body: {{say: '{{{{ message }}}}'}}, reply: $.word}}\nevaluator: {{model: openai/x}}\nscorer: {{model: openai/x}}\n\
         tasks: [{{task: say it, acceptanceCriteria: a word}}]\nfacts: []\nconditions: [withoutFacts, withFacts]\n",
        server.address
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let mut command = eval_job(folder.path());
    command.args(["run", "job.yml", "-v"]).env("OPENAI_BASE_URL", base).env("OPENAI_API_KEY", "sk-canary-model-2");
    let (all, status) = everything(&mut command, folder.path());
    assert!(status == Some(0) || status == Some(100), "{status:?} {all}");
    nothing_of(&["sk-canary-agent-1", "sk-canary-model-2"], &all);
    let prompts: String = model.requests().iter().map(|request| request.body.clone()).collect();
    assert!(prompts.contains("<transcript>") && prompts.contains("***"), "{prompts}");
    nothing_of(&["sk-canary-agent-1", "sk-canary-model-2"], &prompts);
}

#[test]
fn a_token_that_was_exchanged_for_a_key_is_a_secret_too() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|request| {
        if request.path.contains("identity/token") {
            return Reply::Json(200, json!({"access_token": "canary.iam/token-3", "expires_in": 3600}));
        }
        if request.path == "/v1/orchestrate/agents" {
            return Reply::Json(200, json!([{"id": "7c9e6679-7425-40de-944b-e07fc1f90ae7", "name": "helper"}]));
        }
        let authorization = request.header("authorization").unwrap_or_default();
        let spelled: Vec<String> = spellings(authorization.trim_start_matches("Bearer "));
        let text = format!("You sent {authorization}: {}", spelled.join(" "));
        let frame = json!({"object": "thread.message.completed", "thread_id": "t", "choices": [{"message": {"role": "assistant", "content": text}}]});
        Reply::Body(200, "text/event-stream", format!("data: {frame}\n\n").into_bytes())
    });
    let job = format!(
        "target: {{user: u, chatbot: helper, watsonx: {{baseUrl: '{0}', apiKey: canary-key-4, api: v2, auth: iam, iamUrl: '{0}'}}}}\n\
         {CONVERSATION}",
        server.address
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    for command in [vec!["run", "job.yml", "-v", "-o", "out.json"], vec!["probe", "job.yml"]] {
        let (all, _) = everything(eval_job(folder.path()).args(&command), folder.path());
        assert!(all.contains("You sent Bearer ***"), "{all}");
        nothing_of(&["canary.iam/token-3", "canary-key-4"], &all);
    }
}

#[test]
fn a_job_with_problems_shows_no_secret_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let rest = "tasks: [{task: t, acceptanceCriteria: a}]\nfacts: []\nconditions: [withoutFacts, withFacts]\n";
    let target = "target:\n  user: u\n  chatbot: c\n";
    let more = "  embabel:\n";
    for (number, lines) in [
        format!("{more}    apiKey: [sk-canary-1]"),
        format!("{more}    apiKey: {{sk-canary-1: 2}}"),
        format!("{more}    apiKey: {{x: sk-canary-1}}"),
        format!("{more}    apikey: sk-canary-1"),
        format!("{more}    api_key: sk-canary-1"),
        format!("{more}    kay: sk-canary-1"),
        format!("{more}    apiKey: |\n      sk-canary-1\n    wrong: 1"),
        format!("{more}    apiKey: >-\n      sk-canary-1\n      sk-canary-1\n   wrong: 1"),
        format!("{more}    apiKey: \"sk-canary-1\n"),
        format!("{more}    apiKey 'sk-canary-1'"),
        format!("{more}    apiKey: sk-canary-1: x"),
        format!("{more}    apiKey: !sk-canary-1"),
        format!("{more}    apiKey: *sk-canary-1"),
        format!("{more}    apiKey: @sk-canary-1"),
        format!("{more}    apiKey: %sk-canary-1"),
        format!("{more}\tapiKey: sk-canary-1"),
        format!("{more}    apiKey: sk-canary-1\n\tpath: x"),
        format!("{more}    apiKey: sk-canary-1\n    apiKey: sk-canary-1"),
        format!("{more}    wrong: &a sk-canary-1\n    apiKey: *a"),
        "  embabel: {apiKey: sk-canary-1, wrong: 1}".to_owned(),
        "  embabel: {baseUrl: 'http://me:sk-canary-1@h', wrong: 1}".to_owned(),
        "  embabel: {baseUrl: 'ftp://me:sk-canary-1@h'}".to_owned(),
        "  embabel: {baseUrl: 'http://h/?token=sk-canary-1'}".to_owned(),
        "  a2a: {headers: {Authorization: Bearer sk-canary-1}, wrong: 1}".to_owned(),
        "  a2a: {headers: [sk-canary-1]}".to_owned(),
        "  a2a: {headers: sk-canary-1}".to_owned(),
        "  a2a: {hedders: {X-Other: sk-canary-1}}".to_owned(),
        "  http: {say: {url: 'http://h', headers: {A: '{{ sk-canary-1'}, body: {token: sk-canary-1}, rply: 1}}"
            .to_owned(),
        "  http: {say: {url: 'http://h/{{', headers: {X-A: {b: sk-canary-1}}}}".to_owned(),
        "  start: {command: x, env: {A: [sk-canary-1]}}".to_owned(),
        "  start: {command: x, env: sk-canary-1}".to_owned(),
        "  start: {command: x, args: [--key, sk-canary-1], wrong: 1}".to_owned(),
        "  start: {command: x, args: {--key: sk-canary-1}}".to_owned(),
        "graph: {neo4j: {password: [sk-canary-1], uri: 'bolt://a:sk-canary-1@h'}}".to_owned(),
        "graph: {neo4j: {pasword: sk-canary-1}}".to_owned(),
        "scorer: {model: {name: openai/x, apiKeyEnv: sk-canary-1, wrong: 1}}".to_owned(),
        "scorer: {model: {name: openai/x, apiKey: sk-canary-1}}".to_owned(),
        "  embabel: {sk-canary-1: apiKey}".to_owned(),
        "  start: {command: 'DB_PASSWORD=sk-canary-1 sh -c env', wrong: 1}".to_owned(),
        "  embabel: {apiKye: sk-canary-1}".to_owned(),
        "  embabel: {apiKey: 'x\\q', auth: {bearer: sk-canary-1}}".to_owned(),
        "  embabel: {apiKey: \"\\qsk-canary-1\"}".to_owned(),
        "  embabel: {apiKey: !!binary sk-canary-1}".to_owned(),
        "? [sk-canary-1]\n: x".to_owned(),
        "sk-canary-1".to_owned(),
        "apiKey: sk-canary-1\nname: [x".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        std::fs::write(folder.path().join("job.yml"), format!("{target}{lines}\n{rest}")).unwrap();
        for command in ["validate", "run"] {
            let (all, status) = everything(eval_job(folder.path()).args([command, "job.yml"]), folder.path());
            assert!(!all.contains("canary"), "{number}: {lines}\n{all}");
            assert!(command == "run" || status == Some(2), "{number}: {status:?} {lines}\n{all}");
        }
    }
}

#[test]
fn an_agent_that_does_not_start_shows_no_secret_of_its_environment() {
    let folder = tempfile::tempdir().unwrap();
    let job = format!(
        "target:\n  user: u\n  chatbot: c\n  start:\n    command: sh\n    args: [-c, 'env; echo $0 >&2; exit 3', --api-key, canary-arg-1]\n    \
         env: {{DB_PASSWORD: canary-env-2, SETTING: sk-canary-env-3, LEVEL: plain}}\n{CONVERSATION}"
    );
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    for command in
        [vec!["run", "job.yml", "-v", "-o", "out.json"], vec!["probe", "job.yml"], vec!["validate", "job.yml"]]
    {
        let (all, _) = everything(eval_job(folder.path()).args(&command), folder.path());
        assert!(command[0] == "validate" || all.contains("LEVEL=plain"), "{all}");
        nothing_of(&["canary-arg-1", "canary-env-2", "sk-canary-env-3"], &all);
    }
}

#[test]
fn what_is_typed_or_set_wrong_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.env"), "A=1\nsk-canary-1\n").unwrap();
    for args in [vec!["run", "--env-file", "bad.env"], vec!["run", "--repeat", "sk-canary-1"], vec!["show", "--help"]] {
        let mut command = eval_job(folder.path());
        command.args(&args).env("EVAL_JOB_RUNS_DIR", "http://me:sk-canary-1@h").env("X_KEY", "sk-canary-1");
        let (all, _) = everything(&mut command, folder.path());
        assert!(!all.contains("canary"), "{args:?}\n{all}");
    }
}
