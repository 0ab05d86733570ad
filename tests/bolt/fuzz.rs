//! The corpus of the Bolt reader's fuzz target, replayed; and the same target on bytes of our own making, for as long as
//! `EVAL_JOB_FUZZ_SECONDS` says.

use std::path::PathBuf;
use std::time::Duration;

use eval_job::clock::Clock;
use eval_job::graph::bolt::fuzz_bolt_reader;

fn corpus() -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus/bolt_reader");
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn the_corpus_breaks_nothing() {
    let corpus = corpus();
    assert!(corpus.len() >= 20, "only {} files", corpus.len());
    corpus.iter().for_each(|bytes| fuzz_bolt_reader(bytes));
}

#[test]
fn mutations_of_the_corpus_break_nothing() {
    let seconds = std::env::var("EVAL_JOB_FUZZ_SECONDS").map_or(2, |text| text.parse().unwrap());
    let rng_seed = std::env::var("EVAL_JOB_FUZZ_RNG_SEED").map_or(1, |text| text.parse().unwrap());
    let (mut rng, mut corpus, watch) = (fastrand::Rng::with_seed(rng_seed), corpus(), Clock::system().start());
    let mut count = 0u64;
    while watch.elapsed_ms() < Duration::from_secs(seconds).as_millis() as f64 {
        let mut bytes = corpus[rng.usize(..corpus.len())].clone();
        for _ in 0..rng.usize(1..6) {
            mutate(&mut rng, &mut bytes, &corpus);
        }
        if std::panic::catch_unwind(|| fuzz_bolt_reader(&bytes)).is_err() {
            panic!("after {count} inputs these bytes broke the reader: {bytes:02x?}");
        }
        count += 1;
        // A few odd ones stay, as material for odder ones.
        if rng.u32(..500) == 0 && bytes.len() < 2000 && corpus.len() < 5000 {
            corpus.push(bytes);
        }
    }
    println!("{count} inputs in {seconds} s");
}

fn mutate(rng: &mut fastrand::Rng, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    // Markers and sizes at the edges of what PackStream knows.
    const ODD: &[u8] = &[
        0x00, 0x01, 0x0f, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xb0, 0xb3, 0xbf, 0xc0, 0xc1, 0xc8, 0xcb, 0xcc, 0xce,
        0xd0, 0xd2, 0xd4, 0xd6, 0xd8, 0xda, 0xf0, 0xff, b'D', b'T', b'I', b'i', b'F', b'f', b'E', b'X', b'Y', b'N',
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
