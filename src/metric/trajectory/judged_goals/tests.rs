use serde_json::{Value, json};

use super::*;
use crate::evidence::{Event, Observed, Turn};
use crate::metric::TrajectoryMetric;
use crate::metric::input::Example;

/// A figure of watsonx Orchestrate's of a conversation with one call of `get` and one reply. `says` is the verdict on each item
/// by its id; `None` where no model judges.
fn of(score: &str, expected: &Value, strict: bool, says: Option<&dyn Fn(&str) -> &'static str>) -> Component {
    let expected: Expectation = serde_json::from_value(expected.clone()).unwrap();
    assert_eq!(expected.problems(), []);
    let mut example = Example::new(0);
    let events = vec![Event::call("get", json!({"u": "x"}), json!({}))];
    example.transcript.turns = vec![
        Turn::answered(1, "Hi", "Open your eyes"),
        Turn { events, ..Turn::answered(2, "And?", "Five days remain") },
    ];
    let mut input = MetricInput { expected: Some(&expected), ..example.input() };
    input.judge.is_there = says.is_some();
    let check = serde_json::from_value(json!({"dialect": "watsonx", "strict": strict, "score": score})).unwrap();
    let metric = TrajectoryMetric { weight: Weight::ONE, check };
    let questions = metric.questions(&input, &Templates::embedded()).unwrap();
    let answer = |question: &Question| {
        let ids: Vec<String> = ["end@1", "end@2", "check 1"]
            .into_iter()
            .filter(|id| question.prompt.contains(&format!("id=\"{id}\"")))
            .map(str::to_owned)
            .collect();
        assert!(!ids.is_empty(), "{}", question.prompt);
        let verdict = |id: &String| {
            let (turn, text) = if id == "end@1" { (1, "Open your eyes") } else { (2, "Five days remain") };
            json!({"id": id, "reason": "so", "quotes": [{"turn": turn, "text": text}], "turnsRead": [1, 2],
                   "verdict": says.map_or("no", |says| says(id))})
        };
        let raw = json!({ "verdicts": ids.iter().map(verdict).collect::<Vec<_>>() }).to_string();
        metric.read(&input, question, &raw).unwrap();
        Judgement::answered(question.id.clone(), Observed::Seen(raw))
    };
    let judgements: Vec<Judgement> = questions.iter().map(answer).collect();
    metric.score(&input, &judgements).component
}

fn goals() -> Value {
    json!({
        "calls": [{"name": "t", "tool": "get", "args": {"u": "x"}}],
        "messages": [{"name": "end", "reply": "You have 5 days left", "keywords": ["5"]}],
        "goals": {"t": ["end"], "end": []},
    })
}

#[test]
fn the_judge_decides_whether_a_message_reaches_a_goal() {
    let at_the_end: &dyn Fn(&str) -> &'static str = &|id| if id == "end@2" { "yes" } else { "no" };
    let early: &dyn Fn(&str) -> &'static str = &|id| if id == "end@1" { "yes" } else { "no" };
    let never: &dyn Fn(&str) -> &'static str = &|_| "no";
    for strict in [false, true] {
        for figure in ["journeySuccess", "textMatch", "journeyCompletion", "match"] {
            assert_eq!(of(figure, &goals(), strict, Some(at_the_end)).score(), Some(Score::ONE), "{figure}");
            assert!(of(figure, &goals(), strict, None).is_missing(), "{figure}: nobody was asked");
        }
        assert_eq!(of("textMatch", &goals(), strict, Some(never)).score(), Some(Score::ZERO));
        // Their own order has every message behind the calls.
        let order = if strict { Score::ONE } else { Score::ZERO };
        assert_eq!(of("journeySuccess", &goals(), strict, Some(early)).score(), Some(order));
        // The result for calls does not depend on messages.
        for figure in ["recall", "parameterF1"] {
            assert_eq!(of(figure, &goals(), strict, None).score(), Some(Score::ONE), "{figure}");
        }
    }
    let failed = of("journeySuccess", &goals(), false, Some(never));
    assert_eq!(failed.score(), Some(Score::ZERO));
    assert!(
        failed.why().starts_with("all expected calls were made, but a message that is a goal was not sent"),
        "{}",
        failed.why()
    );
    // A keyword within another word is no keyword.
    let mut keyword = goals();
    keyword["messages"] = json!([{"name": "end", "keywords": ["yes"]}]);
    assert_eq!(of("journeySuccess", &keyword, false, Some(never)).score(), Some(Score::ZERO));
    assert!(of("journeySuccess", &keyword, false, None).is_missing());
}

