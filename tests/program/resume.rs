//! A run that was cut off goes on: `run --resume` and `run --retry-errors`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use serde_json::{Value, json};

use super::{eval_job, interrupted, pasted_after, words};
use crate::servers::http::{Reply, Server};

/// An agent of whom each user asks something about one case: `case 3, line 1`.
pub struct Agent {
    pub server: Server,
    /// Tells that the message arrived that is never answered.
    pub arrived: mpsc::Receiver<()>,
    /// The number of the message, counted from 1, that is never answered; 0 for none.
    pub silent_at: Arc<AtomicUsize>,
    /// Whether no session can be opened.
    pub is_down: Arc<AtomicBool>,
}

impl Agent {
    pub fn start() -> Agent {
        let (sender, arrived) = mpsc::channel();
        let sender = Mutex::new(sender);
        let (silent_at, is_down) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (silent, down, messages) = (silent_at.clone(), is_down.clone(), AtomicUsize::new(0));
        let server = Server::start(move |request| match request.path.as_str() {
            "/api/v1/chat/sessions" if down.load(Ordering::SeqCst) => {
                Reply::Json(500, json!({"error": "out of order"}))
            }
            "/api/v1/chat/sessions" => Reply::Json(200, json!({"sessionId": "s"})),
            "/api/v1/chat/messages" => {
                if messages.fetch_add(1, Ordering::SeqCst) + 1 == silent.load(Ordering::SeqCst) {
                    let _ = sender.lock().unwrap().send(());
                    return Reply::Silence;
                }
                let asked = request.json()["message"]["content"].as_str().unwrap_or_default().to_owned();
                let message = json!({"content": format!("reply to {asked}"), "role": "assistant"});
                Reply::Json(200, json!({"sessionId": "s", "message": message, "events": []}))
            }
            _ => Reply::Json(404, json!({})),
        });
        Agent { server, arrived, silent_at, is_down }
    }

    /// The messages that arrived, from the `first` on.
    pub fn asked_since(&self, first: usize) -> Vec<String> {
        let requests = self.server.requests();
        let messages = requests.iter().filter(|request| request.path.ends_with("/messages"));
        messages.skip(first).map(|it| it.json()["message"]["content"].as_str().unwrap().to_owned()).collect()
    }
}

/// A folder with a job about so many cases, each with three lines.
pub struct Desk(pub tempfile::TempDir);

impl Desk {
    pub fn new(agent: &Agent, cases: usize) -> Desk {
        let desk = Desk(tempfile::tempdir().unwrap());
        desk.write("job.yml", &job(agent, cases));
        desk
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = eval_job(self.0.path());
        command.args(line.split_whitespace()).stdin(Stdio::null());
        command
    }

    pub fn typed(&self, line: &str) -> (i32, String) {
        let output = self.command(line).output().unwrap();
        (output.status.code().unwrap(), words(&output))
    }

    pub fn run_folder(&self) -> PathBuf {
        let runs: Vec<PathBuf> =
            fs::read_dir(self.0.path().join("runs")).unwrap().map(|run| run.unwrap().path()).collect();
        let runs: Vec<PathBuf> = runs.into_iter().filter(|run| run.join("journal.ndjson").is_file()).collect();
        let [run] = runs.as_slice() else { panic!("{runs:?}") };
        run.clone()
    }

    pub fn journal(&self) -> Vec<u8> {
        fs::read(self.run_folder().join("journal.ndjson")).unwrap_or_default()
    }

    pub fn id(&self) -> String {
        self.run_folder().to_str().unwrap().rsplit('-').next().unwrap().to_owned()
    }

    pub fn record(&self) -> Value {
        let output = self.command("show --json").output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", words(&output)))
    }

    /// Holds the job up to this message and kills it then.
    fn killed_at(&self, agent: &Agent, message: usize) {
        agent.silent_at.store(message, Ordering::SeqCst);
        let mut child = self.command("run job.yml").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        agent.arrived.recv().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        agent.silent_at.store(0, Ordering::SeqCst);
    }
}

