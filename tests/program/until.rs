//! Runs that add repetitions until their models are told apart.

use serde_json::Value;

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
        "two cases tell no models apart, however often they are held",
    );
}
