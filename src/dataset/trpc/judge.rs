//! The criterion of judges: which model, what it is asked, and how its replies become a score.

use serde_json::{Map, Value, json};

use super::{KEYS, UNKNOWN};
use crate::dataset::cursor::Cursor;
use crate::dataset::model::Rubric;
use crate::metric::template::is_path;

/// Reads the options of a judge, and its rubrics.
pub(super) fn read_judge(value: Cursor<'_>) -> (Map<String, Value>, Vec<Rubric>) {
    let mut options = Map::new();
    let Some(mut fields) = value.fields(KEYS) else { return (options, Vec::new()) };
    let mut rubrics: Vec<Rubric> = Vec::new();
    for value in fields.items("rubrics") {
        let Some(rubric) = read_rubric(value) else { continue };
        if rubrics.iter().any(|former| former.id == rubric.id) {
            value.error(format!("a rubric with the id `{}` is here already", rubric.id));
        }
        rubrics.push(rubric);
    }
    if let Some(model) = fields.get("judgeModel") {
        options.insert("judgeModel".to_owned(), Value::Object(read_model(model)));
    }
    for name in ["sampleParallelismEnabled", "sampleParallelism", "knowledgeToolNames"] {
        if let Some(value) = fields.get(name) {
            options.insert(name.to_owned(), value.json());
        }
    }
    if let Some(template) = fields.get("template") {
        options.insert("template".to_owned(), Value::Object(read_template(template)));
    }
    options.extend(fields.rest(UNKNOWN));
    (options, rubrics)
}

fn read_rubric(value: Cursor<'_>) -> Option<Rubric> {
    let mut fields = value.fields(KEYS)?;
    let id = fields.text("id").unwrap_or_default();
    let text = fields.get("content").and_then(|content| {
        let mut fields = content.fields(KEYS)?;
        let text = fields.text("text");
        fields.rest(UNKNOWN);
        text
    });
    if text.as_deref().is_none_or(|text| text.trim().is_empty()) {
        value.warn("this rubric says nothing: no judge can answer it");
    }
    let (description, rubric_type) = (fields.text("description"), fields.text("type"));
    fields.rest(UNKNOWN);
    Some(Rubric { id, text: text.unwrap_or_default(), description, rubric_type, metric: None, weight: None })
}

/// Reads the model. A key that stands in the file is not taken: whatever is stored would hold it.
fn read_model(value: Cursor<'_>) -> Map<String, Value> {
    let mut model = Map::new();
    let Some(mut fields) = value.fields(KEYS) else { return model };
    for name in ["providerName", "modelName", "variant", "baseURL", "extraFields", "generationConfig"] {
        if let Some(value) = fields.get(name) {
            model.insert(name.to_owned(), value.json());
        }
    }
    if let Some(key) = fields.get("apiKey") {
        let text = key.text().unwrap_or_default();
        if text.starts_with("${") {
            model.insert("apiKey".to_owned(), text.into());
        } else if !text.is_empty() {
            key.warn("a key stands in the file itself; it is not used: name a variable instead, `${JUDGE_API_KEY}`");
        }
    }
    if let Some(samples) = fields.get("numSamples") {
        let count = samples.count();
        if count == Some(0) {
            samples.error("`numSamples` must be at least 1");
        }
        model.extend(count.map(|count| ("numSamples".to_owned(), count.into())));
    }
    model.extend(fields.rest(UNKNOWN));
    model
}

/// The scopes of variables, and the fields that each has.
const SOURCES: [(&str, &[&str]); 3] = [
    (
        "actual",
        &["userContent", "finalResponse", "traceStepInput", "traceStepOutput", "traceStepTools", "traceStepSkills"],
    ),
    ("expected", &["finalResponse"]),
    ("metric", &["rubrics"]),
];

/// The scorer of replies that choose a label.
const CATEGORICAL: &str = "categorical";

