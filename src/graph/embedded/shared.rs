//! A graph that many may work on at once: a file in a folder of its own, and a few engines that have it open.
//!
//! The file is in write-ahead mode: readers see what is committed, and only that, while one writer works. All engines
//! are opened at the start, because opening one needs the writer's lock for a moment. A statement is first tried on
//! one of the readers, which refuse writes before they do anything; a refused one goes to the writer, which belongs
//! to one transaction at a time, in the order of asking.
//!
//! So a transaction that only reads never stands in anybody's way, and its statements see what is committed when
//! each begins: Neo4j's "read committed".

use std::fs::{self, DirBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::client::Limits;
use super::engine::Store;
use super::fate::Fate;
use super::memory::{CutOff, Waiting};
use super::packed::Form;
use super::refusal::{Refusal, RefusalReason};
use super::session::{Answer, Session};
use crate::graph::{GraphError, GraphErrorKind, Parameters};

/// How many statements may read at the same time; the rest wait for their turn.
const READERS: usize = 4;

/// How long the engine itself waits for a writer outside of the sessions.
const BUSY: Duration = Duration::from_secs(5);

/// The folder of a shared graph, removed with its last engine.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// A fresh folder that only this user may enter.
    fn make() -> Result<Folder, GraphError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let parent = std::env::temp_dir();
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("eval-job-graph-{}-{number}", std::process::id()));
            match builder.create(&path) {
                Ok(()) => return Ok(Folder(path)),
                // Left behind by an earlier process of the same number.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(broken(format!(
                        "No folder for the embedded graph could be made in {}: {error}. Try another TMPDIR.",
                        parent.display()
                    )));
                }
            }
        }
    }

    /// Where the engines find the graph.
    pub(super) fn file(&self) -> PathBuf {
        self.0.join("graph.db")
    }

    /// Takes the folder away while its files are in use, where the system allows that: the engines keep what they have
    /// open, and nothing is left behind even when this process is killed. No engine can be opened afterwards.
    pub(super) fn vanish(&self) {
        if cfg!(unix) {
            // Then it goes with its last engine.
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[cfg(test)]
    fn path(&self) -> &std::path::Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nobody is left who could be told.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a worker is asked to do.
pub(super) enum Order {
    /// Try a statement without writing.
    Read(Asked),
    /// Run a statement that may write. With a permit a transaction begins; `Then` says how it goes on.
    Write(Asked, Option<OwnedSemaphorePermit>, Then),
    /// Keep what the open transaction did.
    Commit(oneshot::Sender<Result<(), Refusal>>),
    /// Undo what the open transaction did; nothing to do when none is open.
    RollBack,
}

/// What happens to a transaction after a statement that went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Commit,
    StayOpen,
}

/// A statement with the one who waits for its answer.
pub(super) struct Asked {
    pub(super) statement: String,
    pub(super) parameters: Parameters,
    pub(super) form: Form,
    pub(super) fate: Arc<Fate>,
    pub(super) reply: oneshot::Sender<Result<Answer, Refusal>>,
}

/// The door to a shared graph: whoever has a clone may open sessions.
#[derive(Debug, Clone)]
pub struct Sessions(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    readers: Sender<Order>,
    writer: Sender<Order>,
    turn: Arc<Semaphore>,
    commits: Arc<AtomicU64>,
}

impl Sessions {
    /// A fresh shared graph. Fails when its folder, its file or its threads can't be made.
    pub(super) fn open(limits: Limits) -> Result<(Sessions, Arc<Folder>), GraphError> {
        let folder = Arc::new(Folder::make()?);
        let commits = Arc::new(AtomicU64::new(0));
        let waiting = Arc::new(Waiting::default());
        let writer = Worker::open(&folder, limits, &commits, &waiting)?;
        let (to_writer, inbox) = channel();
        spawn(move || writer.work(|| inbox.recv().ok()))?;
        let (to_readers, inbox) = channel();
        let inbox = Arc::new(Mutex::new(inbox));
        for _ in 0..READERS {
            let reader = Worker::open(&folder, limits, &commits, &waiting)?;
            let inbox = Arc::clone(&inbox);
            spawn(move || reader.work(|| next(&inbox)))?;
        }
        let pool = Pool { readers: to_readers, writer: to_writer, turn: Arc::new(Semaphore::new(1)), commits };
        Ok((Sessions(Arc::new(pool)), folder))
    }

    /// A session: one after the other its statements and transactions. Their rows have this form.
    pub fn session(&self, form: Form) -> Session {
        Session::new(self.clone(), form)
    }

    /// How many writing transactions of sessions were committed so far: when it is the same as before, no session has
    /// changed the graph meanwhile.
    pub fn commits(&self) -> u64 {
        self.0.commits.load(Ordering::Acquire)
    }

    pub(super) fn to_reader(&self, order: Order) -> Result<(), Refusal> {
        self.0.readers.send(order).map_err(|_| stopped())
    }

    pub(super) fn to_writer(&self, order: Order) -> Result<(), Refusal> {
        self.0.writer.send(order).map_err(|_| stopped())
    }

    /// Waits for the writer to be free, at most so long.
    pub(super) async fn turn(&self, wait: Duration) -> Result<OwnedSemaphorePermit, Refusal> {
        match tokio::time::timeout(wait, Arc::clone(&self.0.turn).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) => Err(stopped()),
            Err(_) => Err(Refusal::locked(&format!(
                "Another transaction has been writing for more than {} s, and the embedded graph has one writer at a \
                 time. Try again, and keep writing transactions short.",
                wait.as_secs_f64()
            ))),
        }
    }
}

