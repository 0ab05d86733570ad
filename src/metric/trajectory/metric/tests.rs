use serde_json::{Value, json};

use super::*;
use crate::evidence::{Event, Turn};
use crate::metric::ExpectedTurn;
use crate::metric::input::Example;

fn metric(options: Value) -> TrajectoryMetric {
    TrajectoryMetric { weight: Weight::ONE, check: serde_json::from_value(options).unwrap() }
}

/// The agent calls `book` with these arguments; `expected` is what the case expects.
fn example(args: Value) -> Example {
    let mut example = Example::new(0);
    let events = vec![Event::call("book", args, json!({}))];
    example.transcript.turns = vec![Turn { events, ..Turn::answered(1, "Book", "Booked") }];
    example
}

fn score(options: Value, expected: Value, args: Value) -> Component {
    let expected: Expectation = serde_json::from_value(json!({"calls": [expected]})).unwrap();
    assert_eq!(expected.problems(), []);
    let example = example(args);
    let input = MetricInput { expected: Some(&expected), ..example.input() };
    metric(options).score(&input, &[]).component
}

#[test]
fn a_script_compares_an_argument_of_a_call_or_of_a_tool() {
    let wanted = |script: &str| json!({"tool": "book", "args": {"price": 10, "a.b": 1}, "match": {"price": {"compare": script}}});
    let near = "actual >= expected * 0.9 && actual <= expected * 1.1";
    assert_eq!(score(json!({}), wanted(near), json!({"price": 11, "a.b": 1})).score(), Some(Score::ONE));
    let far = score(json!({}), wanted(near), json!({"price": 12, "a.b": 1}));
    assert_eq!(far.score(), Some(Score::ZERO));
    assert!(far.why().contains("args.price: expected 10, got 12 (by its script)"), "{}", far.why());
    let rules = json!({"tools": {"book": {"arguments": {"compare": "actual.price < expected.price"}}}});
    let plain = json!({"tool": "book", "args": {"price": 10}});
    assert_eq!(score(rules.clone(), plain.clone(), json!({"price": 9})).score(), Some(Score::ONE));
    assert_eq!(score(rules, plain, json!({"price": 10})).score(), Some(Score::ZERO));
}

#[test]
fn what_a_script_cannot_tell_is_missing_unless_the_calls_differ_anyway() {
    let wanted = json!({"tool": "book", "args": {"price": 10, "to": "Rome"}, "match": {"price": {"compare": "actual < expected"}}});
    let unknown = score(json!({}), wanted.clone(), json!({"price": "ten", "to": "Rome"}));
    assert_eq!(
        unknown,
        Component::missing("price: its script could not tell: `<` can't compare the text \"ten\" with the number 10")
    );
    assert_eq!(score(json!({}), wanted.clone(), json!({"price": "ten", "to": "Bern"})).score(), Some(Score::ZERO));
    let partly = score(json!({"score": "parameterMatch"}), wanted, json!({"price": "ten", "to": "Bern"}));
    assert!(partly.is_missing(), "{partly:?}");
}

#[test]
fn what_a_script_cannot_tell_in_a_list_without_order_is_missing_where_it_could_decide() {
    let options = json!({"listOrder": false});
    let wanted = json!({"tool": "book", "args": {"of": [{"n": 1, "p": 10}, {"n": 2, "p": 10}]}, "match": {"of.p": {"compare": "actual < expected"}}});
    let got = |first: Value, second: Value| score(options.clone(), wanted.clone(), json!({"of": [first, second]}));
    assert_eq!(got(json!({"n": 2, "p": 9}), json!({"n": 1, "p": 9})).score(), Some(Score::ONE));
    assert_eq!(got(json!({"n": 2, "p": 9}), json!({"n": 1, "p": 11})).score(), Some(Score::ZERO));
    let unknown = got(json!({"n": 2, "p": "ten"}), json!({"n": 1, "p": 9}));
    let why = "of.p: its script could not tell: `<` can't compare the text \"ten\" with the number 10";
    assert_eq!(unknown, Component::missing(why));
    // No way of pairing them is as expected, whatever the script would say.
    assert_eq!(got(json!({"n": 3, "p": "ten"}), json!({"n": 1, "p": 9})).score(), Some(Score::ZERO));
    assert_eq!(got(json!({"n": 2, "p": "ten"}), json!({"n": 1, "p": 11})).score(), Some(Score::ZERO));
    // Equal in everything that decides: another pairing holds without the one that is not known.
    let same = json!({"tool": "book", "args": {"of": [{"p": 10}, {"p": "x"}]}, "match": {"of.p": {"compare": "actual <= expected"}}});
    let held = score(options.clone(), same, json!({"of": [{"p": "x"}, {"p": 10}]}));
    assert_eq!(held.score(), Some(Score::ONE), "{held:?}");
}

