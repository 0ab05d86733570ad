//! Predictions of a script's value before the conversation that it is about.

use rhai::{AST, ASTFlags, ASTNode, Expr, Stmt};

use super::failure::ScriptFailure;
use super::problem::ExpressionProblem;
use super::{ExpressionCheck, engine, show, views};
use crate::clock::Deadline;
use crate::evidence::{Evidence, Observed};

/// A script that ends with a text, a number or a list: whatever happens, that is neither true nor false.
pub(super) fn literal_problem(ast: &AST) -> Option<ExpressionProblem> {
    let (what, position) = match ast.statements().last()? {
        Stmt::Expr(last) => (kind_of_literal(last)?, last.position()),
        Stmt::Var(_, _, position) => ("an assignment, which has no value", *position),
        Stmt::Assignment(assignment) => ("an assignment, which has no value", assignment.1.lhs.position()),
        last if gives_nothing(last) && !returns_a_value(ast) && !is_endless(last, ast) => {
            (kind_of_nothing(last), last.position())
        }
        _ => return None,
    };
    Some(ExpressionProblem::at(
        position,
        format!("the expression must be true or false, but it ends with {what}"),
        Some("compare it with something, as in `objectContext.resources.size == 1`".to_owned()),
    ))
}

/// Whether a statement at the end has no value, however it runs: a loop that no `break` gives one to, a `return` of nothing,
/// a `try` that throws or ends like this. (What its `catch` gives is dropped.)
fn gives_nothing(last: &Stmt) -> bool {
    match last {
        Stmt::Return(None, ..) => !is_throw(last),
        Stmt::While(..) | Stmt::Do(..) | Stmt::For(..) => true,
        Stmt::TryCatch(parts, _) => {
            parts.body.statements().last().is_none_or(|last| is_throw(last) || gives_nothing(last))
        }
        _ => false,
    }
}

fn kind_of_nothing(last: &Stmt) -> &'static str {
    match last {
        Stmt::Return(..) => "a `return` of nothing",
        Stmt::TryCatch(..) => "a `try` that has no value (what `catch` gives is dropped)",
        _ => "a loop, which has no value without `break` and one",
    }
}

fn is_throw(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Return(_, flags, _) if flags.intersects(ASTFlags::BREAK))
}

/// Whether a `return` or a `break` somewhere gives a value; those of functions count too, to be sure.
fn returns_a_value(ast: &AST) -> bool {
    has(ast, |statement| match statement {
        Stmt::BreakLoop(value, ..) => value.is_some(),
        Stmt::Return(value, ..) => value.is_some() && !is_throw(statement),
        _ => false,
    })
}

/// Whether a statement is a loop that nothing ends but a limit.
fn is_endless(last: &Stmt, ast: &AST) -> bool {
    let Stmt::While(parts, _) = last else { return false };
    let is_break =
        |statement: &Stmt| matches!(statement, Stmt::BreakLoop(_, flags, _) if flags.intersects(ASTFlags::BREAK));
    matches!(parts.expr, Expr::Unit(_) | Expr::BoolConstant(true, _)) && !has(ast, is_break)
}

fn has(ast: &AST, is_one: impl Fn(&Stmt) -> bool) -> bool {
    let mut found = false;
    ast.walk(&mut |path: &[ASTNode]| {
        found |= path.iter().any(|node| matches!(node, ASTNode::Stmt(statement) if is_one(statement)));
        true
    });
    found
}

fn kind_of_literal(expression: &Expr) -> Option<&'static str> {
    match expression {
        Expr::IntegerConstant(..) | Expr::FloatConstant(..) => Some("a number"),
        Expr::StringConstant(..) | Expr::CharConstant(..) | Expr::InterpolatedString(..) => Some("a text"),
        Expr::Array(..) => Some("a list"),
        Expr::Map(..) => Some("a map"),
        Expr::Unit(_) => Some("`()`, absent data"),
        _ => None,
    }
}

/// Why a script can't tell whether anything holds, as far as a moment before the conversation shows: it gives something
/// else than true or false there, or does not end. Data that is absent is no reason: it may come.
pub fn unusable(check: &ExpressionCheck, job: &str, before: &Evidence, deadline: Deadline) -> Option<String> {
    let script = check.compiled().ok()?;
    let context = before.object_context.as_ref().and_then(seen);
    let changes = before.changes.as_ref().and_then(seen).map(Vec::as_slice);
    let mut scope = views::scope(script, context, changes, job, before);
    match engine::run(&script.ast, &mut scope, deadline) {
        Ok(value) if value.is_bool() || value.is_unit() => None,
        Ok(value) => Some(show::no_boolean(&value)),
        Err(failure @ (ScriptFailure::OutOfTime(_) | ScriptFailure::PastLimit(_))) => {
            Some(failure.into_component(check.text()).why().to_owned())
        }
        Err(_) => None,
    }
}

fn seen<T>(observed: &Observed<T>) -> Option<&T> {
    match observed {
        Observed::Seen(value) => Some(value),
        Observed::Failed(_) => None,
    }
}
