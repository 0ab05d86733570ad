//! Functions of lists, texts and maps beyond Rhai's own: Kotlin's names work where they are near.

use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Map, NativeCallContext, Position};

use super::compare::equal;
use super::{engine, show};

type RhaiResult<T> = Result<T, Box<EvalAltResult>>;

/// Registers a function under several names, which spaces part.
macro_rules! functions {
    ($engine:ident, $names:literal, $function:expr) => {
        for name in $names.split(' ') {
            $engine.register_fn(name, $function);
        }
    };
}

/// The same for a property.
macro_rules! getters {
    ($engine:ident, $names:literal, $function:expr) => {
        for name in $names.split(' ') {
            $engine.register_get(name, $function);
        }
    };
}

pub(crate) fn register(engine: &mut Engine) {
    lists(engine);
    texts(engine);
    maps(engine);
    engine.register_fn("equals", |a: Dynamic, b: Dynamic| equal(&a, &b));
}

fn lists(engine: &mut Engine) {
    functions!(engine, "size len length", |list: &mut Array| list.len() as i64);
    getters!(engine, "size len length", |list: &mut Array| list.len() as i64);
    engine.register_fn("count", |list: &mut Array| list.len() as i64);
    functions!(engine, "is_empty isEmpty isNullOrEmpty", |list: &mut Array| list.is_empty());
    getters!(engine, "is_empty isEmpty isNullOrEmpty", |list: &mut Array| list.is_empty());
    functions!(engine, "is_not_empty isNotEmpty", |list: &mut Array| !list.is_empty());
    getters!(engine, "is_not_empty isNotEmpty", |list: &mut Array| !list.is_empty());
    functions!(engine, "first firstOrNull", |list: &mut Array| list.first().cloned().unwrap_or(Dynamic::UNIT));
    functions!(engine, "last lastOrNull", |list: &mut Array| list.last().cloned().unwrap_or(Dynamic::UNIT));
    engine.register_get("first", |list: &mut Array| list.first().cloned().unwrap_or(Dynamic::UNIT));
    engine.register_get("last", |list: &mut Array| list.last().cloned().unwrap_or(Dynamic::UNIT));
    engine.register_fn("contains", |list: &mut Array, item: Dynamic| is_in(list, &item));
    engine.register_fn("containsAll", |list: &mut Array, items: Array| {
        for item in &items {
            if !is_in(list, item)? {
                return Ok(false);
            }
        }
        RhaiResult::Ok(true)
    });
    functions!(engine, "any some", |context: NativeCallContext, list: &mut Array, test: FnPtr| {
        RhaiResult::Ok(position(&context, list, &test, true)?.is_some())
    });
    engine.register_fn("any", |list: &mut Array| !list.is_empty());
    engine.register_fn("none", |list: &mut Array| list.is_empty());
    engine.register_fn("none", |context: NativeCallContext, list: &mut Array, test: FnPtr| {
        RhaiResult::Ok(position(&context, list, &test, true)?.is_none())
    });
    engine.register_fn("all", |context: NativeCallContext, list: &mut Array, test: FnPtr| {
        RhaiResult::Ok(position(&context, list, &test, false)?.is_none())
    });
    engine.register_fn("count", |context: NativeCallContext, list: &mut Array, test: FnPtr| {
        let mut count = 0_i64;
        for item in list.iter() {
            count += i64::from(holds(&context, item, &test)?);
        }
        RhaiResult::Ok(count)
    });
    engine.register_fn("filter", |context: NativeCallContext, list: &mut Array, test: FnPtr| {
        kept(&context, list, &test, true)
    });
    engine.register_fn("filterNot", |context: NativeCallContext, list: &mut Array, test: FnPtr| {
        kept(&context, list, &test, false)
    });
    functions!(engine, "find first firstOrNull", |context: NativeCallContext, list: &mut Array, test: FnPtr| {
        let place = position(&context, list, &test, true)?;
        RhaiResult::Ok(place.map_or(Dynamic::UNIT, |place| list[place].clone()))
    });
    engine.register_fn("map", |context: NativeCallContext, list: &mut Array, change: FnPtr| {
        list.iter().map(|item| change.call_within_context(&context, (item.clone(),))).collect::<RhaiResult<Array>>()
    });
}

/// The first item of which the test says this.
fn position(context: &NativeCallContext, list: &Array, test: &FnPtr, wanted: bool) -> RhaiResult<Option<usize>> {
    for (place, item) in list.iter().enumerate() {
        if holds(context, item, test)? == wanted {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

fn kept(context: &NativeCallContext, list: &Array, test: &FnPtr, wanted: bool) -> RhaiResult<Array> {
    let mut kept = Array::new();
    for item in list {
        if holds(context, item, test)? == wanted {
            kept.push(item.clone());
        }
    }
    Ok(kept)
}

/// Whether an item passes a test; absent data does not.
fn holds(context: &NativeCallContext, item: &Dynamic, test: &FnPtr) -> RhaiResult<bool> {
    let answer: Dynamic = test.call_within_context(context, (item.clone(),))?;
    if answer.is_unit() {
        return Ok(false);
    }
    answer.as_bool().map_err(|_| {
        format!("the closure of `{}` must give true or false, not {}", context.fn_name(), show::with_type(&answer))
            .into()
    })
}

/// Whether an item is in a list; a long list against a long list can take for ever.
fn is_in(list: &Array, item: &Dynamic) -> RhaiResult<bool> {
    for own in list {
        if engine::is_out_of_time() {
            return Err(EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE).into());
        }
        if equal(own, item) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn texts(engine: &mut Engine) {
    functions!(engine, "size len length count", |text: &str| text.chars().count() as i64);
    getters!(engine, "size len length", |text: &mut ImmutableString| text.chars().count() as i64);
    functions!(engine, "is_empty isEmpty isNullOrEmpty", |text: &str| text.is_empty());
    functions!(engine, "is_blank isBlank isNullOrBlank", |text: &str| text.trim().is_empty());
    functions!(engine, "is_not_empty isNotEmpty", |text: &str| !text.is_empty());
    functions!(engine, "is_not_blank isNotBlank", |text: &str| !text.trim().is_empty());
    engine.register_fn("startsWith", |text: &str, start: &str| text.starts_with(start));
    engine.register_fn("endsWith", |text: &str, end: &str| text.ends_with(end));
    functions!(engine, "lowercase toLowerCase", |text: &str| text.to_lowercase());
    functions!(engine, "uppercase toUpperCase", |text: &str| text.to_uppercase());
    engine.register_fn("equalsIgnoreCase", |text: &str, other: &str| text.to_lowercase() == other.to_lowercase());
    engine
        .register_fn("containsIgnoreCase", |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase()));
    // Rhai's trims in place and gives nothing; this one gives the text as well.
    engine.register_fn("trim", |text: &mut ImmutableString| {
        *text = text.trim().into();
        text.clone()
    });
}

fn maps(engine: &mut Engine) {
    functions!(engine, "size len length count", |map: &mut Map| map.len() as i64);
    functions!(engine, "is_empty isEmpty isNullOrEmpty", |map: &mut Map| map.is_empty());
    functions!(engine, "is_not_empty isNotEmpty", |map: &mut Map| !map.is_empty());
    engine.register_fn("containsKey", |map: &mut Map, key: &str| map.contains_key(key));
    engine.register_fn("containsValue", |map: &mut Map, value: Dynamic| map.values().any(|own| equal(own, &value)));
}
