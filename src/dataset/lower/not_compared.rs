//! What a file expects of single turns and its own system compares with nothing: one warning names it, and it is not in the job.

use crate::dataset::{CaseUser, Dataset, System};

/// Measurements and settings of an agent that stand in expected turns, by the keys under which they are kept.
const OF_RUNS: [&str; 5] = ["app_details", "duration", "model_duration", "tool_duration", "executionTrace"];

/// A sentence about them, where a case's turns have some.
pub(super) fn not_compared(dataset: &Dataset) -> Option<String> {
    let lines = dataset.cases.iter().flat_map(|case| match &case.user {
        CaseUser::Lines(lines) => lines.as_slice(),
        CaseUser::Scenario(_) => &[],
    });
    let is_trpc = dataset.kind.system() == System::Trpc;
    let intermediate = if is_trpc { "intermediateResponses" } else { "intermediate_responses" };
    let mut found: Vec<&str> = Vec::new();
    for line in lines {
        let says = (!line.expected.intermediate.is_empty()).then_some(intermediate);
        let of_runs = OF_RUNS.into_iter().filter(|key| line.extra.get(*key).is_some_and(|value| !value.is_null()));
        for key in says.into_iter().chain(of_runs) {
            if !found.contains(&key) {
                found.push(key);
            }
        }
    }
    let keys = found.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    let name = dataset.kind.system().name();
    (!found.is_empty()).then(|| {
        format!("of its expected turns {keys} is not compared, by {name} neither; a rubric or an assertion can ask for what matters there")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Beside, load};

    fn warning_of(text: &str) -> Option<String> {
        not_compared(&load("s.evalset.json", text, &Beside::default()).unwrap())
    }

    #[test]
    fn what_nothing_compares_is_warned_of_once_for_a_file() {
        let turn = r#"{"user_content": {"parts": [{"text": "a"}]}, "app_details": {"agent_details": {}}, "duration": 1,
            "intermediate_data": {"intermediate_responses": [["a", [{"text": "wait"}]]]}}"#;
        let set = format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [{turn}, {turn}]}}, {{"eval_id": "d", "conversation": [{turn}]}}]}}"#
        );
        let sentence = warning_of(&set).unwrap();
        assert!(
            sentence.starts_with(
                "of its expected turns `intermediate_responses`, `app_details`, `duration` is not compared"
            ),
            "{sentence}"
        );
        let newer = r#"{"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation": [{"userContent": {"role": "user",
            "content": "a"}, "intermediateResponses": [{"role": "assistant", "content": "wait"}]}]}]}"#;
        assert!(
            warning_of(newer).unwrap().contains("`intermediateResponses` is not compared, by trpc-agent-go neither")
        );
        assert_eq!(
            warning_of(
                &newer
                    .replace("intermediateResponses", "tools")
                    .replace(r#"{"role": "assistant", "content": "wait"}"#, "")
            ),
            None
        );
    }
}
