//! A folder of recordings, with all that is in it.

use std::path::{Path, PathBuf};

use super::super::super::findings::about_file;
use super::super::super::load::single;
use super::super::super::{Files, Purpose, recognise};
use super::{Recordings, name};
use crate::job::Problems;

/// Folders within folders, at most.
const DEEPEST: usize = 16;

/// Looks through all recordings of a folder. What is no recording is left out.
pub(super) fn open(recordings: &mut Recordings, path: &Path, files: &dyn Files) -> Result<(), Problems> {
    let mut found = Vec::new();
    collect(path, files, 0, &mut found)?;
    let mut problems = Problems { list: Vec::new(), untold: 0 };
    let (mut left_out, mut first) = (0, None);
    let mut why = None;
    for file in &found {
        match recordings.add(file, files) {
            Ok(()) => {}
            Err(refused) if refused.has_conversations || is_recording(file, files) => {
                problems.list.extend(refused.problems.list);
                problems.untold += refused.problems.untold;
            }
            Err(refused) => {
                left_out += 1;
                first.get_or_insert_with(|| name(file));
                why = why.or(refused.problems.list.into_iter().next());
            }
        }
    }
    if !problems.list.is_empty() {
        return Err(problems);
    }
    if recordings.files.is_empty() {
        let message = "no file in this folder holds a recorded conversation";
        let folder = about_file(&name(path), message, Some(super::super::LOOKED_FOR_RECORDED));
        // The first one says what is wrong with it.
        return Err(Problems { list: std::iter::once(folder).chain(why).collect(), untold: 0 });
    }
    if let Some(first) = first {
        let message = format!("{left_out} of {} files in this folder are no recordings: {first}, …", found.len());
        recordings.warnings.push(about_file(&name(path), message, None));
    }
    Ok(())
}

fn collect(folder: &Path, files: &dyn Files, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Problems> {
    let listed = files
        .list(folder)
        .map_err(|error| single(about_file(&name(folder), format!("this folder can't be read: {error}"), None)))?;
    for path in &listed {
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        if files.is_folder(path) {
            if depth < DEEPEST && !file_name.starts_with('.') {
                collect(path, files, depth + 1, found)?;
            }
            continue;
        }
        let is_json = [".json", ".jsonl", ".ndjson"].iter().any(|ending| file_name.ends_with(ending));
        // The same conversation, analysed.
        let twin = file_name.strip_suffix(".analyze.json").map(|stem| path.with_file_name(format!("{stem}.json")));
        if is_json && !twin.is_some_and(|twin| listed.contains(&twin)) {
            found.push(path.clone());
        }
    }
    Ok(())
}

/// Whether a file says of itself that something is recorded in it.
fn is_recording(path: &Path, files: &dyn Files) -> bool {
    let Ok(text) = files.read(path) else { return false };
    recognise(&name(path), &text).is_ok_and(|kind| kind.purpose() == Purpose::Recorded)
}
