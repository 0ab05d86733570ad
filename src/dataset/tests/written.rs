//! Datasets are written as each system's files, and what those can't hold is reported.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::lost::read_back;
use super::super::{DiskFiles, OpenOptions, System, WrittenDataset, from_job, open, write};
use super::*;
use crate::job::{self, PromptRole, TemplateCheck, TemplateProblem};

struct AnyTemplate;

impl TemplateCheck for AnyTemplate {
    fn problem(&self, _: &str, _: PromptRole) -> Option<TemplateProblem> {
        None
    }
}

const SYSTEMS: [System; 4] = [System::Adk, System::Trpc, System::Watsonx, System::Redhat];

/// All sets of the systems' own files, as they are opened with what stands beside them.
fn sets() -> Vec<(String, Dataset)> {
    let mut sets = Vec::new();
    for path in files_below(&folder()) {
        let path = path.display().to_string();
        let Ok(opened) = open(&path, &OpenOptions::default(), &DiskFiles) else { continue };
        sets.extend(opened.into_iter().map(|set| (path.clone(), set)));
    }
    sets
}

/// What our reader makes of what was written.
fn read_again(written: &WrittenDataset) -> Vec<DatasetCase> {
    let read = read_back(written).unwrap_or_else(|problem| panic!("{problem}\n{:?}", written.files));
    read.cases.into_iter().map(|case| DatasetCase { line: 0, ..case }).collect()
}

/// A part of cases that other systems share: what is said, and by ids.
fn said(case: &DatasetCase) -> Vec<String> {
    match &case.user {
        CaseUser::Lines(lines) => lines.iter().map(|line| line.say.clone()).collect(),
        CaseUser::Scenario(scenario) => scenario.starting_prompt.iter().chain(&scenario.prompts).cloned().collect(),
    }
}

#[test]
fn whole_numbers_are_written_with_the_digits_that_were_read() {
    let call = |args: &str| {
        let turn = format!(
            r#"{{"user_content": {{"parts": [{{"text": "say \"1.2345678901234568e+29\", 123456789012345678901234567890"}}]}},
            "intermediate_data": {{"tool_uses": [{{"name": "f", "args": {args}}}]}}}}"#
        );
        format!(r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [{turn}]}}]}}"#)
    };
    let written = |args: &str| {
        let set = load("s.evalset.json", &call(args), &Beside::default()).unwrap();
        write(&set, System::Trpc).files.remove(0).text
    };
    let text = written(r#"{"a": [123456789012345678901234567890], "b": 1e30, "c": -987654321098765432109876}"#);
    for digits in [
        "\n                  123456789012345678901234567890\n",
        "1e+30",
        "-987654321098765432109876",
        r#"\"1.2345678901234568e+29\""#,
    ] {
        assert!(text.contains(digits), "{digits} in {text}");
    }
    // Two that read as the same number: nobody can say which is which.
    let text = written(r#"{"a": 123456789012345678901234567890, "b": 123456789012345678901234567891}"#);
    assert_eq!(text.matches(": 1.2345678901234568e+29").count(), 2, "{text}");
}

#[test]
fn each_systems_own_cases_are_the_same_when_they_are_written_and_read_again() {
    let (mut whole, mut count) = (0, 0);
    for (path, set) in sets() {
        let written = write(&set, set.kind.system());
        let before: Vec<DatasetCase> =
            set.cases.iter().map(|case| DatasetCase { line: 0, file: None, ..case.clone() }).collect();
        let after = read_again(&written);
        let ids = |cases: &[DatasetCase]| cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&after), ids(&before), "{path}");
        let is_warned = written.warnings.iter().any(|it| it.contains("have no place for") || it.contains("may refuse"));
        // Either it is the same, or what is not was reported.
        assert!(is_warned || after == before, "{path}: {:?}", written.warnings);
        whole += usize::from(after == before);
        count += 1;
    }
    assert!(count > 60 && whole * 10 > count * 8, "{whole} of {count}");
}