/// An engine with the thread that it lives on.
struct Worker {
    // The order matters: the engine closes the file before the folder goes, and the permit goes last of all.
    store: Store,
    permit: Option<OwnedSemaphorePermit>,
    commits: Arc<AtomicU64>,
    /// The results of all workers that their clients have not fetched yet.
    waiting: Arc<Waiting>,
    _folder: Arc<Folder>,
}

impl Worker {
    fn open(
        folder: &Arc<Folder>,
        limits: Limits,
        commits: &Arc<AtomicU64>,
        waiting: &Arc<Waiting>,
    ) -> Result<Worker, GraphError> {
        // Memory alone bounds what a session reads: its rows are handed over in batches.
        let limits = Limits { rows: 0, ..limits };
        let store = Store::open_file(&folder.file(), limits, BUSY)?;
        let (commits, waiting) = (Arc::clone(commits), Arc::clone(waiting));
        Ok(Worker { store, permit: None, commits, waiting, _folder: Arc::clone(folder) })
    }

    fn work(mut self, mut next: impl FnMut() -> Option<Order>) {
        while let Some(order) = next() {
            self.obey(order);
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Read(asked) => {
                if !asked.fate.is_abandoned() {
                    let read = |store: &mut Store| store.try_read(&asked.statement, &asked.parameters, &asked.form);
                    let answer = self.answer(&asked.fate, read);
                    // Nobody listens when the statement was abandoned meanwhile.
                    let _ = asked.reply.send(answer);
                }
            }
            Order::Write(asked, permit, then) => {
                if permit.is_some() {
                    self.permit = permit;
                }
                let answer = self.write(&asked, then);
                if answer.is_err() || then == Then::Commit {
                    self.end();
                }
                let _ = asked.reply.send(answer);
            }
            Order::Commit(reply) => {
                let committed = self.commit();
                self.end();
                let _ = reply.send(committed);
            }
            Order::RollBack => self.end(),
        }
    }

