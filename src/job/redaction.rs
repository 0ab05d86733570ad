//! Redacts keys and passwords in the source lines that problems show.

use std::ops::Range;

use super::Problem;
use super::secrets::{FoundSecrets, MOST, is_known_key};
use super::source::SourceLines;
use crate::secret::{Redactor, is_key_name, is_long_and_mixed, is_worth_hiding, looks_like_a_key, secret_parts};

/// The placeholder of hidden text.
pub(super) const REDACTED: &str = "***";

/// The parts of a file's lines that are hidden.
pub(super) enum Redaction {
    /// The secrets of the tree that was read.
    Secrets(Box<KnownSecrets>),
    /// Everything but known keys and punctuation: the text is no YAML, so that the meaning of its parts is unknown.
    Everything,
}

/// The secrets of the tree that was read.
pub(super) struct KnownSecrets {
    found: FoundSecrets,
    redactor: Redactor,
}

impl Redaction {
    /// The redaction of a tree.
    pub(super) fn new(mut found: FoundSecrets) -> Redaction {
        found.texts.append(&mut found.guessed);
        found.texts.retain(|text| is_worth_hiding(text));
        found.texts.sort_unstable();
        found.texts.dedup();
        if found.texts.len() > MOST {
            return Redaction::Everything;
        }
        let redactor = Redactor::default();
        redactor.learn_all(found.texts.iter().map(String::as_str));
        Redaction::Secrets(Box::new(KnownSecrets { found, redactor }))
    }

    /// The hidden parts of a line.
    pub(super) fn hidden(&self, lines: &SourceLines<'_>, number: usize) -> Vec<Range<usize>> {
        let line = lines.line(number);
        let mut hidden = match self {
            Redaction::Secrets(known) => known.hidden(line, lines.start_of(number)),
            Redaction::Everything => beside_keys(line),
        };
        hidden.retain(|part| !part.is_empty() && line.get(part.clone()).is_some());
        hidden.sort_by_key(|part| part.start);
        let mut parts: Vec<Range<usize>> = Vec::new();
        for part in hidden {
            match parts.last_mut().filter(|last| part.start <= last.end) {
                Some(last) => last.end = last.end.max(part.end),
                None => parts.push(part),
            }
        }
        parts
    }

    /// Gives a problem its source line, and redacts the line's hidden parts and the secrets in the problem's message.
    pub(super) fn apply(&self, problem: &mut Problem, line: &str, hidden: &[Range<usize>]) {
        if let Redaction::Secrets(known) = self {
            let hidden_texts = texts_near(problem, line, hidden);
            let clear = |text: &str| {
                let text =
                    hidden_texts.iter().fold(text.to_owned(), |text, hidden| text.replace(hidden.as_str(), REDACTED));
                known.redactor.redact(&text).into_owned()
            };
            if let Some(help) = &mut problem.help {
                *help = clear(help);
            }
            problem.message = clear(&problem.message);
        }
        redact(problem, line, hidden);
        let is_part_hidden = !hidden.is_empty() && !is_all_hidden(&problem.source_line);
        if matches!(self, Redaction::Everything) && is_part_hidden && problem.help.is_none() {
            problem.help = Some("values are shown as *** as long as the file can't be read".to_owned());
        }
    }
}

/// Whether nothing is left of a line but stars and what stands between words: it isn't worth showing.
pub(super) fn is_all_hidden(line: &str) -> bool {
    line.contains(REDACTED) && line.chars().all(|c| matches!(c, '*' | ',' | '.' | ';') || c.is_whitespace())
}

impl KnownSecrets {
    fn hidden(&self, line: &str, start: usize) -> Vec<Range<usize>> {
        let end = start + line.len();
        let touches = self.found.spans.iter().filter(|span| span.start < end && span.end > start);
        let mut hidden: Vec<Range<usize>> =
            touches.map(|span| span.start.max(start) - start..span.end.min(end) - start).collect();
        hidden.extend(secret_parts(line));
        hidden.extend(named_values(line));
        hidden.extend(self.redactor.find(line));
        hidden
    }
}

