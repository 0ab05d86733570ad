//! `--dataset`: another system's cases or a job file, as jobs, with what recordings can be matched by.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::super::super::args::GradeArgs;
use super::super::super::context::Context;
use super::super::super::datasets;
use super::super::super::error::{CliError, FileArgument};
use super::super::super::jobs::{self, Loaded};
use super::super::super::prompts::PromptFiles;
use crate::dataset::{self, CaseKey, Dataset, DiskFiles, Files, LargeDataset, LowerOptions, LoweredJob};
use crate::job::{self, Case, CaseSession, Job, SeparateExpectations, User};
use crate::plan::Refusal;
use crate::report;
use crate::secret::Secret;

/// A job to grade by.
pub(super) struct ExpectedJob {
    /// The job.
    pub(super) loaded: Loaded,
    /// The keys by which its cases are found, in their order.
    pub(super) keys: Vec<CaseKey>,
    /// Where the cases are read from, a few at a time; those of the job have an id only.
    pub(super) large: Option<LargeDataset>,
}

/// The jobs of `--dataset`, with warnings about them.
pub(super) fn load(
    typed: &str,
    args: &GradeArgs,
    context: &Context,
) -> Result<(Vec<ExpectedJob>, Vec<String>), CliError> {
    let path = Path::new(typed);
    // First of all, since all other readers load the whole file.
    if let Some((large, warnings)) = large(typed, args, context)? {
        return Ok((vec![large], warnings));
    }
    let is_there = path.exists();
    let is_alone = !typed.contains(':') && !Path::new(&format!("{typed}.evalset.json")).exists();
    if !path.is_dir() && (is_there && !is_data(typed, path) || !is_there && is_alone) {
        return native(path, args, context).map(|job| (vec![job], Vec::new()));
    }
    let (mut expected, mut warnings) = (Vec::new(), Vec::new());
    for dataset in datasets::open(typed, &args.recorded.reading)? {
        let (job, of_job) = job_of_dataset(typed, DatasetPart::whole(dataset, true), args, context)?;
        expected.push(job);
        warnings.extend(of_job);
    }
    Ok((expected, warnings))
}

/// The job that a file of another system's makes.
pub(in super::super) fn load_dataset(path: &Path, args: &GradeArgs, context: &Context) -> Result<Loaded, CliError> {
    let typed = path.display().to_string();
    let dataset = datasets::open(&typed, &args.recorded.reading)?.into_iter().next();
    let dataset = dataset.ok_or_else(|| CliError::Internal("a file was lost".to_owned()))?;
    Ok(job_of_dataset(&typed, DatasetPart::whole(dataset, false), args, context)?.0.loaded)
}

/// Whether a file is another system's, or is nothing that is known and no YAML either.
fn is_data(typed: &str, path: &Path) -> bool {
    let Ok(text) = DiskFiles.read(path) else { return false };
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
    Ok(ExpectedJob { keys: keys.collect(), loaded, large: None })
}

/// JSON with escapes for what YAML does not allow as it is, which can only stand within texts.
fn readable_as_yaml(json: String) -> String {
    let is_refused = |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}');
    if !json.contains(is_refused) {
        return json;
    }
    let escaped = |c: char| if is_refused(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() };
    json.chars().map(escaped).collect()
}

/// A dataset, which may be a part of a larger one.
struct DatasetPart<'a> {
    dataset: Dataset,
    /// Of a part, the templates that all parts share: each is checked once.
    shared: Option<&'a PromptFiles>,
    /// Whether each case is also measured as in the other mode, strict or not: of a large dataset that would take twice as long.
    tells_difference: bool,
}

impl DatasetPart<'_> {
    fn whole(dataset: Dataset, tells_difference: bool) -> DatasetPart<'static> {
        DatasetPart { dataset, shared: None, tells_difference }
    }
}