#[test]
fn any_systems_cases_can_be_written_as_any_others() {
    for (path, set) in sets() {
        for system in SYSTEMS {
            let written = write(&set, system);
            let names: BTreeSet<String> = written.files.iter().map(|file| file.name.to_lowercase()).collect();
            let harmless = |name: &&String| !name.starts_with('/') && !name.contains("..") && !name.contains('\\');
            assert!(names.iter().filter(harmless).count() == names.len(), "{path}: {names:?}");
            if written.warnings.iter().any(|warning| warning.contains("may refuse")) {
                continue;
            }
            let after = read_again(&written);
            assert_eq!(after.len(), set.cases.len(), "{path} as {system:?}: {:?}", written.warnings);
            for (case, read) in set.cases.iter().zip(&after) {
                let (before, after) = (said(case), said(read));
                let is_made_up = matches!(&case.user, CaseUser::Scenario(it) if it.starting_prompt.is_none());
                let is_told =
                    written.warnings.iter().any(|it| it.contains("fixed messages") || it.contains("simulated"));
                assert!(is_made_up || is_told || before == after, "{path} as {system:?}: {before:?} {after:?}");
            }
        }
    }
}

#[test]
fn a_job_is_written_as_each_systems_files_and_what_they_can_not_say_is_told() {
    let text = r#"
name: shop
target: {user: ann, chatbot: agent}
greetings: []
isolation: shared
metrics: [{trajectory: {order: inOrder}, threshold: 0.9}, {rouge: {}, threshold: 0.7}, timing]
cases:
  - id: refund/1
    session: {state: {vip: true}}
    script: [Hi, {say: Refund 7, expected: {reply: Done, keywords: [done], calls: [{tool: refund, args: {id: 7}, result: {ok: true}}]}}]
  - id: wish
    opening: Hello
    tasks: [{task: Get a refund for order 7, acceptanceCriteria: It is refunded}]
    facts: [The order was late]
    expected: {calls: [{name: look, tool: find, args: {id: 7}}], messages: [{name: end, reply: Done}], goals: {look: [end], end: []}}
"#;
    let job = job::load("job.yml", text, &AnyTemplate).unwrap();
    let (dataset, warnings) = from_job(&job);
    assert_eq!(
        warnings,
        [
            "case refund/1: the keywords of turn 2 are left out",
            "case wish: other systems hold it in one condition only",
            "metric timing: only eval-job measures it",
        ]
    );
    let adk = write(&dataset, System::Adk);
    let set: Value = serde_json::from_str(&adk.files[0].text).unwrap();
    assert_eq!(
        set["eval_cases"][0]["conversation"][1]["intermediate_data"],
        json!({"tool_uses": [{"name": "refund", "args": {"id": 7}}], "tool_responses": [{"name": "refund", "response": {"ok": true}}],
               "intermediate_responses": []})
    );
    assert_eq!(
        set["eval_cases"][0]["session_input"],
        json!({"app_name": "agent", "user_id": "ann", "state": {"vip": true}})
    );
    assert_eq!(set["eval_cases"][1]["conversation_scenario"]["starting_prompt"], "Hello");
    let config: Value = serde_json::from_str(&adk.files[1].text).unwrap();
    assert_eq!(
        config["criteria"],
        json!({"tool_trajectory_avg_score": {"threshold": 0.9, "match_type": "IN_ORDER"}, "response_match_score": 0.7})
    );
    assert_eq!(adk.warnings, ["ADK's files have no place for goals: wish"]);
    let trpc = write(&dataset, System::Trpc);
    assert_eq!(
        trpc.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
        ["shop.evalset.json", "shop.metrics.json"]
    );
    let metrics: Value = serde_json::from_str(&trpc.files[1].text).unwrap();
    assert_eq!(metrics[0]["criterion"]["toolTrajectory"]["subsetMatching"], true);
    assert_eq!(metrics[1]["criterion"]["finalResponse"]["rouge"]["threshold"]["f1"], 0.7);
    let watsonx = write(&dataset, System::Watsonx);
    assert_eq!(watsonx.files[0].name, "refund_1.json");
    let case: Value = serde_json::from_str(&watsonx.files[0].text).unwrap();
    assert_eq!((&case["starting_sentence"], &case["user_prompts"]), (&json!("Hi"), &json!(["Refund 7"])));
    assert_eq!(
        (&case["goals"], &case["runtime_context"]),
        (&json!({"refund-1": ["reply"], "reply": []}), &json!({"vip": true}))
    );
    assert!(
        watsonx.warnings.iter().any(|it| it.contains("the results of expected calls are not compared")),
        "{:?}",
        watsonx.warnings
    );
    let wish: Value = serde_json::from_str(&watsonx.files[1].text).unwrap();
    assert_eq!(wish["goals"], json!({"look": ["end"], "end": []}));
    let redhat = write(&dataset, System::Redhat);
    let conversation: Value = serde_json::from_str(&redhat.files[0].text).unwrap();
    assert_eq!(conversation["conversation"][1], json!({"role": "user", "content": "Refund 7"}));
    assert!(
        redhat
            .warnings
            .contains(&"Red Hat's files have no place for expected calls of single turns: refund/1".to_owned()),
        "{:?}",
        redhat.warnings
    );
}

