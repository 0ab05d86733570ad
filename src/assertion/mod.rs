//! The assertions, which must hold after the conversation: one folder a kind. Pure: in comes the evidence, out goes a
//! [`Component`] with its score or the reason why there is none.

pub mod changes;
pub mod cypher;
mod equal;
pub mod expression;

use crate::clock::Clock;
use crate::evidence::{AssertionId, Evidence, Observed};
use crate::score::{Component, Score};

/// The check of an assertion; the key that is present in the job file decides the kind.
#[derive(Debug, Clone, PartialEq)]
pub enum AssertionCheck {
    /// `cypher` and `expected`: the rows that a query must return.
    Cypher(cypher::CypherCheck),
    /// `expression`: a Rhai script that must be true.
    Expression(expression::ExpressionCheck),
    /// `changes`: what the conversation may do to the graph, and must.
    Changes(changes::ChangesConfig),
}

impl AssertionCheck {
    /// The name for readers when the job gives none: its own text on one line.
    pub fn label(&self) -> String {
        let text = match self {
            AssertionCheck::Cypher(check) => &check.cypher,
            AssertionCheck::Expression(check) => check.text(),
            AssertionCheck::Changes(check) => return changes::label(check),
        };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether it looks at the graph.
    pub fn needs_graph(&self) -> bool {
        match self {
            AssertionCheck::Cypher(_) | AssertionCheck::Changes(_) => true,
            AssertionCheck::Expression(_) => self.needs_changes(),
        }
    }

    /// Whether it looks at what has changed in the graph, so that the graph has to be watched.
    pub fn needs_changes(&self) -> bool {
        match self {
            AssertionCheck::Cypher(_) => false,
            AssertionCheck::Changes(_) => true,
            AssertionCheck::Expression(check) => check.uses_changes(),
        }
    }

    /// Whether it looks at the functions that the agent called, which not every transport reports.
    pub fn needs_function_calls(&self) -> bool {
        match self {
            AssertionCheck::Cypher(_) | AssertionCheck::Changes(_) => false,
            AssertionCheck::Expression(check) => expression::uses_function_calls(check.text()),
        }
    }

    /// Whether it looks at the calls of the user's own tools, which not every user has.
    pub fn needs_user_tool_calls(&self) -> bool {
        match self {
            AssertionCheck::Cypher(_) | AssertionCheck::Changes(_) => false,
            AssertionCheck::Expression(check) => expression::uses_user_tool_calls(check.text()),
        }
    }

    /// The Cypher by which it looks at the graph.
    pub fn cypher(&self) -> Option<&str> {
        match self {
            AssertionCheck::Cypher(check) => Some(&check.cypher),
            AssertionCheck::Expression(_) | AssertionCheck::Changes(_) => None,
        }
    }

    /// Evaluates it on what a trial left behind. `id` is what it is known by in its case; `job` is its name. Where a
    /// second delivery of a message may have changed what it looks at, it is missing if it fails: that may not be the agent's doing.
    /// `clock` stops what would take for ever.
    pub fn evaluate(&self, id: &AssertionId, job: &str, evidence: &Evidence, clock: Clock) -> Component {
        self.component(id, evidence, |check| {
            expression::evaluate(check, job, evidence, clock.deadline(expression::TIME_LIMIT))
        })
    }

    /// Evaluates it, with short reasons.
    pub fn evaluate_briefly(&self, id: &AssertionId, job: &str, evidence: &Evidence, clock: Clock) -> Component {
        self.component(id, evidence, |check| {
            expression::evaluate_briefly(check, job, evidence, clock.deadline(expression::TIME_LIMIT))
        })
    }

    fn component(
        &self,
        id: &AssertionId,
        evidence: &Evidence,
        expression: impl FnOnce(&expression::ExpressionCheck) -> Component,
    ) -> Component {
        let component = match self {
            AssertionCheck::Cypher(check) => cypher::evaluate(check, id, evidence),
            AssertionCheck::Expression(check) => expression(check),
            AssertionCheck::Changes(check) => changes::evaluate(check, evidence),
        };
        match (component, self.doubt(id, evidence)) {
            (component, Some(_)) if component.score() == Some(Score::ONE) => component,
            (Component::Scored { why, .. }, Some(doubt)) => Component::missing(format!("{why}; but {doubt}")),
            (component, _) => component,
        }
    }

    /// Why nobody can tell what its failure comes from, since a message was sent again; `None` where it does not look at what may be
    /// another thing for that.
    fn doubt(&self, id: &AssertionId, evidence: &Evidence) -> Option<String> {
        let (mut of_conversation, mut of_calls) = (None, None);
        if let AssertionCheck::Expression(check) = self {
            of_conversation = evidence.turn_after_break().filter(|_| check.uses_evaluation());
            of_calls = evidence.turn_with_unseen_calls().filter(|_| self.needs_function_calls());
        }
        of_conversation.map(after_break).or(of_calls.map(unseen_calls)).or_else(|| {
            let doubled =
                "a message was sent again that the agent may have received before, so that what it did may be doubled";
            self.may_be_doubled(id, evidence).then(|| doubled.to_owned())
        })
    }

    /// Why it can't tell whether anything holds, whatever the conversation brings, as far as the evidence of a moment before
    /// the conversation shows.
    pub fn unusable(&self, id: &AssertionId, job: &str, before: &Evidence, clock: Clock) -> Option<String> {
        match self {
            AssertionCheck::Cypher(check) => cypher::unusable(check, before.table(id)?),
            AssertionCheck::Expression(check) => {
                expression::unusable(check, job, before, clock.deadline(expression::TIME_LIMIT))
            }
            AssertionCheck::Changes(_) => None,
        }
    }

    /// Whether it looks at a state that a second delivery of a message may have changed. An agent that failed to the end is not
    /// excused.
    fn may_be_doubled(&self, id: &AssertionId, evidence: &Evidence) -> bool {
        let Some(turn) = evidence.first_maybe_doubled_turn().filter(|_| !evidence.agent_ended_it()) else {
            return false;
        };
        let has_changes_since = |unseen: bool| match &evidence.changes {
            Some(Observed::Seen(changes)) if !changes.is_empty() => changes.iter().any(|it| it.when().turn >= turn),
            Some(Observed::Seen(_)) => unseen,
            Some(Observed::Failed(_)) | None => true,
        };
        match self {
            AssertionCheck::Cypher(_) => {
                let before = evidence.before.as_ref().and_then(|before| before.table(id));
                match (before, evidence.table(id)) {
                    (Some(before), Some(after)) if before == after => false,
                    // What changed may be outside of the part that is watched.
                    (before, _) => has_changes_since(before.is_some()),
                }
            }
            AssertionCheck::Changes(_) => has_changes_since(false),
            AssertionCheck::Expression(_) => {
                (self.needs_changes() && has_changes_since(false))
                    || (self.needs_object_context() && self.shows_the_same(evidence) != Some(true))
            }
        }
    }

    /// Whether the agent's object context is the same after the conversation as before it, as far as this looks at it.
    /// `None` where one of the two is not known.
    pub fn shows_the_same(&self, evidence: &Evidence) -> Option<bool> {
        let AssertionCheck::Expression(check) = self else { return None };
        match (evidence.before.as_ref()?.object_context.as_ref()?, evidence.object_context.as_ref()?) {
            (Observed::Seen(before), Observed::Seen(after)) => {
                Some(expression::same_context(check.text(), before, after))
            }
            _ => None,
        }
    }

    /// Whether it looks at the agent's object context, so that it has to be fetched.
    pub fn needs_object_context(&self) -> bool {
        match self {
            AssertionCheck::Cypher(_) | AssertionCheck::Changes(_) => false,
            AssertionCheck::Expression(check) => check.uses_object_context(),
        }
    }

    /// The parts of the agent's object context that it looks at by name: `resources`.
    pub fn context_parts(&self) -> Vec<&'static str> {
        match self {
            AssertionCheck::Cypher(_) | AssertionCheck::Changes(_) => Vec::new(),
            AssertionCheck::Expression(check) => expression::context_parts(check.text()),
        }
    }
}

