//! JSON Schema, for documents and for arguments of calls: compiled once, without anything that is not in it.

use boon::{Compiler, Draft, SchemaIndex, Schemas, SchemeUrlLoader, ValidationError};
use serde_json::Value;

use super::json::shown_json;
use super::measured::MeasureProblem;
use crate::text::visible;

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
        let root = compiler.compile(NAME, &mut schemas).map_err(|why| wrong(format!("{why:#}")))?;
        Ok(CompiledSchema { schemas, root })
    }

    /// What of a value is against it: place and reason. Empty where it is satisfied.
    pub fn violations(&self, value: &Value) -> Vec<String> {
        let Err(error) = self.schemas.validate(value, self.root) else { return Vec::new() };
        let mut all = Vec::new();
        leaves(&error, &mut all);
        let more = all.len().saturating_sub(SHOWN);
        let mut lines: Vec<String> = all.into_iter().take(SHOWN).map(|error| line(error, value)).collect();
        lines.extend((more > 0).then(|| format!("and {more} more")));
        lines
    }
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

fn line(error: &ValidationError<'_, '_>, document: &Value) -> String {
    let path = error.instance_location.to_string();
    let at = document.pointer(&path).map(shown_json).unwrap_or_default();
    let place = if path.is_empty() { "the document".to_owned() } else { format!("`{}`", visible(&path)) };
    format!("{place}: {}, actual {at}", visible(&error.kind.to_string()))
}
