//! Mistakes on the command line: the status that says that nothing was run, and what to try.

use std::fs;
use std::os::unix::fs::symlink;

use super::eval_job;

const JOB: &str = "target: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\nfacts: []\n\
                   tasks: [{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder to call Bob is created},\n\
                   {task: Ask for the price of a zebra, acceptanceCriteria: Seventeen zebras are named}]\n";

/// A folder with a job, and what `eval-job` made of these arguments there: its status and all that it printed.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("job.yml"), JOB).unwrap();
        fs::create_dir(folder.path().join("folder.json")).unwrap();
        Desk(folder)
    }

    fn typed(&self, line: &str) -> (Option<i32>, String) {
        let output = eval_job(self.0.path()).args(line.split(' ')).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    }

    fn has(&self, name: &str) -> bool {
        self.0.path().join(name).exists()
    }
}

#[test]
fn a_mistake_is_bad_usage_and_says_what_to_try() {
    let desk = Desk::new();
    for (line, words) in [
        (
            "run job.yml -o nodir/x.json",
            "there is no folder nodir\n  try: mkdir -p nodir, or another path with -o PATH",
        ),
        ("run job.yml -o job.yml/x.json", "job.yml is a file, not a folder\n  try: another path"),
        ("run job.yml -o folder.json", "folder.json can't be written: it is a folder\n  try: "),
        ("run job.yml -o /proc/x.json", "/proc/x.json can't be written: "),
        (
            "run job.yml --runs-dir job.yml",
            "job.yml is a file, not a folder\n  try: another folder with --runs-dir DIR",
        ),
        (
            "run job.yml --runs-dir job.yml/x",
            "job.yml is a file, not a folder\n  try: another folder with --runs-dir DIR",
        ),
        ("run job.yml --runs-dir /proc/x", "\n  try: another folder with --runs-dir DIR"),
        ("list --runs-dir job.yml", "job.yml is a file, not a folder\n  try: another folder with --runs-dir DIR"),
        ("audit no.yml", "there is no file no.yml\n  try: eval-job audit FILE"),
        ("audit job.yml --max-trivial-score 2", "2"),
        ("init job.yml", "job.yml is a file, not a folder\n  try: eval-job init FOLDER"),
        ("init /proc/x", "\n  try: eval-job init FOLDER"),
        (
            "run job.yml --prices no.yml",
            "there is no file no.yml\n  try: --prices FILE, with the path of a file of prices",
        ),
        ("run job.yml --prices .", ". is a folder, not a file\n  try: --prices FILE"),
        ("run no.yml", "there is no file no.yml\n  try: eval-job run FILE, with"),
        ("run jbo.yml", "there is no file jbo.yml\n  try: eval-job run job.yml; or eval-job run FILE, with"),
        ("job.yml", "a job is run by `eval-job run job.yml`"),
        ("run job.yml -o .", ". is a folder, not a file\n  try: -o ./result.html"),
        ("show -o -", "-o - is for `eval-job run`\n  try: eval-job show --json"),
        ("validate no.yml", "there is no file no.yml\n  try: eval-job validate FILE, with"),
        ("probe no.yml", "there is no file no.yml\n  try: eval-job probe FILE, with"),
        ("grade --job no.yml", "there is no file no.yml\n  try: eval-job grade --job FILE, with"),
        ("probe .", ". is a folder, not a file\n  try: eval-job probe ./job.yml"),
        (
            "run folder.json",
            "there is no job in folder.json: no .yml or .yaml file with a `target`\n  try: eval-job init folder.json",
        ),
        (
            "validate no/*.yml",
            "no file matches no/*.yml\n  try: eval-job validate FILE, with the path of a job file, or a folder",
        ),
        ("run job.yml --tag smoek", "no case is meant by --tag smoek\n  try: no --tag: neither the jobs nor"),
        (
            "validate . --filter nothing",
            "no case is meant by --filter nothing\n  try: a part of a case's id, of a job's name",
        ),
        ("run job.yml --limit 0", "'--limit <N>': a whole number from 1 to"),
        ("run job.yml --partition 5/4", "'--partition <K/N>': there is no part 5 of 4"),
        (
            "baseline set 2026 abc",
            "'<NAME>': a name has up to 60 letters, digits, `-`, `_` and `.`, and begins with a letter",
        ),
        ("baseline set main", "there are no runs in runs yet\n  try: eval-job run"),
        ("baseline rm main", "there is no baseline `main` in runs\n  try: eval-job baseline set NAME RUN"),
        ("baseline", "Name a run that later ones are compared with"),
        ("merge", "the following required arguments were not provided:\n  <RUN>..."),
        ("merge no", "there is neither a folder nor a run `no` in runs\n  try: the folder of the part's runs"),
        ("merge folder.json", "there are no runs of parts in these folders\n  try: "),
        ("merge job.yml", "there is neither a folder nor a run `job.yml` in runs\n  try: "),
        ("run --repeat -1", "'--repeat <N>': a whole number from 1 to 10000"),
        ("run --repeat x", "'--repeat <N>': a whole number from 1 to 10000"),
        ("run -j -1", "a whole number from 1 to 65535"),
        ("run --rng-seed -1", "a whole number from 0 to"),
        ("run --token-limit -1", "a whole number from 1 to"),
        ("run --cost-limit -1", "a cost is a number of US dollars, more than 0"),
        ("run --time-limit -1.5", "a time is a number of seconds, more than 0"),
        ("run --min-score -0.5", "a score is a number from 0 to 1"),
        ("demo-agent --port -1", "a whole number from 0 to 65535"),
        ("graph serve --port 70000", "a whole number from 0 to 65535"),
        (
            "rnu",
            "a similar subcommand exists: 'run'\n  tip: the subcommands are run, init, validate, import, generate, cases, probe, ",
        ),
        ("frobnicate", "tip: the subcommands are run, init, validate, import, generate, cases, probe, "),
        ("graph foo", "tip: the subcommands are serve\n"),
    ] {
        let (status, printed) = desk.typed(line);
        assert_eq!(status, Some(2), "{line}: {printed}");
        assert!(printed.contains(words), "{line}: {printed}");
    }
    assert!(!desk.has("runs"), "nothing was run");
}