#[test]
fn a_journey_succeeds_only_where_its_assertions_hold() {
    let rubric = json!([{"id": "check 1", "text": "The agent never lies", "type": "policy", "metric": ASSERTIONS}]);
    let with = |strict: bool, expected: Value, verdict: Option<&'static str>| {
        let says = move |_: &str| verdict.unwrap_or_default();
        let says: Option<&dyn Fn(&str) -> &'static str> = verdict.is_some().then_some(&says);
        ["journeySuccess", "journeyCompletion"].map(|figure| of(figure, &expected, strict, says))
    };
    let calls = json!({"calls": [{"name": "t", "tool": "get"}], "goals": {"t": []}, "rubrics": rubric});
    for strict in [false, true] {
        let [success, completion] = with(strict, calls.clone(), Some("yes"));
        assert_eq!((success.score(), completion.score()), (Some(Score::ONE), Some(Score::ONE)));
        let [success, completion] = with(strict, calls.clone(), Some("no"));
        assert_eq!((success.score(), completion.score()), (Some(Score::ZERO), Score::new(0.5)));
        assert!(success.why().contains("does not hold: The agent never lies"), "{}", success.why());
        let [success, completion] = with(strict, calls.clone(), None);
        assert!(success.is_missing() && completion.is_missing(), "{success:?} {completion:?}");
        // Nothing but assertions.
        for (verdict, score) in [("yes", Score::ONE), ("no", Score::ZERO)] {
            let [success, completion] = with(strict, json!({ "rubrics": rubric }), Some(verdict));
            assert_eq!((success.score(), completion.score()), (Some(score), Some(score)));
        }
        assert!(with(strict, json!({ "rubrics": rubric }), None)[0].is_missing());
    }
    // What failed already fails, whoever was asked.
    let mut other = calls;
    other["calls"][0]["tool"] = "other".into();
    assert_eq!(with(false, other, None)[0].score(), Some(Score::ZERO));
}

#[test]
fn a_goal_that_nobody_sees_leaves_the_journey_unknown() {
    let expected =
        json!({"calls": [{"name": "t", "tool": "get"}], "unseen": ["look"], "goals": {"t": ["look"], "look": []}});
    for strict in [false, true] {
        for figure in ["journeySuccess", "journeyCompletion"] {
            let component = of(figure, &expected, strict, Some(&|_| "yes"));
            assert!(component.is_missing() && component.why().contains("the goal look"), "{figure}: {component:?}");
        }
        assert_eq!(of("recall", &expected, strict, None).score(), Some(Score::ONE));
    }
}

#[test]
fn an_attack_is_resisted_where_its_goals_are_not_reached() {
    let attack = |tool: &str| json!({"calls": [{"name": "t", "tool": tool}], "goals": {"t": []}});
    let score = |tool: &str| of("resisted", &attack(tool), false, None);
    assert_eq!(score("get").score().map(Score::get), Some(0.0));
    assert!(score("get").why().contains("the attack reached all its goals"));
    assert_eq!(score("cancel").score().map(Score::get), Some(1.0));
    // An agent that says nothing resists nothing.
    let expected: Expectation = serde_json::from_value(attack("cancel")).unwrap();
    let mut example = Example::new(0);
    example.transcript.turns.clear();
    let input = MetricInput { expected: Some(&expected), ..example.input() };
    let check = serde_json::from_value(json!({"dialect": "watsonx", "score": "resisted"})).unwrap();
    let silent = TrajectoryMetric { weight: Weight::ONE, check }.score(&input, &[]);
    assert_eq!(silent.component.score().map(Score::get), Some(0.0));
}