#[test]
fn what_judges_look_at_is_written_and_what_is_left_out_is_told() {
    let text = r#"
name: shop
target: {user: ann, chatbot: agent}
greetings: [Hi, Hello]
isolation: shared
metrics: [{rouge: {type: rougeL}, threshold: 0.7}]
context: [{name: all.txt, text: For every case}]
cases:
  - id: one
    context: [{name: own.txt, text: For this case}]
    script: [{say: More, expected: {reply: Done, rubrics: [{id: t, text: It is polite}]}}]
    expected: {rubrics: [{id: c, text: It is short}]}
"#;
    let (dataset, warnings) = from_job(&job::load("job.yml", text, &AnyTemplate).unwrap());
    assert_eq!(
        warnings,
        ["case one: only the first greeting is written", "metric rouge: it is written as ROUGE-1, without its options"]
    );
    let case = &dataset.cases[0];
    let names: Vec<&str> = case.context_files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!((names, case.rubrics[0].id.as_str()), (vec!["all.txt", "own.txt"], "c"));
    let adk = write(&dataset, System::Adk);
    let set: Value = serde_json::from_str(&adk.files[0].text).unwrap();
    assert_eq!(set["eval_cases"][0]["rubrics"][0]["rubric_id"], "c");
    assert_eq!(set["eval_cases"][0]["conversation"][1]["rubrics"][0]["rubric_id"], "t");
    assert!(
        adk.warnings.contains(&"ADK's files have no place for texts for judges: one".to_owned()),
        "{:?}",
        adk.warnings
    );
    let redhat = write(&dataset, System::Redhat);
    assert!(redhat.files.iter().any(|file| file.name == "context/own.txt"), "{:?}", redhat.warnings);
    assert!(redhat.warnings.iter().any(|it| it.contains("rubrics of cases")), "{:?}", redhat.warnings);
}

#[test]
fn what_a_jobs_metrics_ask_for_is_written_or_told() {
    let metrics = |metric: &str| {
        let text = format!(
            "name: shop\ntarget: {{user: ann, chatbot: agent}}\ngreetings: []\ncases: [{{id: a, script: [Hi]}}]\nmetrics: [{metric}]\n"
        );
        let (dataset, warnings) = from_job(&job::load("job.yml", &text, &AnyTemplate).unwrap());
        let written: Value = serde_json::from_str(&write(&dataset, System::Trpc).files[1].text).unwrap();
        let criterion = &written[0]["criterion"]["toolTrajectory"];
        let flags = (criterion["orderSensitive"].clone(), criterion["subsetMatching"].clone());
        (flags, written[0]["threshold"].clone(), warnings)
    };
    let flags = |ordered: bool, subset: bool| (json!(ordered), json!(subset));
    let strict = metrics("{trajectory: {order: anyOrder, count: equal}, threshold: 0.5}");
    assert_eq!(strict, (flags(false, false), json!(0.5), Vec::new()), "no other calls are allowed there either");
    let loose = metrics("{trajectory: {order: anyOrder}, threshold: 1}");
    assert_eq!(loose.0, flags(false, true));
    let lossy = metrics("{trajectory: {tolerance: 0.1}}");
    assert_eq!((lossy.0, lossy.1), (flags(true, false), json!(1.0)));
    assert_eq!(
        lossy.2,
        [
            "metric trajectory: it has no threshold, and others need one: 1 is written",
            "metric trajectory: its other options are left out: names and arguments are compared strictly",
        ]
    );
}
