//! Reads the files of a recording.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::line::{CassetteLine, Exchange, Note, Party, RunHeader};
use super::{CassetteError, UnrecordedError, VERSION};
use crate::evidence::TrialId;

/// Reads what all trials share.
pub(super) fn read_run(path: &Path) -> Result<(RunHeader, TrialExchanges), CassetteError> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(CassetteError::Absent(path.parent().unwrap_or(path).to_path_buf()));
        }
        text => text.map_err(|source| CassetteError::Io { path: path.to_path_buf(), source })?,
    };
    let mut lines = CassetteLines { path, lines: text.lines().enumerate() };
    let CassetteLine::Run(header) = lines.first()? else {
        return Err(lines.damaged(1, "the first line is not that of a recorded run"));
    };
    // Whatever was noted before the recording was killed is enough.
    let (tracks, _) = lines.rest()?;
    Ok((header, tracks))
}

/// Reads the file of a trial.
pub(super) fn read_trial(path: &Path, trial: &TrialId) -> Result<TrialExchanges, UnrecordedError> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(UnrecordedError::NoFile { trial: trial.clone(), path: path.to_path_buf() });
        }
        text => text.map_err(|source| CassetteError::Io { path: path.to_path_buf(), source })?,
    };
    let mut file = CassetteLines { path, lines: text.lines().enumerate() };
    match file.first()? {
        CassetteLine::Trial(header) if header.trial == trial.key() => {}
        CassetteLine::Trial(header) => {
            let what = format!("it is the recording of {}, not of {trial}", header.trial);
            return Err(file.damaged(1, &what).into());
        }
        _ => return Err(file.damaged(1, "the first line is not that of a recorded conversation").into()),
    }
    let (tracks, is_whole) = file.rest()?;
    match is_whole {
        true => Ok(tracks),
        false => {
            let what =
                "the recording ends here, before its conversation does: it was interrupted, or the file was cut off";
            Err(file.damaged(text.lines().count(), what).into())
        }
    }
}

/// The lines of a file.
struct CassetteLines<'a, I> {
    path: &'a Path,
    lines: I,
}

impl<'a, I: Iterator<Item = (usize, &'a str)>> CassetteLines<'a, I> {
    fn damaged(&self, line: usize, what: &str) -> CassetteError {
        CassetteError::Damaged { path: self.path.to_path_buf(), line: line.max(1), what: what.to_owned() }
    }

    /// The first line, which tells the version before anything else is read.
    fn first(&mut self) -> Result<CassetteLine, CassetteError> {
        let text = self.lines.next().map_or("", |(_, text)| text);
        let version = serde_json::from_str::<Value>(text).ok().and_then(|value| value.get("version")?.as_u64());
        match version {
            Some(version) if version > u64::from(VERSION) => {
                let version = u32::try_from(version).unwrap_or(u32::MAX);
                Err(CassetteError::TooNew { path: self.path.to_path_buf(), version })
            }
            _ => self.parse(1, text),
        }
    }

    fn parse(&self, line: usize, text: &str) -> Result<CassetteLine, CassetteError> {
        serde_json::from_str(text)
            .map_err(|error| self.damaged(line, &format!("this is no line of a recording ({error})")))
    }

    /// All others, and whether the last one is the end.
    fn rest(&mut self) -> Result<(TrialExchanges, bool), CassetteError> {
        let (mut tracks, mut is_whole) = (TrialExchanges::default(), false);
        while let Some((index, text)) = self.lines.next() {
            match self.parse(index + 1, text)? {
                _ if is_whole => return Err(self.damaged(index + 1, "this line is behind the end of the recording")),
                CassetteLine::Exchange(exchange) => tracks.add(index + 1, exchange),
                CassetteLine::Note(Note { attempt, name, value }) => drop(tracks.notes.insert((attempt, name), value)),
                CassetteLine::End => is_whole = true,
                CassetteLine::Run(_) | CassetteLine::Trial(_) => {
                    return Err(self.damaged(index + 1, "a second recording begins here"));
                }
            }
        }
        Ok((tracks, is_whole))
    }
}

pub(super) type ExchangeKey = (u32, Party, [u8; 32]);

/// The recorded exchanges of a trial, each with its line, and notes.
#[derive(Default)]
pub(super) struct TrialExchanges {
    pub(super) exchanges: Vec<(usize, Exchange)>,
    /// The places of exchanges that were not replayed yet, by their requests.
    pub(super) next: BTreeMap<ExchangeKey, VecDeque<usize>>,
    pub(super) used: BTreeSet<usize>,
    pub(super) notes: BTreeMap<(u32, String), Value>,
}

impl TrialExchanges {
    /// A note, whichever attempt it is of.
    pub(super) fn note_of_any(&self, name: &str) -> Option<&Value> {
        self.notes.iter().find_map(|((_, known), value)| (known == name).then_some(value))
    }

    /// Whether all exchanges are replayed.
    pub(super) fn is_used_up(&self) -> bool {
        self.used.len() == self.exchanges.len()
    }

    /// How many exchanges that were answered are not replayed yet.
    pub(super) fn unused_answers(&self) -> usize {
        let is_left = |place: &usize| !self.used.contains(place) && self.exchanges[*place].1.answer.is_some();
        (0..self.exchanges.len()).filter(is_left).count()
    }

    fn add(&mut self, line: usize, exchange: Exchange) {
        let key = (exchange.attempt, exchange.with, digest(&exchange.request));
        self.next.entry(key).or_default().push_back(self.exchanges.len());
        self.exchanges.push((line, exchange));
    }
}

/// The digest of a request, whatever the order of its keys.
pub(super) fn digest(request: &Value) -> [u8; 32] {
    let mut sorted = request.clone();
    sorted.sort_all_objects();
    Sha256::digest(sorted.to_string()).into()
}