#[test]
fn scripts_of_all_calls_together_have_one_time_limit() {
    let endless = "let n = 0; for i in 0..100000 { n += 1; } n < actual";
    let call = |at: usize| json!({"tool": "book", "args": {"n": at}, "match": {"n": {"compare": endless}}});
    let expected: Expectation =
        serde_json::from_value(json!({"calls": (0..60).map(call).collect::<Vec<_>>()})).unwrap();
    let actual: Vec<ToolUse> = (0..60).map(|at| ToolUse::new("book", json!({"n": at}))).collect();
    let clock = crate::clock::Clock::system();
    let (started, deadline) = (clock.start(), clock.deadline(std::time::Duration::from_millis(200)));
    let made = TrajectoryInput { actual: &actual, deadline: Some(deadline), ..Default::default() };
    let component = metric(json!({"order": "anyOrder"})).compare(&expected, made, &LettersOnly);
    assert!(component.why().contains("took longer than 0.2 s"), "{}", component.why());
    assert!(started.elapsed_ms() < 30_000.0, "{} ms", started.elapsed_ms());
}

/// The questions about a conversation in which `book` was called once with each of these arguments.
fn asked(
    options: Value,
    expected: Value,
    actual: &[Value],
    judge: (bool, bool),
) -> (Vec<Question>, impl Fn(&[Judgement]) -> Component) {
    let expected: Expectation = serde_json::from_value(json!({ "calls": expected })).unwrap();
    let mut example = Example::new(0);
    let events = actual.iter().map(|args| Event::call("book", args.clone(), json!({})));
    example.transcript.turns = vec![Turn { events: events.collect(), ..Turn::answered(1, "Book", "Booked") }];
    let metric = metric(options);
    let with = move |judgements: Option<&[Judgement]>| {
        let base = example.input();
        let judge = crate::metric::JudgeInput { is_there: judge.0, has_embeddings: judge.1, ..base.judge };
        let input = MetricInput { expected: Some(&expected), judge, ..base };
        match judgements {
            Some(judgements) => (Vec::new(), Some(metric.score(&input, judgements).component)),
            None => (metric.questions(&input, &Templates::embedded()).unwrap(), None),
        }
    };
    (with(None).0, move |judgements: &[Judgement]| with(Some(judgements)).1.unwrap())
}

fn reply(question: &Question, raw: Value) -> Judgement {
    Judgement::answered(question.id.clone(), crate::evidence::Observed::Seen(raw.to_string()))
}

fn wanted(to: &str, day: &str) -> Value {
    json!({"tool": "book", "args": {"to": to, "day": day}, "match": {"to": "fuzzy"}})
}

