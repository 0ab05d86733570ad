//! Expected calls against actual ones: whether they match, by which pairs, and what differed.

use std::cell::{Cell, RefCell};

use super::align::Pairs;
use super::call::{CallComparer, CallVerdict, ExpectedUse};
use super::config::{CallCount, CallOrder, TrajectoryConfig};
use super::expected::ExpectedCall;
use super::explain::{self, CallRow};
use super::figures::{TrajectoryFigures, figures};
use super::fuzzy::{FuzzyAnswers, FuzzyPair, LettersOnly, MOST_PAIRS};
use super::goals::GoalGraph;
use super::matcher::{TrajectoryConfigError, TrajectoryMatcher};
use super::value::CallDifference;
use crate::clock::Deadline;
use crate::evidence::ToolUse;
use crate::metric::measured::Unusable;

/// The two sides of a comparison.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrajectoryInput<'a> {
    /// The expected calls.
    pub expected: &'a [ExpectedCall],
    /// The calls that the agent made.
    pub actual: &'a [ToolUse],
    /// The graph of goals, where there is one.
    pub goals: Option<&'a GoalGraph>,
    /// The goals that are messages, and when they were reached.
    pub messages: &'a [MessageGoal],
    /// The assertions about the conversation beside its goals.
    pub assertions: &'a [JudgedAssertion],
    /// Until when the scripts of `compare` may run, all together; without it none is run.
    pub deadline: Option<Deadline>,
    /// Whether only the figures are wanted: nobody reads what differed.
    pub is_brief: bool,
}

/// A goal that is a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageGoal {
    /// The goal's name.
    pub name: String,
    /// After how many calls each message came that reaches it; empty where none did. Why it is not known, where it is not.
    pub reached: Result<Vec<usize>, UnknownGoal>,
}

impl MessageGoal {
    /// After how many calls each message came that is known to reach it.
    pub fn known(&self) -> &[usize] {
        match &self.reached {
            Ok(reached) | Err(UnknownGoal::Undecided { reached, .. }) => reached,
            Err(_) => &[],
        }
    }

    /// After how many of so many calls a message may have come that reaches it.
    pub(super) fn possible(&self, calls: usize) -> Vec<usize> {
        match &self.reached {
            Ok(reached) => reached.clone(),
            Err(UnknownGoal::Undecided { reached, open, .. }) => reached.iter().chain(open).copied().collect(),
            Err(_) => (0..=calls).collect(),
        }
    }

    /// Whether a message reaches it, whenever it came; `None` where that is not known.
    pub fn is_reached(&self) -> Option<bool> {
        match (self.known(), &self.reached) {
            ([], Err(_)) => None,
            (known, _) => Some(!known.is_empty()),
        }
    }
}

/// It is not known whether a goal was reached, or an assertion holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownGoal {
    /// No judge has read the messages.
    #[error("whether a message reaches the goal {name} is not known")]
    Unread {
        /// The goal's name.
        name: String,
    },
    /// The judge has not decided on a message.
    #[error("whether a message reaches the goal {name} is not known: {why}")]
    Undecided {
        /// The goal's name.
        name: String,
        /// Why not.
        why: String,
        /// After how many calls each message came that does reach it.
        reached: Vec<usize>,
        /// After how many calls each message came on which it has not decided.
        open: Vec<usize>,
    },
    /// The goal is of no kind that can be looked for.
    #[error("whether the goal {name} was reached is not known: it is neither a call nor a message")]
    OtherKind {
        /// The goal's name.
        name: String,
    },
    /// The judge has not decided on an assertion.
    #[error("whether it holds that {text:?} is not known: {why}")]
    UndecidedAssertion {
        /// The assertion.
        text: String,
        /// Why not.
        why: String,
    },
}

/// Something that must hold of a conversation for its journey to succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedAssertion {
    /// The assertion.
    pub text: String,
    /// Whether it does; why it is not known, where it is not.
    pub holds: Result<bool, UnknownGoal>,
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// Whether the calls are as expected; `None` where it is not known.
    pub is_match: Option<bool>,
    /// Why it is not known.
    pub missing: Option<String>,
    /// The first thing that is not known: the calls may differ all the same, but what is counted is uncertain.
    pub doubt: Option<String>,
    /// The first goal or assertion of which it is not known whether it was reached, and why.
    pub unknown_goal: Option<String>,
    /// For each expected call the actual one that it was found in.
    pub pairs: Vec<Option<usize>>,
    /// Everything that is counted.
    pub figures: TrajectoryFigures,
    /// One readable block of what differed; `None` where everything is as expected.
    pub explanation: Option<String>,
    /// The decisions about texts that count as the same, a sentence each.
    pub decisions: Vec<String>,
}

/// The pairs of texts to ask a judge or embeddings about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FuzzyQuestions {
    /// The pairs, each once.
    pub pairs: Vec<FuzzyPair>,
    /// How many more pairs there are, beyond the limit.
    pub left_out: usize,
}

