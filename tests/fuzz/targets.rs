//! What is fuzzed: whatever reads bytes that somebody else wrote. `replay.rs` runs these on corpora and mutations of them in each
//! test run; `fuzz_targets` has a program for each, for libFuzzer.
//!
//! None may panic, hang or use memory out of proportion; where more must hold, the target asserts it.
#![allow(dead_code, reason = "each program of libFuzzer runs one of them")]

use std::path::{Component, Path, PathBuf};

use eval_job::dataset::{
    self, Beside, CaseFile, CaseKey, Dataset, Files, LowerOptions, NamedText, OpenOptions, Recordings, System,
};
use eval_job::evidence::{Condition, ToolUse, TrialId};
use eval_job::job::{self, Problems, PromptRole, TemplateCheck, TemplateProblem};
use eval_job::metric;
use eval_job::metric::trajectory::{
    Expectation, LettersOnly, TrajectoryConfig, TrajectoryFigure, TrajectoryInput, TrajectoryMatcher,
};
use eval_job::prompt::Templates;
use eval_job::record::Fold;
use eval_job::report::{Gathered, Ink, Screen};
use eval_job::store::folder::read_journal;
use eval_job::tool_list::read_tools;
use serde_json::Map;

struct AnyTemplate;

impl TemplateCheck for AnyTemplate {
    fn problem(&self, _: &str, _: PromptRole) -> Option<TemplateProblem> {
        None
    }
}

/// A job file: read, or its problems shown.
pub fn job_file(bytes: &[u8]) {
    if let Err(problems) = job::load("job.yml", &String::from_utf8_lossy(bytes), &AnyTemplate) {
        assert!(!job::render_problems(&problems).is_empty());
    }
}

/// A folder in which every file has the same text.
struct Everywhere(String);

impl Files for Everywhere {
    fn read(&self, _: &Path) -> std::io::Result<String> {
        Ok(self.0.clone())
    }

    fn list(&self, folder: &Path) -> std::io::Result<Vec<PathBuf>> {
        Ok(vec![folder.join("f.json")])
    }

    fn is_file(&self, path: &Path) -> bool {
        path.extension().is_some()
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.extension().is_none() && path.components().count() < 4
    }
}

fn shown(problems: &Problems) {
    assert!(!job::render_problems(problems).is_empty());
}

/// An evaluation file of another system: with itself beside it, as what stands beside others, and as a record.
pub fn dataset(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let config = NamedText { name: "config.json".to_owned(), text: text.clone() };
    let beside = Beside { config: Some(config.clone()), session: Some(config), ..Beside::default() };
    for cases in [text.as_str(), r#"[{"query": "a"}]"#, r#"{"evalSetId": "s"}"#] {
        let _ = dataset::load("f.json", cases, &beside).inspect_err(shown);
    }
    if let Ok(dataset) = dataset::load("f.json", &text, &Beside::default()).inspect_err(shown) {
        written(&dataset);
    }
    let files = Everywhere(text);
    for path in ["f.json", "folder"] {
        let _ = dataset::open(path, &OpenOptions::default(), &files).inspect_err(shown);
    }
}

/// Whatever the persona's or the judge's model may say.
pub fn model_reply(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = eval_job::llm::repair(&text);
    for has_tools in [false, true] {
        let _ = eval_job::conversation::read_persona_reply(&text, "So Long, and Thanks for All the Fish", has_tools);
    }
    let turns = vec![eval_job::evidence::Turn {
        agent: Some("Hello".to_owned()),
        ..eval_job::evidence::Turn::begun(1, String::new())
    }];
    let transcript = eval_job::evidence::Transcript { turns };
    for metric in metric::metrics(&metric::MetricEntry::defaults(), &metric::Weights::default()) {
        let input = metric::MetricInput {
            fact_uses: None,
            state: None,
            clock: eval_job::clock::Clock::system(),
            is_brief: false,
            expected: None,
            lines: Vec::new(),
            is_of_reference: false,
            agent_ended_it: false,
            tasks: vec![metric::InputTask { kind: "task", task: "t", acceptance_criteria: "a" }],
            facts: &[],
            condition: eval_job::evidence::Condition::WithFacts,
            transcript: &transcript,
            user: metric::UserInput::default(),
            judge: metric::JudgeInput {
                needs_evidence: false,
                prompt: "eval/score",
                temperature: 0.0,
                is_there: true,
                has_embeddings: false,
                samples: 1,
            },
            context: Vec::new(),
            times_first_token: false,
            aspirational_average_ms: None,
        };
        for question in metric.questions(&input, &Templates::embedded()).unwrap_or_default() {
            let _ = metric.read(&input, &question, &text);
        }
    }
}

