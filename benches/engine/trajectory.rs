//! What it costs to compare recorded calls with expected ones.

use eval_job::evidence::ToolUse;
use eval_job::metric::trajectory::{
    CallOrder, ExpectedCall, GoalGraph, LettersOnly, TrajectoryConfig, TrajectoryDialect, TrajectoryInput,
    TrajectoryMatcher,
};
use serde_json::json;

const CASES: usize = 100_000;
const CALLS: usize = 20;
/// Cases that are kept at a time: as a reader of recordings would have them.
const AT_ONCE: usize = 1_000;

/// Prints a line for each order: the recorded calls are read from JSON, and every tenth case differs in one argument.
pub fn table() {
    let cases: Vec<(Vec<ExpectedCall>, String)> = (0..AT_ONCE).map(case).collect();
    let goals: GoalGraph = (0..CALLS)
        .map(|at| (format!("g{at}"), (at + 1 < CALLS).then(|| format!("g{}", at + 1)).into_iter().collect()))
        .collect();
    for (name, dialect, order) in [
        ("exact", TrajectoryDialect::Adk, CallOrder::Exact),
        ("in order", TrajectoryDialect::Adk, CallOrder::InOrder),
        ("any order", TrajectoryDialect::Trpc, CallOrder::AnyOrder),
        ("goals", TrajectoryDialect::Watsonx, CallOrder::Goals),
    ] {
        let config = TrajectoryConfig { dialect, order: Some(order), ..TrajectoryConfig::default() };
        let matcher = TrajectoryMatcher::new(&config).unwrap();
        let (mut reading, mut comparing, mut matched) = (0.0, 0.0, 0);
        for _ in 0..CASES / AT_ONCE {
            for (expected, recorded) in &cases {
                let started = crate::cpu_ms();
                let actual: Vec<ToolUse> = serde_json::from_str(recorded).unwrap();
                let read = crate::cpu_ms();
                reading += read - started;
                let goals = (order == CallOrder::Goals).then_some(&goals);
                let input = TrajectoryInput { expected, actual: &actual, goals, ..TrajectoryInput::default() };
                let trajectory = matcher.compare(input, &LettersOnly).unwrap();
                matched += usize::from(trajectory.is_match == Some(true));
                comparing += crate::cpu_ms() - read;
            }
        }
        assert_eq!(matched, CASES / 10 * 9);
        let (comparing, reading) = (comparing / 1e3, reading / 1e3);
        println!(
            "trajectory {name:<9} {CASES} cases of {CALLS} calls: {comparing:.2} s, and {reading:.2} s to read them"
        );
    }
}

fn case(number: usize) -> (Vec<ExpectedCall>, String) {
    let args = |at: usize| json!({"id": at * 7 + number, "city": format!("city {}", at % 5), "guests": {"adults": 2, "children": [3, at]}});
    let result = |at: usize| json!({"status": "ok", "price": at as f64 * 1.5});
    let expected = (0..CALLS).map(|at| ExpectedCall {
        name: Some(format!("g{at}")),
        result: Some(result(at).into()),
        ..ExpectedCall::new(format!("tool_{}", at % 4), args(at))
    });
    let actual = (0..CALLS).map(|at| {
        let mut args = args(at);
        if number.is_multiple_of(10) && at == CALLS / 2 {
            args["guests"]["adults"] = 3.into();
        }
        ToolUse {
            id: Some(format!("call-{at}")),
            result: Some(result(at).into()),
            ..ToolUse::new(format!("tool_{}", at % 4), args)
        }
    });
    (expected.collect(), serde_json::to_string(&actual.collect::<Vec<_>>()).unwrap())
}