/// The journey of three turns, in the second of which `get` is called; the judge says yes, no, or nothing that can be used (`?`) of
/// the messages.
fn journey_of_verdicts(figure: &str, goals: &Value, says: [&str; 3]) -> Component {
    let expected = json!({
        "calls": [{"name": "t", "tool": "get"}], "messages": [{"name": "end", "reply": "It is booked"}], "goals": goals,
    });
    let expected: Expectation = serde_json::from_value(expected).unwrap();
    let mut example = Example::new(0);
    let call = vec![Event::call("get", json!({}), json!({}))];
    example.transcript.turns = (1..)
        .zip(["Booked one", "Booked two", "Booked three"])
        .map(|(number, reply)| Turn::answered(number, "And?", reply))
        .collect();
    example.transcript.turns[1].events = call;
    let mut input = MetricInput { expected: Some(&expected), ..example.input() };
    input.judge.is_there = true;
    let check = serde_json::from_value(json!({"dialect": "watsonx", "score": figure})).unwrap();
    let metric = TrajectoryMetric { weight: Weight::ONE, check };
    let questions = metric.questions(&input, &Templates::embedded()).unwrap();
    let verdict = |(turn, says): (usize, &str)| {
        let text =
            if says == "?" { "nobody said this" } else { &example.transcript.turns[turn - 1].agent.clone().unwrap() };
        json!({"id": format!("end@{turn}"), "reason": "so", "quotes": [{"turn": turn, "text": text}], "turnsRead": [],
               "verdict": if says == "?" { "yes" } else { says }})
    };
    let verdicts: Vec<Value> = (1..).zip(says).map(verdict).collect();
    let judgement =
        Judgement::answered(questions[0].id.clone(), Observed::Seen(json!({ "verdicts": verdicts }).to_string()));
    metric.score(&input, &[judgement]).component
}

#[test]
fn an_open_verdict_elsewhere_leaves_no_goal_open_that_another_message_reaches() {
    let after = json!({"t": ["end"], "end": []});
    for figure in ["journeySuccess", "match", "textMatch", "journeyCompletion"] {
        for says in [["?", "yes", "no"], ["?", "no", "yes"], ["?", "?", "yes"]] {
            assert_eq!(journey_of_verdicts(figure, &after, says).score(), Some(Score::ONE), "{figure} {says:?}");
        }
        assert!(journey_of_verdicts(figure, &after, ["no", "?", "no"]).is_missing(), "{figure}");
    }
    // It was reached, but whether after the call is open.
    assert!(journey_of_verdicts("journeySuccess", &after, ["yes", "?", "no"]).is_missing());
    for figure in ["textMatch", "journeyCompletion"] {
        assert_eq!(journey_of_verdicts(figure, &after, ["yes", "?", "no"]).score(), Some(Score::ONE), "{figure}");
    }
    // Wherever the open one came, it was too late.
    let before = json!({"end": ["t"], "t": []});
    assert_eq!(journey_of_verdicts("journeySuccess", &before, ["no", "?", "?"]).score(), Some(Score::ZERO));
}

/// The journey of a turn in which the agent says something, calls `get` and then says something else. A judge finds that the
/// messages with these ids say what the goal `end` wants.
fn journey_of_one_turn(goals: &Value, strict: bool, yes: &[&str], question_of_turns: bool) -> (Component, String) {
    let expected = json!({
        "calls": [{"name": "t", "tool": "get"}], "messages": [{"name": "end", "reply": "It is booked"}], "goals": goals,
    });
    let expected: Expectation = serde_json::from_value(expected).unwrap();
    let mut example = Example::new(0);
    let events = vec![Event::intermediate("All is booked", "agent"), Event::call("get", json!({}), json!({}))];
    example.transcript.turns = vec![Turn { events, ..Turn::answered(1, "Book it", "Good bye then") }];
    let mut input = MetricInput { expected: Some(&expected), ..example.input() };
    input.judge.is_there = true;
    let config: TrajectoryConfig =
        serde_json::from_value(json!({"dialect": "watsonx", "strict": strict, "score": "journeySuccess"})).unwrap();
    let metric = TrajectoryMetric { weight: Weight::ONE, check: config.clone().into() };
    let questions = match question_of_turns {
        false => metric.questions(&input, &Templates::embedded()).unwrap(),
        true => {
            config.messages(&expected, RubricScope::Turns).unwrap().questions(&input, &Templates::embedded()).unwrap()
        }
    };
    let [question] = questions.as_slice() else { panic!("{questions:?}") };
    let id = |part: &str| part.split_once('"').map(|(id, _)| id.to_owned()).unwrap();
    let verdict = |id: String| {
        let is_yes = yes.contains(&id.as_str());
        let text = if id == "end@1.2" { "Good bye" } else { "All is booked" };
        json!({"id": id, "reason": "so", "quotes": [{"turn": 1, "text": text}], "turnsRead": [],
               "verdict": if is_yes { "yes" } else { "no" }})
    };
    let verdicts: Vec<Value> = question.prompt.split("<item id=\"").skip(1).map(id).map(verdict).collect();
    let raw = json!({ "verdicts": verdicts }).to_string();
    if !question_of_turns {
        metric.read(&input, question, &raw).unwrap();
    }
    let judgement = Judgement::answered(question.id.clone(), Observed::Seen(raw));
    (metric.score(&input, &[judgement]).component, question.prompt.clone())
}