#[test]
fn a_file_for_the_record_is_tried_before_the_run_and_left_as_it_is() {
    let desk = Desk::new();
    fs::write(desk.0.path().join("old.json"), "old").unwrap();
    symlink("nowhere.json", desk.0.path().join("link.json")).unwrap();
    let (status, printed) = desk.typed("run no.yml -o old.json -o new.json -o link.json");
    assert_eq!(status, Some(2), "{printed}");
    assert_eq!(fs::read_to_string(desk.0.path().join("old.json")).unwrap(), "old");
    assert!(!desk.has("new.json") && !desk.has("nowhere.json"), "{printed}");
    assert!(desk.0.path().join("link.json").is_symlink());
    let (status, printed) = desk.typed("run job.yml -o old.json -o new.json -o link.json");
    assert_eq!(status, Some(0), "{printed}");
    assert_eq!(
        fs::read(desk.0.path().join("old.json")).unwrap(),
        fs::read(desk.0.path().join("nowhere.json")).unwrap()
    );
}

#[test]
fn a_record_that_can_not_be_written_leaves_the_verdict_and_says_how_to_get_it() {
    let desk = Desk::new();
    symlink("/dev/full", desk.0.path().join("full.json")).unwrap();
    for (gate, expected) in [("", 1), (" --min-score 1", 100)] {
        let (status, printed) = desk.typed(&format!("run job.yml -o full.json{gate}"));
        assert_eq!(status, Some(expected), "{printed}");
        let (_, after) = printed.split_once("error: full.json can't be written: ").unwrap();
        let command = after.split("eval-job ").nth(1).unwrap().split(',').next().unwrap();
        let command = command.replace("full.json", "late.json");
        assert_eq!(desk.typed(&command).0, Some(if expected == 1 { 0 } else { 100 }));
        assert!(desk.has("late.json"), "{printed}");
        fs::remove_file(desk.0.path().join("late.json")).unwrap();
    }
}

