//! Every fuzz target's corpus, replayed; and the same targets on bytes of our own making, for as long as
//! `EVAL_JOB_FUZZ_SECONDS` says. What is under fuzz is whatever reads bytes that somebody else wrote.

use std::path::{Path, PathBuf};
use std::time::Duration;

use eval_job::clock::Clock;
use eval_job::dataset::{self, Beside, Files, NamedText, OpenOptions};
use eval_job::graph::bolt::fuzz_bolt_reader;
use eval_job::job::{self, Problems, PromptRole, TemplateCheck, TemplateProblem};
use eval_job::metric;
use eval_job::prompt::Templates;
use eval_job::record::Fold;
use eval_job::report::{Gathered, Ink, Screen};
use eval_job::store::folder::read_journal;

use crate::house::{files, root};

type Target = (&'static str, fn(&[u8]), fn() -> Vec<PathBuf>);

/// What is fuzzed, and where its corpus lies.
const TARGETS: [Target; 5] = [
    ("bolt_reader", fuzz_bolt_reader, || all(&root().join("tests/fuzz/corpus/bolt_reader"))),
    ("job_file", job_file, || [files(&root().join("data/eval"), "yml"), files(&root().join("tests"), "yml")].concat()),
    ("model_reply", model_reply, || all(&root().join("tests/fuzz/corpus/model_reply"))),
    ("dataset", dataset, || {
        let own =
            ["json", "yml", "yaml", "csv", "tsv"].map(|ending| files(&root().join("tests/fixtures/datasets"), ending));
        [own.concat(), all(&root().join("tests/fuzz/corpus/dataset"))].concat()
    }),
    ("journal", journal, || all(&root().join("tests/fuzz/corpus/journal"))),
];

struct AnyTemplate;

impl TemplateCheck for AnyTemplate {
    fn problem(&self, _: &str, _: PromptRole) -> Option<TemplateProblem> {
        None
    }
}

/// A job file: read, or its problems shown.
fn job_file(bytes: &[u8]) {
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

/// An evaluation file of another system: with itself beside it, as what stands beside others, and as a record.
fn dataset(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let shown = |problems: &Problems| assert!(!job::render_problems(problems).is_empty());
    let config = NamedText { name: "config.json".to_owned(), text: text.clone() };
    let beside = Beside { config: Some(config.clone()), session: Some(config), ..Beside::default() };
    for cases in [text.as_str(), r#"[{"query": "a"}]"#, r#"{"evalSetId": "s"}"#] {
        let _ = dataset::load("f.json", cases, &beside).inspect_err(shown);
    }
    let _ = dataset::load("f.json", &text, &Beside::default()).inspect_err(shown);
    let _ = dataset::load_recorded("f.json", &text).inspect_err(shown);
    let files = Everywhere(text);
    for path in ["f.json", "folder"] {
        let _ = dataset::open(path, &OpenOptions::default(), &files).inspect_err(shown);
    }
}

/// Whatever the persona's or the judge's model may say.
fn model_reply(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = eval_job::llm::repair(&text);
    let _ = eval_job::conversation::read_persona_reply(&text, "So Long, and Thanks for All the Fish");
    let turns = vec![eval_job::evidence::Turn {
        agent: Some("Hello".to_owned()),
        ..eval_job::evidence::Turn::begun(1, String::new())
    }];
    let transcript = eval_job::evidence::Transcript { turns };
    for metric in metric::metrics(&metric::MetricEntry::defaults(), &metric::Weights::default()) {
        let input = metric::MetricInput {
            state: None,
            clock: eval_job::clock::Clock::system(),
            expected: None,
            lines: Vec::new(),
            agent_ended_it: false,
            tasks: vec![metric::InputTask { kind: "task", task: "t", acceptance_criteria: "a" }],
            facts: &[],
            condition: eval_job::evidence::Condition::WithFacts,
            transcript: &transcript,
            judge: metric::JudgeInput { prompt: "eval/score", temperature: 0.0, is_there: true, has_embeddings: false },
            times_first_token: false,
            aspirational_average_ms: None,
        };
        for question in metric.questions(&input, &Templates::embedded()).unwrap_or_default() {
            let _ = metric.read(&input, &question, &text);
        }
    }
}

/// A journal, whole, cut off or damaged: read, summed up, and shown.
fn journal(bytes: &[u8]) {
    let mut entries = read_journal(bytes).entries.into_iter();
    let Some(mut fold) = entries.next().and_then(Fold::begin) else { return };
    let mut trials: Vec<_> = entries.filter_map(|entry| fold.take(entry)).collect();
    let overview = fold.end(|group, trial| trials.push((group, trial)));
    let mut gathered = Gathered::default();
    for (group, trial) in &trials {
        gathered.add(*group, trial);
        let _ = eval_job::report::conversation(&overview, trial, Ink::None);
    }
    let screen = Screen { ink: Ink::None, width: 60, is_unfolded: true };
    assert!(!eval_job::report::terminal(&overview, &gathered, screen).is_empty());
}

fn all(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect()
}

fn corpus(folder: fn() -> Vec<PathBuf>) -> Vec<Vec<u8>> {
    folder().iter().map(|file| std::fs::read(file).unwrap()).collect()
}

#[test]
fn no_corpus_breaks_its_target() {
    for (name, target, folder) in TARGETS {
        let corpus = corpus(folder);
        assert!(corpus.len() >= 3, "{name}: only {} files", corpus.len());
        corpus.iter().for_each(|bytes| target(bytes));
    }
}

#[test]
fn mutations_of_a_corpus_break_nothing() {
    let seconds = std::env::var("EVAL_JOB_FUZZ_SECONDS").map_or(2, |text| text.parse().unwrap());
    let rng_seed = std::env::var("EVAL_JOB_FUZZ_RNG_SEED").map_or(1, |text| text.parse().unwrap());
    std::thread::scope(|scope| {
        for (name, target, folder) in TARGETS {
            scope.spawn(move || fuzz(name, target, corpus(folder), seconds, rng_seed));
        }
    });
}

fn fuzz(name: &str, target: fn(&[u8]), mut corpus: Vec<Vec<u8>>, seconds: u64, rng_seed: u64) {
    let (mut rng, watch) = (fastrand::Rng::with_seed(rng_seed), Clock::system().start());
    let mut count = 0u64;
    while watch.elapsed_ms() < Duration::from_secs(seconds).as_millis() as f64 {
        let mut bytes = corpus[rng.usize(..corpus.len())].clone();
        for _ in 0..rng.usize(1..6) {
            mutate(&mut rng, &mut bytes, &corpus);
        }
        if std::panic::catch_unwind(|| target(&bytes)).is_err() {
            panic!("{name}: after {count} inputs these bytes broke it: {}", bytes.escape_ascii());
        }
        count += 1;
        // A few odd ones stay, as material for odder ones.
        if rng.u32(..500) == 0 && bytes.len() < 20_000 && corpus.len() < 5000 {
            corpus.push(bytes);
        }
    }
    #[expect(clippy::print_stdout, reason = "who fuzzes for long wants to know how much")]
    {
        println!("{name}: {count} inputs in {seconds} s");
    }
}

fn mutate(rng: &mut fastrand::Rng, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    // Markers and sizes at the edges of what PackStream knows.
    const ODD: &[u8] = &[
        b'"', b':', b'{', b'[', b'&', b'*', b'\n', b'\t', b'|', 0x00, 0x01, 0x0f, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
        0xb0, 0xb3, 0xbf, 0xc0, 0xc1, 0xc8, 0xcb, 0xcc, 0xce, 0xd0, 0xd2, 0xd4, 0xd6, 0xd8, 0xda, 0xf0, 0xff, b'D',
        b'T', b'I', b'i', b'F', b'f', b'E', b'X', b'Y', b'N',
    ];
    if bytes.is_empty() {
        bytes.push(ODD[rng.usize(..ODD.len())]);
        return;
    }
    let at = rng.usize(..bytes.len());
    match rng.u32(..8) {
        0 => bytes[at] = rng.u8(..),
        1 => bytes[at] ^= 1 << rng.u32(..8),
        2 => bytes[at] = ODD[rng.usize(..ODD.len())],
        3 => bytes.insert(at, ODD[rng.usize(..ODD.len())]),
        4 => {
            bytes.remove(at);
        }
        5 => bytes.truncate(at),
        6 => {
            let end = (at + rng.usize(1..40)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
        _ => {
            let other = &corpus[rng.usize(..corpus.len())];
            if !other.is_empty() {
                let start = rng.usize(..other.len());
                let end = (start + rng.usize(1..60)).min(other.len());
                bytes.splice(at..at, other[start..end].iter().copied());
            }
        }
    }
}