pub fn job(agent: &Agent, cases: usize) -> String {
    let case = |case: usize| {
        let lines: String = (1..=3).map(|line| format!("\"case {case}, line {line}\", ")).collect();
        format!(
            "- {{id: c{case}, script: [{lines}], tasks: [{{task: Ask about case {case}, acceptanceCriteria: reply to case {case}}}]}}\n"
        )
    };
    format!(
        "name: Desk\ngreetings: []\nevaluator: {{model: scripted}}\nscorer: {{model: scripted}}\nfacts: []\n\
         target: {{user: u, chatbot: c, embabel: {{baseUrl: {}}}}}\ncases:\n{}",
        agent.server.address,
        (1..=cases).map(case).collect::<String>()
    )
}

/// The cases that are over by this journal, and the entries of its whole lines.
pub fn finished(journal: &[u8]) -> BTreeSet<String> {
    let whole = journal.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let lines = journal[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let entries: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    let Some(first) = entries.first() else { return BTreeSet::new() };
    let cases: BTreeMap<u64, String> = first["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| (trial["number"].as_u64().unwrap(), trial["case"].as_str().unwrap().to_owned()))
        .collect();
    let over = entries.iter().filter(|entry| entry["kind"] == "trialFinished");
    over.map(|entry| cases[&entry["trial"].as_u64().unwrap()].clone()).collect()
}

/// The case that a message is about.
pub fn case_of(message: &str) -> String {
    let number = message.trim_start_matches("case ").split(',').next().unwrap();
    format!("c{number}")
}

/// All of a run that does not depend on when it was held, nor on what was paid twice.
pub fn essence(run: &Value) -> Value {
    let trial = |trial: &Value| {
        let said = |turn: &Value| json!([turn["user"], turn["agent"]]);
        let turns: Vec<Value> = trial["evidence"]["transcript"].as_array().into_iter().flatten().map(said).collect();
        assert!(!turns.is_empty(), "{trial}");
        json!([trial["trial"], trial["outcome"], turns, trial["scorecard"]["composite"]])
    };
    json!({
        "figures": super::without_times(&run["figures"]),
        "verdict": run["verdict"],
        "trials": run["trials"].as_array().unwrap().iter().map(trial).collect::<Vec<_>>(),
    })
}

#[test]
fn after_a_kill_only_what_is_unfinished_is_held() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 4);
    desk.killed_at(&agent, 8);
    let before = desk.journal();
    assert_eq!(finished(&before), ["c1", "c2"].map(str::to_owned).into());
    let (status, printed) = desk.typed("run --resume job.yml -o run.json -o run.xml --no-progress");
    assert_eq!(status, 0, "{printed}");
    assert!(
        printed.contains(&format!(
            "run {} goes on: 2 of 4 conversations kept, 2 to be run; 1 of them goes on where it was\n",
            desk.id()
        )),
        "{printed}"
    );
    let again = agent.asked_since(8);
    assert_eq!(again[..3], ["case 3, line 2", "case 3, line 3", "case 4, line 1"]);
    assert_eq!(again.len(), 5);
    assert!(desk.journal().starts_with(&before), "the journal is only appended to");
    let record = desk.record();
    assert_eq!(record["trials"].as_array().unwrap().len(), 4);
    let replaced: Vec<usize> =
        record["trials"].as_array().unwrap().iter().map(|it| it["replaced"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(replaced, [0, 0, 0, 0]);
    let written: Value = serde_json::from_slice(&fs::read(desk.0.path().join("run.json")).unwrap()).unwrap();
    assert_eq!(essence(&written), essence(&record));
    assert!(
        fs::read_to_string(desk.0.path().join("run.xml")).unwrap().contains("case=\"c1\"") || printed.contains("c1")
    );
    let summary: Value = serde_json::from_slice(&fs::read(desk.run_folder().join("summary.json")).unwrap()).unwrap();
    assert_eq!((&summary["verdict"], &summary["resumedAt"][1]), (&json!("passed"), &Value::Null));
}

#[test]
fn a_call_that_the_agent_may_have_made_when_the_run_was_killed_is_not_missed() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 1);
    let text = job(&agent, 1) + "assertions: [{name: it books, expression: 'evaluation.functionCalls.size == 1'}]\n";
    desk.write("job.yml", &text);
    desk.killed_at(&agent, 2);
    let (status, printed) = desk.typed("run --resume job.yml --no-progress");
    assert_eq!(status, 102, "{printed}");
    let why = "the message of turn 2 was sent again since eval-job was cut off, and the agent may have had it before";
    assert!(printed.split_whitespace().collect::<Vec<_>>().join(" ").contains(why), "{printed}");
    let (status, printed) = pasted_after(desk.0.path(), &printed, "run again what broke: ");
    assert_ne!(status, Some(102), "{printed}");
    assert_eq!(agent.asked_since(4), ["case 1, line 1", "case 1, line 2", "case 1, line 3"], "{printed}");
}

