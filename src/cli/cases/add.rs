//! `eval-job cases add`: cases of other files, or of recorded conversations, in the file's own format.

use std::path::Path;

use serde_json::Value;

use super::super::args::{CasesAddArgs, ReadingArgs};
use super::super::context::Context;
use super::super::datasets::{self, NOBODY};
use super::super::error::CliError;
use super::super::printer::Printer;
use super::super::prompts::PromptFiles;
use super::super::recordings::RecordedConversations;
use super::file::{Cases, Edited, FoundCase, LocatedCase, ids_of, is_data, no_case};
use crate::dataset::{self, CaseFile, Dataset, DatasetCase, DiskFiles, Files, Kind};
use crate::job;
use crate::plan::Refusal;
use crate::report::{count, plain};

/// A case that is added.
enum Added {
    /// One of a job.
    OfJob(Box<JobCase>),
    /// Another system's, with how it is written there, and what its file is.
    OfData(Box<DatasetCase>, Option<(Kind, String)>),
}

/// A case of a job.
struct JobCase {
    /// As it is written there.
    written: String,
    /// The same without aliases, of which the file has the anchors.
    value: Value,
    /// With what its job says for all cases.
    complete: Value,
}

/// A file that cases can be added to: its text, its kind where it is another system's, and the ids of its cases.
fn opened(file: &Path) -> Result<(Edited, Option<Kind>, Vec<String>), CliError> {
    let edited = Edited::open(file, "eval-job cases add")?;
    let shown = file.display().to_string();
    let problems = |problems| CliError::InvalidJobs(vec![problems]);
    let ids = ids_of(&shown, &edited.text, edited.is_data).map_err(problems)?;
    let kind = edited.is_data.then(|| dataset::recognise(&shown, &edited.text)).transpose().map_err(problems)?;
    edited.cases()?;
    Ok((edited, kind, ids))
}

/// Checks that a case with this id can be added to a file, before there is one.
///
/// # Errors
/// Why it can't be.
pub(in crate::cli) fn check_addable(file: &Path, id: Option<&str>) -> Result<(), CliError> {
    let (.., ids) = opened(file)?;
    match id.filter(|id| ids.iter().any(|known| known == id)) {
        Some(id) => Err(taken(&file.display().to_string(), id)),
        None => Ok(()),
    }
}

fn taken(shown: &str, id: &str) -> CliError {
    let what = format!("{} has a case `{}` already", plain(shown), plain(id));
    refused(what, "--id ID, or eval-job cases remove first")
}

/// Adds cases to a file.
pub(super) fn add(args: &CasesAddArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let (mut edited, kind, mut ids) = opened(&args.file)?;
    let shown = args.file.display().to_string();
    let mut added = match (&args.from, &args.from_trace) {
        (Some(from), _) => read_file(from, context)?,
        (None, Some(trace)) => read_trace(trace, args, context)?,
        (None, None) => Vec::new(),
    };
    if let (true, Some(from)) = (added.is_empty(), &args.from) {
        return Err(refused(format!("there are no cases in {}", plain(from)), "a file that has some"));
    }
    if let Some(id) = &args.id {
        let [(own, _)] = added.as_mut_slice() else {
            let what = format!("--id names one case, and there are {}", added.len());
            return Err(refused(what, "FILE:case, which takes one of them"));
        };
        own.clone_from(id);
    }
    let mut text = edited.text.clone();
    let mut warnings = Vec::new();
    for (id, case) in &added {
        if ids.contains(id) {
            return Err(taken(&shown, id));
        }
        let written = match kind {
            None => as_yaml(id, case, &edited, &mut warnings)?,
            Some(kind) => as_data(id, case, kind, &mut warnings)?,
        };
        edited.text = text;
        text = edited.cases()?.with(&written);
        ids.push(id.clone());
    }
    edited.replace(&text, &ids)?;
    warnings.iter().for_each(|warning| printer.note(&format!("warning · {}", plain(warning))));
    let names: Vec<&str> = added.iter().map(|(id, _)| id.as_str()).collect();
    let all = count(ids.len(), "case");
    printer.note(&format!("added {} to {}: {all} now", plain(&names.join(", ")), plain(&shown)));
    Ok(0)
}

fn refused(what: String, help: &str) -> CliError {
    CliError::Unprepared(Refusal::new(what, help))
}

