//! An eval set that is larger than anybody wants to hold: looked through once, then read some cases at a time.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::super::files::PartReader;
use super::super::json;
use super::super::load::single;
use super::super::recognise::look_at;
use super::super::recorded::{CaseKey, LARGE, Pieces, cut_items};
use super::super::{Beside, Dataset, Files, load};
use super::{OpenOptions, beside, name, warning};
use crate::job::{Problem, Problems};

/// The lists of cases of eval sets.
const LISTS: [&str; 2] = ["eval_cases", "evalCases"];

/// A large eval set.
#[derive(Debug)]
pub struct LargeDataset {
    path: PathBuf,
    pieces: Pieces,
    beside: Beside,
    /// The keys by which its cases are found, in the file's order.
    pub keys: Vec<CaseKey>,
    /// Oddities beside it.
    pub warnings: Vec<Problem>,
}

impl LargeDataset {
    /// The eval set at this path, where it is a large one; `None` for every other file.
    ///
    /// # Errors
    /// Two cases have one id, one has none, or what stands beside it is wrong.
    pub fn open(path: &Path, options: &OpenOptions, files: &dyn Files) -> Result<Option<LargeDataset>, Problems> {
        let unreadable = |error: std::io::Error| single(warning(path, format!("this file can't be read: {error}")));
        let Some(pieces) = cut_items(path, files, &LISTS, LARGE).map_err(unreadable)? else { return Ok(None) };
        if pieces.list.is_empty() || !LISTS.iter().any(|list| pieces.before.contains(list)) {
            return Ok(None);
        }
        let (mut large, mut known) = (
            LargeDataset {
                path: path.to_path_buf(),
                pieces,
                beside: Beside::default(),
                keys: Vec::new(),
                warnings: Vec::new(),
            },
            std::collections::HashSet::new(),
        );
        let first = large.text(0..1, files)?;
        let recognised = look_at(&name(path), &first)?;
        (large.beside, large.warnings) = beside::find(recognised, path, &first, options, files)?;
        let mut reader = PartReader::open(path, files).map_err(unreadable)?;
        let mut bytes = Vec::new();
        for piece in &large.pieces.list {
            bytes.clear();
            for (start, length) in &piece.spans {
                reader.read(*start, *length, &mut bytes).map_err(unreadable)?;
            }
            let id = id_of(&bytes);
            let wrong = match &id {
                None => {
                    Some("this case has no id, or is no JSON: a set as large as this is read as it stands".to_owned())
                }
                Some(id) if !known.insert(id.clone()) => Some(format!("another case has the id `{id}` too")),
                Some(_) => None,
            };
            if let Some(what) = wrong {
                return Err(single(Problem { line: piece.line, ..warning(path, what) }));
            }
            large.keys.push(CaseKey { ids: id.into_iter().collect(), session: None });
        }
        Ok(Some(large))
    }

    /// Some of its cases.
    ///
    /// # Errors
    /// The problem with them, each with its line.
    pub fn read(&self, cases: Range<usize>, files: &dyn Files) -> Result<Dataset, Problems> {
        let text = self.text(cases.clone(), files)?;
        let line = self.pieces.list.get(cases.start).map_or(1, |piece| piece.line);
        let before = self.pieces.before.matches('\n').count() + 1;
        // What stands before the cases keeps its line.
        let moved = |problem: &mut Problem| {
            if problem.line >= before {
                problem.line = problem.line + line - before;
            }
            problem.message = renumbered(&problem.message, cases.start);
        };
        let mut read = load(&name(&self.path), &text, &self.beside);
        match &mut read {
            Ok(dataset) => dataset.warnings.iter_mut().for_each(moved),
            Err(problems) => problems.list.iter_mut().for_each(moved),
        }
        read
    }

    /// A set of these cases only.
    fn text(&self, cases: Range<usize>, files: &dyn Files) -> Result<String, Problems> {
        let unreadable =
            |error: std::io::Error| single(warning(&self.path, format!("this file can't be read: {error}")));
        let mut reader = PartReader::open(&self.path, files).map_err(unreadable)?;
        let mut bytes = self.pieces.before.clone().into_bytes();
        for (number, piece) in self.pieces.list[cases].iter().enumerate() {
            if number > 0 {
                bytes.extend_from_slice(b",\n");
            }
            for (start, length) in &piece.spans {
                reader.read(*start, *length, &mut bytes).map_err(unreadable)?;
            }
        }
        bytes.extend_from_slice(self.pieces.after.as_bytes());
        String::from_utf8(bytes).map_err(|_| single(warning(&self.path, "this file is not UTF-8; save it as UTF-8")))
    }
}

/// A message that begins with the place of a case, of which so many others stand before those that were read.
fn renumbered(message: &str, before: usize) -> String {
    let number = |list: &&str| {
        let (number, rest) = message.strip_prefix(*list)?.strip_prefix('[')?.split_once(']')?;
        Some(format!("{list}[{}]{rest}", number.parse::<usize>().ok()? + before))
    };
    LISTS.iter().find_map(number).unwrap_or_else(|| message.to_owned())
}

/// The id of a case, which may have comments.
fn id_of(bytes: &[u8]) -> Option<String> {
    match serde_json::from_slice::<CaseHead>(bytes) {
        Ok(head) => head.eval_id,
        Err(_) => {
            let read = json::read(std::str::from_utf8(bytes).ok()?).ok()?;
            ["eval_id", "evalId"].iter().find_map(|key| read.root.get(key)?.text().map(str::to_owned))
        }
    }
}

/// The entries of a case that name it.
#[derive(Deserialize)]
struct CaseHead {
    #[serde(alias = "evalId")]
    eval_id: Option<String>,
}
