// eval-job: this file is not in the published crate.
//! The materialized executor, a batch of rows at a time: operators that look at one row after the other never hold all
//! of them.
//!
//! Whatever writes is run as a whole when the batches are made; only reading is put off until a batch is asked for.

use std::cell::RefCell;

use rusqlite::Connection;

use super::{exec_op, is_read_only, node_to_record, read::unwound};
use crate::cypher::ast::{Expr, RemoveItem};
use crate::cypher::eval::{eval_unwind_items, EvalCx};
use crate::cypher::executor::ExecContext;
use crate::cypher::ir::LogicalOp;
use crate::cypher::iter_slot::expr_has_pattern_subquery;
use crate::cypher::record::NamedRecord;
use crate::node;
use crate::types::Result;

/// Gives the next rows, never none; `None` at the end.
pub(crate) type Batches<'a> = Box<dyn FnMut() -> Result<Option<Vec<NamedRecord>>> + 'a>;

/// The most rows of a batch where operators make more rows of one.
const MOST: usize = 1024;

/// The most rows that go into a join, or into an expansion, at a time.
const INTO_JOIN: usize = 16;

thread_local! {
    /// Rows that stand for the output of an operator.
    static GIVEN: RefCell<Vec<(*const LogicalOp, Vec<NamedRecord>)>> = const { RefCell::new(Vec::new()) };
}

/// The rows that were given for this operator, once.
pub(super) fn given(plan: &LogicalOp) -> Option<Vec<NamedRecord>> {
    GIVEN.with_borrow_mut(|given| {
        let (of, _) = given.last()?;
        std::ptr::eq(*of, plan).then(|| given.pop().map(|(_, rows)| rows)).flatten()
    })
}

/// Runs an operator over these rows of its input.
fn over(
    conn: &Connection,
    plan: &LogicalOp,
    input: &LogicalOp,
    rows: Vec<NamedRecord>,
    ctx: &ExecContext,
) -> Result<Vec<NamedRecord>> {
    struct Back(usize);
    impl Drop for Back {
        fn drop(&mut self) {
            GIVEN.with_borrow_mut(|given| given.truncate(self.0));
        }
    }
    let _back = GIVEN.with_borrow_mut(|given| {
        given.push((std::ptr::from_ref(input), rows));
        Back(given.len() - 1)
    });
    exec_op(conn, plan, ctx)
}

/// Whether [`batches`] does more than to run the operator.
pub(super) fn is_streamed(plan: &LogicalOp) -> bool {
    match plan {
        LogicalOp::Scan { .. }
        | LogicalOp::Filter { .. }
        | LogicalOp::Project { .. }
        | LogicalOp::Skip { .. }
        | LogicalOp::Limit { .. }
        | LogicalOp::Unwind { .. }
        | LogicalOp::Expand { .. }
        | LogicalOp::MaterializePath { .. }
        | LogicalOp::Distinct { .. } => true,
        LogicalOp::CorrelatedJoin { right, .. }
        | LogicalOp::LeftOuterJoin { right, .. }
        | LogicalOp::CrossProduct { right, .. } => is_read_only(right),
        LogicalOp::Union { all, .. } => *all && is_read_only(plan),
        _ => false,
    }
}

/// The rows of a plan.
pub(crate) fn batches<'a>(
    conn: &'a Connection,
    plan: &'a LogicalOp,
    ctx: &'a ExecContext,
) -> Result<Batches<'a>> {
    if !is_streamed(plan) {
        return Ok(whole(exec_op(conn, plan, ctx)?));
    }
    Ok(match plan {
        LogicalOp::Scan { label, alias } => {
            let mut scan = node::Scan::new(label);
            Box::new(move || {
                let nodes = scan.next(conn)?;
                Ok(nodes.map(|nodes| nodes.iter().map(|n| node_to_record(n, alias)).collect()))
            })
        }
        LogicalOp::Filter { input, .. }
        | LogicalOp::Project { input, .. }
        | LogicalOp::MaterializePath { input, .. } => each(conn, plan, input, usize::MAX, ctx)?,
        LogicalOp::CorrelatedJoin { input, .. }
        | LogicalOp::LeftOuterJoin { input, .. }
        | LogicalOp::CrossProduct { left: input, .. } => each(conn, plan, input, INTO_JOIN, ctx)?,
        LogicalOp::Expand { input, result_cap, .. } => {
            let mut rows = each(conn, plan, input, INTO_JOIN, ctx)?;
            let mut left = result_cap.map(|cap| cap as usize);
            Box::new(move || {
                if left == Some(0) {
                    return Ok(None);
                }
                let batch = rows()?;
                if let (Some(left), Some(batch)) = (&mut left, &batch) {
                    *left = left.saturating_sub(batch.len());
                }
                Ok(batch)
            })
        }
        LogicalOp::Skip { input, count } => {
            let (mut rows, mut skip) = (batches(conn, input, ctx)?, *count as usize);
            Box::new(move || {
                while let Some(mut batch) = rows()? {
                    let now = skip.min(batch.len());
                    skip -= now;
                    if now < batch.len() {
                        batch.drain(..now);
                        return Ok(Some(batch));
                    }
                }
                Ok(None)
            })
        }
        LogicalOp::Limit { input, count } => {
            let (mut rows, mut left) = (batches(conn, input, ctx)?, *count as usize);
            Box::new(move || {
                if left == 0 {
                    return Ok(None);
                }
                let mut batch = rows()?;
                if let Some(batch) = &mut batch {
                    batch.truncate(left);
                    left -= batch.len();
                }
                Ok(batch)
            })
        }
        LogicalOp::Distinct { input } => {
            let (mut rows, mut kept) = (batches(conn, input, ctx)?, Vec::new());
            Box::new(move || {
                while let Some(batch) = rows()? {
                    let before = kept.len();
                    super::aggregate::keep_distinct(&mut kept, batch);
                    if kept.len() > before {
                        return Ok(Some(kept[before..].to_vec()));
                    }
                }
                Ok(None)
            })
        }
        LogicalOp::Unwind { input, expr, alias } => unwind(conn, input, expr, alias, ctx)?,
        LogicalOp::Union { inputs, .. } => {
            let mut inputs = inputs.iter();
            let mut rows: Option<Batches<'a>> = None;
            Box::new(move || loop {
                if let Some(rows) = &mut rows {
                    if let Some(batch) = rows()? {
                        return Ok(Some(batch));
                    }
                }
                let Some(input) = inputs.next() else { return Ok(None) };
                rows = Some(batches(conn, input, ctx)?);
            })
        }
        _ => whole(exec_op(conn, plan, ctx)?),
    })
}

