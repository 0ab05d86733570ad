//! The yardstick of the embedded graph: every scenario of the openCypher TCK, run through the same door as an agent's
//! statements, bridges and all.
//!
//! `scripts/tck` fetches the TCK. `differences.txt` lists each scenario that does not pass, with the reason; a scenario
//! that changes its mind fails the test, in either direction. `EVAL_JOB_TEST_BLESS=1` writes the list anew and keeps the
//! reasons.

#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod differences;
mod feature;
mod literal;
mod run;

use std::path::{Path, PathBuf};

use super::house::{files, root};
use differences::{Class, Difference};
use eval_job::graph::embedded::certain_problem;
use feature::Scenario;
use run::Outcome;

/// Whose text must tell the measured figure.
const TELLS_THE_FIGURE: [&str; 2] = ["docs/graph.md", "tests/tck/README.md"];

/// The version that `scripts/tck` fetches has as many, each example of an outline counted.
const SCENARIOS: usize = 3897;

/// Where the TCK is; on CI it must be there.
fn folder() -> Option<PathBuf> {
    let folder = root().join("target/tck/1.0.0-M23");
    if folder.is_dir() {
        return Some(folder);
    }
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "the openCypher TCK is missing: run scripts/tck");
    eprintln!("SKIPPED: the openCypher TCK is not in {}. Run scripts/tck.", folder.display());
    None
}

#[test]
fn the_embedded_graph_passes_the_opencypher_tck_but_for_the_listed_differences() {
    let Some(folder) = folder() else { return };
    let scenarios: Vec<Scenario> =
        files(&folder.join("features"), "feature").iter().flat_map(|path| feature::read(path)).collect();
    assert_eq!(scenarios.len(), SCENARIOS);
    let outcomes = run_all(&scenarios, &folder.join("graphs"));
    let count = |counted: &Outcome| outcomes.iter().filter(|outcome| *outcome == counted).count();
    let applicable = scenarios.len() - count(&Outcome::NotApplicable);
    let figure = figure(count(&Outcome::Passed), applicable);

    let found: Vec<Difference> = scenarios.iter().zip(&outcomes).filter_map(Difference::of).collect();
    let wrong: Vec<&Difference> = found.iter().filter(|difference| difference.class == Class::WrongResult).collect();
    assert!(wrong.is_empty(), "never a wrong row: {wrong:#?}");
    differences::hold(&found);
    for file in TELLS_THE_FIGURE {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(&figure), "{file} does not say what was measured: {figure}");
    }
}

/// `3,800 of 3,846 scenarios (98.8 %)`, never rounded up.
fn figure(passed: usize, all: usize) -> String {
    let thousands = |number: usize| match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    };
    let tenths = passed * 1000 / all;
    format!("{} of {} scenarios ({}.{} %)", thousands(passed), thousands(all), tenths / 10, tenths % 10)
}

/// The outcome of each scenario. Each thread takes one scenario of so many, as neighbours take equally long.
fn run_all(scenarios: &[Scenario], graphs: &Path) -> Vec<Outcome> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let share = |first: usize| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut outcomes = Vec::new();
        for (at, scenario) in scenarios.iter().enumerate().skip(first).step_by(threads) {
            outcomes.push((at, runtime.block_on(run::run(scenario, graphs))));
        }
        outcomes
    };
    let mut outcomes: Vec<(usize, Outcome)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(move || share(first))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[test]
fn no_statement_that_runs_is_taken_for_an_error() {
    let Some(folder) = folder() else { return };
    let parameters = ["user"];
    let scenarios = files(&folder.join("features"), "feature").into_iter().flat_map(|path| feature::read(&path));
    let wrong = |scenario: &Scenario| scenario.steps.iter().any(|step| step.text.contains("should be raised"));
    let mut statements = 0;
    for scenario in scenarios.filter(|scenario| !wrong(scenario)) {
        for step in
            scenario.steps.iter().filter(|step| step.text.contains("executing") || step.text.contains("executed"))
        {
            statements += 1;
            assert_eq!(certain_problem(&step.doc, &parameters), None, "{}: {}", scenario.name, step.doc);
        }
    }
    assert!(statements > 3000, "{statements}");
}

#[test]
fn a_figure_is_never_rounded_up() {
    assert_eq!(figure(3845, 3846), "3,845 of 3,846 scenarios (99.9 %)");
    assert_eq!(figure(999, 1000), "999 of 1,000 scenarios (99.9 %)");
    assert_eq!(figure(1, 3), "1 of 3 scenarios (33.3 %)");
}
