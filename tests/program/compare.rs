//! Runs and models beside each other: `compare`, and what `run --model` ends in.

use serde_json::json;

use super::readme;
use super::worth::Desk;

#[test]
fn a_planted_regression_of_five_hundredths_is_found_and_a_night_without_one_is_not() {
    let desk = Desk::new(&[("main", 0.6), ("broken", 0.55)]);
    let baseline = desk.night("--model main --repeat 3");
    assert_eq!(desk.typed(&format!("baseline set main {baseline}")).0, 0);
    for _ in 0..4 {
        let night = desk.night("--model main --repeat 3");
        let (status, found) = desk.compared(&format!("main {night}"));
        let score = &found["comparisons"][0]["scores"][0];
        assert!(["same", "inconclusive"].contains(&score["relation"].as_str().unwrap()), "{score:#}");
        assert!(score["difference"].as_f64().unwrap().abs() < 0.02 && (status == 0 || status == 101), "{score:#}");
        // What is drawn is drawn by the seed that was asked for, and the document says which.
        let drawn = |seed: u32| {
            let (_, found) = desk.compared(&format!("main {night} --rng-seed {seed}"));
            assert_eq!(found["rngSeed"], seed);
            found["comparisons"][0]["scores"][0]["signFlipP"].as_f64().unwrap()
        };
        assert_eq!(drawn(0), score["signFlipP"].as_f64().unwrap());
        assert!((1..=3).any(|seed| drawn(seed) != drawn(0)));
        assert_eq!(found["methods"]["adjustedP"], "Holm");
    }
    let night = desk.night("--model broken --repeat 3");
    let (status, found) = desk.compared(&format!("main {night}"));
    let score = &found["comparisons"][0]["scores"][0];
    assert_eq!((status, &score["relation"]), (100, &json!("worse")), "{score:#}");
    let interval = &score["interval"];
    let [low, high] = ["low", "high"].map(|end| interval[end].as_f64().unwrap());
    assert!(low < -0.05 && -0.05 < high && high < 0.0, "{interval}");
    assert_eq!((&score["pairs"], &score["cases"], &score["over"]), (&json!(90), &json!(30), &json!("cases")));

    let (status, page) = desk.typed(&format!("compare main {night}"));
    assert_eq!(status, 100);
    // The screen of the docs.
    let shown = &readme::blocks(&readme::page("docs/compare.md"), "text")[0];
    assert_eq!(page, shown.replace("ymzb5t", &night).replace("bujfy5", &baseline));
}

#[test]
fn where_the_conversations_of_two_models_part_is_told_pair_by_pair() {
    let desk = Desk::new(&[("old", 0.6), ("new", 0.7)]);
    desk.write("job.yml", &desk.job(3));
    let run = desk.night("--model old,new --repeat 2");
    let (_, found) = desk.compared(&run);
    let divergence = &found["comparisons"][0]["divergence"];
    let pairs = divergence["pairs"].as_array().unwrap();
    assert_eq!(
        (pairs.len(), &divergence["byAgent"], &divergence["byUser"]),
        (6, &json!(6), &json!(0)),
        "{divergence:#}"
    );
    assert_eq!(pairs[0], json!({"case": "c0", "condition": "withoutFacts", "repeat": 1, "turn": 1, "by": "agent"}));
    let (_, page) = desk.typed(&format!("compare -v {run}"));
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        page.contains("The conversations of 6 pairs part at turn 1 (median): 6 at the agent's reply, 0 at"),
        "{page}"
    );
    let (_, page) = desk.typed(&format!("compare {run}"));
    assert!(!page.contains("part at"), "{page}");
    let (_, page) = desk.typed(&format!("show -v {run}"));
    let parted = page.matches("parts from the conversation with old at turn 1, with the agent's reply").count();
    assert_eq!(parted, 6, "{page}");
    let (_, record) = desk.typed(&format!("show --json {run}"));
    assert!(record.contains("\"mean\": \"Student's t over the means of the cases"), "{record}");
}

#[test]
fn the_models_of_a_run_are_compared_when_it_ends_and_later() {
    let desk = Desk::new(&[("old", 0.6), ("new", 0.7), ("other", 0.605)]);
    let (status, page) = desk.typed("run job.yml --no-progress --model old,new,other --repeat 3");
    assert_eq!(status, 0, "{page}");
    assert!(page.contains("\nnew is better than old: +0."), "{page}");
    assert!(
        page.contains("\nother beside old is inconclusive: ") || page.contains("\nother is the same as old: "),
        "{page}"
    );
    let (status, found) = desk.compared("");
    assert!(status == 0 || status == 101, "{status}");
    assert_eq!(found["relations"][0], "better");
    assert_eq!(found["comparisons"].as_array().unwrap().len(), 2);
}

