//! The type of a script's last expression, and of its closures, where it is plain without running it.

use rhai::{AST, ASTFlags, ASTNode, Expr, Position, Stmt};

use super::closures::bodies;
use super::problem::ExpressionProblem;
use super::purpose::{Gives, ScriptPurpose};

/// A script that ends with a text, a number or a list: whatever happens, that is neither true nor false.
pub(crate) fn literal_problem(ast: &AST, purpose: &ScriptPurpose) -> Option<ExpressionProblem> {
    let (what, position) = match ast.statements().last()? {
        Stmt::Expr(last) => (kind_of_literal(last, purpose.gives)?, last.position()),
        Stmt::Var(_, _, position) => ("an assignment, which has no value", *position),
        Stmt::Assignment(assignment) => ("an assignment, which has no value", assignment.1.lhs.position()),
        last if gives_nothing(last) && !returns_a_value(ast) && !is_endless(last, ast) => {
            (kind_of_nothing(last), last.position())
        }
        _ => return None,
    };
    Some(ExpressionProblem::at(
        position,
        format!("the expression must be {}, but it ends with {what}", purpose.must_be()),
        Some(match purpose.gives {
            Gives::Truth => format!("compare it with something, as in `{}`", purpose.example),
            Gives::Score => format!("end with a score, as in `{}`", purpose.example),
        }),
    ))
}

/// A closure that assigns to what it is given, as in `any(|it| it.city = "Lyon")`: it changes a copy and gives neither true nor
/// false, so that `any` never holds and `none` always does.
pub(crate) fn assignment_problem(ast: &AST) -> Option<ExpressionProblem> {
    bodies(ast).values().find_map(|body| {
        let Stmt::Assignment(assignment) = body.statements.last()? else { return None };
        let (operator, sides) = &**assignment;
        let (assigned, position) = root(&sides.lhs)?;
        (!operator.is_op_assignment() && body.parameters.iter().any(|it| it == assigned)).then(|| {
            ExpressionProblem::at(
                position,
                format!("the closure assigns to `{assigned}` with `=`, which is neither true nor false"),
                Some("to compare, write `==`".to_owned()),
            )
        })
    })
}

/// The variable of which an expression is a part, and its place: `it` of `it.properties["from"]`.
fn root(expression: &Expr) -> Option<(&str, Position)> {
    match expression {
        Expr::Variable(variable, ..) => Some((variable.1.as_str(), expression.position())),
        Expr::Dot(parts, ..) | Expr::Index(parts, ..) => root(&parts.lhs),
        _ => None,
    }
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

fn kind_of_literal(expression: &Expr, gives: Gives) -> Option<&'static str> {
    match expression {
        Expr::IntegerConstant(..) | Expr::FloatConstant(..) | Expr::Map(..) if gives == Gives::Score => None,
        Expr::IntegerConstant(..) | Expr::FloatConstant(..) => Some("a number"),
        Expr::StringConstant(..) | Expr::CharConstant(..) | Expr::InterpolatedString(..) => Some("a text"),
        Expr::Array(..) => Some("a list"),
        Expr::Map(..) => Some("a map"),
        Expr::Unit(_) => Some("`()`, absent data"),
        _ => None,
    }
}
