//! What goes wrong around the tools of a user is nobody's but theirs, with the built program.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::graph_serve::Served;
use super::user_tools::{SHOWS, World, assert_solved, by_command, desk};
use super::{eval_job, kept_run, words};
use crate::house::root;
use crate::servers::http::{Reply, Server, nobody};
use crate::servers::neo4j;

fn on_one_line(output: &std::process::Output) -> String {
    words(output).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A help desk that writes into a graph, and whose customer's phone does.
fn in_graph(graph: neo4j::Server) -> Server {
    let write = move |statement: &str| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(graph.write(statement));
    };
    Server::start(move |request| match (request.path.as_str(), request.json()["turn"].as_u64()) {
        ("/open", _) => Reply::Json(200, json!({"id": "s1"})),
        ("/tools/status_bar", _) => Reply::Json(200, json!({"result": {"data": "off", "code": "4711"}})),
        ("/tools/toggle_data", _) => {
            write("CREATE (:Phone {on: true})");
            write("MATCH (t:Ticket) SET t.touched = true");
            Reply::Json(200, json!({"result": "done"}))
        }
        (_, Some(1)) => {
            write("CREATE (:Ticket {id: 1})");
            Reply::Json(200, json!({"text": "Gladly. What does the status bar of your phone show?", "events": []}))
        }
        (_, Some(2)) => Reply::Json(200, json!({"text": "Then please switch on the mobile data.", "events": []})),
        _ => {
            write("MATCH (p:Phone) SET p.seen = true");
            Reply::Json(200, json!({"text": "Thank you, I can see your phone in the network now.", "events": []}))
        }
    })
}

#[test]
fn what_a_tool_of_the_user_changes_in_the_graph_is_the_users() {
    let mut serve = eval_job(root());
    serve.args(["graph", "serve", "--port", "0"]);
    let graph = Served::start(serve, 3, true);
    let value = |name: &str| {
        let of = |line: &String| Some(line.split_once('=').filter(|(key, _)| *key == name)?.1.to_owned());
        graph.lines.iter().find_map(of).unwrap_or_default()
    };
    let server =
        neo4j::Server { uri: value("NEO_URI"), username: value("NEO_USERNAME"), password: value("NEO_PASSWORD") };
    let world = World::new("good");
    let agent = in_graph(server.clone());
    let mut job = world.job();
    for (request, path) in [("open", "/open"), ("say", "/say"), ("userTools", "/tools/{{ name }}")] {
        job["target"]["http"][request]["url"] = format!("{}{path}", agent.address).into();
    }
    job["graph"] = json!({"neo4j": {}});
    job.as_object_mut().unwrap().remove("isolation");
    // The ticket is the agent's as it made it; of the phone, what it did to it after the user.
    job["assertions"] = json!([
        {"name": "lines", "changes": {"created": [{"node": "Ticket", "count": 1}], "changed": [{"node": "Phone", "count": 1}]}},
        {"name": "script", "expression": "changes.created.size == 1 && changes.changed.size == 1"},
        {"name": "state", "cypher": "MATCH (p:Phone {on: true, seen: true}), (t:Ticket {touched: true}) RETURN count(*)", "expected": 1},
    ]);
    world.write(&job);
    let mut run = world.command("run job.yml --no-progress -o run.json");
    let output = server.tell(&mut run).output().unwrap();
    let page = words(&output);
    assert_eq!(output.status.code(), Some(0), "{page}");
    let record: Value = serde_json::from_str(&std::fs::read_to_string(world.path().join("run.json")).unwrap()).unwrap();
    let evidence = &record["trials"][0]["evidence"];
    let calls = evidence["userToolCalls"].as_array().unwrap();
    assert_eq!(
        (calls[0]["changes"].as_array().map(Vec::len), calls[1]["changes"].as_array().unwrap().len()),
        (None, 2)
    );
    let shown = words(&world.command("show -v").output().unwrap());
    let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("{part}: {shown}"));
    assert!(at("[user's tool] toggle_data") < at("+ (:Phone {on: true})"), "{shown}");
    assert!(at("+ (:Phone {on: true})") < at("activated") && at("activated") < at("seen: null → true"), "{shown}");
    assert_eq!(shown.matches("+ (:Phone").count(), 1, "{shown}");
    // The journal adds up to the same.
    let journal = std::fs::read(kept_run(world.path()).unwrap().join("journal.ndjson")).unwrap();
    let entries = eval_job::store::folder::read_journal(&journal).entries;
    let folded = serde_json::to_value(eval_job::record::RunRecord::from_entries(entries).unwrap()).unwrap();
    assert_eq!(folded["trials"][0]["evidence"]["userToolCalls"], evidence["userToolCalls"]);
    assert_eq!(folded["trials"][0]["evidence"]["changes"], evidence["changes"]);
}

