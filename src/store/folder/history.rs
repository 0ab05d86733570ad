//! Many runs at once, by what `summary.json` says of each.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::runs::JOURNAL;
use super::{JournalFile, StoreError, summary};
use crate::record::{Provenance, RunFigures, RunSummary};
use crate::store::StoredRun;

/// Most first lines of journals are not longer.
const BUFFER: usize = 1 << 17;

/// A run by its figures; its conversations are read when they are asked for.
#[derive(Debug)]
pub struct KeptRun {
    /// Its figures.
    pub figures: RunFigures,
    folder: PathBuf,
}

impl KeptRun {
    /// The run in this folder, of which these figures are known.
    pub(in crate::store) fn new(figures: RunFigures, folder: PathBuf) -> KeptRun {
        KeptRun { figures, folder }
    }

    /// The run itself.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn open(&self) -> Result<JournalFile, StoreError> {
        JournalFile::open(&self.folder)
    }

    /// The text, in JSON, of the job that it was made with, if that was kept.
    pub fn job(&self) -> Option<Vec<u8>> {
        job(&self.folder)
    }

    /// The run's provenance, where its figures are not enough.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn provenance(&self) -> Result<Provenance, StoreError> {
        match summary::provenance(&self.folder) {
            Some(provenance) => Ok(provenance),
            None => Ok(summary_of(&self.folder)?.provenance),
        }
    }
}

/// The text, in JSON, of the job of the run in this folder. Of the journal's first line nothing else is looked at: the list of
/// conversations in it may be long.
pub(super) fn job(folder: &Path) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Started {
        job: Option<Value>,
    }
    let mut journal = BufReader::with_capacity(BUFFER, File::open(folder.join(JOURNAL)).ok()?);
    let buffered = journal.fill_buf().ok()?;
    if memchr::memchr(b'\n', buffered).is_some() {
        return member(buffered, b"\"job\"").filter(|job| *job != b"null").map(<[u8]>::to_vec);
    }
    let mut entries = serde_json::Deserializer::from_reader(journal).into_iter::<Started>();
    entries.next()?.ok()?.job.map(|job| job.to_string().into_bytes())
}

/// The value that a JSON object has for this key, which is given with its quotes; `None` where the object is cut off before it
/// ends. Nothing is parsed.
fn member<'t>(text: &'t [u8], key: &[u8]) -> Option<&'t [u8]> {
    let (mut depth, mut begins, mut at) = (0_usize, None, 0);
    while at < text.len() {
        let is_end = matches!(text[at], b',' | b'}') && depth == 1;
        match (begins, text[at]) {
            (Some(begins), _) if is_end => return Some(&text[begins..at]),
            (_, b'"') => {
                let start = at;
                at += 1;
                while *text.get(at)? != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                if depth == 1 && text.get(at + 1) == Some(&b':') && &text[start..=at] == key {
                    begins = Some(at + 2);
                }
            }
            (_, b'{' | b'[') => depth += 1,
            (_, b'}' | b']') => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The figures of the run in this folder with all that a trend needs; the run is read where its summary says less.
pub(super) fn figures_of(folder: &Path) -> Result<RunFigures, StoreError> {
    Ok(RunFigures::from(&summary_of(folder)?).with_job(job(folder).as_deref()))
}

/// The summary of the run in this folder; the run is read where it has none that says all.
fn summary_of(folder: &Path) -> Result<RunSummary, StoreError> {
    match summary::read_whole(folder) {
        Some(summary) => Ok(summary),
        None => Ok(JournalFile::open(folder)?.read(|_, _| ())?.summary),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_members_value_is_found_at_the_objects_own_level() {
        for (text, expected) in [
            (r#"{"a":{"job":1},"job":{"x":[1,{"y":"}\"job\":"}]},"n":2}"#, Some(r#"{"x":[1,{"y":"}\"job\":"}]}"#)),
            (r#"{"job":null}"#, Some("null")),
            (r#"{"a":"job","job":"b,c"}"#, Some(r#""b,c""#)),
            (r#"{"a":{"job":1}}"#, None),
            (r#"{"job":{"x":1"#, None),
            (r#"{"job":"x"#, None),
            ("]]", None),
            ("", None),
        ] {
            assert_eq!(member(text.as_bytes(), b"\"job\""), expected.map(str::as_bytes), "{text}");
        }
    }
}
