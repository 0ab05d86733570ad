//! A judge's reply to a question about items: its shape, and how it is read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    Block, Citations, DecisionError, JudgeItem, JudgeOptions, MOST_PROBLEMS, Scale, Support, UnknownVerdict, Verdict,
    blocks, citations_schema,
};
use crate::evidence::ReplySchema;
use crate::metric::ReplyError;
use crate::score::Score;
use crate::text::{contradiction, visible};

/// The most characters of a reason.
const MAX_REASON: u32 = 800;
/// The most tokens of a verdict: its reason and its quotes in any language, and the JSON around them.
const TOKENS_PER_VERDICT: u32 = 400;
/// How many verdicts there is room for where the judge finds the items.
const MOST_FOUND: u32 = 20;

/// The shape of a reply. The reason comes before the decision, so that the decision follows from it. Every property is required and
/// no other is allowed, as OpenAI's strict mode wants.
pub(super) fn reply_schema(scale: Scale, items: &[JudgeItem]) -> ReplySchema {
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    let mut properties = serde_json::Map::new();
    let mut set = |key: &str, schema: Value| drop(properties.insert(key.to_owned(), schema));
    match items {
        [] => {
            set("id", json!({ "type": "string" }));
            set("item", json!({ "type": "string", "description": "What the verdict is about." }));
        }
        items => {
            set("id", json!({ "type": "string", "enum": items.iter().map(|item| &item.id).collect::<Vec<_>>() }));
        }
    }
    set("reason", json!({ "type": "string", "maxLength": MAX_REASON, "description": "Before the decision." }));
    citations_schema().into_iter().for_each(|(key, schema)| set(&key, schema));
    set(scale.key(), scale.schema());
    let required: Vec<String> = properties.keys().cloned().collect();
    let verdict = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    ReplySchema {
        name: "verdicts".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "verdicts": { "type": "array", "items": verdict } },
            "required": ["verdicts"],
            "additionalProperties": false,
        }),
        max_tokens: TOKENS_PER_VERDICT.saturating_mul(if count == 0 { MOST_FOUND } else { count.saturating_add(1) }),
        wants_alternatives: false,
    }
}

/// Reads the verdicts on these items; on whatever the judge found, where there are none. Beside those that can be used come the
/// problems of the others, a sentence each.
///
/// # Errors
/// There is no verdict that can be used. In the dialect of other systems what is wrong with a single verdict leaves that one out.
pub(super) fn read_verdicts(
    raw: &str,
    scale: Scale,
    items: &[JudgeItem],
    options: &JudgeOptions,
) -> Result<(Vec<Verdict>, Vec<String>), ReplyError> {
    let reply: Value = match serde_json::from_str(raw.trim()) {
        Ok(reply) => reply,
        Err(error) => {
            let verdicts = verdicts_of_blocks(raw, scale, items, options);
            let error = ReplyError::NotJson(error.to_string());
            return if verdicts.is_empty() { Err(error) } else { Ok((verdicts, Vec::new())) };
        }
    };
    if let Some(key) = contradiction(raw.trim()) {
        return Err(ReplyError::Contradiction(visible(&key)));
    }
    let Some(entries) = reply.get("verdicts").and_then(Value::as_array) else {
        let verdicts = verdicts_of_blocks(raw, scale, items, options);
        return if verdicts.is_empty() { Err(ReplyError::NoVerdicts) } else { Ok((verdicts, Vec::new())) };
    };
    let most = if items.is_empty() { MOST_FOUND as usize } else { items.len() };
    let (mut verdicts, mut problems, mut twice) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (entry, number) in entries.iter().zip(1..).take(2 * most) {
        match read_verdict(entry, number, (scale, items), options) {
            Ok(verdict) if verdicts.iter().any(|known: &Verdict| known.id == verdict.id) => {
                problems.push(format!("There is more than one verdict on {}.", visible(&verdict.id)));
                twice.insert(verdict.id);
            }
            Ok(verdict) => verdicts.push(verdict),
            Err(error) => problems.push(error.to_string()),
        }
    }
    if entries.len() > most {
        problems.push(format!("There are {} verdicts, where at most {most} are asked for.", entries.len()));
        verdicts.truncate(most);
    }
    // It is not known which of two counts; other systems take the first.
    verdicts.retain(|verdict| options.strict || !twice.contains(&verdict.id));
    let is_absent = |item: &&JudgeItem| !verdicts.iter().any(|verdict| verdict.id == item.id);
    let absent: Vec<String> = items.iter().filter(is_absent).map(|item| visible(&item.id)).collect();
    if !absent.is_empty() && problems.is_empty() {
        problems.push(format!("There is no verdict on {}.", few(&absent)));
    }
    if options.unknown() == UnknownVerdict::LeftOut && !verdicts.is_empty() {
        problems.clear();
    }
    if verdicts.is_empty() && !problems.is_empty() {
        Err(ReplyError::Verdicts(problems_of(problems)))
    } else {
        Ok((verdicts, problems))
    }
}

