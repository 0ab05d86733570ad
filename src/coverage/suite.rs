//! Gathers what runs touch.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{FactWords, stems};
use super::graph::GraphNames;
use super::{Coverage, CoverageHit, CoverageItem, CoverageSubject};
use crate::evidence::{Condition, Evidence, Judgement, Observed, ToolUse};
use crate::job::{Case, Job};
use crate::metric::trajectory::{Expectation, TrajectoryCheck};
use crate::metric::{MetricConfig, MetricInput};

/// The input of metrics about a conversation, and the judges' answers about it.
pub type JudgedInput<'a> = (&'a MetricInput<'a>, &'a [Judgement]);

/// A conversation of a run, about one of the cases.
#[derive(Clone, Copy)]
pub struct CoveredConversation<'a> {
    /// The job of the run.
    pub job: &'a Job,
    /// The case.
    pub case: &'a Case,
    /// Whether the user knew the facts.
    pub condition: Condition,
    /// The conversation itself.
    pub evidence: &'a Evidence,
    /// Its judgements, where there are any.
    pub judged: Option<JudgedInput<'a>>,
}

/// The runs of a suite, one after the other.
#[derive(Debug, Default)]
pub struct Suite {
    tools: BTreeMap<String, ToolSeen>,
    graph: GraphNames,
    edges: BTreeMap<CoverageItem, EdgeSeen>,
    facts: BTreeMap<CoverageItem, FactSeen>,
    cases: BTreeSet<(String, String)>,
    runs: usize,
    conversations: usize,
}

/// The coverage of a tool.
#[derive(Debug, Default)]
struct ToolSeen {
    /// How many conversations called it.
    conversations: usize,
    /// Whether a case expects a call of it.
    is_expected: bool,
    /// Whether it is one of those that the agent is said to have.
    is_listed: bool,
}

/// The coverage of two goals, one after the other.
#[derive(Debug, Default)]
struct EdgeSeen {
    conversations: usize,
    /// How many of them reached the first goal, the second, and both in order.
    reached: [usize; 3],
}

/// The coverage of a fact.
#[derive(Debug)]
struct FactSeen {
    words: FactWords,
    /// How many conversations knew it, and how many mentioned it.
    known: usize,
    mentioned: usize,
}

impl Suite {
    /// The agent is said to have these tools.
    pub fn knows_tools(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names {
            self.tools.entry(name).or_default().is_listed = true;
        }
    }

    /// A run of this job begins.
    pub fn run(&mut self, job: &Job) {
        self.runs += 1;
        job.cases.iter().for_each(|case| self.case(job, case));
    }

    /// A case of a run that the run's job does not hold.
    pub fn case(&mut self, job: &Job, case: &Case) {
        self.cases.insert((job.name.clone(), case.id.clone()));
        self.graph.case(case);
        for call in case.expectations().flat_map(|expected| expected.calls.iter().flatten()) {
            self.tools.entry(call.tool.clone()).or_default().is_expected = true;
        }
        for (item, ..) in edges(job, case) {
            self.edges.entry(item).or_default();
        }
        for fact in &case.facts {
            let seen = || FactSeen { words: FactWords::new(fact), known: 0, mentioned: 0 };
            self.facts.entry(item(CoverageSubject::Fact, job, case, fact.clone())).or_insert_with(seen);
        }
    }

    /// A conversation of a run, about one of the cases, and what judges said of it.
    pub fn conversation(&mut self, conversation: CoveredConversation<'_>) {
        let CoveredConversation { job, case, condition, evidence, judged } = conversation;
        self.conversations += 1;
        if let Some(Observed::Seen(context)) = &evidence.object_context {
            self.knows_tools(context.functions.iter().map(|function| function.name.clone()));
        }
        let called: BTreeSet<String> =
            evidence.transcript.tool_uses().into_iter().map(|ToolUse { tool, .. }| tool).collect();
        for tool in called {
            self.tools.entry(tool).or_default().conversations += 1;
        }
        self.graph.conversation(case, evidence);
        self.goals(job, case, evidence, judged);
        let facts = case.facts_known(condition);
        if facts.is_empty() {
            return;
        }
        let messages: Vec<_> = evidence.transcript.turns.iter().map(|turn| stems(&turn.user)).collect();
        for fact in facts {
            if let Some(seen) = self.facts.get_mut(&item(CoverageSubject::Fact, job, case, fact.clone())) {
                seen.known += 1;
                seen.mentioned += usize::from(messages.iter().any(|message| seen.words.are_in(message)));
            }
        }
    }

