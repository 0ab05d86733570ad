//! `config.yml` of watsonx Orchestrate: it names its cases.

use std::path::{Path, PathBuf};

use super::{OpenOptions, folder, name, open_file, read, warning};
use crate::dataset::cursor::Cursor;
use crate::dataset::findings::{Findings, about_file};
use crate::dataset::json::{self, JsonNode};
use crate::dataset::load::{read_tree, single, stem};
use crate::dataset::watsonx::{self, SummaryVersion, WatsonxRunConfig};
use crate::dataset::{Dataset, Files, Kind, recognise};
use crate::job::{Problem, Problems, SourceLines, read_yaml};
use crate::text::NamePattern;

/// Reads the cases that a configuration names: their paths start from where eval-job is called, or else from the file.
pub(super) fn open(path: &Path, text: &str, options: &OpenOptions, files: &dyn Files) -> Result<Dataset, Problems> {
    let file = name(path);
    let (config, mut warnings) = read_config(&file, text)?;
    let mut dataset = Dataset::new(Kind::WatsonxConfig, stem(&file));
    let mut versions: Vec<(PathBuf, SummaryVersion)> = Vec::new();
    for named in &config.test_paths {
        let beside = path.parent().unwrap_or(Path::new("")).join(named);
        let exists = |path: &PathBuf| files.is_file(path) || files.is_folder(path);
        let candidates = [PathBuf::from(named), beside];
        let exact = candidates.iter().find(|path| exists(path)).map(|path| vec![path.clone()]);
        let by_pattern = || candidates.iter().map(|path| matching(path, files)).find(|found| !found.is_empty());
        let Some(found) = exact.or_else(by_pattern) else {
            let message = format!("`test_paths` names {named}, but there is nothing of that name");
            let help = "a path starts from the folder in which eval-job is called, or from that of this file";
            return Err(single(about_file(&file, message, Some(help))));
        };
        for path in found.iter().flat_map(|path| cases_at(path, config.is_recursive, files)) {
            let text = read(&path, files)?;
            if let Ok(read) = json::read(text.trim_start_matches('\u{feff}')) {
                versions.extend(watsonx::summary_version(&read.root).map(|version| (path.clone(), version)));
            }
            let kind = recognise(&name(&path), &text)?;
            if kind != Kind::WatsonxCase {
                warnings.push(warning(&path, format!("this is {}; it is left out", kind.name())));
                continue;
            }
            for read in open_file(&path, options, files)? {
                if !dataset.cases.is_empty() && folder::attacked(&dataset) != folder::attacked(&read) {
                    let message =
                        "attacks are measured by other metrics than cases, and by others than attacks of another kind";
                    let help = "name them in a configuration of their own";
                    return Err(single(about_file(&name(&path), message, Some(help))));
                }
                folder::join(&mut dataset, read);
            }
        }
    }
    mixed(&versions)?;
    config.apply(&mut dataset);
    dataset.kind = Kind::WatsonxConfig;
    warnings.append(&mut dataset.warnings);
    dataset.warnings = warnings;
    if dataset.cases.is_empty() {
        return Err(single(about_file(&file, "no case is left to run: check `test_paths` and `tags`", None)));
    }
    Ok(dataset)
}

/// The paths that a pattern stands for, sorted: `*`, `?` and `[…]` stand for letters of a name, and hidden files are left out.
fn matching(pattern: &Path, files: &dyn Files) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let name = part.as_os_str().to_string_lossy();
        if !name.contains(['*', '?', '[']) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let pattern = NamePattern::with_sets(&name);
        let fits = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            !name.starts_with('.') && pattern.matches(&name)
        };
        let here = |path: &PathBuf| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.clone() };
        let below = found.iter().flat_map(|path| files.list(&here(path)).unwrap_or_default());
        found = below.filter(fits).collect();
    }
    found.retain(|path| files.is_file(path) || files.is_folder(path));
    found.sort();
    found
}

/// The files of a path: of a folder its `.json` files, but for agents.
fn cases_at(path: &Path, is_recursive: bool, files: &dyn Files) -> Vec<PathBuf> {
    if files.is_file(path) {
        return vec![path.to_path_buf()];
    }
    let mut found = Vec::new();
    for path in files.list(path).unwrap_or_default() {
        let file = name(&path);
        if files.is_folder(&path) {
            if is_recursive {
                found.extend(cases_at(&path, is_recursive, files));
            }
        } else if file.ends_with(".json") && !file.ends_with("agent.json") {
            found.push(path);
        }
    }
    found
}

/// Cases of both versions of summaries can't be measured together.
fn mixed(versions: &[(PathBuf, SummaryVersion)]) -> Result<(), Problems> {
    let of = |version| versions.iter().find(|(_, found)| *found == version).map(|(path, _)| path);
    let (Some(first), Some(second)) = (of(SummaryVersion::V1), of(SummaryVersion::V2)) else { return Ok(()) };
    let message = format!("the goal `summarize` has a `summary` here, but in {} it has none", name(first));
    Err(single(about_file(
        &name(second),
        message,
        Some("watsonx Orchestrate measures only cases of one kind together"),
    )))
}

/// Reads the configuration, in YAML or JSON.
pub(in crate::dataset) fn read_config(file: &str, text: &str) -> Result<(WatsonxRunConfig, Vec<Problem>), Problems> {
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        let lines = SourceLines::new(text);
        let read = json::read(lines.text());
        let json = read.map_err(|error| crate::dataset::findings::unreadable(file, &lines, error))?;
        return read_tree(file, text, &json, watsonx::read_config);
    }
    let root = JsonNode::from(&read_yaml(file, text)?);
    let lines = SourceLines::new(text);
    let findings = Findings::new(file, &lines, Some(&root));
    let config = watsonx::read_config(Cursor::new(&root, &findings));
    Ok((config, findings.finish()?))
}
