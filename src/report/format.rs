//! The formats of the files that runs are written to, each known by a file's ending.

use std::io::Write;
use std::path::Path;

use super::token_file::write_token_file;
use super::{csv, html, junit, markdown};
use crate::record::{DocumentError, Overview, TrialRecord, write_document};
use crate::text::characters;

/// The trials of a run, each read when it is asked for.
pub type Trials<'a, E> = Box<dyn Iterator<Item = Result<TrialRecord, E>> + 'a>;

/// A run that is written to a file.
pub struct WrittenRun<'a, E> {
    /// The run without its conversations.
    pub overview: &'a Overview,
    /// Reads its trials in the order of the plan, as often as a format needs them: no format holds them all.
    pub trials: Box<dyn Fn() -> Trials<'a, E> + 'a>,
    /// Fills in the prompts of a trial's questions, which takes time.
    pub with_prompts: Box<dyn Fn(TrialRecord) -> TrialRecord + 'a>,
}

/// A format of the files that runs are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The record: all that is known.
    Json,
    /// The tokens that the models took.
    Tokens,
    /// JUnit XML, for the viewers of CI systems.
    Junit,
    /// Markdown, for the summary of a CI step.
    Markdown,
    /// A row a conversation, for spreadsheets and data frames.
    Csv,
    /// A page for a browser.
    Html,
}

/// The result of writing a document.
pub(super) type DocumentResult<E> = Result<(), DocumentError<E>>;

impl Format {
    /// The format that a file's ending tells.
    pub fn from_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        let endings = [
            ("tokens.json", Format::Tokens),
            (".json", Format::Json),
            (".xml", Format::Junit),
            (".md", Format::Markdown),
            (".csv", Format::Csv),
            (".html", Format::Html),
        ];
        endings.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| format)
    }

    /// Writes runs, all of them into one document.
    ///
    /// # Errors
    /// [`DocumentError`]: a trial that can't be read, or a failing writer.
    pub fn write<E>(self, runs: &[WrittenRun<'_, E>], mut to: impl Write) -> Result<(), DocumentError<E>> {
        match self {
            Format::Json => json(runs, to),
            Format::Tokens => write_token_file(runs, to),
            Format::Junit => junit::write(runs, &mut to),
            Format::Markdown => markdown::write(runs, &mut to),
            Format::Csv => csv::write(runs, &mut to),
            Format::Html => html::write(runs, &mut to),
        }
    }
}

/// The record of one run is a document; those of several are in a list.
fn json<E>(runs: &[WrittenRun<'_, E>], mut to: impl Write) -> Result<(), DocumentError<E>> {
    let is_list = runs.len() != 1;
    let punctuation = |to: &mut dyn Write, text: &str| match is_list {
        true => to.write_all(text.as_bytes()).map_err(DocumentError::Write),
        false => Ok(()),
    };
    punctuation(&mut to, "{\"runs\": [\n")?;
    for (place, run) in runs.iter().enumerate() {
        if place > 0 {
            punctuation(&mut to, ",\n")?;
        }
        let trials = (run.trials)().map(|trial| trial.map(&run.with_prompts));
        write_document(&run.overview.summary, trials, &mut to)?;
    }
    punctuation(&mut to, "]}\n")?;
    to.flush().map_err(DocumentError::Write)
}

/// A JSON document that can't steer a terminal: control characters and invisible direction marks are escaped. All of them
/// stand within texts, where an escape means the same.
pub fn terminal_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for (c, is_unsafe) in characters(json) {
        match c {
            c if is_unsafe && c != '\n' => {
                let mut units = [0; 2];
                escaped.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_tells_the_format() {
        for (name, format) in [
            ("a.json", Some(Format::Json)),
            ("A.JSON", Some(Format::Json)),
            ("a/tokens.json", Some(Format::Tokens)),
            ("run-tokens.json", Some(Format::Tokens)),
            ("json", None),
            ("a.txt", None),
            ("out/junit.xml", Some(Format::Junit)),
            ("a.md", Some(Format::Markdown)),
            ("a.csv", Some(Format::Csv)),
            ("a.HTML", Some(Format::Html)),
            ("..", None),
        ] {
            assert_eq!(Format::from_path(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn json_for_a_terminal_means_the_same() {
        let text = "a\u{9b}31m\u{202e}\u{e0041}\u{7f}é\n\u{1b}";
        let json = terminal_json(&serde_json::to_string(text).unwrap());
        assert!(json.chars().all(|c| c == 'é' || c.is_ascii_graphic()), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