    fn goals(&mut self, job: &Job, case: &Case, evidence: &Evidence, judged: Option<JudgedInput<'_>>) {
        let checks = job.metrics.iter().find_map(|entry| match &entry.metric {
            MetricConfig::Trajectory(check) => Some(TrajectoryCheck::clone(check)),
            _ => None,
        });
        let check = checks.unwrap_or_default();
        let mut last: Option<(&Expectation, BTreeMap<String, Vec<usize>>)> = None;
        for (item, expected, [first, second]) in edges(job, case) {
            let reached = match &last {
                Some((of, reached)) if std::ptr::eq(*of, expected) => reached,
                _ => &last.insert((expected, check.reached(expected, &evidence.transcript, judged))).1,
            };
            let times = |goal: &str| reached.get(goal).map(Vec::as_slice).unwrap_or_default();
            let (first, second) = (times(first), times(second));
            let in_order = first.iter().min().zip(second.iter().max()).is_some_and(|(first, second)| first < second);
            let seen = self.edges.entry(item).or_default();
            seen.conversations += 1;
            for (count, was) in seen.reached.iter_mut().zip([!first.is_empty(), !second.is_empty(), in_order]) {
                *count += usize::from(was);
            }
        }
    }

    /// Everything that was gathered.
    pub fn into_coverage(self) -> Coverage {
        let are_tools_listed = self.tools.values().any(|tool| tool.is_listed);
        let tools = self.tools.into_iter().map(|(name, seen)| {
            let item = CoverageItem { subject: CoverageSubject::Tool, case: None, name };
            let expected = if seen.is_expected { "expected by a case, " } else { "" };
            let called = match seen.conversations {
                0 => "never called".to_owned(),
                1 => "called in 1 conversation".to_owned(),
                several => format!("called in {several} conversations"),
            };
            (item, CoverageHit { is_covered: seen.conversations > 0, why: format!("{expected}{called}") })
        });
        let graph = self.graph.into_touches().map(|((subject, name), is_covered, why)| {
            (CoverageItem { subject, case: None, name }, CoverageHit { is_covered, why })
        });
        let edges = self.edges.into_iter().map(|(item, seen)| {
            let EdgeSeen { conversations, reached: [first, second, both] } = seen;
            let why =
                format!("both in order in {both} of {conversations}, the first in {first}, the second in {second}");
            (item, CoverageHit { is_covered: both > 0, why })
        });
        let facts = self.facts.into_iter().map(|(item, FactSeen { known, mentioned, .. })| {
            let why = match known {
                0 => "no conversation with it was run".to_owned(),
                _ => format!("mentioned in {mentioned} of {known}"),
            };
            (item, CoverageHit { is_covered: mentioned > 0, why })
        });
        Coverage {
            items: tools.chain(graph).chain(edges).chain(facts).collect(),
            runs: self.runs,
            cases: self.cases.len(),
            conversations: self.conversations,
            are_tools_listed,
        }
    }
}

fn item(subject: CoverageSubject, job: &Job, case: &Case, name: String) -> CoverageItem {
    CoverageItem { subject, case: Some((job.name.clone(), case.id.clone())), name }
}

/// The edges of a case's goals, each with what expects it and with its two goals.
fn edges<'a>(job: &'a Job, case: &'a Case) -> impl Iterator<Item = (CoverageItem, &'a Expectation, [&'a str; 2])> {
    let of_graph = |expected: &'a Expectation| {
        let goals = expected.goals.iter().flatten();
        goals.flat_map(move |(first, after)| after.iter().map(move |second| (expected, [first.as_str(), second])))
    };
    case.expectations().flat_map(of_graph).map(move |(expected, [first, second])| {
        (item(CoverageSubject::GoalEdge, job, case, format!("{first} → {second}")), expected, [first, second])
    })
}
