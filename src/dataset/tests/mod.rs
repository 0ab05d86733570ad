//! Files of other systems are read whole, and what is wrong with them is reported. The files are the systems' own:
//! tests/fixtures/datasets.

mod adk;
mod all;
mod opened;
mod recognised;
mod recorded;
mod recorded_spans;
mod recorded_traces;
mod redhat;
mod trpc;
mod watsonx;
mod written;

use std::path::{Path, PathBuf};

use super::{Beside, CaseUser, Dataset, DatasetCase, NamedText, Scenario, UserLine, load};
use crate::job::render_problems;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/datasets")
}

/// The files of a folder and of those below it, by name.
pub(in crate::dataset) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    entries.into_iter().flat_map(below).collect()
}

fn text(path: &str) -> String {
    std::fs::read_to_string(folder().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The problems of a text, as its author sees them.
fn refused(text: &str, beside: &Beside) -> String {
    match load("f.json", text, beside) {
        Ok(dataset) => panic!("{text} was read: {dataset:?}"),
        Err(problems) => render_problems(&problems),
    }
}

fn loaded(text: &str, beside: &Beside) -> Dataset {
    load("f.json", text, beside).unwrap_or_else(|problems| panic!("{}", render_problems(&problems)))
}

fn warnings(dataset: &Dataset) -> Vec<String> {
    dataset.warnings.iter().map(|warning| format!("{}:{}: {}", warning.line, warning.column, warning.message)).collect()
}

fn with_config(text: &str) -> Beside {
    let config = NamedText { name: "config.json".to_owned(), text: text.to_owned() };
    Beside { config: Some(config), ..Beside::default() }
}

fn lines(case: &DatasetCase) -> &[UserLine] {
    match &case.user {
        CaseUser::Lines(lines) => lines,
        CaseUser::Scenario(_) => panic!("{} has a scenario", case.id),
    }
}

fn scenario(case: &DatasetCase) -> &Scenario {
    match &case.user {
        CaseUser::Scenario(scenario) => scenario,
        CaseUser::Lines(_) => panic!("{} has lines", case.id),
    }
}