#[test]
fn without_a_file_the_newest_unfinished_run_goes_on_whatever_its_job() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 3);
    let (status, printed) = desk.typed("run --resume");
    assert!(status == 2 && printed.contains("nothing to resume: there is no run in runs"), "{printed}");
    desk.killed_at(&agent, 5);
    let (status, printed) = desk.typed("run --resume --no-progress");
    assert_eq!(status, 0, "{printed}");
    assert!(printed.contains(&format!("run {} goes on: ", desk.id())), "{printed}");
    let (status, printed) = desk.typed("run --resume");
    assert!(status == 2 && printed.contains("nothing to resume: no run is unfinished in runs"), "{printed}");
}

#[test]
fn a_run_that_has_ended_says_so_and_is_shown_again() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 2);
    let (status, printed) = desk.typed("run --resume job.yml");
    assert_eq!(status, 2);
    assert!(
        printed.contains("nothing to resume: there is no run of job.yml in runs\n  try: without --resume"),
        "{printed}"
    );
    assert_eq!(desk.typed("run job.yml").0, 0);
    let (journal, id) = (desk.journal(), desk.id());
    let (status, printed) = desk.typed(&format!("run --resume {id} -o out.json"));
    assert_eq!(status, 0, "{printed}");
    assert!(printed.contains(&format!("nothing to resume: run {id} has ended, with 2 conversations\n")), "{printed}");
    assert!(printed.contains("no gate: ") && desk.0.path().join("out.json").exists(), "{printed}");
    let (status, printed) = desk.typed("run --resume job.yml");
    assert_eq!(status, 2);
    assert!(printed.contains(&format!("no run of job.yml in runs is unfinished; the newest is {id}")), "{printed}");
    assert_eq!((desk.journal(), agent.asked_since(0).len()), (journal, 6));
}