/// One comparison, with the verdicts on the pairs that were looked at.
pub(super) struct MatchSession<'a> {
    pub(super) matcher: &'a TrajectoryMatcher,
    pub(super) input: TrajectoryInput<'a>,
    pub(super) wanted: Vec<ExpectedUse<'a>>,
    pub(super) comparer: CallComparer<'a>,
    pub(super) known: RefCell<Vec<Option<CallVerdict>>>,
}

impl TrajectoryMatcher {
    /// Compares; texts that must mean the same are decided by `answers`.
    ///
    /// # Errors
    /// A rule of an expected call contradicts itself.
    pub fn compare(
        &self,
        input: TrajectoryInput<'_>,
        answers: &dyn FuzzyAnswers,
    ) -> Result<Trajectory, TrajectoryConfigError> {
        Ok(self.session(input, answers)?.run())
    }

    /// The pairs of texts that decide over calls which are the same in everything else.
    ///
    /// # Errors
    /// A rule of an expected call contradicts itself.
    pub fn fuzzy_pairs(&self, input: TrajectoryInput<'_>) -> Result<Vec<FuzzyPair>, TrajectoryConfigError> {
        let session = self.session(input, &LettersOnly)?;
        let mut pairs = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for wanted in &session.wanted {
            for made in input.actual {
                pairs.extend(session.comparer.pairs(wanted, made).into_iter().filter(|pair| seen.insert(pair.clone())));
            }
        }
        Ok(pairs)
    }

    /// The pairs of texts to ask about: no more than [`MOST_PAIRS`].
    ///
    /// # Errors
    /// A rule of an expected call contradicts itself.
    pub fn fuzzy_questions(&self, input: TrajectoryInput<'_>) -> Result<FuzzyQuestions, TrajectoryConfigError> {
        let mut pairs = self.fuzzy_pairs(input)?;
        let left_out = pairs.len().saturating_sub(MOST_PAIRS);
        pairs.truncate(MOST_PAIRS);
        Ok(FuzzyQuestions { pairs, left_out })
    }

    /// All that differs between an expected call and one that was made.
    ///
    /// # Errors
    /// A rule of the expected call contradicts itself.
    pub fn differences(
        &self,
        expected: &ExpectedCall,
        made: &ToolUse,
    ) -> Result<Vec<CallDifference>, TrajectoryConfigError> {
        let session = self.session(
            TrajectoryInput { expected: std::slice::from_ref(expected), ..TrajectoryInput::default() },
            &LettersOnly,
        )?;
        Ok(session.wanted.first().map(|wanted| session.comparer.differences(wanted, made)).unwrap_or_default())
    }

    /// The parts of an expected call with which nothing can be compared, such as a pattern that is none: each by its key within the
    /// call, with a sentence.
    pub fn unusable(&self, call: &ExpectedCall) -> Vec<(String, Unusable)> {
        // Only a rule asks for a pattern or a date.
        if self.has_no_rules() && call.rules.is_empty() {
            return Vec::new();
        }
        // Where the original says that it differs, it can't be compared all the same.
        let lenient =
            TrajectoryMatcher { config: TrajectoryConfig { strict: false, ..self.config.clone() }, ..self.clone() };
        let input = TrajectoryInput { expected: std::slice::from_ref(call), ..TrajectoryInput::default() };
        let session = lenient.session(input, &LettersOnly);
        session.map(|it| it.wanted.iter().flat_map(|wanted| it.comparer.unusable(wanted)).collect()).unwrap_or_default()
    }

    /// Whether calls beside the expected ones are no fault.
    pub fn allows_other_calls(&self) -> bool {
        self.count == CallCount::Subset
    }

    fn session<'a>(
        &'a self,
        input: TrajectoryInput<'a>,
        answers: &'a dyn FuzzyAnswers,
    ) -> Result<MatchSession<'a>, TrajectoryConfigError> {
        let wanted = |call: &'a ExpectedCall| Ok(ExpectedUse { call, rules: self.rules_of(call)? });
        Ok(MatchSession {
            matcher: self,
            input,
            wanted: input.expected.iter().map(wanted).collect::<Result<_, _>>()?,
            comparer: CallComparer {
                matcher: self,
                answers,
                names_decide: self.names_decide(),
                has_fuzzy: Cell::new(false),
                deadline: input.deadline,
                doubt: RefCell::new(None),
            },
            known: RefCell::new(vec![None; input.expected.len() * input.actual.len()]),
        })
    }
}

