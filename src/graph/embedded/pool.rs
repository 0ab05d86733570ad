//! The threads on which a graph's engines live, and the way to ask them.
//!
//! The engine is not asynchronous. Threads of its own keep a long query from stalling the runtime and, unlike blocking
//! tasks of the runtime, never hold up the end of the program. Work stops when its caller no longer waits.
//!
//! A private graph is in memory, and one thread does everything in the order of asking. A shared one is a file in
//! write-ahead mode that several engines have open: readers see what is committed, and only that, while one writer works.
//! All of them are opened at the start, because opening one needs the writer's lock for a moment. Who writes has the turn
//! until its transaction ends, in the order of asking; whoever only reads never waits for a turn, and each of its statements
//! sees what is committed when it begins: Neo4j's "read committed".

use std::fmt;
use std::fs::{self, DirBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use graphdblite::allocator::use_system;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::cancel::{CancelOnDrop, CommitOrCancel};
use super::engine::OpenDatabase;
use super::error::StatementError;
use super::limits::EmbeddedLimits;
use super::memory::ResultMemory;
use super::packed::Form;
use super::session::GraphSession;
use crate::graph::{GraphError, GraphErrorKind};

/// How many statements of sessions may read at the same time; the rest wait for their turn.
const READERS: usize = 4;

/// A piece of work for a thread.
type WorkItem = Box<dyn FnOnce(&mut Worker) + Send>;

/// An open graph. Each clone can open sessions.
#[derive(Debug, Clone)]
pub struct Sessions(Arc<Pool>);

struct Pool {
    readers: Sender<WorkItem>,
    writer: Sender<WorkItem>,
    /// For what the graph's owner reads, so that it never waits for sessions.
    owner: Sender<WorkItem>,
    turn: Arc<Semaphore>,
    commits: Arc<AtomicU64>,
}

/// Which thread does a piece of work.
#[derive(Debug, Clone, Copy)]
pub(super) enum TargetThread {
    Reader,
    Writer,
    Owner,
}

impl Sessions {
    /// A fresh graph in memory.
    pub(super) fn private(limits: EmbeddedLimits) -> Result<Sessions, GraphError> {
        let commits = Arc::default();
        let worker = Worker::new(OpenDatabase::open(limits)?, &commits, &Arc::default(), None);
        let jobs = start(vec![worker])?;
        Ok(Sessions::new(jobs.clone(), jobs.clone(), jobs, commits))
    }

    /// A fresh graph in a temporary folder.
    pub(super) fn shared(limits: EmbeddedLimits) -> Result<Sessions, GraphError> {
        let folder = Arc::new(Folder::make()?);
        let sessions = Sessions::within(&folder, limits)?;
        folder.vanish();
        Ok(sessions)
    }

    fn within(folder: &Arc<Folder>, limits: EmbeddedLimits) -> Result<Sessions, GraphError> {
        let (commits, waiting) = (Arc::default(), Arc::default());
        let workers = |count: usize| {
            let open = |_| {
                let store = OpenDatabase::open_file(&folder.file(), limits)?;
                Ok(Worker::new(store, &commits, &waiting, Some(Arc::clone(folder))))
            };
            start((0..count).map(open).collect::<Result<_, GraphError>>()?)
        };
        Ok(Sessions::new(workers(1)?, workers(READERS)?, workers(1)?, Arc::clone(&commits)))
    }

    fn new(
        writer: Sender<WorkItem>,
        readers: Sender<WorkItem>,
        owner: Sender<WorkItem>,
        commits: Arc<AtomicU64>,
    ) -> Sessions {
        Sessions(Arc::new(Pool { readers, writer, owner, turn: Arc::new(Semaphore::new(1)), commits }))
    }

    /// A session: one after the other its statements and transactions. Their rows have this form.
    pub fn session(&self, form: Form) -> GraphSession {
        GraphSession::new(self.clone(), form)
    }

    /// How many writing transactions were committed so far: while it is the same, so is the graph.
    pub fn commits(&self) -> u64 {
        self.0.commits.load(Ordering::Acquire)
    }

    /// Waits for the turn to write, at most so long. Jobs that its holder sends to the writer before it lets go are
    /// done before those of the next one.
    pub(super) async fn turn(&self, wait: Duration) -> Result<OwnedSemaphorePermit, StatementError> {
        match tokio::time::timeout(wait, Arc::clone(&self.0.turn).acquire_owned()).await {
            Ok(turn) => turn.map_err(|_| StatementError::stopped()),
            Err(_) => Err(StatementError::locked(&format!(
                "Another transaction has been writing for more than {} s, and the embedded graph has one writer at a \
                 time. Try again, and keep writing transactions short.",
                wait.as_secs_f64()
            ))),
        }
    }

    /// Runs work on a thread, to its end even when the caller has stopped waiting.
    pub(super) fn send<T: Send + 'static>(
        &self,
        to: TargetThread,
        work: impl FnOnce(&mut Worker) -> Result<T, StatementError> + Send + 'static,
    ) -> oneshot::Receiver<Result<T, StatementError>> {
        let (reply, answer) = oneshot::channel();
        let job: WorkItem = Box::new(move |worker| {
            let done = catch_unwind(AssertUnwindSafe(|| work(worker)));
            // Nobody may listen any longer.
            let _ = reply.send(done.unwrap_or_else(|_| {
                worker.store.roll_back();
                Err(StatementError::broken(
                    "The embedded graph's engine panicked at this statement; nothing of the transaction was kept.",
                ))
            }));
        });
        let jobs = match to {
            TargetThread::Reader => &self.0.readers,
            TargetThread::Writer => &self.0.writer,
            TargetThread::Owner => &self.0.owner,
        };
        // Where the thread is gone the answer never comes, and that is noticed.
        let _ = jobs.send(job);
        answer
    }

    /// Runs work on a thread until the caller stops waiting or the time is up.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        to: TargetThread,
        time: Duration,
        work: impl FnOnce(&mut Worker, &CommitOrCancel) -> Result<T, StatementError> + Send + 'static,
    ) -> Result<T, StatementError> {
        let waiter = CancelOnDrop::default();
        let request = Arc::clone(&waiter.0);
        let mut answer =
            self.send(
                to,
                move |worker| {
                    if request.is_cancelled() { Err(StatementError::gave_up()) } else { work(worker, &request) }
                },
            );
        let answered = match tokio::time::timeout(time, &mut answer).await {
            Ok(answered) => answered,
            Err(_) if waiter.0.cancel() => {
                return Err(StatementError::timed_out(&format!(
                    "The statement took longer than {} s in the embedded graph and was given up; nothing of it was \
                     kept.{}",
                    time.as_secs_f64(),
                    waiter.0.delay()
                )));
            }
            Err(_) => answer.await,
        };
        answered.unwrap_or_else(|_| Err(StatementError::stopped()))
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("commits", &self.commits).finish_non_exhaustive()
    }
}

