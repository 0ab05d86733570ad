//! The metric's options with those of the dialect, ready to compare.

use std::collections::BTreeMap;

use super::compiled::{CompiledRule, PathRules, RuleProblem};
use super::config::{CallCount, CallOrder, ToolRules, TrajectoryConfig, TrajectoryDialect};
use super::equality::{Equality, Mode};
use super::expected::ExpectedCall;
use crate::script::ExpressionProblem;

/// An error of the options, and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct TrajectoryConfigError {
    /// The key: `tools.search.args.city`.
    pub place: String,
    /// The problem, in a sentence.
    pub why: String,
    /// The problem of the script at this key, with its place in it.
    pub script: Option<Box<ExpressionProblem>>,
}

fn wrong<P: Into<RuleProblem>>(place: impl Into<String>) -> impl FnOnce(P) -> TrajectoryConfigError {
    move |problem| {
        let (mut place, RuleProblem { why, script }) = (place.into(), problem.into());
        place.push_str(if script.is_some() { ".compare" } else { "" });
        TrajectoryConfigError { place, why, script: script.map(Box::new) }
    }
}

/// Compares trajectories by some options.
#[derive(Debug, Clone)]
pub struct TrajectoryMatcher {
    pub(super) config: TrajectoryConfig,
    pub(super) order: CallOrder,
    pub(super) count: CallCount,
    pub(super) mode: Mode,
    pub(super) arguments: bool,
    pub(super) results: bool,
    /// Whether what is absent is null, rather than not compared.
    pub(super) absent_is_null: bool,
    /// Whether no arguments, null and an empty mapping are the same.
    pub(super) empty_is_null: bool,
    /// Whether the word for any value is one.
    pub(super) has_ignore_word: bool,
    /// Whether both sides are sorted and compared pair by pair.
    pub(super) sorts: bool,
    pub(super) paths: PathRules,
    pub(super) tools: BTreeMap<String, CompiledTool>,
    pub(super) default_rules: Option<CompiledTool>,
}

/// The rules of a tool.
#[derive(Debug, Clone, Default)]
pub(super) struct CompiledTool {
    pub(super) name: Option<CompiledRule>,
    pub(super) arguments: Option<CompiledRule>,
    pub(super) paths: PathRules,
    pub(super) result: Option<CompiledRule>,
}

impl CompiledTool {
    fn new(rules: &ToolRules, lenient: bool, place: &str) -> Result<CompiledTool, TrajectoryConfigError> {
        let one = |key: &str, rule: &Option<_>| {
            let compiled = rule.as_ref().map(|rule| CompiledRule::new(rule, lenient)).transpose();
            compiled.map_err(wrong(format!("{place}.{key}")))
        };
        let paths = PathRules::new(&rules.args, lenient);
        Ok(CompiledTool {
            name: one("name", &rules.name)?,
            arguments: one("arguments", &rules.arguments)?,
            paths: paths.map_err(|(path, why)| wrong(format!("{place}.args.{path}"))(why))?,
            result: one("result", &rules.result)?,
        })
    }
}

