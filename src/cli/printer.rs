//! The only writer to stdout and stderr: data to stdout, all else to stderr. At the bottom of a terminal it can keep a few
//! lines that change; whatever else is written stands above them.
//!
//! Invariants: no secret that is known is shown; of the characters that could steer a terminal only line breaks, tabs and
//! our own colours are written, all others are spelled out.

use std::io::Write;
use std::sync::Mutex;

use super::context::Context;
use super::error::CliError;
use super::rows::{hanging, rows, sentences};
use crate::report::Ink;
use crate::secret::Redactor;
use crate::text::next_unsafe;

/// The sequences of which our own colours are made.
const COLOURS: [&str; 9] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[34m",
    "\u{1b}[35m",
    "\u{1b}[36m",
];

/// Writes to stdout and stderr, whole lines at a time.
pub(super) struct Printer {
    stderr: Mutex<Stderr>,
    stdout_ink: Ink,
    stderr_ink: Ink,
    redactor: Redactor,
    /// How wide the terminal is, where there is one.
    width: Option<Box<dyn Fn() -> usize + Send + Sync>>,
}

/// How a note is laid out on a terminal.
enum Layout {
    AsItIs,
    Sentences,
    /// Words begin at this column.
    Hanging(usize),
}

/// Standard error, and the lines that stand at its bottom.
struct Stderr {
    stream: std::io::Stderr,
    bottom: Vec<String>,
    /// Drawing has ended.
    is_closed: bool,
}

impl Stderr {
    /// Takes the bottom lines away, writes this, and draws other bottom lines: all at once, so that nothing flickers.
    fn write(&mut self, text: &str, bottom: Vec<String>, width: usize) {
        // A terminal that has become narrower breaks lines that did fit.
        let there = self.bottom.iter().map(|line| rows(line, width)).sum();
        let all = format!("{}{text}{}", erased(there), bottom.join("\n"));
        self.bottom = bottom;
        let _ = self.stream.write_all(all.as_bytes()).and_then(|()| self.stream.flush());
    }
}

