use serde_json::{Value, json};

use super::*;
use crate::evidence::{Transcript, Turn};
use crate::metric::input::Example;
use crate::metric::trajectory::Expectation;
use crate::metric::{ExpectedTurn, JudgeInput};

fn metric() -> PairwiseMetric {
    PairwiseMetric {
        weight: Weight::ONE,
        config: PairwiseConfig { criteria: "Shorter".to_owned(), judging: JudgeOptions::default() },
    }
}

fn example() -> Example {
    let mut example = Example::new(0);
    example.transcript = Transcript { turns: vec![Turn::answered(1, "A table", "Your table is booked & <paid>")] };
    example
}

fn input<'a>(example: &'a Example, expected: &'a Expectation, samples: u32) -> MetricInput<'a> {
    let input = example.input();
    let judge = JudgeInput { is_there: true, samples, ..input.judge };
    let line = ExpectedTurn { turn: 1, say: "A table", expected: std::borrow::Cow::Borrowed(expected) };
    MetricInput { judge, lines: vec![line], ..input }
}

fn expected() -> Expectation {
    Expectation { reply: Some("We are closed on Mondays".to_owned()), ..Expectation::default() }
}

fn says(better: &str, conversation: &str, quote: &str) -> Value {
    json!({"reason": "so", "quotes": [{"conversation": conversation, "text": quote}], "verdict": better})
}

fn judgement(order: Order, sample: u32, reply: &Value) -> Judgement {
    Judgement { sample, ..Judgement::answered(metric().id(order), Observed::Seen(reply.to_string())) }
}

fn scored(forth: &Value, back: &Value) -> Component {
    let (example, expected) = (example(), expected());
    let judgements = [judgement(Order::AgentFirst, 1, forth), judgement(Order::OtherFirst, 1, back)];
    metric().score(&input(&example, &expected, 1), &judgements).component
}

#[test]
fn both_orders_are_asked_and_each_shows_both_conversations_escaped() {
    let (example, expected) = (example(), expected());
    let questions = metric().questions(&input(&example, &expected, 2), &Templates::embedded()).unwrap();
    let keys: Vec<_> =
        questions.iter().map(|question| (question.id.split('-').next_back().unwrap(), question.sample)).collect();
    assert_eq!(keys, [("agentFirst", 1), ("agentFirst", 2), ("otherFirst", 1), ("otherFirst", 2)]);
    let at = |question: &Question, text: &str| question.prompt.find(text).unwrap();
    let (own, other) = ("Your table is booked &amp; &lt;paid>", "We are closed on Mondays");
    assert!(at(&questions[0], own) < at(&questions[0], other));
    assert!(at(&questions[2], other) < at(&questions[2], own));
    assert!(questions.iter().all(|question| metric().reads(question)));
}

#[test]
fn what_holds_in_both_orders_counts_and_what_depends_on_them_is_no_win() {
    let booked = "Your table is booked";
    let win = scored(&says("first", "first", booked), &says("second", "second", booked));
    assert_eq!(win, Component::scored(Score::ONE, "so (in both orders)"));
    let loss = scored(&says("second", "second", "We are closed"), &says("first", "first", "We are closed"));
    assert_eq!(loss.score(), Some(Score::ZERO));
    let first_is_best = scored(&says("first", "first", booked), &says("first", "first", "We are closed"));
    assert_eq!(first_is_best.score(), Some(Score::clamped(0.5)));
    assert!(first_is_best.why().contains("unstable: 1.00 where it is read first, 0.00 where it is read second"));
    let equal = json!({"reason": "so", "quotes": [], "verdict": "equal"});
    assert_eq!(scored(&equal, &equal).score(), Some(Score::clamped(0.5)));
}

#[test]
fn a_verdict_rests_on_the_words_of_an_assistant() {
    let (example, expected) = (example(), expected());
    let input = input(&example, &expected, 1);
    let question = &metric().questions(&input, &Templates::embedded()).unwrap()[0];
    let read = |reply: &Value| metric().read(&input, question, &reply.to_string()).map_err(|error| error.to_string());
    assert_eq!(read(&says("first", "first", "table is booked & <paid>")), Ok(()));
    for (reply, why) in [
        (says("first", "second", "Your table is booked"), "does not stand in the second conversation"),
        (says("first", "first", "A table"), "nothing that an assistant said"),
        (json!({"reason": "so", "quotes": [], "verdict": "second"}), "nothing that an assistant said"),
        (json!({"reason": "so", "quotes": [], "verdict": "both"}), "`verdict`: first, second or equal"),
        (json!([1]), "must be an object"),
    ] {
        let error = read(&reply).unwrap_err();
        assert!(error.contains(why), "{reply}: {error}");
    }
    assert!(metric().read(&input, question, "All is well").unwrap_err().to_string().contains("not JSON"));
    let twice = r#"{"reason": "so", "quotes": [], "verdict": "equal", "verdict": "first"}"#;
    assert!(metric().read(&input, question, twice).unwrap_err().to_string().contains("twice"));
}