impl TrajectoryMatcher {
    /// Reads options.
    ///
    /// # Errors
    /// Options contradict each other, or one is invalid.
    pub fn new(config: &TrajectoryConfig) -> Result<TrajectoryMatcher, TrajectoryConfigError> {
        use TrajectoryDialect::{Adk, Native, Trpc, TrpcSeed, Watsonx};
        let (dialect, strict) = (config.dialect, config.strict);
        let is_trpc = matches!(dialect, Trpc | TrpcSeed);
        let order = config.order.unwrap_or(match dialect {
            Native | Adk => CallOrder::Exact,
            TrpcSeed => CallOrder::InOrder,
            Trpc => CallOrder::AnyOrder,
            Watsonx => CallOrder::Goals,
        });
        let count = config.count.unwrap_or(match (dialect, order) {
            (_, CallOrder::Exact) | (Trpc | TrpcSeed, _) => CallCount::Equal,
            _ => CallCount::Subset,
        });
        if order == CallOrder::Exact && count == CallCount::Subset {
            let why = "`order: exact` allows no other calls; use `order: inOrder` with `count: subset`";
            return Err(wrong("count")(why.to_owned()));
        }
        if !(0.0..=1.0).contains(&config.similarity) {
            return Err(wrong("similarity")(format!("{} is not from 0 to 1", config.similarity)));
        }
        let tolerance = config.tolerance.unwrap_or(if dialect == Trpc { 1e-6 } else { 0.0 });
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(wrong("tolerance")(format!("{tolerance} is not 0 or more")));
        }
        let is_watsonx = dialect == Watsonx;
        let mode = Mode {
            equality: match (strict, dialect) {
                (true, Adk) => Equality::Python,
                (true, Trpc | TrpcSeed) => Equality::Go,
                (true, Watsonx) => Equality::Watsonx,
                _ => Equality::Json,
            },
            fold: config.case_insensitive.unwrap_or(is_watsonx),
            list_order: config.list_order.unwrap_or(!is_watsonx),
            extra: config.extra_args.unwrap_or(is_watsonx),
            tolerance,
            texts_as_values: config.texts_as_values.unwrap_or(is_watsonx),
            into_lists: !(is_trpc && strict),
            folds_patterns: is_trpc && strict,
            re2: is_trpc,
        };
        let lenient = is_trpc && strict;
        let tool = |(name, rules): (&String, &ToolRules)| {
            Ok((name.clone(), CompiledTool::new(rules, lenient, &format!("tools.{name}"))?))
        };
        let default_rules = config.default_rules.as_ref();
        let paths = PathRules::new(&config.args, lenient);
        Ok(TrajectoryMatcher {
            order,
            count,
            mode,
            arguments: config.arguments.unwrap_or(true),
            results: config.compares_results(),
            absent_is_null: is_trpc,
            empty_is_null: !strict,
            has_ignore_word: is_watsonx,
            sorts: strict && dialect == TrpcSeed && order == CallOrder::AnyOrder,
            paths: paths.map_err(|(path, why)| wrong(format!("args.{path}"))(why))?,
            tools: config.tools.iter().map(tool).collect::<Result<_, TrajectoryConfigError>>()?,
            default_rules: default_rules.map(|it| CompiledTool::new(it, lenient, "defaultRules")).transpose()?,
            config: config.clone(),
        })
    }

    /// The options that it was made of.
    pub fn config(&self) -> &TrajectoryConfig {
        &self.config
    }

    /// The order that holds.
    pub fn order(&self) -> CallOrder {
        self.order
    }

    /// Whether the count of calls matters.
    pub fn count(&self) -> CallCount {
        self.count
    }

    /// Checks the rules of an expected call.
    ///
    /// # Errors
    /// The first that contradicts itself, with its key within the call.
    pub fn check_call(&self, call: &ExpectedCall) -> Result<(), TrajectoryConfigError> {
        self.rules_of(call).map(drop)
    }

    /// The rules that an expected call brings itself; `None` without any.
    pub(super) fn rules_of(&self, call: &ExpectedCall) -> Result<Option<PathRules>, TrajectoryConfigError> {
        if call.rules.is_empty() {
            return Ok(None);
        }
        let lenient = self.config.strict;
        let rules = PathRules::new(&call.rules, lenient);
        rules.map(Some).map_err(|(path, why)| wrong(format!("match.{path}"))(why))
    }

    /// The rules for a pair of calls: of the tool that was called, else of the expected one, else those of all others.
    pub(super) fn tool_rules(&self, actual: &str, expected: &str) -> Option<&CompiledTool> {
        if self.tools.is_empty() {
            return self.default_rules.as_ref();
        }
        self.tools.get(actual).or_else(|| self.tools.get(expected)).or(self.default_rules.as_ref())
    }

    /// Whether no tool and no path has a rule.
    pub(super) fn has_no_rules(&self) -> bool {
        self.tools.is_empty() && self.default_rules.is_none() && self.config.args.is_empty()
    }

    /// Whether a name alone tells that two calls differ.
    pub(super) fn names_decide(&self) -> bool {
        let has_own = |tool: &CompiledTool| tool.name.is_some();
        !self.tools.values().any(has_own) && !self.default_rules.as_ref().is_some_and(has_own)
    }
}
