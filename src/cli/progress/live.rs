//! The status lines of a terminal while a run goes on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::super::context::Context;
use super::super::printer::Printer;
use super::Progress;
use crate::limiter::{OnWait, WaitReason};
use crate::report::plain;

/// How often the terminal is brought up to date.
const TICK: Duration = Duration::from_millis(200);

/// A run's progress, which its journal, its waits and the time bring up to date.
#[derive(Clone)]
pub(in super::super) struct Live {
    progress: Arc<Mutex<Progress>>,
    printer: Arc<Printer>,
}

/// Draws as long as it lives.
pub(in super::super) struct Drawing {
    ticking: JoinHandle<()>,
    /// Held while something is drawn.
    is_over: Arc<Mutex<bool>>,
    printer: Arc<Printer>,
}

impl Live {
    pub(in super::super) fn new(progress: Progress, printer: Arc<Printer>) -> Live {
        Live { progress: Arc::new(Mutex::new(progress)), printer }
    }

    /// The progress itself.
    pub(in super::super) fn progress(&self) -> MutexGuard<'_, Progress> {
        unpoisoned(&self.progress)
    }

    /// Tells what is waited for.
    pub(in super::super) fn on_wait(&self) -> Arc<OnWait> {
        let live = self.clone();
        Arc::new(move |reason, wait| {
            let words = live.progress().waiting(reason, wait);
            if let Some(words) = words {
                live.printer.lines(&words, 2);
            }
        })
    }

    /// Keeps the terminal up to date from now on; must be called where asynchronous work can be done.
    pub(in super::super) fn draw(&self, context: &Context) -> Drawing {
        let (live, is_over) = (self.clone(), Arc::new(Mutex::new(false)));
        let (over, size) = (is_over.clone(), context.terminal_size());
        let ticking = tokio::spawn(async move {
            let mut tick = tokio::time::interval(TICK);
            // The first one comes at once: what is over by the second needs no bar.
            tick.tick().await;
            loop {
                tick.tick().await;
                let (bar, line) = {
                    let mut progress = live.progress();
                    (progress.bar(size()), progress.sign_of_life())
                };
                let is_over = unpoisoned(&over);
                if *is_over {
                    return;
                }
                if let Some(line) = line {
                    live.printer.note(&line);
                }
                live.printer.draw(bar);
            }
        });
        Drawing { ticking, is_over, printer: self.printer.clone() }
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        self.ticking.abort();
        *unpoisoned(&self.is_over) = true;
        self.printer.draw(Vec::new());
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A wait and its reason, in a sentence.
pub(in super::super) fn wait_words(reason: WaitReason<'_>, wait: Duration) -> String {
    let seconds = wait.as_secs_f64();
    match reason {
        WaitReason::Model => format!("waiting for the rate limit, {:.0} s", seconds.ceil()),
        WaitReason::Agent => format!("waiting for the agent, which refuses requests (429), {:.0} s", seconds.ceil()),
        WaitReason::Greeting => format!(
            "waiting for the agent to speak first, {seconds:.0} s at the most; if it waits for the user to begin, the job \
             can say so (greeting: false)"
        ),
        WaitReason::Retry { whose, error } => format!("{whose}: {}; trying again", plain(error)),
    }
}