#[test]
fn only_what_has_another_side_is_compared() {
    let (mut example, expected) = (example(), expected());
    example.transcript.turns.push(Turn::answered(2, "And a menu", "Here is the menu"));
    let partial = input(&example, &expected, 1);
    let questions = metric().questions(&partial, &Templates::embedded()).unwrap();
    assert!(!questions[0].prompt.contains("Here is the menu"), "nothing is expected of it");
    // A reference that is silent in a turn, and one that never says a word.
    let silent = Expectation::default();
    let line =
        |turn, expected| ExpectedTurn { turn, say: "And a menu", expected: std::borrow::Cow::Borrowed(expected) };
    let mut of_reference = MetricInput { is_of_reference: true, ..partial.clone() };
    of_reference.lines.push(line(2, &silent));
    let questions = metric().questions(&of_reference, &Templates::embedded()).unwrap();
    assert_eq!(questions[0].prompt.matches("And a menu").count(), 2, "its silence is shown");
    assert!(questions[0].prompt.contains("Here is the menu"));
    of_reference.lines.remove(0);
    let component = metric().score(&of_reference, &[]).component;
    assert_eq!(component, Component::missing("the reference agent never replied"));
}

#[test]
fn a_quote_is_the_assistants_of_its_own_conversation() {
    let example =
        Example { transcript: Transcript { turns: vec![Turn::answered(1, "We are closed", "No")] }, ..example() };
    let expected = expected();
    let input = input(&example, &expected, 1);
    let question = &metric().questions(&input, &Templates::embedded()).unwrap()[0];
    let reply = says("first", "first", "We are closed").to_string();
    let error = metric().read(&input, question, &reply).unwrap_err().to_string();
    assert!(error.contains("nothing that an assistant said"), "{error}");
}

#[test]
fn one_order_without_a_verdict_is_no_score() {
    let (example, expected) = (example(), expected());
    let one = [judgement(Order::AgentFirst, 1, &says("first", "first", "Your table is booked"))];
    let input = input(&example, &expected, 1);
    assert_eq!(metric().score(&input, &one).component, Component::missing("the judge was not asked"));
    let alone = MetricInput { lines: Vec::new(), ..input.clone() };
    assert!(matches!(metric().score(&alone, &one).component, Component::NotApplicable { .. }));
    assert!(metric().questions(&alone, &Templates::embedded()).unwrap().is_empty());
    let silent = Transcript { turns: vec![Turn::begun(1, "A table".to_owned())] };
    let silent = MetricInput { transcript: &silent, ..input };
    assert_eq!(metric().score(&silent, &[]).component.score(), Some(Score::ZERO));
}

#[test]
fn samples_that_disagree_in_one_order_are_unstable() {
    let (example, expected) = (example(), expected());
    let (booked, closed) = ("Your table is booked", "We are closed");
    let own = |order, sample| {
        judgement(
            order,
            sample,
            &match order {
                Order::AgentFirst => says("first", "first", booked),
                Order::OtherFirst => says("second", "second", booked),
            },
        )
    };
    let other = |order, sample| {
        judgement(
            order,
            sample,
            &match order {
                Order::AgentFirst => says("second", "second", closed),
                Order::OtherFirst => says("first", "first", closed),
            },
        )
    };
    let (forth, back) = (Order::AgentFirst, Order::OtherFirst);
    let judgements = [own(forth, 1), other(forth, 2), own(back, 1), other(back, 2)];
    let component = metric().score(&input(&example, &expected, 2), &judgements).component;
    assert_eq!(component.score(), Some(Score::clamped(0.5)));
    assert!(component.is_unstable() && component.why().contains("unstable: the samples differ"), "{component:?}");
}

