use serde_json::json;

use super::*;
use crate::evidence::Observed;
use crate::metric::input::Example;

const TASKS: Tasks = Tasks { weight: Weight::ONE };
const TONE: Tone = Tone { weight: Weight::ZERO };

fn judgement(reply: Observed<String>) -> Judgement {
    Judgement::answered(QUESTION, reply)
}

fn seen(reply: serde_json::Value) -> Judgement {
    judgement(Observed::Seen(reply.to_string()))
}

/// Tasks and tone.
fn dimensions(example: &Example, judgement: Option<Judgement>) -> [Dimension; 2] {
    let judgements: Vec<Judgement> = judgement.into_iter().collect();
    [TASKS.score(&example.input(), &judgements), TONE.score(&example.input(), &judgements)]
}

fn questions(example: &Example) -> Vec<Question> {
    TASKS.questions(&example.input(), &Templates::embedded()).unwrap()
}

#[test]
fn one_question_carries_prompt_and_schema() {
    let example = Example::new(2);
    let [question] = &questions(&example)[..] else { panic!() };
    assert!(question.prompt.contains("task 2"));
    assert_eq!((question.schema.clone(), question.temperature), (verdict::reply_schema(2, false), 0.0));
    let of_tone = TONE.questions(&example.input(), &Templates::embedded()).unwrap();
    assert_eq!(of_tone, [Question { metric: "tone".to_owned(), ..question.clone() }], "it is asked once");
}

#[test]
fn a_verdict_that_was_there_before_the_judge_was_asked_is_not_the_judges() {
    let verdict = r#"{"tasks": [{"index": 1, "reason": "one or two sentences", "score": 0.0}]}"#;
    let example = Example::new(1);
    let prompt = format!("Reply like this:\n{verdict}\nThe transcript: …");
    let question = Question { prompt, ..questions(&example).remove(0) };
    for echo in [verdict.to_owned(), verdict.replace(' ', ""), verdict.replace(": ", ":\n")] {
        let problem = TASKS.read(&example.input(), &question, &echo).unwrap_err().to_string();
        assert!(problem.starts_with("The verdict stands word for word in what you were given"), "{problem}");
    }
    assert_eq!(TASKS.read(&example.input(), &question, &verdict.replace("0.0", "0.5")), Ok(()));
}

#[test]
fn a_judge_that_fails_leaves_the_others_to_decide_where_they_agree() {
    let example = Example::new(1);
    let scored = |score: f64| {
        let task = json!({"index": 1, "reason": "r", "quotes": [], "turnsRead": [0, 1], "score": score});
        seen(json!({"tasks": [task]}))
    };
    let down = || judgement(Observed::Failed("it is down".to_owned()));
    let score = |judgements: &[Judgement]| TASKS.score(&example.input(), judgements).component;
    assert_eq!(score(&[scored(0.5), scored(0.5), down()]).score(), Score::new(0.5));
    assert_eq!(score(&[scored(0.9), scored(0.0)]).score(), Score::new(0.45));
    let apart = "2 of 3 verdicts can be used, and the others could have turned the result: it is down";
    let component = score(&[scored(0.9), scored(0.0), down()]);
    assert!(component.is_missing() && component.why().contains(apart), "{component:?}");
}

#[test]
fn nobody_is_asked_where_there_is_nothing_to_judge() {
    let mut silent = Example::new(2);
    silent.transcript.turns[0].agent = None;
    assert!(questions(&silent).is_empty());
    let [tasks, tone] = dimensions(&silent, None);
    assert_eq!(tasks.component, Component::scored(Score::ZERO, "the agent never replied"));
    assert!(tasks.items.iter().all(|item| item.component.score() == Some(Score::ZERO)));
    assert_eq!(tasks.items.len(), 2);
    assert!(matches!(tone.component, Component::NotApplicable { .. }));
    assert!(questions(&Example::new(0)).is_empty());
    assert!(matches!(dimensions(&Example::new(0), None)[0].component, Component::NotApplicable { .. }));
}

#[test]
fn the_score_is_the_mean_and_the_items_carry_the_reasons() {
    let reply = json!({
        "tasks": [{"index": 2, "reason": "half", "score": 0.5}, {"index": 1, "reason": "all", "score": 1}],
        "tone": {"reason": "kind", "score": 0.9},
    });
    let example = Example::new(2);
    assert_eq!(TASKS.read(&example.input(), &questions(&example)[0], &reply.to_string()), Ok(()));
    let [tasks, tone] = dimensions(&example, Some(seen(reply)));
    assert_eq!(tasks.component, Component::scored(Score::clamped(0.75), "1 of 2 done well (above 0.6)"));
    let items: Vec<_> = tasks.items.iter().map(|item| (item.label.as_str(), item.component.why())).collect();
    assert_eq!(items, [("task 1", "all"), ("task 2", "half")]);
    assert_eq!(tone.component, Component::scored(Score::clamped(0.9), "kind"));
}

