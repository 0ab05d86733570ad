use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::compare::RunRules;
use crate::record::{Provenance, RunSummary};
use crate::trend::{Nights, Sources, TrendScope};

fn night(number: usize, verdict: &str, model: &str, score: f64) -> RunSummary {
    let figure = json!({"kind": "scored", "score": score, "why": ""});
    let at = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(number as i64);
    let case = |case: &str, passed: u32| {
        json!({"case": case, "figure": figure, "conditions": [{
            "condition": "withoutFacts", "n": 2, "missing": 0, "decided": 2, "passed": passed, "figure": figure}]})
    };
    serde_json::from_value(json!({
        "version": 2, "id": format!("id{number}"), "startedAt": at, "finishedAt": at, "interrupted": false,
        "provenance": {"job": "Order desk", "models": [model]}, "verdict": verdict, "cost": 0.314,
        "figures": [{"model": model, "figure": figure, "cases": [case("a case that is good", 2), case("another", number as u32 % 2)]}],
    }))
    .unwrap()
}

/// Fourteen nights, then eight that are lower, one without its figures among them; the last two are run otherwise.
fn nights(model: &str) -> Nights {
    let mut nights = Nights::new(TrendScope::default());
    for number in 0..24 {
        let level = if number < 14 { 0.86 } else { 0.79 };
        let verdict = if number == 5 { "incomplete" } else { "passed" };
        let temperature = if number < 22 { 0.0 } else { 0.7 };
        let job = json!({"scorer": {"temperature": temperature}, "cases": []});
        nights.take(
            &night(number, verdict, model, level + (number % 3) as f64 / 1000.0),
            RunRules::new(&Provenance::default(), Some(&job)),
        );
    }
    nights
}

fn page(nights: &Nights, last: usize, width: usize) -> String {
    let screen = Screen { ink: Ink::None, width, is_unfolded: false };
    trend(&nights.trend("Order desk".to_owned(), last, &Sources::default()), screen, false)
}

#[test]
fn no_line_is_wider_than_the_screen() {
    for model in ["gpt-4.1-mini", &"提醒".repeat(60), "x\u{1b}[31m"] {
        for width in [60, 80, 140] {
            for last in [1, 5, 100] {
                let page = page(&nights(model), last, width);
                assert!(page.lines().all(|line| line.width() <= width) && !page.contains('\u{1b}'), "{width}:\n{page}");
            }
        }
    }
}

#[test]
fn findings_are_sentences() {
    let page = page(&nights("m"), 24, 100);
    for line in [
        "Order desk: 24 nights\n",
        "\nm ",
        "1970-01-06 03:00 id5",
        "incomplete, not used\n",
        "run otherwise from here on: scorer.temperature (0.0 and 0.7)\n",
        "since 1970-01-15 (id14): 0.86 → 0.79, −0.070 (",
        " 13 nights before and 8 since\n",
        "too few nights to say: 2 nights, 2 cases; with 10 a change can show at the earliest\n",
    ] {
        let line = line.replace("03:00", "00:00");
        assert!(page.contains(&line), "{line}\n{page}");
    }
    assert!(!page.contains("95 % interval") && page.contains("$0.31"), "{page}");
}

#[test]
fn a_case_that_flips_has_a_row() {
    let mut nights = Nights::new(TrendScope::default());
    for number in 0..4 {
        nights.take(&night(number, "passed", "m", 0.5), RunRules::default());
    }
    let page = page(&nights, 4, 80);
    assert!(page.contains("cases that flip  passes  flips       since  suspected\n"), "{page}");
    assert!(page.contains("another             2/8      2  1970-01-02          –\n"), "{page}");
}

#[test]
fn what_differs_is_told_whole_where_the_table_has_no_room_for_it() {
    let page = page(&nights("m"), 24, 50);
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let below = "run otherwise from id22 on: scorer.temperature (0.0 and 0.7)";
    assert!(page.contains("run otherwise from here on (see below)\n") && words.contains(below), "{page}");
}
