//! The second signal ends the process at once, whatever its threads are busy with.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::eval_job;
use crate::servers::http::{Reply, Server};

/// How long the end may take on a machine that is busy; one second is promised.
const AT_ONCE: Duration = Duration::from_secs(3);

fn agent(words: usize, resources: usize) -> Server {
    Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        "/api/v1/chat/messages" => {
            let message = json!({"content": "word ".repeat(words), "role": "assistant"});
            Reply::Json(200, json!({"sessionId": "s", "message": message, "events": []}))
        }
        _ => {
            let resource = |n: usize| json!({"id": format!("r{n}"), "name": "n", "type": "t"});
            let resources: Vec<_> = (0..resources).map(resource).collect();
            Reply::Json(200, json!({"resources": resources, "entities": [], "functions": []}))
        }
    })
}

fn start(folder: &Path, server: &Server, more: &str, args: &[&str]) -> Child {
    start_with(folder, &format!("embabel: {{baseUrl: {}}}", server.address), more, args)
}

fn start_with(folder: &Path, target: &str, more: &str, args: &[&str]) -> Child {
    let job = format!(
        "evaluator: {{script: [one, two]}}\nscorer: {{model: scripted}}\nfacts: []\nconditions: [withoutFacts, withFacts]\nisolation: user\n\
         target: {{user: u, chatbot: c, {target}}}\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n{more}\n"
    );
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let mut command = eval_job(folder);
    command.args(["run", "job.yml"]).args(args).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until the journal of the only run holds this so often.
fn await_entries(folder: &Path, what: &str, times: usize) {
    let since = Instant::now();
    let journal = || std::fs::read_to_string(super::kept_run(folder)?.join("journal.ndjson")).ok();
    while journal().is_none_or(|text| text.matches(what).count() < times) {
        assert!(since.elapsed().as_secs() < 120, "never came to {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends both signals; the status, which must come at once after the second. That one is sent until the process has
/// ended: two that come before the first one is looked at are one.
fn end(mut child: Child, signals: [&str; 2]) -> ExitStatus {
    let id = child.id().to_string();
    let send = |signal: &str| Command::new("kill").args([signal, &id]).stderr(Stdio::null()).status().unwrap();
    assert!(send(signals[0]).success());
    let since = Instant::now();
    loop {
        send(signals[1]);
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if since.elapsed() > AT_ONCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{signals:?}: it did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until a process has computed for so long from now on.
fn await_work(child: &Child, work: Duration) {
    // User time and system time, in hundredths of a second (proc(5)).
    let worked = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap()..].split(' ').collect();
        Duration::from_millis(10 * (fields[12].parse::<u64>().unwrap() + fields[13].parse::<u64>().unwrap()))
    };
    let (since, before) = (Instant::now(), worked());
    while worked() < before + work {
        assert!(since.elapsed().as_secs() < 120, "it does not compute");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_second_signal_ends_it_while_every_thread_computes() {
    let all = "objectContext.resources.all(|a| objectContext.resources.count(|b| b.id == a.id) == 1)";
    let server = agent(1, 4000);
    // More conversations than threads.
    let models: Vec<String> = (0..8).map(|number| format!("m{number}")).collect();
    for signals in [["-INT", "-INT"], ["-TERM", "-TERM"]] {
        let folder = tempfile::tempdir().unwrap();
        let more = format!("assertions: [{{expression: \"{all}\"}}]");
        let args = ["--model", &models.join(","), "-j", "100", "--no-progress", "-o", "out.json"];
        let mut child = start(folder.path(), &server, &more, &args);
        let mut stderr = child.stderr.take().unwrap();
        // What is computed is what the agent shows, before or after the conversation.
        let looks = || server.requests().iter().filter(|request| request.path.contains("objectContexts")).count();
        let (since, before) = (Instant::now(), looks());
        while looks() < before + 2 {
            assert!(since.elapsed().as_secs() < 120, "nobody looked");
            std::thread::sleep(Duration::from_millis(5));
        }
        await_work(&child, Duration::from_secs(1));
        assert_eq!(end(child, signals).code(), Some(130), "{signals:?}");
        let mut words = String::new();
        stderr.read_to_string(&mut words).unwrap();
        // The files of `-o` are written if there is time.
        match std::fs::read_to_string(folder.path().join("out.json")) {
            Ok(text) => {
                let document: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(document["trials"].as_array().unwrap().len(), 16);
                assert!(words.contains("written from what is kept: out.json"), "{words}");
            }
            Err(_) => assert!(words.contains("not written: out.json; they are written by: eval-job show "), "{words}"),
        }
    }
}

/// The journal of the only run: it must be whole to its last line.
fn last_entry(folder: &Path) -> serde_json::Value {
    let journal = std::fs::read_to_string(super::kept_run(folder).unwrap().join("journal.ndjson")).unwrap();
    assert!(journal.ends_with('\n'), "{journal}");
    let entries: Vec<serde_json::Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    entries.last().unwrap().clone()
}

#[test]
fn the_first_signal_ends_it_in_order_while_something_computes() {
    let (looks, words) = (agent(1, 4000), agent(100_000, 0));
    let list: Vec<_> = (0..200_000).map(|n| json!({"a": n.to_string(), "b": [[[n]]]})).collect();
    let long = json!(list).to_string().into_bytes();
    let list = Server::start(move |_| Reply::Body(200, "application/json", long.clone()));
    let all = "objectContext.resources.all(|a| objectContext.resources.count(|b| b.id == a.id) == 1)";
    let reads = "{% for past in history %}{% for a in range(100000) %}{% if past.content | length == a %}{% endif %}{% endfor %}{% endfor %}{{ message }}";
    let say = |server: &Server, body: &str, reply: &str| {
        let address = &server.address;
        format!("http: {{say: {{url: '{address}/api/v1/chat/messages', body: {{m: '{body}'}}, reply: '{reply}'}}}}")
    };
    // The target, the rest of the job, and the entry after which something takes as long as it may.
    for (target, more, entry) in [
        (
            format!("embabel: {{baseUrl: {}}}", looks.address),
            format!("assertions: [{{expression: \"{all}\"}}]"),
            "trialStarted",
        ),
        (say(&words, reads, "$.message.content"), String::new(), "turnFinished"),
        (say(&list, "{{ message }}", "$..[?@.a == \"x\"].b"), String::new(), "userSaid"),
    ] {
        for signal in ["-INT", "-TERM"] {
            let folder = tempfile::tempdir().unwrap();
            let mut child = start_with(folder.path(), &target, &more, &["-j", "100", "--no-progress"]);
            await_entries(folder.path(), entry, 1);
            await_work(&child, Duration::from_millis(200));
            let since = Instant::now();
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
            let status = child.wait().unwrap();
            let took = since.elapsed();
            assert_eq!(status.code(), Some(130), "{target} {signal}");
            assert!(took < Duration::from_secs(10), "{target} {signal}: {took:?}");
            assert_eq!(last_entry(folder.path())["kind"], "runFinished");
            assert_eq!(last_entry(folder.path())["interrupted"], true);
        }
    }
}

#[test]
fn a_second_signal_ends_it_while_nobody_reads_what_it_prints() {
    let server = agent(40_000, 0);
    for signals in [["-INT", "-INT"], ["-INT", "-TERM"], ["-TERM", "-HUP"]] {
        let folder = tempfile::tempdir().unwrap();
        let child = start(folder.path(), &server, "", &["-v"]);
        await_entries(folder.path(), "\"turnFinished\"", 1);
        assert_eq!(end(child, signals).code(), Some(130), "{signals:?}");
    }
}

#[test]
fn nobody_is_told_to_go_on_with_a_replay() {
    let server = agent(1, 1500);
    let folder = tempfile::tempdir().unwrap();
    let all = "objectContext.resources.all(|a| objectContext.resources.count(|b| b.id == a.id) == 1)";
    let args = ["--condition", "with-facts", "--no-progress", "--cassette-record", "tape", "--runs-dir", "recorded"];
    let recorded = start(folder.path(), &server, &format!("assertions: [{{expression: \"{all}\"}}]"), &args);
    assert!(recorded.wait_with_output().unwrap().status.code().is_some());
    let mut command = eval_job(folder.path());
    command.args(["run", "job.yml", "--condition", "with-facts", "--no-progress", "--cassette-replay", "tape"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    await_entries(folder.path(), "\"trialStarted\"", 1);
    let mut stderr = child.stderr.take().unwrap();
    assert_eq!(end(child, ["-INT", "-INT"]).code(), Some(130));
    let mut words = String::new();
    stderr.read_to_string(&mut words).unwrap();
    assert!(words.contains("show what there is: eval-job show ") && !words.contains("--resume"), "{words}");
}

#[test]
fn whoever_interrupts_it_is_told_where_everything_is_kept() {
    let server = Server::start(|request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        _ => Reply::Silence,
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let args = ["--condition", "with-facts", "-o", "out/a.json", "-o", "out/b.tokens.json"];
    let mut child = start(folder.path(), &server, "", &args);
    await_entries(folder.path(), "\"userSaid\"", 1);
    let mut stderr = child.stderr.take().unwrap();
    assert_eq!(end(child, ["-INT", "-INT"]).code(), Some(130));
    let mut words = String::new();
    stderr.read_to_string(&mut words).unwrap();
    // Either signal may be the one that ends it: the files are there.
    let written = std::fs::read_to_string(folder.path().join("out/a.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(document["trials"].as_array().unwrap().len(), 1, "{written}");
    assert!(folder.path().join("out/b.tokens.json").exists());
    assert!(words.contains("show what there is: eval-job show "), "{words}");
}

/// Whatever it waits for: the status, where everything is kept, and every finished turn.
#[test]
fn one_signal_ends_it_in_each_phase_and_loses_nothing() {
    // Who says nothing, the entry after which it is waited for, and how many turns are finished by then.
    for (silent, entry, turns) in [
        ("sessions", "trialStarted", 0),
        ("messages", "userSaid", 0),
        ("judge", "conversationEnded", 3),
        ("persona", "turnFinished", 1),
    ] {
        let server = Server::start(move |request| {
            let is_judge = request.body.contains("<transcript>");
            match request.path.rsplit('/').next() {
                Some(path) if path == silent => Reply::Silence,
                Some("completions") if (silent == "judge") == is_judge => Reply::Silence,
                _ => {
                    let message = json!({"content": "Certainly.", "role": "assistant"});
                    Reply::Json(200, json!({"sessionId": "s", "message": message, "events": []}))
                }
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let model = format!("{{model: {{name: openai/x, baseUrl: '{}/v1'}}}}", server.address);
        let (evaluator, scorer) = match silent {
            "persona" => (model.as_str(), "{model: scripted}"),
            "judge" => ("{script: [one, two]}", model.as_str()),
            _ => ("{script: [one, two]}", "{model: scripted}"),
        };
        let job = format!(
            "evaluator: {evaluator}\nscorer: {scorer}\nfacts: []\ntarget: {{user: u, chatbot: c, embabel: {{baseUrl: '{}'}}}}\n\
             tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n",
            server.address
        );
        std::fs::write(folder.path().join("job.yml"), job).unwrap();
        let mut command = eval_job(folder.path());
        command.args(["run", "job.yml", "-o", "out.json"]).env("OPENAI_API_KEY", "sk-test");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        await_entries(folder.path(), &format!("\"{entry}\""), 1);
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let mut words = String::new();
        child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{silent}: {words}");
        let kept = if turns == 1 { "1 finished turn".to_owned() } else { format!("{turns} finished turns") };
        assert!(words.contains(&format!("interrupted: {kept} kept in runs/")), "{silent}: {words}");
        assert!(words.contains("show what there is: eval-job show "), "{silent}: {words}");
        let last = last_entry(folder.path());
        assert_eq!((&last["kind"], &last["interrupted"]), (&json!("runFinished"), &json!(true)), "{silent}");
        let written = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
        assert_eq!(written.matches("\"agent\": \"Certainly.\"").count(), turns, "{silent}: {written}");
    }
}

#[test]
fn grading_of_recordings_ends_in_order_and_keeps_what_is_graded() {
    let folder = tempfile::tempdir().unwrap();
    let job = "target: {user: u, chatbot: c}\nfacts: []\nmetrics: [keywords]\ncases:\n  - {id: a, script: [{say: Hello, expected: {keywords: [Hi]}}]}\n";
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let line = "{\"id\": \"a\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}, {\"role\": \"assistant\", \"content\": \"Hi\"}]}\n";
    std::fs::write(folder.path().join("log.jsonl"), line.repeat(20_000)).unwrap();
    let mut command = eval_job(folder.path());
    command.args(["grade", "--dataset", "job.yml", "--actual", "log.jsonl"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    await_entries(folder.path(), "trialFinished", 1);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(130), "{words}");
    assert!(words.starts_with("interrupted") && words.contains("kept in runs/"), "{words}");
    assert_eq!(last_entry(folder.path())["interrupted"], true);
}

/// Ctrl-Z and `fg`, or a container that is frozen: the agent's reply waits in the socket meanwhile.
#[test]
fn a_pause_of_the_program_is_no_time_of_the_agents() {
    use std::sync::{Arc, Mutex};
    let folder = tempfile::tempdir().unwrap();
    let pid: Arc<Mutex<Option<String>>> = Arc::default();
    let (known, paused) = (pid.clone(), Mutex::new(false));
    let signal = |name: &str, id: &str| assert!(Command::new("kill").args([name, id]).status().unwrap().success());
    let server = Server::start(move |request| match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        "/api/v1/chat/messages" => {
            let mut paused = paused.lock().unwrap();
            if !std::mem::replace(&mut *paused, true) {
                let id = loop {
                    if let Some(id) = known.lock().unwrap().clone() {
                        break id;
                    }
                    std::thread::yield_now();
                };
                signal("-STOP", &id);
                // Longer than the limit of a turn: time that passes is what is tested.
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_secs(5));
                    signal("-CONT", &id);
                });
            }
            let message = json!({"content": "Anything is said.", "role": "assistant"});
            Reply::Json(200, json!({"sessionId": "s", "message": message, "events": []}))
        }
        _ => Reply::Json(200, json!({"resources": [], "entities": [], "functions": []})),
    });
    let limits = "limits: {turn: 3}\naspirationalAverage: 1000";
    let child = start(folder.path(), &server, limits, &["-j", "1", "--no-progress", "-o", "run.json"]);
    *pid.lock().unwrap() = Some(child.id().to_string());
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let record = std::fs::read_to_string(folder.path().join("run.json")).unwrap_or_else(|_| panic!("{words}"));
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let turns =
        record["trials"].as_array().unwrap().iter().flat_map(|it| it["evidence"]["transcript"].as_array().unwrap());
    for turn in turns {
        let failures = turn["failures"].as_array().cloned().unwrap_or_default();
        assert!(failures.iter().all(|it| it["excuse"].is_string()), "{turn}");
        assert!(turn["latencyMs"].as_f64().is_none_or(|ms| ms < 2500.0), "{turn}");
    }
    assert!(!words.contains("agent failed"), "{words}");
}

#[test]
fn a_reader_that_does_not_read_holds_up_no_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let server = agent(400, 0);
    // Two kilobytes a reply, of which a pipe takes 64 before its reader reads.
    let child = start(folder.path(), &server, "", &["-v", "--repeat", "40"]);
    await_entries(folder.path(), "\"kind\":\"trialFinished\"", 80);
    let printed = child.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&printed.stderr);
    // All of it is shown in the end: three replies a conversation.
    assert_eq!(printed.matches("word ".repeat(400).trim_end()).count(), 240, "{} bytes", printed.len());
}