#[test]
fn the_command_that_writes_a_file_later_names_its_format_too() {
    let desk = Desk::new();
    symlink("/dev/full", desk.0.path().join("full.json")).unwrap();
    let (status, printed) = desk.typed("run job.yml -o adk=full.json");
    assert_eq!(status, Some(1), "{printed}");
    let command = printed.split("eval-job ").last().unwrap().split(',').next().unwrap();
    assert!(command.ends_with(" -o adk=full.json"), "{printed}");
    assert_eq!(desk.typed(&command.replace("full.json", "late.json")).0, Some(0));
    let late = fs::read_to_string(desk.0.path().join("late.json")).unwrap();
    assert!(late.contains("eval_set_result_id"), "{late}");
}

#[test]
fn a_limit_says_nothing_of_models_that_nobody_asks() {
    let (status, printed) = Desk::new().typed("run job.yml --token-limit 300");
    assert_eq!(status, Some(0), "{printed}");
    assert!(!printed.contains("limits.tokens"), "{printed}");
}

#[test]
fn a_command_that_ends_at_once_is_not_reachable() {
    let desk = Desk::new();
    let job = JOB.replace("demo: {}", "command: {command: sh, args: [no-such-script.sh]}");
    fs::write(desk.0.path().join("job.yml"), job).unwrap();
    let (status, printed) = desk.typed("probe job.yml");
    assert_eq!(status, Some(102), "{printed}");
    assert!(printed.contains("reachable       no: the command was started, and no reply came\n"), "{printed}");
    assert!(printed.contains("it can          answer messages\n"), "{printed}");
}

#[test]
fn a_dash_prints_the_record_and_the_report_goes_to_stderr() {
    let desk = Desk::new();
    let output = eval_job(desk.0.path()).args(["run", "job.yml", "-o", "-", "-o", "run.csv"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["trials"].as_array().unwrap().len(), 1);
    assert!(String::from_utf8(output.stderr).unwrap().contains("\nScore "), "the report");
    assert!(desk.has("run.csv") && !desk.has("-"));
}

#[test]
fn what_could_not_be_printed_can_be_shown_later() {
    let desk = Desk::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = eval_job(desk.0.path()).args(["run", "job.yml"]).stdout(full).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    let command = told.lines().find_map(|line| line.strip_prefix("show it again: eval-job ")).unwrap();
    assert!(told.contains("stdout can't be written: No space left"), "{told}");
    let (status, shown) = desk.typed(command);
    assert!(status == Some(0) && shown.contains("Score"), "{shown}");
}

#[test]
fn a_key_that_no_header_can_carry_is_refused_before_anything_is_sent() {
    let desk = Desk::new();
    let job = JOB.replace("scorer: {model: scripted}", "scorer: {model: openai/gpt-4.1-mini}");
    fs::write(desk.0.path().join("job.yml"), job).unwrap();
    for (key, words) in [
        ("sk-1\nsk-2", "OPENAI_API_KEY holds a line break"),
        ("sk-1\n", "OPENAI_API_KEY holds a line break"),
        ("\u{2026}", "OPENAI_API_KEY is a placeholder"),
    ] {
        let output = eval_job(desk.0.path()).args(["validate", "job.yml"]).env("OPENAI_API_KEY", key).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains(words) && !told.contains("sk-"), "{told}");
    }
    let mut command = eval_job(desk.0.path());
    let output =
        command.args(["run", "job.yml"]).env("OPENAI_API_KEY", "k").env("EVAL_JOB_AGENT_API_KEY", "a\nb").output();
    let told = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(told.contains("EVAL_JOB_AGENT_API_KEY holds a line break"), "{told}");
}

#[test]
fn what_a_job_says_twice_or_in_vain_is_warned_of() {
    let desk = Desk::new();
    let twice = JOB.replace("Ask for the price of a zebra", "Ask for a reminder to call Bob");
    fs::write(desk.0.path().join("job.yml"), twice).unwrap();
    let (status, told) = desk.typed("validate job.yml");
    assert!(status == Some(0) && told.contains("warning · tasks 1 and 2 ask for the same"), "{told}");
    let command = JOB.replace("demo: {}", "command: {command: python3}");
    fs::write(desk.0.path().join("job.yml"), command).unwrap();
    let (status, told) = desk.typed("validate job.yml --model gpt-4o");
    let words = "warning · --model gpt-4o only names the agent in reports: target.command does not tell it a model; ";
    assert!(status == Some(0) && told.contains(words), "{told}");
}
