//! A lack of file descriptors is ours: it is met early, told, and never the agent's failure.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use eval_job::record::RunRecord;
use eval_job::score::Outcome;
use serde_json::json;

use super::eval_job;
use crate::servers::http::{Reply, Request, Server};

fn job(address: &str) -> String {
    format!(
        "evaluator: {{script: [one, two]}}\nscorer: {{model: scripted}}\nfacts: []\nconditions: [withoutFacts, withFacts]\nisolation: user\n\
         target: {{user: u, chatbot: c, embabel: {{baseUrl: {address}}}}}\n\
         tasks: [{{task: Ask for anything, acceptanceCriteria: Anything is said}}]\n"
    )
}

/// The program under limits of its own, by the shell's word for them.
fn limited(folder: &Path, ulimit: &str, args: &[&str]) -> Command {
    let plain = eval_job(folder);
    let mut command = Command::new("sh");
    command.current_dir(folder).env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.args(["-c", &format!("{ulimit}; exec \"$0\" \"$@\"")]).arg(plain.get_program());
    command.args(["run", "job.yml", "--no-progress"]).args(args);
    command
}

fn answer(request: &Request) -> Reply {
    match request.path.as_str() {
        "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
        _ => Reply::Json(200, json!({"message": {"content": "Certainly.", "role": "assistant"}, "events": []})),
    }
}

#[test]
fn fewer_conversations_are_held_at_once_where_the_limit_is_low() {
    let agent = Server::start(|request| {
        // So that as many as may be are held at once.
        std::thread::sleep(std::time::Duration::from_millis(20));
        answer(request)
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job(&agent.address)).unwrap();
    let models: Vec<String> = (0..60).map(|number| format!("m{number}")).collect();
    let args = ["-j", "2000", "--model", &models.join(","), "-o", "record.json"];
    let output = limited(folder.path(), "ulimit -n 128", &args).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words}");
    assert!(words.contains("conversations at once instead of -j 2000: each takes about 3 file descriptors"), "{words}");
    let record: RunRecord = serde_json::from_slice(&std::fs::read(folder.path().join("record.json")).unwrap()).unwrap();
    assert!(record.trials.iter().all(|trial| trial.outcome == Some(Outcome::Graded)));

    let output = limited(folder.path(), "ulimit -n 32", &args[..2]).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("try: ulimit -n "), "{words}");
}

/// Whatever the limit is: all is graded, or it is refused before it begins, and what was run stands in the journal.
#[test]
fn a_run_under_a_low_limit_is_complete_or_refused() {
    let agent = Server::start(|request| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        answer(request)
    });
    let models: Vec<String> = (0..60).map(|number| format!("m{number}")).collect();
    for ulimit in ["ulimit -n 64", "ulimit -n 128", "ulimit -n 256", "ulimit -Sn 64"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job.yml"), job(&agent.address)).unwrap();
        let args = ["-j", "50", "--model", &models.join(","), "-o", "record.json"];
        let output = limited(folder.path(), ulimit, &args).output().unwrap();
        let words = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(0), "{ulimit}: {words}");
        let record: RunRecord =
            serde_json::from_slice(&std::fs::read(folder.path().join("record.json")).unwrap()).unwrap();
        assert_eq!(record.trials.len(), 120, "{ulimit}");
        assert!(record.trials.iter().all(|trial| trial.outcome == Some(Outcome::Graded)), "{ulimit}: {words}");
        let shown = eval_job(folder.path()).args(["show"]).output().unwrap();
        assert_eq!(shown.status.code(), Some(0), "{ulimit}");
    }
}

#[test]
fn the_soft_limit_is_raised_and_what_is_started_gets_its_own_back() {
    let agent = Server::start(answer);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job(&agent.address)).unwrap();
    let models: Vec<String> = (0..60).map(|number| format!("m{number}")).collect();
    let args = ["-j", "2000", "--model", &models.join(",")];
    let output = limited(folder.path(), "ulimit -Sn 100", &args).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words}");
    assert!(!words.contains("at once instead of"), "{words}");

    if cfg!(target_os = "linux") {
        let script = "while read line; do ulimit -n; echo '### END'; done";
        std::fs::write(folder.path().join("agent.sh"), script).unwrap();
        let command = "command: {command: sh, args: [agent.sh], greeting: false, terminator: '### END'}";
        let text = job("x").replace("embabel: {baseUrl: x}", command);
        std::fs::write(folder.path().join("job.yml"), text).unwrap();
        let output = limited(folder.path(), "ulimit -Sn 100", &["-o", "record.json"]).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words}");
        let record = std::fs::read(folder.path().join("record.json")).unwrap();
        let record: RunRecord = serde_json::from_slice(&record).unwrap();
        let first = &record.trials[0].evidence.as_ref().unwrap().transcript.turns[0];
        assert_eq!(first.agent.as_deref(), Some("100"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_agent_that_can_not_be_reached_for_want_of_a_descriptor_has_not_failed() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let process: &'static OnceLock<u32> = Box::leak(Box::new(OnceLock::new()));
    let messages = AtomicUsize::new(0);
    let agent = Server::start(move |request| {
        if request.path.ends_with("/messages") && messages.fetch_add(1, Ordering::SeqCst) == 1 {
            // From now on nothing can be opened, and the connection is gone.
            let pid = Pid::from_raw(*process.wait() as i32);
            let none = Rlimit { current: Some(3), maximum: Some(3) };
            prlimit(pid, Resource::Nofile, none).unwrap();
            return Reply::CutOff("{");
        }
        answer(request)
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job(&agent.address)).unwrap();
    let mut command = eval_job(folder.path());
    command.args(["run", "job.yml", "-j", "1"]).stdout(std::process::Stdio::piped());
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    process.set(child.id()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (page, words) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // The report is printed all the same: the journal is read by the descriptor that is open.
    assert_eq!(output.status.code(), Some(102), "{page}\n{words}");
    assert!(page.contains("no file descriptor left"), "{page}\n{words}");
    assert!(!page.contains("agent failed"), "{page}\n{words}");
}

#[test]
fn the_report_is_printed_though_the_folder_was_moved_or_removed() {
    for is_removed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (runs, old) = (folder.path().join("runs"), folder.path().join("old"));
        let moved = AtomicUsize::new(0);
        let (from, to) = (runs.clone(), old.clone());
        let agent = Server::start(move |request| {
            if request.path.ends_with("/messages") && moved.fetch_add(1, Ordering::SeqCst) == 0 {
                if is_removed { std::fs::remove_dir_all(&from) } else { std::fs::rename(&from, &to) }.unwrap();
            }
            answer(request)
        });
        std::fs::write(folder.path().join("job.yml"), job(&agent.address)).unwrap();
        let output = eval_job(folder.path()).args(["run", "job.yml"]).output().unwrap();
        let (page, words) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{page}\n{words}");
        assert!(page.contains("no gate: "), "{page}");
        let what = if is_removed { "it was deleted" } else { "it was moved" };
        assert!(words.contains(&format!("is not there any more: {what}")), "{words}");
        assert!(!runs.exists());
        if !is_removed {
            let args = ["show", "--runs-dir", "old"];
            let shown = eval_job(folder.path()).args(args).output().unwrap();
            assert_eq!(shown.status.code(), Some(0));
            assert_eq!(String::from_utf8_lossy(&shown.stdout), page);
        }
    }
}
