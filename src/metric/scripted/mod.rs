//! A metric of a job's own: a Rhai script over messages and tool calls, which gives the score.

use rhai::Dynamic;
use serde_json::{Value, json};

use super::options::{MetricOptions, OptionsProblem};
use super::trajectory::Expectation;
use super::{Metric, MetricInput};
use crate::evidence::{Judgement, Observed, ToolUse, Turn};
use crate::score::{Component, Dimension, Score, Weight};
use crate::script::{ApiType, METRIC, Record, ScriptText, TIME_LIMIT, data, line, list, shown};

/// The metric of a script.
#[derive(Debug, Clone)]
pub(super) struct ScriptedMetric {
    pub(super) weight: Weight,
    pub(super) script: ScriptText,
}

impl MetricOptions for ScriptText {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        Some(Box::new(ScriptedMetric { weight, script: self.clone() }))
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        let problem = self.problem(&METRIC)?.clone();
        Some(OptionsProblem { script: Some(problem.clone()), ..OptionsProblem::new("", problem.to_string()) })
    }

    fn state_use(&self, _is_expected: bool) -> Option<&'static str> {
        looks_at_state(self).then_some("the script of a metric looks at `state`")
    }

    fn looks_at_calls(&self) -> bool {
        looks_at_calls(self)
    }
}

/// Why a script gives no score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum NoScore {
    /// The agent's state could not be read: its error.
    #[error("the agent's state could not be read: {0}")]
    UnreadableState(String),
    /// The agent's state was not read.
    #[error("the agent's state was never read")]
    StateNotRead,
    /// The script failed, in a sentence.
    #[error("{0}")]
    Failed(String),
    /// Data that the script needs is absent. The script's first line.
    #[error("{0}: it gives no score, some data is absent")]
    Absent(String),
    /// The value is of another type, as it is shown.
    #[error("the script must give {}, but it is {}", METRIC.must_be(), .0)]
    OtherType(String),
    /// The number is below 0 or above 1.
    #[error("the script gives {0}, which is no score from 0 to 1")]
    OutOfRange(f64),
}

impl Metric for ScriptedMetric {
    fn name(&self) -> &'static str {
        "rhai"
    }

    fn score(&self, input: &MetricInput<'_>, _judgements: &[Judgement]) -> Dimension {
        let component = self.component(input).unwrap_or_else(|error| Component::missing(error.to_string()));
        // A score of the script's own has failed where it is nothing at all, unless a threshold says otherwise.
        let dimension = super::single_part(self.name(), self.weight, &self.line(), component);
        Dimension { good_above: Some(Score::ZERO), ..dimension }
    }
}

impl ScriptedMetric {
    /// The score with its reason, or why there is none.
    fn component(&self, input: &MetricInput<'_>) -> Result<Component, NoScore> {
        let state = match input.state {
            Some(Observed::Seen(context)) => data(&context.state()),
            _ if !looks_at_state(&self.script) => Dynamic::UNIT,
            Some(Observed::Failed(error)) => return Err(NoScore::UnreadableState(error.clone())),
            None => return Err(NoScore::StateNotRead),
        };
        let last = input.transcript.turns.iter().rev().find(|turn| !turn.is_greeting());
        let reply = last.and_then(|turn| turn.agent.clone()).map_or(Dynamic::UNIT, Dynamic::from);
        let turns = &input.transcript.turns;
        let calls: Vec<Vec<Dynamic>> = turns
            .iter()
            .zip(input.transcript.tool_uses_by_turn())
            .map(|(turn, uses)| uses.into_iter().map(|it| call(turn.number, it)).collect())
            .collect();
        let values = [
            list(turns.iter().zip(&calls).map(|(turn, calls)| self.turn(turn, calls, input))),
            list(calls.iter().flatten().cloned()),
            reply,
            state,
            expected(input.expected),
        ];
        let deadline = input.clock.deadline(TIME_LIMIT);
        let value = self.script.run(&METRIC, values, deadline);
        self.scored(&value.map_err(|failure| NoScore::Failed(failure.why(self.script.as_str())))?)
    }

