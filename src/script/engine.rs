//! The one Rhai engine, and how a script runs on it.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicFnPackage, BasicIteratorPackage, BasicMapPackage, BasicMathPackage,
    BasicStringPackage, LanguageCorePackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{AST, Dynamic, Engine, EvalAltResult, OptimizationLevel, ParseError, Scope};

use super::failure::ScriptFailure;
use super::purpose::ScriptPurpose;
use super::record::Record;
use super::{absent, compare, functions};
use crate::clock::Deadline;

/// Steps that a script may take: well under a second.
pub(crate) const MAX_OPERATIONS: u64 = 1_000_000;
/// Calls within calls.
pub(crate) const MAX_CALL_LEVELS: usize = 32;
/// Brackets within brackets.
const MAX_DEPTH: usize = 64;
/// Bytes of a text: more than any message that an agent's reply may have.
const MAX_STRING: usize = 64 * 1024 * 1024;
/// Items of a list or a map.
const MAX_ITEMS: usize = 1_000_000;

/// Names that Rhai knows and a script must not: they wait, stop, or look outside.
const FORBIDDEN: [&str; 3] = ["sleep", "exit", "eval"];

/// Functions that Rhai has by its syntax.
const BUILT_IN: [&str; 9] =
    ["print", "debug", "type_of", "call", "curry", "Fn", "is_shared", "is_def_var", "is_def_fn"];

/// The clock is read once in so many steps: reading it takes longer than a step.
const STEPS_BETWEEN_LOOKS: u32 = 64;

thread_local! {
    /// The deadline of the script that runs on this thread, and the steps since the clock was last read. Rhai's callback
    /// is the engine's, of which there is one for all scripts; its count of operations begins anew in each closure.
    static RUNNING: Cell<Option<(Deadline, u32)>> = const { Cell::new(None) };
    /// Its purpose.
    static PURPOSE: Cell<Option<&'static ScriptPurpose>> = const { Cell::new(None) };
}

/// Whether the script that runs on this thread must stop.
pub(crate) fn is_out_of_time() -> bool {
    let Some((deadline, steps)) = RUNNING.get() else { return false };
    if steps < STEPS_BETWEEN_LOOKS {
        RUNNING.set(Some((deadline, steps + 1)));
        return false;
    }
    // Once it is over, every step says so.
    let is_over = deadline.is_over();
    RUNNING.set(Some((deadline, if is_over { steps } else { 0 })));
    is_over
}

static ENGINE: LazyLock<Engine> = LazyLock::new(build);

/// The names of all functions that a script may call.
pub(crate) static FUNCTION_NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let names = ENGINE.collect_fn_metadata(None, |function| Some(function.metadata.name.to_string()), true);
    names
        .into_iter()
        .filter(|name| name.starts_with(|first: char| first.is_alphabetic() || first == '_'))
        .filter(|name| !name.contains('$') && !FORBIDDEN.contains(&name.as_str()))
        .chain(BUILT_IN.map(str::to_owned))
        .collect()
});

/// The properties that text, lists and the like have.
pub(crate) static PROPERTY_NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    ENGINE
        .collect_fn_metadata(None, |function| function.metadata.name.strip_prefix("get$").map(str::to_owned), true)
        .into_iter()
        .collect()
});

#[expect(deprecated, reason = "Rhai marks an interface that may change so: `on_var`")]
fn build() -> Engine {
    let mut engine = Engine::new_raw();
    LanguageCorePackage::new().register_into_engine(&mut engine);
    ArithmeticPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    BasicMathPackage::new().register_into_engine(&mut engine);
    BasicStringPackage::new().register_into_engine(&mut engine);
    MoreStringPackage::new().register_into_engine(&mut engine);
    BasicIteratorPackage::new().register_into_engine(&mut engine);
    BasicArrayPackage::new().register_into_engine(&mut engine);
    BasicMapPackage::new().register_into_engine(&mut engine);
    BasicFnPackage::new().register_into_engine(&mut engine);

    engine
        .set_max_operations(MAX_OPERATIONS)
        .set_max_call_levels(MAX_CALL_LEVELS)
        .set_max_expr_depths(MAX_DEPTH, MAX_DEPTH)
        .set_max_string_size(MAX_STRING)
        .set_max_array_size(MAX_ITEMS)
        .set_max_map_size(MAX_ITEMS)
        .set_strict_variables(true)
        .set_optimization_level(OptimizationLevel::None)
        // Comparisons are ours: see `compare`.
        .set_fast_operators(false)
        .disable_symbol("eval")
        .disable_symbol("import")
        .disable_symbol("export")
        .on_progress(|_| is_out_of_time().then_some(Dynamic::UNIT))
        .on_print(|_| {})
        .on_debug(|_, _, _| {});
    // Rhai's own would stop the thread; the names are refused at load, this is for `Fn("sleep")`.
    engine.register_fn("sleep", |_: i64| {}).register_fn("sleep", |_: f64| {});

    // A closure that mentions one of our variables would share it, and using it twice in a chain would then be a race for
    // its lock: our variables are always read as copies (they are cheap) instead.
    engine.on_var(|name, _, context| {
        let variables = PURPOSE.get().map_or(&[][..], |purpose| purpose.variables);
        let ours = variables.iter().any(|(variable, _)| *variable == name);
        Ok(if ours { context.scope().get(name).map(|value| value.clone().flatten()) } else { None })
    });

    engine.register_type_with_name::<Record>("object").register_indexer_get(field);
    compare::register(&mut engine);
    functions::register(&mut engine);
    absent::register(&mut engine);
    engine
}

fn field(record: &mut Record, name: &str) -> Result<Dynamic, Box<EvalAltResult>> {
    match record.fields.get(name) {
        Some(value) => Ok(value.clone()),
        None => Err(format!("{} has no `{name}`", record.kind.label()).into()),
    }
}

/// Reads a script.
pub(crate) fn compile(script: &str, purpose: &ScriptPurpose) -> Result<AST, ParseError> {
    let mut scope = Scope::new();
    for (name, _) in purpose.variables {
        scope.push_constant(*name, ());
    }
    ENGINE.compile_with_scope(&scope, script)
}

/// Runs a script, until the deadline at most.
pub(crate) fn run(
    ast: &AST,
    scope: &mut Scope<'static>,
    purpose: &'static ScriptPurpose,
    deadline: Deadline,
) -> Result<Dynamic, ScriptFailure> {
    PURPOSE.set(Some(purpose));
    RUNNING.set(Some((deadline, 0)));
    let result = ENGINE.eval_ast_with_scope::<Dynamic>(scope, ast);
    RUNNING.set(None);
    PURPOSE.set(None);
    // A comparison that sorts may have swallowed it.
    if deadline.is_over() {
        return Err(ScriptFailure::OutOfTime(deadline.limit()));
    }
    result.map_err(|error| ScriptFailure::from_rhai(&error, ast))
}

/// The value of a part of a script.
pub(crate) fn evaluate_part(
    part: &str,
    scope: &Scope<'static>,
    purpose: &'static ScriptPurpose,
    deadline: Deadline,
) -> Option<Dynamic> {
    run(&compile(part, purpose).ok()?, &mut scope.clone(), purpose, deadline).ok()
}
