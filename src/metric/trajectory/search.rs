//! The search for pairs of calls, by the order that holds.

use super::align::{self, Pairs};
use super::call::CallVerdict;
use super::compare::MatchSession;
use super::config::{CallCount, CallOrder};
use super::credit::Credit;
use super::equality::Equality;
use super::expected::ExpectedCall;
use super::goals::{self, GoalGraph, GoalNode};
use super::normal::sorted_text;
use crate::evidence::ToolUse;

impl MatchSession<'_> {
    pub(super) fn verdict(&self, wanted: usize, made: usize) -> CallVerdict {
        let at = wanted * self.input.actual.len() + made;
        if let Some(known) = self.known.borrow()[at] {
            return known;
        }
        let verdict = self.comparer.verdict(&self.wanted[wanted], &self.input.actual[made]);
        self.known.borrow_mut()[at] = Some(verdict);
        verdict
    }

    pub(super) fn has_unknown(&self) -> bool {
        self.known.borrow().contains(&Some(CallVerdict::Unknown))
            || self.input.messages.iter().any(|message| message.reached.is_err())
    }

    /// Whether it matches, if what is not known were so. The pairs are whole where it does.
    pub(super) fn holds(&self, unknown: bool) -> Option<Pairs> {
        let edge = |wanted: usize, made: usize| match self.verdict(wanted, made) {
            CallVerdict::Same => true,
            CallVerdict::Differs => false,
            CallVerdict::Unknown => unknown,
        };
        self.holds_by(edge, unknown)
    }

    /// Whether watsonx' journey succeeds, whatever the unknown is; `None` where it depends on that. Each call is credited to the
    /// first goal that is free, so that one more pair can also make it fail: each way is tried.
    pub(super) fn holds_every_way(&self) -> Option<bool> {
        /// Beyond this many ways it is taken as not known.
        const MOST: usize = 1_000;
        let mut way: Vec<((usize, usize), bool)> = Vec::new();
        let mut all = None;
        for _ in 0..MOST {
            let mut edge = |wanted: usize, made: usize| match self.verdict(wanted, made) {
                CallVerdict::Same => true,
                CallVerdict::Differs => false,
                CallVerdict::Unknown => match way.iter().find(|(pair, _)| *pair == (wanted, made)) {
                    Some((_, same)) => *same,
                    None => {
                        way.push(((wanted, made), false));
                        false
                    }
                },
            };
            let holds = [false, true].map(|unknown| self.holds_by(&mut edge, unknown).is_some());
            if holds[0] != holds[1] || all.is_some_and(|all| all != holds[0]) {
                return None;
            }
            all = Some(holds[0]);
            while way.pop_if(|(_, same)| *same).is_some() {}
            match way.last_mut() {
                Some((_, same)) => *same = true,
                None => return all,
            }
        }
        None
    }

    /// Whether credit goes to the first goal that is free, as watsonx gives it.
    pub(super) fn is_greedy(&self) -> bool {
        self.matcher.order == CallOrder::Goals && self.matcher.mode.equality == Equality::Watsonx
    }

    fn holds_by(&self, mut edge: impl FnMut(usize, usize) -> bool, unknown: bool) -> Option<Pairs> {
        let (expected, actual) = (self.wanted.len(), self.input.actual.len());
        if self.matcher.count == CallCount::Equal && expected != actual {
            return None;
        }
        match self.matcher.order {
            CallOrder::AnyOrder if self.matcher.sorts => self.sorted(&mut edge),
            CallOrder::Exact | CallOrder::InOrder => align::subsequence(expected, actual, &mut edge),
            CallOrder::AnyOrder => {
                Some(align::any_order(expected, actual, &mut edge)).filter(|pairs| pairs.iter().all(Option::is_some))
            }
            CallOrder::Goals => self.calls_in_order(&mut edge, unknown),
        }
    }

    /// Both sides sorted by name, arguments and result, and compared pair by pair.
    fn sorted(&self, edge: &mut impl FnMut(usize, usize) -> bool) -> Option<Pairs> {
        let go = |value: &serde_json::Value| {
            sorted_text(value).replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
        };
        let null = serde_json::Value::Null;
        let mut wanted: Vec<usize> = (0..self.wanted.len()).collect();
        wanted.sort_by_cached_key(|at| {
            let ExpectedCall { tool, args, result, .. } = self.wanted[*at].call;
            (tool.clone(), go(args.as_deref().unwrap_or(&null)), go(result.as_deref().unwrap_or(&null)))
        });
        let mut made: Vec<usize> = (0..self.input.actual.len()).collect();
        made.sort_by_cached_key(|at| {
            let ToolUse { tool, args, result, .. } = &self.input.actual[*at];
            (tool.clone(), go(args), go(result.as_deref().unwrap_or(&null)))
        });
        let mut pairs = vec![None; wanted.len()];
        for (wanted, made) in wanted.into_iter().zip(made) {
            if !edge(wanted, made) {
                return None;
            }
            pairs[wanted] = Some(made);
        }
        Some(pairs)
    }

    /// The calls that reach all goals in the order of the graph.
    fn calls_in_order(&self, edge: &mut impl FnMut(usize, usize) -> bool, unknown: bool) -> Option<Pairs> {
        let calls = self.wanted.len();
        if self.matcher.mode.equality == Equality::Watsonx {
            let (pairs, order) = self.first_free(edge);
            let messages = self.input.messages.iter();
            let reached = messages.filter(|it| it.is_reached().unwrap_or(unknown));
            let order: Vec<&str> = order.into_iter().chain(reached.map(|it| it.name.as_str())).collect();
            if self.input.goals.is_none() && order.is_empty() && calls == 0 && self.input.messages.is_empty() {
                // Nothing but assertions.
                return Some(pairs);
            }
            let alone = self.graph_of_all();
            let graph = self.input.goals.unwrap_or(&alone);
            return goals::is_topological_order(graph, &order, true).then_some(pairs);
        }
        let edges = self.edges();
        // Where the goals are listed in the order of their graph, the calls mostly come in it too.
        if self.input.messages.is_empty()
            && edges.iter().all(|(before, after)| before < after)
            && let Some(pairs) = align::subsequence(calls, self.input.actual.len(), edge)
        {
            return Some(pairs);
        }
        // A message has the places between the calls: after so many of them.
        let last = self.input.actual.len();
        let mut nodes: Vec<GoalNode> = (0..calls)
            .map(|wanted| {
                let slots = (0..last).filter(|made| edge(wanted, *made)).map(|made| 2 * made + 1);
                GoalNode { slots: slots.collect(), ..GoalNode::default() }
            })
            .collect();
        for message in self.input.messages {
            let times = if unknown { message.possible(last) } else { message.known().to_vec() };
            let slots = times.into_iter().map(|after| 2 * after.min(last)).collect();
            nodes.push(GoalNode { slots, shares: true, ..GoalNode::default() });
        }
        for node in &mut nodes {
            node.slots.sort_unstable();
            node.slots.dedup();
        }
        for (before, after) in edges {
            nodes[after].before.push(before);
        }
        let slots = goals::in_order(&nodes, 2 * last + 1)?;
        Some(slots[..calls].iter().map(|slot| slot.map(|slot| slot / 2)).collect())
    }

    /// The edges of the graph, as places among the calls and then the messages.
    pub(super) fn edges(&self) -> Vec<(usize, usize)> {
        let place = |name: &str| {
            let call = self.wanted.iter().position(|it| it.call.name.as_deref() == Some(name));
            let message = || self.input.messages.iter().position(|it| it.name == name).map(|at| at + self.wanted.len());
            call.or_else(message)
        };
        let edges = self.input.goals.into_iter().flatten();
        edges.flat_map(|(from, to)| to.iter().filter_map(move |to| Some((place(from)?, place(to)?)))).collect()
    }

    fn graph_of_all(&self) -> GoalGraph {
        let calls = self.wanted.iter().map(|it| it.call.label().to_owned());
        let messages = self.input.messages.iter().map(|it| it.name.clone());
        calls.chain(messages).map(|name| (name, Vec::new())).collect()
    }

    /// watsonx' credit: each call to the first goal that is still free. With the goals in the order of their credit.
    pub(super) fn first_free(&self, edge: &mut impl FnMut(usize, usize) -> bool) -> (Pairs, Vec<&str>) {
        let mut pairs = vec![None; self.wanted.len()];
        let mut order = Vec::new();
        for made in 0..self.input.actual.len() {
            let free = (0..self.wanted.len()).filter(|wanted| pairs[*wanted].is_none()).collect::<Vec<_>>();
            if let Some(wanted) = free.into_iter().find(|wanted| edge(*wanted, made)) {
                pairs[wanted] = Some(made);
                order.push(self.wanted[wanted].call.label());
            }
        }
        (pairs, order)
    }

    /// The pairs that belong together best: as many as possible that are the same, and then those that share most arguments.
    pub(super) fn best(&self) -> Pairs {
        /// Beyond this many pairs only those that are the same are looked for.
        const MOST: usize = 250_000;
        let (expected, actual) = (self.wanted.len(), self.input.actual.len());
        let is_in_order = matches!(self.matcher.order, CallOrder::Exact | CallOrder::InOrder);
        let mut edge = |wanted: usize, made: usize| self.verdict(wanted, made) == CallVerdict::Same;
        if expected * actual > MOST {
            return align::any_order(expected, actual, &mut edge);
        }
        if self.matcher.mode.equality == Equality::Watsonx {
            return self.first_free(&mut edge).0;
        }
        let whole = 3.0 * (expected.min(actual) + 1) as f64;
        // In order, what is the same at both ends belongs together in a best alignment: nothing weighs more.
        let ends = if is_in_order { expected.min(actual) } else { 0 };
        let head = (0..ends).take_while(|at| edge(*at, *at)).count();
        let tail = (1..=ends - head).take_while(|at| edge(expected - at, actual - at)).count();
        let weights: Vec<Vec<f64>> = (head..expected - tail)
            .map(|wanted| {
                let weight = |made: usize| match self.verdict(wanted, made) {
                    CallVerdict::Same => whole,
                    _ => self.credit(wanted, made).map_or(0.0, |credit| 1.0 + credit.part()),
                };
                (head..actual - tail).map(weight).collect()
            })
            .collect();
        if !is_in_order {
            return align::heaviest(&weights, actual);
        }
        let middle = align::heaviest_in_order(&weights, actual - tail - head);
        let middle = middle.into_iter().map(|made| made.map(|made| made + head));
        (0..head).map(Some).chain(middle).chain((actual - tail..actual).map(Some)).collect()
    }

    pub(super) fn credit(&self, wanted: usize, made: usize) -> Option<Credit> {
        self.comparer.credit(&self.wanted[wanted], &self.input.actual[made])
    }
}
