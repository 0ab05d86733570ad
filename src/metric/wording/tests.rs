use proptest::prelude::*;

use super::*;

fn text(options: &str, reply: &str, expected: &str) -> Result<Measured, MeasureProblem> {
    TextMeasure::new(&serde_json::from_str(options).unwrap())?.measure(reply, Some(expected))
}

fn passes(options: &str, reply: &str, expected: &str) -> bool {
    text(options, reply, expected).unwrap().is_full()
}

#[test]
fn a_reply_is_contains_or_matches_a_text() {
    assert!(passes("{}", "a", "a"));
    assert!(!passes("{}", "a", "b"));
    assert!(!passes("{}", "A", "a"));
    assert!(passes(r#"{"caseInsensitive": true}"#, "ÄB", "äb"));
    assert!(passes(r#"{"match": "contains", "caseInsensitive": true}"#, "Hello World", "hello"));
    for how in ["exact", "contains", "regex"] {
        let options = format!(r#"{{"match": "{how}", "caseInsensitive": true}}"#);
        for reply in ["İstanbul", "İSTANBUL", "istanbul", "i\u{307}stanbul"] {
            assert!(passes(&options, reply, "İstanbul") && passes(&options, reply, "istanbul"), "{how}: {reply}");
        }
    }
    assert!(!passes(r#"{"match": "contains"}"#, "İstanbul", "istanbul"));
    assert!(!passes(r#"{"match": "contains"}"#, "hello", "missing"));
    assert!(passes(r#"{"match": "regex"}"#, "order 123 done", "[0-9]+"));
    assert!(!passes(r#"{"match": "regex"}"#, "order done", "^[0-9]+"));
    assert!(passes(r#"{"match": "exact", "expected": "x"}"#, "x", "not this"));
}

#[test]
fn a_pattern_that_ignores_case_keeps_its_classes_unless_the_original_is_asked_for() {
    assert!(passes(r#"{"match": "regex", "caseInsensitive": true}"#, "ABC", r"^\D+$"));
    assert!(!passes(r#"{"match": "regex", "caseInsensitive": true, "strict": true}"#, "ABC", r"^\D+$"));
    assert!(passes(r#"{"match": "regex", "caseInsensitive": true, "strict": true}"#, "ABC", "B"));
}

#[test]
fn lengths_are_counted_in_code_points() {
    assert!(passes(r#"{"length": {"min": 2, "max": 4}}"#, "你好", "你好"));
    assert!(!passes(r#"{"length": {"max": 1}}"#, "你好", "你好"));
    assert!(passes(r#"{"match": "skip", "length": {"min": 2, "max": 4}}"#, "abcd", "different"));
    assert!(!passes(r#"{"match": "contains", "length": {"max": 10}}"#, "hello world", "hello"));
    let why = text(r#"{"match": "skip", "length": {"min": 3}}"#, "ab", "").unwrap().why;
    assert_eq!(why, "the reply has 2 characters, not 3 or more\n  actual: \"ab\"");
}

#[test]
fn options_that_check_nothing_or_are_impossible_are_refused() {
    for (options, why) in [
        (r#"{"match": "skip"}"#, "checks nothing"),
        (r#"{"length": {}}"#, "`length` has no bound"),
        (r#"{"match": "contains", "expected": ""}"#, "`expected` is empty"),
        (r#"{"length": {"min": 5, "max": 2}}"#, "min 5 is more than max 2"),
        (r#"{"match": "regex", "expected": "("}"#, "\"(\" is no regular expression"),
    ] {
        let error = text(options, "a", "a").unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    for options in [r#"{"match": "nope"}"#, r#"{"length": {"min": -1}}"#, r#"{"matches": "exact"}"#] {
        assert!(serde_json::from_str::<TextConfig>(options).is_err(), "{options}");
    }
    assert!(text(r#"{"match": "regex"}"#, "a", "(").is_err());
    assert!(TextMeasure::new(&TextConfig::default()).unwrap().measure("a", None).is_err());
}

#[test]
fn a_failure_shows_both_texts() {
    let why = |options, reply, expected| text(options, reply, expected).unwrap().why;
    assert_eq!(
        why("{}", "a b", "a c"),
        "the texts differ from character 3 on\n  expected: \"a c\"\n  actual:   \"a b\""
    );
    assert_eq!(
        why(r#"{"match": "regex"}"#, "a b", "[0-9]"),
        "the reply does not match the expected text\n  expected: \"[0-9]\"\n  actual:   \"a b\""
    );
    assert_eq!(why(r#"{"match": "contains"}"#, "a b", "a"), "the reply contains \"a\"");
}

#[test]
fn criteria_of_trpc_become_options_or_are_refused() {
    use serde_json::json;
    use trpc::text_criterion;
    let criterion = json!({"matchStrategy": "regex", "caseInsensitive": true, "length": {"max": 9}});
    let config = text_criterion(&criterion, true).unwrap().unwrap();
    let length = Some(LengthConfig { min: None, max: Some(9) });
    assert_eq!(
        (config.text_match, config.case_insensitive, config.length, config.strict),
        (TextMatch::Regex, true, length, true)
    );
    assert_eq!(text_criterion(&json!({}), false), Ok(Some(TextConfig { re2: true, ..TextConfig::default() })));
    for nothing in [
        json!({"ignore": true}),
        json!({"matchStrategy": "skip"}),
        json!({"matchStrategy": "skip", "length": {"ignore": true}}),
    ] {
        assert_eq!(text_criterion(&nothing, false), Ok(None));
    }
    for (criterion, why) in [
        (json!({"matchStrategy": "nope"}), "`matchStrategy`: unknown variant `nope`"),
        (json!({"length": {}}), "`length` has no bound"),
        (json!({"length": {"min": -1}}), "`min`: invalid value"),
        (json!({"compareName": "mine"}), "registered in a Go program"),
    ] {
        let error = text_criterion(&criterion, false).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

fn keywords(options: &str, reply: &str, expected: &[&str]) -> Measured {
    let expected: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
    measure_keywords(&serde_json::from_str(options).unwrap(), reply, &expected).unwrap()
}

#[test]
fn keywords_are_whole_words_in_any_case() {
    let has = |reply, keyword| keywords("{}", reply, &[keyword]).is_full();
    assert!(has("The Art of war", "art"));
    assert!(!has("a party", "art"));
    assert!(has("a party of art", "art"));
    assert!(has("Flight to New\n  York, tomorrow", "new york"));
    assert!(has("costs $5.", "$5"));
    assert!(!has("costs $50.", "$5"));
    assert!(has("今天天气好", "天气"));
    assert!(has("Добрый день, МИР", "мир"));
    assert!(!has("Владимир", "мир"));
    assert!(has("ｆｕｌｌ width", "full"));
    assert!(has("caf\u{65}\u{301}", "café"));
    for (reply, keyword) in
        [("Fly to İSTANBUL.", "istanbul"), ("in i\u{307}stanbul", "İstanbul"), ("ISTANBUL", "İstanbul")]
    {
        assert!(has(reply, keyword), "{reply}");
    }
    assert!(keywords(r#"{"wholeWords": false}"#, "a party", &["art"]).is_full());
    assert!(!keywords(r#"{"caseInsensitive": false}"#, "ART", &["art"]).is_full());
}

#[test]
fn all_keywords_are_needed_or_one_and_the_score_is_their_share() {
    let some = keywords("{}", "one two", &["one", "two", "three", "four"]);
    assert_eq!((some.score.get(), some.is_full()), (0.5, false));
    assert_eq!(
        some.why,
        "2 of 4 keywords\n  missing: \"three\", \"four\"\n  found: \"one\", \"two\"\n  actual: \"one two\""
    );
    assert!(keywords(r#"{"need": "any"}"#, "one two", &["three", "two"]).is_full());
    let none = keywords(r#"{"need": "any", "keywords": ["x"]}"#, "one two", &["one"]);
    assert_eq!((none.score.get(), none.is_full()), (0.0, false));
    let error = measure_keywords(&KeywordsConfig::default(), "a", &[]).unwrap_err();
    assert_eq!(error.to_string(), "there are no keywords to look for: give `keywords`");
    let empty = KeywordsConfig { keywords: vec![" ".to_owned()], ..KeywordsConfig::default() };
    assert!(measure_keywords(&empty, "a", &[]).is_err());
}

proptest! {
    #[test]
    fn a_text_is_contains_and_has_itself(reply in "\\PC{1,30}", before in "\\PC{0,9}", after in "\\PC{0,9}") {
        let around = format!("{before}{reply}{after}");
        let upper = reply.to_uppercase();
        for (options, reply, expected) in [
            ("{}", &reply, reply.clone()),
            (r#"{"caseInsensitive": true}"#, &upper, upper.to_lowercase()),
            (r#"{"match": "contains"}"#, &around, reply.clone()),
            (r#"{"match": "regex"}"#, &around, regex::escape(&reply)),
        ] {
            let holds = passes(options, reply, &expected);
            prop_assert!(holds, "{} {:?} {:?}", options, reply, expected);
        }
        prop_assume!(!reply.trim().is_empty());
        let has = keywords("{}", &format!("{before} {reply} {after}"), &[&reply]).is_full();
        prop_assert!(has, "{}", around);
    }
}