/// The cases of `FILE`, or of `FILE:case1,case2`.
fn read_file(from: &str, context: &Context) -> Result<Vec<(String, Added)>, CliError> {
    let (path, wanted) = match from.rsplit_once(':') {
        Some((path, ids)) if !Path::new(from).exists() && Path::new(path).is_file() => {
            (path, ids.split(',').map(str::trim).filter(|id| !id.is_empty()).collect())
        }
        _ => (from, Vec::new()),
    };
    if Path::new(path).is_file() {
        let source = Edited::open(Path::new(path), "eval-job cases add FILE --from")?;
        if !is_data(path, &source.text) {
            // Its problems are reported first.
            let read = Cases::read(path, "eval-job cases add FILE --from", context)?;
            let ids = read.ids();
            let cases = source.cases()?;
            let internal = |error: &dyn std::fmt::Display| CliError::Internal(error.to_string());
            let whole: Value =
                serde_saphyr::from_str(source.text.trim_start_matches('\u{feff}')).map_err(|error| internal(&error))?;
            let of_job = |place: usize| -> Result<Added, CliError> {
                let Some(LocatedCase { case: FoundCase::OfJob(case), .. }) = read.list.get(place) else {
                    return Err(CliError::Internal(format!("{path} is no job any more")));
                };
                let complete = serde_json::to_value(&**case).map_err(|error| internal(&error))?;
                let (written, value) = (cases.written(place), whole["cases"][place].clone());
                Ok(Added::OfJob(Box::new(JobCase { written, value, complete })))
            };
            let unknown = wanted.iter().find(|id: &&&str| !ids.iter().any(|known| known == **id));
            if let Some(id) = unknown {
                return Err(no_case(path, id, &ids));
            }
            let is_wanted = |id: &str| wanted.is_empty() || wanted.contains(&id);
            let all = ids.into_iter().enumerate().filter(|(_, id)| is_wanted(id));
            return all.map(|(place, id)| Ok((id, of_job(place)?))).collect();
        }
    }
    let reading = ReadingArgs::default();
    let mut added = Vec::new();
    let text = DiskFiles.read(Path::new(path)).unwrap_or_default();
    let whole = CaseFile::of_data(path, &text).ok();
    let ids = ids_of(path, &text, true).unwrap_or_default();
    for set in datasets::open(from, &reading)? {
        let kind = set.kind;
        for case in set.into_cases() {
            let place = ids.iter().position(|id| *id == case.id);
            let written = whole.as_ref().zip(place).map(|(file, place)| (kind, file.written(place)));
            added.push((case.id.clone(), Added::OfData(Box::new(case), written)));
        }
    }
    Ok(added)
}

/// The cases that recorded conversations make.
fn read_trace(trace: &String, args: &CasesAddArgs, context: &Context) -> Result<Vec<(String, Added)>, CliError> {
    let recorded = RecordedConversations::open(std::slice::from_ref(trace), &args.runs.runs_dir, context.redactor())?
        .with_users()?;
    let case = |recorded: dataset::Recorded| {
        let case = recorded.into_case();
        (case.id.clone(), Added::OfData(Box::new(case), None))
    };
    Ok(recorded.into_iter().map(case).collect())
}

/// A case as it stands in a job.
fn as_yaml(id: &str, case: &Added, edited: &Edited, warnings: &mut Vec<String>) -> Result<String, CliError> {
    let case = match case {
        Added::OfJob(case) => {
            let mut value = case.value.clone();
            value["id"] = id.into();
            let bare = to_yaml(&value)?;
            let filled = match complete(edited.name(), &edited.cases()?.with(&bare), id) {
                Some(here) => fill(&mut value, &here, &case.complete),
                None => Vec::new(),
            };
            if !filled.is_empty() {
                let keys = filled.join("`, `");
                warnings.push(format!("{id} has in it now what its job says for all cases: `{keys}`"));
            } else if serde_saphyr::from_str::<Value>(&case.written).is_ok_and(|own| own == value) {
                return Ok(case.written.clone());
            }
            value
        }
        Added::OfData(case, _) => {
            let case = DatasetCase { id: id.to_owned(), ..(**case).clone() };
            let lowered = dataset::lower(&Dataset::of_cases("case", vec![case]), &NOBODY.lowering(false));
            let about_case = |warning: &&String| warning.starts_with("case");
            warnings.extend(lowered.warnings.iter().filter(about_case).cloned());
            let mut lowered = lowered.document["cases"][0].clone();
            make_room(&mut lowered, &edited.text);
            lowered
        }
    };
    to_yaml(&case)
}

