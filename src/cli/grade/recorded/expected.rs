//! `--dataset`: another system's cases or a job file, as jobs, with what recordings can be matched by.

use std::fs;
use std::path::Path;

use super::super::super::args::GradeArgs;
use super::super::super::context::Context;
use super::super::super::datasets;
use super::super::super::error::{CliError, FileArgument};
use super::super::super::jobs::{self, Loaded};
use super::super::super::prompts::PromptFiles;
use crate::dataset::{self, CaseKey, Dataset, LowerOptions};
use crate::job;
use crate::secret::Secret;

/// A job to grade by.
pub(super) struct ExpectedJob {
    /// The job.
    pub(super) loaded: Loaded,
    /// What its cases can be found by, in their order.
    pub(super) keys: Vec<CaseKey>,
}

/// The jobs of `--dataset`, with warnings about them.
pub(super) fn load(
    typed: &str,
    args: &GradeArgs,
    context: &Context,
) -> Result<(Vec<ExpectedJob>, Vec<String>), CliError> {
    let path = Path::new(typed);
    let is_there = path.exists();
    let is_alone = !typed.contains(':') && !Path::new(&format!("{typed}.evalset.json")).exists();
    if !path.is_dir() && (is_there && !is_data(typed, path) || !is_there && is_alone) {
        return native(path, args, context).map(|job| (vec![job], Vec::new()));
    }
    let (mut expected, mut warnings) = (Vec::new(), Vec::new());
    for dataset in datasets::open(typed, &args.recorded.reading)? {
        let (job, of_job) = of_dataset(typed, dataset, args, context)?;
        expected.push(job);
        warnings.extend(of_job.into_iter().map(|warning| format!("{typed}: {warning}")));
    }
    Ok((expected, warnings))
}

/// Whether a file is another system's, or is nothing that is known and no YAML either.
fn is_data(typed: &str, path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else { return false };
    let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']);
    let is_job = || is_json && job::read_yaml(typed, &text).is_ok_and(|root| root.get("target").is_some());
    dataset::recognise(typed, &text).is_ok() || is_json && !is_job()
}

fn native(path: &Path, args: &GradeArgs, context: &Context) -> Result<ExpectedJob, CliError> {
    let argument = FileArgument { before: "eval-job grade --dataset", kind: "file with cases" };
    let paths = [path.to_path_buf()];
    let loaded = jobs::load(&paths, argument, args.files.prompts.as_deref(), context.redactor())?;
    let loaded = loaded.into_iter().next().ok_or_else(|| CliError::Internal("a job was lost".to_owned()))?;
    let keys = loaded.job.cases.iter().map(|case| CaseKey { ids: vec![case.id.clone()], session: None });
    Ok(ExpectedJob { keys: keys.collect(), loaded })
}

fn of_dataset(
    typed: &str,
    dataset: Dataset,
    args: &GradeArgs,
    context: &Context,
) -> Result<(ExpectedJob, Vec<String>), CliError> {
    let ids = dataset.cases.iter().map(|case| (case.id.clone(), case.session.id.clone()));
    let ids: Vec<(String, Option<String>)> = ids.collect();
    let of_reading: Vec<String> =
        dataset.warnings.iter().map(|problem| format!("line {}: {}", problem.line, problem.message)).collect();
    let options = LowerOptions { is_recorded: true, ..datasets::NOBODY.lowering(args.recorded.reading.dialect_strict) };
    let lowered = dataset::lower(&without_talk(dataset), &options);
    let text = serde_json::to_string(&lowered.document)
        .map_err(|error| CliError::Internal(format!("{typed} can't be written as a job: {error}")))?;
    context.redactor().learn_all(job::secrets(&text).iter().map(Secret::expose));
    let templates = PromptFiles::for_job(Path::new(typed), args.files.prompts.as_deref());
    let job = job::load(typed, &text, &templates).map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
    let key = |((id, session), case): ((String, Option<String>), &std::sync::Arc<job::Case>)| CaseKey {
        ids: vec![id, case.id.clone()],
        session,
    };
    let keys = ids.into_iter().zip(&job.cases).map(key).collect();
    let templates = templates.into_templates();
    let loaded = Loaded { file: typed.to_owned(), text, job, templates, selection: None };
    Ok((ExpectedJob { loaded, keys }, of_reading.into_iter().chain(lowered.warnings).collect()))
}

/// The same without what only a live agent is told: nobody needs a warning about that.
fn without_talk(mut dataset: Dataset) -> Dataset {
    for case in &mut dataset.cases {
        case.uploads.clear();
        case.session.id = None;
        case.session.context.clear();
        case.session.app.get_or_insert_with(|| "recorded".to_owned());
        match &mut case.user {
            dataset::CaseUser::Lines(lines) => {
                for line in lines {
                    line.attachments.clear();
                    line.context.clear();
                    line.mocks.clear();
                }
            }
            dataset::CaseUser::Scenario(scenario) => {
                scenario.prompts.clear();
                scenario.style.clear();
                (scenario.persona, scenario.driver) = (None, dataset::ScenarioDriver::Actual);
            }
        }
    }
    dataset
}
