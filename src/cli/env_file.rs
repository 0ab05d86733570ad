//! `.env`: variables beside those of the environment, which go before them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::CliError;

/// The file that is read from the working directory where none is named.
const USUAL: &str = ".env";

/// The variables of the file, by name.
pub(super) type EnvFile = BTreeMap<String, String>;

/// A line that is no assignment. The message repeats nothing of the line, which can hold a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum EnvFileError {
    #[error("there is no `=`; write NAME=value")]
    NoSign,
    #[error("what stands before `=` is no name of a variable: letters, digits and `_` only")]
    NoName,
    #[error("a quote is opened and not closed in this line")]
    OpenQuote,
    #[error("there is something behind the closing quote")]
    AfterQuote,
}

/// Reads the named file, or `.env` where there is one.
pub(super) fn read(named: Option<&Path>) -> Result<EnvFile, CliError> {
    let path = named.map_or_else(|| PathBuf::from(USUAL), Path::to_path_buf);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if named.is_none() && error.kind() == io::ErrorKind::NotFound => return Ok(EnvFile::new()),
        // A folder of that name is no mistake of the user's.
        Err(_) if named.is_none() && path.is_dir() => return Ok(EnvFile::new()),
        Err(source) => return Err(CliError::UnreadableEnvFile { path, source }),
    };
    parse(&text).map_err(|(line, error)| CliError::InvalidEnvFile { path, line, error })
}

/// `NAME=value` a line, also with `export ` before it; `#` begins a comment at the start of a line or after a space. In
/// single quotes everything stands for itself, in double quotes `\n`, `\t`, `\"`, `\\` and `\$` are read. An error comes with the
/// number of its line, from 1.
fn parse(text: &str) -> Result<EnvFile, (usize, EnvFileError)> {
    let mut variables = EnvFile::new();
    for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").map_or(line, str::trim_start);
        let (name, value) = line.split_once('=').ok_or((number, EnvFileError::NoSign))?;
        let name = name.trim_end();
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_name {
            return Err((number, EnvFileError::NoName));
        }
        let value = value_of(value.trim()).map_err(|error| (number, error))?;
        // As in a shell, what is said last counts.
        variables.insert(name.to_owned(), value);
    }
    Ok(variables)
}

fn value_of(text: &str) -> Result<String, EnvFileError> {
    const OPEN: EnvFileError = EnvFileError::OpenQuote;
    if let Some(rest) = text.strip_prefix('\'') {
        let (value, after) = rest.split_once('\'').ok_or(OPEN)?;
        return nothing_after(after).map(|()| value.to_owned());
    }
    let Some(rest) = text.strip_prefix('"') else {
        let end = text.find(" #").or_else(|| text.starts_with('#').then_some(0)).unwrap_or(text.len());
        return Ok(text[..end].trim_end().to_owned());
    };
    let mut value = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next().ok_or(OPEN)? {
            '"' => return nothing_after(chars.as_str()).map(|()| value),
            '\\' => match chars.next().ok_or(OPEN)? {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                c @ ('"' | '\\' | '$') => value.push(c),
                other => value.extend(['\\', other]),
            },
            c => value.push(c),
        }
    }
}

fn nothing_after(rest: &str) -> Result<(), EnvFileError> {
    let rest = rest.trim_start();
    let is_nothing = rest.is_empty() || rest.starts_with('#');
    is_nothing.then_some(()).ok_or(EnvFileError::AfterQuote)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_spelling_is_read() {
        let text = "\u{feff}# a comment\n\nA=1\r\nexport B = two words # said\nC='it #1 \\n'\nD=\"x\\n\\\"y\\\" \\$Z\" # end\nE=\nF=a#b\nA=2\nG=#";
        let variables = parse(text).unwrap();
        let expected = [
            ("A", "2"),
            ("B", "two words"),
            ("C", "it #1 \\n"),
            ("D", "x\n\"y\" $Z"),
            ("E", ""),
            ("F", "a#b"),
            ("G", ""),
        ];
        assert_eq!(variables, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        for (text, line, part) in [
            ("A=1\nhush", 2, "no `=`"),
            ("1A=x", 1, "no name"),
            ("A B=x", 1, "no name"),
            ("=x", 1, "no name"),
            ("\n\nA='x", 3, "not closed"),
            ("A=\"x\\\"", 1, "not closed"),
            ("A='x'y", 1, "behind the closing quote"),
        ] {
            let (found, error) = parse(text).unwrap_err();
            assert_eq!(found, line, "{text}");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "([A-Z_]{0,3}=?[\"'#\\\\ a$]{0,6}\n?){0,5}|.{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn whatever_stands_in_single_quotes_stands_for_itself(value in "[^'\r\n]{0,30}") {
            prop_assert_eq!(&parse(&format!("A='{value}'")).unwrap()["A"], &value);
        }
    }
}