    fn write(&mut self, asked: &Asked, then: Then) -> Result<Answer, Refusal> {
        if asked.fate.is_abandoned() {
            return Err(Refusal::gave_up());
        }
        let answer = self.answer(&asked.fate, |store| {
            store.begin()?;
            store.try_write(&asked.statement, &asked.parameters, &asked.form)
        })?;
        match then {
            Then::StayOpen => Ok(answer),
            Then::Commit if asked.fate.keep() => self.commit().map(|()| answer),
            Then::Commit => Err(Refusal::gave_up()),
        }
    }

    fn commit(&mut self) -> Result<(), Refusal> {
        self.guarded(Store::commit)?;
        self.commits.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Undoes whatever is open and lets the next one write.
    fn end(&mut self) {
        self.store.roll_back();
        self.permit = None;
    }

    /// Runs a statement within the limits, and keeps count of what its rows take.
    fn answer(
        &mut self,
        fate: &Fate,
        work: impl FnOnce(&mut Store) -> Result<Answer, Refusal>,
    ) -> Result<Answer, Refusal> {
        let waiting = Arc::clone(&self.waiting);
        self.guarded(|store| {
            let held = |store: &mut Store| {
                let mut answer = work(store)?;
                answer.held = waiting.hold(store.memory).map_err(|error| Refusal::of(error, None))?;
                Ok(answer)
            };
            store.within(fate, held).unwrap_or_else(|cut_off| match cut_off {
                CutOff::TooLarge(error) => Err(Refusal::of(error, None)),
                CutOff::Abandoned => Err(Refusal::gave_up()),
            })
        })
    }

    fn guarded<T>(&mut self, work: impl FnOnce(&mut Store) -> Result<T, Refusal>) -> Result<T, Refusal> {
        catch_unwind(AssertUnwindSafe(|| work(&mut self.store))).unwrap_or_else(|_| {
            self.store.roll_back();
            Err(Refusal::broken(
                "The embedded graph's engine panicked at this statement; nothing of the transaction was kept.",
            ))
        })
    }
}

fn next(inbox: &Mutex<Receiver<Order>>) -> Option<Order> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), GraphError> {
    match thread::Builder::new().name("shared graph".to_owned()).spawn(work) {
        Ok(_) => Ok(()),
        Err(error) => Err(broken(format!("A thread of the embedded graph could not be started: {error}"))),
    }
}

fn broken(message: String) -> GraphError {
    GraphError { kind: GraphErrorKind::Other, message }
}

fn stopped() -> Refusal {
    Refusal {
        reason: RefusalReason::Broken,
        error: GraphError { kind: GraphErrorKind::Other, message: "The embedded graph has stopped.".to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::super::packed::tests::{json, values};
    use super::*;
    use crate::graph::Value;
    use crate::graph::embedded::{Access, Patience};

    #[test]
    fn a_folder_is_private_and_goes_with_its_last_owner() {
        let folder = Folder::make().unwrap();
        let path = folder.path().to_owned();
        fs::write(folder.file(), "x").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        }
        drop(folder);
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_folder_that_has_vanished_is_not_missed() {
        let (sessions, folder) = Sessions::open(Limits::default()).unwrap();
        folder.vanish();
        assert!(!folder.path().exists());
        let patience = Patience { time: Duration::from_secs(60), turn: Duration::from_secs(60) };
        let mut session = sessions.session(json());
        // Enough for the log to be written back into the file a few times.
        for round in 1..=4 {
            let many =
                "UNWIND range(1, 5000) AS x CREATE (:A {text: 'some text that fills a few pages'})-[:R]->(:B {x: x})";
            session.run(Access::Write, many, &Parameters::new(), patience).await.unwrap();
            for _ in 0..2 * READERS {
                let count = "MATCH (n:B) RETURN count(n)";
                let answer = session.run(Access::Read, count, &Parameters::new(), patience).await.unwrap();
                assert_eq!(values(answer.rows), [[Value::Int(round * 5000)]]);
            }
        }
        assert!(!folder.path().exists());
    }
}