    fn turn(&self, turn: &Turn, calls: &[Dynamic], input: &MetricInput<'_>) -> Dynamic {
        let own = input.lines.iter().find(|line| line.turn == turn.number).map(|line| &*line.expected);
        Record::dynamic(
            ApiType::Turn,
            [
                ("number", i64::from(turn.number).into()),
                ("user", turn.user.clone().into()),
                ("reply", turn.agent.clone().map_or(Dynamic::UNIT, Dynamic::from)),
                ("toolCalls", list(calls.iter().cloned())),
                ("timeTakenMillis", turn.latency_ms.map_or(Dynamic::UNIT, |ms| Dynamic::from(ms.round() as i64))),
                ("expected", expected(own)),
            ],
        )
    }

    fn scored(&self, value: &Dynamic) -> Result<Component, NoScore> {
        let own = value.as_map_ref().ok().map(|map| {
            let reason = map.get("reason").filter(|reason| !reason.is_unit()).map(ToString::to_string);
            (map.get("score").cloned().unwrap_or(Dynamic::UNIT), reason)
        });
        let (score, reason) = own.unwrap_or_else(|| (value.clone(), None));
        let own_truth = score.as_bool().ok();
        let number = match (score.as_bool(), score.as_int(), score.as_float()) {
            (Ok(holds), ..) => f64::from(u8::from(holds)),
            (_, Ok(whole), _) => whole as f64,
            (.., Ok(number)) => number,
            _ if score.is_unit() => return Err(NoScore::Absent(self.line())),
            _ => return Err(NoScore::OtherType(shown(&score))),
        };
        match Score::new(number) {
            Some(score) => {
                let given = score_text(&self.line(), own_truth, number);
                Ok(Component::scored(score, reason.unwrap_or(given)))
            }
            None => Err(NoScore::OutOfRange(number)),
        }
    }

    fn line(&self) -> String {
        line(self.script.as_str())
    }
}

/// The result of a script, in words.
fn score_text(line: &str, truth: Option<bool>, number: f64) -> String {
    match truth {
        Some(truth) => format!("{line} is {truth}"),
        None => format!("the script gives {number}"),
    }
}

/// Whether a script may look at the agent's state, so that it has to be read.
pub(super) fn looks_at_state(script: &ScriptText) -> bool {
    script.mentions("state")
}

/// Whether a script may look at the agent's tool calls.
pub(super) fn looks_at_calls(script: &ScriptText) -> bool {
    script.mentions("toolCalls")
}

fn call(turn: u32, ToolUse { tool, args, result, .. }: ToolUse) -> Dynamic {
    let result = result.as_deref().map_or(Dynamic::UNIT, data);
    Record::dynamic(
        ApiType::ToolUse,
        [("tool", tool.into()), ("args", data(&args)), ("result", result), ("turn", i64::from(turn).into())],
    )
}

