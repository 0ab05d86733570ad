//! The signals that ask this process to end, received on a thread of their own: whatever the others compute or wait for,
//! somebody listens.
//!
//! Invariant: nothing on this thread waits for another one without a limit, so the second signal always ends the process
//! within a second.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::error::CliError;
use super::printer::Printer;
use crate::agent::{any_group_is_left, kill_all_groups};
use crate::record::Verdict;

/// The time that an orderly end may take before a note says how to end at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time that output and locks are waited for when the process is to end at once.
const AT_ONCE: Duration = Duration::from_millis(300);

/// The signals that ask this process to end, handled from when this is made until the process ends.
#[derive(Clone)]
pub(super) struct Signals {
    /// Cancelled by the first signal: everything is to end in order.
    pub(super) interrupt: CancellationToken,
    kept: Arc<Mutex<Option<FinishedPart>>>,
}

/// The finished part of a run: what is printed and written when the process is ended at once.
#[derive(Clone)]
pub(super) struct FinishedPart {
    /// A note with the place where it is kept.
    pub(super) text: String,
    /// Writes the files of `-o` from what is kept. `None` where there are none, or they can't be written.
    pub(super) write: Arc<dyn Fn() -> Option<()> + Send + Sync>,
    /// The note that the files were written, or the command that writes them. Both are empty where none were requested.
    pub(super) written: [String; 2],
}

impl Signals {
    /// Begins to listen. The first Ctrl-C (or a polite kill) ends everything in order; whatever comes second ends the
    /// process at once, which loses nothing that was finished.
    pub(super) fn listen(printer: Arc<Printer>) -> Result<Signals, CliError> {
        let internal = |error: io::Error| CliError::Internal(format!("signals can't be listened to: {error}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(internal)?;
        let mut asked = {
            let _entered = runtime.enter();
            TerminationSignals::listen().map_err(internal)?
        };
        let signals = Signals { interrupt: CancellationToken::new(), kept: Arc::default() };
        let listener = signals.clone();
        let listening = move || {
            runtime.block_on(listener.handle(&mut asked, &printer));
            kill_all_groups(AT_ONCE);
            #[expect(clippy::disallowed_methods, reason = "the user asks twice: nothing may hold the process")]
            std::process::exit(Verdict::Interrupted.exit_status().into());
        };
        thread::Builder::new().name("signals".to_owned()).spawn(listening).map_err(internal)?;
        Ok(signals)
    }

    /// Sets what is printed and written from now on when the process is ended at once.
    pub(super) fn kept_at(&self, kept: FinishedPart) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }

    /// Returns when the process is to end at once.
    async fn handle(&self, asked: &mut TerminationSignals, printer: &Arc<Printer>) {
        asked.next().await;
        if any_group_is_left() {
            let text = "stopping: the agents that were started are being ended; once more, and they are killed";
            // Before the end that it speaks of.
            let _ = print_note(printer, text).recv_timeout(AT_ONCE);
        }
        self.interrupt.cancel();
        if tokio::time::timeout(PATIENCE, asked.next()).await.is_err() {
            print_note(printer, "still stopping: something takes its time; Ctrl-C once more ends it at once");
            asked.next().await;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(FinishedPart { text, write, written: [done, otherwise] }) = kept {
            let is_written = in_thread(move || write()).recv_timeout(AT_ONCE).is_ok_and(|written| written.is_some());
            let files = if is_written { done } else { otherwise };
            // The process is about to end: the words get a moment.
            let (printer, text) = (Arc::clone(printer), format!("{text}{files}"));
            let _ = in_thread(move || printer.last_note(&text)).recv_timeout(AT_ONCE);
        }
    }
}

/// Prints without waiting for the reader of the stream; the end of the channel says that it was printed.
fn print_note(printer: &Arc<Printer>, text: &str) -> mpsc::Receiver<()> {
    let (printer, text) = (Arc::clone(printer), text.to_owned());
    in_thread(move || printer.note(&text))
}

/// Does something that may take long in a thread of its own. Without a thread it is not done, and the end is the same.
fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> mpsc::Receiver<T> {
    let (done, is_done) = mpsc::channel();
    let working = move || {
        let _ = done.send(work());
    };
    let _ = thread::Builder::new().name("end".to_owned()).spawn(working);
    is_done
}

/// The ways in which a process is asked to end: none is missed once this is made.
#[cfg(unix)]
struct TerminationSignals([tokio::signal::unix::Signal; 4]);

/// Its number on Linux and macOS.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;

#[cfg(unix)]
impl TerminationSignals {
    fn listen() -> io::Result<TerminationSignals> {
        use tokio::signal::unix::{SignalKind, signal};
        let of = |kind: fn() -> SignalKind| signal(kind());
        // A limit on the size of files ends a process without a word, unless it listens: then writing fails, which is reported.
        drop(signal(SignalKind::from_raw(SIGXFSZ))?);
        // Ctrl-\ would end this process alone: started agents are in groups of their own.
        Ok(TerminationSignals([
            of(SignalKind::interrupt)?,
            of(SignalKind::terminate)?,
            of(SignalKind::hangup)?,
            of(SignalKind::quit)?,
        ]))
    }

    async fn next(&mut self) {
        let [interrupt, terminate, hang_up, quit] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
            _ = quit.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct TerminationSignals;

#[cfg(not(unix))]
impl TerminationSignals {
    fn listen() -> io::Result<TerminationSignals> {
        Ok(TerminationSignals)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
