//! Selects cases of jobs: `--tag`, `--filter` and `--limit`.

use std::sync::Arc;

use super::args::SelectionArgs;
use super::error::CliError;
use super::jobs::Loaded;
use crate::job::{Case, Job};
use crate::report::count;
use crate::text::NamePattern;
use crate::text::nearest;

/// The cases of a job that are left, where not all of them are.
#[derive(Debug, Clone)]
pub(super) struct CaseSelection {
    /// How many of how many, and by which flags.
    pub(super) text: String,
    /// The job's first case, be it left or not: known conversations are judged by its tasks.
    pub(super) first_case: Arc<Case>,
}

/// Jobs of which only the selected cases are left.
pub(super) struct Selected {
    /// The jobs that have such cases.
    pub(super) jobs: Vec<Loaded>,
    /// A note for the user about the jobs without any.
    pub(super) note: Option<String>,
}

/// Removes the cases that are not selected; the job keeps a note of the selection.
///
/// # Errors
/// No case is selected.
pub(super) fn select(args: &SelectionArgs, jobs: Vec<Loaded>) -> Result<Selected, CliError> {
    let flags = flags(args);
    if flags.is_empty() {
        return Ok(Selected { jobs, note: None });
    }
    let all = jobs.len();
    let tags: Vec<String> = jobs.iter().flat_map(|loaded| tags(&loaded.job)).collect();
    let mut left = args.limit.map_or(usize::MAX, |limit| limit as usize);
    let mut selected = Vec::new();
    for mut loaded in jobs {
        let Loaded { file, job, .. } = &mut loaded;
        let (cases, first_case) = (job.cases.len(), job.cases.first().cloned());
        let is_selected = |case: &Case| {
            let has_tag = |tag: &String| job.tags.contains(tag) || case.tags.contains(tag);
            let fits = |text: &String| [case.id.as_str(), &job.name, file].iter().any(|it| fits(text, it));
            (args.tag.is_empty() || args.tag.iter().any(has_tag))
                && (args.filter.is_empty() || args.filter.iter().any(fits))
        };
        let kept: Vec<Arc<Case>> = job.cases.iter().filter(|case| is_selected(case)).take(left).cloned().collect();
        left -= kept.len();
        job.cases = kept;
        if !job.cases.is_empty() {
            let text = format!("{} of {}, by {flags}", job.cases.len(), count(cases, "case"));
            let first_case = first_case.filter(|_| job.cases.len() < cases);
            loaded.selection = first_case.map(|first_case| CaseSelection { text, first_case });
            selected.push(loaded);
        }
    }
    if selected.is_empty() {
        return Err(CliError::NothingSelected { flags, help: help(args, tags) });
    }
    let left_out = all - selected.len();
    let note = (left_out > 0).then(|| format!("{left_out} of {} left out, by {flags}", count(all, "job")));
    Ok(Selected { jobs: selected, note })
}

/// The flags as they can be typed.
fn flags(args: &SelectionArgs) -> String {
    let tags = (!args.tag.is_empty()).then(|| format!("--tag {}", args.tag.join(",")));
    let filters = args.filter.iter().map(|filter| format!("--filter {filter}"));
    let limit = args.limit.map(|limit| format!("--limit {limit}"));
    tags.into_iter().chain(filters).chain(limit).collect::<Vec<_>>().join(" ")
}

fn fits(filter: &str, text: &str) -> bool {
    let (filter, text) = (filter.to_lowercase(), text.to_lowercase());
    if filter.contains(['*', '?']) { NamePattern::new(&filter).matches(&text) } else { text.contains(&filter) }
}

fn tags(job: &Job) -> Vec<String> {
    job.tags.iter().chain(job.cases.iter().flat_map(|case| &case.tags)).cloned().collect()
}

/// The nearest tag, or all that there are.
fn help(args: &SelectionArgs, mut tags: Vec<String>) -> String {
    tags.sort();
    tags.dedup();
    let known = |tag: &&String| tags.contains(tag);
    match args.tag.iter().find(|tag| !known(tag)) {
        Some(_) if tags.is_empty() => "no --tag: neither the jobs nor their cases have `tags`".to_owned(),
        Some(tag) => match nearest(tag, tags.iter().map(String::as_str)) {
            Some(near) => format!("--tag {near}"),
            None => format!("one of the tags that there are: {}", tags.join(", ")),
        },
        None => "a part of a case's id, of a job's name or of its file".to_owned(),
    }
}
