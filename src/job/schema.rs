//! The JSON Schema of the job file, derived from the types that read it.

use std::sync::LazyLock;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use super::Job;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(tidy));
    let mut schema = settings.into_generator().into_root_schema_for::<Job>();
    let generated = std::mem::take(schema.ensure_object());
    schema.insert("$schema".to_owned(), DRAFT.into());
    schema.insert("$id".to_owned(), "urn:eval-job:schema:job:1".into());
    schema.insert("title".to_owned(), "eval-job job file".into());
    for (keyword, value) in generated {
        schema.ensure_object().entry(keyword).or_insert(value);
    }
    schema.to_value()
});

/// The JSON Schema (draft 2020-12) of a job file. The loader checks by the same document, so that an editor that uses it
/// and `eval-job validate` agree; what no schema can say (Rhai, templates, models' names) is checked beside it.
pub fn schema() -> Value {
    SCHEMA.clone()
}

/// The schema without a copy.
pub(super) fn shared() -> &'static Value {
    &SCHEMA
}

/// Leaves out what says nothing to an author: Rust's number formats and defaults that mean "not there".
fn tidy(schema: &mut Schema) {
    schema.remove("format");
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}
