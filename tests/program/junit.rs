//! JUnit files against the schema by which Jenkins's xUnit plugin accepts them (`tests/fixtures/junit`), checked by lxml,
//! which `scripts/peers` installs. GitLab's and GitHub's viewers read less of them: names, times, messages and output.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::eval_job;
use super::outputs::hostile_run;
use crate::house::root;
use crate::servers::leave_out;

/// Prints what the schema has against each file.
const CHECK: &str = "
import sys
from lxml import etree
schema = etree.XMLSchema(etree.parse(sys.argv[1]))
for name in sys.argv[2:]:
    schema.validate(etree.parse(name, etree.XMLParser(huge_tree=True)))
    for error in schema.error_log:
        print(f'{name}:{error.line}: {error.message}')
";

/// What the schema has against these files of a folder; nothing where nobody can tell.
fn complaints(folder: &Path, files: &[&str]) -> Option<String> {
    let peers = root().join("target/peers/lxml");
    if !peers.exists() {
        leave_out("JUnit's schema", "there is no lxml: run scripts/peers");
        return None;
    }
    let schema = root().join("tests/fixtures/junit/junit-10.xsd");
    let mut python = Command::new("python3");
    python.current_dir(folder).env("PYTHONPATH", peers).args(["-c", CHECK]);
    let output = python.arg(schema).args(files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Runs `args` in the folder, which must end with this status.
fn run(folder: &Path, args: &[&str], status: i32) {
    let output = eval_job(folder).args(["run", "--no-progress"]).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn whatever_came_of_a_run_its_file_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("jobs")).unwrap();
    let demo = fs::read_to_string(root().join("data/eval/agent.yml")).unwrap();
    fs::write(folder.join("jobs/demo.yml"), &demo).unwrap();
    let gone = "target: {user: u, chatbot: c, embabel: {baseUrl: 'http://127.0.0.1:9'}}\nfacts: []\n\
                evaluator: {model: scripted}\nscorer: {model: scripted}\n\
                tasks: [{task: Ask for a reminder to call Bob, acceptanceCriteria: A reminder is created}]\n";
    fs::write(folder.join("jobs/gone.yml"), gone).unwrap();
    run(folder, &["jobs/demo.yml", "-o", "passed.xml"], 0);
    run(folder, &["jobs/demo.yml", "--model", "demo-careful,demo-sloppy", "--repeat", "2", "-o", "gate.xml"], 100);
    run(folder, &["jobs/gone.yml", "-o", "incomplete.xml"], 102);
    run(folder, &["jobs", "-o", "several.xml"], 102);
    hostile_run(folder, &["-o", "hostile.xml"]);
    let Some(found) = complaints(folder, &["passed.xml", "gate.xml", "incomplete.xml", "several.xml", "hostile.xml"])
    else {
        return;
    };
    assert_eq!(found, "");
    // The schema is a real one: it refuses what is not in it.
    let passed = fs::read_to_string(folder.join("passed.xml")).unwrap();
    fs::write(folder.join("unknown.xml"), passed.replacen("<testcase ", "<testcase weight=\"1\" ", 1)).unwrap();
    fs::write(folder.join("time.xml"), passed.replacen("time=\"", "time=\"about ", 1)).unwrap();
    fs::write(folder.join("place.xml"), passed.replacen("<properties>", "<failure/><properties>", 1)).unwrap();
    let found = complaints(folder, &["unknown.xml", "time.xml", "place.xml"]).unwrap();
    for (file, what) in [("unknown", "'weight' is not allowed"), ("time", "pattern"), ("place", "not expected")] {
        let told = |line: &str| line.starts_with(file) && line.contains(what);
        assert!(found.lines().any(told), "{file}: {found}");
    }
}