impl MatchSession<'_> {
    fn run(&self) -> Trajectory {
        let found = self.holds(false);
        let is_match = match &found {
            _ if self.is_greedy() && self.has_unknown() => self.holds_every_way(),
            Some(_) => Some(true),
            None if self.has_unknown() && self.holds(true).is_some() => None,
            None => Some(false),
        };
        let missing = is_match.is_none().then(|| self.why_missing());
        let is_whole = |pairs: &Pairs| pairs.iter().all(Option::is_some);
        let pairs = match found.filter(is_whole) {
            Some(pairs) => pairs,
            None => self.best(),
        };
        let same = self.matched(&pairs);
        let figures = figures(self, &pairs, &same, is_match);
        let explanation = (is_match != Some(true) && !self.input.is_brief).then(|| self.explanation(&pairs, &same));
        let has_fuzzy = self.comparer.has_fuzzy.get() && !self.input.is_brief;
        let decided =
            same.iter().enumerate().filter(|_| has_fuzzy).filter_map(|(wanted, made)| Some((wanted, (*made)?)));
        let decisions =
            decided.flat_map(|(wanted, made)| self.comparer.decisions(&self.wanted[wanted], &self.input.actual[made]));
        let doubt = self.comparer.doubt.take();
        let unknown_goal = self.unknown_goal();
        Trajectory {
            is_match,
            missing,
            doubt,
            unknown_goal,
            decisions: decisions.collect(),
            pairs: same,
            figures,
            explanation,
        }
    }

    fn why_missing(&self) -> String {
        let message = self.input.messages.iter().find_map(|message| message.reached.as_ref().err());
        if let Some(why) = message {
            return why.to_string();
        }
        let doubt = self.comparer.doubt.borrow().clone();
        doubt.unwrap_or_else(|| "whether two texts mean the same is not known".to_owned())
    }

    fn unknown_goal(&self) -> Option<String> {
        let open = self.input.messages.iter().filter(|message| message.is_reached().is_none());
        let message = open.into_iter().find_map(|message| message.reached.as_ref().err());
        let unknown = message.or_else(|| self.input.assertions.iter().find_map(|it| it.holds.as_ref().err()));
        unknown.map(ToString::to_string)
    }

    /// The pairs that are the same.
    fn matched(&self, pairs: &Pairs) -> Pairs {
        let same = |(wanted, made): (usize, &Option<usize>)| {
            made.filter(|made| self.verdict(wanted, *made) == CallVerdict::Same)
        };
        pairs.iter().enumerate().map(same).collect()
    }

    fn explanation(&self, pairs: &Pairs, same: &Pairs) -> String {
        let (expected, actual) = (self.wanted.len(), self.input.actual.len());
        let row = |wanted: usize, made: usize| match same[wanted] {
            Some(_) => CallRow::Same { expected: wanted, actual: made },
            None => {
                let differences = self.comparer.differences(&self.wanted[wanted], &self.input.actual[made]);
                CallRow::Near { expected: wanted, actual: made, differences }
            }
        };
        let may_have_extra = self.matcher.count == CallCount::Subset;
        let rows = explain::rows(expected, actual, pairs, may_have_extra, row);
        explain::block(&self.headline(same), &rows, self.input.expected, self.input.actual, &self.notes(same))
    }

    fn headline(&self, same: &Pairs) -> String {
        let (expected, actual) = (self.wanted.len(), self.input.actual.len());
        let found = same.iter().flatten().count();
        let is_absent = |message: &MessageGoal| message.is_reached() == Some(false);
        match self.matcher.count {
            CallCount::Equal if expected != actual => {
                format!("the number of calls differs: {actual} made, {expected} expected; {found} of them as expected")
            }
            _ if expected > actual && self.matcher.order != CallOrder::Goals => {
                format!("too few calls: {actual} made, {expected} expected; {found} of them as expected")
            }
            _ if found == expected && self.input.messages.iter().any(is_absent) => match expected {
                0 => "a message that is a goal was not sent".to_owned(),
                _ => "all expected calls were made, but a message that is a goal was not sent".to_owned(),
            },
            _ if found == expected && expected > 0 => {
                "all expected calls were made, but not in the expected order".to_owned()
            }
            _ => {
                let order = match self.matcher.order {
                    CallOrder::Exact | CallOrder::InOrder => " in this order",
                    CallOrder::AnyOrder | CallOrder::Goals => "",
                };
                format!("{found} of {expected} expected calls were made{order}")
            }
        }
    }

    /// The edges of the graph that do not hold, and the messages that did not come.
    fn notes(&self, same: &Pairs) -> Vec<String> {
        if self.matcher.order != CallOrder::Goals {
            return Vec::new();
        }
        let calls = self.wanted.len();
        let name = |node: usize| match node < calls {
            true => self.wanted[node].call.label(),
            false => self.input.messages[node - calls].name.as_str(),
        };
        let first = |node: usize| match node < calls {
            true => same[node].map(|made| 2 * made + 1),
            false => self.input.messages[node - calls].known().iter().max().map(|after| 2 * after),
        };
        let absent = self.input.messages.iter().filter(|it| it.is_reached() == Some(false));
        let mut notes: Vec<String> = absent.map(|it| format!("no message reaches the goal {}", it.name)).collect();
        for (before, after) in self.edges() {
            if let (Some(a), Some(b)) = (first(before), first(after))
                && a > b
            {
                notes.push(format!("{} came after {}, which it must lead to", name(before), name(after)));
            }
        }
        notes
    }
}
