//! The example job with an agent in Python, as its readers run it. `scripts/peers` installs the driver.

use std::process::Command;

use eval_job::record::RunRecord;
use eval_job::score::Outcome;

use crate::house::root;
use crate::program::{eval_job, path_with_driver};
use crate::servers::neo4j;

fn run(driver: Option<&std::path::Path>) -> (std::process::Output, RunRecord) {
    let folder = tempfile::tempdir().unwrap();
    let mut command: Command = eval_job(folder.path());
    command.arg("run").arg(root().join("data/eval/python-agent.yml")).args(["--no-progress", "-o", "record.json"]);
    if let Some(driver) = driver {
        command.env("PATH", path_with_driver(folder.path(), driver));
    }
    let output = command.output().unwrap();
    let record = serde_json::from_slice(&std::fs::read(folder.path().join("record.json")).unwrap()).unwrap();
    (output, record)
}

#[test]
fn a_python_agent_with_the_official_driver_passes_its_job() {
    let driver = root().join("target/peers/python");
    if !driver.join("neo4j").exists() {
        assert!(std::env::var_os("CI").is_none(), "Python's neo4j is missing: run scripts/peers");
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "left out: the Python example: scripts/peers installs its driver");
        return;
    }
    let (output, record) = run(Some(&driver));
    let page = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{page}{}", String::from_utf8_lossy(&output.stderr));
    assert!(record.figures[0].figure.score().unwrap().get() > 0.97, "{page}");
    assert!(page.contains("embabel, started by `python3`"), "{page}");
    for trial in &record.trials {
        assert_eq!(trial.outcome, Some(Outcome::Graded));
        assert!(trial.agent_output.as_ref().unwrap().beginning.contains("the agent listens on port"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_scores_the_same_wherever_its_graph_is() {
    let driver = root().join("target/peers/python");
    if !driver.join("neo4j").exists() {
        return;
    }
    let Some(database) = neo4j::database("it_scores_the_same_wherever_its_graph_is").await else { return };
    let own = std::fs::read_to_string(root().join("data/eval/python-agent.yml")).unwrap();
    let agent = root().join("data/eval/python-agent/agent.py").display().to_string();
    let own = own.replace("python-agent/agent.py", &agent);
    let backend = "graph:\n  embedded: {bolt: auto}";
    let scores =
        [backend, "isolation: user\ngraph: {embedded: {}, WATCH}", "isolation: user\ngraph: {neo4j: {}, WATCH}"].map(
            |graph| {
                let graph = graph.replace("WATCH", "watch: {where: 'n.id = $user OR (:User {id: $user})-->(n)'}");
                let folder = tempfile::tempdir().unwrap();
                std::fs::write(folder.path().join("job.yml"), own.replace(backend, &graph)).unwrap();
                let mut command = eval_job(folder.path());
                command
                    .args(["run", "job.yml", "--no-progress", "-o", "record.json"])
                    .env("PATH", path_with_driver(folder.path(), &driver));
                let output = database.server.tell(&mut command).output().unwrap();
                assert_eq!(output.status.code(), Some(0), "{graph}: {}", String::from_utf8_lossy(&output.stdout));
                let record: RunRecord =
                    serde_json::from_slice(&std::fs::read(folder.path().join("record.json")).unwrap()).unwrap();
                record.trials.iter().map(|trial| trial.score().unwrap()).collect::<Vec<_>>()
            },
        );
    assert_eq!(scores[0], scores[1]);
    assert_eq!(scores[0], scores[2]);
    assert_eq!(database.server.value("MATCH (u:User) RETURN count(u)").await, "2", "a user for each conversation");
}

#[test]
fn without_the_driver_it_is_told_how_to_install_it() {
    // Where the driver is installed for everybody there is nothing to tell.
    if Command::new("python3").args(["-c", "import neo4j"]).output().unwrap().status.success() {
        return;
    }
    let (output, record) = run(None);
    assert_eq!(output.status.code(), Some(102));
    let error = super::broken(&record.trials[0]);
    assert!(
        error.contains("The neo4j package is missing. Install it: ") && error.contains("requirements.txt"),
        "{error}"
    );
}
