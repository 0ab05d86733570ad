//! Functions in Python, as watsonx Orchestrate and Google ADK have their tools: name, annotated parameters and docstring are
//! read; nothing is carried out.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Tool;

/// Whether a text is Python with functions.
pub(super) fn is_python(text: &str) -> bool {
    text.lines().any(is_function)
}

fn is_function(line: &str) -> bool {
    line.starts_with("def ") || line.starts_with("async def ")
}

/// The functions at the outermost level: those that are marked as tools, or all public ones where none is.
pub(super) fn read(text: &str) -> Vec<Tool> {
    let mut found: Vec<(bool, Tool)> = Vec::new();
    let (mut is_marked, mut at) = (false, 0);
    for line in text.split_inclusive('\n') {
        if let Some(decorator) = line.strip_prefix('@') {
            let name = decorator.split(['(', '\n']).next().unwrap_or_default().trim();
            is_marked |= name.rsplit('.').next() == Some("tool");
        } else if is_function(line) {
            found.extend(function(&text[at..]).map(|tool| (is_marked, tool)));
            is_marked = false;
        }
        at += line.len();
    }
    let any_marked = found.iter().any(|(is_marked, _)| *is_marked);
    let is_tool = |(is_marked, tool): &(bool, Tool)| {
        if any_marked { *is_marked } else { !tool.name.starts_with('_') }
    };
    found.into_iter().filter(is_tool).map(|(_, tool)| tool).collect()
}

/// The function with which a text begins.
fn function(text: &str) -> Option<Tool> {
    let (name, rest) = text.split_once("def ")?.1.split_once('(')?;
    let end = closing(rest)?;
    let docs = docstring(halves(&rest[end + 1..], ':').1.unwrap_or_default());
    let (mut arguments, mut required) = (Map::new(), BTreeSet::new());
    for parameter in split(&rest[..end]) {
        let (declared, default) = halves(parameter, '=');
        let (name, annotation) = halves(declared, ':');
        let name = name.trim();
        let annotation = annotation.unwrap_or_default().trim();
        // The system fills in what is about the session itself.
        let is_given = annotation.trim_matches('"').ends_with("Context");
        if name.is_empty() || name.starts_with(['*', '/']) || ["self", "cls"].contains(&name) || is_given {
            continue;
        }
        let (mut schema, is_optional) = schema(annotation);
        if let Some(value) = default.and_then(literal).filter(|value| !value.is_null()) {
            schema.insert("default".to_owned(), value);
        }
        if let Some(text) = described(&docs, name) {
            schema.insert("description".to_owned(), text.into());
        }
        if default.is_none() && !is_optional {
            required.insert(name.to_owned());
        }
        arguments.insert(name.to_owned(), Value::Object(schema));
    }
    let description = docs.split("\n\n").next().unwrap_or_default();
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Tool { name: name.trim().to_owned(), description, arguments, required })
}

/// Characters with whether they stand outside of quotes and brackets.
fn levels(text: &str) -> impl Iterator<Item = (usize, char, i32)> {
    let (mut depth, mut quote) = (0, None);
    text.char_indices().map(move |(at, c)| {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => return (at, c, 1),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        (at, c, if quote.is_some() { 1 } else { depth })
    })
}

/// Where the bracket closes behind which a text begins.
fn closing(text: &str) -> Option<usize> {
    levels(text).find(|(_, c, depth)| *c == ')' && *depth < 0).map(|(at, ..)| at)
}

/// The parts of a list.
fn split(text: &str) -> Vec<&str> {
    let ends = levels(text).filter(|(_, c, depth)| *c == ',' && *depth == 0).map(|(at, ..)| at);
    let ends: Vec<usize> = ends.chain([text.len()]).collect();
    let starts = [0].into_iter().chain(ends.iter().map(|end| end + 1));
    starts.zip(&ends).map(|(start, end)| text[start..*end].trim()).collect()
}

/// The texts before and after a sign that is in no bracket.
fn halves(text: &str, sign: char) -> (&str, Option<&str>) {
    match levels(text).find(|(_, c, depth)| *c == sign && *depth == 0) {
        Some((at, ..)) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// The schema of an annotation, and whether None is allowed.
fn schema(annotation: &str) -> (Map<String, Value>, bool) {
    let annotation = annotation.trim().trim_matches(['"', '\'']);
    if let Some((first, _)) = annotation.split_once('|').filter(|(_, rest)| rest.trim() == "None") {
        return (schema(first).0, true);
    }
    let (name, inner) = match annotation.split_once('[') {
        Some((name, rest)) => (name, split(rest.strip_suffix(']').unwrap_or(rest))),
        None => (annotation, Vec::new()),
    };
    let first = || inner.first().copied().unwrap_or_default();
    let schema_of = |value: Value| value.as_object().cloned().unwrap_or_default();
    let of_name = match name.rsplit('.').next().unwrap_or(name).trim() {
        "Optional" => return (schema(first()).0, true),
        "Annotated" => {
            let (mut of_type, is_optional) = schema(first());
            if let Some(text) = inner.get(1).and_then(|text| literal(text)).filter(Value::is_string) {
                of_type.insert("description".to_owned(), text);
            }
            return (of_type, is_optional);
        }
        "Literal" => json!({ "enum": inner.iter().filter_map(|text| literal(text)).collect::<Vec<_>>() }),
        "str" => json!({ "type": "string" }),
        "int" => json!({ "type": "integer" }),
        "float" | "Decimal" => json!({ "type": "number" }),
        "bool" => json!({ "type": "boolean" }),
        "date" => json!({ "type": "string", "format": "date" }),
        "datetime" => json!({ "type": "string", "format": "date-time" }),
        "list" | "List" | "Sequence" | "set" | "Set" => json!({ "type": "array", "items": schema(first()).0 }),
        "dict" | "Dict" | "Mapping" => json!({ "type": "object" }),
        _ => json!({}),
    };
    (schema_of(of_name), false)
}

/// A number, a text, True, False or None.
fn literal(text: &str) -> Option<Value> {
    let text = text.trim();
    match text {
        "True" => Some(json!(true)),
        "False" => Some(json!(false)),
        "None" => Some(Value::Null),
        _ => {
            let quoted = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
            quoted.map(Value::from).or_else(|| serde_json::from_str(text).ok().filter(Value::is_number))
        }
    }
}

/// The text between triple quotes with which a body begins, without its indentation.
fn docstring(body: &str) -> String {
    let body = body.trim_start();
    let text = ["\"\"\"", "'''"].iter().find_map(|quotes| body.strip_prefix(quotes)?.split(quotes).next());
    text.unwrap_or_default().lines().map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The description of a parameter in a docstring: `name: …`, `name (type): …` or `:param name: …`.
fn described(docs: &str, name: &str) -> Option<String> {
    docs.lines().find_map(|line| {
        let line = line.strip_prefix(":param ").unwrap_or(line);
        let rest = line.strip_prefix(name)?.trim_start();
        let rest = match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')')?.1,
            None => rest,
        };
        let text = rest.trim_start().strip_prefix(':')?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    })
}