/// The job of a dataset.
fn job_of_dataset(
    typed: &str,
    part: DatasetPart<'_>,
    args: &GradeArgs,
    context: &Context,
) -> Result<(ExpectedJob, Vec<String>), CliError> {
    let DatasetPart { dataset, shared, tells_difference } = part;
    let is_part = shared.is_some();
    datasets::refuse_empty(typed, &dataset)?;
    refuse_second_agent(typed, &dataset)?;
    let ids = dataset.cases.iter().map(|case| (case.id.clone(), case.session.id.clone()));
    let ids: Vec<(String, Option<String>)> = ids.collect();
    let of_reading: Vec<String> = dataset.warnings.iter().map(datasets::reading_warning).collect();
    let strict = args.recorded.reading.dialect_strict;
    let options = LowerOptions { is_recorded: true, is_part, tells_difference, ..datasets::NOBODY.lowering(strict) };
    let mut dataset = without_talk(dataset);
    let lowered = dataset::lower_from(&mut dataset, &options);
    dataset::check_expected(typed, &dataset, &lowered).map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
    let LoweredJob { document, expected, warnings } = lowered;
    // Nobody is shown the text of a part, and it takes as long as all else.
    let text = if is_part { None } else { Some(readable_as_yaml(document.to_string())) };
    let secrets = match is_part {
        true => job::secrets_of_part(&document, &expected),
        false => job::secrets_of_document(&document),
    };
    context.redactor().learn_all(secrets.iter().map(Secret::expose));
    let own = shared.is_none().then(|| templates_for(typed, args));
    let files = own.as_ref().or(shared).ok_or_else(|| CliError::Internal("templates were lost".to_owned()))?;
    let job = match &text {
        Some(text) => load_job(typed, document, text, files)?,
        None => load_part(typed, document, expected, files)?,
    };
    let templates = files.templates();
    let key = |((id, session), case): ((String, Option<String>), &Arc<Case>)| CaseKey {
        ids: vec![id, case.id.clone()],
        session,
    };
    let keys = ids.into_iter().zip(&job.cases).map(key).collect();
    let loaded = Loaded { file: typed.to_owned(), text: text.unwrap_or_default(), job, templates, selection: None };
    let of_lowering = warnings.into_iter().map(|warning| format!("{typed}: {warning}"));
    Ok((ExpectedJob { loaded, keys, large: None }, of_reading.into_iter().chain(of_lowering).collect()))
}

/// The templates beside a file with cases.
pub(super) fn templates_for(typed: &str, args: &GradeArgs) -> PromptFiles {
    PromptFiles::for_job(Path::new(typed), args.files.prompts.as_deref())
}

/// Refuses cases of which a second agent makes the expected side: in a recording there is none, and what the file expects is not it.
fn refuse_second_agent(typed: &str, dataset: &Dataset) -> Result<(), CliError> {
    let Some(case) = dataset.cases.iter().find(|case| case.expected_runner) else { return Ok(()) };
    let what = format!(
        "{typed}: the expected side of case {} comes from a second agent (`expectedRunnerEnabled`), whom `grade` does not ask",
        report::one_line(&case.id, 60)
    );
    let help = "hold it with `eval-job run --expected-target TRANSPORT=ADDRESS`, name the other cases (FILE:case1,case2), or take \
                `expectedRunnerEnabled` out, so that what the file expects counts";
    Err(CliError::Unprepared(Refusal::new(what, help.to_owned())))
}

/// The job of a large eval set, with warnings: its first case says what holds for all.
fn large(typed: &str, args: &GradeArgs, context: &Context) -> Result<Option<(ExpectedJob, Vec<String>)>, CliError> {
    let path = Path::new(typed);
    let problems = |problems| CliError::InvalidJobs(vec![problems]);
    let options = datasets::options(&args.recorded.reading);
    let large = if path.is_file() { LargeDataset::open(path, &options, &DiskFiles).map_err(problems)? } else { None };
    let Some(large) = large else { return Ok(None) };
    let first = large.read(0..1, &DiskFiles).map_err(problems)?;
    let (ExpectedJob { mut loaded, .. }, of_first) = job_of_dataset(
        typed,
        DatasetPart { dataset: first, shared: Some(&templates_for(typed, args)), tells_difference: false },
        args,
        context,
    )?;
    let warnings = large.warnings.iter().map(datasets::reading_warning).chain(of_first).collect();
    let first = loaded.job.cases.first().cloned().ok_or_else(|| CliError::Internal("a case was lost".to_owned()))?;
    let bare =
        Case { user: User::Lines(Vec::new()), expected: None, session: CaseSession::default(), ..(*first).clone() };
    let ids = large.keys.iter().filter_map(|key| key.ids.first());
    loaded.job.cases = ids.map(|id| Arc::new(Case { id: id.clone(), ..bare.clone() })).collect();
    Ok(Some((ExpectedJob { loaded, keys: large.keys.clone(), large: Some(large) }, warnings)))
}

