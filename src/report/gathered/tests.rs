use super::part::{MOST_PARTS, OTHER_PARTS};
use super::*;
use crate::evidence::{Condition, Ending, Evidence, TrialId};
use crate::score::{Component, Item, Outcome, Score, Scorecard, Weight};

/// A trial whose `completeness` has these parts.
fn trial(number: u32, items: &[(&str, Option<u32>, f64)]) -> TrialRecord {
    let item = |(label, turn, score): &(&str, Option<u32>, f64)| Item {
        turn: *turn,
        ..Item::new(*label, Component::scored(Score::new(*score).unwrap(), ""))
    };
    let whole = Component::scored(Score::ONE, "");
    let dimension = Dimension {
        items: items.iter().map(item).collect(),
        ..Dimension::new("completeness", Weight::ONE, whole.clone())
    };
    let (case, model) = ("c".to_owned(), "m".to_owned());
    let id = TrialId { number, case, model, condition: Condition::WithoutFacts, repeat: number };
    TrialRecord {
        outcome: Some(Outcome::Graded),
        scorecard: Some(Scorecard { dimensions: vec![dimension], failure_count: 0, penalty: 0.0, composite: whole }),
        ..TrialRecord::planned(id)
    }
}

/// Each part with the scores of its trials.
fn parts(trials: &[TrialRecord]) -> Vec<(String, usize, f64)> {
    let mut gathered = Gathered::default();
    trials.iter().for_each(|trial| gathered.add(0, trial));
    let made = |part: &PartRow| {
        let tally = &part.groups.iter().next().unwrap().1.tally;
        (part.label.clone(), tally.scored, tally.mean().map_or(f64::NAN, Score::get))
    };
    gathered.parts("c", "completeness").into_iter().map(made).collect()
}

#[test]
fn a_part_is_the_same_in_another_trial_by_its_name_and_turn_and_never_by_its_place() {
    let trials = [
        trial(1, &[("call Ann", Some(3), 1.0), ("say goodbye", Some(4), 1.0)]),
        trial(2, &[("end politely", Some(3), 0.0), ("call Ann", Some(3), 0.5), ("call Ann", Some(9), 0.25)]),
    ];
    let expected = [("call Ann", 2, 0.75), ("say goodbye", 1, 1.0), ("end politely", 1, 0.0), ("call Ann", 1, 0.25)];
    assert_eq!(parts(&trials), expected.map(|(label, count, mean)| (label.to_owned(), count, mean)));
}

#[test]
fn parts_of_one_name_in_one_trial_are_paired_in_their_order() {
    let trials = [trial(1, &[("a", None, 1.0), ("a", None, 0.0)]), trial(2, &[("a", None, 1.0), ("a", None, 0.5)])];
    assert_eq!(parts(&trials), [("a".to_owned(), 2, 1.0), ("a".to_owned(), 2, 0.25)]);
}

#[test]
fn parts_without_bound_are_pooled_beyond_the_most() {
    let trials: Vec<TrialRecord> = (0..300)
        .map(|number| {
            let names = [format!("{number} x"), format!("{number} y")];
            trial(number, &[(&names[0], None, 1.0), (&names[1], None, 0.0)])
        })
        .collect();
    let parts = parts(&trials);
    assert_eq!((parts.len(), parts[0].1), (MOST_PARTS + 1, 1));
    assert_eq!(parts[MOST_PARTS], (OTHER_PARTS.to_owned(), 400, 0.5));
}

