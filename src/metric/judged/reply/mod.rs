//! A judge's reply to a question about items: its shape, and how it is read.

mod entry;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    Block, Citations, DecisionError, ItemVerdict, JudgeItem, JudgeOptions, MOST_PROBLEMS, Scale, Support,
    UnknownVerdict, blocks, citations_schema,
};
use crate::evidence::ReplySchema;
use crate::metric::ReplyError;
use crate::score::Score;
use crate::text::{contradiction, folded, visible};
use entry::read_verdict;

/// The most characters of a reason.
const MAX_REASON: u32 = 800;
/// The most tokens of a verdict: its reason and its quotes in any language, and the JSON around them.
const TOKENS_PER_VERDICT: u32 = 400;
/// How many items a judge may find itself; in other systems' dialects it may find any number.
pub(super) const MOST_FOUND: u32 = 20;

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
    let mut verdicts = json!({ "type": "array", "items": verdict });
    // Those that a judge finds itself are counted on reading: a list that was cut off would be another score.
    if count > 0 {
        verdicts["minItems"] = json!(count);
        verdicts["maxItems"] = json!(count);
    }
    ReplySchema {
        name: "verdicts".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "verdicts": verdicts },
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
) -> Result<(Vec<ItemVerdict>, Vec<String>), ReplyError> {
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
    let most = match items.len() {
        0 if options.strict => usize::MAX,
        0 => MOST_FOUND as usize,
        count => count,
    };
    if items.is_empty() && entries.len() > most {
        // Whichever were left out, the score would be another one.
        return Err(ReplyError::TooManyFound { found: entries.len(), most });
    }
    if items.is_empty()
        && !options.strict
        && let Some(twice) = found_twice(entries)
    {
        return Err(ReplyError::FoundTwice(visible(&twice)));
    }
    let (mut verdicts, mut problems, mut twice) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (entry, number) in entries.iter().zip(1..) {
        match read_verdict(entry, number, scale, items, options) {
            Ok(verdict) if !items.is_empty() && verdicts.iter().any(|known: &ItemVerdict| known.id == verdict.id) => {
                problems.push(format!("There is more than one verdict on {}.", visible(&verdict.id)));
                twice.insert(verdict.id);
            }
            Ok(verdict) => verdicts.push(verdict),
            Err(error) => problems.push(error.to_string()),
        }
    }
    if entries.len() > most {
        problems.push(format!("There are {} verdicts, where at most {most} are asked for.", entries.len()));
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

/// What stands twice among the things that a judge found: by the id that it gave, or by the name.
fn found_twice(entries: &[Value]) -> Option<String> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let item_of = |entry: &Value| entry.get("item").and_then(Value::as_str).map(|item| item.trim().to_owned());
    let id_of = |entry: &Value| match entry.get("id")? {
        Value::String(id) => Some(format!("Verdict {}", id.trim())),
        Value::Number(id) => Some(format!("Verdict {id}")),
        _ => None,
    };
    let mut is_known = |name: &String| {
        let words = folded(name.trim_end_matches(['.', '!', '”'])).split_whitespace().collect::<Vec<_>>().join(" ");
        !known.insert(words)
    };
    let names = entries.iter().flat_map(|entry| [item_of(entry).map(|item| format!("“{item}”")), id_of(entry)]);
    names.flatten().find(|name| is_known(name))
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

/// The verdicts of a judge that answers in blocks of lines, as ADK's and trpc-agent-go's prompts ask it to.
fn verdicts_of_blocks(raw: &str, scale: Scale, items: &[JudgeItem], options: &JudgeOptions) -> Vec<ItemVerdict> {
    if scale == Scale::Ten || items.is_empty() {
        return Vec::new();
    }
    let verdict = |item: &JudgeItem, reason: String, decision| ItemVerdict {
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
    // In a reply that breaks off it is unknown which parts belong together.
    if !blocks.iter().all(Block::is_whole) {
        return Vec::new();
    }
    let mut verdicts: BTreeMap<usize, ItemVerdict> = BTreeMap::new();
    let are_all = blocks.len() == items.len();
    for (block, place) in blocks.into_iter().zip(0..) {
        let named = block.item(items.iter().map(|item| (item.id.as_str(), item.text.as_str())));
        let Some(at) = named.or_else(|| (are_all && block.property.is_none()).then_some(place)) else { continue };
        let decision = match scale {
            Scale::Support => match block.support() {
                Some(Support::NotApplicable) if !options.strict => Ok(None),
                Some(label) => Ok(Some(label.score())),
                // Only a label that is left out leaves the decision to the verdict there.
                None if options.strict && block.label.as_deref().is_some_and(|label| !label.trim().is_empty()) => {
                    Err(DecisionError::NoLabel.into())
                }
                None => block.score().map(Some).ok_or(DecisionError::NoLabel.into()),
            },
            Scale::YesNo if options.unknown() == UnknownVerdict::Fails => {
                Ok(Some(block.score().unwrap_or(Score::ZERO)))
            }
            Scale::YesNo | Scale::Ten => block.score().map(Some).ok_or(DecisionError::NoVerdict.into()),
        };
        let verdict = verdict(&items[at], block.reason, decision);
        verdicts.entry(at).or_insert(verdict);
    }
    verdicts.into_values().collect()
}
