//! One file and what stands beside it → [`Dataset`].

use std::collections::HashMap;

use super::adk::{self, AdkEvalConfig};
use super::cursor::Cursor;
use super::findings::{Findings, about_file, about_text};
use super::json::{self, JsonContent, JsonText};
use super::recognise::{Recognised, look_at};
use super::{ContextFile, Dataset, Kind, Purpose, System};
use super::{redhat, trpc, watsonx};
use crate::job::{Problem, Problems, SourceLines};

/// A file's name, as messages show it, and its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedText {
    /// The name.
    pub name: String,
    /// The text.
    pub text: String,
}

/// The files beside a file with cases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// The format of the file, where what stands beside it tells more than its content.
    pub kind: Option<Kind>,
    /// ADK's `test_config.json`, trpc-agent-go's metrics file.
    pub config: Option<NamedText>,
    /// ADK's initial session.
    pub session: Option<NamedText>,
    /// The user ids of Red Hat's evaluations.
    pub user_ids: Option<NamedText>,
    /// Texts for the judge.
    pub context: Vec<ContextFile>,
    /// The word that stands for any value in arguments of watsonx Orchestrate's cases. Default: `<IGNORE>`
    pub any_value: Option<String>,
}

/// Reads a file with cases; `file_name` names it in problems and, where it has no id of its own, in reports.
///
/// # Errors
/// It is no file with cases, or there are errors in it or in what stands beside it: all of a file's, each with its place.
pub fn load(file_name: &str, text: &str, beside: &Beside) -> Result<Dataset, Problems> {
    let Recognised { kind, json, inner } = look_at(file_name, text)?;
    let kind = beside.kind.unwrap_or(kind);
    let text = inner.as_deref().unwrap_or(text);
    if let Some(message) = refusal(kind) {
        return Err(single(about_text(
            file_name,
            text,
            format!("this is {}, it holds no cases", kind.name()),
            Some(message),
        )));
    }
    let stem = stem(file_name);
    if matches!(kind, Kind::WatsonxStories | Kind::WatsonxValidation) {
        let read = if kind == Kind::WatsonxStories { watsonx::read_stories } else { watsonx::read_validation };
        return Ok(read(file_name, text, stem));
    }
    let Some(json) = json else { return Err(single(about_file(file_name, "this is no JSON", None))) };
    let (mut dataset, warnings) = read_tree(file_name, text, &json, |root| match kind {
        Kind::AdkTestList => adk::read_test_list(root, file_name),
        Kind::AdkOldEvalSet => adk::read_old_eval_set(root, stem),
        Kind::AdkScenarios => adk::read_scenarios(root, stem),
        Kind::TrpcEvalSet => trpc::read_eval_set(root, stem),
        Kind::WatsonxCase => watsonx::read_case(root, stem, beside.any_value.as_deref()),
        Kind::RedhatConversation => {
            let users = beside.user_ids.as_ref().map(|file| redhat::user_ids(&file.text));
            redhat::read_conversation(root, stem, users.as_deref())
        }
        Kind::RedhatGoldens => {
            let users = beside.user_ids.as_ref().map(|file| redhat::user_ids(&file.text));
            redhat::read_goldens(root, stem, users.as_deref())
        }
        _ => adk::read_eval_set(root, stem),
    })?;
    dataset.warnings = warnings;
    dataset.long_integers.clone_from(&json.long_integers);
    match kind.system() {
        System::Trpc => add_trpc(&mut dataset, file_name, &json, beside)?,
        System::Adk => add_adk(&mut dataset, file_name, beside)?,
        _ => {
            for case in &mut dataset.cases {
                case.context_files.splice(0..0, beside.context.iter().cloned());
            }
        }
    }
    tell_ids_apart(file_name, &mut dataset);
    Ok(dataset)
}

/// The remedy for a file that holds no cases.
fn refusal(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::AdkTestConfig => {
            Some("it says by which thresholds the test files beside it are measured: run one of those, or their folder")
        }
        Kind::AdkSession => Some("it is what the sessions of a test file begin with: name it beside that file"),
        Kind::WatsonxConfig => Some("it names the files with cases: open it by its path, so that they are found"),
        Kind::TrpcMetrics => Some("it says by what the `.evalset.json` beside it is measured: run that one"),
        Kind::RedhatUserIds => Some("it lists who the conversations beside it may be run for: run one of those"),
        _ => match kind.purpose() {
            Purpose::Cases => None,
            Purpose::Companion => Some("run the file that it belongs to"),
            Purpose::Recorded => Some(
                "what was said and done already is graded with `eval-job grade --dataset CASES --actual FILE`, or made cases of with \
                 `eval-job import --from-trace FILE`",
            ),
            Purpose::Summary => Some("only figures are in it, not what they were measured on"),
        },
    }
}

pub(super) fn single(problem: Problem) -> Problems {
    Problems { list: vec![problem], untold: 0 }
}

