//! The metrics of other systems that ask a judge, as ours.

use serde_json::{Map, Value, json};

use crate::dataset::counterpart::NoCounterpart;
use crate::dataset::watsonx::{REFERENCELESS, RESISTED};
use crate::dataset::{DatasetMetric, Rubric, System};
use crate::evidence::TRACE_STEP;
use crate::metric::template::{Category, StepPart, TemplateField, TemplateScorer, TraceStep};

/// A metric with its options; or why there is none.
type LoweredJudge = Result<(&'static str, Value), NoCounterpart>;

/// ADK asks its judge five times, where a file does not say how often.
const SAMPLES_OF_ADK: u64 = 5;

/// How often a judge is asked at most.
pub(super) const MOST_SAMPLES: u64 = 99;

/// The tools of trpc-agent-go that search its knowledge, where a file names none.
const KNOWLEDGE_TOOLS: [&str; 2] = ["knowledge_search", "knowledge_search_with_agentic_filter"];

/// By what a conversation is better than the expected one, where a file says nothing more.
const CRITERIA_OF_VERIFIER: &str = "The better one does more of what the user asked for, and does it correctly: its replies are right, complete and to the point.";

/// The metric of ours for one that asks a judge, or why there is none.
pub(super) fn options(system: System, metric: &DatasetMetric, strict: bool) -> LoweredJudge {
    let samples = samples(system, metric);
    let mut judging = judging(samples, strict);
    if let (System::Trpc, true, Some(threshold)) = (system, strict, metric.threshold) {
        judging["sampleFrom"] = threshold.clamp(0.0, 1.0).into();
        // Whatever is no "yes" is a no; but a label of a sentence that is none is an error.
        let unknown = if metric.evaluator == "llm_hallucinations" { "missing" } else { "fails" };
        judging["unknown"] = unknown.into();
    }
    let says = |option: &str| metric.options.get(option) == Some(&Value::Bool(true));
    // Every text of a conversation is a message of watsonx Orchestrate's, wherever it stands in its turn.
    if says("includeIntermediateResponsesInFinal") || system == System::Watsonx {
        judging["intermediate"] = true.into();
    }
    let rubric = |scope: &str, of_type: Option<&str>| {
        let mut options = json!({ "scope": scope, "judging": judging });
        if !metric.rubrics.is_empty() {
            options["rubrics"] = metric.rubrics.iter().map(own_rubric).collect();
        }
        if let Some(of_type) = of_type {
            options["type"] = of_type.into();
        }
        Ok(("rubric", options))
    };
    let plain = |key: &'static str| Ok((key, json!({ "judging": judging })));
    match (system, metric.evaluator.as_str()) {
        (System::Adk, "final_response_match_v2") | (System::Trpc, "llm_final_response") => plain("finalResponse"),
        (System::Adk, "rubric_based_final_response_quality_v1") => rubric("turns", Some("FINAL_RESPONSE_QUALITY")),
        (System::Adk, "rubric_based_tool_use_quality_v1") => rubric("turns", Some("TOOL_USE_QUALITY")),
        (System::Adk, "rubric_based_multi_turn_trajectory_quality_v1") => {
            rubric("conversation", Some("TRAJECTORY_QUALITY"))
        }
        // Its judge is asked once, whatever the file says.
        (System::Adk, "hallucinations_v1") => {
            let mut judging = self::judging(1, strict);
            if says("evaluateIntermediateNlResponses") {
                judging["intermediate"] = true.into();
            }
            Ok(("hallucination", json!({ "meanOver": "replies", "judging": judging })))
        }
        (System::Adk, "per_turn_user_simulator_quality_v1") => plain("simulatedUser"),
        (System::Trpc, "llm_rubric_response" | "llm_rubric_critic") => rubric("turns", None),
        (System::Trpc, "llm_rubric_knowledge_recall") => {
            let mut lowered = rubric("turns", None)?;
            lowered.1["retrievedBy"] = knowledge_tools(metric);
            Ok(lowered)
        }
        (System::Trpc, "llm_rubric_reference_critic") => {
            let mut lowered = rubric("turns", None)?;
            lowered.1["showExpected"] = true.into();
            Ok(lowered)
        }
        (System::Trpc, "llm_hallucinations") => {
            Ok(("hallucination", json!({ "meanOver": "replies", "judging": judging })))
        }
        (System::Trpc, "llm_judge_template") => template(metric, &judging),
        (System::Trpc, "llm_verifier_pairwise") => {
            let rubrics = metric.rubrics.iter().map(|rubric| format!("\n- {}", rubric.text));
            let criteria = format!("{CRITERIA_OF_VERIFIER}{}", rubrics.collect::<String>());
            Ok(("pairwise", json!({ "criteria": criteria, "judging": judging })))
        }
        (System::Watsonx, "KnowledgeBaseFaithfulness") => plain("hallucination"),
        (System::Watsonx, "KnowledgeBaseAnswerRelevancy") => {
            Ok(("turnRelevancy", json!({ "of": "statements", "ofSearches": true, "judging": judging })))
        }
        (System::Watsonx, "DocumentRetrievalQuality" | "RetrievalConfidence") => {
            Err("it is the confidence of the vendor's own search, which no agent reports".into())
        }
        (System::Watsonx, "AssertLLM") => rubric("conversation", None),
        (System::Watsonx, RESISTED) => rubric("turns", None),
        (System::Watsonx, name) => {
            let known = REFERENCELESS.iter().find(|(known, _)| *known == name);
            let (id, text) = known.ok_or("nothing here means the same")?;
            let rubrics = json!([{ "id": id, "text": text }]);
            Ok(("rubric", json!({ "scope": "turns", "rubrics": rubrics, "judging": judging })))
        }
        (System::Redhat, _) => super::quickstart::options(metric, strict),
        _ => Err("nothing here means the same".into()),
    }
}

/// The tools whose results are what was retrieved.
fn knowledge_tools(metric: &DatasetMetric) -> Value {
    match metric.options.get("knowledgeToolNames").filter(|names| names.as_array().is_some_and(|it| !it.is_empty())) {
        Some(names) => names.clone(),
        None => json!(KNOWLEDGE_TOOLS),
    }
}

/// How often its judge is asked.
pub(super) fn samples(system: System, metric: &DatasetMetric) -> u64 {
    let of = |options: &str, key: &str| metric.options.get(options)?.get(key)?.as_u64();
    match system {
        System::Adk => of("judgeModelOptions", "numSamples").unwrap_or(SAMPLES_OF_ADK),
        _ => of("judgeModel", "numSamples").unwrap_or(1),
    }
}

pub(super) fn judging(samples: u64, strict: bool) -> Value {
    let mut judging = json!({ "samples": samples.clamp(1, MOST_SAMPLES) });
    if strict {
        judging["strict"] = true.into();
    }
    judging
}

fn own_rubric(rubric: &Rubric) -> Value {
    serde_json::to_value(rubric).unwrap_or_default()
}

/// A variable of a metric that shows a step of the agent's trace.
pub(super) fn traced_variable(options: &Value) -> Option<&str> {
    let variables = options.get("variables").and_then(Value::as_object)?;
    variables.iter().find(|(_, field)| field.get(TRACE_STEP).is_some()).map(|(name, _)| name.as_str())
}

/// trpc-agent-go's own prompt of a user.
fn template(metric: &DatasetMetric, judging: &Value) -> LoweredJudge {
    let template = metric.options.get("template").and_then(Value::as_object).ok_or("it has no template")?;
    let text = |key: &str| template.get(key).and_then(Value::as_str).unwrap_or_default();
    for (key, own) in [("sampleAggregatorName", "majority_vote"), ("invocationAggregatorName", "average")] {
        if !["", own].contains(&text(key)) {
            let why = format!("`{}`, its `{key}`, is registered in a Go program: it can't be run here", text(key));
            return Err(why.into());
        }
    }
    let scorer = match text("responseScorerName") {
        "single_score" => TemplateScorer::SingleScore,
        "boolean" => TemplateScorer::Boolean,
        "categorical" => {
            let categories = template.get("responseScorerOptions").and_then(|options| options.get("categories"));
            let categories: Vec<Category> = serde_json::from_value(categories.cloned().unwrap_or_default())
                .map_err(|why| format!("its categories: {why}"))?;
            TemplateScorer::Categorical(categories)
        }
        // Those of the case are only known with the case.
        "rubric_scores" => TemplateScorer::RubricScores(Vec::new()),
        other => {
            return Err(
                format!("`{other}` is a scorer that is registered in a Go program: it can't be run here").into()
            );
        }
    };
    let (mut variables, mut paths) = (Map::new(), Map::new());
    for binding in template.get("variableBindings").and_then(Value::as_array).into_iter().flatten() {
        let name = binding.get("templateVariable").and_then(Value::as_str).unwrap_or_default();
        let source = binding.get("source").unwrap_or(&Value::Null);
        let part = |key: &str| source.get(key).and_then(Value::as_str).unwrap_or_default();
        if !part("path").trim().is_empty() {
            paths.insert(name.to_owned(), part("path").into());
        }
        let field = match (part("scope"), part("field")) {
            ("actual", "userContent") => TemplateField::UserContent,
            ("actual", "finalResponse") => TemplateField::FinalResponse,
            ("expected", "finalResponse") => TemplateField::ExpectedResponse,
            ("metric", "rubrics") => TemplateField::Rubrics,
            (_, field) => {
                let part = match field {
                    "traceStepInput" => StepPart::Input,
                    "traceStepOutput" => StepPart::Output,
                    "traceStepTools" => StepPart::Tools,
                    _ => StepPart::Skills,
                };
                let node = source.get("selector").and_then(|selector| selector.get("nodeID")).and_then(Value::as_str);
                TemplateField::TraceStep(TraceStep { node: node.unwrap_or_default().to_owned(), part })
            }
        };
        variables.insert(name.to_owned(), serde_json::to_value(field).unwrap_or_default());
    }
    let mut options = json!({
        "prompt": text("prompt"),
        "scorer": serde_json::to_value(&scorer).unwrap_or_default(),
        "variables": variables,
        "judging": judging,
    });
    if !paths.is_empty() {
        options["paths"] = paths.into();
    }
    if let Some(threshold) = metric.threshold {
        options["positiveFrom"] = threshold.clamp(0.0, 1.0).into();
    }
    if !metric.rubrics.is_empty() {
        options["rubrics"] = metric.rubrics.iter().map(own_rubric).collect();
    }
    Ok(("template", options))
}
