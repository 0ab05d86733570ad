//! Jobs that are right, and what they mean.

use serde_json::json;

use super::*;
use crate::agent::TransportConfig;
use crate::agent::demo::DemoConfig;
use crate::agent::embabel::EmbabelConfig;
use crate::assertion::AssertionCheck;
use crate::evidence::{Condition, Message, Role};
use crate::graph::embedded::EmbeddedConfig;
use crate::graph::neo4j::Neo4jConfig;
use crate::graph::{GraphConfig, WatchConfig};
use crate::money::{Dollars, SpendLimits};
use crate::score::Score;

#[test]
fn the_readme_job_of_embabel_loads_as_it_stands() {
    let job = load("data/eval/agent.yml", EMBABEL, &AllTemplates).unwrap_or_else(|p| panic!("{}", render_problems(&p)));
    assert_eq!(job.name, "agent");
    assert_eq!(job.aspirational_average_ms, Some(3000));
    assert_eq!(job.greetings, ["Hello", "Hi", "Hey"]);
    assert_eq!(job.cases[0].tasks[1].kind, TaskKind::Question);
    assert_eq!(job.cases[0].facts.len(), 2);
    assert_eq!(job.cases[0].assertions[0].weight.get(), 2.0);
    let AssertionCheck::Cypher(check) = &job.cases[0].assertions[1].check else {
        panic!("{:?}", job.cases[0].assertions[1])
    };
    assert_eq!(check.expected, serde_json::json!(1));
    assert!(matches!(job.target.transport, TransportConfig::Embabel(_)));
}

#[test]
fn what_is_left_out_has_the_defaults_of_embabel() {
    let job = load("evals/nightly.v2.yml", LEAST, &AllTemplates).unwrap();
    let persona = Persona {
        personas: Vec::new(),
        name: "Socrates".to_owned(),
        voice: "You speak like a friendly, relaxed human".to_owned(),
        prompt: "eval/socrates".to_owned(),
        temperature: 0.5,
        signoff: "So Long, and Thanks for All the Fish".to_owned(),
        model: Model { is_named: false, ..Model::new(ModelName::openai("gpt-4.1-mini")) },
        allow: AllowedFaults::default(),
        review: None,
        tools: Vec::new(),
        script: None,
    };
    let model = Model { is_named: false, ..Model::new(ModelName::openai("gpt-4.1-mini")) };
    assert_eq!(job.name, "nightly.v2");
    assert_eq!(job.persona, persona);
    assert_eq!(
        job.judge,
        Judge {
            prompt: "eval/score".to_owned(),
            evidence: Some(true),
            temperature: 0.0,
            samples: 1,
            model: model.into(),
            ..Judge::default()
        }
    );
    assert_eq!(job.aspirational_average_ms, None);
    assert_eq!(job.max_turns, 20);
    assert_eq!(job.greetings, ["Hello", "Hi", "Greetings", "Yo", "Hey"]);
    assert_eq!(job.cases[0].tasks[0].kind, TaskKind::Task);
    let case = &job.cases[0];
    assert_eq!((case.seeds.len(), case.setups.len(), case.assertions.len(), case.facts.len()), (0, 0, 0, 0));
    assert_eq!((job.graph.backend(), job.gate, job.limits), (None, Gate::default(), Limits::default()));
    assert_eq!(job.target.transport, EmbabelConfig::default().into());
}

