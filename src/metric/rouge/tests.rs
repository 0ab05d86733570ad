use proptest::prelude::*;

use super::*;

fn config(yaml: &str) -> RougeConfig {
    serde_json::from_str(yaml).unwrap()
}

fn measured(options: &str, reply: &str, expected: &str) -> RougeMeasured {
    measure(&config(options), reply, Some(expected)).unwrap()
}

#[test]
fn types_are_read_and_nonsense_is_refused() {
    for (text, expected) in [
        ("rouge1", RougeType::N(1)),
        ("rouge10", RougeType::N(10)),
        ("rougeL", RougeType::L),
        ("rougeLsum", RougeType::Lsum),
    ] {
        assert_eq!(text.parse::<RougeType>().unwrap(), expected);
        assert_eq!(expected.to_string(), text);
    }
    for text in ["rouge", "rougen", "rouge0", "rouge-1", "rouge+1", "ROUGE1", "", "1", "rougel"] {
        assert!(text.parse::<RougeType>().is_err(), "{text}");
    }
    let error = serde_json::from_str::<RougeConfig>(r#"{"type": "rouge-1"}"#).unwrap_err().to_string();
    assert!(error.contains("`rouge-1` is no type of ROUGE: try rouge1"), "{error}");
    assert!(serde_json::from_str::<RougeConfig>(r#"{"minimum": {"f1": 80}}"#).is_err());
    assert!(config(r#"{"minimum": {}}"#).check().is_err());
}

#[test]
fn numbers_are_googles() {
    for (options, reply, expected, precision, recall, f1) in [
        (r#"{"type": "rouge1"}"#, "testing", "testing one two", 1.0, 1.0 / 3.0, 0.5),
        (r#"{"type": "rouge2"}"#, "testing one", "testing one two", 1.0, 0.5, 2.0 / 3.0),
        (r#"{"type": "rougeL"}"#, "testing two", "testing one two", 1.0, 2.0 / 3.0, 0.8),
        (
            r#"{"type": "rougeLsum"}"#,
            "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5",
            "w1 w2 w3 w4 w5",
            0.4,
            0.8,
            2.0 * 0.4 * 0.8 / 1.2000000000000002,
        ),
        (r#"{"type": "rouge10"}"#, "a b c d e f g h i j", "a b c d e f g h i j", 1.0, 1.0, 1.0),
        (r#"{"type": "rouge3"}"#, "a b", "a b", 0.0, 0.0, 0.0),
        (r#"{"type": "rouge1"}"#, "the the the", "the cat", 1.0 / 3.0, 0.5, 0.4),
        (r#"{"type": "rougeLsum", "splitSummaries": true}"#, "One two. Three.", "Three. One two.", 1.0, 1.0, 1.0),
    ] {
        let score = measured(options, reply, expected).rouge;
        for (actual, expected) in [(score.precision, precision), (score.recall, recall), (score.f1, f1)] {
            assert!((actual - expected).abs() < 1e-9, "{options} {score:?}");
        }
    }
}

#[test]
fn the_most_similar_reference_counts() {
    let options = |kind: &str| format!(r#"{{"type": "{kind}", "references": ["first text", "first something"]}}"#);
    assert_eq!(measured(&options("rouge1"), "text first", "ignored").rouge.f1, 1.0);
    assert_eq!(measured(&options("rougeL"), "text first", "ignored").rouge.f1, 0.5);
    let error = measure(&RougeConfig::default(), "a", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no expected reply to compare with: give `references`, or an expected reply"
    );
}

#[test]
fn the_score_is_the_number_or_whether_all_minimums_are_met() {
    let score = |options: &str| measured(options, "testing", "testing one two").measured.score.get();
    assert_eq!(score("{}"), 0.5);
    assert_eq!(score(r#"{"measure": "precision"}"#), 1.0);
    assert_eq!(score(r#"{"minimum": {"precision": 0.9}}"#), 1.0);
    assert_eq!(score(r#"{"minimum": {"precision": 0.9, "recall": 0.4}}"#), 0.0);
    assert_eq!(score(r#"{"minimum": {"f1": 0.6}}"#), 0.0);
    // 0.8 is what comes of it, but for rounding.
    let options = r#"{"type": "rougeL", "minimum": {"f1": 0.8}}"#;
    assert!(measured(options, "testing two", "testing one two").measured.is_full());
}

#[test]
fn a_name_with_a_turkish_capital_is_the_same_word_but_for_adk() {
    let f1 = |options: &str, reply: &str| measured(options, reply, "istanbul is large").value;
    for reply in ["İstanbul is large", "İSTANBUL IS LARGE", "i\u{307}stanbul is large"] {
        assert_eq!(f1("{}", reply), 1.0, "{reply}");
        assert!(f1(r#"{"tokenizer": "adk"}"#, reply) < 0.7, "{reply}");
    }
}

#[test]
fn a_least_value_is_exact_in_trpcs_own_dialect_alone() {
    // Precision and recall of 2/3.
    let passes = |options: &str| measured(options, "a b c", "a b d").measured.is_full();
    assert!(passes(r#"{"minimum": {"f1": 0.6666666669}}"#));
    assert!(!passes(r#"{"minimum": {"f1": 0.6666666669}, "exactMinimum": true}"#));
    assert!(passes(r#"{"minimum": {"precision": 0.6666666666666666}, "exactMinimum": true}"#));
    let strict = serde_json::json!({"rougeType": "rouge1", "threshold": {"f1": 0.5}});
    assert!(trpc::rouge_criterion(&strict, true).unwrap().unwrap().exact_minimum);
}

#[test]
fn a_criterion_of_trpc_becomes_options_or_is_refused() {
    use serde_json::json;
    use trpc::rouge_criterion;
    let criterion = json!({"rougeType": "rougeL", "measure": "recall", "threshold": {"f1": 0.6}, "useStemmer": true});
    let config = rouge_criterion(&criterion, true).unwrap().unwrap();
    assert_eq!(
        (config.rouge_type, config.measure, config.tokenizer),
        (RougeType::L, RougeMeasure::Recall, Tokenizer::Classic)
    );
    assert_eq!(config.minimum.and_then(|it| it.f1), Score::new(0.6));
    // Without a threshold, whatever comes passes there.
    let any = rouge_criterion(&json!({"rougeType": "rouge1"}), false).unwrap().unwrap();
    assert!(measure(&any, "a", Some("b")).unwrap().measured.is_full());
    assert_eq!(any.tokenizer, Tokenizer::Unicode);
    assert_eq!(rouge_criterion(&json!({"ignore": true}), false), Ok(None));
    for (criterion, why) in [
        (json!({}), "`rougeType` is missing"),
        (json!({"rougeType": "rouge0"}), "`rouge0` is no type of ROUGE"),
        (json!({"rougeType": "rouge1", "measure": "f2"}), "`measure`: unknown variant `f2`"),
        (json!({"rougeType": "rouge1", "tokenizerName": "jieba"}), "`tokenizerName` names `jieba`"),
    ] {
        let error = rouge_criterion(&criterion, false).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_failure_shows_what_is_missing() {
    let options = r#"{"minimum": {"recall": 0.5}, "useStemmer": true}"#;
    let why = measured(options, "Testing\nfour", "testing one two").measured.why;
    assert_eq!(
        why,
        "rouge1 f1 0.400 (precision 0.500, recall 0.333, f1 0.400)\n  too low: recall must be 0.5 or more\n  \
         missing: \"one\", \"two\"\n  not expected: \"four\"\n  expected: \"testing one two\"\n  actual:   \"Testing\\u{a}four\""
    );
    let why = measured(r#"{"tokenizer": "classic"}"#, "Привет", "Привет").measured.why;
    assert!(
        why.contains("the expected reply has no words, for the tokenizer `classic` knows English letters only"),
        "{why}"
    );
    assert!(measured("{}", "", "").measured.why.contains("the actual reply has no words\n"));
}

#[test]
fn text_of_any_script_scores() {
    for (reply, expected, f1) in [
        ("今天天气好", "今天天气不好", 10.0 / 11.0),
        ("Привет, мир!", "привет мир", 1.0),
        ("สวัสดีครับ", "สวัสดีค่ะ", 8.0 / 13.0),
    ] {
        let score = measured("{}", reply, expected).rouge;
        assert!((score.f1 - f1).abs() < 1e-9, "{reply} {score:?}");
    }
}

#[test]
fn texts_that_are_too_long_for_a_common_sequence_are_refused() {
    let long = "a ".repeat(40_000);
    let error = measure(&config(r#"{"type": "rougeL"}"#), &long, Some(&long)).unwrap_err();
    assert!(error.to_string().contains("use rouge1 or rouge2"), "{error}");
    assert_eq!(measured(r#"{"type": "rouge2"}"#, &long, &long).rouge.f1, 1.0);
}

proptest! {
    #[test]
    fn scores_are_between_0_and_1_and_a_text_is_most_like_itself(
        a in "([a-e]{1,2}[ .\\n]){0,30}",
        b in "([a-e]{1,2}[ .\\n]){0,30}",
        kind in prop::sample::select(vec!["rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum"]),
        splits: bool,
    ) {
        let options = RougeConfig { rouge_type: kind.parse().unwrap(), split_summaries: splits, ..RougeConfig::default() };
        let score = rouge(&options, &a, &b).unwrap();
        for value in [score.precision, score.recall, score.f1] {
            prop_assert!((0.0..=1.0).contains(&value));
        }
        prop_assert!(score.f1 <= score.precision.max(score.recall) + 1e-12);
        let back = rouge(&options, &b, &a).unwrap();
        if kind != "rougeLsum" {
            prop_assert!((score.precision - back.recall).abs() < 1e-12 && (score.f1 - back.f1).abs() < 1e-12);
        }
        let itself = rouge(&options, &a, &a).unwrap();
        prop_assert!(itself.f1 == 1.0 || itself.f1 == 0.0);
        prop_assert!(score.f1 <= itself.f1.max(rouge(&options, &b, &b).unwrap().f1) + 1e-12);
    }

    #[test]
    fn a_longer_sequence_is_never_more_common(a in "([a-c] ){0,20}", b in "([a-c] ){0,20}") {
        let recall = |kind: &str| rouge(&RougeConfig { rouge_type: kind.parse().unwrap(), ..RougeConfig::default() }, &a, &b).unwrap().recall;
        prop_assert!(recall("rougeL") <= recall("rouge1") + 1e-12);
    }
}
