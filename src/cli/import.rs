//! `eval-job import FILE`: other systems' cases, or recorded conversations, written as a job file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::ImportArgs;
use super::context::Context;
use super::datasets::{Imported, NOBODY, import_all};
use super::error::CliError;
use super::jobs::LARGEST;
use super::printer::Printer;
use super::recordings::{RecordedConversations, recorded_metrics};
use super::whole_file;
use crate::agent::Ability;
use crate::dataset::{self, Dataset};
use crate::job::Target;
use crate::plan::Refusal;
use crate::report::plain;

/// Writes cases as job files.
pub(super) fn import(args: &ImportArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let target = args.data.target.clone().unwrap_or(NOBODY);
    let mut is_named = args.data.target.is_some();
    let (from, imported) = match (&args.file, &args.from_trace) {
        (_, Some(trace)) => {
            let (job, has_target) = import_trace(trace, args, context)?;
            is_named |= has_target;
            (trace, vec![job])
        }
        (Some(file), None) => (file, import_all(file, &target, false, &args.data)?),
        (None, None) => return Ok(0),
    };
    let several = imported.len() > 1;
    for (number, job) in imported.iter().enumerate() {
        // Each on one line: names in it are no part of the job.
        let comment = |text: &str| plain(text).replace('\n', " ");
        let mut text = format!("# {}, from {}\n", comment(&job.name), comment(from));
        for warning in &job.warnings {
            text.push_str(&format!("# not as there: {}\n", comment(warning)));
        }
        text.push_str(&job.text);
        match &args.output {
            None if several => {
                return Err(CliError::Unprepared(Refusal::new(
                    format!("{} holds {} sets of cases, and each is a job", plain(from), imported.len()),
                    "-o FILE, which writes FILE-1.yml, FILE-2.yml and so on",
                )));
            }
            None => printer.data(&text)?,
            Some(path) => {
                let path = if several { numbered(path, number + 1) } else { path.clone() };
                write_job(&path, &text, "an import")?;
                printer.note(&format!("wrote {}", path.display()));
            }
        }
        if text.len() as u64 > LARGEST {
            let most = LARGEST >> 20;
            printer.note(&format!(
                "note: the job is larger than {most} MB, the most that is read as one; {} runs as it is: eval-job run FILE --target TARGET",
                plain(from)
            ));
        }
        for warning in &job.warnings {
            printer.note(&format!("warning · {}", plain(warning)));
        }
    }
    if !is_named {
        printer
            .note("note: without --target nothing says where the agent is: write the job's `target` before it is run");
    }
    Ok(0)
}

/// Writes a job file, by what is named; one that is there already stays.
pub(super) fn write_job(path: &Path, text: &str, what: &str) -> Result<(), CliError> {
    whole_file::write_new(path, text.as_bytes()).map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => CliError::Unprepared(Refusal::new(
            format!("{} is there already, and {what} overwrites nothing", plain(&path.display().to_string())),
            "another path with -o PATH, or delete the file first",
        )),
        _ => CliError::Unwritable { path: path.to_path_buf(), source, help: None },
    })
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    path.with_file_name(format!("{}-{number}.yml", path.file_stem().unwrap_or_default().to_string_lossy()))
}

/// Recorded conversations as a job: what was said is the script, what was done and replied is expected.
/// Also says whether the run that it is of has named the target.
fn import_trace(trace: &String, args: &ImportArgs, context: &Context) -> Result<(Imported, bool), CliError> {
    let held = RecordedConversations::open(std::slice::from_ref(trace), &args.runs.runs_dir, context.redactor())?;
    let (files, mut warnings) = (held.files.join(" and "), held.warnings.clone());
    let own = held.target().filter(|_| args.data.target.is_none()).cloned();
    let conversations = held.with_users()?;
    let name = Path::new(trace).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut options = args.data.target.as_ref().unwrap_or(&NOBODY).lowering(false);
    if let Some(target) = own.clone().and_then(|target| serde_json::from_value::<Target>(target).ok()) {
        options.takes_history = target.transport.can(Ability::TakesHistory);
        options.mocks_tools = target.transport.can(Ability::MocksTools);
    }
    let mut lowered = dataset::lower(&Dataset::from_recorded(&name, conversations), &options);
    let is_named = own.is_some() || args.data.target.is_some();
    if let Some(target) = &own {
        lowered.document["target"] = target.clone();
        if target.to_string().contains("***") {
            warnings
                .push("the target is the run's, without its secrets, which no run keeps: write them again".to_owned());
        }
    }
    let target = serde_json::from_value::<Target>(lowered.document["target"].clone()).ok().filter(|_| is_named);
    let (metrics, note) = recorded_metrics(target.as_ref());
    lowered.document["metrics"] = metrics;
    warnings.extend(note);
    let text = serde_saphyr::to_string(&lowered.document)
        .map_err(|error| CliError::Internal(format!("{trace} can't be written as a job: {error}")))?;
    let text = context.redactor().redact(&text).into_owned();
    Ok((Imported { name: files, text, document: lowered.document, warnings }, own.is_some()))
}