#[test]
fn a_tool_without_an_end_is_never_the_failure_of_a_slow_agent() {
    let world = World::new("good");
    let slow = Server::start(|request| match request.path.as_str() {
        "/open" => Reply::Json(200, json!({"id": "s1"})),
        "/say" => {
            // It has most of the time, by its own doing.
            std::thread::sleep(Duration::from_millis(2_400));
            Reply::Json(200, json!({"text": "Gladly. What does the status bar of your phone show?", "events": []}))
        }
        _ => Reply::Silence,
    });
    let mut job = world.job();
    for (request, path) in [("open", "/open"), ("say", "/say"), ("userTools", "/tools/{{ name }}")] {
        job["target"]["http"][request]["url"] = format!("{}{path}", slow.address).into();
    }
    job["limits"] = json!({"trial": 4});
    world.write(&job);
    let (status, page, trial) = world.run("");
    assert_eq!((status, trial["outcome"]["kind"].as_str()), (Some(102), Some("broken")), "{page}");
    assert!(page.contains("the user's tool `status_bar` failed: the conversation's time limit of 4 s"), "{page}");
}

#[test]
fn tools_that_nobody_carries_out_are_found_before_a_run() {
    let world = World::new("nobody");
    for command in ["run job.yml", "validate --live job.yml"] {
        let output = world.command(command).output().unwrap();
        let page = on_one_line(&output);
        assert_eq!(output.status.code(), Some(102), "{command}: {page}");
        let told = "target.http.userTools.url says where it is looked for";
        assert!(page.contains("the user's tools are not reachable") && page.contains(told), "{page}");
        // A look at whether the model takes its key may be a question; nobody is asked for a message.
        let asked = world.user.requests().iter().any(|it| it.body.contains("persona_reply"));
        assert!(!asked && world.called().is_empty(), "{page}");
    }
    let mut job = world.job();
    job["target"]["http"]["userTools"]["url"] = format!("{}/{{{{ name }}}}", nobody()).into();
    job["evaluator"].as_object_mut().unwrap().remove("tools");
    job["assertions"] = json!([]);
    world.write(&job);
    let output = world.command("validate --live job.yml").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
}