#[test]
fn of_one_case_only_that_case_is_spoken_of_and_what_would_decide_is_said() {
    let desk = Desk::new(&[("old", 0.6), ("new", 0.61)]);
    desk.write("job.yml", &desk.job(1));
    let run = desk.night("--model old,new --repeat 5");
    let (status, page) = desk.typed(&format!("compare {run}"));
    assert_eq!(status, 101, "{page}");
    assert!(page.contains("over the repetitions of this case only"), "{page}");
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = [
        " repetitions of these would decide it, if the difference is as it is seen here.",
        "for a suite of practical size to decide it: more than 1000 further repetitions of this case would be needed.",
    ];
    assert!(said.iter().any(|said| words.contains(said)), "{page}");
    assert!(page.contains("; with 5 pairs it can't be below 0.062") || page.contains("By the flip of signs"), "{page}");
}

#[test]
fn runs_that_say_nothing_of_each_other_are_refused_with_the_reason() {
    let desk = Desk::new(&[("main", 0.6)]);
    desk.write("job.yml", &desk.job(3));
    let first = desk.night("--model main");
    let refused = |line: &str, told: &str| {
        let (status, words) = desk.typed(line);
        assert_eq!(status, 2, "{words}");
        assert!(words.contains(told), "{words}");
    };
    refused(
        &format!("compare {first}"),
        "has one model, main: there is nothing to compare it with\n  try: name a second run",
    );
    refused(&format!("compare {first} {first}"), " are the same run\n  try: ");
    refused(&format!("compare {first} nothing"), "there is no run `nothing` in runs");
    refused("compare --min-effect 0", "a difference of scores is a number above 0, up to 1");

    desk.write(
        "job.yml",
        &desk.job(3).replace("metrics:", "maxTurns: 7\nweights: {rhai: 3}\nmetrics:").replace("'2'", "'1'"),
    );
    let other = desk.night("--model main");
    refused(
        &format!("compare {first} {other}"),
        &format!(
            "error: runs {first} and {other} were not run alike, so that their scores say nothing of each other\n  weights.rhai: "
        ),
    );
    refused(
        &format!("compare {first} {other}"),
        "\n  maxTurns: 20 and 7\n  case c2 (script): one text and another\n  try: hold both",
    );
    // Where it is, what passes and how it is called may differ, and more cases may be there.
    desk.write("job.yml", &desk.job(5).replace("name: Worth", "name: Other\ngate: {minScore: 0.1}\ntags: [nightly]"));
    let more = desk.night("--model main");
    let (status, page) = desk.typed(&format!("compare {first} {more}"));
    assert!(status == 0 || status == 101, "{page}");
    assert!(page.contains("Not compared: 2 cases of the second side only: c3, c4."), "{page}");
    desk.write("job.yml", &desk.job(3).replace("id: c", "id: d"));
    let apart = desk.night("--model main");
    refused(&format!("compare {first} {apart}"), "(Worth) have no case in common\n  try: ");
}

#[test]
fn what_an_agent_or_a_job_is_called_is_no_escape() {
    let desk = Desk::new(&[]);
    desk.write("job.yml", &desk.job(3));
    let run = desk.night("--model a\u{1b}[31mb,c");
    let (_, page) = desk.typed(&format!("compare {run}"));
    assert!(!page.contains('\u{1b}'), "{page:?}");
}

#[test]
fn the_docs_show_what_a_run_prints_of_its_numbers() {
    let desk = Desk::new(&[("main", 0.7)]);
    let job = desk.job(12).replace("greetings:", "facts: [The desk is open]\ngate: {minScore: 0.6}\ngreetings:");
    desk.write("job.yml", &job);
    let (_, page) = desk.typed("run job.yml --no-progress --model main --repeat 3 --rng-seed 5 -j 1");
    let carried: Vec<&str> = page
        .lines()
        .skip_while(|line| !line.starts_with("What the numbers carry"))
        .take_while(|line| !line.is_empty())
        .collect();
    let shown = readme::blocks(&readme::page("docs/scores.md"), "text");
    assert!(shown.iter().any(|block| block.trim_end() == carried.join("\n")), "{}", carried.join("\n"));
}
