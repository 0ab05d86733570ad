//! Writes XML. All texts are untrusted: they are escaped, and name no attachments.

use std::io::{self, Write};

use super::TestResult;
use crate::report::plain;

/// Writes elements; all texts are untrusted.
pub(super) struct Xml<'w>(pub(super) &'w mut dyn Write);

impl Xml<'_> {
    pub(super) fn raw(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())
    }

    pub(super) fn open(&mut self, start: &str, attributes: &[(&str, &str)], end: &str) -> io::Result<()> {
        self.raw(start)?;
        for (name, value) in attributes {
            // A line break in an attribute is read as a space.
            self.raw(&format!(" {name}=\"{}\"", escaped(&value.replace(['\n', '\t'], " "))))?;
        }
        self.raw(end)
    }

    pub(super) fn test(&mut self, [class, name, time]: [&str; 3], result: &TestResult, words: &str) -> io::Result<()> {
        self.open("    <testcase", &[("classname", class), ("name", name), ("time", time)], ">\n")?;
        let (element, kind, message) = match result {
            TestResult::Passed => ("", "", ""),
            TestResult::Failure { kind, message } => ("failure", *kind, message.as_str()),
            TestResult::Skipped { kind, message } => ("skipped", *kind, message.as_str()),
            TestResult::Error { kind, message } => ("error", *kind, message.as_str()),
        };
        if !element.is_empty() {
            self.open(&format!("      <{element}"), &[("type", kind), ("message", message)], ">")?;
            self.raw(&format!("{}</{element}>\n", escaped(message)))?;
        }
        if !words.trim().is_empty() {
            self.raw(&format!("      <system-out>{}</system-out>\n", escaped(words)))?;
        }
        self.raw("    </testcase>\n")
    }
}

/// GitLab and Jenkins take `[[ATTACHMENT|path]]` in a test's output as a file to keep, and others `[[PROPERTY|…]]`: what an
/// agent says is not to name one.
pub(super) fn without_attachments(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("[[") {
        let (before, found) = rest.split_at(at);
        let is_taken = |word: &str| found.get(2..2 + word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word));
        safe.push_str(before);
        safe.push_str(if ["ATTACHMENT", "PROPERTY"].iter().any(|word| is_taken(word)) { "[ " } else { "[" });
        rest = &found[1..];
    }
    safe + rest
}

/// A text that stands for itself in XML. The control characters that XML can't hold are spelled out, as on a terminal.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(&without_attachments(text)).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // No characters of XML.
            '\u{fffe}' | '\u{ffff}' => escaped.extend(c.escape_unicode()),
            c => escaped.push(c),
        }
    }
    escaped
}
