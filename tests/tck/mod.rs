//! The openCypher TCK on the embedded graph.

mod feature;
mod literal;
mod run;

use std::path::PathBuf;

use super::house::{files, root};
use feature::Scenario;
use run::Outcome;

fn folder() -> PathBuf {
    root().join("target/tck/1.0.0-M23")
}

#[test]
fn the_embedded_graph_passes_the_opencypher_tck() {
    let scenarios: Vec<Scenario> =
        files(&folder().join("features"), "feature").iter().flat_map(|path| feature::read(path)).collect();
    let outcomes = run_all(&scenarios);
    let mut count = std::collections::BTreeMap::new();
    let mut out = String::new();
    for (s, o) in scenarios.iter().zip(&outcomes) {
        let (class, why) = match o {
            Outcome::Passed => ("passed", ""),
            Outcome::NotApplicable => ("n/a", ""),
            Outcome::Refused(why) => ("refused", why.as_str()),
            Outcome::Failed(why) => ("failed", why.as_str()),
            Outcome::Accepted(why) => ("accepted", why.as_str()),
            Outcome::WrongResult(why) => ("wrong", why.as_str()),
        };
        *count.entry(class).or_insert(0) += 1;
        if class != "passed" {
            let q: Vec<_> = s.steps.iter().filter(|s| !s.doc.is_empty()).map(|s| s.doc.replace('\n', " ")).collect();
            out.push_str(&format!(
                "{class} | {} | {} | {:?}\n    {}\n    {}\n",
                s.feature,
                s.name,
                s.example,
                q.join("\n    "),
                why
            ));
        }
    }
    std::fs::write("/tmp/tck-out.txt", out).unwrap();
    panic!("{count:?} of {}", scenarios.len());
}

fn run_all(scenarios: &[Scenario]) -> Vec<Outcome> {
    let graphs = folder().join("graphs");
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let share = scenarios.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = scenarios
            .chunks(share)
            .map(|share| {
                let graphs = &graphs;
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(async {
                        let mut outcomes = Vec::new();
                        for scenario in share {
                            outcomes.push(run::run(scenario, graphs).await);
                        }
                        outcomes
                    })
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}
