//! The only writer to stdout and stderr: data to stdout, all else to stderr.

use std::io::Write;
use std::sync::Mutex;

use super::context::Context;
use super::error::CliError;
use crate::report::Ink;

/// Writes to stdout and stderr, whole lines at a time.
pub(super) struct Printer {
    stderr: Mutex<std::io::Stderr>,
    stderr_ink: Ink,
}

impl Printer {
    /// The printer of this process.
    pub(super) fn new(context: &Context) -> Printer {
        Printer { stderr: Mutex::new(std::io::stderr()), stderr_ink: context.stderr_ink }
    }

    /// Data. A reader that has gone away (`| head`) is not an error.
    pub(super) fn data(&self, text: &str) -> Result<(), CliError> {
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
            _ => Ok(()),
        }
    }

    /// Everything else: progress, hints.
    pub(super) fn note(&self, text: &str) {
        if let Ok(mut stderr) = self.stderr.lock() {
            let _ = stderr.write_all(format!("{text}\n").as_bytes());
        }
    }

    /// An error, in the one voice.
    pub(super) fn error(&self, error: &CliError) {
        self.note(&error.words(self.stderr_ink));
    }
}
