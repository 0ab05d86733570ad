//! JSON Schema, for documents and for arguments of calls: compiled once, without anything that is not in it.

use boon::{CompileError, Compiler, Draft, ErrorKind, SchemaIndex, Schemas, SchemeUrlLoader, ValidationError};
use serde_json::{Map, Value};

use super::measured::MeasureProblem;
use crate::text::{cut, visible};

/// The name under which a schema without one stands.
const NAME: &str = "urn:eval-job:schema";
/// How many violations are shown at most.
const SHOWN: usize = 10;

/// A compiled JSON Schema.
pub struct CompiledSchema {
    schemas: Schemas,
    root: SchemaIndex,
}

impl CompiledSchema {
    /// Compiles a schema: of draft 2020-12 unless it names another. What it refers to must be within it.
    ///
    /// # Errors
    /// It is no schema, or refers to something elsewhere.
    pub fn new(schema: &Value) -> Result<CompiledSchema, MeasureProblem> {
        let wrong = |why: String| MeasureProblem(format!("`schema` is no JSON Schema: {why}"));
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        // Files and addresses are not read.
        compiler.use_loader(Box::new(SchemeUrlLoader::new()));
        compiler.add_resource(NAME, schema.clone()).map_err(|why| wrong(why.to_string()))?;
        let mut schemas = Schemas::new();
        let root = compiler.compile(NAME, &mut schemas).map_err(|why| wrong(uncompiled(&why, schema)))?;
        let compiled = CompiledSchema { schemas, root };
        match compiled.endless() {
            Some(why) => Err(wrong(why)),
            None => Ok(compiled),
        }
    }

    /// Why no value could ever be judged: the schema leads back to itself, whatever the value is.
    fn endless(&self) -> Option<String> {
        let values =
            [Value::Null, true.into(), 0.into(), "".into(), Value::Array(Vec::new()), Value::Object(Map::new())];
        let why = |value: &Value| {
            let error = self.schemas.validate(value, self.root).err()?;
            let mut all = Vec::new();
            leaves(&error, &mut all);
            let endless = all.into_iter().find(|error| matches!(error.kind, ErrorKind::RefCycle { .. }))?;
            Some(format!("it leads back to itself without end: {}", endless.kind))
        };
        values.iter().find_map(why)
    }

    /// The violations of a value: place and reason. Empty where it is satisfied.
    pub fn violations(&self, value: &Value) -> Vec<String> {
        match self.schemas.validate(value, self.root) {
            Ok(()) => Vec::new(),
            Err(error) => lines(&error, value),
        }
    }
}

/// The violations of a document, a line each.
fn lines(error: &ValidationError<'_, '_>, document: &Value) -> Vec<String> {
    let mut all = Vec::new();
    leaves(error, &mut all);
    let more = all.len().saturating_sub(SHOWN);
    let mut lines: Vec<String> = all.into_iter().take(SHOWN).map(|error| line(error, document)).collect();
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines
}

/// Why a schema can't be compiled, without the name that it has for us.
fn uncompiled(why: &CompileError, schema: &Value) -> String {
    match why {
        CompileError::ValidationError { src, .. } => {
            lines(src, schema).join("; ").replace("the document:", "all of it:")
        }
        other => visible(&format!("{other:#}").replace(NAME, "")),
    }
}

/// The problem with a schema, in a sentence; `None` where it can be used.
pub fn schema_problem(schema: &Value) -> Option<String> {
    CompiledSchema::new(schema).err().map(|problem| problem.to_string())
}

/// The reasons themselves, without the keywords that only pass them on.
fn leaves<'a, 's, 'v>(error: &'a ValidationError<'s, 'v>, all: &mut Vec<&'a ValidationError<'s, 'v>>) {
    if error.causes.is_empty() {
        all.push(error);
    }
    for cause in &error.causes {
        leaves(cause, all);
    }
}

/// How many characters of an actual value, or of what a schema asks for, are shown.
const VALUE: usize = 60;

/// Path, what is wrong, and the value; all of it short.
fn line(error: &ValidationError<'_, '_>, document: &Value) -> String {
    let path = error.instance_location.to_string();
    let is_shown = |at: &&Value| shows_value(&error.kind) || !(at.is_object() || at.is_array());
    let at = document.pointer(&path).filter(is_shown).map(Value::to_string);
    let at = at.map(|at| format!(", actual {}", visible(&cut(at, VALUE)))).unwrap_or_default();
    let place = if path.is_empty() { "the document".to_owned() } else { format!("`{}`", visible(&cut(path, VALUE))) };
    format!("{place}: {}{at}", wrong(&error.kind))
}

/// Whether the value helps: it does not where a part of it is absent, or too much.
fn shows_value(kind: &ErrorKind<'_, '_>) -> bool {
    !matches!(
        kind,
        ErrorKind::Required { .. }
            | ErrorKind::DependentRequired { .. }
            | ErrorKind::AdditionalProperties { .. }
            | ErrorKind::AdditionalItems { .. }
            | ErrorKind::Type { .. }
            | ErrorKind::MinProperties { .. }
            | ErrorKind::MaxProperties { .. }
            | ErrorKind::MinItems { .. }
            | ErrorKind::MaxItems { .. }
    )
}

