//! eval-job: what the statements of this thread have written, counted as Neo4j counts it, and a pass over all that is
//! stored.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use rusqlite::Connection;

use crate::cypher::ast::{Assignment, SetItem};
use crate::types::{Edge, GraphError, Node, NodeId, Properties, Result, Value};

/// What statements have written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Nodes that were made.
    pub nodes_created: u64,
    /// Nodes that were deleted.
    pub nodes_deleted: u64,
    /// Relationships that were made.
    pub relationships_created: u64,
    /// Relationships that were deleted.
    pub relationships_deleted: u64,
    /// Properties that were set or removed, also to the value that they had.
    pub properties_set: u64,
    /// Labels that nodes got.
    pub labels_added: u64,
    /// Labels that nodes lost.
    pub labels_removed: u64,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts {
        nodes_created: 0,
        nodes_deleted: 0,
        relationships_created: 0,
        relationships_deleted: 0,
        properties_set: 0,
        labels_added: 0,
        labels_removed: 0,
    }) };
    static TOUCHED: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// What was written on this thread since the last call.
pub fn take_counts() -> Counts {
    COUNTS.with(Cell::take)
}

/// The labels of nodes and the types of relationships whose properties or labels were written on this thread since the
/// last call.
pub fn take_written() -> BTreeSet<String> {
    TOUCHED.with(RefCell::take)
}

/// Adds to the counts.
pub(crate) fn count(add: impl FnOnce(&mut Counts)) {
    COUNTS.with(|counts| {
        let mut now = counts.get();
        add(&mut now);
        counts.set(now);
    });
}

/// Adds properties.
pub(crate) fn count_properties(number: usize) {
    count(|counts| counts.properties_set += number as u64);
}

/// Remembers labels or a type.
pub(crate) fn touch(names: &[String]) {
    TOUCHED.with(|touched| {
        let mut touched = touched.borrow_mut();
        for name in names {
            if !touched.contains(name) {
                touched.insert(name.clone());
            }
        }
    });
}

/// Neo4j sets several properties of one variable that stand in a row in one step, and counts them by their names, also
/// those that are removed without being there: the first of such a run counts for all.
pub(crate) fn count_runs(items: &mut [SetItem]) {
    let mut from = 0;
    while from < items.len() {
        let variable = variable(&items[from]).map(str::to_owned);
        let mut to = from + 1;
        while variable.is_some() && items.get(to).and_then(self::variable) == variable.as_deref() {
            to += 1;
        }
        if to - from > 1 {
            let run = &mut items[from..to];
            let keys: BTreeSet<String> =
                run.iter_mut().filter_map(assignment).map(|one| one.property.clone()).collect();
            for (at, one) in run.iter_mut().filter_map(assignment).enumerate() {
                one.counts = Some(if at == 0 { keys.len() } else { 0 });
            }
        }
        from = to;
    }
}

fn variable(item: &SetItem) -> Option<&str> {
    match item {
        SetItem::Property(one) if one.dynamic.is_none() => Some(&one.variable),
        _ => None,
    }
}

fn assignment(item: &mut SetItem) -> Option<&mut Assignment> {
    match item {
        SetItem::Property(one) => Some(one),
        _ => None,
    }
}

/// How many properties a SET of a whole map writes: those of the map that aren't null, those that go, and, as Neo4j has
/// it, those that the map has as null, also where the entity lacks them, if any entity ever had them.
pub(crate) fn written(conn: &Connection, before: &Properties, given: &Properties, merge: bool) -> Result<usize> {
    let mut written = 0;
    for (key, value) in given {
        if *value != Value::Null || is_key(conn, key)? {
            written += 1;
        }
    }
    if !merge {
        written += before.keys().filter(|key| !given.contains_key(*key)).count();
    }
    Ok(written)
}

/// Remembers the names of properties: a name that was ever used stays one.
pub(crate) fn remember_keys(conn: &Connection, properties: &Properties) -> Result<()> {
    if properties.is_empty() {
        return Ok(());
    }
    let mut statement = conn.prepare_cached("INSERT OR IGNORE INTO property_keys (key) VALUES (?1)")?;
    for (key, value) in properties {
        if *value != Value::Null {
            statement.execute([key])?;
        }
    }
    Ok(())
}

fn is_key(conn: &Connection, key: &str) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM property_keys WHERE key = ?1")?.exists([key])?)
}

/// The names that properties ever had, in the order of their first use.
pub(crate) fn keys(conn: &Connection) -> Result<Vec<String>> {
    let mut statement = conn.prepare_cached("SELECT key FROM property_keys ORDER BY rowid")?;
    let keys = statement.query_map([], |row| row.get(0))?.collect::<std::result::Result<_, _>>()?;
    Ok(keys)
}

/// A text beside the graph.
pub(crate) fn note(conn: &Connection, name: &str) -> Result<Option<String>> {
    let mut statement = conn.prepare_cached("SELECT value FROM metadata WHERE key = ?1")?;
    let mut rows = statement.query([name])?;
    Ok(match rows.next()? {
        Some(row) => String::from_utf8(row.get(0)?).ok(),
        None => None,
    })
}

/// Keeps a text beside the graph.
pub(crate) fn set_note(conn: &Connection, name: &str, text: &str) -> Result<()> {
    let mut statement = conn.prepare_cached("INSERT OR REPLACE INTO metadata (key, value) VALUES (?1, ?2)")?;
    statement.execute(rusqlite::params![name, text.as_bytes()])?;
    Ok(())
}

/// Visits every node until told to stop.
pub(crate) fn each_node(conn: &Connection, visit: &mut dyn FnMut(&Node) -> ControlFlow<()>) -> Result<()> {
    let mut statement = conn.prepare_cached("SELECT key FROM nodes ORDER BY key")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key: Vec<u8> = row.get(0)?;
        let Ok(id) = <[u8; 8]>::try_from(key.as_slice()) else { continue };
        if visit(&crate::node::get_node(conn, NodeId(u64::from_be_bytes(id)))?).is_break() {
            break;
        }
    }
    Ok(())
}

/// Visits every relationship until told to stop.
pub(crate) fn each_edge(conn: &Connection, visit: &mut dyn FnMut(&Edge) -> ControlFlow<()>) -> Result<()> {
    let mut statement = conn.prepare_cached("SELECT key, value FROM edge_props ORDER BY key")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key: Vec<u8> = row.get(0)?;
        let value: Vec<u8> = row.get(1)?;
        let Some(edge) = edge(&key, &value)? else { continue };
        if visit(&edge).is_break() {
            break;
        }
    }
    Ok(())
}

/// `[src:8][dst:8][label][0][seq:8]`.
fn edge(key: &[u8], value: &[u8]) -> Result<Option<Edge>> {
    let number = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).ok().map(u64::from_be_bytes);
    let (Some(label), Some(src), Some(dst), Some(seq)) = (
        crate::edge::label_from_edge_props_key(key),
        key.get(..8).and_then(number),
        key.get(8..16).and_then(number),
        key.len().checked_sub(8).and_then(|at| key.get(at..)).and_then(number),
    ) else {
        return Ok(None);
    };
    let properties = rmp_serde::from_slice(value).map_err(|e| GraphError::Serialization {
        context: String::new(),
        source: e.to_string(),
        hint: None,
    })?;
    Ok(Some(Edge { src: NodeId(src), dst: NodeId(dst), label: label.to_owned(), seq, properties }))
}
