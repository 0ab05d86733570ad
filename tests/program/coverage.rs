//! What the cases of runs touch.

use std::path::Path;

use super::eval_job;

const JOB: &str = "name: suite\ntarget: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\n\
                   facts: []\n\
                   tasks: [{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder to call Bob is created}]\n";
const LOOKS: &str = "assertions: [{name: exists, cypher: 'MATCH (:User)-[:HAS_REMINDER]->(r:Reminder) RETURN count(r)', expected: 1}]\n";

fn coverage(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = eval_job(folder).arg("coverage").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Runs a job, and says the run's id.
fn run(folder: &Path, job: &str) -> String {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let output = eval_job(folder).args(["run", "job.yml", "-o", "run.json"]).output().unwrap();
    assert!([Some(0), Some(100)].contains(&output.status.code()), "{}", String::from_utf8_lossy(&output.stderr));
    let run: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("run.json")).unwrap()).unwrap();
    run["id"].as_str().unwrap().to_owned()
}

#[test]
fn what_no_case_touches_is_listed_and_a_suite_that_touches_less_fails() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("tools.yml"), "- createReminder\n- planted\n").unwrap();
    let looking = run(folder, &format!("{JOB}{LOOKS}"));
    let (status, shown, _) = coverage(folder, &["--tools", "tools.yml"]);
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("✗ planted · never called"), "{shown}");
    assert!(!shown.contains("createReminder"), "{shown}");
    let (_, all, _) = coverage(folder, &["--tools", "tools.yml", "-v"]);
    for line in
        ["✓ createReminder · called in 1 conversation", "✓ HAS_REMINDER · changed in 1 conversation, an assertion"]
    {
        assert!(all.contains(line), "{all}");
    }

    let blind = run(folder, JOB);
    assert_eq!(coverage(folder, &[&blind, "--against", &blind]).0, Some(0));
    let (status, shown, _) = coverage(folder, &[&blind, "--against", &looking]);
    assert_eq!(status, Some(100), "{shown}");
    assert!(shown.contains("not covered any more · labels Reminder"), "{shown}");
    let (status, shown, _) = coverage(folder, &[&looking, "--against", &blind]);
    assert_eq!((status, shown.contains("covered now, and not before · relationships HAS_REMINDER")), (Some(0), true));

    // Together they are one suite.
    let (status, text, _) = coverage(folder, &[&blind, &looking, "--json", "--tools", "tools.yml"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &json["runs"], &json["conversations"]), (Some(0), &2.into(), &2.into()));
    let gaps = json["items"].as_array().unwrap().iter().filter(|item| item["covered"] == false);
    assert!(
        gaps.clone().any(|item| item["name"] == "planted") && gaps.count() < json["items"].as_array().unwrap().len()
    );
}

#[test]
fn a_suite_that_touches_too_little_fails_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &format!("{JOB}{LOOKS}"));
    assert_eq!(coverage(folder.path(), &["--fail-under", "10"]).0, Some(0));
    std::fs::write(folder.path().join("tools.json"), r#"{"tools": [{"name": "a"}, {"name": "\u001b[31mb"}]}"#).unwrap();
    let (status, shown, said) = coverage(folder.path(), &["--fail-under", "100%", "--tools", "tools.json"]);
    assert_eq!(status, Some(100), "{shown}");
    assert!(said.contains("less than 100 % is covered (--fail-under)"), "{said}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn what_can_not_be_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (status, _, said) = coverage(folder, &[]);
    assert_eq!(status, Some(2), "{said}");
    run(folder, JOB);
    std::fs::write(folder.join("none.json"), r#"{"name": "x"}"#).unwrap();
    for (arguments, expected) in [
        (&["nope"][..], "there is no run `nope`"),
        (&["--against", "nope"], "there is no run `nope`"),
        (&["--tools", "none.json"], "there are no tools in it"),
        (&["--tools", "absent.json"], "there is no file absent.json"),
        (&["--tools", "/dev/zero"], "it is a pipe or a device"),
        (&["--fail-under", "101"], "a number from 0 to 100"),
    ] {
        let (status, shown, said) = coverage(folder, arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected) && shown.is_empty(), "{arguments:?}: {said}");
    }
}
