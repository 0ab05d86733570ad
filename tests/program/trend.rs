//! A job night by night: `trend`, beside the gate.

use std::fs;

use serde_json::{Value, json};

use super::readme::{blocks, page as readme_page};
use super::worth::{CASES, Desk};

/// Holds the job once more; returns the status.
fn night(desk: &Desk, number: u32, flags: &str) -> i32 {
    let (status, told) =
        desk.typed(format!("run job.yml --no-progress --model main --rng-seed {number} {flags}").trim_end());
    assert!([0, 100, 101].contains(&status), "{told}");
    status
}

fn trend(desk: &Desk, flags: &str) -> Value {
    let (status, told) = desk.typed(format!("trend Worth --json {flags}").trim_end());
    assert_eq!(status, 0, "{told}");
    serde_json::from_str(&told).unwrap()
}

#[test]
fn a_planted_regression_is_found_by_gate_and_trend_and_nights_without_one_are_not() {
    const BEFORE: u32 = 12;
    const SINCE: u32 = 6;
    let desk = Desk::new(&[("main", 0.6)]);
    desk.write("job.yml", &desk.job(CASES).replace("greetings:", "gate: {baseline: main, maxDrop: 0.03}\ngreetings:"));
    night(&desk, 0, "--repeat 2");
    assert_eq!(desk.typed("baseline set main").0, 0);
    for number in 1..BEFORE {
        assert_ne!(night(&desk, number, "--repeat 2"), 100, "night {number}");
    }
    let quiet = trend(&desk, "");
    assert_eq!(quiet["series"][0]["changes"], json!([]), "{quiet:#}");
    assert_eq!((&quiet["series"][0]["tooFew"], &quiet["series"][0]["cases"]), (&json!(false), &json!(CASES)));
    let (_, page) = desk.typed("trend job.yml --last 3");
    assert!(page.starts_with("Worth: 12 nights, the newest 3 are shown\n"), "{page}");
    assert!(page.contains("\nno change is shown: 12 nights, 30 cases\n"), "{page}");

    assert!(quiet["methods"]["score"].as_str().unwrap().starts_with("Student's t"), "{quiet:#}");
    let (_, page) = desk.typed("show");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        page.contains("; run 11 beside this baseline: up to 4 of 100 baselines have raised a false alarm by then"),
        "{page}"
    );

    desk.becomes("main", 0.55);
    let failed = (BEFORE..BEFORE + SINCE).filter(|number| night(&desk, *number, "--repeat 2") == 100).count();
    assert!(failed >= 5, "the gate failed {failed} times");
    let found = trend(&desk, "");
    let change = &found["series"][0]["changes"][0];
    let since = found["nights"].as_array().unwrap().iter().position(|night| night["run"] == change["since"]);
    assert!(since.unwrap().abs_diff(BEFORE as usize) <= 1, "{found:#}");
    let [low, high] = ["low", "high"].map(|end| change["interval"][end].as_f64().unwrap());
    assert!(low < -0.04 && high < -0.02, "{change}");
    let (status, page) = desk.typed("trend");
    assert_eq!(status, 0);
    assert!(page.contains(&format!("({}): 0.", change["since"].as_str().unwrap())), "{page}");
    assert!(page.contains("too few nights to say since then:"), "{page}");
    // docs/nightly.md shows what is printed.
    let shown = blocks(&readme_page("docs/nightly.md"), "text").remove(0);
    let [shown, printed] =
        [&shown, &page].map(|text| masked(text.lines().find(|line| line.starts_with("since ")).unwrap()));
    assert_eq!(shown, printed);
}

/// A line with its digits and the id in it made alike.
fn masked(line: &str) -> String {
    let digits: String = line.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    match digits.split_once(" (").zip(digits.split_once("): ")) {
        Some(((before, _), (_, after))) => format!("{before} (ID): {after}"),
        None => digits,
    }
}

#[test]
fn other_rules_are_a_break_and_flips_have_a_source() {
    let desk = Desk::new(&[("main", 0.6), ("other", 0.6)]);
    // A reply is worth 0.5 to 0.7 or so: conversations fall on both sides of the bar.
    let job = desk.job(4).replace("greetings:", "gate: {minScore: 0.42}\ngreetings:");
    desk.write("job.yml", &job);
    for number in 0..3 {
        night(&desk, number, "--repeat 3");
    }
    let flipping = trend(&desk, "");
    let flakes = flipping["flakes"].as_array().unwrap();
    assert!(!flakes.is_empty(), "{flipping:#}");
    assert_eq!(flakes[0]["suspected"][0]["source"], "agent", "{flipping:#}");
    assert!(flakes[0]["passed"].as_u64().unwrap() < flakes[0]["of"].as_u64().unwrap(), "{flipping:#}");

    desk.write("job.yml", &job.replace("greetings:", "maxTurns: 7\ngreetings:"));
    night(&desk, 3, "--repeat 3");
    let (_, page) = desk.typed("trend Worth");
    assert!(page.contains("run otherwise from here on: maxTurns (20 and 7)\n"), "{page}");
    assert!(page.contains("too few nights to say: 1 night, 4 cases; "), "{page}");
    let found = trend(&desk, "--case c1");
    assert_eq!(found["nights"][3]["differs"], json!([{"what": "maxTurns", "first": "20", "second": "7"}]));
    assert_eq!(found["series"][1]["cases"], 1, "{found:#}");
    assert!(found["flakes"].as_array().unwrap().iter().all(|flake| flake["case"] == "c1"), "{found:#}");
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let desk = Desk::new(&[("main", 0.6)]);
    desk.write("job.yml", &desk.job(2));
    let refused = |line: &str, told: &str| {
        let (status, words) = desk.typed(line);
        assert!(status == 2 && words.contains(told), "{words}");
    };
    refused("trend Worth", "there are no runs in runs yet");
    night(&desk, 0, "");
    refused("trend Wurth", "no run in runs is of the job `Wurth`\n  try: one of Worth\n");
    refused("trend --model other", "no run of Worth has the model `other`\n  try: one of main\n");
    refused("trend --case nothing", "no run of Worth has the case `nothing`\n  try: one of c0, c1\n");
    refused("trend --since 2999-01-01", "started on or after 2999-01-01");
    refused("trend --since yesterday", "a day is written 2026-11-25");
    refused("trend --last 0", "a whole number from 1 to");
    // A run that was kept by an earlier version, without passes, is read once more; one that can't be read is told and left out.
    let folder = fs::read_dir(desk.folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(folder.join("summary.json")).unwrap();
    assert_eq!(trend(&desk, "")["nights"].as_array().unwrap().len(), 1);
}