#[test]
fn a_changed_job_is_refused_with_what_differs_and_nothing_is_changed() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 3);
    desk.killed_at(&agent, 5);
    let before = desk.journal();
    let text = job(&agent, 3);
    let template = "Judge {{ tasks }} by {{ transcript }}.";
    fs::create_dir_all(desk.0.path().join("other")).unwrap();
    let changed: [(&str, String, &str); 8] = [
        (
            "",
            text.replace("Ask about case 2", "Ask of case 2"),
            "cases[c2].tasks[0].task: \"Ask about case 2\" then, \"Ask of case 2\" now",
        ),
        ("", job(&agent, 4), "cases: c1, c2, c3 then, c1, c2, c3, c4 now"),
        ("", format!("{text}gate: {{minScore: 0.5}}\n"), "gate.minScore: nothing then, 0.5 now"),
        ("", format!("{text}weights: {{tasks: 3}}\n"), "weights.tasks"),
        ("", format!("{text}maxTurns: 6\n"), "maxTurns: 20 then, 6 now"),
        ("--model a,b", text.clone(), "the agent's models: gpt-4.1-mini then, a, b now"),
        ("--repeat 2", text.clone(), "repeat: 1 then, 2 now"),
        ("--rng-seed 3", text.clone(), "--rng-seed: "),
    ];
    for (flags, text, told) in changed {
        desk.write("job.yml", &text);
        let (status, printed) = desk.typed(&format!("run --resume {} {flags} job.yml", desk.id()));
        assert_eq!(status, 2, "{told}: {printed}");
        assert!(printed.contains("can't be resumed, since this has changed:\n  "), "{printed}");
        assert!(printed.contains(told), "{told}: {printed}");
        assert_eq!(desk.journal(), before, "{told}");
    }
    // What flags make up for is told as the command to type.
    desk.write("job.yml", &text);
    let (_, printed) = desk.typed(&format!("run --resume {} --repeat 2 --model a job.yml", desk.id()));
    let command = format!("the flags that it was begun with: eval-job run --resume {} --", desk.id());
    assert!(printed.contains(&command), "{printed}");
    assert!(printed.contains("--repeat 1") && printed.contains("--model gpt-4.1-mini"), "{printed}");
    desk.write("job.yml", &format!("# the same job\n{text}"));
    fs::create_dir_all(desk.0.path().join("other/eval")).unwrap();
    desk.write("other/eval/score.jinja", template);
    let (status, printed) = desk.typed("run --resume job.yml --prompts other");
    assert!(status == 2 && printed.contains("the prompt template eval/score"), "{printed}");
    assert_eq!(agent.asked_since(5), Vec::<String>::new());
    let (status, printed) = desk.typed("run --resume job.yml --time-limit 10m --token-limit 1000000");
    assert_eq!(status, 0, "limits and comments may change: {printed}");
}

#[test]
fn a_second_process_on_the_same_run_is_refused() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 2);
    agent.silent_at.store(2, Ordering::SeqCst);
    let mut first = desk.command("run job.yml").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    agent.arrived.recv().unwrap();
    let before = desk.journal();
    for line in ["run --resume job.yml".to_owned(), format!("run --retry-errors {}", desk.id())] {
        let (status, printed) = desk.typed(&line);
        assert_eq!(status, 2, "{printed}");
        let told = format!("error: run {} is in use by another process: ", desk.id());
        assert!(printed.contains(&told) && printed.contains("\n  try: wait for it to end; "), "{printed}");
    }
    assert_eq!((desk.journal(), agent.asked_since(2).len()), (before, 0));
    // Its lock is gone with it, however it ends.
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(desk.typed("run --resume job.yml").0, 0);
    assert_eq!(desk.record()["verdict"], "passed");
}