/// Why what rests on the agent's words and calls is not known: the message of this turn was sent again after a break.
pub fn after_break(turn: u32) -> String {
    format!(
        "the message of turn {turn} was sent again since eval-job was cut off, and the agent may have had it before: what it said and \
         did then nobody saw"
    )
}

/// Why what rests on the agent's calls is not known: a try of this turn's message failed, and it was sent again.
pub fn unseen_calls(turn: u32) -> String {
    format!(
        "the message of turn {turn} was sent again after a try that the agent may have received: what it called then nobody saw"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{
        Change, ChangeTime, Ending, Entity, Node, ObjectContext, ObservedState, QueryObservation, Redelivery, Table,
        Transcript, Turn,
    };

    fn evaluate(check: &AssertionCheck, evidence: &Evidence) -> Component {
        check.evaluate(&AssertionId::new("0"), "j", evidence, Clock::system())
    }

    fn check(expression: &str) -> AssertionCheck {
        AssertionCheck::Expression(expression::ExpressionCheck::new(expression))
    }

    fn count() -> AssertionCheck {
        AssertionCheck::Cypher(cypher::CypherCheck { cypher: "RETURN count".into(), expected: 1.into() })
    }

    fn counted(number: i64) -> Vec<QueryObservation> {
        let table = Table { columns: vec!["x".to_owned()], rows: vec![vec![number.into()]] };
        vec![QueryObservation { assertion: AssertionId::new("0"), result: Observed::Seen(table), sides: None }]
    }

    fn created_in(turn: u32) -> Change {
        let node = Node { id: "1".into(), labels: vec!["A".into()], properties: Default::default() };
        Change::Created { when: ChangeTime { turn, late: false }, entity: Entity::Node(node) }
    }

    /// After a conversation in which the second message may have come twice.
    fn doubled(changes: Option<Observed<Vec<Change>>>, queries: Vec<QueryObservation>) -> Evidence {
        let turn = |number| Turn { maybe_delivered: number == 2, ..Turn::answered(number, "Hi", "Hello") };
        let transcript = Transcript { turns: vec![turn(1), turn(2), turn(3)] };
        Evidence { transcript, changes, queries, ..Evidence::sample() }
    }

    #[test]
    fn only_a_state_that_a_second_delivery_can_have_changed_is_in_doubt() {
        let seen = |turns: &[u32]| Some(Observed::Seen(turns.iter().map(|turn| created_in(*turn)).collect()));
        let is_missing = |evidence: &Evidence| evaluate(&count(), evidence).is_missing();
        assert!(is_missing(&doubled(seen(&[2]), counted(2))));
        assert!(is_missing(&doubled(seen(&[1, 3]), counted(2))), "it may have come to it later");
        assert!(!is_missing(&doubled(seen(&[1]), counted(2))), "nothing came of it");
        assert!(!is_missing(&doubled(seen(&[]), counted(2))), "nothing came of anything");
        assert!(is_missing(&doubled(Some(Observed::Failed("too large".into())), counted(2))), "nobody knows");
        assert!(is_missing(&doubled(None, counted(2))), "nobody looked");
        assert!(!is_missing(&doubled(seen(&[2]), counted(1))), "it holds");
        let before = |count| Some(ObservedState { queries: counted(count), ..ObservedState::default() });
        assert!(!is_missing(&Evidence { before: before(2), ..doubled(None, counted(2)) }), "it returned that before");
        assert!(is_missing(&Evidence { before: before(0), ..doubled(seen(&[]), counted(2)) }), "out of sight");
    }

    #[test]
    fn what_was_said_and_called_at_an_earlier_delivery_nobody_saw() {
        let redelivered = |redelivered, ending| {
            let mut evidence = Evidence { ending, ..doubled(Some(Observed::Seen(Vec::new())), Vec::new()) };
            evidence.transcript.turns[1].redelivered = redelivered;
            evidence
        };
        let calls = check("evaluation.functionCalls.size == 1");
        let (holds, words) = (check("evaluation.functionCalls.isEmpty()"), check("evaluation.transcript.size == 7"));
        let ends = || Ending::SignedOff { reason: None };
        let missing = |evidence: &Evidence| [&calls, &holds, &words].map(|it| evaluate(it, evidence).is_missing());
        assert_eq!(missing(&redelivered(None, ends())), [false; 3]);
        assert_eq!(missing(&redelivered(Some(Redelivery::AfterFailure), ends())), [true, false, false]);
        assert_eq!(
            missing(&redelivered(Some(Redelivery::AfterBreak), ends())),
            [true, false, true],
            "what holds counts"
        );
        let failed = || Ending::AgentFailed { error: "500".into() };
        for why in [Redelivery::AfterFailure, Redelivery::AfterBreak] {
            assert_eq!(missing(&redelivered(Some(why), failed())), [false; 3], "it failed to the end");
        }
        let slow = redelivered(Some(Redelivery::AfterBreak), Ending::TimeLimit { seconds: 1.0 });
        assert_eq!(missing(&slow), [true, false, true]);
    }

    #[test]
    fn messages_and_calls_are_shown_once() {
        let evidence = doubled(None, Vec::new());
        let of_messages = check("evaluation.transcript.size == 1 && evaluation.functionCalls.size == 1");
        assert_eq!(evaluate(&of_messages, &evidence).score(), Some(Score::ZERO));
        let seen =
            |context: &str| Some(Observed::Seen(ObjectContext { context: context.into(), ..Default::default() }));
        let shows = check(r#"objectContext.context == "z""#);
        let evidence = Evidence { object_context: seen("y"), ..evidence };
        assert!(evaluate(&shows, &evidence).is_missing(), "nobody looked before");
        let before = |context| Some(ObservedState { object_context: seen(context), ..ObservedState::default() });
        let changed = Evidence { before: before("x"), ..evidence.clone() };
        assert!(evaluate(&shows, &changed).is_missing());
        let same = Evidence { before: before("y"), ..evidence };
        assert_eq!(evaluate(&shows, &same).score(), Some(Score::ZERO));
    }

    #[test]
    fn an_agent_that_failed_is_not_excused_by_a_doubled_message() {
        let mut evidence = doubled(None, counted(2));
        for ending in [Ending::AgentFailed { error: "500".into() }, Ending::TimeLimit { seconds: 1.0 }] {
            evidence.ending = ending;
            assert_eq!(evaluate(&count(), &evidence).score(), Some(Score::ZERO));
        }
        evidence.ending = Ending::SignedOff { reason: None };
        assert!(evaluate(&count(), &evidence).is_missing());
        // The message that may have come twice was never answered.
        evidence.transcript.turns[1].agent = None;
        assert_eq!(evaluate(&count(), &evidence).score(), Some(Score::ZERO));
    }

    #[test]
    fn what_an_assertion_needs_is_known_before() {
        let cypher = cypher::CypherCheck { cypher: "RETURN 1".into(), expected: 1.into() };
        let cypher = AssertionCheck::Cypher(cypher);
        assert!(cypher.needs_graph() && !cypher.needs_object_context());
        assert!(check("objectContext.resources.size == 1").needs_object_context());
        assert!(check("evaluation.functionCalls.isEmpty()").needs_function_calls());
        assert!(check("evaluation[\"userToolCalls\"].isEmpty()").needs_user_tool_calls());
        assert!(!check("evaluation.functionCalls.isEmpty()").needs_user_tool_calls());
        assert!(check("`${evaluation.functionCalls.size}` == `0`").needs_function_calls());
        assert!(!check("evaluation.done && \"functionCalls\" != `functionCalls`").needs_function_calls());
        assert!(!cypher.needs_function_calls());
        assert!(!check("evaluation.done").needs_object_context() && !check("evaluation.done").needs_graph());
    }
}
