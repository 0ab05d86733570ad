//! Absent data: an index out of range, a missing key and JSON's `null` read as `()`, and so does whatever is read from
//! them. Comparisons with them are false; computations with them are absent.

use rhai::{Dynamic, Engine};

/// Predicates: of absent data they are false.
const QUESTIONS: &str = "any some all none contains containsAll containsKey containsValue containsIgnoreCase starts_with \
                         ends_with startsWith endsWith equals equalsIgnoreCase is_empty isEmpty isBlank is_not_empty \
                         isNotEmpty isNotBlank is_blank";

/// Functions that return a value: of absent data they return `()`.
const VALUES: &str = "size len length count first firstOrNull last lastOrNull filter filterNot find map get keys values \
                      index_of find_map reduce to_upper to_lower lowercase uppercase toLowerCase toUpperCase trim \
                      sub_string split chars to_int to_float parse_int parse_float abs floor ceiling round extract";

pub(crate) fn register(engine: &mut Engine) {
    engine.on_invalid_array_index(|_, _, _| Ok(Dynamic::UNIT.into()));
    engine.on_map_missing_property(|map, name, _| {
        Ok(match name {
            "size" | "len" | "length" => Dynamic::from(map.len() as i64).into(),
            _ => Dynamic::UNIT.into(),
        })
    });
    engine.register_indexer_get(|_: &mut (), _: &str| ());
    engine.register_indexer_get(|_: &mut (), _: i64| ());
    for name in QUESTIONS.split(' ') {
        engine.register_fn(name, |_: ()| false);
        engine.register_fn(name, |_: (), _: Dynamic| false);
    }
    for name in ["isNullOrEmpty", "isNullOrBlank"] {
        engine.register_fn(name, |_: ()| true);
    }
    for name in VALUES.split(' ') {
        engine.register_fn(name, |_: ()| ());
        engine.register_fn(name, |_: (), _: Dynamic| ());
        engine.register_fn(name, |_: (), _: Dynamic, _: Dynamic| ());
    }
    engine.register_fn("!", |_: ()| false);
    engine.register_fn("-", |_: ()| ());
    for operator in ["+", "-", "*", "/", "%", "**"] {
        engine.register_fn(operator, |_: (), _: ()| ());
        engine.register_fn(operator, |_: (), _: i64| ());
        engine.register_fn(operator, |_: (), _: f64| ());
        engine.register_fn(operator, |_: i64, _: ()| ());
        engine.register_fn(operator, |_: f64, _: ()| ());
    }
}
