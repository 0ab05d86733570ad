//! The expectations of a case: tool calls, the goals that they serve, and replies.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::config::TrajectoryConfig;
use super::goals::check_goals;
use super::matcher::TrajectoryMatcher;
use super::rule::Rule;
use crate::evidence::LazyValue;
use crate::metric::Rubric;
use crate::script::ExpressionProblem;

/// One expected call of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "expectedCall")]
pub struct ExpectedCall {
    /// The name of the goal that it reaches, or of the call itself in messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The tool.
    pub tool: String,
    /// Its arguments; not compared where absent, and none are expected where null.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub args: Option<LazyValue>,
    /// Its result; not compared where absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub result: Option<LazyValue>,
    /// How single arguments are compared, by their paths (`city`, `address.street`); a rule holds for all below its path.
    #[serde(default, rename = "match", skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, Rule>,
}

/// A value that is null is there.
fn present<'de, V: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<V>, D::Error> {
    V::deserialize(deserializer).map(Some)
}

impl ExpectedCall {
    /// A call of a tool with these arguments.
    pub fn new(tool: impl Into<String>, args: impl Into<LazyValue>) -> ExpectedCall {
        ExpectedCall { tool: tool.into(), args: Some(args.into()), ..ExpectedCall::default() }
    }

    /// Its label in messages: its name, or else its tool.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.tool)
    }
}

/// A message that the agent is expected to send: a goal that is no call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "expectedMessage")]
pub struct ExpectedMessage {
    /// The name of the goal that it reaches.
    pub name: String,
    /// What it says, in other words perhaps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The keywords that it mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
}

/// What a case, or a line of its script, expects.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "expectation")]
pub struct Expectation {
    /// The expected calls of tools; an empty list expects none, and where it is absent they do not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<ExpectedCall>>,
    /// The goals and what must come after each: `a: [b]` means that a is reached before b. Each is the name of a call or of
    /// a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goals: Option<BTreeMap<String, Vec<String>>>,
    /// Messages that are goals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<ExpectedMessage>,
    /// Goals of which nobody reports whether they were reached, by their names: what rests on them is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// The expected reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The keywords that the reply mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// The expected state of the session in the end.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub state: Option<Value>,
    /// What judges look at: kept for metrics that ask one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rubrics: Vec<Rubric>,
}

impl Expectation {
    /// Whether a rule of a call asks which texts mean the same.
    pub fn is_fuzzy(&self) -> bool {
        self.calls.iter().flatten().any(|call| call.rules.values().any(Rule::is_fuzzy))
    }

    /// All texts in it, but for those within arguments, results and the state.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let Expectation { calls, goals, messages, unseen, reply, keywords, state: _, rubrics } = self;
        let texts = reply.iter().chain(keywords).chain(unseen);
        let calls = calls.iter().flatten().flat_map(texts_of_call);
        let messages = messages.iter().flat_map(texts_of_message);
        let goals = goals.iter().flatten().flat_map(|(goal, next)| next.iter().chain([goal]));
        let rubrics = rubrics.iter().flat_map(texts_of_rubric);
        texts.chain(calls).chain(messages).chain(rubrics).chain(goals).map(String::as_str)
    }

    /// The problem with it.
    pub fn problems(&self) -> Vec<ExpectationProblem> {
        let calls = self.calls.as_deref().unwrap_or_default();
        let mut problems = Vec::new();
        if let Ok(matcher) = TrajectoryMatcher::new(&TrajectoryConfig::default()) {
            let wrong = |(at, call): (usize, &ExpectedCall)| {
                let error = matcher.check_call(call).err()?;
                let message = match &error.script {
                    Some(problem) => problem.message.clone(),
                    None => format!("the expected call of {}: {error}", call.label()),
                };
                Some(ExpectationProblem {
                    call: Some(at),
                    place: error.place,
                    message,
                    script: error.script,
                    help: None,
                })
            };
            problems.extend(calls.iter().enumerate().filter_map(wrong));
        }
        let Some(goals) = &self.goals else { return problems };
        let calls = calls.iter().map(|call| (call.name.as_deref(), call.tool.as_str()));
        let messages = self.messages.iter().map(|message| (Some(message.name.as_str()), ""));
        let unseen = self.unseen.iter().map(|name| (Some(name.as_str()), ""));
        let names: Vec<_> = calls.chain(messages).chain(unseen).collect();
        let wrong = check_goals(goals, &names).err().unwrap_or_default();
        problems.extend(wrong.iter().map(|error| ExpectationProblem {
            call: None,
            place: "goals".to_owned(),
            message: error.to_string(),
            script: None,
            help: None,
        }));
        problems
    }
}

fn texts_of_call(call: &ExpectedCall) -> impl Iterator<Item = &String> {
    let ExpectedCall { name, tool, args: _, result: _, rules } = call;
    name.iter().chain([tool]).chain(rules.keys())
}

fn texts_of_message(message: &ExpectedMessage) -> impl Iterator<Item = &String> {
    let ExpectedMessage { name, reply, keywords } = message;
    reply.iter().chain(keywords).chain([name])
}

fn texts_of_rubric(rubric: &Rubric) -> impl Iterator<Item = &String> {
    let Rubric { id, text, description, rubric_type, metric, weight: _ } = rubric;
    description.iter().chain(rubric_type).chain(metric).chain([id, text])
}

/// Something that is wrong with what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectationProblem {
    /// The call that it is about, by its place among them.
    pub call: Option<usize>,
    /// The key, within the call where it is about one: `match.city`.
    pub place: String,
    /// The problem, in a sentence.
    pub message: String,
    /// The problem of the script at this key, with its place in it.
    pub script: Option<Box<ExpressionProblem>>,
    /// The remedy to suggest.
    pub help: Option<String>,
}