#[test]
fn what_broke_is_held_again_and_nothing_else() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 3);
    // The second of three can't open its session.
    let (down, child) = (agent.is_down.clone(), {
        agent.silent_at.store(3, Ordering::SeqCst);
        let text = job(&agent, 3).replace("name: Desk\n", "name: Desk\nlimits: {turn: 1}\n");
        desk.write("job.yml", &text);
        desk.command("run job.yml --no-progress").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    });
    agent.arrived.recv().unwrap();
    down.store(true, Ordering::SeqCst);
    let output: Output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(102));
    agent.silent_at.store(0, Ordering::SeqCst);
    let outcomes = |record: &Value| -> Vec<String> {
        let kind = |trial: &Value| trial["outcome"]["kind"].as_str().unwrap_or("none").to_owned();
        record["trials"].as_array().unwrap().iter().map(kind).collect()
    };
    let before = outcomes(&desk.record());
    assert_eq!(before[1..], ["broken", "broken"], "{before:?}");
    let (id, journal, asked) = (desk.id(), desk.journal(), agent.asked_since(0).len());
    let (status, printed) = desk.typed(&format!("run --resume {id}"));
    assert_eq!(status, 102);
    let told = format!("3 conversations; 2 of them can be run again: eval-job run --retry-errors {id}\n");
    assert!(printed.contains(&told), "{printed}");
    assert_eq!(desk.journal(), journal);

    down.store(false, Ordering::SeqCst);
    let (_, printed) = desk.typed("run --retry-errors job.yml --no-progress");
    assert!(printed.contains(&format!("run {id} goes on: 1 of 3 conversations kept, 2 run again")), "{printed}");
    let again: BTreeSet<String> = agent.asked_since(asked).iter().map(|message| case_of(message)).collect();
    assert_eq!(again, ["c2", "c3"].map(str::to_owned).into());
    let record = desk.record();
    assert_eq!(outcomes(&record), [before[0].as_str(), "graded", "graded"]);
    let replaced = &record["trials"][1]["replaced"][0]["outcome"]["kind"];
    assert_eq!(replaced, "broken", "what broke stays in the record");
    assert!(desk.journal().starts_with(&journal), "and in the journal");
    let (status, printed) = desk.typed(&format!("run --retry-errors {id}"));
    assert!(printed.contains("nothing to resume"), "{status}: {printed}");
}

#[test]
fn after_ctrl_c_the_command_is_printed_that_goes_on() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 3);
    agent.silent_at.store(4, Ordering::SeqCst);
    let command = desk.command("run job.yml --no-progress -o out.json");
    let (status, printed) = interrupted(command, &agent.arrived);
    assert_eq!(status, Some(130), "{printed}");
    let told = format!("resume it: eval-job run --output out.json --no-progress --resume {} job.yml\n", desk.id());
    assert!(printed.contains(&told), "{printed}");
    agent.silent_at.store(0, Ordering::SeqCst);
    let (status, printed) = pasted_after(desk.0.path(), &printed, "resume it: ");
    assert_eq!(status, Some(0), "{printed}");
    assert_eq!(agent.asked_since(4).iter().filter(|it| it.starts_with("case 1,")).count(), 0);
    let record: Value = serde_json::from_slice(&fs::read(desk.0.path().join("out.json")).unwrap()).unwrap();
    assert_eq!((&record["verdict"], &record["interrupted"]), (&json!("passed"), &json!(false)));
}

#[test]
fn of_several_jobs_the_one_of_the_run_goes_on() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 2);
    fs::remove_file(desk.0.path().join("job.yml")).unwrap();
    fs::create_dir(desk.0.path().join("jobs")).unwrap();
    desk.write("jobs/a.yml", &job(&agent, 1).replace("name: Desk", "name: A"));
    desk.write("jobs/b.yml", &job(&agent, 2).replace("name: Desk", "name: B"));
    agent.silent_at.store(5, Ordering::SeqCst);
    let (status, printed) = interrupted(desk.command("run jobs"), &agent.arrived);
    assert_eq!(status, Some(130));
    agent.silent_at.store(0, Ordering::SeqCst);
    let (status, resumed) = pasted_after(desk.0.path(), &printed, "resume it: ");
    assert_eq!(status, Some(0), "{resumed}");
    assert!(resumed.contains("note: 1 job left out: --resume goes on with one run"), "{resumed}");
    assert_eq!(agent.asked_since(5).iter().filter(|it| it.starts_with("case 1,")).count(), 2, "{resumed}");
    let (status, printed) = desk.typed("run jobs --resume");
    assert!(status == 2 && printed.contains("no run of 2 jobs in runs is unfinished"), "{printed}");
}

