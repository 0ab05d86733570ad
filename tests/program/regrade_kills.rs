//! A grading that was killed, at whichever byte of its journal: what is whole there is not asked for again.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::eval_job;
use super::regrade::{kept, run_folder, verdict, words};
use crate::servers::http::Server;

/// The panel that is asked, and how many questions it has about the two conversations.
const PANEL: &str = "openai/first,openai/second";
const QUESTIONS: usize = 4;

/// A verdict by its trial, its place, its judge and its reply.
type Verdict = (u64, u64, String, String);

/// The whole verdicts of a grading's journal.
fn verdicts(journal: &[u8]) -> BTreeSet<Verdict> {
    let lines = journal.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let entries = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let judged = entries.filter(|entry| entry["kind"] == "judged");
    let verdict = |entry: Value| {
        let judgement = &entry["judgement"];
        let judge = judgement["judge"].as_str().unwrap().to_owned();
        (entry["trial"].as_u64().unwrap(), entry["place"].as_u64().unwrap(), judge, judgement["reply"].to_string())
    };
    judged.map(verdict).collect()
}

/// A run that is graded again and again.
struct GradedRun {
    folder: tempfile::TempDir,
    judges: Server,
}

impl GradedRun {
    fn new() -> GradedRun {
        GradedRun { folder: kept(), judges: Server::start(|_| verdict(0.5)) }
    }

    fn journal(&self, number: u32) -> PathBuf {
        run_folder(self.folder.path()).join(format!("grade-{number}.ndjson"))
    }

    /// Grades it, and says how many questions were asked.
    fn grade(&self, why: &str) -> usize {
        let asked = || self.judges.requests().iter().filter(|request| request.body.contains("\"messages\"")).count();
        let before = asked();
        let mut command = eval_job(self.folder.path());
        command.env("OPENAI_BASE_URL", format!("{}/v1", self.judges.address)).env("OPENAI_API_KEY", "sk-hush");
        let output = command.args(["grade", "--scorer-model", PANEL, "--no-cache", "-j", "1"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{why}: {}", words(&output));
        asked() - before
    }

    /// Leaves of all gradings these journals alone.
    fn leave(&self, journals: &[&[u8]]) {
        for entry in fs::read_dir(run_folder(self.folder.path())).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().starts_with("grade-") {
                fs::remove_file(path).unwrap();
            }
        }
        for (number, journal) in (1..).zip(journals) {
            fs::write(self.journal(number), journal).unwrap();
        }
    }

    /// The newest grading's journal.
    fn newest(&self) -> Vec<u8> {
        let last = (1..).take_while(|number| self.journal(*number).exists()).last().unwrap();
        fs::read(self.journal(last)).unwrap()
    }
}

/// Every line's end, and two bytes within each line that are drawn.
fn cuts(journal: &[u8], rng: &mut fastrand::Rng) -> Vec<usize> {
    let (mut cuts, mut start) = (vec![0], 0);
    for line in journal.split_inclusive(|byte| *byte == b'\n') {
        let within = [rng.usize(1..line.len() - 1), rng.usize(1..line.len() - 1)];
        cuts.extend(within.map(|at| start + at).into_iter().chain([start + line.len()]));
        start += line.len();
    }
    cuts
}

#[test]
fn a_grading_that_is_killed_at_any_byte_asks_for_what_is_not_whole_in_its_journal() {
    let run = GradedRun::new();
    assert_eq!(run.grade("at first"), QUESTIONS);
    let whole = run.newest();
    let all = verdicts(&whole);
    assert_eq!(all.len(), QUESTIONS);
    let mut rng = fastrand::Rng::with_seed(5);
    let (mut kept, mut twice) = (BTreeSet::new(), 0);
    for cut in cuts(&whole, &mut rng) {
        let why = format!("killed after {cut} of {} bytes", whole.len());
        let left = verdicts(&whole[..cut]);
        kept.insert(left.len());
        run.leave(&[&whole[..cut]]);
        // One that is whole is over: what it says is asked anew.
        let expected = if cut == whole.len() { QUESTIONS } else { QUESTIONS - left.len() };
        assert_eq!(run.grade(&why), expected, "{why}");
        let again = run.newest();
        assert_eq!(verdicts(&again), all, "{why}");
        // It is killed again, and goes on from both.
        let second = rng.usize(0..again.len());
        let both: BTreeSet<Verdict> = left.union(&verdicts(&again[..second])).cloned().collect();
        if cut < whole.len() && cut > 0 {
            twice += 1;
            run.leave(&[&whole[..cut], &again[..second]]);
            assert_eq!(run.grade(&why), QUESTIONS - both.len(), "{why}, then after {second} of {}", again.len());
            assert_eq!(verdicts(&run.newest()), all, "{why}, then after {second}");
        }
    }
    assert_eq!(kept, (0..=QUESTIONS).collect(), "there were kills after each verdict");
    assert!(twice > 10, "{twice}");
}

#[test]
fn a_grading_with_a_line_that_is_not_as_it_was_written_asks_for_that_one() {
    let run = GradedRun::new();
    run.grade("at first");
    let whole = run.newest();
    let text = String::from_utf8(whole).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("\"runFinished\"")).collect();
    let place = lines.iter().position(|line| line.contains("\"judged\"")).unwrap();
    let mut damaged: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    damaged[place] = damaged[place].replacen("as asked", "as wanted", 1);
    assert_ne!(damaged[place], lines[place], "{}", lines[place]);
    run.leave(&[(damaged.join("\n") + "\n").as_bytes()]);
    assert_eq!(run.grade("a damaged line"), 1, "only what is damaged is asked");
}
