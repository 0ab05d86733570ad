//! Conversations that are known to be bad or good, read from files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::super::error::CliError;
use crate::calibration::Known;
use crate::dataset::{DiskFiles, Recorded, Recordings};
use crate::evidence::Turn;
use crate::job;
use crate::plan::Refusal;
use crate::report::plain;

/// One conversation.
pub(super) struct KnownConversation {
    /// Its name: its file's, with a number where the file has several.
    pub(super) name: String,
    pub(super) file: PathBuf,
    /// Its label.
    pub(super) known: Known,
    /// The metrics, or their parts, that must notice; any where there are none.
    pub(super) must_fail: Vec<String>,
    /// Its turns.
    pub(super) recorded: Recorded,
    /// Whether the file is another system's, and may bring metrics of its own.
    pub(super) is_data: bool,
}

/// All conversations below these paths, in the order of their names.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<KnownConversation>, CliError> {
    let mut files = Vec::new();
    for path in paths {
        let mut found = Vec::new();
        collect(path, &mut found)?;
        // Folders above the named path give no label.
        let named = if path.is_dir() { path.parent() } else { path.parent().and_then(Path::parent) };
        files.extend(found.into_iter().map(|file| {
            let below = named.and_then(|named| file.strip_prefix(named).ok()).unwrap_or(&file);
            let known = label_of_folders(below);
            (file, known)
        }));
    }
    let (mut all, mut names) = (Vec::new(), BTreeSet::new());
    for (file, of) in files {
        for conversation in read_file(&file, of)? {
            let mut name = conversation.name.clone();
            for number in 2.. {
                if names.insert(name.clone()) {
                    break;
                }
                name = format!("{}-{number}", conversation.name);
            }
            all.push(KnownConversation { name, ..conversation });
        }
    }
    Ok(all)
}

/// The files of a path. Of Red Hat's layout those of its known conversations.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let unreadable = |source: std::io::Error| refused(path, &source.to_string(), "the path of a file or a folder");
    if !path.is_dir() {
        if !fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(refused(path, "it is neither a file nor a folder", "the path of a file or a folder"));
        }
        files.push(path.to_path_buf());
        return Ok(());
    }
    let known = ["known_bad_conversation_results", "known_good_conversation_results"];
    let known: Vec<PathBuf> =
        known.iter().map(|name| path.join("results").join(name)).filter(|it| it.is_dir()).collect();
    if !known.is_empty() {
        return known.iter().try_for_each(|folder| collect(folder, files));
    }
    let mut inside: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        inside.push(entry.map_err(unreadable)?.path());
    }
    inside.sort();
    let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let is_one = |path: &Path| {
        path.extension().is_some_and(|it| ["yml", "yaml", "json", "jsonl"].iter().any(|known| it == *known))
    };
    // A link may lead back to where it stands.
    let is_folder = |path: &Path| path.is_dir() && !path.is_symlink();
    for path in inside.iter().filter(|path| !is_hidden(path) && (is_folder(path) || path.is_file() && is_one(path))) {
        collect(path, files)?;
    }
    Ok(())
}

/// The label that a file's folders give its conversations, where its format has none: the nearest one that
/// says something counts.
fn label_of_folders(file: &Path) -> Known {
    let says = |part: &str, word: &str| {
        part.starts_with(&format!("known_{word}")) || part.starts_with(&format!("known-{word}")) || part == word
    };
    let folders = file.parent().into_iter().flat_map(Path::components);
    let folders: Vec<String> = folders.map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
    let nearest = folders.iter().rev().find(|part| says(part, "good") || says(part, "bad"));
    if nearest.is_some_and(|part| says(part, "good")) { Known::Good } else { Known::Bad }
}

/// The conversations of a file, of which the names of its folders say this.
fn read_file(file: &Path, of_folders: Known) -> Result<Vec<KnownConversation>, CliError> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if !file.extension().is_some_and(|it| it == "yml" || it == "yaml") {
        return read_data(file, &stem, of_folders);
    }
    let help = "known: bad (or good), and conversation: a list of {user: …} and {agent: …}";
    let text = fs::read_to_string(file).map_err(|error| refused(file, &error.to_string(), help))?;
    let read = job::read_yaml(&file.display().to_string(), &text);
    let read = job::as_json(&read.map_err(|problems| CliError::InvalidJobs(vec![problems]))?);
    let (known, must_fail, turns) = known_file(&read).map_err(|error| refused(file, &error.to_string(), help))?;
    Ok(vec![KnownConversation {
        name: stem.clone(),
        file: file.to_path_buf(),
        known,
        must_fail,
        recorded: Recorded { id: stem, turns, ..Recorded::default() },
        is_data: false,
    }])
}

/// A file of a known conversation that can't be read.
#[derive(Debug, PartialEq, thiserror::Error)]
enum KnownError {
    #[error("it is no mapping")]
    NoMapping,
    #[error("`{key}` is none of its keys: {}", KEYS.join(", "))]
    UnknownKey { key: String },
    #[error("`known` is missing: is it bad, or good?")]
    NoLabel,
    #[error("`known` is {0}, and can be bad or good")]
    UnknownLabel(Value),
    #[error("`fails` is {0}, and must be a name or a list of names")]
    NoNames(Value),
    #[error("`conversation` must be a list")]
    NoList,
    #[error("entry {0} of `conversation` needs one key, `user` or `agent`")]
    NoSpeaker(usize),
    #[error("entry {0} of `conversation` is no text; put quotes around it")]
    NoText(usize),
    #[error("entry {0} of `conversation` is a second reply to the same message")]
    SecondReply(usize),
    #[error("the user says nothing in `conversation`")]
    NoUser,
    #[error("the agent answers nothing in `conversation`: no judge is needed for that")]
    NoAgent,
}