/// A journal, whole, cut off or damaged: read, summed up, and shown.
pub fn journal(bytes: &[u8]) {
    let mut entries = read_journal(bytes).entries.into_iter();
    let Some(mut fold) = entries.next().and_then(Fold::begin) else { return };
    let mut trials: Vec<_> = entries.filter_map(|entry| fold.take(entry)).collect();
    let overview = fold.end(|group, trial| trials.push((group, trial)));
    let mut gathered = Gathered::default();
    for (group, trial) in &trials {
        gathered.add(*group, trial);
        let _ = eval_job::report::conversation(&overview, trial, Ink::None, eval_job::report::PromptLength::Folded);
    }
    let screen = Screen { ink: Ink::None, width: 60, is_unfolded: true };
    assert!(!eval_job::report::terminal(&overview, &gathered, screen).is_empty());
}

fn trial() -> TrialId {
    TrialId { number: 1, case: "c".into(), model: "m".into(), condition: Condition::WithoutFacts, repeat: 1 }
}

/// What was recorded, of whatever system, and taken for a large file too: what is read in pieces says the same as what is read whole.
pub fn recorded(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let whole = dataset::load_recorded("f.json", &text).inspect_err(shown);
    let files = Everywhere(text);
    let Ok(recordings) = Recordings::open(Path::new("f.json"), &files).inspect_err(shown) else { return };
    let known = CaseKey { ids: vec!["c".to_owned()], session: Some("s".to_owned()) };
    assert_eq!(dataset::match_cases(&[known], &recordings.keys).case_of.len(), recordings.keys.len());
    let read: Vec<_> = recordings.conversations(&files).filter_map(Result::ok).collect();
    if let Ok(whole) = whole {
        assert_eq!(read.len(), whole.conversations.len());
    }
    for conversation in read {
        conversation.into_evidence(&trial());
    }
}

/// Cases put into a file's text, and taken out of it: the file stays one, with a case more or less.
pub fn case_file(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    fn read(text: &str, is_job: bool) -> Result<CaseFile<'_>, Problems> {
        if is_job { CaseFile::of_job("f", text) } else { CaseFile::of_data("f", text) }
    }
    for is_job in [false, true] {
        let Ok(file) = read(&text, is_job).inspect_err(shown) else { continue };
        for place in 0..file.len().min(3) {
            let case = file.written(place);
            if let Ok(less) = file.without(place) {
                let less = read(&less, is_job).unwrap();
                assert_eq!(less.len(), file.len() - 1);
            }
            let more = file.with(&case);
            let more = read(&more, is_job).unwrap();
            assert_eq!(more.len(), file.len() + 1);
            assert_eq!(more.written(place), case, "what was there stays");
        }
    }
}

/// Calls that are compared: `{config, expected, actual}`.
pub fn trajectory(bytes: &[u8]) {
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Compared {
        config: TrajectoryConfig,
        expected: Expectation,
        actual: Vec<ToolUse>,
    }
    let Ok(compared) = serde_json::from_slice::<Compared>(bytes) else { return };
    let Ok(matcher) = TrajectoryMatcher::new(&compared.config) else { return };
    if !compared.expected.problems().is_empty() {
        return;
    }
    let expected = compared.expected.calls.unwrap_or_default();
    let input = TrajectoryInput { expected: &expected, actual: &compared.actual, ..TrajectoryInput::default() };
    let Ok(found) = matcher.compare(input, &LettersOnly) else { return };
    assert_eq!(found.pairs.len(), expected.len());
    let mut taken: Vec<usize> = found.pairs.iter().flatten().copied().collect();
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), found.pairs.iter().flatten().count(), "no call is found twice");
    assert!(taken.iter().all(|place| *place < compared.actual.len()));
    for figure in [
        TrajectoryFigure::Match,
        TrajectoryFigure::Precision,
        TrajectoryFigure::Recall,
        TrajectoryFigure::F1,
        TrajectoryFigure::ParameterMatch,
        TrajectoryFigure::ParameterF1,
    ] {
        let score = found.figures.get(figure);
        assert!(score.is_none_or(|score| (0.0..=1.0).contains(&score)), "{figure:?}: {score:?}");
    }
    if found.is_match == Some(true) {
        assert!(found.pairs.iter().all(Option::is_some), "all that is expected was found");
    } else {
        assert!(found.explanation.is_some() || found.missing.is_some(), "what differs is shown");
    }
}

/// A list of an agent's tools.
pub fn tools(bytes: &[u8]) {
    if let Ok(tools) = read_tools(&String::from_utf8_lossy(bytes)) {
        assert!(!tools.is_empty());
    }
}

/// A dataset as a job and as every system's files.
fn written(dataset: &Dataset) {
    let lowered =
        dataset::lower(dataset, &LowerOptions { target: ("demo".to_owned(), Map::new()), ..LowerOptions::default() });
    let _ = job::load("job.yml", &lowered.document.to_string(), &AnyTemplate).inspect_err(shown);
    for system in [System::Adk, System::Trpc, System::Watsonx, System::Redhat] {
        let written = dataset::write(dataset, system);
        for file in &written.files {
            let path = Path::new(&file.name);
            assert!(path.components().all(|part| matches!(part, Component::Normal(_))), "{}", file.name);
        }
    }
}
