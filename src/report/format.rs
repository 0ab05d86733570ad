//! The formats of the files that runs are written to, each known by a file's ending.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use serde_json::Value;

use super::escaped::Escaped;
use super::systems::{self, ResultFolder};
use super::token_file::write_token_file;
use super::{Screen, csv, html, junit, markdown};
use crate::evidence::ExpectationReview;
use crate::record::{DocumentError, Overview, TrialRecord, write_document};
use crate::text::{characters, nearest};

/// The trials of a run, each read when it is asked for.
pub type TrialIter<'a, E> = Box<dyn Iterator<Item = Result<TrialRecord, E>> + 'a>;

/// A run that is written to a file.
pub struct WrittenRun<'a, E> {
    /// The run without its conversations.
    pub overview: &'a Overview,
    /// Reads its trials in the order of the plan, as often as a format needs them: no format holds them all.
    pub trials: Box<dyn Fn() -> TrialIter<'a, E> + 'a>,
    /// Fills in the prompts of a trial's questions, which takes time.
    pub with_prompts: Box<dyn Fn(TrialRecord) -> TrialRecord + 'a>,
    /// Puts a trial beside what its case expects.
    pub review: Box<dyn Fn(&TrialRecord) -> ExpectationReview + 'a>,
    /// The criterion of each metric with a threshold, by its name, as ADK writes it; none of a run whose job was not kept.
    pub criteria: BTreeMap<String, Value>,
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
    /// Results of Google ADK.
    Adk,
    /// Results of trpc-agent-go.
    Trpc,
    /// A result folder of watsonx Orchestrate.
    Watsonx,
    /// The folder `results` of Red Hat's evaluations.
    Redhat,
    /// Traces in OpenTelemetry's JSON.
    Otlp,
}

/// All formats, each with its name; of other names for one the first counts.
const NAMES: [(&str, Format); 13] = [
    ("json", Format::Json),
    ("html", Format::Html),
    ("junit", Format::Junit),
    ("xml", Format::Junit),
    ("md", Format::Markdown),
    ("markdown", Format::Markdown),
    ("csv", Format::Csv),
    ("tokens", Format::Tokens),
    ("adk", Format::Adk),
    ("trpc", Format::Trpc),
    ("watsonx", Format::Watsonx),
    ("redhat", Format::Redhat),
    ("otlp", Format::Otlp),
];

/// The result of writing a document.
pub(super) type DocumentResult<E> = Result<(), DocumentError<E>>;

/// The ending that two systems give to their results.
pub const AMBIGUOUS_ENDING: &str = ".evalset_result.json";

/// A name that no format has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no format `{name}`{near}; the formats are json, html, junit, md, csv, tokens, adk, trpc, watsonx, redhat and otlp"
)]
pub struct UnknownFormat {
    name: String,
    near: String,
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        let known = || NAMES.iter().map(|(known, _)| *known);
        let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, format)| *format);
        found.ok_or_else(|| {
            let near = nearest(&name.to_lowercase(), known()).map(|near| format!(" (did you mean `{near}`?)"));
            UnknownFormat { name: name.to_owned(), near: near.unwrap_or_default() }
        })
    }
}

impl Format {
    /// The format's name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    /// The nearest name, as a suggestion.
    pub fn nearest(name: &str) -> Option<&'static str> {
        nearest(&name.to_lowercase(), NAMES.iter().map(|(known, _)| *known))
    }

    /// Whether its results are a folder.
    pub fn is_folder(self) -> bool {
        matches!(self, Format::Watsonx | Format::Redhat)
    }

    /// The name of its file in a folder that holds those of several runs.
    pub fn file_name<E>(self, runs: &[WrittenRun<'_, E>]) -> String {
        let id = systems::result_id(runs);
        match self {
            Format::Adk | Format::Trpc => format!("{id}{AMBIGUOUS_ENDING}"),
            Format::Otlp => format!("{id}.otlp.json"),
            Format::Tokens => format!("{id}-tokens.json"),
            Format::Junit => format!("{id}.xml"),
            other => format!("{id}.{}", other.name()),
        }
    }

    /// The format that a file's ending tells.
    pub fn from_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        let endings = [
            ("tokens.json", Format::Tokens),
            (".otlp.json", Format::Otlp),
            (".json", Format::Json),
            (".xml", Format::Junit),
            (".md", Format::Markdown),
            (".csv", Format::Csv),
            (".html", Format::Html),
        ];
        if name.ends_with(AMBIGUOUS_ENDING) {
            return None;
        }
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
            Format::Adk => systems::adk::write(runs, to),
            Format::Trpc => systems::trpc::write(runs, to),
            Format::Otlp => systems::otlp::write(runs, to),
            Format::Watsonx | Format::Redhat => {
                let what = format!("{} is a folder of files", self.name());
                Err(DocumentError::Write(io::Error::new(io::ErrorKind::IsADirectory, what)))
            }
        }
    }

    /// Writes runs into a folder: the files of a format that has several, or the one file.
    ///
    /// # Errors
    /// [`DocumentError`]: a trial that can't be read, or a failing writer.
    pub fn write_folder<E>(
        self,
        runs: &[WrittenRun<'_, E>],
        folder: &mut dyn ResultFolder,
    ) -> Result<(), DocumentError<E>> {
        match self {
            Format::Watsonx => systems::watsonx::write(runs, folder),
            Format::Redhat => systems::redhat::write(runs, folder),
            other => {
                let mut file = folder.file(&other.file_name(runs)).map_err(DocumentError::Write)?;
                other.write(runs, &mut *file)?;
                file.finish().map_err(DocumentError::Write)
            }
        }
    }

    /// The table that the format's own system prints, where it prints one.
    ///
    /// # Errors
    /// A trial that can't be read.
    pub fn table<E>(self, runs: &[WrittenRun<'_, E>], screen: Screen) -> Result<Option<String>, DocumentError<E>> {
        match self {
            Format::Watsonx => systems::watsonx::table(runs, screen).map(Some),
            _ => Ok(None),
        }
    }
}

/// The record of one run is a document; those of several are in a list.
fn json<E>(runs: &[WrittenRun<'_, E>], to: impl Write) -> Result<(), DocumentError<E>> {
    let mut to = Escaped::new(to);
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
            ("run.otlp.json", Some(Format::Otlp)),
            ("run.evalset_result.json", None),
        ] {
            assert_eq!(Format::from_path(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn each_format_has_a_name_and_a_misspelled_one_gets_a_hint() {
        for (name, format) in NAMES {
            assert_eq!(name.parse(), Ok(format));
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert_eq!("JUnit".parse(), Ok(Format::Junit));
        let wrong = "watson".parse::<Format>().unwrap_err().to_string();
        assert!(
            wrong.starts_with("there is no format `watson` (did you mean `watsonx`?); the formats are json,"),
            "{wrong}"
        );
        assert!(!"pdf".parse::<Format>().unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn json_for_a_terminal_means_the_same() {
        let text = "a\u{9b}31m\u{202e}\u{e0041}\u{7f}é\n\u{1b}";
        let json = terminal_json(&serde_json::to_string(text).unwrap());
        assert!(json.chars().all(|c| c == 'é' || c.is_ascii_graphic()), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