/// A large eval set that is read in parts.
#[derive(Clone, Copy)]
pub(super) struct LargeFile<'a> {
    /// Its name, as it was typed.
    pub(super) typed: &'a str,
    pub(super) large: &'a LargeDataset,
    /// The templates beside it.
    pub(super) templates: &'a PromptFiles,
}

/// Some cases of a large eval set, whole, with warnings.
pub(super) fn cases_of(
    file: LargeFile<'_>,
    cases: Range<usize>,
    args: &GradeArgs,
    context: &Context,
) -> Result<(Vec<Arc<Case>>, Vec<String>), CliError> {
    let LargeFile { typed, large, templates } = file;
    let ids = &large.keys[cases.clone()];
    let dataset = large.read(cases, &DiskFiles).map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
    let (ExpectedJob { loaded, .. }, warnings) = job_of_dataset(
        typed,
        DatasetPart { dataset, shared: Some(templates), tells_difference: false },
        args,
        context,
    )?;
    let named = |(case, key): (Arc<Case>, &CaseKey)| {
        // An id that no job would take is shortened there.
        let id = key.ids.first().cloned().unwrap_or_default();
        Arc::new(Case { id, ..Arc::unwrap_or_clone(case) })
    };
    Ok((loaded.job.cases.into_iter().zip(ids).map(named).collect(), warnings))
}

/// The most bytes of a job that is checked as a file would be.
const CHECKED: usize = 128 << 10;

/// The job of a document and its text. Of one with more cases than somebody would write down, all is checked but the most of them.
fn load_job(typed: &str, mut document: Value, text: &str, templates: &PromptFiles) -> Result<Job, CliError> {
    if has_one_case(&document) || text.len() <= CHECKED {
        return load_text(typed, text, templates);
    }
    let cases = document["cases"].take();
    let first = cases.as_array().into_iter().flatten().take(SAMPLE).cloned();
    let checked = check_one(typed, &mut document, first, templates)?;
    document["cases"] = cases;
    let mut job = Job::restored(&document).map_err(|error| CliError::Internal(format!("{typed}: {error}")))?;
    (job.folder, job.digest) = (checked.folder, job::digest(text));
    Ok(job)
}

/// The job of a part of a larger file, of which all is checked but the most of its cases. Their expectations stand beside the
/// document.
fn load_part(
    typed: &str,
    mut document: Value,
    expected: Vec<SeparateExpectations>,
    templates: &PromptFiles,
) -> Result<Job, CliError> {
    let is_one_case = has_one_case(&document);
    let cases = document["cases"].take();
    let whole = |(case, expected): (&Value, &SeparateExpectations)| {
        let mut case = case.clone();
        expected.write_into(&mut case);
        case
    };
    let first = cases.as_array().into_iter().flatten().zip(&expected).take(SAMPLE).map(whole);
    let checked = check_one(typed, &mut document, first, templates)?;
    if is_one_case {
        return Ok(checked);
    }
    document["cases"] = cases;
    let job = Job::restored_with(&document, expected);
    let mut job = job.map_err(|error| CliError::Internal(format!("{typed}: {error}")))?;
    (job.folder, job.digest) = (checked.folder, checked.digest);
    Ok(job)
}

/// Of how many cases the shortest is checked.
const SAMPLE: usize = 10;

/// The job with the shortest of these cases alone, checked as a file would be; the document has that case then.
fn check_one(
    typed: &str,
    document: &mut Value,
    cases: impl Iterator<Item = Value>,
    templates: &PromptFiles,
) -> Result<Job, CliError> {
    document["cases"] = cases.min_by_key(|case| case.to_string().len()).into_iter().collect();
    let text = readable_as_yaml(document.to_string());
    let checked = job::load_document(typed, &text, document, templates);
    checked.map_err(|problems| CliError::InvalidJobs(vec![problems]))
}

fn load_text(typed: &str, text: &str, templates: &PromptFiles) -> Result<Job, CliError> {
    job::load_lowered(typed, text, templates).map_err(|problems| CliError::InvalidJobs(vec![problems]))
}

fn has_one_case(document: &Value) -> bool {
    document["cases"].as_array().is_none_or(|cases| cases.len() < 2)
}

/// The same without the parts that only a live agent gets: a warning about them is no help.
fn without_talk(mut dataset: Dataset) -> Dataset {
    for case in &mut dataset.cases {
        case.uploads.clear();
        case.session.id = None;
        case.session.app.get_or_insert_with(|| "recorded".to_owned());
        match &mut case.user {
            dataset::CaseUser::Lines(lines) => {
                for line in lines {
                    line.attachments.clear();
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
