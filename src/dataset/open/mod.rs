//! A path as somebody types it → datasets: a file with what stands beside it, or a folder with all that is in it.

mod beside;
mod folder;
mod large;
mod watsonx_config;

use std::path::{Path, PathBuf};

use super::findings::about_file;
use super::load::single;
use super::recognise::look_at;
use super::redhat;
use super::redhat::metrics::MetricSet;
use super::{Dataset, Files, Kind, System, load};
use crate::job::{Problem, Problems};

pub use folder::are_no_cases;
pub use large::LargeDataset;
pub(in crate::dataset) use watsonx_config::read_config as read_watsonx_config;

/// The options named beside the path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// ADK's `test_config.json` or trpc-agent-go's metrics file, instead of the one that stands beside the cases.
    pub config: Option<PathBuf>,
    /// ADK's initial session.
    pub session: Option<PathBuf>,
    /// The generation of the Red Hat quickstart's metrics.
    pub metric_set: MetricSet,
    /// How many cases each one with a simulated user stands for.
    pub generate: Option<u32>,
    /// The word that stands for any value in arguments of watsonx Orchestrate's cases. Default: `<IGNORE>`
    pub any_value: Option<String>,
    /// Whether what the original leaves out of what it reads is left out here too.
    pub strict: bool,
}

/// Reads what stands at a path: `FILE`, `FILE:case1,case2` or a folder. trpc-agent-go's eval sets may be named without
/// their ending.
///
/// # Errors
/// Nothing is there, no file there holds cases, a case that was named is not there, or there are errors in the files: those
/// of all files, each with its place.
pub fn open(typed: &str, options: &OpenOptions, files: &dyn Files) -> Result<Vec<Dataset>, Problems> {
    let (path, wanted) = selected(typed, files);
    let path = Path::new(path);
    let mut datasets = if files.is_folder(path) {
        folder::open(path, options, files)?
    } else {
        let ending = PathBuf::from(format!("{}.evalset.json", path.display()));
        let path = if !files.is_file(path) && files.is_file(&ending) { ending } else { path.to_path_buf() };
        open_file(&path, options, files)?
    };
    for dataset in datasets.iter_mut().filter(|dataset| dataset.kind.system() == System::Redhat) {
        dataset.metrics = redhat::metrics::metrics(options.metric_set);
    }
    if !wanted.is_empty() {
        keep_wanted(typed, &mut datasets, &wanted)?;
    }
    if let Some(times) = options.generate {
        let generated: usize = datasets.iter_mut().map(|dataset| redhat::multiply(dataset, times)).sum();
        if generated == 0 {
            return Err(single(about_file(typed, NO_SCENARIO, Some(SCENARIO))));
        }
    }
    Ok(datasets)
}

const NO_SCENARIO: &str = "there is no scenario that conversations could be generated from";
const SCENARIO: &str = "put a file scenario.json there: {\"scenario\": \"what happens\", \"expected_outcome\": \"what should come of it\", \
                        \"user_description\": \"who the user is\"}";

/// The path and the ids behind the first colon, where the whole is no path itself. A drive's letter keeps its colon.
fn selected<'a>(typed: &'a str, files: &dyn Files) -> (&'a str, Vec<&'a str>) {
    if files.is_file(Path::new(typed)) || files.is_folder(Path::new(typed)) {
        return (typed, Vec::new());
    }
    let is_drive = typed.as_bytes().get(1) == Some(&b':') && typed.starts_with(|c: char| c.is_ascii_alphabetic());
    let from = if is_drive { 2 } else { 0 };
    match typed[from..].find(':') {
        Some(at) => {
            let ids = typed[from + at + 1..].split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
            (&typed[..from + at], ids)
        }
        None => (typed, Vec::new()),
    }
}

fn keep_wanted(typed: &str, datasets: &mut [Dataset], wanted: &[&str]) -> Result<(), Problems> {
    let known: Vec<String> = datasets.iter().flat_map(|dataset| &dataset.cases).map(|case| case.id.clone()).collect();
    let mut problems = Vec::new();
    for id in wanted.iter().filter(|id| !known.iter().any(|known| known == *id)) {
        let near = crate::text::nearest(id, known.iter().map(String::as_str));
        let help = near
            .map_or_else(|| format!("its cases are {}", known.join(", ")), |near| format!("did you mean `{near}`?"));
        problems.push(about_file(typed, format!("there is no case `{id}`"), Some(&help)));
    }
    if !problems.is_empty() {
        return Err(Problems { list: problems, untold: 0 });
    }
    for dataset in datasets {
        dataset.cases.retain(|case| wanted.contains(&case.id.as_str()));
    }
    Ok(())
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn read(path: &Path, files: &dyn Files) -> Result<String, Problems> {
    files.read(path).map_err(|error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file and no such folder".to_owned(),
            std::io::ErrorKind::InvalidData => "this file is not UTF-8; save it as UTF-8".to_owned(),
            _ => format!("this file can't be read: {error}"),
        };
        single(about_file(&name(path), message, None))
    })
}

/// Reads a file, with what stands beside it.
fn open_file(path: &Path, options: &OpenOptions, files: &dyn Files) -> Result<Vec<Dataset>, Problems> {
    let text = read(path, files)?;
    let recognised = look_at(&name(path), &text)?;
    if recognised.kind == Kind::WatsonxConfig {
        return Ok(vec![watsonx_config::open(path, &text, options, files)?]);
    }
    let (beside, odd) = beside::find(recognised, path, &text, options, files)?;
    let mut dataset = load(&name(path), &text, &beside)?;
    dataset.warnings.extend(odd);
    dataset.cases.iter_mut().for_each(|case| case.file = Some(path.to_path_buf()));
    dataset.folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    Ok(vec![dataset])
}

/// A warning on a file as a whole.
fn warning(path: &Path, message: impl Into<String>) -> Problem {
    about_file(&name(path), message, None)
}
