//! Reports panics, which are bugs of eval-job: without secrets and control characters, with a hint, and with the exit status of
//! internal failures. By default a panic ends the process with 101, the status of an inconclusive comparison.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Arc;

use super::printer::Printer;

/// Reports every panic to this printer from now on, on whatever thread it happens.
pub(super) fn report_to(printer: Arc<Printer>) {
    set_hook(Box::new(move |panic| {
        printer.note(&format!(
            "eval-job itself failed: {panic}\nthis is a bug of eval-job; please report it with these lines and with what was \
             typed. What a run had finished is kept: try eval-job list"
        ));
    }));
}

/// Runs a function. `None` where it panicked, which was reported.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    // Its state is not used afterwards.
    catch_unwind(AssertUnwindSafe(work)).ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::cli::args::ColorArg;
    use crate::cli::context::Context;
    use crate::cli::env_file::EnvFile;
    use crate::secret::Secret;

    /// Set for the process that is to panic.
    const PANICS: &str = "EVAL_JOB_TEST_PANICS";

    /// Run by the other test in a process of its own, since a hook belongs to the whole process.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the status is what is tested, and only that process is to panic")]
    fn a_process_that_panics() {
        if std::env::var_os(PANICS).is_none() {
            return;
        }
        let context = Context::from_process(Vec::new(), &EnvFile::new(), ColorArg::Auto, None);
        context.redactor().learn(&Secret::new("sk-canary-panic-1"));
        report_to(Arc::new(Printer::new(&context)));
        let thread = std::thread::spawn(|| panic!("in a thread: sk-canary-panic-1"));
        assert!(thread.join().is_err());
        let outcome = caught(|| -> u8 { panic!("here: Bearer sk-canary-panic-1 \u{1b}]0;x\u{7}\u{202e}") });
        std::process::exit(if outcome.is_none() && caught(|| 5) == Some(5) { 42 } else { 1 });
    }

    #[test]
    fn a_panic_is_reported_without_secrets_and_says_what_to_do() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = "cli::panics::tests::a_process_that_panics";
        let output = command.args(["--exact", name, "--nocapture"]).env(PANICS, "1").output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(42), "{stderr}");
        let lines: Vec<&str> = stderr.lines().collect();
        assert_eq!(lines.len(), 6, "{stderr}");
        for (lines, panicked) in
            lines.chunks(3).zip(["in a thread: ***", "here: Bearer *** \\u{1b}]0;x\\u{7}\\u{202e}"])
        {
            assert!(lines[0].starts_with("eval-job itself failed: panicked at src/cli/panics.rs:"), "{stderr}");
            assert_eq!(lines[1], panicked);
            assert!(lines[2].contains("please report it") && lines[2].ends_with("try eval-job list"), "{stderr}");
        }
    }
}