/// The file's name without folders and endings.
pub(super) fn stem(file_name: &str) -> &str {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    let endings = [".evalset.json", ".test.json", ".metrics.json", ".json", ".yaml", ".yml", ".csv", ".tsv"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// Reads a tree: what was made of it with the warnings, or all errors.
pub(super) fn read_tree<T>(
    file_name: &str,
    text: &str,
    json: &JsonText<'_>,
    read: impl FnOnce(Cursor<'_>) -> T,
) -> Result<(T, Vec<Problem>), Problems> {
    let lines = SourceLines::new(text);
    let findings = Findings::new(file_name, &lines, Some(&json.root));
    findings.add_notes(&json.notes);
    let value = read(Cursor::new(&json.root, &findings));
    Ok((value, findings.finish()?))
}

/// Adds ADK's criteria and the initial session.
fn add_adk(dataset: &mut Dataset, file_name: &str, beside: &Beside) -> Result<(), Problems> {
    let mut config = AdkEvalConfig::default();
    if let Some(file) = &beside.config {
        let json = companion(file, Kind::AdkTestConfig)?;
        let (read, warnings) = read_tree(&file.name, &file.text, &json, |root| adk::read_config(root, &file.name))?;
        config = read;
        dataset.warnings.extend(warnings);
    }
    config.apply(dataset);
    if let Some(file) = &beside.session {
        let is_old = matches!(dataset.kind, Kind::AdkTestList | Kind::AdkScenarios);
        if !is_old {
            let help = "put the session into each case, as `session_input`";
            let message = format!("the cases of {file_name} say themselves what their sessions begin with");
            return Err(single(about_file(&file.name, message, Some(help))));
        }
        let json = companion(file, Kind::AdkSession)?;
        let (session, warnings) = read_tree(&file.name, &file.text, &json, |root| adk::read_session(root, false))?;
        dataset.warnings.extend(warnings);
        for case in &mut dataset.cases {
            case.session = session.clone();
        }
    }
    Ok(())
}

/// Adds trpc-agent-go's metrics.
fn add_trpc(dataset: &mut Dataset, file_name: &str, json: &JsonText<'_>, beside: &Beside) -> Result<(), Problems> {
    let Some(file) = &beside.config else {
        let message = "no metrics file stands beside this eval set: nothing is measured";
        dataset.warnings.push(about_file(
            file_name,
            message,
            Some("trpc-agent-go finds it as `<evalSetId>.metrics.json`"),
        ));
        return Ok(());
    };
    let metrics = companion(file, Kind::TrpcMetrics)?;
    let generation = trpc::generation_of(&json.root);
    let read = |root: Cursor<'_>| trpc::read_metrics(root, &file.name, generation);
    let (metrics, warnings) = read_tree(&file.name, &file.text, &metrics, read)?;
    let wrong = trpc::check_rubrics(dataset, &metrics);
    if !wrong.is_empty() {
        let problem = |(line, message): (usize, String)| Problem { line, ..about_file(file_name, message, None) };
        return Err(Problems { list: wrong.into_iter().map(problem).collect(), untold: 0 });
    }
    dataset.metrics = metrics;
    dataset.warnings.extend(warnings);
    Ok(())
}

/// The tree of a file that must be of this kind. Of one without a key of its own, an empty one too, the kind is not known: then
/// it is taken for what is expected.
fn companion(file: &NamedText, expected: Kind) -> Result<JsonText<'_>, Problems> {
    let not = |what: String| {
        let message = format!("{} is expected here, but this is {what}", expected.name());
        single(match file.text.trim() {
            "" => about_file(&file.name, message, None),
            _ => about_text(&file.name, &file.text, message, None),
        })
    };
    match look_at(&file.name, &file.text) {
        Ok(Recognised { kind, json: Some(json), .. }) if kind == expected => Ok(json),
        Ok(found) => Err(not(found.kind.name().to_owned())),
        Err(problems) => {
            let text = file.text.trim_start_matches('\u{feff}');
            let json = json::read(text).map_err(|_| match text.trim_start().chars().next() {
                None => not("an empty file".to_owned()),
                Some('{' | '[') => problems,
                Some(_) => not("no JSON".to_owned()),
            })?;
            match &json.root.content {
                JsonContent::Object(_) if expected != Kind::TrpcMetrics => Ok(json),
                // Its reader warns that nothing is measured.
                JsonContent::List(items) if items.is_empty() && expected == Kind::TrpcMetrics => Ok(json),
                JsonContent::List(items) if items.is_empty() => Err(not("an empty list".to_owned())),
                _ => Err(not("something else".to_owned())),
            }
        }
    }
}

/// The most warnings that are reported.
const MOST_WARNINGS: usize = 200;

/// Cases with the same id get a number behind it, with a warning.
fn tell_ids_apart(file_name: &str, dataset: &mut Dataset) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for case in &mut dataset.cases {
        let count = counts.get(&case.id).copied().unwrap_or_default();
        if count == 0 {
            counts.insert(case.id.clone(), 1);
            continue;
        }
        let free = (count + 1..).find(|number| !counts.contains_key(&format!("{} ({number})", case.id)));
        let number = free.unwrap_or(count + 1);
        let id = format!("{} ({number})", case.id);
        counts.insert(case.id.clone(), number);
        counts.insert(id.clone(), 1);
        if dataset.warnings.len() < MOST_WARNINGS {
            let message = format!("a case with the id `{}` is here already; this one is `{id}`", case.id);
            dataset.warnings.push(Problem { line: case.line.max(1), ..about_file(file_name, message, None) });
        }
        case.id = id;
    }
}
