//! `eval-job graph serve`: a throw-away graph for an agent in another process.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use eval_job::record::RunRecord;

use super::eval_job;
use crate::house::root;

/// A process that says on its first lines where it listens.
pub(super) struct Served {
    child: Child,
    pub(super) lines: Vec<String>,
}

impl Served {
    pub(super) fn start(mut command: Command, lines: usize, from_stdout: bool) -> Served {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stream: Box<dyn Read> =
            if from_stdout { Box::new(child.stdout.take().unwrap()) } else { Box::new(child.stderr.take().unwrap()) };
        let lines = BufReader::new(stream).lines().take(lines).map(Result::unwrap).collect();
        Served { child, lines }
    }

    fn interrupt(&mut self) -> Option<i32> {
        assert!(Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn score(folder: &Path, job: &str, env: &[(String, String)]) -> f64 {
    std::fs::write(folder.join("job.yml"), job).unwrap();
    let output = eval_job(folder)
        .args(["run", "job.yml", "-o", "record.json", "--no-progress", "--model", "demo-careful"])
        .envs(env.iter().cloned())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let record: RunRecord = serde_json::from_slice(&std::fs::read(folder.join("record.json")).unwrap()).unwrap();
    record.figures[0].figure.score().unwrap().get()
}

#[test]
fn an_agent_in_another_process_scores_the_same_on_a_served_graph_as_on_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut serve = eval_job(root());
    serve.args(["graph", "serve", "--port", "0"]);
    let mut graph = Served::start(serve, 3, true);
    let env: Vec<(String, String)> =
        graph.lines.iter().filter_map(|line| line.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
    assert_eq!(env.len(), 3, "{:?}", graph.lines);

    let mut demo = eval_job(root());
    demo.args(["demo-agent", "--port", "0"]).envs(env.iter().cloned());
    let mut agent = Served::start(demo, 1, false);
    let address = agent.lines[0].split_once("listens at ").unwrap().1.split(';').next().unwrap().to_owned();

    let own = std::fs::read_to_string(root().join("data/eval/agent.yml")).unwrap();
    let served = own.replace("  demo: {}", &format!("  embabel: {{baseUrl: \"{address}\"}}")) + "graph: {neo4j: {}}\n";
    assert_eq!(score(folder.path(), &served, &env), score(folder.path(), &own, &[]));
    assert_eq!(agent.interrupt(), Some(0));
    assert_eq!(graph.interrupt(), Some(0));
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = eval_job(root()).args(["graph", "serve", "--port", &port]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("nothing can listen at") && words.contains("--port"), "{words}");
}