#[test]
fn a_verdict_without_a_reason_is_none() {
    let booked = "Your table is booked";
    let mut bare = says("first", "first", booked);
    bare["reason"] = json!(" ");
    assert!(scored(&bare, &says("second", "second", booked)).is_missing());
    let equal = json!({"reason": "alike", "quotes": [], "verdict": "equal"});
    assert!(scored(&equal, &equal).why().contains("alike (rests on no word of the agent)"), "it says so");
}

#[test]
fn strict_grades_each_turn_with_letters_and_the_agents_reply_first() {
    let (mut example, expected) = (example(), expected());
    example.transcript.turns.push(Turn::answered(2, "And a menu", "Here is the menu"));
    let mut two = input(&example, &expected, 3);
    two.lines.push(ExpectedTurn { turn: 2, say: "And a menu", expected: std::borrow::Cow::Borrowed(&expected) });
    let strict = |sample_from| {
        let judging = JudgeOptions { strict: true, sample_from, ..JudgeOptions::default() };
        PairwiseMetric { weight: Weight::ONE, config: PairwiseConfig { criteria: "Shorter".to_owned(), judging } }
    };
    let metric = strict(Some(Score::clamped(0.5)));
    let questions = metric.questions(&two, &Templates::embedded()).unwrap();
    assert_eq!(questions.len(), 6, "two turns, three samples of each, one order");
    assert!(questions.iter().all(|question| metric.reads(question) && question.schema.wants_alternatives));
    let at = |text: &str| questions[0].prompt.find(text).unwrap();
    assert!(at("Your table is booked &amp; &lt;paid>") < at("We are closed on Mondays"));
    assert!(!questions[0].prompt.contains("Here is the menu"), "a turn at a time");
    let letters = r#"{"reason": "so", "score_A": "B", "score_B": "C"}"#;
    assert!(metric.read(&two, &questions[0], letters).is_ok());
    assert!(metric.read(&two, &questions[0], r#"{"verdict": "first"}"#).is_err());
    let judged = |question: &Question, score: f64| Judgement {
        question: question.id.clone(),
        sample: question.sample,
        alternatives: vec![crate::evidence::ScoreAlternative { score, probability: 0.7 }],
        ..judgement(Order::AgentFirst, 1, &json!({}))
    };
    // The first turn has two samples for the agent, of which the first stands for them; the second one has none.
    let scores = [6.0, 2.0, 9.0, 1.0, 2.0, 3.0];
    let all: Vec<Judgement> = questions.iter().zip(scores).map(|(question, score)| judged(question, score)).collect();
    let component = metric.score(&two, &all).component;
    assert!((component.score().unwrap().get() - (0.6 + 0.1) / 2.0).abs() < 1e-9, "{component:?}");
    assert!(component.why().contains("0.60 for turn 1, 0.10 for turn 2"), "{component:?}");
    let mean = strict(None);
    let all: Vec<Judgement> =
        mean.questions(&two, &Templates::embedded()).unwrap().iter().map(|it| judged(it, 4.0)).collect();
    let score = mean.score(&two, &all).component.score().unwrap().get();
    assert!((score - 0.4).abs() < 1e-9, "{score}");
}

#[test]
fn letters_without_probabilities_are_no_score() {
    let (example, expected) = (example(), expected());
    let input = input(&example, &expected, 1);
    let judging = JudgeOptions { strict: true, ..JudgeOptions::default() };
    let metric =
        PairwiseMetric { weight: Weight::ONE, config: PairwiseConfig { judging, ..PairwiseConfig::default() } };
    let question = metric.questions(&input, &Templates::embedded()).unwrap().remove(0);
    let scored = |reply| {
        let judgement =
            Judgement { question: question.id.clone(), reply, ..judgement(Order::AgentFirst, 1, &json!({})) };
        metric.score(&input, &[judgement]).component
    };
    let letters = scored(Observed::Seen(r#"{"reason": "", "score_A": "A", "score_B": "B"}"#.to_owned()));
    assert!(letters.score().is_none() && letters.why().contains("does not tell the probabilities"), "{letters:?}");
    let failed = scored(Observed::Failed("out of order".to_owned()));
    assert!(failed.score().is_none() && failed.why().contains("turn 1: out of order"), "{failed:?}");
    assert!(metric.score(&input, &[]).component.why().contains("was not asked"));
    let silent = Transcript { turns: vec![Turn::begun(1, "A table".to_owned())] };
    let silent = MetricInput { transcript: &silent, ..input };
    assert!(metric.questions(&silent, &Templates::embedded()).unwrap().is_empty());
    assert_eq!(metric.score(&silent, &[]).component.score(), Some(Score::ZERO));
}