/// An engine with the thread that it lives on.
pub(super) struct Worker {
    // The order matters: the engine closes the file before the folder goes.
    pub(super) store: OpenDatabase,
    commits: Arc<AtomicU64>,
    /// The results of all workers that their clients have not fetched yet.
    pub(super) waiting: Arc<ResultMemory>,
    _folder: Option<Arc<Folder>>,
}

impl Worker {
    fn new(
        store: OpenDatabase,
        commits: &Arc<AtomicU64>,
        waiting: &Arc<ResultMemory>,
        folder: Option<Arc<Folder>>,
    ) -> Worker {
        Worker { store, commits: Arc::clone(commits), waiting: Arc::clone(waiting), _folder: folder }
    }

    /// Keeps what the open transaction did, or undoes it where that fails.
    pub(super) fn commit(&mut self) -> Result<(), StatementError> {
        let committed = self.store.commit();
        self.store.roll_back();
        if committed.is_ok() {
            self.commits.fetch_add(1, Ordering::AcqRel);
        }
        committed
    }

    /// Ends a transaction: commits it after success if the caller still waits, else rolls it back.
    pub(super) fn end<T>(
        &mut self,
        request: &CommitOrCancel,
        done: Result<T, StatementError>,
    ) -> Result<T, StatementError> {
        match done {
            Ok(value) if request.commit() => self.commit().map(|()| value),
            done => {
                self.store.roll_back();
                done.and(Err(StatementError::gave_up()))
            }
        }
    }
}

/// Starts a thread for each worker; they share the jobs.
fn start(workers: Vec<Worker>) -> Result<Sender<WorkItem>, GraphError> {
    let (jobs, inbox) = channel::<WorkItem>();
    let inbox = Arc::new(Mutex::new(inbox));
    for mut worker in workers {
        let inbox = Arc::clone(&inbox);
        let next = move || inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let work = move || {
            use_system();
            while let Ok(job) = next() {
                job(&mut worker);
            }
        };
        let thread = thread::Builder::new().name("embedded graph".to_owned()).spawn(work);
        thread.map_err(|error| {
            GraphError::new(
                GraphErrorKind::Other,
                format!("A thread of the embedded graph could not be started: {error}"),
            )
        })?;
    }
    Ok(jobs)
}

/// The folder of a shared graph, removed with its last engine.
#[derive(Debug)]
struct Folder(PathBuf);

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
                    return Err(GraphError::new(
                        GraphErrorKind::Other,
                        format!(
                            "No folder for the embedded graph could be made in {}: {error}. Try another TMPDIR.",
                            parent.display()
                        ),
                    ));
                }
            }
        }
    }

    /// Where the engines find the graph.
    fn file(&self) -> PathBuf {
        self.0.join("graph.db")
    }

    /// Takes the folder away while its files are in use, where the system allows that: the engines keep what they have
    /// open, and nothing is left behind even when this process is killed. No engine can be opened afterwards.
    fn vanish(&self) {
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
        // Nobody is left to report it to.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests;
