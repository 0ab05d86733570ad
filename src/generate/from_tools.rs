//! Goals of users of an agent with these tools: one a tool.

use serde_json::{Map, Value, json};

use super::phrase::{label, purpose};
use super::values::{GeneratedValue, is_hollow, plausible};
use super::{UserGoal, UserKnowledge};
use crate::evidence::Condition;
use crate::metric::trajectory::{ExpectedCall, Rule, RuleKind};
use crate::tool_list::Tool;

/// The most ways in which the arguments of a tool are filled.
const MOST_VARIANTS: usize = 6;

/// Ways to say what is wanted; the persona puts it in its own words all the same.
const WISHES: [&str; 4] = [
    "Get the assistant to {}",
    "Ask the assistant to {}, and find out what came of it",
    "You need help to {}; have the assistant do it now",
    "Find out whether the assistant can {}, and have it done",
];

/// A goal for each tool, in their order: with what its arguments need known, in several ways, and with nothing known.
pub fn goals_of_tools(tools: &[Tool]) -> Vec<UserGoal> {
    tools.iter().map(goal).collect()
}

fn goal(tool: &Tool) -> UserGoal {
    let wish = purpose(&tool.name, &tool.description);
    let mut situations: Vec<UserKnowledge> = Vec::new();
    for variant in 0..MOST_VARIANTS {
        let known = knowing(tool, &wish, variant);
        if !situations.iter().any(|other| other.facts == known.facts) {
            situations.push(known);
        }
    }
    if !tool.required.is_empty() {
        let unknown = not_knowing(tool, &wish, &situations[0]);
        situations.insert(1, unknown);
    }
    UserGoal {
        name: tool.name.clone(),
        wishes: WISHES.iter().map(|text| text.replace("{}", &wish)).collect(),
        situations,
        persona: None,
    }
}

/// An argument of a tool with what the user knows of it.
struct ToolArgument<'t> {
    name: &'t str,
    schema: &'t Value,
    label: String,
    plausible: GeneratedValue,
}

/// The arguments that a user knows in a variant: those that must be there, in every second one also the others.
fn given(tool: &Tool, variant: usize) -> Vec<ToolArgument<'_>> {
    let is_given = |name: &&String| tool.required.contains(*name) || variant % 2 == 1;
    let arguments = tool.arguments.iter().filter(|(name, _)| is_given(name));
    let given = arguments.map(|(name, schema)| {
        let label = label(name, schema);
        let plausible = plausible(name, &label, schema, variant);
        ToolArgument { name, schema, label, plausible }
    });
    // Nobody says an empty object.
    given.filter(|it| tool.required.contains(it.name) || !is_hollow(&it.plausible.value)).collect()
}

fn knowing(tool: &Tool, wish: &str, variant: usize) -> UserKnowledge {
    let given = given(tool, variant);
    let facts: Vec<String> = given.iter().flat_map(|it| facts(&it.label, &it.plausible.value)).collect();
    let details = match facts.is_empty() {
        true => String::new(),
        false => format!(" with these details: {}", facts.join("; ")),
    };
    let args: Map<String, Value> = given.iter().map(|it| (it.name.to_owned(), it.plausible.value.clone())).collect();
    let rules = given.iter().filter_map(|it| Some((it.name.to_owned(), rule(it)?)));
    let call = ExpectedCall { rules: rules.collect(), ..ExpectedCall::new(&tool.name, Value::Object(args)) };
    UserKnowledge {
        outcome: format!(
            "The assistant did what was wanted ({wish}){details}. It told the user what came of it, and claimed nothing that it \
             had not done"
        ),
        condition: Some(if facts.is_empty() { Condition::WithoutFacts } else { Condition::WithFacts }),
        facts,
        calls: Some(vec![call]),
    }
}

/// The same user without what the tool needs.
fn not_knowing(tool: &Tool, wish: &str, known: &UserKnowledge) -> UserKnowledge {
    let needed = tool.required.iter().map(|name| label(name, tool.arguments.get(name).unwrap_or(&Value::Null)));
    let needed = needed.collect::<Vec<_>>().join(", ");
    UserKnowledge {
        outcome: format!(
            "The user can't say what is needed ({needed}). The assistant asked for it, or said that it can't {wish} without it; it \
             neither made it up nor claimed that it was done"
        ),
        facts: known.facts.clone(),
        condition: Some(Condition::WithoutFacts),
        calls: None,
    }
}

/// A description of a value, a sentence for each of its members.
fn facts(label: &str, value: &Value) -> Vec<String> {
    match value {
        hollow if is_hollow(hollow) => Vec::new(),
        Value::Object(map) => map
            .iter()
            .flat_map(|(name, part)| facts(&format!("{label} {}", super::phrase::split_name(name)), part))
            .collect(),
        Value::Bool(is) => vec![format!("The answer to \"{label}\" is {}", if *is { "yes" } else { "no" })],
        Value::Array(items) if items.iter().all(|item| !item.is_object()) => {
            vec![format!("The {label} is {}", items.iter().map(shown).collect::<Vec<_>>().join(", "))]
        }
        other => vec![format!("The {label} is {}", shown(other))],
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// How an argument is compared; `None` where it must be the same.
fn rule(given: &ToolArgument<'_>) -> Option<Rule> {
    let ToolArgument { schema, plausible, .. } = given;
    if plausible.is_placeholder {
        return Some(RuleKind::Ignore.into());
    }
    let is_named = schema.get("enum").is_some() || schema.get("const").is_some();
    match &plausible.value {
        Value::String(text) if !is_named => {
            let is_date = schema["format"].as_str().is_some_and(|it| it.starts_with("date"))
                || text.len() == "2027-03-15".len() && text.starts_with("2027-");
            let is_free = !text.contains(|c: char| c.is_ascii_digit() || c == '@') && schema["format"] == json!(null);
            match (is_date, is_free) {
                (true, _) => Some(RuleKind::Date.into()),
                (false, true) => Some(RuleKind::Fuzzy.into()),
                (false, false) => None,
            }
        }
        _ => None,
    }
}
