//! Trajectories: the calls of tools that a case expects, against those that the agent made.
//!
//! One matcher serves all: an order, a count and rules for values, of which the dialects are presets. Matching is optimal,
//! so rules that overlap do no harm: subsequences in order, augmenting paths in any order, a search along the conversation for
//! goals. Pure: texts that may mean the same are listed as [`FuzzyPair`]s and come back as [`FuzzyAnswer`]s.

pub mod adk;
mod align;
mod call;
mod compare;
mod compiled;
mod config;
mod credit;
mod criterion;
mod date;
mod equality;
mod expected;
mod explain;
mod figures;
mod fuzzy;
mod goals;
mod judged_goals;
mod matcher;
mod metric;
mod normal;
mod questions;
mod reached;
mod rule;
mod search;
pub mod trpc;
mod value;
pub mod watsonx;
mod wratio;

pub use crate::metric::selection::Paths;
pub use compare::{FuzzyQuestions, JudgedAssertion, MessageGoal, Trajectory, TrajectoryInput, UnknownGoal};
pub use config::{CallCount, CallOrder, ToolRules, TrajectoryConfig, TrajectoryDialect, TrajectoryFigure};
pub use criterion::CriterionError;
pub use date::PartialDateTime;
pub use expected::{Expectation, ExpectationProblem, ExpectedCall, ExpectedMessage};
pub use figures::TrajectoryFigures;
pub use fuzzy::{FuzzyAnswer, FuzzyAnswers, FuzzyPair, LettersOnly, MOST_PAIRS};
pub use goals::{GoalError, GoalGraph, check_goals, is_topological_order};
pub use judged_goals::ASSERTIONS;
pub use matcher::{TrajectoryConfigError, TrajectoryMatcher};
pub use metric::{TrajectoryCheck, TrajectoryMetric};
pub use questions::is_about_pair;
pub use rule::{LengthRule, Rule, RuleKind, RuleOptions};
pub use value::CallDifference;
pub use wratio::wratio;

#[cfg(test)]
mod tests;
