//! What a run shows while it goes on, written by a thread of its own: a paused terminal, or a pipe that nobody reads, holds up no
//! conversation and adds to nobody's time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::super::printer::Printer;

/// Something to show.
enum LivePart {
    /// Lines about conversations, whose words begin at this column.
    Lines(String, usize),
    /// A sign of life in a log.
    Note(String),
    /// The lines at the bottom of the terminal.
    Bottom(Vec<String>),
}

/// Shows what it is given, in its order. Nobody waits for it, as long as its thread runs.
pub(super) struct LiveScreen {
    printer: Arc<Printer>,
    thread: Mutex<Option<WriterThread>>,
    /// Whether bottom lines wait to be drawn: newer ones are left out then.
    is_drawing: Arc<AtomicBool>,
    /// How many bytes of lines wait to be shown.
    waiting: Arc<AtomicUsize>,
    /// How many lines were left out since.
    left_out: AtomicUsize,
}

/// From so many bytes on lines are left out that nobody reads: the journal has all of them.
const MOST_WAITING: usize = 64 << 20;

struct WriterThread {
    queue: Sender<LivePart>,
    thread: JoinHandle<()>,
}

impl LiveScreen {
    pub(super) fn new(printer: Arc<Printer>) -> LiveScreen {
        LiveScreen {
            printer,
            thread: Mutex::default(),
            is_drawing: Arc::default(),
            waiting: Arc::default(),
            left_out: AtomicUsize::new(0),
        }
    }

    /// Starts the thread. Without one, everything is shown at once by whoever gives it.
    pub(super) fn start(&self) {
        let (queue, given) = channel();
        let (printer, is_drawing, waiting) = (self.printer.clone(), self.is_drawing.clone(), self.waiting.clone());
        let show_all = move || {
            for shown in given {
                match &shown {
                    LivePart::Bottom(_) => is_drawing.store(false, Ordering::Release),
                    LivePart::Lines(text, _) => drop(waiting.fetch_sub(text.len(), Ordering::AcqRel)),
                    LivePart::Note(_) => {}
                }
                show(&printer, shown);
            }
        };
        if let Ok(thread) = thread::Builder::new().name("screen".to_owned()).spawn(show_all) {
            *self.thread() = Some(WriterThread { queue, thread });
        }
    }

    /// Waits until all is shown, and ends the thread.
    pub(super) fn finish(&self) {
        let thread = self.thread().take();
        if let Some(WriterThread { queue, thread }) = thread {
            drop(queue);
            let _ = thread.join();
            self.is_drawing.store(false, Ordering::Release);
        }
    }

    pub(super) fn lines(&self, text: String, indent: usize) {
        if self.waiting.load(Ordering::Acquire) > MOST_WAITING {
            self.left_out.fetch_add(text.lines().count(), Ordering::AcqRel);
            return;
        }
        let text = match self.left_out.swap(0, Ordering::AcqRel) {
            0 => text,
            lines => format!("… {lines} lines were left out, since nobody read them\n{text}"),
        };
        self.waiting.fetch_add(text.len(), Ordering::AcqRel);
        self.show(LivePart::Lines(text, indent));
    }

    pub(super) fn note(&self, text: String) {
        self.show(LivePart::Note(text));
    }

    pub(super) fn bottom(&self, lines: Vec<String>) {
        if !self.is_drawing.swap(true, Ordering::AcqRel) {
            self.show(LivePart::Bottom(lines));
        }
    }

    fn show(&self, shown: LivePart) {
        let shown = match &*self.thread() {
            Some(thread) => thread.queue.send(shown).err().map(|unsent| unsent.0),
            None => Some(shown),
        };
        if let Some(shown) = shown {
            self.is_drawing.store(false, Ordering::Release);
            self.waiting.store(0, Ordering::Release);
            show(&self.printer, shown);
        }
    }

    fn thread(&self) -> std::sync::MutexGuard<'_, Option<WriterThread>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn show(printer: &Printer, shown: LivePart) {
    match shown {
        LivePart::Lines(text, indent) => printer.lines(&text, indent),
        LivePart::Note(text) => printer.note(&text),
        LivePart::Bottom(lines) => printer.draw(lines),
    }
}
