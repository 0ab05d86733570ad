//! The status lines of a terminal while a run goes on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::super::context::Context;
use super::super::printer::Printer;
use super::live_screen::LiveScreen;
use super::{Progress, is_printed, occurred, times};
use crate::limiter::{OnWait, WaitReason};
use crate::report::plain;

/// How often the terminal is brought up to date.
const TICK: Duration = Duration::from_millis(200);

/// A run's progress, which its journal, its waits and the time bring up to date.
#[derive(Clone)]
pub(in super::super) struct Live {
    progress: Arc<Mutex<Progress>>,
    screen: Arc<LiveScreen>,
}

/// Draws as long as it lives; once it is dropped all is shown.
pub(in super::super) struct Drawing {
    ticking: JoinHandle<()>,
    /// Held while something is given to be drawn.
    is_over: Arc<Mutex<bool>>,
    screen: Arc<LiveScreen>,
}

impl Live {
    pub(in super::super) fn new(progress: Progress, printer: Arc<Printer>) -> Live {
        Live { progress: Arc::new(Mutex::new(progress)), screen: Arc::new(LiveScreen::new(printer)) }
    }

    /// Shows lines of the progress, after all that was given before.
    pub(in super::super) fn show(&self, lines: String, indent: usize) {
        self.screen.lines(lines, indent);
    }

    /// The progress itself.
    pub(in super::super) fn progress(&self) -> MutexGuard<'_, Progress> {
        unpoisoned(&self.progress)
    }

    /// Tells what is waited for.
    pub(in super::super) fn on_wait(&self) -> Arc<OnWait> {
        let live = self.clone();
        Arc::new(move |reason, wait| {
            let text = live.progress().waiting(reason, wait);
            if let Some(text) = text {
                live.screen.lines(text, 2);
            }
        })
    }

    /// Keeps the terminal up to date from now on; must be called where asynchronous work can be done.
    pub(in super::super) fn draw(&self, context: &Context) -> Drawing {
        let (live, is_over) = (self.clone(), Arc::new(Mutex::new(false)));
        live.screen.start();
        let (over, size) = (is_over.clone(), context.terminal_size());
        let ticking = tokio::spawn(async move {
            let mut tick = tokio::time::interval(TICK);
            // The first one comes at once: what is over by the second needs no bar.
            tick.tick().await;
            loop {
                tick.tick().await;
                let (bar, line) = {
                    let mut progress = live.progress();
                    (progress.bar(size()), progress.heartbeat())
                };
                let is_over = unpoisoned(&over);
                if *is_over {
                    return;
                }
                if let Some(line) = line {
                    live.screen.note(line);
                }
                live.screen.bottom(bar);
            }
        });
        Drawing { ticking, is_over, screen: self.screen.clone() }
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        self.ticking.abort();
        *unpoisoned(&self.is_over) = true;
        self.screen.finish();
        self.screen.bottom(Vec::new());
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lines about waits: the same wait again and again has one, and is counted.
#[derive(Default)]
pub(in super::super) struct WaitLines {
    /// How often each occurred.
    occurrences: HashMap<String, usize>,
}

impl WaitLines {
    /// The line about a wait, if it is worth one.
    pub(in super::super) fn line(&mut self, reason: WaitReason<'_>, wait: Duration) -> Option<String> {
        let text = wait_text(reason, wait);
        // Waits that differ in their length alone are the same.
        let same = limit_text(reason).unwrap_or(&text);
        let count = occurred(&mut self.occurrences, same);
        is_printed(count, 1).then(|| format!("{text}{}", times(count)))
    }
}

/// The wait for a limit, without its length; `None` for any other wait.
pub(super) fn limit_text(reason: WaitReason<'_>) -> Option<&'static str> {
    match reason {
        WaitReason::Model => Some("waiting for the rate limit"),
        WaitReason::Agent => Some("waiting for the agent, which refuses requests (429)"),
        WaitReason::Greeting | WaitReason::Retry { .. } => None,
    }
}

/// A wait and its reason, in a sentence.
fn wait_text(reason: WaitReason<'_>, wait: Duration) -> String {
    let seconds = wait.as_secs_f64();
    match reason {
        WaitReason::Model | WaitReason::Agent => {
            format!("{}, {:.0} s", limit_text(reason).unwrap_or_default(), seconds.ceil())
        }
        WaitReason::Greeting => format!(
            "waiting for the agent to speak first, {seconds:.0} s at the most; if it waits for the user to begin, the job \
             can say so (greeting: false)"
        ),
        WaitReason::Retry { service, error } => format!("{service}: {}; trying again", plain(error)),
    }
}