/// Reads a template: every placeholder is bound, once, to something that there is.
fn read_template(value: Cursor<'_>) -> Map<String, Value> {
    let mut template = Map::new();
    let Some(mut fields) = value.fields(KEYS) else { return template };
    let mut keep = |key: &str, kept: Value| drop(template.insert(key.to_owned(), kept));
    let prompt = fields.required("prompt").and_then(Cursor::filled_text);
    keep("prompt", prompt.into());
    let scorer = fields.required("responseScorerName").and_then(Cursor::filled_text);
    keep("responseScorerName", scorer.into());
    for name in ["structuredOutputName", "sampleAggregatorName", "invocationAggregatorName"] {
        if let Some(text) = fields.text(name) {
            keep(name, text.into());
        }
    }
    let mut bound: Vec<&str> = Vec::new();
    let mut bindings = Vec::new();
    for binding in fields.items("variableBindings") {
        let Some(mut fields) = binding.fields(KEYS) else { continue };
        let Some(name) = fields.required("templateVariable").and_then(Cursor::filled_text) else { continue };
        if bound.contains(&name) {
            binding.error(format!("`{name}` is bound already"));
        }
        bound.push(name);
        let source = fields.required("source").map(read_source).unwrap_or_default();
        fields.rest(UNKNOWN);
        bindings.push(json!({ "templateVariable": name, "source": source }));
    }
    keep("variableBindings", bindings.into());
    for name in prompt.map(placeholders).unwrap_or_default() {
        if !bound.contains(&name) {
            value.error_with(
                format!("the placeholder `{{{{{name}}}}}` of the prompt is bound to nothing"),
                "`variableBindings`",
            );
        }
    }
    let categories = fields.get("responseScorerOptions").and_then(|options| {
        let mut fields = options.fields(KEYS)?;
        let categories = fields.get("categories").map(read_categories);
        fields.rest(UNKNOWN);
        categories
    });
    if scorer == Some(CATEGORICAL) && categories.as_ref().is_none_or(Vec::is_empty) {
        value.error_with(
            "the scorer `categorical` needs its categories",
            "`\"responseScorerOptions\": {\"categories\": [{\"label\": \"good\", \"score\": 1}]}`",
        );
    }
    if let Some(categories) = categories {
        keep("responseScorerOptions", json!({ "categories": categories }));
    }
    template.extend(fields.rest(UNKNOWN));
    template
}

fn read_categories(value: Cursor<'_>) -> Vec<Value> {
    let mut categories: Vec<Value> = Vec::new();
    for category in value.items() {
        let Some(mut fields) = category.fields(KEYS) else { continue };
        let (label, score) = (fields.text("label").unwrap_or_default(), fields.number("score"));
        fields.rest(UNKNOWN);
        let is_known = categories.iter().any(|known| known["label"] == label.as_str());
        if label.is_empty() || is_known || score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
            category.error("a category has a label of its own and a score between 0 and 1");
        }
        // Go leaves a zero out.
        categories.push(json!({ "label": label, "score": score.unwrap_or_default() }));
    }
    categories
}

/// Reads what a variable stands for.
fn read_source(value: Cursor<'_>) -> Value {
    let Some(mut fields) = value.fields(KEYS) else { return Value::Null };
    let scope = fields.required("scope").and_then(Cursor::text).unwrap_or_default();
    let field = fields.required("field").and_then(Cursor::text).unwrap_or_default();
    match SOURCES.iter().find(|(name, _)| *name == scope) {
        None => value.error_with(format!("there is no scope `{scope}`"), "`actual`, `expected` or `metric`"),
        Some((_, known)) if !known.contains(&field) => {
            value.error_with(format!("`{scope}` has no field `{field}`"), format!("one of {}", known.join(", ")));
        }
        Some(_) => {}
    }
    let path = fields.get("path");
    if let Some(path) = path.filter(|path| path.text().is_some_and(|path| !is_path(path))) {
        path.error_with("this is no path that trpc-agent-go reads", "keys and places only, as in `$.items[0].name`");
    }
    let node = fields.get("selector").and_then(|selector| {
        let mut fields = selector.fields(KEYS)?;
        let node = fields.text("nodeID");
        fields.rest(UNKNOWN);
        node
    });
    if field.starts_with("traceStep") && node.is_none() {
        value.error("a step of a trace is selected by its node: `\"selector\": {\"nodeID\": …}`");
    }
    fields.rest(UNKNOWN);
    let mut source = json!({ "scope": scope, "field": field });
    if let Some(path) = path.and_then(|path| path.node.text()) {
        source["path"] = path.into();
    }
    if let Some(node) = node {
        source["selector"] = json!({ "nodeID": node });
    }
    source
}

/// The names in double braces.
fn placeholders(prompt: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for piece in prompt.split("{{").skip(1) {
        let Some((name, _)) = piece.split_once("}}") else { continue };
        let name = name.trim();
        if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
