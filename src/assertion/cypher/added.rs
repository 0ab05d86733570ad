//! The rows of a query that it did not return before the conversation.

use super::{CypherCheck, Sides, order, shape};
use crate::evidence::{Table, Value};

/// The same for a comparison with known sides: whether it would hold without what was there before.
pub fn holds_of_added_sides(check: &CypherCheck, sides: &Sides, before: &Table, after: &Table) -> Option<bool> {
    let truth = sides.without(before, after)?;
    let table = Table { columns: vec![String::new()], rows: vec![vec![Value::Bool(truth)]] };
    Some(shape::matches(&check.expected, &table, false))
}

/// Whether it does not hold of what a query returns, but would hold without what it returned before: of the new rows, or
/// of the difference of counts and lists. A `true` that has become `false` is ambiguous: it held before, and so
/// it would.
pub fn holds_of_what_was_added(check: &CypherCheck, before: &Table, after: &Table) -> bool {
    let ordered = order::is_ordered(&check.cypher);
    let holds = |rows: Vec<Vec<Value>>| {
        let table = Table { columns: after.columns.clone(), rows };
        shape::matches(&check.expected, &table, ordered)
    };
    if let ([old], [new]) = (before.rows.as_slice(), after.rows.as_slice()) {
        if let ([Value::Bool(old)], [Value::Bool(new)]) = (old.as_slice(), new.as_slice()) {
            return old != new && shape::matches(&check.expected, before, ordered);
        }
        let cells = |keep_equal: bool| {
            let cell = |(old, new): (&Value, &Value)| {
                if keep_equal && old.is_same(new) { new.clone() } else { difference(old, new) }
            };
            old.iter().zip(new).map(cell).collect::<Vec<_>>()
        };
        if holds(vec![cells(true)]) || holds(vec![cells(false)]) {
            return true;
        }
    }
    holds(without(&before.rows, &after.rows, |one, other| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_same(other))
    }))
}

/// A count or a list without what was there before; anything else as it is.
pub(super) fn difference(old: &Value, new: &Value) -> Value {
    match (old, new) {
        (Value::Int(old), Value::Int(new)) => new.checked_sub(*old).map_or(Value::Null, Value::Int),
        (Value::List(old), Value::List(new)) => Value::List(without(old, new, Value::is_same)),
        _ => new.clone(),
    }
}

/// The items of the second list that the first one does not have, each as often as it has it more.
fn without<T: Clone>(old: &[T], new: &[T], is_same: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let mut left: Vec<&T> = old.iter().collect();
    let mut added = Vec::new();
    for item in new {
        match left.iter().position(|old| is_same(old, item)) {
            Some(place) => {
                left.swap_remove(place);
            }
            None => added.push(item.clone()),
        }
    }
    added
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn table(rows: &[&[Value]]) -> Table {
        let columns = (0..rows.first().map_or(1, |row| row.len())).map(|number| format!("c{number}")).collect();
        Table { columns, rows: rows.iter().map(|row| row.to_vec()).collect() }
    }

    fn holds(expected: Json, before: &[&[Value]], after: &[&[Value]]) -> bool {
        let check = CypherCheck { cypher: "MATCH (n) RETURN n".to_owned(), expected };
        holds_of_what_was_added(&check, &table(before), &table(after))
    }

    #[test]
    fn what_was_there_before_is_taken_away() {
        let int = Value::Int;
        let text = |text: &str| Value::String(text.to_owned());
        let list = |names: &[&str]| Value::List(names.iter().map(|name| text(name)).collect());
        assert!(holds(json!(1), &[&[int(2)]], &[&[int(3)]]), "one more than before");
        assert!(!holds(json!(1), &[&[int(2)]], &[&[int(4)]]), "two more");
        assert!(!holds(json!(1), &[&[int(2)]], &[&[int(2)]]), "nothing was done");
        assert!(!holds(json!(1), &[&[int(1)]], &[&[int(0)]]), "it was taken away");
        assert!(!holds(json!(1), &[&[int(0)]], &[&[int(2)]]), "nothing was there");
        assert!(holds(json!(0), &[&[int(2)]], &[&[int(2)]]), "others did what must not be done");
        assert!(holds(json!("b"), &[&[text("a")]], &[&[text("a")], &[text("b")]]));
        assert!(!holds(json!("b"), &[&[text("a")]], &[&[text("a")], &[text("c")]]));
        assert!(!holds(json!("a"), &[&[text("a")]], &[&[text("b")]]), "it was changed");
        assert!(holds(json!("a"), &[&[text("a")]], &[&[text("a")], &[text("a")]]), "once more");
        assert!(holds(json!([["b"]]), &[&[list(&["a"])]], &[&[list(&["b", "a"])]]));
        assert!(holds(json!(["ada", 1]), &[&[text("ada"), int(1)]], &[&[text("ada"), int(2)]]));
        assert!(holds(json!(["ada", 30, 1]), &[&[text("ada"), int(30), int(4)]], &[&[text("ada"), int(30), int(5)]]));
        assert!(holds(json!(true), &[&[Value::Bool(true)]], &[&[Value::Bool(false)]]), "count(n) = 1");
        assert!(!holds(json!(true), &[&[Value::Bool(false)]], &[&[Value::Bool(false)]]));
        assert!(holds(json!([]), &[&[text("a")]], &[&[text("a")]]));
    }
}
