//! Runs that are graded again from what was kept of them.

use std::path::Path;

use super::eval_job;

const JOB: &str = "target: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\n\
                   facts: [The appointment is on 7 March 2031 at 9:00]\n\
                   tasks: [{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder to call Bob is created}]\n\
                   assertions: [{name: exists, cypher: 'MATCH (r:Reminder) RETURN count(r) > 0', expected: true}]\n";

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = eval_job(folder).args(arguments).output().unwrap();
    let words = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(words).unwrap())
}

fn kept(job: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("job.yml"), job).unwrap();
    let (status, words) =
        run(folder.path(), &["run", "job.yml", "--model", "demo-sloppy", "--min-score", "0.9", "-o", "first.json"]);
    assert_eq!(status, Some(100), "{words}");
    folder
}

#[test]
fn a_run_is_graded_again_by_its_own_job_or_by_a_corrected_one() {
    let folder = kept(JOB);
    let (status, words) = run(folder.path(), &["grade", "-o", "again.json"]);
    assert_eq!(status, Some(100), "{words}");
    assert!(words.contains("nothing came out otherwise\n  verdict: gate failed → gate failed"), "{words}");
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(folder.path().join(name)).unwrap()).unwrap()
    };
    assert_eq!(read("again.json"), read("first.json"), "the same evidence by the same job");

    std::fs::write(
        folder.path().join("other.yml"),
        JOB.replace("expected: true", "expected: false, holdsBefore: true"),
    )
    .unwrap();
    let (status, words) = run(folder.path(), &["grade", "--job", "other.yml"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("exists: 0.00 → 1.00 (2 conversations)"), "{words}");
    assert!(words.contains("verdict: gate failed → passed"), "{words}");
    assert!(words.contains("grade-2.json, beside the first verdict"), "{words}");
    assert_eq!(run(folder.path(), &["show"]).0, Some(100), "the first verdict stands");
}

#[test]
fn a_corrected_query_is_never_graded_by_the_rows_of_another() {
    let with = |assertions: &str| {
        let job = JOB.split("assertions:").next().unwrap();
        format!("{job}assertions: [{assertions}]\n")
    };
    let query = |name: &str, label: &str, expected: u32| {
        format!("{{{name}cypher: 'MATCH (r:{label}) RETURN count(r)', expected: {expected}, holdsBefore: true}}")
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, assertions: &[String]| {
        std::fs::write(folder.path().join(name), with(&assertions.join(", "))).unwrap();
    };
    let (reminders, people) = (query("name: n, ", "Reminder", 1), query("name: n, ", "Person", 0));
    write("job.yml", &[query("", "Reminder", 5), reminders.clone(), people.clone()]);
    let (status, words) = run(folder.path(), &["run", "job.yml"]);
    assert_eq!(status, Some(0), "{words}");

    // The rows are those of the query, whatever stands before it.
    write("swapped.yml", &[query("", "Reminder", 5), people.clone(), reminders.clone()]);
    let (_, words) = run(folder.path(), &["grade", "--job", "swapped.yml"]);
    assert!(words.contains("nothing came out otherwise"), "{words}");

    // What is expected is corrected: the rows that were kept decide.
    write("corrected.yml", &[query("", "Reminder", 1), reminders, people]);
    let (status, words) = run(folder.path(), &["grade", "--job", "corrected.yml"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("0.00 → 1.00 (2 conversations)"), "{words}");

    // Another query under the same name was never run.
    write("other.yml", &[query("name: n, ", "Contact", 1)]);
    let (status, words) = run(folder.path(), &["grade", "--job", "other.yml"]);
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("was never run"), "{words}");
}

#[test]
fn a_run_whose_journal_was_altered_is_incomplete_however_it_is_graded() {
    let folder = kept(JOB);
    let runs = std::fs::read_dir(folder.path().join("runs")).unwrap();
    let journal = runs.map(|run| run.unwrap().path().join("journal.ndjson")).find(|path| path.exists()).unwrap();
    let whole = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let nth = |kind: &str| lines.iter().position(|line| line.contains(&format!("\"kind\":\"{kind}\""))).unwrap();
    let others = |left_out: usize| {
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, line)| *line);
        kept.collect::<Vec<_>>().join("\n") + "\n"
    };
    for text in [whole.replacen("demo-sloppy", "demo-careful", 1), others(nth("turnFinished"))] {
        std::fs::write(&journal, text).unwrap();
        for arguments in [&["show"][..], &["grade", "-o", "again.json"], &["grade", "--weights", "assertions=0"]] {
            let (status, words) = run(folder.path(), arguments);
            assert_eq!(status, Some(102), "{arguments:?}: {words}");
            assert!(words.contains("of the journal is damaged"), "{words}");
        }
        let again = std::fs::read_to_string(folder.path().join("again.json")).unwrap();
        let again: serde_json::Value = serde_json::from_str(&again).unwrap();
        assert_eq!(again["verdict"], "incomplete");
    }
    std::fs::write(&journal, others(0)).unwrap();
    let (status, words) = run(folder.path(), &["grade"]);
    assert_eq!(status, Some(1), "{words}");
    assert!(words.contains("or its first line is damaged; say --job FILE"), "{words}");
    let (status, words) = run(folder.path(), &["grade", "--job", "job.yml"]);
    assert_eq!(status, Some(102), "{words}");
}