#[test]
fn a_command_answers_behind_a_prompt_and_what_it_printed_before_is_no_answer() {
    // A prompt, a colour or a time before the result, as before a message.
    let prompted = format!("printf '> '; {SHOWS}");
    let coloured = r#"printf '\033[32mUSER_TOOL_RESULT: {"data": "off", "code": "4711"}\033[0m\n'"#;
    let stamped = r#"echo '12:00:01 INFO USER_TOOL_RESULT: {"data": "off", "code": "4711"}'"#;
    for does in [prompted.as_str(), coloured, stamped] {
        let (status, page, trial) = by_command(&desk(does)).run("");
        assert_eq!(status, Some(0), "{does}: {page}");
        assert_solved(&page, &trial);
        assert_eq!(trial["evidence"]["userToolCalls"][0]["result"], json!({"data": "off", "code": "4711"}), "{does}");
    }
    // A second answer to the first call is none to the second one, and is kept as what came unasked.
    // Both lines in one write, so that the second one is there when the first one is read.
    let twice = r#"printf 'USER_TOOL_RESULT: {"data": "off", "code": "4711"}\nUSER_TOOL_RESULT: "off again"\n'"#;
    let (status, page, trial) = by_command(&desk(twice)).run("");
    assert_eq!(status, Some(0), "{page}");
    let calls = &trial["evidence"]["userToolCalls"];
    assert_eq!((&calls[1]["name"], &calls[1]["result"]), (&json!("toggle_data"), &json!("done")), "{calls}");
    assert!(trial["evidence"]["transcript"].to_string().contains("off again"), "{trial}");
    // So is a message that comes after the end of another, and a log.
    let talkative =
        desk(SHOWS).replace("echo :DONE;;", "echo :DONE; echo 'agent: Take your time.'; echo :DONE; echo saved;;");
    let (status, page, trial) = by_command(&talkative).run("");
    assert_eq!(status, Some(0), "{page}");
    assert_solved(&page, &trial);
    let events = trial["evidence"]["transcript"][1]["events"].to_string();
    assert!(
        events.contains("afterReply") && events.contains("Take your time.") && events.contains("saved"),
        "{events}"
    );
    let pretty = r#"echo 'USER_TOOL_RESULT: {'; echo '  "data": "off"'; echo '}'"#;
    let (status, page, _) = by_command(&desk(pretty)).run("");
    assert_eq!(status, Some(102), "{page}");
    assert!(page.contains("begins as JSON") && page.contains("does not end on its line"), "{page}");
}

#[test]
fn a_person_needs_no_tools_and_what_is_recorded_can_be_run() {
    let world = World::new("good");
    let mut job = world.job();
    job["target"]["http"]["say"].as_object_mut().unwrap().remove("events");
    job["assertions"] = json!([]);
    world.write(&job);
    let typed = "My phone has no internet\nIt shows no data\n/end\n";
    let mut record = world.command("record job.yml -o case.yml");
    let mut child = record.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let page = on_one_line(&output);
    assert_eq!(output.status.code(), Some(0), "{page}");
    for told in ["evaluator.tools are the simulated user's", "the metric trajectory is left out, as target.http can't"]
    {
        assert!(page.contains(told), "{told}: {page}");
    }
    assert!(world.called().is_empty());
    let imported = world.command("import --from-trace latest -o trace.yml").output().unwrap();
    let id = kept_run(world.path()).unwrap().file_name().unwrap().to_string_lossy().into_owned();
    let imported = match imported.status.success() {
        true => imported,
        false => world.command(&format!("import --from-trace {id} -o trace.yml")).output().unwrap(),
    };
    assert!(on_one_line(&imported).contains("the metric trajectory is left out"), "{}", words(&imported));
    for file in ["case.yml", "trace.yml"] {
        let run = world.command(&format!("run {file} --no-progress")).output().unwrap();
        assert!(matches!(run.status.code(), Some(0 | 100)), "{file}: {}", words(&run));
    }
}

#[test]
fn what_an_export_leaves_out_of_the_user_is_told() {
    let world = World::new("good");
    let output = world.command("export job.yml --format adk -o set.json").output().unwrap();
    assert!(on_one_line(&output).contains("evaluator.tools: the user's own tools"), "{}", words(&output));
}

#[test]
fn a_long_result_is_folded() {
    let long = r#"printf 'USER_TOOL_RESULT: {"data": "off", "code": "4711", "log": "%s the end"}\n' "$(head -c 50000 /dev/zero | tr '\0' x)""#;
    let world = by_command(&desk(long));
    let (status, page, _) = world.run("");
    assert_eq!(status, Some(0), "{page}");
    let shown = words(&world.command("show -v").output().unwrap());
    assert!(shown.len() < 20_000 && shown.contains("more characters; show -vv has them"), "{}", shown.len());
    let shown = words(&world.command("show -vv").output().unwrap());
    assert!(shown.contains("x the end"), "{}", shown.len());
}
