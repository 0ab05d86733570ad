//! Statements that would take all memory fail with a sentence, and nobody else notices: over Bolt, and in a run.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use neo4rs::{ConfigBuilder, Graph, query};
use serde_json::Value;

use super::{eval_job, kept_run};
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

/// Runs a command and prints the highest resident size that it came to, in kilobytes; fails where it ends with none of these.
const PEAK: &str = "
import resource, subprocess, sys
ended = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
assert str(ended.returncode) in sys.argv[1].split(), ended
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
";

/// The output of Python in a folder.
fn python(folder: &Path, arguments: &[&OsStr]) -> String {
    let output = Command::new("python3").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The highest resident size of eval-job, in kilobytes, with these arguments.
fn peak(folder: &Path, statuses: &str, arguments: &[&str]) -> u64 {
    let arguments = [&["-c", PEAK, statuses, env!("CARGO_BIN_EXE_eval-job")], arguments].concat();
    python(folder, &arguments.into_iter().map(OsStr::new).collect::<Vec<_>>()).trim().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_run_is_written_without_being_held_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let run = eval_job(folder).arg("run").arg(root().join("data/eval/agent.yml")).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let kept = fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path();
    // Some 3,000 replies of 20,000 bytes.
    let script = root().join("scripts/many-trials");
    let many = ["500", "many", "20000"].map(OsStr::new);
    python(folder, &[&[script.as_os_str(), kept.as_os_str()], &many[..]].concat());
    let peak = |file: &str| peak(folder, "0", &["show", "--runs-dir", "many", "-o", file]) / 1024;
    let least = peak("tokens.json");
    // A page holds its conversations until it knows which case comes first, but only as many as have room in it.
    for (file, more) in [("all.json", 24), ("all.xml", 24), ("all.md", 24), ("all.csv", 24), ("all.html", 64)] {
        let peak = peak(file);
        assert!(peak <= least + more, "{file}: {peak} MB, {least} MB of them for the run itself");
    }
    assert!(fs::metadata(folder.join("all.json")).unwrap().len() > 60_000_000);
}

/// The lines of a journal of which a run of many trials is made: without what was said but for two turns, and each kind of trial with
/// scores and times of its own.
fn slim(journal: &str) -> String {
    let mut lines: Vec<Value> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kept = ["runStarted", "trialStarted", "sessionOpened", "turnFinished", "trialFinished", "runFinished"];
    lines.retain(|line| kept.contains(&line["kind"].as_str().unwrap()));
    lines.retain(|line| line["kind"] != "turnFinished" || line.pointer("/turn/events").is_none());
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_run_is_compared_and_shown_with_does_not_grow_with_its_trials() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let job = root().join("data/eval/agent.yml");
    eval_job(folder).arg("run").arg(job).args(["--model", "demo-careful,demo-sloppy"]).output().unwrap();
    let kept = kept_run(folder).unwrap();
    let journal = fs::read_to_string(kept.join("journal.ndjson")).unwrap();
    fs::create_dir(folder.join("slim")).unwrap();
    fs::write(folder.join("slim/journal.ndjson"), slim(&journal)).unwrap();
    let script = root().join("scripts/many-trials");
    let sizes = ["2000", "20000"];
    for size in sizes {
        python(folder, &[script.as_os_str(), OsStr::new("slim"), OsStr::new(size), OsStr::new(size)]);
    }
    for arguments in [&["compare"][..], &["show"], &["trend"], &["show", "-o", "table.csv"]] {
        let peak = |size| peak(folder, "0 100 101 102", &[arguments, &["--runs-dir", size]].concat());
        let [few, many] = sizes.map(peak);
        // 18,000 more trials, of each of which up to a hundred bytes may be there at once; half a kilobyte and more was held before.
        assert!(many < few + 8000, "{arguments:?}: {few} kB for 2,000 trials, {many} kB for 20,000");
    }
}
