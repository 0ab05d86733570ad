//! Red Hat's files.

use super::super::{Kind, recognise};
use super::*;

#[test]
fn a_flow_sends_what_the_user_says() {
    let ids = text("redhat/conversations_config/authoritative_user_ids");
    let ids = NamedText { name: "authoritative_user_ids".to_owned(), text: ids };
    let beside = Beside { user_ids: Some(ids), ..Beside::default() };
    let dataset = loaded(&text("redhat/conversations_config/conversations/success-flow-1.json"), &beside);
    let case = &dataset.cases[0];
    assert_eq!((dataset.kind, case.id.as_str()), (Kind::RedhatConversation, "f"));
    assert_eq!(case.session.user.as_deref(), Some("alice.johnson@company.com"));
    assert_eq!(case.description.as_deref(), Some("Successful laptop refresh flow"));
    let said: Vec<&str> = lines(case).iter().map(|line| line.say.as_str()).collect();
    assert_eq!(said[..2], ["refresh", "I would like to see the options"]);
    assert_eq!((case.recorded.as_ref(), warnings(&dataset)), (None, Vec::new()));
    assert_eq!(dataset.metrics.len(), 15);
    assert_eq!((dataset.metrics[12].options["retries"].clone(), dataset.metrics[1].threshold), (1.into(), Some(0.5)));

    let good = loaded(&text("redhat/results/conversation_results/known_good_flow.json"), &beside);
    let recorded = good.cases[0].recorded.as_ref().unwrap();
    assert_eq!(recorded.len(), 5, "a greeting and four turns");
    assert!(recorded[0].user.is_empty() && recorded[4].reply.as_deref().unwrap().contains("REQ12345"));
    assert!(warnings(&good)[0].contains("not among the `authoritative_user_ids`"), "{:?}", warnings(&good));
}

#[test]
fn every_conversation_is_read() {
    let mut count = 0;
    for path in [
        "conversations_config/conversations",
        "results/conversation_results",
        "results/known_bad_conversation_results",
        "doc_examples",
    ] {
        for entry in std::fs::read_dir(folder().join("redhat").join(path)).unwrap() {
            let (name, text) = {
                let path = entry.unwrap().path();
                (path.display().to_string(), std::fs::read_to_string(path).unwrap())
            };
            if recognise(&name, &text).unwrap() == Kind::RedhatResult {
                continue;
            }
            // One of the documents' examples only describes the fields.
            match load(&name, &text, &Beside::default()) {
                Ok(dataset) => assert_eq!(dataset.cases.len(), 1),
                Err(problems) => panic!("{}", render_problems(&problems)),
            }
            count += 1;
        }
    }
    assert!(count >= 18, "{count}");
}

#[test]
fn what_is_wrong_is_told() {
    for (text, message) in [
        (
            r#"{"metadata": {}, "conversation": [{"role": "user", "content": "a"}]}"#,
            "metadata: `authoritative_user_id` is missing",
        ),
        (r#"{"metadata": {"authoritative_user_id": "a"}, "conversation": []}"#, "the user says nothing"),
        (
            r#"{"metadata": {"authoritative_user_id": "a"}, "conversation": [{"role": "user"}]}"#,
            "conversation[0]: `content` is missing",
        ),
    ] {
        let refused = refused(text, &Beside::default());
        assert!(refused.contains(message), "{refused}");
    }
    let odd = r#"{"metadata": {"authoritative_user_id": "a", "x": 1}, "conversation": [{"role": "human", "content": "a"},
        {"role": "user", "content": " "}, {"role": "assistant", "content": "b"}, {"role": "assistant", "content": "c"}]}"#;
    let dataset = loaded(odd, &Beside::default());
    assert_eq!(warnings(&dataset).len(), 3, "{:?}", warnings(&dataset));
    let turn = &dataset.cases[0].recorded.as_ref().unwrap()[0];
    assert_eq!((turn.reply.as_deref(), turn.intermediate[0].text.as_str()), (Some("c"), "b"));
    assert_eq!(dataset.cases[0].extra["x"], 1);
}

#[test]
fn users_who_speak_twice_have_one_turn_in_a_recording_and_two_messages_to_send() {
    let text = r#"{"metadata": {"authoritative_user_id": "a"}, "conversation": [{"role": "user", "content": "a"},
        {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]}"#;
    let case = &loaded(text, &Beside::default()).cases[0];
    let recorded: Vec<_> = case.recorded.iter().flatten().map(|it| (it.user.as_str(), it.reply.as_deref())).collect();
    assert_eq!(recorded, [("a\nb", Some("c"))]);
    assert_eq!(lines(case).iter().map(|line| line.say.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_scenario_has_expectations_messages_and_texts_of_its_own() {
    let golden = |more: &str| format!(r#"{{"scenario": "s"{more}}}"#);
    let whole = golden(
        r#", "expectations": {"must": ["It is kind."], "mustNot": ["It names prices."], "evalMode": "llm"},
            "turns": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}], "context": ["c"]"#,
    );
    let dataset = loaded(&whole, &Beside::default());
    let case = &dataset.cases[0];
    let rubrics: Vec<_> = case.rubrics.iter().map(|it| (it.text.as_str(), it.metric.as_deref())).collect();
    let metric = Some("Expectations");
    assert_eq!(rubrics, [("It is kind.", metric), ("This does not hold: It names prices.", metric)]);
    let said: Vec<&str> = case.session.context.iter().map(|message| message.content.as_str()).collect();
    assert_eq!((said, case.context_files[0].text.as_str()), (vec!["Hi", "Hello"], "c"));
    let messages = warnings(&dataset);
    assert!(!messages.iter().any(|it| it.contains("unknown key")), "{messages:?}");
    let options = crate::dataset::LowerOptions::default();
    let lowered = crate::dataset::lower(&dataset, &options).document;
    let decides =
        |it: &serde_json::Value| it["name"] == "Expectations" && it["threshold"] == 1.0 && it["rubric"].is_object();
    assert!(lowered["metrics"].as_array().unwrap().iter().any(decides), "{lowered}");
    for (more, message) in [
        ("", "nobody could say whether the agent did what it should"),
        (r#", "expectations": {"must": [""]}"#, "this text must not be empty"),
        (r#", "expectations": {"should": ["x"]}"#, "unknown key `should`"),
        (
            r#", "expected_outcome": "o", "user_description": "polite", "persona": {"characteristics": "rude"}"#,
            "say different things of the user",
        ),
    ] {
        let refused = refused(&golden(more), &Beside::default());
        assert!(refused.contains(message), "{more}: {refused}");
    }
}
