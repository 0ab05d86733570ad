use proptest::prelude::*;

use super::*;

const STRICT: JudgeOptions =
    JudgeOptions { samples: None, strict: true, unknown: None, sample_from: None, until: None, intermediate: false };
const NATIVE: JudgeOptions =
    JudgeOptions { samples: None, strict: false, unknown: None, sample_from: None, until: None, intermediate: false };

fn items() -> Vec<JudgeItem> {
    vec![JudgeItem::new("a", "It is polite.", None), JudgeItem::new("b", "It is short.", Some(2))]
}

fn verdict(id: &str, decision: &str) -> Value {
    json!({"id": id, "reason": "so", "quotes": [{"turn": 1, "text": "Hello"}], "turnsRead": [], "verdict": decision})
}

fn read(verdicts: Vec<Value>) -> Result<Vec<ItemVerdict>, ReplyError> {
    let raw = json!({ "verdicts": verdicts }).to_string();
    let (verdicts, problems) = read_verdicts(&raw, Scale::YesNo, &items(), &NATIVE)?;
    if problems.is_empty() { Ok(verdicts) } else { Err(ReplyError::InPart(problems)) }
}

#[test]
fn each_item_has_one_verdict() {
    let verdicts = read(vec![verdict("b", "no"), verdict("a", "Yes")]).unwrap();
    let decided: Vec<_> = verdicts.iter().map(|it| (it.id.as_str(), it.decision.clone())).collect();
    assert_eq!(decided, [("b", Ok(Some(Score::ZERO))), ("a", Ok(Some(Score::ONE)))]);
    assert_eq!(verdicts[0].citations.quotes, [(Some(1), "Hello".to_owned())]);
    let without = |key: &str| {
        let mut verdict = verdict("b", "no");
        verdict.as_object_mut().unwrap().remove(key);
        verdict
    };
    for (verdicts, problem) in [
        (vec![verdict("a", "yes")], "There is no verdict on b."),
        (vec![verdict("a", "yes"), verdict("a", "no")], "There is more than one verdict on a."),
        (vec![verdict("a", "yes"), verdict("c", "no")], "Verdict 2 has the id c, which no item has."),
        (vec![verdict("a", "yes"), without("id")], "Verdict 2 has no `id`."),
        (vec![verdict("a", "yes"), without("reason")], "The verdict on b has no `reason`."),
        (vec![verdict("a", "yes"), without("verdict")], "The verdict on b has no `verdict`."),
        (vec![verdict("a", "yes"), verdict("b", "maybe")], "The verdict on b has the verdict \"maybe\", which is none"),
    ] {
        let error = read(verdicts).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn one_bad_verdict_does_not_lose_the_others() {
    let raw = json!({"verdicts": [verdict("a", "yes"), verdict("b", "maybe")]}).to_string();
    let (verdicts, problems) = read_verdicts(&raw, Scale::YesNo, &items(), &NATIVE).unwrap();
    assert_eq!((verdicts.len(), verdicts[0].id.as_str(), problems.len()), (1, "a", 1));
    let raw = json!({"verdicts": [verdict("a", "yes"), verdict("b", "no"), verdict("b", "yes")]}).to_string();
    let (verdicts, _) = read_verdicts(&raw, Scale::YesNo, &items(), &NATIVE).unwrap();
    assert_eq!(verdicts.len(), 1, "of two verdicts on b nobody knows which is meant");
}

#[test]
fn a_reply_without_end_is_not_repeated() {
    let wrong: Vec<Value> = (0..5000).map(|at| verdict(&format!("x{at}"), "yes")).collect();
    let error = read(wrong).unwrap_err().to_string();
    assert!(error.ends_with("more of that kind.") && error.len() < 400, "{error}");
    let many: Vec<Value> =
        (0..5000).map(|_| json!({"item": "x", "reason": "y".repeat(9000), "verdict": "yes"})).collect();
    let raw = json!({ "verdicts": many }).to_string();
    let error = read_verdicts(&raw, Scale::YesNo, &[], &NATIVE).unwrap_err().to_string();
    assert!(error.starts_with("There are 5000 verdicts, where at most 20 are asked for"), "{error}");
    let (verdicts, _) = read_verdicts(&raw, Scale::YesNo, &[], &STRICT).unwrap();
    assert!(verdicts.len() == 5000 && verdicts[0].reason.len() < 2000, "the originals have no limit");
}

#[test]
fn a_contradiction_is_seen_wherever_it_stands() {
    let mut all = vec![verdict("a", "yes"), verdict("b", "yes")];
    all.extend((0..10).map(|at| verdict(&format!("x{at}"), "yes")));
    all.push(verdict("a", "no"));
    let raw = json!({ "verdicts": all }).to_string();
    let (verdicts, problems) = read_verdicts(&raw, Scale::YesNo, &items(), &NATIVE).unwrap();
    let ids: Vec<&str> = verdicts.iter().map(|verdict| verdict.id.as_str()).collect();
    assert_eq!(ids, ["b"], "{problems:?}");
    assert!(problems.contains(&"There is more than one verdict on a.".to_owned()), "{problems:?}");
}

#[test]
fn a_turn_may_be_written_as_text() {
    let mut written = verdict("a", "yes");
    written["quotes"][0]["turn"] = json!("1");
    written["turnsRead"] = json!(["1", 2]);
    let verdicts = read(vec![written, verdict("b", "no")]).unwrap();
    assert_eq!(
        (verdicts[0].citations.quotes[0].0, verdicts[0].citations.turns_read.as_slice()),
        (Some(1), &[1, 2][..])
    );
}

#[test]
fn what_is_no_list_of_verdicts_is_refused() {
    for (raw, problem) in [
        ("All is well.", "not JSON"),
        ("[]", "list `verdicts`"),
        (r#"{"verdicts": {}}"#, "list `verdicts`"),
        (r#"{"verdicts": [{"id": "a", "verdict": "yes", "verdict": "no"}]}"#, "twice in one object"),
    ] {
        let error = read_verdicts(raw, Scale::YesNo, &items(), &NATIVE).unwrap_err().to_string();
        assert!(error.contains(problem), "{raw}: {error}");
    }
}

#[test]
fn a_score_is_from_0_to_10() {
    let item = [JudgeItem::new("1", "x", None)];
    let read = |score: Value| {
        let raw = json!({"verdicts": [{"id": 1, "reason": "so", "score": score}]}).to_string();
        read_verdicts(&raw, Scale::Ten, &item, &NATIVE).map(|(mut all, _)| all.remove(0).decision.unwrap())
    };
    assert_eq!(read(json!(7)), Ok(Some(Score::clamped(0.7))));
    assert_eq!(read(json!(0)), Ok(Some(Score::ZERO)));
    assert_eq!(read(json!("7")), Ok(Some(Score::clamped(0.7))));
    assert_eq!(read(json!(9.0)), Ok(Some(Score::clamped(0.9))));
    let fraction = read(json!(0.99)).unwrap_err().to_string();
    assert!(fraction.contains("has the score 0.99, which is not a whole number from 0 to 10"), "{fraction}");
    for wrong in [json!(11), json!(-1), json!(7.5), json!("0.5"), json!("11"), json!("good"), json!(null), json!(true)]
    {
        assert!(read(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn what_the_judge_found_is_counted() {
    let raw = json!({"verdicts": [
        {"id": "x", "item": "a table", "reason": "booked", "verdict": "yes"},
        {"id": "y", "item": "a menu", "reason": "not sent", "verdict": "no"},
    ]});
    let (verdicts, _) = read_verdicts(&raw.to_string(), Scale::YesNo, &[], &NATIVE).unwrap();
    let found: Vec<_> = verdicts.iter().map(|it| (it.id.as_str(), it.found.as_deref())).collect();
    assert_eq!(found, [("1", Some("a table")), ("2", Some("a menu"))]);
    assert_eq!(read_verdicts(r#"{"verdicts": []}"#, Scale::YesNo, &[], &NATIVE), Ok((Vec::new(), Vec::new())));
}

#[test]
fn what_the_judge_found_counts_once() {
    let reply = |ids: [Value; 2], items: [&str; 2]| {
        let verdicts = ids.into_iter().zip(items);
        let verdict = |(id, item)| json!({"id": id, "item": item, "reason": "booked", "verdict": "yes"});
        json!({"verdicts": verdicts.map(verdict).collect::<Vec<_>>()}).to_string()
    };
    for (ids, items, twice) in [
        ([json!(1), json!(1)], ["a table", "a menu"], "Verdict 1 is there more than once"),
        ([json!(1), json!("1")], ["a table", "a menu"], "Verdict 1 is there more than once"),
        ([json!(1), json!(2)], ["a table", "A table."], "“A table.” is there more than once"),
    ] {
        let raw = reply(ids, items);
        let error = read_verdicts(&raw, Scale::YesNo, &[], &NATIVE).unwrap_err().to_string();
        assert!(error.starts_with(twice), "{error}");
        let strict = JudgeOptions { strict: true, ..NATIVE };
        assert_eq!(read_verdicts(&raw, Scale::YesNo, &[], &strict).unwrap().0.len(), 2);
    }
    let own = reply([json!(1), json!(2)], ["1", "2"]);
    assert_eq!(read_verdicts(&own, Scale::YesNo, &[], &NATIVE).unwrap().0.len(), 2, "a name is no id");
}

#[test]
fn blocks_of_lines_are_understood() {
    let raw = "ID: b\nProperty: **It is short.**\nRationale: three words\nVerdict: no\n\nProperty: It is polite.\n\
               Rationale: thanks\nVerdict: yes";
    let (verdicts, _) = read_verdicts(raw, Scale::YesNo, &items(), &STRICT).unwrap();
    let decided: Vec<_> = verdicts.iter().map(|it| (it.id.as_str(), it.decision.clone())).collect();
    assert_eq!(decided, [("a", Ok(Some(Score::ONE))), ("b", Ok(Some(Score::ZERO)))]);
}

#[test]
fn in_other_systems_dialects_what_is_wrong_with_one_verdict_leaves_that_one_out() {
    let raw = json!({"verdicts": [verdict("a", "yes"), verdict("b", "maybe")]}).to_string();
    assert_eq!(read_verdicts(&raw, Scale::YesNo, &items(), &STRICT).unwrap().0.len(), 1);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(raw in "\\PC{0,200}|[a-z{}\\[\\]\":,. \n]{0,100}") {
        if let Ok((verdicts, _)) = read_verdicts(&raw, Scale::YesNo, &items(), &NATIVE) {
            prop_assert!(verdicts.len() <= 2);
        }
    }
}