/// The hidden texts around a problem's place, the longest first: its message may repeat them, however short they are.
fn texts_near(problem: &Problem, line: &str, hidden: &[Range<usize>]) -> Vec<String> {
    const NEAR: usize = 200;
    const MOST: usize = 32;
    let byte_of = |column: usize| line.char_indices().nth(column - 1).map_or(line.len(), |(at, _)| at);
    let (from, to) = (byte_of(problem.column).saturating_sub(NEAR), byte_of(problem.column + problem.width) + NEAR);
    let near = hidden.iter().filter(|part| part.end > from && part.start < to).take(MOST);
    let bare =
        near.filter_map(|part| line.get(part.clone())).flat_map(|text| [text, text.trim_matches(['"', '\'', ' '])]);
    let mut texts: Vec<String> = bare.filter(|text| text.len() > 1).map(str::to_owned).collect();
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    texts
}

/// Values of keys that are secret by their names, as far as a line shows: of comments, and of keys that come twice.
fn named_values(line: &str) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    for (colon, _) in line.match_indices(':') {
        let before = line[..colon].trim_end().trim_end_matches(['"', '\'']);
        let key = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-')).next().unwrap_or("");
        let value = &line[colon + 1..];
        let from = colon + 1 + (value.len() - value.trim_start().len());
        let is_alone = value.starts_with([' ', '\t']) && !line[from..].starts_with(['{', '[', '#', '|', '>', '*']);
        if !is_alone || !is_key_name(key) {
            continue;
        }
        let text = &line[from..];
        let length = match text.chars().next() {
            Some(quote @ ('"' | '\'')) => (2 + quoted(&text[1..], quote)).min(text.len()),
            _ => text.find([',', '}', '#']).unwrap_or(text.len()),
        };
        let value = line[from..from + length].trim_end();
        // An empty value or a switch is no secret.
        if !matches!(value, "" | "true" | "false" | "null" | "~") && is_worth_hiding(value.trim_matches(['"', '\''])) {
            values.push(from..from + value.len());
        }
    }
    values
}

/// Where the quoted text ends, in bytes: at its quote, but not at one that is escaped (`\"`, `''`), or with the line.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '\\' && quote == '"' {
            characters.next();
        } else if character == quote && characters.next_if(|(_, next)| quote == '\'' && *next == quote).is_none() {
            return at;
        }
    }
    text.len()
}

/// Everything of a line but indentation, punctuation and the keys that a job can have.
fn beside_keys(line: &str) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        let rest = &line[at..];
        let is_punctuation = first.is_whitespace() || matches!(first, ',' | '{' | '}' | '[' | ']' | ':' | '-' | '?');
        if is_punctuation {
            at += first.len_utf8();
            continue;
        }
        let key = rest.trim_start_matches(['"', '\'']);
        let length = key.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(key.len());
        let after = key[length..].trim_start_matches(['"', '\'']).trim_start();
        if after.starts_with(':') && is_known_key(&key[..length]) {
            at += rest.len() - key[length..].len();
            at += key[length..].len() - key[length..].trim_start_matches(['"', '\'']).len();
            at += harmless_value(&key[..length], &line[at..]);
            continue;
        }
        let end = rest.find([',', '{', '}', '[', ']']).unwrap_or(rest.len()).max(first.len_utf8());
        let end = rest[..end].trim_end().len();
        hidden.push(at..at + end);
        at += end;
    }
    hidden
}

/// How much of what comes after a key, from its colon on, can be shown though the line can't be read: what people write of
/// a conversation, unless anything in it looks like a secret.
fn harmless_value(key: &str, rest: &str) -> usize {
    const HARMLESS: [&str; 9] =
        ["name", "description", "type", "task", "acceptanceCriteria", "voice", "when", "weight", "minScore"];
    let end = rest.find([',', '{', '}', '[', ']', '#']).unwrap_or(rest.len());
    let value = &rest[..end];
    let is_word = |c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '.' | '/' | '+' | '=');
    let is_harmless = HARMLESS.contains(&key)
        && secret_parts(value).is_empty()
        && named_values(value).is_empty()
        && !value.split(is_word).any(|word| looks_like_a_key(word) || is_long_and_mixed(word) || is_key_name(word));
    if is_harmless { value.len() } else { 0 }
}