/// The keys of a file of our own.
const KEYS: [&str; 4] = ["known", "fails", "description", "conversation"];

/// Reads a file of our own: its label, the metrics that must notice, and its turns.
fn known_file(file: &Value) -> Result<(Known, Vec<String>, Vec<Turn>), KnownError> {
    let keys = file.as_object().ok_or(KnownError::NoMapping)?;
    if let Some(key) = keys.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(KnownError::UnknownKey { key: key.clone() });
    }
    let known = known(&file["known"])?.ok_or(KnownError::NoLabel)?;
    let must_fail = must_fail(&file["fails"])?;
    let messages = file["conversation"].as_array().ok_or(KnownError::NoList)?;
    Ok((known, must_fail, turns(messages)?))
}

/// The label; `None` where there is none.
fn known(written: &Value) -> Result<Option<Known>, KnownError> {
    match written.as_str() {
        Some("bad") => Ok(Some(Known::Bad)),
        Some("good") => Ok(Some(Known::Good)),
        None if written.is_null() => Ok(None),
        _ => Err(KnownError::UnknownLabel(written.clone())),
    }
}

/// The names of the metrics, or their parts, that must notice.
fn must_fail(written: &Value) -> Result<Vec<String>, KnownError> {
    let names = match written {
        Value::Null => return Ok(Vec::new()),
        Value::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    let name = |name: &Value| name.as_str().map(str::to_owned);
    let names: Option<Vec<String>> = names.iter().map(name).collect();
    names.ok_or_else(|| KnownError::NoNames(written.clone()))
}

/// The messages as turns: the agent's first one is its greeting.
fn turns(messages: &[Value]) -> Result<Vec<Turn>, KnownError> {
    let mut turns: Vec<Turn> = Vec::new();
    for (message, number) in messages.iter().zip(1..) {
        let entry = message.as_object().and_then(|keys| keys.iter().next().filter(|_| keys.len() == 1));
        match entry.map(|(who, text)| (who.as_str(), text.as_str())) {
            Some(("user", Some(user))) => {
                let next = turns.last().map_or(1, |turn| turn.number + 1);
                turns.push(Turn::begun(next, user.to_owned()));
            }
            Some(("agent", Some(agent))) => {
                if turns.is_empty() {
                    turns.push(Turn::begun(0, String::new()));
                }
                let turn = turns.last_mut().filter(|turn| turn.agent.is_none());
                turn.ok_or(KnownError::SecondReply(number))?.agent = Some(agent.to_owned());
            }
            Some(("user" | "agent", None)) => return Err(KnownError::NoText(number)),
            _ => return Err(KnownError::NoSpeaker(number)),
        }
    }
    if !turns.iter().any(|turn| !turn.is_greeting()) {
        return Err(KnownError::NoUser);
    }
    if !turns.iter().any(|turn| !turn.is_greeting() && turn.agent.is_some()) {
        return Err(KnownError::NoAgent);
    }
    Ok(turns)
}

/// Reads the conversations of another system's file. The name of its folder is their label, unless the file's metadata has one:
/// `known: good`, `fails: [metric]`.
fn read_data(file: &Path, stem: &str, of_folders: Known) -> Result<Vec<KnownConversation>, CliError> {
    let recordings = Recordings::open(file, &DiskFiles).map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
    let metadata = fs::read_to_string(file).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let metadata = metadata.map(|value| value["metadata"].clone()).unwrap_or_default();
    let about =
        |error: KnownError| refused(file, &format!("in its metadata, {error}"), "known: bad or good; fails: [tasks]");
    let known = known(&metadata["known"]).map_err(about)?.unwrap_or(of_folders);
    let must_fail = must_fail(&metadata["fails"]).map_err(about)?;
    let mut all = Vec::new();
    for recorded in recordings.conversations(&DiskFiles) {
        let recorded = recorded.map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
        if !recorded.turns.iter().any(|turn| !turn.is_greeting() && turn.agent.is_some()) {
            let help = "a conversation in which the agent answers: no judge is needed for silence";
            return Err(refused(file, "the agent answers nothing in it", help));
        }
        let (file, must_fail) = (file.to_path_buf(), must_fail.clone());
        all.push(KnownConversation { name: stem.to_owned(), file, known, must_fail, recorded, is_data: true });
    }
    Ok(all)
}

fn refused(file: &Path, why: &str, help: &str) -> CliError {
    CliError::Unprepared(Refusal::new(format!("{}: {}", plain(&file.display().to_string()), plain(why)), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_below_what_was_named_says_what_is_known() {
        for (file, known) in [
            ("known_good_conversation_results/a.json", Known::Good),
            ("known_bad_conversation_results/a.json", Known::Bad),
            ("good/known-bad/a.json", Known::Bad),
            ("bad/good/a.json", Known::Good),
            ("goodies/a.json", Known::Bad),
            ("a.json", Known::Bad),
        ] {
            assert_eq!(label_of_folders(Path::new(file)), known, "{file}");
        }
    }

    #[test]
    fn folders_above_the_named_one_say_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("good").join("project");
        std::fs::create_dir_all(below.join("cases")).unwrap();
        let written = r#"{"metadata": {"authoritative_user_id": "u"}, "conversation": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "No."}]}"#;
        std::fs::write(below.join("cases/a.json"), written).unwrap();
        for named in [below.clone(), below.join("cases"), below.join("cases/a.json")] {
            let read = read(std::slice::from_ref(&named)).unwrap_or_else(|error| panic!("{error:?}"));
            assert_eq!(read.len(), 1);
            assert_eq!(read[0].known, Known::Bad, "{}", named.display());
        }
        let read = super::read(&[folder.path().join("good")]).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(read[0].known, Known::Good);
    }
}