/// Lets a case of fixed lines have as many messages as they need, in a job that says fewer for all its cases.
fn make_room(case: &mut Value, job: &str) {
    let job: Value = serde_saphyr::from_str(job.trim_start_matches('\u{feff}')).unwrap_or_default();
    let (Some(most), Some(lines)) = (job["maxTurns"].as_u64(), case["script"].as_array()) else { return };
    let has_greeting = job.get("greetings").and_then(Value::as_array).is_none_or(|greetings| !greetings.is_empty());
    // The agent may speak first.
    let needed = 2 * (lines.len() as u64 + u64::from(has_greeting)) + 1;
    if needed > most {
        case["maxTurns"] = needed.into();
    }
}

fn to_yaml(case: &Value) -> Result<String, CliError> {
    serde_saphyr::to_string(case).map_err(|error| CliError::Internal(error.to_string()))
}

/// A case of a job's text, with what the job says for all cases; `None` where the job has errors.
fn complete(name: &str, text: &str, id: &str) -> Option<Value> {
    let job = job::load(name, text, &PromptFiles::for_job(Path::new(name), None)).ok()?;
    serde_json::to_value(&**job.cases.iter().find(|case| case.id == id)?).ok()
}

/// The keys of a case that add to those of its job instead of replacing them.
const BESIDE: [&str; 7] = ["tags", "context", "tasks", "facts", "seeds", "setups", "assertions"];

/// Adds to a case what it has in its own job, and would not have in another one. Returns the keys.
fn fill(case: &mut Value, here: &Value, there: &Value) -> Vec<String> {
    let mut filled = Vec::new();
    for (key, wanted) in there.as_object().into_iter().flatten().filter(|(key, _)| *key != "id") {
        let missing = match (wanted, here.get(key)) {
            (wanted, Some(here)) if wanted == here => continue,
            (Value::Array(wanted), here) if BESIDE.contains(&key.as_str()) => {
                let here = here.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let missing = wanted.iter().filter(|item| !here.contains(item)).cloned();
                let missing: Vec<Value> = missing.collect();
                if missing.is_empty() {
                    continue;
                }
                let own = case.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
                Value::Array([missing, own].concat())
            }
            (wanted, _) => wanted.clone(),
        };
        case[key] = missing;
        filled.push(key.clone());
    }
    filled
}

/// A case as another system writes it: as it stands in a file of the same kind, else made anew.
fn as_data(id: &str, case: &Added, kind: Kind, warnings: &mut Vec<String>) -> Result<String, CliError> {
    let Added::OfData(case, written) = case else {
        let what = format!("the cases of a job can't be written into {} yet", kind.name());
        return Err(refused(what, "the other way: eval-job cases add JOB --from FILE"));
    };
    if let Some((_, text)) = written.as_ref().filter(|(own, _)| *own == kind && case.id == id) {
        return Ok(text.clone());
    }
    let case = DatasetCase { id: id.to_owned(), ..(**case).clone() };
    let own = written.as_ref().map(|(own, _)| *own);
    let Some((value, lost)) = dataset::written_case(&case, own, kind) else {
        let what = format!("case {} can't be written into {}", plain(id), kind.name());
        let help = "a job, which can say all that the others can: eval-job import, then eval-job cases add JOB";
        return Err(refused(what, help));
    };
    warnings.extend(lost);
    Ok(format!("{value:#}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_script_that_is_added_has_room_for_its_lines() {
        let room = |job: &str, lines: usize| {
            let mut case = json!({"id": "c", "script": vec!["Hi"; lines]});
            make_room(&mut case, job);
            case["maxTurns"].as_u64()
        };
        assert_eq!(room("maxTurns: 7\ngreetings: []\n", 3), None);
        assert_eq!(room("maxTurns: 7\ngreetings: []\n", 7), Some(15));
        assert_eq!(room("maxTurns: 7\n", 3), Some(9));
        assert_eq!(room("greetings: []\n", 40), None);
    }
}
