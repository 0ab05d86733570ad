//! The files beside a file with cases.

use std::path::{Path, PathBuf};

use super::{OpenOptions, name, read, warning};
use crate::dataset::json;
use crate::dataset::recognise::{Recognised, may_be_either};
use crate::dataset::{Beside, ContextFile, Files, Kind, NamedText, System, recognise, redhat};
use crate::job::{Problem, Problems};

fn named(path: &Path, files: &dyn Files) -> Result<NamedText, Problems> {
    Ok(NamedText { name: name(path), text: read(path, files)? })
}

/// Finds it, with warnings on what is odd about it.
pub(super) fn find(
    recognised: Recognised<'_>,
    path: &Path,
    text: &str,
    options: &OpenOptions,
    files: &dyn Files,
) -> Result<(Beside, Vec<Problem>), Problems> {
    let mut odd = Vec::new();
    let kind = kind_of(recognised, path, text, options, files);
    let mut beside = Beside { any_value: options.any_value.clone(), kind: Some(kind), ..Beside::default() };
    let folder = path.parent().unwrap_or(Path::new(""));
    let config = match (&options.config, kind.system()) {
        (Some(config), _) => Some(config.clone()),
        (None, System::Adk) => Some(folder.join("test_config.json")).filter(|path| files.is_file(path)),
        (None, System::Trpc) => metrics_of(path, text, files, &mut odd),
        _ => None,
    };
    if matches!(kind.system(), System::Adk | System::Trpc) {
        beside.config = config.map(|path| named(&path, files)).transpose()?;
    }
    beside.session = options.session.as_ref().map(|path| named(path, files)).transpose()?;
    if matches!(kind, Kind::RedhatConversation | Kind::RedhatGoldens) {
        odd.extend(of_redhat(path, options, files, &mut beside)?);
    }
    Ok((beside, odd))
}

/// The kind of a file. Of an eval set that may be ADK's or trpc-agent-go's, the file with its metrics decides.
fn kind_of(recognised: Recognised<'_>, path: &Path, text: &str, options: &OpenOptions, files: &dyn Files) -> Kind {
    let Recognised { kind, json, .. } = recognised;
    if kind != Kind::TrpcEvalSet || !json.is_some_and(|json| may_be_either(&json.root)) {
        return kind;
    }
    let is_adk = match &options.config {
        Some(config) => {
            let config = read(config, files).ok().map(|text| recognise(&name(config), &text));
            matches!(config, Some(Ok(Kind::AdkTestConfig)))
        }
        None => {
            let folder = path.parent().unwrap_or(Path::new(""));
            metrics_of(path, text, files, &mut Vec::new()).is_none() && files.is_file(&folder.join("test_config.json"))
        }
    };
    if is_adk { Kind::AdkEvalSet } else { kind }
}

/// The metrics file of an eval set: named after its id or its file, else the only one in the folder.
fn metrics_of(path: &Path, text: &str, files: &dyn Files, odd: &mut Vec<Problem>) -> Option<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = crate::dataset::load::stem(&file).to_owned();
    let id = json::read(text.trim_start_matches('\u{feff}')).ok();
    let id = id.and_then(|read| read.root.get("evalSetId")?.text().map(str::to_owned)).unwrap_or_default();
    // An id is no path.
    let names = [id, stem].into_iter().filter(|name| !name.is_empty() && !name.contains(['/', '\\']));
    let candidates = names.flat_map(|name| [format!("{name}.metrics.json"), format!("{name}.metric.json")]);
    let found = candidates.map(|name| folder.join(name)).find(|path| files.is_file(path));
    if found.is_some() {
        return found;
    }
    let is_metrics = |path: &PathBuf| name(path).ends_with(".metrics.json");
    let mut others: Vec<PathBuf> = files.list(folder).ok()?.into_iter().filter(is_metrics).collect();
    if others.len() != 1 {
        return None;
    }
    let only = others.pop()?;
    odd.push(warning(path, format!("its metrics are taken from {}, the only such file beside it", name(&only))));
    Some(only)
}

/// The files beside the conversations.
const IDS: &str = "authoritative_user_ids";
const DEFAULT: &str = "default_context";
const OWN: &str = "conversation_context";

/// The ids of users, and the texts for the judge: those for all conversations, then those for this one. Returns what is odd.
fn of_redhat(
    path: &Path,
    options: &OpenOptions,
    files: &dyn Files,
    beside: &mut Beside,
) -> Result<Vec<Problem>, Problems> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    // The results lie beside the folder of the configuration.
    let roots = [Some(folder), folder.parent(), folder.parent().and_then(Path::parent)].into_iter().flatten();
    let roots: Vec<PathBuf> = roots.flat_map(|root| [root.to_path_buf(), root.join("conversations_config")]).collect();
    if let Some(ids) = roots.iter().map(|root| root.join(IDS)).find(|ids| files.is_file(ids)) {
        beside.user_ids = Some(named(&ids, files)?);
    }
    let has = |root: &&PathBuf| [DEFAULT, OWN].iter().any(|folder| files.is_folder(&root.join(folder)));
    let mut odd = Vec::new();
    if let Some(root) = roots.iter().find(has) {
        for folder in [root.join(DEFAULT), root.join(OWN).join(&stem)] {
            beside.context.extend(context(&folder, options, files, &mut odd)?);
        }
    }
    Ok(odd)
}

/// The endings of the files that the original reads as context.
const OF_CONTEXT: [&str; 4] = ["txt", "md", "context", "json"];

/// The texts of a folder. The original leaves out files with other endings than its four, its own mock data too: here whatever is text
/// is read, with a warning.
fn context(
    folder: &Path,
    options: &OpenOptions,
    files: &dyn Files,
    odd: &mut Vec<Problem>,
) -> Result<Vec<ContextFile>, Problems> {
    let mut texts = Vec::new();
    if !files.is_folder(folder) {
        return Ok(texts);
    }
    for path in files.list(folder).unwrap_or_default() {
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if !files.is_file(&path) {
            if !file.starts_with('.') && files.is_folder(&path) {
                odd.push(warning(&path, "folders within a folder of context are not looked into"));
            }
            continue;
        }
        let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
        if OF_CONTEXT.contains(&ending.as_str()) {
            texts.extend(redhat::read_context(&file, &read(&path, files)?));
        } else if !file.starts_with('.') {
            let text = files.read(&path).ok().filter(|text| !options.strict && !text.contains('\0'));
            odd.push(warning(
                &path,
                match (&text, options.strict) {
                    (_, true) => LEFT_OUT,
                    (Some(_), _) => TAKEN_IN,
                    (None, _) => NOT_TEXT,
                },
            ));
            texts.extend(text.map(|text| ContextFile { name: file, text }));
        }
    }
    Ok(texts)
}

const LEFT_OUT: &str =
    "judges are not shown this file: of a folder of context the original reads .txt, .md, .context and .json";
const TAKEN_IN: &str =
    "judges are shown this file as it is; the original leaves it out, as it is no .txt, .md, .context or .json";
const NOT_TEXT: &str = "this file is no text in UTF-8: judges are not shown it";
