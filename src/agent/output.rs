//! The output of started agents: always read, so that no pipe is full, and kept up to a limit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use regex::bytes::Regex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

use crate::evidence::AgentOutput;
use crate::secret::Redactor;

/// The number of first bytes that are kept.
const FIRST: usize = 8 << 10;

/// The number of last bytes that are kept.
const LAST: usize = 24 << 10;

/// The longest part of a line that is searched for the pattern of readiness, in bytes.
const LINE: usize = 8 << 10;

/// Collects output from the moment when it is added.
#[derive(Debug, Clone, Default)]
pub struct Listener(Arc<Mutex<KeptOutput>>);

impl Listener {
    /// The output so far, redacted; `None` when there was none.
    pub fn output(&self) -> Option<AgentOutput> {
        self.kept().output()
    }

    /// At most this many of its last lines.
    pub(super) fn last_lines(&self, lines: usize) -> Option<String> {
        self.last_lines_without(lines, |_| false)
    }

    /// The same without certain lines; empty where there are no others.
    pub(super) fn last_lines_without(&self, lines: usize, is_left_out: impl Fn(&str) -> bool) -> Option<String> {
        let output = self.output()?;
        let text = if output.end.is_empty() { output.beginning } else { output.end };
        let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let left: Vec<&str> = all.iter().copied().filter(|line| !is_left_out(line)).collect();
        (!all.is_empty()).then(|| left[left.len().saturating_sub(lines)..].join("\n"))
    }

    fn kept(&self) -> MutexGuard<'_, KeptOutput> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first and the last bytes of a stream.
#[derive(Debug, Default)]
struct KeptOutput {
    first: Vec<u8>,
    /// Up to twice as much as is shown, so that it is moved seldom.
    last: Vec<u8>,
    total: u64,
    redactor: Redactor,
}

impl KeptOutput {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(FIRST - self.first.len()));
        self.first.extend_from_slice(first);
        self.last.extend_from_slice(&rest[rest.len().saturating_sub(LAST)..]);
        if self.last.len() > 2 * LAST {
            self.last.drain(..self.last.len() - LAST);
        }
    }

    fn output(&self) -> Option<AgentOutput> {
        if self.total == 0 {
            return None;
        }
        let last = &self.last[self.last.len().saturating_sub(LAST)..];
        let dropped_bytes = self.total - (self.first.len() + last.len()) as u64;
        if dropped_bytes == 0 {
            let beginning = self.redacted(&[self.first.as_slice(), last].concat());
            return Some(AgentOutput { beginning, dropped_bytes, end: String::new() });
        }
        // Where the cut goes through a secret, neither half stays.
        let first = &self.first[..self.first.len() - self.redactor.begun_at_end(&self.first)];
        let last = &last[self.redactor.ended_at_start(last)..];
        Some(AgentOutput { beginning: self.redacted(first), dropped_bytes, end: self.redacted(last) })
    }

    fn redacted(&self, bytes: &[u8]) -> String {
        self.redactor.redact(&String::from_utf8_lossy(bytes)).into_owned()
    }
}

/// The output of one agent's processes.
#[derive(Debug)]
pub(super) struct Output {
    listeners: Mutex<Vec<Weak<Mutex<KeptOutput>>>>,
    redactor: Redactor,
    pattern: Option<Regex>,
    seen: watch::Sender<bool>,
}

impl Output {
    /// `redactor` redacts the output; `pattern` is searched for in its lines.
    pub(super) fn new(redactor: Redactor, pattern: Option<Regex>) -> Output {
        Output { listeners: Mutex::default(), redactor, pattern, seen: watch::Sender::new(false) }
    }

    /// Adds a listener for the output from now on, until it is dropped.
    pub(super) fn add_listener(&self, listener: &Listener) {
        listener.kept().redactor = self.redactor.clone();
        self.listeners().push(Arc::downgrade(&listener.0));
    }

    /// Waits until the pattern was found.
    pub(super) async fn pattern_seen(&self) {
        // The sender lives as long as this.
        let _ = self.seen.subscribe().wait_for(|seen| *seen).await;
    }