#[test]
fn beyond_the_most_parts_are_the_same_in_whichever_order_trials_end() {
    let mut rng = fastrand::Rng::with_seed(7);
    let names: Vec<String> = (0..3 * MOST_PARTS).map(|name| format!("judged {name}")).collect();
    let mut trials: Vec<TrialRecord> = (1..=8)
        .map(|number| {
            let mut parts: Vec<(&str, Option<u32>, f64)> =
                names.iter().map(|name| (name.as_str(), None, f64::from(rng.u8(..)) / 255.0)).collect();
            parts.retain(|_| rng.bool());
            rng.shuffle(&mut parts);
            let mut held = trial(number, &parts);
            for item in &mut held.scorecard.as_mut().unwrap().dimensions[0].items {
                item.component = match rng.u8(0..9) {
                    0 => Component::missing(format!("no verdict {}", rng.u8(0..5))),
                    1 => Component::not_applicable("not asked"),
                    _ => Component::scored(item.component.score().unwrap(), format!("why {}", rng.u8(0..9))),
                };
            }
            held
        })
        .collect();
    let gathered = |trials: &[TrialRecord]| {
        let mut gathered = Gathered::default();
        trials.iter().for_each(|trial| gathered.add(trial.trial.number as usize % 2, trial));
        let made = |group: &usize, made: &PartResult| {
            let (tally, whole, lowest) = (&made.tally, made.whole, made.lowest);
            format!(
                "{group} {:?} {whole} {lowest:?} {:?} {:?} {:?}",
                tally.component().map(|it| it.score()),
                made.failed,
                made.reasons(),
                made.missing()
            )
        };
        let part = |part: &PartRow| {
            (part.label.clone(), part.first, part.groups.iter().map(|(group, it)| made(&group, it)).collect::<Vec<_>>())
        };
        gathered.parts("c", "completeness").into_iter().map(part).collect::<Vec<_>>()
    };
    let expected = gathered(&trials);
    for _ in 0..10 {
        rng.shuffle(&mut trials);
        assert!(gathered(&trials) == expected);
    }
}

#[test]
fn a_failure_is_listed_once_wherever_its_address_holds_the_session() {
    let mut gathered = Gathered::default();
    for (number, session) in [(1, "c70dc56e1957"), (2, "829f95667a45")] {
        let error = format!("POST http://127.0.0.1:1/sessions/{session}/message: answered 404");
        let evidence = Evidence { session_id: session.to_owned(), ..Evidence::sample() };
        let outcome = Some(Outcome::Broken { error });
        gathered.add(0, &TrialRecord { outcome, evidence: Some(evidence), scorecard: None, ..trial(number, &[]) });
    }
    let texts: Vec<&str> = gathered.troubles.in_order().iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["broken: POST http://127.0.0.1:1/sessions/{sessionId}/message: answered 404"]);
}

#[test]
fn a_session_that_is_called_like_a_word_of_ours_hides_none() {
    let mut gathered = Gathered::default();
    let error = "POST http://127.0.0.1:1/failed/message failed: {\"session\":\"failed\"}".to_owned();
    let evidence = Evidence { session_id: "failed".to_owned(), ..Evidence::sample() };
    let outcome = Some(Outcome::AgentFailed { error });
    gathered.add(0, &TrialRecord { outcome, evidence: Some(evidence), scorecard: None, ..trial(1, &[]) });
    let texts: Vec<&str> = gathered.troubles.in_order().iter().map(|(text, _)| text.as_str()).collect();
    let expected = "agent failed: POST http://127.0.0.1:1/{sessionId}/message failed: {\"session\":\"{sessionId}\"}";
    assert_eq!(texts, [expected]);
}

#[test]
fn an_agent_that_failed_does_not_hide_why_there_is_no_score() {
    let missing = Component::missing("the judge did not answer");
    let dimensions = vec![Dimension::new("tasks", Weight::ONE, missing.clone())];
    let card = Scorecard { dimensions, failure_count: 0, penalty: 0.0, composite: missing };
    let failed = Some(Outcome::AgentFailed { error: "answered 500".to_owned() });
    let text = trouble(&TrialRecord { outcome: failed, scorecard: Some(card), ..trial(1, &[]) });
    assert_eq!(text, "agent failed: answered 500; no score: tasks could not be determined (the judge did not answer)");
    let ending = Ending::AgentFailed { error: "answered 500".to_owned() };
    let evidence = Some(Evidence { ending, ..Evidence::sample() });
    let outcome = Some(Outcome::JudgeFailed { error: "answered 404".to_owned() });
    let text = trouble(&TrialRecord { outcome, evidence, ..trial(1, &[]) });
    assert!(text.starts_with("judge failed: answered 404; the agent had failed: answered 500"), "{text}");
}