/// The escape sequence that erases so many rows at the bottom; the cursor is at the end of the last.
fn erased(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\r\u{1b}[2K{}", "\u{1b}[1A\u{1b}[2K".repeat(rows - 1)) }
}

impl Printer {
    /// The printer of this process.
    pub(super) fn new(context: &Context) -> Printer {
        Printer {
            stderr: Mutex::new(Stderr { stream: std::io::stderr(), bottom: Vec::new(), is_closed: false }),
            stdout_ink: context.stdout_ink,
            stderr_ink: context.stderr_ink,
            redactor: context.credentials.redactor.clone(),
            width: context.stderr_is_tty.then(|| Box::new(context.terminal_size()) as Box<_>),
        }
    }

    /// Data. A reader that has gone away (`| head`) is not an error.
    pub(super) fn data(&self, text: &str) -> Result<(), CliError> {
        self.write_data(&shown(&self.redactor.redact(text), self.stdout_ink))
    }

    /// Prints data with a password that its reader needs.
    pub(super) fn data_with_password(&self, text: &str) -> Result<(), CliError> {
        self.write_data(text)
    }

    fn write_data(&self, text: &str) -> Result<(), CliError> {
        // Both streams may end on one screen.
        self.draw(Vec::new());
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
            _ => Ok(()),
        }
    }

    /// Everything else: progress, hints.
    pub(super) fn note(&self, text: &str) {
        self.write_note(text, false, Layout::AsItIs);
    }

    /// Sentences: where there is a terminal they are broken to fit it.
    pub(super) fn sentences(&self, text: &str) {
        self.write_note(text, false, Layout::Sentences);
    }

    /// Lines about conversations, whose words begin at this column: where there is a terminal they are broken to fit it.
    pub(super) fn lines(&self, text: &str, indent: usize) {
        self.write_note(text, false, Layout::Hanging(indent));
    }

    /// A note after which nothing is drawn any more: the process is about to end.
    pub(super) fn last_note(&self, text: &str) {
        self.write_note(text, true, Layout::AsItIs);
    }

    fn write_note(&self, text: &str, is_last: bool, layout: Layout) {
        let width = self.width.as_ref().map(|width| width());
        let text = shown(&self.redactor.redact(text), self.stderr_ink);
        let text = match (layout, width.map(|width| width.saturating_sub(1))) {
            (Layout::Hanging(indent), Some(width)) => hanging(&text, indent, width),
            (Layout::Sentences, Some(width)) => sentences(&text, width),
            (Layout::AsItIs, _) | (_, None) => text,
        };
        if let Ok(mut stderr) = self.stderr.lock() {
            stderr.is_closed |= is_last;
            let bottom = if is_last { Vec::new() } else { stderr.bottom.clone() };
            stderr.write(&format!("{text}\n"), bottom, width.unwrap_or(usize::MAX));
        }
    }

    /// Draws these lines at the bottom of the terminal in place of those that are there. Each must fit into a line.
    pub(super) fn draw(&self, lines: Vec<String>) {
        let shown = |line: &String| shown(&self.redactor.redact(line), self.stderr_ink).replace('\n', " ");
        let lines: Vec<String> = lines.iter().map(shown).collect();
        if let Ok(mut stderr) = self.stderr.lock()
            && stderr.bottom != lines
            && !stderr.is_closed
        {
            stderr.write("", lines, self.width.as_ref().map_or(usize::MAX, |width| width()));
        }
    }

    /// An error, in the one voice.
    pub(super) fn error(&self, error: &CliError) {
        self.sentences(&error.colored_message(self.stderr_ink));
    }
}

/// A message of clap's, in our own form.
pub(super) fn usage(text: &str, is_error: bool) -> std::io::Result<()> {
    if is_error { std::io::stderr().write_all(text.as_bytes()) } else { std::io::stdout().write_all(text.as_bytes()) }
}

/// The text as a terminal may get it.
pub(super) fn shown(text: &str, ink: Ink) -> String {
    let mut shown = String::with_capacity(text.len());
    let (mut done, mut from) = (0, 0);
    while let Some(at) = next_unsafe(text, from) {
        let rest = &text[at..];
        let colour = COLOURS.iter().find(|colour| ink == Ink::Colour && rest.starts_with(**colour));
        let character = rest.chars().next().filter(|_| colour.is_none());
        from = at + colour.map_or_else(|| character.map_or(1, char::len_utf8), |colour| colour.len());
        if let Some(character) = character.filter(|character| !matches!(character, '\n' | '\t')) {
            shown.push_str(&text[done..at]);
            shown.extend(character.escape_unicode());
            done = from;
        }
    }
    shown + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Event, EventKind};

    #[test]
    fn the_bottom_lines_are_taken_away_before_anything_else_is_written() {
        assert_eq!(erased(0), "");
        assert_eq!(erased(2), "\r\u{1b}[2K\u{1b}[1A\u{1b}[2K");
    }

    #[test]
    fn only_our_own_colours_reach_the_terminal() {
        let text = format!("{} \u{1b}[5mx\u{1b}]0;t\u{7}\u{202e}\u{e0041}\r\n\ty", Ink::Colour.bad("error:"));
        let spelled = "\\u{1b}[5mx\\u{1b}]0;t\\u{7}\\u{202e}\\u{e0041}\\u{d}\n\ty";
        assert_eq!(shown(&text, Ink::Colour), format!("{} {spelled}", Ink::Colour.bad("error:")));
        assert_eq!(shown(&text, Ink::None), format!("\\u{{1b}}[31merror:\\u{{1b}}[0m {spelled}"));
        for own in [Ink::bold, Ink::dim, Ink::good, Ink::bad, Ink::unsure] {
            assert_eq!(shown(&own(Ink::Colour, "x"), Ink::Colour), own(Ink::Colour, "x"));
        }
        let data = serde_json::Value::Null;
        for kind in [
            EventKind::SystemPrompt { text: String::new() },
            EventKind::GraphRequest { content: String::new(), summary_direction: None },
            EventKind::FunctionResponse { output: data.clone().into() },
            EventKind::Other { data },
        ] {
            let event = crate::report::event(&Event::from(kind), Ink::Colour);
            assert_eq!(shown(&event, Ink::Colour), event);
        }
    }
}