    /// Reads a stream to its end.
    pub(super) async fn drain(&self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 << 10];
        let mut line = Vec::new();
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            self.listeners().retain(|listener| {
                let Some(kept) = listener.upgrade() else { return false };
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
                true
            });
            self.search(&mut line, &buffer[..count]);
        }
    }

    /// Searches for the pattern; `line` is the beginning of the current line.
    fn search(&self, line: &mut Vec<u8>, bytes: &[u8]) {
        let Some(pattern) = self.pattern.as_ref().filter(|_| !*self.seen.borrow()) else { return };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            if pattern.is_match(line.trim_ascii_end()) {
                self.seen.send_replace(true);
                return;
            }
            if piece.ends_with(b"\n") || line.len() > LINE {
                line.clear();
            }
        }
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<Mutex<KeptOutput>>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    async fn collect(output: &Output, bytes: &[u8]) -> AgentOutput {
        let listener = Listener::default();
        output.add_listener(&listener);
        output.drain(bytes).await;
        assert!(listener.kept().last.capacity() < 1 << 18);
        listener.output().unwrap()
    }

    #[tokio::test]
    async fn lines_that_are_left_out_hide_no_others() {
        let (output, listener) = (Output::new(Redactor::default(), None), Listener::default());
        output.add_listener(&listener);
        output.drain(b"no database\nGET /health HTTP/1.1 503\n\nGET /health HTTP/1.1 503\n".as_slice()).await;
        let is_look = |line: &str| line.contains("GET /health ");
        assert_eq!(listener.last_lines_without(1, is_look).as_deref(), Some("no database"));
        assert_eq!(listener.last_lines_without(1, |_| true).as_deref(), Some(""));
        assert_eq!(Listener::default().last_lines_without(1, is_look), None);
    }

    #[tokio::test]
    async fn a_little_is_kept_whole_and_of_much_both_ends() {
        let output = Output::new(Redactor::default(), None);
        assert_eq!(
            collect(&output, b"one\ntwo").await,
            AgentOutput { beginning: "one\ntwo".to_owned(), ..AgentOutput::default() }
        );
        let exact = "x".repeat(FIRST + LAST);
        assert_eq!(collect(&output, exact.as_bytes()).await.beginning, exact);

        let much = format!("{}{}{}", "a".repeat(FIRST), "b".repeat(10 << 20), "c".repeat(LAST));
        let kept = collect(&output, much.as_bytes()).await;
        assert_eq!(kept.beginning, "a".repeat(FIRST));
        assert_eq!((kept.dropped_bytes, kept.end), (10 << 20, "c".repeat(LAST)));
        assert_eq!(Listener::default().output(), None);
    }

    #[tokio::test]
    async fn no_part_of_a_secret_is_kept_wherever_the_cut_goes() {
        let secret = "hunter2-and-more";
        let output = Output::new(Redactor::new([&Secret::new(secret), &Secret::new("")]), None);
        assert_eq!(collect(&output, b"it is hunter2-and-more!").await.beginning, "it is ***!");
        for shift in 0..=secret.len() {
            let text = format!(
                "{}{secret}{}{secret}{}",
                " ".repeat(FIRST - shift),
                "-".repeat(1 << 20),
                " ".repeat(LAST - shift)
            );
            let kept = collect(&output, text.as_bytes()).await;
            for part in ["hunter2", "and-more", "hu", "ore"] {
                assert!(!kept.beginning.contains(part) && !kept.end.contains(part), "{shift}: {part}");
            }
        }
    }

    #[tokio::test]
    async fn a_pattern_is_seen_across_pieces_and_without_a_line_break() {
        let pattern = Regex::new("^listening on [0-9]+").unwrap();
        for text in
            ["noise\nlistening on 8081\n", "listening on 80", &format!("{}\nlistening on 1", "x".repeat(100_000))]
        {
            let output = Output::new(Redactor::default(), Some(pattern.clone()));
            output.drain(text.as_bytes()).await;
            assert!(*output.seen.borrow(), "{text}");
        }
        let output = Output::new(Redactor::default(), Some(Regex::new("^ready$").unwrap()));
        output.drain(&b"not ready\nready or not\n"[..]).await;
        assert!(!*output.seen.borrow());
    }

    #[tokio::test]
    async fn whoever_listens_later_hears_less() {
        let output = Output::new(Redactor::default(), None);
        let (early, late) = (Listener::default(), Listener::default());
        output.add_listener(&early);
        output.drain(&b"one "[..]).await;
        output.add_listener(&late);
        output.drain(&b"two"[..]).await;
        assert_eq!(early.output().unwrap().beginning, "one two");
        assert_eq!(late.output().unwrap().beginning, "two");
        assert_eq!(early.last_lines(3).as_deref(), Some("one two"));
    }
}
