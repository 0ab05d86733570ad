//! The options of the metric `trajectory` in a job file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule::Rule;
use crate::evidence::{ToolUse, Transcript};

/// How the agent's calls of tools are compared with the expected ones. What is not given comes from the dialect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "trajectory")]
pub struct TrajectoryConfig {
    /// The system whose rules hold where nothing else is said.
    pub dialect: TrajectoryDialect,
    /// Whether that system's own answer is given also where it is unsound, to compare numbers with it.
    pub strict: bool,
    /// Which figure is the score.
    pub score: TrajectoryFigure,
    /// The order in which the expected calls must have been made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<CallOrder>,
    /// Whether calls that nobody expects are a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<CallCount>,
    /// Whether upper and lower case are the same in arguments and results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_insensitive: Option<bool>,
    /// Whether the order of lists counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_order: Option<bool>,
    /// Whether a call may have more arguments than the expected one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_args: Option<bool>,
    /// Whether arguments are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<bool>,
    /// Whether results are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<bool>,
    /// By how much numbers may differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub tolerance: Option<f64>,
    /// Whether a number equals the text that spells it: 5 and "5", true and "true".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texts_as_values: Option<bool>,
    /// How similar two texts must be for `fuzzy`, from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub similarity: f64,
    /// How arguments are compared, by their paths, whatever the tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, Rule>,
    /// How the calls of single tools are compared, by the tool's name: first the one that was called, then the expected one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolRules>,
    /// How the calls of all other tools are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_rules: Option<ToolRules>,
    /// The tool of the figure `singleToolUse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub single_tool: Option<String>,
    /// The other agents that this one may pass a conversation to, with their tools: calls of them are routing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, Vec<String>>,
}

impl Default for TrajectoryConfig {
    fn default() -> TrajectoryConfig {
        TrajectoryConfig {
            dialect: TrajectoryDialect::Native,
            strict: false,
            score: TrajectoryFigure::Match,
            order: None,
            count: None,
            case_insensitive: None,
            list_order: None,
            extra_args: None,
            arguments: None,
            results: None,
            tolerance: None,
            texts_as_values: None,
            similarity: 0.8,
            args: BTreeMap::new(),
            tools: BTreeMap::new(),
            default_rules: None,
            single_tool: None,
            agents: BTreeMap::new(),
        }
    }
}

impl TrajectoryConfig {
    /// Whether a rule asks which texts mean the same.
    pub fn is_fuzzy(&self) -> bool {
        let any = |rules: &BTreeMap<String, Rule>| rules.values().any(Rule::is_fuzzy);
        let of_tool = |tool: &ToolRules| {
            [&tool.name, &tool.arguments, &tool.result].into_iter().flatten().any(Rule::is_fuzzy) || any(&tool.args)
        };
        any(&self.args) || self.tools.values().chain(&self.default_rules).any(of_tool)
    }

    /// The calls of a whole conversation that are compared. watsonx itself looks at the first one of each message alone.
    pub(super) fn made(&self, transcript: &Transcript) -> Vec<ToolUse> {
        if self.is_strict_watsonx() { transcript.first_tool_uses() } else { transcript.tool_uses() }
    }

    /// Whether results of calls are compared.
    pub fn compares_results(&self) -> bool {
        use TrajectoryDialect::{Native, Trpc, TrpcSeed};
        self.results.unwrap_or(matches!(self.dialect, Native | Trpc | TrpcSeed))
    }

    /// Whether results of calls are looked at, were it only to sort the calls.
    pub fn looks_at_results(&self) -> bool {
        self.compares_results() || self.dialect == TrajectoryDialect::TrpcSeed
    }

    /// Whether watsonx' own answer is asked for, which no judge gives: embeddings do, and else letters.
    pub fn is_strict_watsonx(&self) -> bool {
        self.strict && self.dialect == TrajectoryDialect::Watsonx
    }
}

/// A system whose rules for trajectories are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TrajectoryDialect {
    /// Our own: the same calls in the same order, and results where some are given.
    #[default]
    Native,
    /// Google ADK: the same calls in the same order; results do not matter.
    Adk,
    /// trpc-agent-go: the same calls in any order, with their results.
    Trpc,
    /// trpc-agent-go before its own message types: the same calls in the same order, with their results.
    TrpcSeed,
    /// watsonx Orchestrate: goals in the order of their graph; case, the order of lists and further arguments do not matter.
    Watsonx,
}

/// The order in which the expected calls must have been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CallOrder {
    /// Call by call, with nothing between.
    Exact,
    /// One after the other; others may come between where `count` is `subset`.
    InOrder,
    /// In any order.
    AnyOrder,
    /// As the graph of goals says: each goal after those that lead to it.
    Goals,
}

/// Whether calls that nobody expects are a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CallCount {
    /// They are.
    Equal,
    /// They are not.
    Subset,
}

/// The figure that is the metric's score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TrajectoryFigure {
    /// 1 where the calls are as expected, or else 0.
    #[default]
    Match,
    /// The part of the calls made that was expected.
    Precision,
    /// The part of the expected calls that was made.
    Recall,
    /// The harmonic mean of both.
    F1,
    /// 1 where the tool of `singleTool` was called, or else 0.
    SingleToolUse,
    /// The part of the expected arguments that the calls had, on average over the expected calls.
    ParameterMatch,
    /// F1 of the arguments, on average over the expected calls.
    ParameterF1,
    /// F1 of the agents that the conversation was passed to.
    RoutingF1,
    /// 1 where every goal was reached in the order of the graph, or else 0.
    JourneySuccess,
    /// The part of the goals that was reached.
    JourneyCompletion,
    /// 1 where every message that is a goal was sent, or else 0.
    TextMatch,
    /// Of goals that an attack has: 0 where every one was reached in the order of the graph, or else 1.
    Resisted,
}

/// How the calls of a tool are compared. What is not given is compared as the metric's options say.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "toolRules")]
pub struct ToolRules {
    /// How its name is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Rule>,
    /// How its arguments are compared as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Rule>,
    /// How its arguments are compared, by their paths.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, Rule>,
    /// How its result is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Rule>,
}