#[test]
fn every_key_is_understood() {
    let job = load("full.yml", FULL, &AllTemplates).unwrap_or_else(|problems| panic!("{}", render_problems(&problems)));
    assert_eq!((job.name.as_str(), job.description.as_deref()), ("everything", Some("All keys at once")));
    assert_eq!(job.tags, ["nightly", "demo"]);
    let case = &job.cases[0];
    assert_eq!(case.user, User::Lines(["First line", "2"].map(|say| Line::from(say.to_owned())).to_vec()));
    assert_eq!(job.judge.model, Model::new(ModelName::Scripted).into());
    assert_eq!(job.target.transport, DemoConfig {}.into());
    let neo4j = Neo4jConfig { uri: Some("bolt://db:7687".to_owned()), ..Neo4jConfig::default() };
    assert_eq!(job.graph.backend(), Some(GraphConfig::Neo4j(neo4j)));
    let watch = WatchConfig {
        labels: vec!["Reminder".to_owned(), "User".to_owned()],
        predicate: Some("n.user = $user".to_owned()),
        max_nodes: Some(500),
    };
    assert_eq!(job.graph.watch, watch);
    let conversation = vec![Message::new(Role::User, "Hi"), Message::new(Role::Assistant, "Hello")];
    assert_eq!(case.seeds, [Seed::Text("Alice lives in Sydney.".to_owned()), Seed::Conversation(conversation)]);
    assert_eq!(case.setups, [Setup { cypher: "CREATE (:A);\nCREATE (:B)\n".to_owned() }]);
    assert_eq!(job.gate.min_score.map(Score::get), Some(0.8));
    let limits = &job.limits;
    assert_eq!((limits.turn_seconds, limits.trial_seconds, limits.query_seconds), (2.5, 1800.0, 7.0));
    assert_eq!((limits.model_seconds, Limits::default().model_seconds), (45.0, 120.0));
    let spend = SpendLimits { cost: Dollars::new(0.25), tokens: Some(200_000) };
    assert_eq!((limits.spend(), limits.run_seconds), (spend, Some(900.0)));
    assert_eq!((job.max_turns, job.aspirational_average_ms), (30, Some(1500)));
    let shown: Vec<_> = case.assertions.iter().map(|a| (a.label(), a.weight.get(), a.when)).collect();
    let expected = [
        ("one reminder".to_owned(), 3.0, None),
        ("RETURN 1".to_owned(), 0.0, Some(Condition::WithFacts)),
        ("objectContext.resources.size == 1".to_owned(), 1.0, Some(Condition::WithoutFacts)),
        (
            "created (:Reminder:Urgent {at: <type: datetime, min: \"2026-03-01T09:00Z\", max: \"2026-04-01T09:00Z\">, \
             done: null, title: \"Call Ada\"}), (:User {id: \"test-user\"})-[:HAS_REMINDER {rank: <type: integer, \
             min: 1, max: 3>}]->(:Reminder); deleted anything; changed (:Contact {name: <regex: \"(?i)ada.*\">}) set \
             {address: <equals: {\"city\":\"Bern\"}>, phone: \"0123\", tags: [\"a\"]}; in turns 2 to 4"
                .to_owned(),
            1.0,
            None,
        ),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn what_is_expected_keeps_its_type() {
    let cases = [
        ("1", json!(1)),
        ("1.0", json!(1.0)),
        ("\"1\"", json!("1")),
        ("'true'", json!("true")),
        ("true", json!(true)),
        ("yes", json!("yes")),
        ("null", json!(null)),
        ("", json!(null)),
        ("[1, a, null]", json!([1, "a", null])),
        ("[[1, 2], [3, 4.5]]", json!([[1, 2], [3, 4.5]])),
        ("[{b: 1, a: x}]", json!([{"b": 1, "a": "x"}])),
        ("9223372036854775807", json!(i64::MAX)),
        ("2026-03-01", json!("2026-03-01")),
    ];
    for (written, expected) in cases {
        let text = least_and(&format!("assertions:\n  - cypher: RETURN 1\n    expected: {written}\n"));
        let job = load("job.yml", &text, &AllTemplates).unwrap_or_else(|_| panic!("{written}: {}", rendered(&text)));
        let AssertionCheck::Cypher(check) = &job.cases[0].assertions[0].check else {
            panic!("{:?}", job.cases[0].assertions[0])
        };
        assert_eq!(check.expected, expected, "{written}");
    }
}

#[test]
fn a_kind_key_without_a_value_is_there_all_the_same() {
    let text = LEAST.replace("chatbot: c", "chatbot: c, demo: ") + "graph:\n  embedded:\n";
    let job = load("job.yml", &text, &AllTemplates).unwrap_or_else(|_| panic!("{}", rendered(&text)));
    assert_eq!(job.target.transport, DemoConfig {}.into());
    assert_eq!(job.graph.backend(), Some(GraphConfig::Embedded(EmbeddedConfig::default())));
}

#[test]
fn aliases_and_merges_unfold() {
    let text = "target: {user: &name u, chatbot: *name}
tasks:
  - &first {task: t, acceptanceCriteria: a}
  - <<: *first
    task: other
facts: []
";
    let job = load("job.yml", text, &AllTemplates).unwrap_or_else(|_| panic!("{}", rendered(text)));
    assert_eq!((job.target.chatbot.as_str(), job.cases[0].tasks[1].task.as_str()), ("u", "other"));
    assert_eq!(job.cases[0].tasks[1].acceptance_criteria, "a");
}

#[test]
fn the_digest_is_that_of_the_files_bytes() {
    let digest = |text: &str| load("job.yml", text, &AllTemplates).unwrap().digest;
    assert_eq!(digest(LEAST), "d7ff142100a19046fc5a22852574bcd55bca96cdd8b3eeab4685901aef409e61");
    assert_ne!(digest(LEAST), digest(&format!("\u{feff}{LEAST}")));
}
