//! Statements that would take all memory fail with a sentence, and nobody else notices: over Bolt, and in a run.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use neo4rs::{ConfigBuilder, Graph, query};

use super::eval_job;
use crate::house::root;

/// Sixty nodes in six groups of ten, each related to all of its group.
const SETUP: [&str; 2] = [
    "UNWIND range(1, 60) AS i CREATE (:K {i: i})",
    "MATCH (a:K), (b:K) WHERE a.i <> b.i AND a.i % 6 = b.i % 6 CREATE (a)-[:R {w: 1}]->(b)",
];

/// Each would take some gigabytes.
const LARGE: [&str; 22] = [
    "UNWIND range(1, 9000000) AS x RETURN size(collect(x)) AS n",
    "UNWIND range(1, 9000000) AS x CREATE (:N {x: x})",
    "MATCH p = (:K)-[:R*1..12]-(:K) RETURN count(p) AS n",
    "MATCH (:K)-[:R*1..12]->(b) RETURN count(b) AS n",
    "UNWIND range(1, 9000000) AS x WITH collect(x) AS l RETURN [y IN l | [y, y]] AS z",
    "WITH 'abcdefgh' AS s WITH s+s+s+s+s+s+s+s AS s WITH s+s+s+s+s+s+s+s AS s WITH s+s+s+s+s+s+s+s AS s WITH s+s+s+s+s+s+s+s \
     AS s WITH s+s+s+s+s+s+s+s AS s WITH s+s+s+s+s+s+s+s AS s WITH s+s+s+s+s+s+s+s AS s WITH s+s+s+s+s+s+s+s AS s RETURN size(s) AS n",
    "WITH 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' AS a WITH replace(a, 'a', a) AS b WITH replace(b, 'a', b) \
     AS c, b RETURN size(replace(c, 'a', b)) AS n",
    "WITH 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' AS a WITH replace(replace(replace(a, 'a', a), 'a', a), 'a', \
     a) AS b RETURN size(split(b, '')) AS n",
    "RETURN size(range(1, 9000000)) AS n",
    "RETURN range(1, 500000) + range(1, 500000) + range(1, 500000) AS l",
    "WITH range(1, 200000) AS l RETURN [l, l, l, l, l, l, l, l, l, l, l, l] AS z",
    "UNWIND range(1, 5000000) AS x RETURN x % 4000000 AS g, count(*) AS n",
    "UNWIND range(1, 3000) AS x UNWIND range(1, 3000) AS y WITH x, y ORDER BY x + y MATCH (a:K) RETURN count(a) AS n",
    "UNWIND range(1, 90000) AS x RETURN range(1, 1000) AS l",
    "UNWIND range(1, 2000000) AS x MERGE (:M {x: x})",
    "UNWIND range(1, 9000000) AS x WITH x WHERE x % 2 = 0 RETURN percentileCont(x, 0.5) AS n",
    "MATCH p = (:K)-[:R*1..6]-(:K) RETURN p",
    "MATCH p = (:K)-[:R*1..6]-(:K) RETURN collect(p) AS ps",
    "MATCH (a:K) RETURN [(a)-[:R*1..7]-(b) | b] AS l",
    "UNWIND range(1, 3000000) AS x WITH {a: x, b: toString(x), c: [x, x]} AS m RETURN collect(m) AS ms",
    "RETURN any(x IN range(1, 9000000) WHERE x = -1) AS b",
    "MATCH (n:K) SET n.l = [x IN range(1, 9000000) | x]",
];

struct Served {
    child: Child,
    uri: String,
    password: String,
}

