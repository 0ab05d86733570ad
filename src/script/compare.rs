//! Comparisons. Rhai's own say false to `1 < "a"` and compare numbers after rounding; these do not.

use std::cell::RefCell;
use std::cmp::Ordering;

use rhai::{Dynamic, Engine, EvalAltResult};

use super::record::Record;
use super::show;

thread_local! {
    /// The first number that the script on this thread compared with a text that spells it.
    static SPELLED_ALIKE: RefCell<Option<String>> = const { RefCell::new(None) };
}

pub(crate) fn register(engine: &mut Engine) {
    engine.register_fn("==", |a: Dynamic, b: Dynamic| {
        note_spelled_alike(&a, &b);
        equal(&a, &b)
    });
    engine.register_fn("!=", |a: Dynamic, b: Dynamic| different(&a, &b));
    engine.register_fn("<", |a: Dynamic, b: Dynamic| ordered("<", &a, &b, Ordering::is_lt));
    engine.register_fn("<=", |a: Dynamic, b: Dynamic| ordered("<=", &a, &b, Ordering::is_le));
    engine.register_fn(">", |a: Dynamic, b: Dynamic| ordered(">", &a, &b, Ordering::is_gt));
    engine.register_fn(">=", |a: Dynamic, b: Dynamic| ordered(">=", &a, &b, Ordering::is_ge));
}

/// A number and a text that spells it, of which the last script on this thread asked whether they are equal: they never are.
pub(crate) fn take_spelled_alike() -> Option<String> {
    SPELLED_ALIKE.take()
}

fn note_spelled_alike(a: &Dynamic, b: &Dynamic) {
    let (Some(number), Some(text)) = (Number::from_dynamic(a).or(Number::from_dynamic(b)), text(a).or(text(b))) else {
        return;
    };
    let is_spelled = match text.trim().parse::<f64>() {
        Ok(spelled) => number.compare(Number::Float(spelled)) == Some(Ordering::Equal),
        Err(_) => false,
    };
    if is_spelled && SPELLED_ALIKE.with_borrow(Option::is_none) {
        let (number, text) = match number {
            Number::Int(number) => (Dynamic::from_int(number), text),
            Number::Float(number) => (Dynamic::from_float(number), text),
        };
        let (number, text) = (show::short(&number), show::short(&Dynamic::from(text)));
        SPELLED_ALIKE.set(Some(format!("{number} is a number and {text} a text, which are never equal")));
    }
}

/// Whether two values are equal: 1 equals 1.0; other types never equal each other; lists and maps are compared
/// throughout.
pub(crate) fn equal(a: &Dynamic, b: &Dynamic) -> bool {
    if a.is_unit() || b.is_unit() {
        return a.is_unit() && b.is_unit();
    }
    if let (Some(a), Some(b)) = (Number::from_dynamic(a), Number::from_dynamic(b)) {
        return a.compare(b) == Some(Ordering::Equal);
    }
    if let (Some(a), Some(b)) = (text(a), text(b)) {
        return a == b;
    }
    if let (Ok(a), Ok(b)) = (a.as_bool(), b.as_bool()) {
        return a == b;
    }
    if let (Ok(a), Ok(b)) = (a.as_array_ref(), b.as_array_ref()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b));
    }
    if let (Ok(a), Ok(b)) = (a.as_map_ref(), b.as_map_ref()) {
        return a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)));
    }
    match (a.clone().try_cast::<Record>(), b.clone().try_cast::<Record>()) {
        (Some(a), Some(b)) => {
            a.kind == b.kind && a.fields.iter().all(|(name, a)| b.fields.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => false,
    }
}

/// Absent data differs from nothing: `absent != "x"` is false, so that an agent that did nothing does not pass. With
/// `()` on the right it asks whether something is there.
fn different(a: &Dynamic, b: &Dynamic) -> bool {
    !a.is_unit() && !equal(a, b)
}

fn ordered(
    operator: &str,
    a: &Dynamic,
    b: &Dynamic,
    holds: impl Fn(Ordering) -> bool,
) -> Result<bool, Box<EvalAltResult>> {
    if a.is_unit() || b.is_unit() {
        return Ok(false);
    }
    if let (Some(a), Some(b)) = (Number::from_dynamic(a), Number::from_dynamic(b)) {
        return Ok(a.compare(b).is_some_and(holds));
    }
    if let (Some(a), Some(b)) = (text(a), text(b)) {
        return Ok(holds(a.cmp(&b)));
    }
    Err(format!("`{operator}` can't compare {} with {}", show::with_type(a), show::with_type(b)).into())
}

fn text(value: &Dynamic) -> Option<String> {
    match value.as_char() {
        Ok(character) => Some(character.to_string()),
        Err(_) => value.as_immutable_string_ref().ok().map(|text| text.to_string()),
    }
}

#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn from_dynamic(value: &Dynamic) -> Option<Number> {
        value.as_int().map(Number::Int).or_else(|_| value.as_float().map(Number::Float)).ok()
    }

    /// Exact; nothing for NaN.
    fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
            (Number::Int(a), Number::Float(b)) => order_of_whole(a.into(), b),
            (Number::Float(a), Number::Int(b)) => order_of_whole(b.into(), a).map(Ordering::reverse),
        }
    }
}

/// Compares a whole number with a float, exactly; `None` for NaN.
pub(crate) fn order_of_whole(whole: i128, float: f64) -> Option<Ordering> {
    let floor = whole_float(float.floor());
    match floor {
        Some(floor) => {
            Some(whole.cmp(&floor).then(if float.fract() == 0.0 { Ordering::Equal } else { Ordering::Less }))
        }
        // Beyond every 64-bit integer, infinite, or no number.
        None => 0.0.partial_cmp(&float),
    }
}

/// The float as an integer, if it is one: exact, because every whole float below 2^127 is an `i128`.
pub(crate) fn whole_float(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() < 2f64.powi(127)).then_some(value as i128)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_compare_exactly() {
        assert_eq!(order_of_whole(1, 1.0), Some(Ordering::Equal));
        assert_eq!(order_of_whole(0, -0.0), Some(Ordering::Equal));
        assert_eq!(order_of_whole(1, 1.5), Some(Ordering::Less));
        assert_eq!(order_of_whole(-1, -1.5), Some(Ordering::Greater));
        assert_eq!(order_of_whole(9_007_199_254_740_993, 9_007_199_254_740_992.0), Some(Ordering::Greater));
        assert_eq!(order_of_whole(i64::MAX.into(), f64::INFINITY), Some(Ordering::Less));
        assert_eq!(order_of_whole(i64::MIN.into(), f64::NEG_INFINITY), Some(Ordering::Greater));
        assert_eq!(order_of_whole(0, f64::NAN), None);
    }

    proptest! {
        #[test]
        fn small_numbers_compare_as_floats_do(a in -1000i64..1000, b in -1000.0f64..1000.0) {
            prop_assert_eq!(order_of_whole(a.into(), b), (a as f64).partial_cmp(&b));
        }
    }
}