/// All rows of a plan that is streamed.
pub(super) fn collect(conn: &Connection, plan: &LogicalOp, ctx: &ExecContext) -> Result<Vec<NamedRecord>> {
    let mut rows = batches(conn, plan, ctx)?;
    let mut all = rows()?.unwrap_or_default();
    while let Some(batch) = rows()? {
        all.extend(batch);
    }
    Ok(all)
}

fn whole<'a>(rows: Vec<NamedRecord>) -> Batches<'a> {
    let mut rows = Some(rows);
    Box::new(move || Ok(rows.take().filter(|rows| !rows.is_empty())))
}

/// An operator over its input, so many rows at a time.
fn each<'a>(
    conn: &'a Connection,
    plan: &'a LogicalOp,
    input: &'a LogicalOp,
    most: usize,
    ctx: &'a ExecContext,
) -> Result<Batches<'a>> {
    let mut rows = batches(conn, input, ctx)?;
    let mut waiting = Vec::new().into_iter();
    Ok(Box::new(move || loop {
        let mut batch: Vec<NamedRecord> = waiting.by_ref().take(most).collect();
        if batch.is_empty() {
            let Some(next) = rows()? else { return Ok(None) };
            if next.len() <= most {
                batch = next;
            } else {
                waiting = next.into_iter();
                continue;
            }
        }
        let out = over(conn, plan, input, batch, ctx)?;
        if !out.is_empty() {
            return Ok(Some(out));
        }
    }))
}

fn unwind<'a>(
    conn: &'a Connection,
    input: &'a LogicalOp,
    expr: &'a Expr,
    alias: &'a str,
    ctx: &'a ExecContext,
) -> Result<Batches<'a>> {
    let mut rows = batches(conn, input, ctx)?;
    let mut waiting = Vec::new().into_iter();
    let mut current = None;
    Ok(Box::new(move || {
        let mut out = Vec::new();
        while out.len() < MOST {
            if let Some((row, items)) = &mut current {
                if let Some(item) = Iterator::next(items) {
                    out.push(unwound(row, item, alias));
                    continue;
                }
            }
            current = None;
            if let Some(row) = Iterator::next(&mut waiting) {
                let items = eval_unwind_items(expr, &row, EvalCx::new(conn))?;
                current = Some((row, items));
            } else if let Some(batch) = rows()? {
                waiting = batch.into_iter();
            } else {
                break;
            }
        }
        Ok(Some(out).filter(|out| !out.is_empty()))
    }))
}

/// Runs a statement that writes and returns nothing without holding all rows that it reads; `false` when it can't.
pub(super) fn write(conn: &Connection, plan: &LogicalOp, ctx: &ExecContext) -> Result<bool> {
    if let LogicalOp::Delete { input, exprs, detach } = plan {
        if !is_read_only(input) {
            return Ok(false);
        }
        // Everything is read before anything is deleted.
        let mut found = super::write::Doomed::default();
        let mut rows = batches(conn, input, ctx)?;
        while let Some(batch) = rows()? {
            for mut row in batch {
                found.add(conn, &mut row, exprs)?;
            }
        }
        drop(rows);
        found.delete(conn, *detach)?;
        return Ok(true);
    }
    let Some(reading) = scanned_once(plan) else { return Ok(false) };
    let mut rows = batches(conn, reading, ctx)?;
    while let Some(batch) = rows()? {
        over(conn, plan, reading, batch, ctx)?;
    }
    Ok(true)
}

/// The reading part of a statement that sets or removes something of each node that it finds, and looks at nothing but
/// that node: then it may write to some before it reads the next.
fn scanned_once(plan: &LogicalOp) -> Option<&LogicalOp> {
    let mut reading = plan;
    loop {
        reading = match reading {
            LogicalOp::SetProperty { input, assignments } => {
                if assignments.iter().any(|assignment| {
                    expr_has_pattern_subquery(&assignment.value)
                        || assignment.dynamic.as_ref().is_some_and(expr_has_pattern_subquery)
                }) {
                    return None;
                }
                input
            }
            LogicalOp::SetProperties { input, value, .. } if !expr_has_pattern_subquery(value) => input,
            LogicalOp::SetLabel { input, .. } => input,
            LogicalOp::Remove { input, items } if items.iter().all(is_plain) => input,
            _ => break,
        };
    }
    let mut scan = reading;
    while let LogicalOp::Filter { input, predicate } = scan {
        if expr_has_pattern_subquery(predicate) {
            return None;
        }
        scan = input;
    }
    (matches!(scan, LogicalOp::Scan { .. }) && !std::ptr::eq(reading, plan)).then_some(reading)
}

fn is_plain(item: &RemoveItem) -> bool {
    matches!(item, RemoveItem::Property { .. } | RemoveItem::Label { .. })
}