/// Sets a problem's source line without what is hidden; its place moves along. A place within what is hidden is its first
/// star.
fn redact(problem: &mut Problem, line: &str, parts: &[Range<usize>]) {
    // How many characters there are before a byte when the line is shown; within what is hidden, all stars or none.
    let characters = |range: Range<usize>| line.get(range).map_or(0, |text| text.chars().count());
    let before = |byte: usize, with_stars: bool| {
        let (mut count, mut done) = (0, 0);
        for part in parts.iter().take_while(|part| part.start < byte || !with_stars && part.start == byte) {
            count += characters(done..part.start);
            if byte < part.end {
                return count + if with_stars { REDACTED.len() } else { 0 };
            }
            count += REDACTED.len();
            done = part.end;
        }
        count + characters(done..byte)
    };
    let (mut text, mut done) = (String::new(), 0);
    for part in parts {
        text.push_str(&line[done..part.start]);
        text.push_str(REDACTED);
        done = part.end;
    }
    text.push_str(&line[done..]);
    problem.source_line = text;
    let byte_of = |column: usize| line.char_indices().nth(column - 1).map(|(at, _)| at);
    if let Some(from) = byte_of(problem.column) {
        let to = byte_of(problem.column + problem.width).unwrap_or(line.len());
        let (start, end) = (before(from, false), before(to, true));
        problem.caret = start + 1;
        problem.width = end.saturating_sub(start).max(1);
    } else if !parts.is_empty() {
        // Behind the line's end.
        problem.caret = problem.source_line.chars().count() + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problem at a part of a line, in a file of this one line.
    fn redacted(redaction: &Redaction, line: &str, at: &str) -> Problem {
        let mut problem = Problem {
            file: "job.yml".to_owned(),
            line: 1,
            column: line.find(at).map_or(1, |byte| line[..byte].chars().count() + 1),
            caret: 1,
            width: at.chars().count(),
            source_line: String::new(),
            message: format!("expected a string, found {at}"),
            expected: Vec::new(),
            help: Some(format!("put it in quotes: \"{at}\"")),
        };
        redaction.apply(&mut problem, line, &redaction.hidden(&SourceLines::new(line), 1));
        problem
    }

    fn of_nothing() -> Redaction {
        Redaction::new(FoundSecrets::default())
    }

    #[test]
    fn the_login_of_an_address_is_blotted_out_and_the_caret_follows() {
        let problem = redacted(&of_nothing(), "  baseUrl: ftp://me:s3cret@host/päth?sig=abc, wrng: 1", "wrng");
        assert_eq!(problem.source_line, "  baseUrl: ftp://***@host/päth?sig=*** wrng: 1");
        assert_eq!((problem.caret, problem.width), (40, 4));
    }

    #[test]
    fn a_place_within_what_is_hidden_is_its_stars() {
        let problem = redacted(&of_nothing(), "a: 1, apikey: sk-12345678, b: 2", "sk-12345678");
        assert_eq!(problem.source_line, "a: 1, apikey: ***, b: 2");
        assert_eq!((problem.caret, problem.width), (15, 3));
        assert_eq!(problem.message, "expected a string, found ***");
        let problem = redacted(&of_nothing(), "a: 1, apikey: sk-12345678, b: 2", "a");
        assert_eq!((problem.caret, problem.width), (1, 1));
    }

    #[test]
    fn of_what_is_no_yaml_only_known_keys_and_punctuation_are_shown() {
        for (line, shown) in [
            ("  apiKey sk-canary-1", "  ***"),
            ("  apiKey: \"sk-canary-1", "  apiKey: ***"),
            ("- {apiKey: sk-canary-1, \"path\": [x y, sk}: # sk-canary-1", "- {apiKey: ***, \"path\": [***, ***}: ***"),
            ("\tsk-canary-1: |", "\t***"),
            ("password: *sk-canary-1", "password: ***"),
            ("  - task: Ask: what the time is # no", "  - task: Ask: what the time is ***"),
            ("  - task: \"Ask, what", "  - task: \"Ask, ***"),
            ("  task: say sk-canary-1 to it", "  task: ***"),
            ("  task: the password: hunter2", "  task: ***"),
            ("  name: http://me:s3cret@host/", "  name: http:***"),
        ] {
            let problem = redacted(&Redaction::Everything, line, "zzz");
            assert_eq!(problem.source_line, shown, "{line}");
        }
    }

    #[test]
    fn a_line_without_secrets_stays_as_it_is() {
        let line = "  passwordless: 5, apiKey:";
        let problem = redacted(&of_nothing(), line, "5");
        assert_eq!((problem.source_line.as_str(), problem.caret, problem.width), (line, 17, 1));
    }
}