#[test]
fn the_judge_is_asked_about_texts_of_calls_that_are_the_same_otherwise() {
    let calls = json!([wanted("Roma", "Monday"), wanted("Bern", "Tuesday")]);
    let actual = [json!({"to": "the capital of Italy", "day": "Monday"}), json!({"to": "Bern", "day": "Sunday"})];
    let (questions, score) = asked(json!({}), calls, &actual, (true, true));
    let [question] = questions.as_slice() else { panic!("{questions:?}") };
    assert_eq!((question.to, question.metric.as_str()), (QuestionTo::Judge, "trajectory"));
    assert!(question.prompt.contains(r#"["Roma","the capital of Italy"]"#), "{}", question.prompt);
    assert_eq!(score(&[reply(question, json!({"same": true}))]).score(), Some(Score::ZERO), "another day");
    let one = json!([wanted("Roma", "Monday")]);
    let (questions, score) = asked(json!({}), one, &actual[..1], (true, true));
    let held = score(&[reply(&questions[0], json!({"same": true, "reason": "x"}))]);
    assert_eq!(held.score(), Some(Score::ONE));
    assert!(held.why().ends_with("the judge: the same"), "{}", held.why());
    let other = score(&[reply(&questions[0], json!({"same": false}))]);
    assert!(other.score() == Some(Score::ZERO) && other.why().contains("the judge: not the same"), "{other:?}");
    let failed =
        Judgement { reply: crate::evidence::Observed::Failed("down".to_owned()), ..reply(&questions[0], json!(1)) };
    assert_eq!(score(&[failed]), Component::missing("to: down"));
    // A run of an earlier version, without questions.
    assert!(score(&[]).why().contains("letters: WRatio"), "{:?}", score(&[]));
}

#[test]
fn without_a_judge_embeddings_decide_by_the_threshold_and_then_letters() {
    let calls = || json!([wanted("Rome, Italy", "Monday")]);
    let actual = [json!({"to": "The capital", "day": "Monday"})];
    let (questions, score) = asked(json!({"similarity": 0.7}), calls(), &actual, (false, true));
    assert_eq!(questions[0].to, QuestionTo::Embeddings);
    assert_eq!(questions[0].prompt, r#"["Rome, Italy","The capital"]"#);
    let held = score(&[reply(&questions[0], json!({"cosine": 0.71}))]);
    assert!(
        held.score() == Some(Score::ONE) && held.why().ends_with("embeddings: cosine 0.71, 0.7 needed"),
        "{held:?}"
    );
    assert_eq!(score(&[reply(&questions[0], json!({"cosine": 0.69}))]).score(), Some(Score::ZERO));
    assert!(score(&[reply(&questions[0], json!({"cosine": 7}))]).is_missing());
    let (questions, score) = asked(json!({}), calls(), &actual, (false, false));
    assert!(questions.is_empty() && score(&[]).why().contains("letters: WRatio"));
    // watsonx itself asks no judge.
    let strict = json!({"dialect": "watsonx", "strict": true});
    assert!(asked(strict.clone(), calls(), &actual, (true, false)).0.is_empty());
    assert_eq!(asked(strict, calls(), &actual, (true, true)).0[0].to, QuestionTo::Embeddings);
}

#[test]
fn at_most_50_pairs_are_asked_about_and_the_others_are_missing() {
    let calls: Vec<Value> = (0..60).map(|at| wanted(&format!("place {at}"), &format!("day {at}"))).collect();
    let actual: Vec<Value> =
        (0..60).map(|at| json!({"to": format!("spot {at}"), "day": format!("day {at}")})).collect();
    let (questions, score) = asked(json!({}), calls.into(), &actual, (true, false));
    assert_eq!(questions.len(), 50);
    let all: Vec<Judgement> = questions.iter().map(|question| reply(question, json!({"same": true}))).collect();
    let why = "to: 60 pairs of texts may mean the same, and at most 50 are asked about in a conversation";
    assert_eq!(score(&all), Component::missing(why));
    let (same, blank) = (
        json!([wanted("Rome", "x"), wanted(" ", "y")]),
        [json!({"to": "rome", "day": "x"}), json!({"to": "R", "day": "y"})],
    );
    assert!(asked(json!({}), same, &blank, (true, true)).0.is_empty(), "equal texts and blanks are nobody's question");
}

#[test]
fn a_reply_that_says_nothing_about_a_pair_is_sent_back() {
    let (questions, _) = asked(json!({}), json!([wanted("a", "x")]), &[json!({"to": "b", "day": "x"})], (true, false));
    let example = Example::new(0);
    let read =
        |raw: &str| metric(json!({})).read(&example.input(), &questions[0], raw).map_err(|error| error.to_string());
    assert_eq!(read(r#"{"same": true, "reason": "x"}"#), Ok(()));
    assert_eq!(
        read(r#"{"same": "yes"}"#).unwrap_err(),
        "The reply must be an object with `same`, which is true or false."
    );
    assert!(read("yes").unwrap_err().starts_with("The reply is not JSON"));
}

#[test]
fn a_result_that_comes_in_a_later_turn_is_that_of_its_call() {
    let mut example = example(json!({"seats": 2}));
    let answered = Event::response(json!("table 7"), json!({}));
    example.transcript.turns.push(Turn { events: vec![answered], ..Turn::answered(2, "And?", "Table 7") });
    let score = |result: &str| {
        let call = json!({"calls": [{"tool": "book", "args": {"seats": 2}, "result": result}]});
        let expected: Expectation = serde_json::from_value(call).unwrap();
        let line = ExpectedTurn { turn: 1, say: "Book", expected: Cow::Owned(expected) };
        let input = MetricInput { lines: vec![line], ..example.input() };
        metric(json!({"results": true})).score(&input, &[]).component
    };
    assert_eq!(score("table 7").score(), Some(Score::ONE), "{:?}", score("table 7"));
    assert_eq!(score("table 8").score(), Some(Score::ZERO));
}
