//! Jobs that are right, and what they mean.

use super::*;
use crate::agent::TransportConfig;
use crate::assertion::AssertionCheck;

const EMBABEL: &str = include_str!("../../../tests/fixtures/job/embabel-readme.yml");

#[test]
fn dump_schema() {
    println!("{}", serde_json::to_string_pretty(&schema()).unwrap());
}

#[test]
fn the_readme_job_of_embabel_loads_as_it_stands() {
    let job = load("data/eval/agent.yml", EMBABEL, &AllTemplates).unwrap_or_else(|p| panic!("{}", render_problems(&p)));
    assert_eq!(job.name, "agent");
    assert_eq!(job.aspirational_average_ms, Some(3000));
    assert_eq!(job.greetings, ["Hello", "Hi", "Hey"]);
    assert_eq!(job.tasks[1].kind, TaskKind::Question);
    assert_eq!(job.facts.len(), 2);
    assert_eq!(job.assertions[0].weight.get(), 2.0);
    let AssertionCheck::Cypher(check) = &job.assertions[1].check else { panic!("{:?}", job.assertions[1]) };
    assert_eq!(check.expected, serde_json::json!(1));
    assert!(matches!(job.target.transport, TransportConfig::Embabel(_)));
}
