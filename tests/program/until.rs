//! Runs that add repetitions until their models are told apart.

use serde_json::{Value, json};

use super::worth::Desk;

/// The run's record, read back.
fn record(desk: &Desk) -> Value {
    let (status, told) = desk.typed("show -o shown.json");
    assert!(status == 0 || status == 101, "{told}");
    serde_json::from_str(&std::fs::read_to_string(desk.folder.path().join("shown.json")).unwrap()).unwrap()
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn models_that_differ_are_told_apart_after_a_few_repetitions_and_no_more_are_held() {
    let desk = Desk::new(&[("old", 0.6), ("new", 0.72)]);
    desk.write("job.yml", &desk.job(8));
    let (status, page) = desk.typed("run job.yml --no-progress --rng-seed 5 --model old,new --until decided");
    assert_eq!(status, 0, "{page}");
    let page = flat(&page);
    assert!(page.contains("new is better than old: +0."), "{page}");
    assert!(page.starts_with("passed: until decided: after "), "{page}");
    assert!(page.contains("all looks together err in at most 5 of 100 runs"), "{page}");
    let record = record(&desk);
    let ended = &record["repeatsEnded"];
    let repeats = ended["repeats"].as_u64().unwrap();
    assert_eq!(ended["decision"], "decided", "{ended}");
    assert!(repeats < 10, "{ended}");
    // The record says where each conversation and that of the first model part.
    let of =
        |model: &str| record["trials"].as_array().unwrap().iter().find(|it| it["trial"]["model"] == model).unwrap();
    assert_eq!(of("new")["divergence"], json!({"from": "old", "turn": 1, "by": "agent"}));
    assert!(of("old").get("divergence").is_none());
    // What was planned beyond is none of the run, and is not missed.
    assert_eq!(record["trials"].as_array().unwrap().len() as u64, 8 * 2 * repeats);
    assert_eq!(record["provenance"]["until"]["looks"].as_array().unwrap().last().unwrap(), 20);

    // The same again, by the same rules.
    let (status, found) = desk.compared("");
    assert_eq!((status, &found["relations"][0]), (0, &Value::from("better")), "{found:#}");
    assert!((found["alpha"].as_f64().unwrap() - 0.05 / 8.0).abs() < 1e-9, "{found:#}");
    let (_, page) = desk.typed("compare");
    assert!(page.contains("99.4 % interval"), "{page}");
    // It has ended: there is nothing to go on with.
    let (_, told) = desk.typed("run job.yml --no-progress --rng-seed 5 --model old,new --until decided --resume");
    assert!(told.contains("nothing to resume"), "{told}");
}

#[test]
fn what_stays_open_ends_at_the_most_repetitions_or_where_only_more_cases_would_help() {
    // Three cases that differ a lot from each other: repetitions change nothing about that.
    let desk = Desk::new(&[("old", 0.6), ("new", 0.61)]);
    desk.write("job.yml", &desk.job(3));
    let line = "run job.yml --no-progress --rng-seed 5 --model old,new --until decided --max-repeats 4";
    let (status, page) = desk.typed(line);
    assert_eq!(status, 101, "{page}");
    let page = flat(&page);
    assert!(page.starts_with("inconclusive: until decided: open after "), "{page}");
    let ended = record(&desk)["repeatsEnded"].clone();
    assert!(["mostHeld", "moreCasesNeeded"].contains(&ended["decision"].as_str().unwrap()), "{ended}");
    // A run says itself what that means.
    let job = desk.job(3).replace("greetings:", "gate: {onInconclusive: pass}\ngreetings:");
    desk.write("job.yml", &job);
    let (status, page) = desk.typed(line);
    assert_eq!(status, 0, "{page}");
}

#[test]
fn a_run_that_was_cut_off_goes_on_and_decides_as_if_it_had_not_been() {
    let desk = Desk::new(&[("old", 0.6), ("new", 0.66)]);
    desk.write("job.yml", &desk.job(6));
    let line = "run job.yml --no-progress --rng-seed 5 --model old,new --until decided --max-repeats 6";
    let (status, page) = desk.typed(line);
    assert!(status == 0 || status == 101, "{page}");
    let whole = record(&desk);
    // The journal as a kill would have left it: in the midst of the first repetition.
    let runs = desk.folder.path().join("runs");
    let folder = std::fs::read_dir(&runs).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        path.join("journal.ndjson").is_file().then_some(path)
    });
    let journal = folder.unwrap().join("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines.iter().position(|line| line.contains("trialFinished")).unwrap() + 4;
    std::fs::write(&journal, lines[..cut].join("\n") + "\n").unwrap();
    std::fs::remove_file(journal.with_file_name("summary.json")).unwrap();
    let (again, page) = desk.typed(&format!("{line} --resume"));
    assert_eq!(again, status, "{page}");
    let resumed = record(&desk);
    assert_eq!(resumed["provenance"]["until"], whole["provenance"]["until"]);
    let repeats = resumed["repeatsEnded"]["repeats"].as_u64().unwrap();
    assert_eq!(resumed["trials"].as_array().unwrap().len() as u64, 6 * 2 * repeats);
}