/// An entry of a reply that is no verdict: a sentence that can be sent back to the judge.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum VerdictEntryError {
    /// It has no id; its place, from 1.
    #[error("Verdict {0} has no `id`.")]
    NoId(usize),
    /// No item has its id.
    #[error("Verdict {number} has the id {id}, which no item has.")]
    UnknownId { number: usize, id: String },
    /// It does not name the item that the judge found.
    #[error("Verdict {0} has no `item`.")]
    NoItem(usize),
    /// It lacks a key.
    #[error("The verdict on {id} has no `{key}`.")]
    NoKey { id: String, key: &'static str },
    /// Its decision can't be read.
    #[error("The verdict on {id} {error}.")]
    Decision { id: String, error: DecisionError },
}

fn read_verdict(
    entry: &Value,
    number: usize,
    (scale, items): (Scale, &[JudgeItem]),
    options: &JudgeOptions,
) -> Result<Verdict, VerdictEntryError> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let given = match entry.get("id") {
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => text("id").map(str::to_owned),
    };
    let id = match (given, items) {
        // Whatever it calls them, they are counted.
        (_, []) => number.to_string(),
        (None, _) => return Err(VerdictEntryError::NoId(number)),
        (Some(id), items) if items.iter().any(|item| item.id == id) => id,
        (Some(id), _) => return Err(VerdictEntryError::UnknownId { number, id: visible(&id) }),
    };
    let no_key = |key: &'static str| VerdictEntryError::NoKey { id: visible(&id), key };
    let found = text("item").map(str::to_owned);
    if items.is_empty() && found.is_none() {
        return Err(VerdictEntryError::NoItem(number));
    }
    let reason = text("reason").map(str::to_owned);
    let reason = match (reason, options.strict) {
        (Some(reason), _) => shortened(reason),
        (None, true) => String::new(),
        (None, false) => return Err(no_key("reason")),
    };
    let decision = entry.get(scale.key()).ok_or_else(|| no_key(scale.key()))?;
    let label = decision.as_str().filter(|_| scale == Scale::Support).and_then(Support::parse);
    let decision =
        scale.read(decision, options).map_err(|error| VerdictEntryError::Decision { id: visible(&id), error })?;
    Ok(Verdict { id, found, reason, citations: Citations::from_entry(entry), label, decision: Ok(decision) })
}