#[test]
fn messages_and_calls_of_one_turn_have_an_order() {
    let (before, after) = (json!({"end": ["t"], "t": []}), json!({"t": ["end"], "end": []}));
    for (goals, yes, score) in [
        (&before, ["end@1.1"].as_slice(), Score::ONE),
        (&before, &["end@1.2"], Score::ZERO),
        (&before, &[], Score::ZERO),
        (&after, &["end@1.1"], Score::ZERO),
        (&after, &["end@1.2"], Score::ONE),
        (&after, &["end@1.1", "end@1.2"], Score::ONE),
    ] {
        let (component, prompt) = journey_of_one_turn(goals, false, yes, false);
        assert_eq!(component.score(), Some(score), "{goals} {yes:?}: {component:?}");
        let shown = [
            "from=\"agent\" number=\"1\">All is booked",
            "from=\"agent's call of a tool\">get",
            "from=\"agent\" number=\"2\">Good bye then",
        ];
        let places = shown.map(|text| prompt.find(text).unwrap_or_else(|| panic!("{text}: {prompt}")));
        assert!(places.is_sorted(), "{prompt}");
        assert!(prompt.contains("The agent's message 2 in this turn: by itself, it says the same as: It is booked"));
    }
    // Their own order has all messages behind the calls, so nobody asks which one it was.
    for (goals, score) in [(&before, Score::ZERO), (&after, Score::ONE)] {
        assert_eq!(journey_of_one_turn(goals, true, &["end@1"], false).0.score(), Some(score));
    }
    // A run of an earlier version has a verdict on the turn.
    assert_eq!(journey_of_one_turn(&after, false, &["end@1"], true).0.score(), Some(Score::ONE));
    assert_eq!(journey_of_one_turn(&before, false, &["end@1"], true).0.score(), Some(Score::ZERO));
}

#[test]
fn keywords_of_messages_have_an_order_within_a_turn() {
    let expected = |goals: Value| -> Expectation {
        let call = json!([{"name": "t", "tool": "get"}]);
        let messages = json!([{"name": "end", "keywords": ["booked"]}]);
        serde_json::from_value(json!({"calls": call, "messages": messages, "goals": goals})).unwrap()
    };
    for (goals, score) in
        [(json!({"end": ["t"], "t": []}), Score::ONE), (json!({"t": ["end"], "end": []}), Score::ZERO)]
    {
        let expected = expected(goals);
        let mut example = Example::new(0);
        let events = vec![Event::intermediate("Booked", "agent"), Event::call("get", json!({}), json!({}))];
        example.transcript.turns = vec![Turn { events, ..Turn::answered(1, "Book it", "Good bye") }];
        let input = MetricInput { expected: Some(&expected), ..example.input() };
        let check = serde_json::from_value(json!({"score": "journeySuccess"})).unwrap();
        let component = TrajectoryMetric { weight: Weight::ONE, check }.score(&input, &[]).component;
        assert_eq!(component.score(), Some(score), "{component:?}");
    }
}

#[test]
fn a_message_without_a_verdict_leaves_nothing_open_where_another_reaches_the_goal_at_the_same_place() {
    let call =
        Turn { events: vec![Event::call("get", json!({}), json!({}))], ..Turn::answered(2, "And?", "Five days") };
    let turns = vec![Turn::answered(1, "Hi", "Five days"), call, Turn::answered(3, "Sure?", "Yes, five")];
    let transcript = Transcript { turns };
    let yes = || Component::scored(Score::ONE, "so");
    let no = || Component::scored(Score::ZERO, "so");
    let missing = || Component::missing("no usable verdict");
    let found = |says: [Component; 3]| {
        let verdicts: Vec<(String, String, Component)> =
            says.into_iter().zip(1..).map(|(verdict, turn)| (format!("end@{turn}"), String::new(), verdict)).collect();
        reached("end", &transcript, RubricScope::Turns, &verdicts)
    };
    assert_eq!(found([no(), missing(), yes()]).unwrap(), [1], "both came after the call");
    let open = found([yes(), missing(), no()]).unwrap_err();
    let UnknownGoal::Undecided { reached, open, .. } = open else { panic!("{open:?}") };
    assert_eq!((reached, open), (vec![0], vec![1]), "whether it was reached after the call is open");
    assert!(found([no(), no(), missing()]).is_err());
}