/// A run of models that are hard to tell apart, with the journal's lines, which a test cuts.
struct Kept {
    desk: Desk,
    journal: std::path::PathBuf,
    lines: Vec<String>,
}

/// An entry as the line of this number.
fn numbered(mut entry: Value, number: usize) -> String {
    let fields = entry.as_object_mut().unwrap();
    fields.remove("n");
    fields.remove("crc");
    let text = entry.to_string();
    let crc = !text.bytes().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 })
    });
    format!("{},\"n\":{number},\"crc\":\"{crc:08x}\"}}", &text[..text.len() - 1])
}

const HARD: &str = "run job.yml --no-progress --rng-seed 5 --model old,new --until decided --max-repeats 10";

impl Kept {
    fn new() -> Kept {
        let desk = Desk::new(&[("old", 0.6), ("new", 0.61)]);
        desk.write("job.yml", &desk.job(6).replace("greetings:", "gate: {minScore: 0.1}\ngreetings:"));
        let (status, page) = desk.typed(HARD);
        assert!(status == 0 || status == 101, "{page}");
        let runs = std::fs::read_dir(desk.folder.path().join("runs")).unwrap();
        let journal = runs.map(|entry| entry.unwrap().path().join("journal.ndjson")).find(|it| it.is_file()).unwrap();
        let lines = std::fs::read_to_string(&journal).unwrap().lines().map(str::to_owned).collect();
        Kept { desk, journal, lines }
    }

    /// The journal as it is left now.
    fn leave(&self, lines: &[String]) {
        std::fs::write(&self.journal, lines.join("\n") + "\n").unwrap();
        let _ = std::fs::remove_file(self.journal.with_file_name("summary.json"));
    }

    /// The journal as a kill leaves it: right after so many conversations have ended, and a few lines of the next one.
    fn cut_after(&self, conversations: usize) {
        let ends = self.lines.iter().enumerate().filter(|(_, line)| line.contains("trialFinished"));
        let end = ends.map(|(place, _)| place).nth(conversations - 1).unwrap();
        self.leave(&self.lines[..end + 4]);
    }
}

#[test]
fn a_run_that_was_cut_off_in_a_later_repetition_is_not_looked_at_before_that_repetition_is_whole() {
    let kept = Kept::new();
    let whole = record(&kept.desk);
    assert!(whole["repeatsEnded"]["repeats"].as_u64().unwrap() > 3, "{}", whole["repeatsEnded"]);
    // Twelve conversations a repetition: the third one is cut off after four.
    kept.cut_after(28);
    let (_, page) = kept.desk.typed("show");
    assert!(flat(&page).contains("until decided: cut off after 2 whole repetitions, of 10 at most"), "{page}");
    assert!(page.contains("was cut off before its end; eval-job run --resume"), "{page}");
    assert!(kept.desk.typed("list").1.contains("  cut off "), "{}", kept.desk.typed("list").1);
    {
        // As the process that writes it holds it.
        let open = std::fs::OpenOptions::new().append(true).open(&kept.journal).unwrap();
        open.lock().unwrap();
        assert!(kept.desk.typed("list").1.contains("  goes on "), "{}", kept.desk.typed("list").1);
        assert!(kept.desk.typed("show").1.contains("goes on in another process"));
    }
    let (status, page) = kept.desk.typed(&format!("{HARD} --resume"));
    assert!(status == 0 || status == 101, "{page}");
    let resumed = record(&kept.desk);
    let repeats = resumed["repeatsEnded"]["repeats"].as_u64().unwrap();
    assert!(repeats >= 3, "{}", resumed["repeatsEnded"]);
    let trials = resumed["trials"].as_array().unwrap();
    assert_eq!(trials.len() as u64, 12 * repeats);
    assert!(trials.iter().all(|trial| trial["outcome"].is_object()), "each is held to its end");
    let journal = std::fs::read_to_string(&kept.journal).unwrap();
    assert_eq!(journal.matches("repeatsEnded").count(), 1, "the looks before are not taken again");
}

#[test]
fn a_run_whose_earlier_version_ended_it_too_soon_is_mended_by_resuming_it() {
    let kept = Kept::new();
    kept.cut_after(28);
    let cut = std::fs::read_to_string(&kept.journal).unwrap();
    let resumed = |at: &str| {
        [
            json!({"kind": "runResumed", "at": at, "toolVersion": "0.1.0"}),
            json!({"kind": "repeatsEnded", "at": at, "ended": {"repeats": 1, "decision": "decided"}}),
            json!({"kind": "runFinished", "at": at, "interrupted": false}),
        ]
    };
    let lines: Vec<String> = cut.lines().map(str::to_owned).collect();
    let ended = (lines.len() + 1..).zip(resumed("2026-11-20T10:00:00Z")).map(|(number, it)| numbered(it, number));
    let ended: Vec<String> = ended.collect();
    kept.leave(&[lines, ended].concat());
    let (status, page) = kept.desk.typed(&format!("{HARD} --resume"));
    assert!(status == 0 || status == 101, "{page}");
    assert!(record(&kept.desk)["repeatsEnded"]["repeats"].as_u64().unwrap() >= 3);
}