/// The first few of many, and how many more there are.
fn few(names: &[String]) -> String {
    let shown = names.iter().take(MOST_PROBLEMS).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_PROBLEMS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The first few of many problems, and how many more there are.
pub(super) fn problems_of(mut problems: Vec<String>) -> Vec<String> {
    let count = problems.len();
    problems.truncate(MOST_PROBLEMS);
    problems.extend((count > MOST_PROBLEMS).then(|| format!("And {} more of that kind.", count - MOST_PROBLEMS)));
    problems
}

/// A reason, no longer than what was asked for by far.
fn shortened(reason: String) -> String {
    match reason.char_indices().nth(2 * MAX_REASON as usize) {
        Some((at, _)) => format!("{}…", &reason[..at]),
        None => reason,
    }
}

/// The verdicts of a judge that answers in blocks of lines, as ADK's and trpc-agent-go's prompts ask it to.
fn verdicts_of_blocks(raw: &str, scale: Scale, items: &[JudgeItem], options: &JudgeOptions) -> Vec<Verdict> {
    if scale == Scale::Ten || items.is_empty() {
        return Vec::new();
    }
    let verdict = |item: &JudgeItem, reason: String, decision| Verdict {
        id: item.id.clone(),
        found: None,
        reason,
        citations: Citations::default(),
        label: None,
        decision,
    };
    if let ([item], Scale::YesNo, Some((is_valid, reason))) = (items, scale, blocks::validity(raw)) {
        return vec![verdict(item, reason, Ok(Some(Score::from_bool(is_valid))))];
    }
    let blocks = blocks::blocks(raw);
    // Of a reply that breaks off nobody knows what belongs together.
    if !blocks.iter().all(Block::is_whole) {
        return Vec::new();
    }
    let mut verdicts: BTreeMap<usize, Verdict> = BTreeMap::new();
    let are_all = blocks.len() == items.len();
    for (block, place) in blocks.into_iter().zip(0..) {
        let named = block.item(items.iter().map(|item| (item.id.as_str(), item.text.as_str())));
        let Some(at) = named.or_else(|| (are_all && block.property.is_none()).then_some(place)) else { continue };
        let decision = match scale {
            Scale::Support => match block.support() {
                Some(Support::NotApplicable) if !options.strict => Ok(None),
                Some(label) => Ok(Some(label.score())),
                None => block.score().map(Some).ok_or(DecisionError::NoLabel.into()),
            },
            Scale::YesNo | Scale::Ten => block.score().map(Some).ok_or(DecisionError::NoVerdict.into()),
        };
        let verdict = verdict(&items[at], block.reason, decision);
        verdicts.entry(at).or_insert(verdict);
    }
    verdicts.into_values().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STRICT: JudgeOptions = JudgeOptions {
        samples: None,
        strict: true,
        unknown: None,
        sample_from: None,
        until: None,
        intermediate: false,
    };
    const NATIVE: JudgeOptions = JudgeOptions {
        samples: None,
        strict: false,
        unknown: None,
        sample_from: None,
        until: None,
        intermediate: false,
    };

    fn items() -> Vec<JudgeItem> {
        vec![JudgeItem::new("a", "It is polite.", None), JudgeItem::new("b", "It is short.", Some(2))]
    }

    fn verdict(id: &str, decision: &str) -> Value {
        json!({"id": id, "reason": "so", "quotes": [{"turn": 1, "text": "Hello"}], "turnsRead": [], "verdict": decision})
    }

    fn read(verdicts: Vec<Value>) -> Result<Vec<Verdict>, ReplyError> {
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
            (
                vec![verdict("a", "yes"), verdict("b", "maybe")],
                "The verdict on b has the verdict \"maybe\", which is none",
            ),
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
        let (verdicts, problems) = read_verdicts(&raw, Scale::YesNo, &[], &NATIVE).unwrap();
        assert_eq!(verdicts.len(), 20);
        assert!(problems[0].starts_with("There are 5000 verdicts") && verdicts[0].reason.len() < 2000);
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
        for wrong in [json!(11), json!(-1), json!("11"), json!("good"), json!(null), json!(true)] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_the_judge_found_is_counted() {
        let raw = json!({"verdicts": [
            {"id": "x", "item": "a table", "reason": "booked", "verdict": "yes"},
            {"id": "x", "item": "a menu", "reason": "not sent", "verdict": "no"},
        ]});
        let (verdicts, _) = read_verdicts(&raw.to_string(), Scale::YesNo, &[], &NATIVE).unwrap();
        let found: Vec<_> = verdicts.iter().map(|it| (it.id.as_str(), it.found.as_deref())).collect();
        assert_eq!(found, [("1", Some("a table")), ("2", Some("a menu"))]);
        assert_eq!(read_verdicts(r#"{"verdicts": []}"#, Scale::YesNo, &[], &NATIVE), Ok((Vec::new(), Vec::new())));
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
}