#[test]
fn the_run_of_a_part_goes_on_as_that_part_and_is_merged() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 6);
    agent.silent_at.store(5, Ordering::SeqCst);
    let (status, printed) = interrupted(desk.command("run job.yml --partition 1/2 --rng-seed 3"), &agent.arrived);
    assert_eq!(status, Some(130));
    agent.silent_at.store(0, Ordering::SeqCst);
    let (refused, words) = desk.typed(&format!("run --resume {} --partition 2/2", desk.id()));
    assert!(refused == 2 && words.contains("the part of the suite: 1/2 then, 2/2 now"), "{words}");
    assert_eq!(pasted_after(desk.0.path(), &printed, "resume it: ").0, Some(0));
    assert_eq!(desk.typed("run job.yml --partition 2/2 --rng-seed 3").0, 0);
    let (status, merged) = desk.typed("merge runs --runs-dir merged -o merged.json");
    assert_eq!(status, 0, "{merged}");
    let record: Value = serde_json::from_slice(&fs::read(desk.0.path().join("merged.json")).unwrap()).unwrap();
    assert_eq!(essence(&record)["trials"].as_array().unwrap().len(), 6);
    let (status, printed) = desk.typed("run --resume --runs-dir merged job.yml");
    assert_eq!(status, 2, "{printed}");
}

#[test]
fn of_a_merged_run_that_has_not_ended_the_runs_of_its_parts_are_named() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 6);
    agent.silent_at.store(5, Ordering::SeqCst);
    let mut child =
        desk.command("run job.yml --partition 1/2").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    agent.arrived.recv().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    agent.silent_at.store(0, Ordering::SeqCst);
    let id = desk.id();
    assert_eq!(desk.typed("run job.yml --partition 2/2").0, 0);
    let (_, merged) = desk.typed("merge runs --runs-dir merged");
    let (_, shown) = desk.typed("show --runs-dir merged");
    assert!(shown.contains("was merged of runs of which not all had ended"), "{merged}\n{shown}");
    assert!(shown.contains(&id) && !shown.contains("goes on with it"), "{shown}");
}

#[test]
fn a_run_of_which_nothing_is_left_is_no_failure_of_the_program() {
    let agent = Agent::start();
    let desk = Desk::new(&agent, 2);
    desk.killed_at(&agent, 4);
    let (id, journal) = (desk.id(), desk.run_folder().join("journal.ndjson"));
    let whole = fs::read(&journal).unwrap();
    for left in [&[][..], &whole[..20]] {
        fs::write(&journal, left).unwrap();
        let (status, printed) = desk.typed(&format!("run --resume {id}"));
        assert!(status == 2 && printed.contains("nothing is left of the run"), "{printed}");
    }
}

/// A folder that this process's user may not write in; `None` where nobody can be found who may not.
fn as_nobody(desk: &Path, line: &str) -> Option<Output> {
    let program = env!("CARGO_BIN_EXE_eval-job");
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]).args(line.split_whitespace());
    let output = command.current_dir(desk).env_clear().output().ok()?;
    (!words(&output).contains("setpriv: ")).then_some(output)
}

#[test]
fn a_run_in_a_folder_that_cannot_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let agent = Agent::start();
    let desk = Desk::new(&agent, 2);
    desk.killed_at(&agent, 4);
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let (run, before) = (desk.run_folder(), desk.journal());
    for folder in [desk.0.path(), &desk.0.path().join("runs"), &run] {
        mode(folder, 0o555);
    }
    mode(&run.join("journal.ndjson"), 0o444);
    let output = match rustix::process::geteuid().is_root() {
        true => as_nobody(desk.0.path(), "run --resume job.yml"),
        false => Some(desk.command("run --resume job.yml").output().unwrap()),
    };
    for folder in [desk.0.path(), &desk.0.path().join("runs"), &run] {
        mode(folder, 0o755);
    }
    let Some(output) = output else { return };
    let printed = words(&output);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains("error: the run can't be resumed: "), "{printed}");
    assert!(printed.contains("Permission denied") && printed.contains("try: make it writable"), "{printed}");
    assert_eq!((desk.journal(), agent.asked_since(4).len()), (before, 0));
}