#[test]
fn broken_conversations_of_any_repetition_are_held_again_and_the_repetitions_stay() {
    let kept = Kept::new();
    let before = record(&kept.desk)["repeatsEnded"]["repeats"].as_u64().unwrap();
    // One of the second repetition and one of the last broke.
    let ends: Vec<usize> = (0..kept.lines.len()).filter(|at| kept.lines[*at].contains("trialFinished")).collect();
    let mut lines = kept.lines.clone();
    for at in [ends[13], ends[ends.len() - 1]] {
        let mut entry: Value = serde_json::from_str(&lines[at]).unwrap();
        entry["outcome"] = json!({"kind": "broken", "error": "the network was gone"});
        entry.as_object_mut().unwrap().remove("scorecard");
        lines[at] = numbered(entry, at + 1);
    }
    kept.leave(&lines);
    let (status, page) = kept.desk.typed("show");
    assert_eq!(status, 102, "{page}");
    let (status, page) = kept.desk.typed(&format!("{HARD} --retry-errors"));
    assert!(status == 0 || status == 101, "{page}");
    assert!(page.contains("2 run again"), "{page}");
    let retried = record(&kept.desk);
    assert!(retried["repeatsEnded"]["repeats"].as_u64().unwrap() >= before, "{}", retried["repeatsEnded"]);
    assert!(
        retried["trials"]
            .as_array()
            .unwrap()
            .iter()
            .all(|trial| trial["outcome"] == "graded" || trial["outcome"]["kind"] == "graded")
    );
}

#[test]
fn a_run_goes_on_by_the_rules_that_it_began_with() {
    let desk = Desk::new(&[("old", 0.6), ("new", 0.62)]);
    desk.write("job.yml", &desk.job(4));
    let line =
        "run job.yml --no-progress --rng-seed 5 --model old,new --until decided --max-repeats 3 --min-effect 0.5";
    let (status, page) = desk.typed(line);
    assert!(status == 0 || status == 101, "{page}");
    let id = record(&desk)["id"].as_str().unwrap().to_owned();
    for (changed, told) in [
        (
            line.replace(" --min-effect 0.5", ""),
            "--min-effect 0.5 then, decided, with --max-repeats 3 --min-effect 0.02 now",
        ),
        (
            line.replace("--until decided --max-repeats 3 --min-effect 0.5", "--repeat 3"),
            "--min-effect 0.5 then, nothing now",
        ),
    ] {
        let (status, words) = desk.typed(&format!("{changed} --resume {id}"));
        assert_eq!(status, 2, "{words}");
        assert!(flat(&words).contains(told), "{words}");
    }
}

#[test]
fn where_nothing_varies_no_repetition_is_paid_that_would_show_nothing() {
    let desk = Desk::new(&[]);
    // Each model's reply is always the same: more repetitions are no more of anything.
    let job =
        desk.job(4).replace("rhai: parse_float(reply)", "rhai: 'if parse_float(reply) < 2.0 { 0.5 } else { 1.0 }'");
    desk.write("job.yml", &job);
    let (status, page) = desk.typed("run job.yml --no-progress --rng-seed 5 --model a,b --until decided");
    assert_eq!(status, 101, "{page}");
    assert_eq!(record(&desk)["repeatsEnded"], serde_json::json!({"repeats": 3, "decision": "moreCasesNeeded"}));
}

#[test]
fn what_can_not_be_decided_is_refused_before_anybody_is_asked() {
    let desk = Desk::new(&[("old", 0.6)]);
    let refused = |line: &str, told: &str| {
        let (status, words) = desk.typed(line);
        assert_eq!(status, 2, "{words}");
        assert!(flat(&words).contains(told), "{words}");
    };
    refused("run job.yml --model old --until decided", "--until decided compares models, and there is one");
    refused("run job.yml --model old,new --until decided --repeat 3", "--repeat");
    refused("run job.yml --model old,new --until decided --partition 1/2", "--partition");
    refused("run job.yml --model old,new --until tomorrow", "decided");
    refused("run job.yml --model old,new --until decided --max-repeats 0", "--max-repeats");
    refused("run job.yml --model old,new --max-repeats 5", "--until");
    desk.write("job.yml", &desk.job(1));
    refused("run job.yml --model old,new --until decided --max-repeats 1", "a single case that is held once");
    desk.write("job.yml", &desk.job(2));
    refused(
        "run job.yml --model old,new --until decided",
        "two cases tell no models apart, however often they are run",
    );
}