#[test]
fn a_score_of_exactly_the_threshold_is_not_good() {
    let reply = json!({"tasks": [{"index": 1, "reason": "so so", "score": 0.6}], "tone": {"reason": "ok", "score": 1}});
    let [tasks, _] = dimensions(&Example::new(1), Some(seen(reply)));
    assert!(tasks.component.why().starts_with("0 of 1"));
    assert_eq!(tasks.good_above, Score::new(0.6));
}

#[test]
fn a_verdict_rests_on_quotes_where_it_must() {
    let example = Example::new(2);
    let mut input = example.input();
    input.judge.needs_evidence = true;
    let question = TASKS.questions(&input, &Templates::embedded()).unwrap().remove(0);
    assert!(question.prompt.contains("`turnsRead`") && !questions(&example)[0].prompt.contains("turnsRead"));
    let reply = |first: &str, tone: &str| {
        let entry = |index: usize, quote: &str| json!({"index": index, "reason": "so", "quotes": [{"turn": 1, "text": quote}], "turnsRead": [], "score": 1});
        let absent = json!({"index": 2, "reason": "so", "quotes": [], "turnsRead": [1], "score": 0});
        json!({"tasks": [entry(1, first), absent], "tone": entry(1, tone)}).to_string()
    };
    let dimensions = |raw: &str| {
        let judgements = [judgement(Observed::Seen(raw.to_owned()))];
        [TASKS.score(&input, &judgements), TONE.score(&input, &judgements)]
    };
    assert_eq!(TASKS.read(&input, &question, &reply("Hello", "Hello")), Ok(()));
    assert_eq!(dimensions(&reply("Hello", "Hello"))[0].component.score(), Score::new(0.5));

    let is_unsupported = |quote: &str| dimensions(&reply(quote, "Hello"))[0].items[0].component.is_unsupported();
    assert!(!is_unsupported("Hello") && is_unsupported("Hi"), "of the agent, of the user");

    let made_up = reply("I booked it", "You fool");
    let problem = "The verdict on task 1 quotes \"I booked it\", which does not stand in turn 1.";
    assert_eq!(TASKS.read(&input, &question, &made_up), Err(ReplyError::InPart(vec![problem.to_owned()])));
    assert_eq!(TONE.read(&input, &question, &made_up), Ok(()), "it does not count");
    assert!(Tone { weight: Weight::ONE }.read(&input, &question, &made_up).is_err());
    let [tasks, tone] = dimensions(&made_up);
    assert_eq!(tasks.items[0].component, Component::missing(problem));
    assert_eq!(tasks.items[1].component.score(), Some(Score::ZERO));
    assert!(tasks.component.is_missing() && tone.component.is_missing());
    // A judge that names nothing at all.
    let bare = json!({"tasks": [{"index": 1, "reason": "so", "score": 1}, {"index": 2, "reason": "so", "score": 1}]});
    assert!(TASKS.read(&input, &question, &bare.to_string()).is_err());
    assert!(dimensions(&bare.to_string())[0].component.is_missing());
    // Of three samples two can be used.
    let good = || judgement(Observed::Seen(reply("Hello", "Hello")));
    let three = [good(), judgement(Observed::Seen(made_up)), good()];
    assert_eq!(TASKS.score(&input, &three).items[0].component.score(), Some(Score::ONE));
}

#[test]
fn what_the_judge_did_not_say_is_missing() {
    for judgement in [
        None,
        Some(judgement(Observed::Failed("3 unusable replies".into()))),
        Some(judgement(Observed::Seen("Very good!".into()))),
    ] {
        let [tasks, tone] = dimensions(&Example::new(2), judgement);
        assert!(tasks.component.is_missing() && tone.component.is_missing());
        assert!(tasks.items.iter().all(|item| item.component.is_missing()));
    }
    let toneless = json!({"tasks": [{"index": 1, "reason": "all", "score": 1}]});
    let [tasks, tone] = dimensions(&Example::new(1), Some(seen(toneless.clone())));
    assert_eq!(tasks.component.score(), Some(Score::ONE));
    assert!(tone.component.is_missing());
    let example = Example::new(1);
    let (question, raw) = (&questions(&example)[0], toneless.to_string());
    assert_eq!(TONE.read(&example.input(), question, &raw), Ok(()), "it does not count");
    assert!(Tone { weight: Weight::ONE }.read(&example.input(), question, &raw).is_err());
}

#[test]
fn what_the_judge_of_tasks_is_not_shown_is_not_cut() {
    let mut example = Example::new(1);
    let result = serde_json::Value::from("lorem ".repeat(6_000));
    let turn = &mut example.transcript.turns[0];
    turn.events = vec![crate::evidence::Event::call("find", json!({}), json!(null))];
    turn.events.push(crate::evidence::Event::response(result, json!(null)));
    let absent = |example: &Example| {
        let mut input = example.input();
        input.judge.needs_evidence = true;
        let entry = json!({"index": 1, "reason": "so", "quotes": [], "turnsRead": [1], "score": 0});
        TASKS.score(&input, &[judgement(Observed::Seen(json!({"tasks": [entry], "tone": null}).to_string()))]).component
    };
    assert_eq!(absent(&example).score(), Some(Score::ZERO));
    example.transcript.turns[0].agent = Some("lorem ".repeat(6_000));
    assert!(absent(&example).is_missing(), "its reply was cut");
}
