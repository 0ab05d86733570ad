//! Folders with cases.

use std::path::{Path, PathBuf};

use super::{OpenOptions, name, open_file, read, warning};
use crate::dataset::findings::about_file;
use crate::dataset::load::single;
use crate::dataset::watsonx::RESISTED;
use crate::dataset::{Dataset, Files, Kind, MeasureKind, Purpose, System, recognise};
use crate::job::Problems;

/// Folders within folders, at most.
const DEEPEST: usize = 16;

/// Reads the cases of a folder. Systems that look into folders within it have that done; the single cases of the others
/// become one dataset.
pub(super) fn open(folder: &Path, options: &OpenOptions, files: &dyn Files) -> Result<Vec<Dataset>, Problems> {
    let mut datasets: Vec<Dataset> = Vec::new();
    let mut problems = Problems { list: Vec::new(), untold: 0 };
    let mut odd = Vec::new();
    for (path, depth) in files_below(folder, files) {
        let text = read(&path, files)?;
        let kind = match recognise(&name(&path), &text) {
            Ok(kind) => kind,
            // What is no evaluation file may lie here too; a broken one is an error.
            Err(found) if is_test(&path) => {
                problems.list.extend(found.list);
                continue;
            }
            Err(_) => {
                // An empty one is known by its name alone, and read with what is beside it.
                if depth == 0 && !path.ends_with("test_config.json") {
                    odd.push(warning(&path, "this is no evaluation file that eval-job knows; it is left out"));
                }
                continue;
            }
        };
        let is_own = depth == 0 || matches!(kind.system(), System::Adk | System::Trpc);
        let is_asked = kind.purpose() == Purpose::Cases && kind != Kind::WatsonxConfig;
        if !is_asked || !(is_own || is_redhat_flow(&path, kind)) {
            continue;
        }
        match open_file(&path, options, files) {
            Ok(found) => found.into_iter().for_each(|dataset| add(&mut datasets, dataset, folder)),
            Err(found) => {
                problems.list.extend(found.list);
                problems.untold += found.untold;
            }
        }
    }
    if !problems.list.is_empty() {
        return Err(problems);
    }
    match datasets.first_mut() {
        Some(first) => first.warnings.extend(odd),
        None => {
            let help = "looked for: `.json` files that hold cases of ADK, trpc-agent-go, watsonx Orchestrate or Red Hat's \
                        evaluations";
            return Err(single(about_file(&name(folder), NO_CASES, Some(help))));
        }
    }
    Ok(datasets)
}

const NO_CASES: &str = "no file in this folder holds cases";

/// Whether these are the problems of a folder in which there are no cases of other systems, and nothing else is wrong.
pub fn are_no_cases(problems: &[Problems]) -> bool {
    matches!(problems, [Problems { list, .. }] if matches!(list.as_slice(), [only] if only.message == NO_CASES))
}

/// Whether the name says that a file is meant to be a test.
fn is_test(path: &Path) -> bool {
    let name = name(path);
    name.ends_with(".test.json") || name.ends_with(".evalset.json")
}

/// The predefined conversations of a folder that holds all of Red Hat's evaluations; results are no cases.
fn is_redhat_flow(path: &Path, kind: Kind) -> bool {
    let is_asked = matches!(kind, Kind::RedhatConversation | Kind::RedhatGoldens);
    is_asked && !path.components().any(|part| part.as_os_str() == "results")
}

/// The `.json` files of a folder and those below it, sorted, each with how deep it lies.
fn files_below(folder: &Path, files: &dyn Files) -> Vec<(PathBuf, usize)> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for path in files.list(&folder).unwrap_or_default() {
            let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if files.is_folder(&path) {
                let is_skipped =
                    file.starts_with('.') || ["node_modules", "target", "__pycache__"].contains(&file.as_str());
                if depth < DEEPEST && !is_skipped {
                    folders.push((path, depth + 1));
                }
            } else if file.ends_with(".json") && !file.ends_with("agent.json") {
                found.push((path, depth));
            }
        }
    }
    found.sort();
    found
}

/// Adds a dataset: a single case of the same system joins those that are there.
fn add(datasets: &mut Vec<Dataset>, dataset: Dataset, folder: &Path) {
    let is_single = matches!(dataset.kind, Kind::WatsonxCase | Kind::RedhatConversation | Kind::RedhatGoldens);
    let joins = |known: &&mut Dataset| {
        let is_alike = known.kind == dataset.kind
            || known.kind.system() == System::Redhat && dataset.kind.system() == System::Redhat;
        is_alike && attacked(known) == attacked(&dataset)
    };
    let known = datasets.iter_mut().filter(|_| is_single).find(joins);
    let Some(known) = known else {
        let folder = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let folder = folder.filter(|_| is_single);
        let name = match (folder, attacked(&dataset)) {
            (Some(folder), Some(_)) => {
                let before = datasets.iter().filter(|it| attacked(it).is_some()).count();
                format!("{folder} attacks {}", before + 1)
            }
            (Some(folder), None) => folder,
            (None, _) => dataset.name.clone(),
        };
        datasets.push(Dataset { name, ..dataset });
        return;
    };
    join(known, dataset);
}

/// How attacks are measured, where the cases are some: they are measured by other metrics than all other cases.
pub(super) fn attacked(dataset: &Dataset) -> Option<(MeasureKind, usize)> {
    dataset.metrics.iter().find(|metric| metric.name == RESISTED).map(|metric| (metric.kind, metric.rubrics.len()))
}

/// Adds the cases of one dataset to another; one with an id that is there already is left out, as its system does.
pub(super) fn join(known: &mut Dataset, mut dataset: Dataset) {
    // What lies beside several files is warned of once.
    for warning in std::mem::take(&mut dataset.warnings) {
        if !known.warnings.contains(&warning) {
            known.warnings.push(warning);
        }
    }
    if known.known_users.is_empty() {
        known.known_users = dataset.known_users;
    }
    for case in dataset.cases {
        if known.cases.iter().any(|other| other.id == case.id) {
            let message = format!("a case `{}` is here already; the second one is left out", case.id);
            known.warnings.push(about_file(&known.name, message, None));
        } else {
            known.cases.push(case);
        }
    }
    for metric in dataset.metrics {
        if !known.metrics.iter().any(|other| other.name == metric.name) {
            known.metrics.push(metric);
        }
    }
    known.extra.extend(dataset.extra);
}