fn wrong(kind: &ErrorKind<'_, '_>) -> String {
    let names = |names: Vec<String>| visible(&cut(names.join(", "), VALUE));
    let quoted = |text: &str| format!("`{text}`");
    match kind {
        ErrorKind::Required { want } => format!("lacks {}", names(want.iter().map(|it| quoted(it)).collect())),
        ErrorKind::DependentRequired { prop, missing } => {
            format!("has `{prop}`, and lacks {}", names(missing.iter().map(|it| quoted(it)).collect()))
        }
        ErrorKind::AdditionalProperties { got } => {
            format!("may not have {}", names(got.iter().map(|it| quoted(it)).collect()))
        }
        ErrorKind::Type { got, want } => {
            format!("must be {}, is {got}", want.iter().map(|it| it.to_string()).collect::<Vec<_>>().join(" or "))
        }
        ErrorKind::Const { want } => format!("must be {}", visible(&cut(want.to_string(), VALUE))),
        ErrorKind::Enum { want } => format!("must be one of {}", names(want.iter().map(Value::to_string).collect())),
        ErrorKind::Pattern { want, .. } => format!("does not match {}", visible(&cut((*want).to_owned(), VALUE))),
        ErrorKind::Format { want, .. } => format!("is no {want}"),
        ErrorKind::Minimum { want, .. } => format!("must be {want} or more"),
        ErrorKind::Maximum { want, .. } => format!("must be {want} or less"),
        ErrorKind::ExclusiveMinimum { want, .. } => format!("must be more than {want}"),
        ErrorKind::ExclusiveMaximum { want, .. } => format!("must be less than {want}"),
        ErrorKind::MultipleOf { want, .. } => format!("must be a multiple of {want}"),
        ErrorKind::MinLength { got, want } => format!("must have {want} characters or more, has {got}"),
        ErrorKind::MaxLength { got, want } => format!("must have {want} characters or fewer, has {got}"),
        ErrorKind::MinItems { got, want } => format!("must have {want} elements or more, has {got}"),
        ErrorKind::MaxItems { got, want } => format!("must have {want} elements or fewer, has {got}"),
        ErrorKind::MinProperties { got, want } => format!("must have {want} entries or more, has {got}"),
        ErrorKind::MaxProperties { got, want } => format!("must have {want} entries or fewer, has {got}"),
        ErrorKind::UniqueItems { got } => format!("elements {} and {} are equal", got[0] + 1, got[1] + 1),
        other => visible(&cut(other.to_string(), 2 * VALUE)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_violation_is_its_path_and_what_is_wrong_in_a_few_words() {
        let schema = json!({
            "type": "object", "required": ["id", "city"], "additionalProperties": false,
            "properties": {
                "id": {"type": "integer", "minimum": 1}, "city": {"enum": ["Rome", "Bern"]}, "day": {"pattern": "^[0-9]{4}$"},
                "tags": {"type": "array", "uniqueItems": true, "maxItems": 3}, "kind": {"type": ["string", "null"]},
                "note": {"maxLength": 5}, "mode": {"const": {"deep": "x".repeat(200)}}
            }
        });
        let schema = CompiledSchema::new(&schema).unwrap();
        let long = "long ".repeat(400);
        let violations = schema.violations(&json!({
            "id": 0, "day": long, "tags": [1, 1, 2, 3], "kind": {"a": long}, "note": "123456", "mode": 1, "more\u{1b}[0m": 1
        }));
        let mut violations: Vec<&str> = violations.iter().map(String::as_str).collect();
        violations.sort_unstable();
        assert_eq!(
            violations,
            [
                "`/day`: does not match ^[0-9]{4}$, actual \"long long long long long long long long long long long long…",
                "`/id`: must be 1 or more, actual 0",
                "`/kind`: must be null or string, is object",
                "`/mode`: must be {\"deep\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…, actual 1",
                "`/note`: must have 5 characters or fewer, has 6, actual \"123456\"",
                "`/tags`: elements 1 and 2 are equal, actual [1,1,2,3]",
                "`/tags`: must have 3 elements or fewer, has 4",
                "the document: lacks `city`",
                "the document: may not have `more\\u{1b}[0m`",
            ]
        );
    }

    #[test]
    fn numbers_are_compared_to_the_last_digit() {
        for (schema, value, holds) in [
            (json!({"multipleOf": 0.01}), json!(19.99), true),
            (json!({"multipleOf": 0.01}), json!(4.35), true),
            (json!({"multipleOf": 0.01}), json!(4.355), false),
            (json!({"multipleOf": 0.1}), json!(1e30), true),
            (json!({"multipleOf": 7}), json!(1e30), false),
            (json!({"multipleOf": 3}), json!(-9.0), true),
            (json!({"multipleOf": 1e20}), json!(5), false),
            (json!({"minimum": 9_007_199_254_740_993_u64}), json!(9_007_199_254_740_992_u64), false),
            (json!({"minimum": 9_007_199_254_740_993_u64}), json!(9_007_199_254_740_993_u64), true),
            (json!({"exclusiveMaximum": 0.3}), json!(0.3), false),
            (json!({"maximum": -1.5}), json!(-1.25), false),
            (json!({"maximum": -1.5}), json!(-2), true),
            (json!({"minimum": 0}), json!(-0.0), true),
            (json!({"minimum": -1e-300}), json!(1e-300), true),
            (json!({"exclusiveMinimum": 100}), json!(1e2), false),
        ] {
            let compiled = CompiledSchema::new(&schema).unwrap();
            assert_eq!(compiled.violations(&value).is_empty(), holds, "{schema} {value}");
        }
    }
}
