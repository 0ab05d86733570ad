//! Every fuzz target's corpus, replayed; and the same targets on bytes of our own making, for as long as
//! `EVAL_JOB_FUZZ_SECONDS` says. What is under fuzz is whatever reads bytes that somebody else wrote.

use std::path::{Path, PathBuf};
use std::time::Duration;

use eval_job::clock::Clock;
use eval_job::graph::bolt::fuzz_bolt_reader;

use crate::house::{files, root};

#[path = "targets.rs"]
mod targets;

type Target = (&'static str, fn(&[u8]), fn() -> Vec<PathBuf>);

/// What is fuzzed, and where its corpus lies.
const TARGETS: [Target; 9] = [
    ("bolt_reader", fuzz_bolt_reader, || of("bolt_reader")),
    ("job_file", targets::job_file, jobs),
    ("model_reply", targets::model_reply, || of("model_reply")),
    ("dataset", targets::dataset, || [data_files(), of("dataset")].concat()),
    ("recorded", targets::recorded, || [data_files(), of("recorded")].concat()),
    ("case_file", targets::case_file, || [data_files(), jobs(), of("case_file")].concat()),
    ("trajectory", targets::trajectory, || of("trajectory")),
    ("tools", targets::tools, || of("tools")),
    ("journal", targets::journal, || of("journal")),
];

fn jobs() -> Vec<PathBuf> {
    [files(&root().join("data/eval"), "yml"), files(&root().join("tests"), "yml")].concat()
}

/// Other systems' files.
fn data_files() -> Vec<PathBuf> {
    let endings = ["json", "jsonl", "yml", "yaml", "csv", "tsv"];
    endings.map(|ending| files(&root().join("tests/fixtures/datasets"), ending)).concat()
}

/// What lies in a target's own corpus.
fn of(target: &str) -> Vec<PathBuf> {
    all(&root().join("tests/fuzz/corpus").join(target))
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
