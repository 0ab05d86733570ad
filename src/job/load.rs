//! Text → [`Job`], or all that is wrong with it.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::context::ContextFiles;
use super::problem::{Problems, Report};
use super::secrets::{secrets, secrets_of};
use super::source::{self, SourceLines, YamlNode};
use super::template_check::TemplateCheck;
use super::user_persona_names::UserPersonaNames;
use super::{Job, check, judged_check, schema, semantics};
use crate::secret::Secret;

/// Reads a job. `file_name` names it in problems and, without a `name`, in reports; nothing is opened.
///
/// # Errors
/// Everything that is wrong with the text, each with its place.
pub fn load(file_name: &str, text: &str, templates: &dyn TemplateCheck) -> Result<Job, Problems> {
    read(file_name, text, templates, judged_check::check)
}

/// Reads the job that another system's file became: what its metrics lack in the cases is for that system's rules to say.
///
/// # Errors
/// As of [`load`].
pub fn load_lowered(file_name: &str, text: &str, templates: &dyn TemplateCheck) -> Result<Job, Problems> {
    read(file_name, text, templates, |_, _| {})
}

/// Reads a job and learns its secrets before anything of it can be shown, in one reading of the text: that is most of the time
/// that a large file takes.
///
/// # Errors
/// As of [`load`].
pub fn load_and_learn(
    file_name: &str,
    text: &str,
    templates: &dyn TemplateCheck,
    learn: impl FnOnce(Vec<Secret>),
) -> Result<Job, Problems> {
    let lines = SourceLines::new(text);
    let mut report = Report::new(file_name, &lines);
    let root = source::parse(&mut report);
    let is_whole = root.is_some() && report.is_empty();
    learn(match &root {
        Some(root) if is_whole => secrets_of(std::slice::from_ref(root)),
        _ => secrets(text),
    });
    let Some(root) = root else { return Err(report.failed()) };
    job_of_tree(report, JobText { file_name, text, root: &root }, templates, judged_check::check)
}

/// Reads the job of a document, which `text` is too: as [`load_lowered`] does, but the text is only read where problems need their
/// places in it.
///
/// # Errors
/// As of [`load`].
pub fn load_document(
    file_name: &str,
    text: &str,
    document: &Value,
    templates: &dyn TemplateCheck,
) -> Result<Job, Problems> {
    let lines = SourceLines::new(text);
    let (report, root) = (Report::new(file_name, &lines), YamlNode::from(document));
    let job = job_of_tree(report, JobText { file_name, text, root: &root }, templates, |_, _| {});
    job.or_else(|_| load_lowered(file_name, text, templates))
}

/// A further check of a job's tree.
type TreeCheck = fn(&mut Report<'_>, &YamlNode);

fn read(file_name: &str, text: &str, templates: &dyn TemplateCheck, more: TreeCheck) -> Result<Job, Problems> {
    let lines = SourceLines::new(text);
    let mut report = Report::new(file_name, &lines);
    let root = source::parse(&mut report);
    let Some(root) = root else { return Err(report.failed()) };
    job_of_tree(report, JobText { file_name, text, root: &root }, templates, more)
}

/// A job's text, and its tree.
#[derive(Clone, Copy)]
struct JobText<'a> {
    file_name: &'a str,
    text: &'a str,
    root: &'a YamlNode,
}

/// Checks the tree; the report may hold problems already.
fn job_of_tree(
    mut report: Report<'_>,
    of: JobText<'_>,
    templates: &dyn TemplateCheck,
    more: TreeCheck,
) -> Result<Job, Problems> {
    let JobText { file_name, text, root } = of;
    check::check(&mut report, schema::shared(), root);
    semantics::check(&mut report, templates, root);
    more(&mut report, root);
    let context = ContextFiles::read(&mut report, templates, root);
    let personas = UserPersonaNames::read(&mut report, templates, root);
    report.finish()?;
    job_of(file_name, text, root, context, personas).map_err(|error| {
        // The schema and the types that read it are held together by tests; this error shows the author when they differ.
        let lines = SourceLines::new(text);
        let mut report = Report::new(file_name, &lines);
        report
            .add(lines.at(0), format!("eval-job's own checks let this through: {error}"))
            .try_this("this is a bug of eval-job; please report it with the file".to_owned());
        report.failed()
    })
}

/// Reads any YAML document as a tree with places.
///
/// # Errors
/// The problem with the YAML itself, with its place.
pub fn read_yaml(file_name: &str, text: &str) -> Result<YamlNode, Problems> {
    let lines = SourceLines::new(text);
    let mut report = Report::new(file_name, &lines);
    let Some(root) = source::parse(&mut report) else { return Err(report.failed()) };
    report.finish()?;
    Ok(root)
}

fn job_of(
    file_name: &str,
    text: &str,
    root: &YamlNode,
    context: ContextFiles,
    personas: UserPersonaNames,
) -> serde_json::Result<Job> {
    // A job whose files say something else is another job.
    let digest = context.texts().fold(digest(text), |all, read| digest(&format!("{all}{}\n{}", read.name, read.text)));
    let mut value = source::as_json(root);
    let digest = personas.digest(digest);
    context.fill_in(&mut value);
    personas.fill_in(&mut value);
    let has_limit = value.get("maxTurns").is_some_and(|most| !most.is_null());
    let mut job: Job = serde_json::from_value(value)?;
    job.complete(file_name);
    if !has_limit {
        job.make_room_for_lines();
    }
    job.digest = digest;
    Ok(job)
}

/// SHA-256 of a job's text, in hex.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