impl Served {
    fn start(arguments: &[&str]) -> Served {
        let mut command = eval_job(root());
        command.args(["graph", "serve", "--port", "0"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines: Vec<String> =
            BufReader::new(child.stdout.take().unwrap()).lines().take(3).map(Result::unwrap).collect();
        let value = |at: usize| lines[at].split_once('=').unwrap().1.to_owned();
        Served { uri: value(0), password: value(2), child }
    }

    async fn connect(&self) -> Graph {
        let config = ConfigBuilder::default().uri(&self.uri).user("neo4j").password(&self.password).build().unwrap();
        Graph::connect(config).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A line of `/proc/PID/status`, in megabytes.
fn megabytes(process: u32, line: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|found| found.strip_prefix(line)).unwrap();
    line.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<u64>().unwrap() / 1024
}

async fn count(graph: &Graph) -> i64 {
    let mut rows = graph.execute(query("MATCH (n) RETURN count(n) AS n")).await.unwrap();
    let row = rows.next().await.unwrap().unwrap();
    assert!(rows.next().await.unwrap().is_none());
    row.get("n").unwrap()
}

/// Runs statements one after the other while somebody else keeps working; gives the highest resident size.
async fn blow_up(served: &Served, statements: &[&str]) -> u64 {
    let graph = served.connect().await;
    for statement in SETUP {
        graph.run(query(statement)).await.unwrap();
    }
    let (other, done) = (served.connect().await, Arc::new(AtomicBool::new(false)));
    let until = Arc::clone(&done);
    let others = tokio::spawn(async move {
        let (mut longest, mut times) = (Duration::ZERO, 0);
        while !until.load(Ordering::Acquire) {
            let start = Instant::now();
            assert_eq!(count(&other).await, 60);
            (longest, times) = (longest.max(start.elapsed()), times + 1);
        }
        (longest, times)
    });
    for statement in statements {
        let start = Instant::now();
        let result = async {
            let mut rows = graph.execute(query(statement)).await?;
            while rows.next().await?.is_some() {}
            Ok::<_, neo4rs::Error>(())
        };
        let words = result.await.unwrap_err().to_string();
        let limit = words.contains("takes more memory than the embedded graph allows, ");
        assert!(limit && words.contains("graph.embedded.memory"), "{statement}: {words}");
        assert!(start.elapsed() < Duration::from_secs(30), "{statement}: {:?}", start.elapsed());
    }
    done.store(true, Ordering::Release);
    let (longest, times) = others.await.unwrap();
    assert!(times > 0 && longest < Duration::from_secs(10), "{times} times, at most {longest:?}");
    megabytes(served.child.id(), "VmHWM")
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_that_would_take_all_memory_fail_and_their_memory_goes_back() {
    let served = Served::start(&["--memory", "64"]);
    count(&served.connect().await).await;
    let before = megabytes(served.child.id(), "RssAnon");
    let peak = blow_up(&served, &LARGE).await;
    assert!(peak < 300, "{peak} MB");
    let after = megabytes(served.child.id(), "RssAnon");
    assert!(after < before + 60, "{before} MB before, {after} MB after");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_default_a_statement_may_take_half_a_gigabyte() {
    let served = Served::start(&[]);
    let peak = blow_up(&served, &LARGE[..2]).await;
    assert!((256..1200).contains(&peak), "{peak} MB");
}

#[test]
fn a_conversation_whose_assertion_would_take_all_memory_leaves_the_others_alone() {
    let folder = tempfile::tempdir().unwrap();
    let job = fs::read_to_string(root().join("data/eval/agent.yml")).unwrap().replace(
        "assertions:\n",
        "assertions:\n  - {cypher: 'UNWIND range(1, 9000000) AS x RETURN size(collect(x))', expected: 1, when: withFacts}\n",
    ) + "graph: {embedded: {memory: 32 MB}}\n";
    fs::write(folder.path().join("job.yml"), job).unwrap();
    let output = eval_job(folder.path()).args(["run", "job.yml", "--no-progress"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(102), "{told}");
    assert!(told.contains("The statement takes more memory than the embedded graph allows, 32 MB"), "{told}");
    assert!(told.contains("1 of 2 conversations could not be scored"), "{told}");
}

/// Runs a command and prints the highest resident size that it came to, in megabytes.
const PEAK: &str = "
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
";

#[cfg(target_os = "linux")]
#[test]
fn a_long_run_is_written_without_being_held_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = eval_job(folder).arg("run").arg(root().join("data/eval/agent.yml")).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let kept = fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path();
    let python = |arguments: &[&std::ffi::OsStr]| {
        let output = std::process::Command::new("python3").current_dir(folder).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // Some 3,000 replies of 20,000 bytes.
    let script = root().join("scripts/many-trials");
    let many = ["500", "many", "20000"].map(std::ffi::OsStr::new);
    python(&[&[script.as_os_str(), kept.as_os_str()], &many[..]].concat());
    let peak = |file: &str| {
        let arguments = ["-c", PEAK, env!("CARGO_BIN_EXE_eval-job"), "show", "--runs-dir", "many", "-o", file];
        python(&arguments.map(std::ffi::OsStr::new)).trim().parse::<u64>().unwrap()
    };
    let least = peak("tokens.json");
    // A page holds its conversations until it knows which case comes first, but only as many as have room in it.
    for (file, more) in [("all.json", 24), ("all.xml", 24), ("all.md", 24), ("all.csv", 24), ("all.html", 64)] {
        let peak = peak(file);
        assert!(peak <= least + more, "{file}: {peak} MB, {least} MB of them for the run itself");
    }
    assert!(fs::metadata(folder.join("all.json")).unwrap().len() > 60_000_000);
}
