//! Options of metrics that a file says and that count for nothing here: each is named.

use serde_json::Value;

use super::judges::{MOST_SAMPLES, samples};
use crate::dataset::{DatasetMetric, MeasureKind, System};

/// What a judge is asked with, in the files of trpc-agent-go beside the model's name, and of ADK.
const OF_JUDGE: [(&str, &[&str]); 2] = [
    ("judgeModel", &["providerName", "variant", "baseURL", "apiKey", "extraFields", "generationConfig"]),
    ("judgeModelOptions", &["judgeModelConfig"]),
];

/// How many questions are asked at once.
const AT_ONCE: [&str; 3] = ["sampleParallelism", "sampleParallelismEnabled", "parallelismLimit"];

/// ADK's options that one metric alone looks at: the option as ADK spells it and as it is kept, and that metric.
const OF_ONE: [(&str, &str, &str); 2] = [
    ("evaluate_intermediate_nl_responses", "evaluateIntermediateNlResponses", "hallucinations_v1"),
    ("stop_signal", "stopSignal", "per_turn_user_simulator_quality_v1"),
];

/// The stop signal of ADK's simulated user.
const ADK_STOP_SIGNAL: &str = "</finished>";

/// The options of a metric that count for nothing here, a sentence each.
pub(super) fn ignored(system: System, metric: &DatasetMetric) -> Vec<String> {
    let mut ignored = Vec::new();
    if metric.kind == MeasureKind::Judge {
        of_judge(system, metric, &mut ignored);
    }
    let name = &metric.name;
    let says = |option: &str| metric.options.get(option).is_some_and(|value| !is_nothing(value));
    if system == System::Adk {
        for (key, option, looks) in OF_ONE {
            if says(option) && metric.evaluator != looks {
                ignored.push(format!("`{key}` means nothing for {name}: {looks} alone looks at it"));
            }
        }
        let signal = metric.options.get("stopSignal").and_then(Value::as_str);
        if signal.is_some_and(|signal| signal != ADK_STOP_SIGNAL && metric.evaluator == OF_ONE[1].2) {
            ignored.push(format!(
                "`stop_signal` of {name} is not looked for: the simulated user's mark is {ADK_STOP_SIGNAL}, and its end is judged by that"
            ));
        }
        if says("includeIntermediateResponsesInFinal") && metric.kind != MeasureKind::Judge {
            ignored
                .push(format!("`include_intermediate_responses_in_final` means nothing for {name}: no judge is asked"));
        }
    }
    if system == System::Trpc && metric.extra.get("extension").is_some_and(|it| !is_nothing(it)) {
        ignored.push(format!("`extension` of {name} is for functions of a Go program: it is not used"));
    }
    ignored
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

fn of_judge(system: System, metric: &DatasetMetric, ignored: &mut Vec<String>) {
    let samples = samples(system, metric);
    if samples > MOST_SAMPLES {
        ignored.push(format!(
            "the judge of {} is asked {MOST_SAMPLES} times, not {samples}: that is the most",
            metric.name
        ));
    }
    let within = |options: &str, key: &str| metric.options.get(options)?.get(key).filter(|value| !is_nothing(value));
    let model = within("judgeModelOptions", "judgeModel").or_else(|| within("judgeModel", "modelName"));
    if let Some(model) = model.and_then(Value::as_str) {
        ignored.push(format!(
            "the judge that the file names ({model}) is not asked: `scorer.model` is, or --scorer-model"
        ));
    }
    let of_judge = OF_JUDGE.iter().flat_map(|(options, keys)| keys.iter().map(move |key| (*options, *key)));
    let of_judge: Vec<String> = of_judge
        .filter(|(options, key)| within(options, key).is_some())
        .map(|(options, key)| format!("`{options}.{key}`"))
        .collect();
    if !of_judge.is_empty() {
        ignored.push(format!(
            "not used of the file's judge: {}; `scorer` of the job says how judges are asked",
            of_judge.join(", ")
        ));
    }
    let at_once = |key: &&&str| {
        let own = metric.options.get(**key).filter(|value| !is_nothing(value));
        own.or_else(|| within("judgeModelOptions", key)).is_some()
    };
    if let Some(key) = AT_ONCE.iter().find(at_once) {
        ignored.push(format!(
            "`{key}` is not used: how many questions are asked at once is decided by -j and by the endpoint"
        ));
    }
    let template = |key: &str| within("template", key).and_then(Value::as_str);
    if let (Some(output), Some(scorer)) = (template("structuredOutputName"), template("responseScorerName"))
        && output != scorer
    {
        ignored.push(format!(
            "`structuredOutputName` of {} is not used: its judge answers in the shape that {scorer} reads",
            metric.name
        ));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sentences(system: System, name: &str, kind: MeasureKind, options: &Value) -> String {
        let mut metric = DatasetMetric::new(name, kind, Some(0.5));
        metric.options = options.as_object().cloned().unwrap_or_default();
        ignored(system, &metric).join("\n")
    }

    #[test]
    fn what_a_file_says_of_its_judge_is_named() {
        let judge = json!({"judgeModel": {"modelName": "m", "baseURL": "http://h", "generationConfig": {"temperature": 0},
            "numSamples": 3}, "sampleParallelismEnabled": true, "sampleParallelism": 2});
        let found = sentences(System::Trpc, "llm_final_response", MeasureKind::Judge, &judge);
        for part in
            ["(m) is not asked", "`judgeModel.baseURL`, `judgeModel.generationConfig`;", "`sampleParallelism` is"]
        {
            assert!(found.contains(part), "{part}: {found}");
        }
        let nothing = json!({"judgeModel": {"numSamples": 3, "baseURL": ""}, "sampleParallelismEnabled": false});
        assert_eq!(sentences(System::Trpc, "llm_final_response", MeasureKind::Judge, &nothing), "");
        let adk = json!({"judgeModelOptions": {"judgeModelConfig": {"t": 1}, "parallelismLimit": 4}});
        let found = sentences(System::Adk, "hallucinations_v1", MeasureKind::Judge, &adk);
        assert!(
            found.contains("`judgeModelOptions.judgeModelConfig`") && found.contains("`parallelismLimit`"),
            "{found}"
        );
    }

    #[test]
    fn what_means_nothing_for_a_metric_is_named() {
        let intermediate = json!({"evaluateIntermediateNlResponses": true});
        let of = |name: &str, options: &Value| sentences(System::Adk, name, MeasureKind::Judge, options);
        assert!(of("final_response_match_v2", &intermediate).contains("hallucinations_v1 alone looks at it"));
        assert_eq!(of("hallucinations_v1", &intermediate), "");
        let signal = |text: &str| of("per_turn_user_simulator_quality_v1", &json!({ "stopSignal": text }));
        assert!(signal("BYE").contains("`stop_signal` of per_turn"));
        assert_eq!(signal("</finished>"), "");
        let in_final = json!({"includeIntermediateResponsesInFinal": true});
        let rouge = sentences(System::Adk, "response_match_score", MeasureKind::ResponseMatch, &in_final);
        assert!(rouge.contains("means nothing for response_match_score"), "{rouge}");
        let template = json!({"template": {"responseScorerName": "boolean", "structuredOutputName": "own"}});
        assert!(
            sentences(System::Trpc, "llm_judge_template", MeasureKind::Judge, &template)
                .contains("shape that boolean reads")
        );
    }
}
