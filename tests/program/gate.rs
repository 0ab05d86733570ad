//! The rules of a gate, each with its figure, and the status that they come to.

use std::fs;

use serde_json::{Value, json};

use super::worth::{CASES, Desk};

/// A desk whose job has this gate.
fn desk(skills: &[(&'static str, f64)], gate: &str, cases: u32) -> Desk {
    let desk = Desk::new(skills);
    desk.write("job.yml", &desk.job(cases).replace("greetings:", &format!("gate: {gate}\ngreetings:")));
    desk
}

fn held(desk: &Desk, flags: &str) -> (i32, String) {
    let (status, told) = desk.typed(&format!("run job.yml --no-progress --rng-seed 5 {flags}"));
    (status, told.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn a_drop_from_the_baseline_fails_the_gate_and_a_night_without_one_passes() {
    let desk = desk(&[("main", 0.6), ("broken", 0.52)], "{baseline: main, minScore: 0.3}", CASES);
    let (status, told) = held(&desk, "--model main --repeat 3");
    assert_eq!(status, 101, "{told}");
    assert!(
        told.contains("job.yml: warning · there is no baseline main in runs yet, so that nothing will show a drop"),
        "{told}"
    );
    assert!(
        told.contains("inconclusive: 0.60, baseline main, maxDrop 0.03: there is no baseline main in runs yet "),
        "{told}"
    );
    assert!(told.contains(" ✓ minScore 0.3: 0.60 ? baseline main, maxDrop 0.03: "), "{told}");

    assert_eq!(desk.typed("baseline set main").0, 0);
    let (status, told) = held(&desk, "--model main --repeat 3 -o run.json");
    assert_eq!(status, 0, "{told}");
    assert!(told.contains("no rule of the gate is broken") && told.contains(" · baseline main ("), "{told}");
    let words = "over 90 pairs of 30 cases: no drop of more than 0.03 is seen; 30 cases can't rule out one of up to 0.";
    assert!(told.contains(words), "{told}");
    let run: Value = serde_json::from_slice(&fs::read(desk.folder.path().join("run.json")).unwrap()).unwrap();
    let check = &run["baseline"];
    assert_eq!((&check["name"], &check["models"][0]["isKept"]), (&json!("main"), &json!(true)), "{check}");

    let (status, told) = held(&desk, "--model broken --repeat 3");
    assert_eq!(status, 100, "{told}");
    assert!(told.contains("gate failed: 0.5"), "{told}");
    assert!(told.contains(" ✕ baseline main (") && told.contains(": shown to drop"), "{told}");
    // It is read again as it was.
    let (status, again) = desk.typed("show");
    assert_eq!(status, 100, "{again}");
    assert!(again.contains("✕ baseline main ("), "{again}");
    // Graded again it is not compared, and what is not known is not passed.
    let (status, again) = desk.typed("grade");
    assert_eq!(status, 101, "{again}");
    assert!(again.contains("inconclusive: 0.5") && !again.contains("no gate"), "{again}");
    assert!(again.contains("it is not compared once more where a run is graded again"), "{again}");
    assert!(again.contains("verdict: gate failed → inconclusive"), "{again}");
    // What is allowed is asked for on the command line, too.
    assert_eq!(held(&desk, "--model broken --repeat 3 --max-drop 0.2").0, 0);
}

#[test]
fn so_few_cases_show_neither_and_the_job_says_what_that_means() {
    for (on, expected) in [("tell", 101), ("pass", 0), ("fail", 100)] {
        let desk = desk(&[("main", 0.6)], &format!("{{baseline: main, onInconclusive: {on}}}"), 3);
        held(&desk, "--model main");
        desk.typed("baseline set main");
        let (status, told) = held(&desk, "--model main");
        assert_eq!(status, expected, "{told}");
        assert!(told.contains("rests on 3 cases: only a large difference can be shown by so few"), "{told}");
        assert!(told.contains("over 3 pairs of 3 cases: too few to tell a drop from chance"), "{told}");
    }
}

#[test]
fn a_baseline_that_was_not_held_alike_is_told_and_shows_nothing() {
    let desk = desk(&[("main", 0.6)], "{baseline: main}", 6);
    held(&desk, "--model main");
    desk.typed("baseline set main");
    let job = fs::read_to_string(desk.folder.path().join("job.yml")).unwrap();
    desk.write("job.yml", &job.replace("gate:", "maxTurns: 7\ngate:"));
    let (status, told) = held(&desk, "--model main");
    assert_eq!(status, 101, "{told}");
    assert!(told.contains("it was not run alike: maxTurns (20 and 7)"), "{told}");
    // Its cases may be called alike: what another job scored is no measure for this one.
    let named = job.lines().filter(|line| !line.starts_with("name:")).collect::<Vec<_>>().join("\n");
    desk.write("job.yml", &format!("name: Another\n{named}\n"));
    let (status, told) = held(&desk, "--model main");
    assert_eq!(status, 101, "{told}");
    assert!(told.contains("it is a run of another job, ") && told.contains("a baseline of its own"), "{told}");
}

#[test]
fn flips_and_slow_replies_and_failed_assertions_break_the_gate() {
    // A reply is worth 0.5 to 0.7 or so: repetitions fall on both sides of 0.6.
    let desk = desk(&[("main", 0.6)], "{minScore: 0.59, maxFlake: 0.0, latencyP95: 60000}", 6);
    let (status, told) = held(&desk, "--model main --repeat 5 --min-score 0.5");
    assert!(told.contains("✓ latencyP95 60000: "), "{told}");
    assert!(status == 100 && told.contains(" of 6 cases flip between repetitions"), "{told}");
    let (status, told) = held(&desk, "--model main");
    assert_eq!(status, 2, "{told}");
    assert!(
        told.contains("gate.maxFlake: no case is repeated, so that none can flip try: repeat: 3, or --repeat 3"),
        "{told}"
    );

    let job = desk.job(6);
    desk.write("job.yml", &job.replace("greetings:", "gate: {maxFlake: 0.5}\ngreetings:"));
    let (status, told) = held(&desk, "--model main --repeat 3");
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("gate.maxFlake: nothing says which conversation passes, so that none can flip"), "{told}");
    desk.write("job.yml", &job.replace("greetings:", "gate: {latencyP95: 0.0001}\ngreetings:"));
    let (status, told) = held(&desk, "--model main");
    assert!(status == 100 && told.contains(", latencyP95 0.0001: "), "{told}");

    // Of one reply nobody can tell how long 95 of 100 take.
    let one = desk.job(1);
    desk.write("job.yml", &one.replace("greetings:", "gate: {latencyP95: 0.0001}\ngreetings:"));
    let (status, told) = held(&desk, "--model main");
    assert!(status == 101 && told.contains("so few replies don't show that more than 5 of 100 take longer"), "{told}");

    // Each case passes where it reaches the least score: a bar over its repetitions.
    for (rate, expected, words) in [
        (0.0, 0, "minPassRate 0: none of 6 cases passes less often"),
        (1.0, 100, "minPassRate 1: 6 of 6 cases pass less often (c0, c1, c2 and 3 more)"),
    ] {
        let gate = format!(
            "gate: {{minPassRate: {rate}}}\nassertions: [{{name: high, expression: 'parse_float(evaluation.transcript[1].content) > 5'}}]\ngreetings:"
        );
        desk.write("job.yml", &job.replace("greetings:", &gate).replace("metrics: [", "metrics: [assertions, "));
        let (status, told) = held(&desk, "--model main --repeat 2");
        assert!(status == expected && told.contains(words), "{told}");
    }
    desk.write("job.yml", &job.replace("greetings:", "gate: {minPassRate: 0.5}\ngreetings:"));
    let (status, told) = held(&desk, "--model main");
    assert!(status == 2 && told.contains("gate.minPassRate: nothing says which conversation passes"), "{told}");

    let assertions = "gate: {assertions: all}\nassertions: [{name: high, expression: 'parse_float(evaluation.transcript[1].content) > 0.6'}]\ngreetings:";
    desk.write("job.yml", &job.replace("greetings:", assertions).replace("metrics: [", "metrics: [assertions, "));
    let (status, told) = held(&desk, "--model main");
    assert!(status == 100 && told.contains(", assertions all: 6 failed in 6 conversations"), "{told}");
    desk.write("job.yml", &job.replace("greetings:", "gate: {assertions: all, maxDrop: 0.1}\ngreetings:"));
    let (status, told) = held(&desk, "--model main");
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("gate.assertions: the job has no assertions"), "{told}");
    assert!(told.contains("gate.maxDrop: no baseline is named that the score could drop from"), "{told}");
}
