//! A script as a job has it, compiled once.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use rhai::{AST, Dynamic, Scope};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::engine::run;
use super::problem::{ExpressionProblem, checked};
use super::purpose::ScriptPurpose;
use super::record::data;
use super::tokens::{LexemeKind, tokens};
use super::{ScriptError, ScriptFailure, show};
use crate::clock::Deadline;

/// The text of a script. It is compiled once, however many values it is run on. Cheap to clone.
#[derive(Clone)]
pub struct ScriptText(Arc<CompiledText>);

struct CompiledText {
    text: String,
    compiled: OnceLock<Result<AST, ExpressionProblem>>,
}

impl ScriptText {
    /// A script, whatever is wrong with it.
    pub fn new(text: impl Into<String>) -> ScriptText {
        ScriptText(Arc::new(CompiledText { text: text.into(), compiled: OnceLock::new() }))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The first thing that is wrong with it; `None` if it can run. A script has one purpose all its life.
    pub fn problem(&self, purpose: &'static ScriptPurpose) -> Option<&ExpressionProblem> {
        self.compiled(purpose).err()
    }

    /// Whether it may look at a variable: its text names it.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        tokens(self.as_str()).iter().any(|token| match token.kind {
            LexemeKind::Word => token.text == name,
            LexemeKind::Template => token.text.contains(name),
            _ => false,
        })
    }

    pub(crate) fn compiled(&self, purpose: &'static ScriptPurpose) -> Result<&AST, &ExpressionProblem> {
        self.0.compiled.get_or_init(|| checked(&self.0.text, purpose)).as_ref()
    }

    /// Runs it on these values, one for each variable of its purpose.
    pub(crate) fn run<const N: usize>(
        &self,
        purpose: &'static ScriptPurpose,
        values: [Dynamic; N],
        deadline: Deadline,
    ) -> Result<Dynamic, ScriptFailure> {
        let ast = self.compiled(purpose).map_err(|problem| ScriptFailure::Other(problem.to_string()))?;
        let mut scope = Scope::new();
        for ((name, _), value) in purpose.variables.iter().zip(values) {
            scope.push_constant_dynamic(*name, value);
        }
        run(ast, &mut scope, purpose, deadline)
    }

    /// Whether an actual value is as expected, by a script of the purpose [`super::COMPARISON`].
    ///
    /// # Errors
    /// Why it is not known.
    pub fn holds(&self, expected: &Value, actual: &Value, deadline: Deadline) -> Result<bool, ScriptError> {
        match self.run(&super::COMPARISON, [data(actual), data(expected)], deadline) {
            Ok(value) if value.is_unit() => Ok(false),
            Ok(value) => value.as_bool().map_err(|_| ScriptError(show::no_boolean(&value))),
            Err(failure) if failure.is_false() => Ok(false),
            Err(failure) => Err(ScriptError(failure.why(self.as_str()))),
        }
    }
}

impl Default for ScriptText {
    fn default() -> ScriptText {
        ScriptText::new("")
    }
}

impl PartialEq for ScriptText {
    fn eq(&self, other: &ScriptText) -> bool {
        self.as_str() == other.as_str()
    }
}

impl fmt::Debug for ScriptText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl Serialize for ScriptText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_str().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ScriptText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ScriptText, D::Error> {
        String::deserialize(deserializer).map(ScriptText::new)
    }
}

impl JsonSchema for ScriptText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Script".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"\S" })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::clock::Clock;
    use crate::script::COMPARISON;

    fn holds(script: &str, expected: Value, actual: Value) -> Result<bool, ScriptError> {
        let script = ScriptText::new(script);
        assert_eq!(script.problem(&COMPARISON), None, "{script:?}");
        script.holds(&expected, &actual, Clock::system().deadline(Duration::from_secs(5)))
    }

    #[test]
    fn a_comparison_sees_both_values() {
        assert_eq!(holds("actual.trim() == expected", json!("a"), json!(" a ")), Ok(true));
        assert_eq!(holds("actual >= expected * 0.9 && actual <= expected * 1.1", json!(10), json!(12)), Ok(false));
        assert_eq!(holds("actual.rows.all(|row| row.id > 0)", json!(null), json!({"rows": [{"id": 1}]})), Ok(true));
        assert_eq!(holds("actual.city.name == expected", json!("x"), json!({})), Ok(false), "absent data is false");
    }

    #[test]
    fn what_comes_to_no_truth_is_not_known() {
        assert_eq!(
            holds("actual + expected", json!(1), json!(2)).unwrap_err().to_string(),
            show::no_boolean(&Dynamic::from(3_i64))
        );
        let endless = holds("let i = 0; loop { i += 1; } actual == i", json!(1), json!(2)).unwrap_err().to_string();
        assert!(endless.contains("the limit of 1000000 operations"), "{endless}");
        assert!(holds("actual < expected", json!("a"), json!(2)).unwrap_err().to_string().contains("can't compare"));
        assert_eq!(
            holds("throw \"no idea\"; actual == 1", json!("a"), json!(2)),
            Err(ScriptError("no idea".to_owned()))
        );
    }

    #[test]
    fn a_script_that_takes_for_ever_is_stopped_at_the_deadline() {
        let script =
            ScriptText::new("range(0, 900000).to_array().all(|i| range(0, 900000).to_array().contains(i + 1))");
        let script = if script.problem(&COMPARISON).is_none() {
            script
        } else {
            ScriptText::new("let a = []; for i in 0..90000 { a.push(i); } a.all(|i| a.all(|j| j >= 0)) && actual == 1")
        };
        let why = script.holds(&json!(1), &json!(1), Clock::system().deadline(Duration::from_millis(50))).unwrap_err();
        assert!(why.to_string().contains("took longer than 0.05 s"), "{why}");
    }

    #[test]
    fn what_others_take_of_the_processor_is_not_charged_to_a_script() {
        let script = ScriptText::new("[1, 2, 3].all(|i| i < 4) && actual == expected");
        let deadline = Clock::system().deadline(Duration::from_millis(500));
        let other = std::thread::spawn(|| {
            let since = Clock::system().start();
            while since.elapsed_ms() < 550.0 {}
        });
        other.join().unwrap();
        assert_eq!(script.holds(&json!(1), &json!(1), deadline), Ok(true));
    }

    #[test]
    fn a_name_that_is_not_there_is_found_before_it_runs() {
        for (script, column, message) in [
            ("actul == expected", 1, "there is no variable `actul`"),
            ("actual == expcted", 11, "there is no variable `expcted`"),
            ("evaluation.done", 1, "there is no variable `evaluation`"),
            ("actual.trimmed() == 1", 8, "there is no function `trimmed`"),
            ("actual ==", 10, "Script is incomplete"),
            ("\"yes\"", 1, "the expression must be true or false, but it ends with a text"),
            (
                "actual.any(|it| it.city.name = expected)",
                17,
                "the closure assigns to `it` with `=`, which is neither true nor false",
            ),
            ("actual.none(|it| it = 1)", 18, "the closure assigns to `it` with `=`, which is neither true nor false"),
        ] {
            let script = ScriptText::new(script);
            let problem = script.problem(&COMPARISON).unwrap();
            assert_eq!((problem.column, problem.message.as_str()), (column, message), "{script:?}");
        }
        let of_variables = ScriptText::new("evaluation.done").problem(&COMPARISON).unwrap().help.clone();
        assert_eq!(of_variables.as_deref(), Some("a script sees `actual` and `expected`"));
    }
}