/// The expectation, with the names of the job file; absent where there is none.
fn expected(expected: Option<&Expectation>) -> Dynamic {
    let json: Value = expected.map_or(Value::Null, |expected| json!(expected));
    data(&json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Event, ObjectContext};
    use crate::metric::input::Example;

    fn example() -> Example {
        let mut example = Example::new(1);
        let events =
            vec![Event::call("find", json!({"city": "Rome"}), json!({})), Event::call("book", json!({}), json!({}))];
        example.transcript.turns.push(Turn { events, ..Turn::answered(2, "Book it", "Booked: Rome") });
        example
    }

    fn run_with(script: &str, state: Option<&Observed<ObjectContext>>) -> Component {
        let script = ScriptText::new(script);
        assert_eq!(script.problem(&METRIC), None);
        let example = example();
        let expected = Expectation { keywords: vec!["Rome".to_owned()], ..Expectation::default() };
        let input = MetricInput { expected: Some(&expected), state, ..example.input() };
        ScriptedMetric { weight: Weight::ONE, script }.score(&input, &[]).component
    }

    fn run(script: &str) -> Component {
        run_with(script, None)
    }

    #[test]
    fn a_script_gives_a_number_a_truth_or_a_score_with_its_reason() {
        let half = Score::clamped(0.5);
        assert_eq!(run("0.5"), Component::scored(half, "the script gives 0.5"));
        assert_eq!(run("1.0 / turns.size"), Component::scored(half, "the script gives 0.5"));
        assert_eq!(run("toolCalls.size == 2").score(), Some(Score::ONE));
        assert_eq!(run("1").score(), Some(Score::ONE));
        assert_eq!(
            run("#{score: toolCalls.any(|it| it.tool == \"cancel\"), reason: `${turns[1].toolCalls[0].args.city}`}"),
            Component::scored(Score::ZERO, "Rome")
        );
        assert_eq!(run("reply.contains(expected.keywords[0])").score(), Some(Score::ONE));
    }

    #[test]
    fn a_result_that_comes_in_a_later_turn_is_that_of_its_call() {
        let mut example = Example::new(1);
        example.transcript.turns[0].events = vec![Event::call("find", json!({}), json!({"id": "1"}))];
        let events = vec![
            Event::response(json!("Rome"), json!({"id": "1"})),
            Event::call("book", json!({}), json!({"id": "2"})),
        ];
        example.transcript.turns.push(Turn { events, ..Turn::answered(2, "Book it", "Booked") });
        let run = |script: &str| {
            let metric = ScriptedMetric { weight: Weight::ONE, script: ScriptText::new(script) };
            metric.score(&example.input(), &[]).component.score()
        };
        assert_eq!(run("turns[0].toolCalls[0].result == \"Rome\""), Some(Score::ONE));
        assert_eq!(run("toolCalls[0].result == \"Rome\" && toolCalls[0].turn == 1"), Some(Score::ONE));
        assert_eq!(run("turns[1].toolCalls.size == 1 && turns[1].toolCalls[0].tool == \"book\""), Some(Score::ONE));
    }

    #[test]
    fn what_is_no_score_is_missing_and_never_0() {
        for (script, why) in [
            ("1.5", "the script gives 1.5, which is no score from 0 to 1"),
            ("-1 + 0", "the script gives -1, which is no score from 0 to 1"),
            ("0.0 / 0.0", "the script gives NaN, which is no score from 0 to 1"),
            ("#{reason: \"x\"}", "#{reason: \"x\"}: it gives no score, some data is absent"),
            ("expected.reply", "expected.reply: it gives no score, some data is absent"),
            ("throw \"no idea\"", "no idea"),
            ("let i = 0; while true { i += 1; } i", "the script passed the limit of 1000000 operations"),
        ] {
            assert_eq!(run(script), Component::missing(why), "{script}");
        }
        assert!(run("reply + \"!\"").why().starts_with("the script must give a number from 0 to 1, true, false"));
    }

    #[test]
    fn the_state_is_there_where_it_was_read() {
        let script = "state.booked == 1";
        assert_eq!(run(script), Component::missing("the agent's state was never read"));
        let failed = Observed::Failed("500".to_owned());
        assert_eq!(run_with(script, Some(&failed)).why(), "the agent's state could not be read: 500");
        let seen = Observed::Seen(ObjectContext { context: json!({"booked": 1}), ..ObjectContext::default() });
        assert_eq!(run_with(script, Some(&seen)).score(), Some(Score::ONE));
        assert!(looks_at_state(&ScriptText::new("`${state.x}` == \"1\"")));
        assert!(!looks_at_state(&ScriptText::new("reply == \"state\" // state")));
    }
}
