//! A real Neo4j, where there is one: the variables that `scripts/neo4j` writes, or those of one's own server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Mutex, MutexGuard};

use eval_job::graph::neo4j::{Neo4jConnection, Neo4jGraph, Neo4jLimits};
use eval_job::graph::{Graph, Parameters, Table};
use eval_job::secret::Secret;

use super::{leave_out, variable};

/// The variable without which the tests that need a Neo4j are left out.
pub const VARIABLE: &str = "EVAL_JOB_TEST_NEO4J_URI";

/// Where a Neo4j listens and how to get in.
#[derive(Clone)]
pub struct Server {
    pub uri: String,
    pub username: String,
    pub password: String,
}

/// The Neo4j of the tests, empty, for this test alone as long as this lives.
pub struct Database {
    pub server: Server,
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::const_new(());

/// The Neo4j of the tests, or nothing, said aloud.
pub async fn database(test: &str) -> Option<Database> {
    let Some(uri) = variable(VARIABLE) else {
        leave_out(test, &format!("{VARIABLE} names no Neo4j (whose data may be deleted); scripts/neo4j starts one"));
        return None;
    };
    let alone = ALONE.lock().await;
    let server = Server {
        uri,
        username: variable("EVAL_JOB_TEST_NEO4J_USERNAME").unwrap_or_else(|| "neo4j".to_owned()),
        password: variable("EVAL_JOB_TEST_NEO4J_PASSWORD").unwrap_or_default(),
    };
    let database = Database { server, _alone: alone };
    database.server.write("MATCH (n) DETACH DELETE n").await;
    Some(database)
}

impl Server {
    /// The graph as the program sees it.
    pub fn graph(&self) -> Neo4jGraph {
        self.graph_with(Neo4jLimits::default().time)
    }

    /// The same, with another patience.
    pub fn graph_with(&self, time: std::time::Duration) -> Neo4jGraph {
        let connection = Neo4jConnection {
            uri: self.uri.clone(),
            username: self.username.clone(),
            password: Secret::new(&self.password),
            database: None,
        };
        Neo4jGraph::connect(connection, Neo4jLimits { time, ..Neo4jLimits::default() })
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Writes, and must succeed.
    pub async fn write(&self, statement: &str) -> Table {
        self.graph().write(statement, &Parameters::new()).await.unwrap_or_else(|error| panic!("{statement}: {error}"))
    }

    /// The only value of the only row.
    pub async fn value(&self, statement: &str) -> String {
        let table = self.graph().read(statement, &Parameters::new()).await;
        table.unwrap_or_else(|error| panic!("{statement}: {error}")).rows[0][0].to_string()
    }

    /// Lets a program find it.
    pub fn tell<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("NEO_URI", &self.uri).env("NEO_USERNAME", &self.username).env("NEO_PASSWORD", &self.password)
    }

    fn address(&self) -> &str {
        self.uri.trim_start_matches("bolt://")
    }
}

/// A Neo4j of a test's own, which it may kill. It ends with the test.
pub struct Mortal {
    pub server: Server,
    folder: PathBuf,
}

impl Mortal {
    /// Starts one by `scripts/neo4j`; nothing, said aloud, where that can't be done.
    pub fn start(test: &str) -> Option<Mortal> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("target/neo4j-of-a-test-{}-{number}", std::process::id()));
        let started = script("start", &folder);
        if !started.status.success() {
            leave_out(test, &String::from_utf8_lossy(&started.stderr));
            return None;
        }
        let env = std::fs::read_to_string(folder.join("env")).unwrap();
        let value = |name: &str| {
            env.lines().find_map(|line| line.strip_prefix(&format!("{name}="))).unwrap_or_default().to_owned()
        };
        let server = Server {
            uri: value("EVAL_JOB_TEST_NEO4J_URI"),
            username: value("EVAL_JOB_TEST_NEO4J_USERNAME"),
            password: value("EVAL_JOB_TEST_NEO4J_PASSWORD"),
        };
        Some(Mortal { server, folder })
    }

    /// `kill -9`, and waits until nobody listens any more.
    pub fn killer(&self) -> impl Fn() + Send + Sync + 'static {
        let pid = std::fs::read_to_string(self.folder.join("pid")).unwrap();
        let address = self.server.address().to_owned();
        move || {
            assert!(Command::new("kill").args(["-9", pid.trim()]).status().unwrap().success());
            while std::net::TcpStream::connect(&address).is_ok() {
                std::thread::yield_now();
            }
        }
    }
}

impl Mortal {
    /// Starts it once more after it was killed, with all that it holds, and waits until it answers.
    pub fn reviver(&self) -> impl Fn() + Send + Sync + 'static {
        let folder = self.folder.clone();
        move || {
            let started = script("again", &folder);
            assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        }
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        script("stop", &self.folder);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn script(what: &str, folder: &Path) -> std::process::Output {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/neo4j")).arg(what).arg(folder).output().unwrap()
}
