//! The criterion of a metric in a result file of ADK: what its score was measured by.

use serde_json::{Value, json};

use super::write::rubrics;
use crate::job::Job;
use crate::metric::judged::JudgeOptions;
use crate::metric::trajectory::{CallOrder, Expectation, TrajectoryMatcher};
use crate::metric::{MetricConfig, MetricEntry};

/// The criterion of a job's metric, as ADK spells it; `None` where it has no threshold, which each of ADK's has. The judge is the one
/// that was asked, whichever a file of ADK named.
pub fn adk_criterion(job: &Job, entry: &MetricEntry) -> Option<Value> {
    let mut criterion = json!({ "threshold": entry.threshold?.get() });
    let mut judged = |judging: &JudgeOptions, intermediate: &str| {
        let names: Vec<String> = job.judge.model.judges().map(|judge| judge.name.to_string()).collect();
        criterion["judge_model_options"] = json!({
            "judge_model": names.join("+"),
            "num_samples": judging.samples.unwrap_or(job.judge.samples).max(1),
        });
        criterion[intermediate] = judging.intermediate.into();
    };
    let in_final = "include_intermediate_responses_in_final";
    match &entry.metric {
        MetricConfig::Trajectory(check) => {
            let matcher = check.matcher(&Expectation::default()).ok();
            let allows_others = matcher.is_some_and(TrajectoryMatcher::allows_other_calls);
            // As numbers, as ADK itself writes them.
            criterion["match_type"] = match matcher.map_or(CallOrder::Exact, TrajectoryMatcher::order) {
                CallOrder::Exact | CallOrder::InOrder if !allows_others => 0.into(),
                CallOrder::Exact | CallOrder::InOrder => 1.into(),
                CallOrder::AnyOrder | CallOrder::Goals => 2.into(),
            };
            criterion["ignore_args"] = (check.config().arguments == Some(false)).into();
        }
        MetricConfig::Rubric(options) => {
            judged(&options.judging, in_final);
            criterion["rubrics"] = rubrics(&options.rubrics);
        }
        MetricConfig::FinalResponse(options) => judged(&options.judging, in_final),
        MetricConfig::Hallucination(options) => judged(&options.judging, "evaluate_intermediate_nl_responses"),
        MetricConfig::SimulatedUser(options) => {
            judged(&options.judging, in_final);
            criterion["stop_signal"] = job.persona.signoff.as_str().into();
        }
        _ => {}
    }
    Some(criterion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{PromptRole, TemplateCheck, TemplateProblem, load};

    struct NoTemplates;

    impl TemplateCheck for NoTemplates {
        fn problem(&self, _: &str, _: PromptRole) -> Option<TemplateProblem> {
            None
        }
    }

    #[test]
    fn a_result_says_what_its_score_was_measured_by() {
        let text = "target: {user: ann, chatbot: shop, openai: {baseUrl: 'http://localhost:1'}}\nisolation: user\n\
            evaluator: {signoff: '</finished>'}\nscorer: {model: openai/judge, samples: 3}\nmetrics:\n\
            - {trajectory: {dialect: adk, order: inOrder, count: subset, arguments: false}, threshold: 1}\n\
            - {trajectory: {dialect: adk}, name: exact, threshold: 1}\n\
            - {trajectory: {dialect: adk, order: anyOrder}, name: any, threshold: 0.5}\n\
            - {rouge: {}, threshold: 0.8}\n\
            - {finalResponse: {judging: {samples: 5, intermediate: true}}, threshold: 0.5}\n\
            - {hallucination: {judging: {intermediate: true}}, threshold: 0.5}\n\
            - {rubric: {rubrics: [{id: kind, text: It is kind., type: TOOL_USE_QUALITY}]}, threshold: 0.7}\n\
            - {simulatedUser: {}, threshold: 0.9}\n\
            - keywords\ncases:\n- {id: c, opening: Hi, plan: You are in a hurry.}\n\
            - {id: d, script: [{say: Hi, expected: {reply: Hello, keywords: [hello], calls: []}}]}\n";
        let job = load("job.yml", text, &NoTemplates).unwrap_or_else(|it| panic!("{it:?}"));
        let criteria: Vec<Option<Value>> = job.metrics.iter().map(|entry| adk_criterion(&job, entry)).collect();
        let judge = |samples: u32| json!({"judge_model": "openai/judge", "num_samples": samples});
        let expected = [
            Some(json!({"threshold": 1.0, "match_type": 1, "ignore_args": true})),
            Some(json!({"threshold": 1.0, "match_type": 0, "ignore_args": false})),
            Some(json!({"threshold": 0.5, "match_type": 2, "ignore_args": false})),
            Some(json!({"threshold": 0.8})),
            Some(
                json!({"threshold": 0.5, "judge_model_options": judge(5), "include_intermediate_responses_in_final": true}),
            ),
            Some(
                json!({"threshold": 0.5, "judge_model_options": judge(3), "evaluate_intermediate_nl_responses": true}),
            ),
            Some(
                json!({"threshold": 0.7, "judge_model_options": judge(3), "include_intermediate_responses_in_final": false,
                "rubrics": [{"rubric_id": "kind", "rubric_content": {"text_property": "It is kind."}, "type": "TOOL_USE_QUALITY"}]}),
            ),
            Some(
                json!({"threshold": 0.9, "judge_model_options": judge(3), "include_intermediate_responses_in_final": false,
                "stop_signal": "</finished>"}),
            ),
            None,
        ];
        assert_eq!(criteria, expected);
    }
}