#[test]
fn a_run_whose_last_lines_were_deleted_is_incomplete_and_of_none_nothing_is_left() {
    let folder = kept(JOB);
    let runs = std::fs::read_dir(folder.path().join("runs")).unwrap();
    let journal = runs.map(|run| run.unwrap().path().join("journal.ndjson")).find(|path| path.exists()).unwrap();
    let whole = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    std::fs::write(&journal, lines[..lines.len() - 1].join("\n") + "\n").unwrap();
    let (status, words) = run(folder.path(), &["show"]);
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("when the run ended: what followed was deleted"), "{words}");
    for (text, why) in [("", "the journal is empty"), (&whole[..200], "was cut off within its first line")] {
        std::fs::write(&journal, text).unwrap();
        let (status, words) = run(folder.path(), &["show"]);
        assert_eq!(status, Some(1), "{words}");
        assert!(words.contains(why) && words.contains("nothing is left of the run"), "{words}");
        assert!(words.contains("try: another run, which `eval-job list` names"), "{words}");
    }
}

#[test]
fn weights_are_others_and_what_only_the_graph_can_tell_is_missing() {
    let folder = kept(JOB);
    let (status, words) = run(folder.path(), &["grade", "--weights", "tasks=1,assertions=0,tasks=2"]);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("--weights names tasks twice"), "{words}");
    let (status, words) = run(folder.path(), &["grade", "--weights", "assertions=0"]);
    assert_eq!(status, Some(0), "{words}");
    let more = format!(
        "{}  - {{cypher: 'RETURN 1', expected: 1}}\n",
        JOB.replace("assertions: [{", "assertions:\n  - {").replace("}]\n  -", "}\n  -")
    );
    let more = more.replace("expected: true}]", "expected: true}");
    std::fs::write(folder.path().join("more.yml"), more).unwrap();
    let (status, words) = run(folder.path(), &["grade", "--job", "more.yml"]);
    assert_eq!(status, Some(102), "{words}");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("was never run, and what it returns can't be determined without the graph"), "{words}");
    let (status, words) = run(folder.path(), &["grade", "--weights", "task=2"]);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("the run's job has no metric `task`"), "{words}");
}

#[test]
fn a_job_about_other_cases_is_refused_and_one_that_lacks_some_says_so() {
    let folder = kept(JOB);
    let cases = |ids: &[&str]| {
        let case = |id: &&str| {
            format!(
                "  - id: {id}\n    tasks: [{{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder is created}}]\n"
            )
        };
        let (head, rest) = JOB.split_once("tasks:").unwrap();
        let rest = rest.split_once("assertions:").map(|(_, rest)| format!("assertions:{rest}")).unwrap_or_default();
        format!("{head}{rest}cases:\n{}", ids.iter().map(case).collect::<String>())
    };
    std::fs::write(folder.path().join("several.yml"), cases(&["one", "two"])).unwrap();
    let (status, words) = run(folder.path(), &["run", "several.yml", "--runs-dir", "several"]);
    assert!([Some(0), Some(100)].contains(&status), "{words}");
    std::fs::write(folder.path().join("others.yml"), cases(&["three", "four"])).unwrap();
    let (status, words) = run(folder.path(), &["grade", "--job", "others.yml", "--runs-dir", "several"]);
    assert_eq!(status, Some(2), "{words}");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("others.yml has none of the cases that"), "{words}");
    assert!(words.contains("is about (one, two): its own are three, four"), "{words}");
    std::fs::write(folder.path().join("some.yml"), cases(&["two", "three"])).unwrap();
    let (_, words) = run(folder.path(), &["grade", "--job", "some.yml", "--runs-dir", "several"]);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("some.yml has not all cases of") && words.contains("there is no new score for one"),
        "{words}"
    );
}
