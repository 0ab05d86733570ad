//! The names that a script uses, checked on its syntax tree before it runs.
//!
//! Values of our own API must have the names of [`super::api`]; JSON data may have any. Where it is not known which of
//! both something is, every name is allowed: a legal script is never refused.

use std::collections::{BTreeMap, BTreeSet};

use rhai::{AST, ASTFlags, Expr, FnCallExpr, Position, Stmt};

use super::api::{ApiType, Shape};
use super::closures::{Body, bodies, closure};
use super::engine::{FUNCTION_NAMES, PROPERTY_NAMES};
use super::problem::ExpressionProblem;
use super::purpose::ScriptPurpose;
use crate::text::nearest;

/// The first name of a script that does not exist.
pub(crate) fn problem(ast: &AST, purpose: &ScriptPurpose) -> Option<ExpressionProblem> {
    let bodies = bodies(ast);
    let mut check =
        NameCheck { bodies: &bodies, visited: BTreeSet::new(), variables: Vec::new(), depth: 0, problem: None };
    check.variables.extend(purpose.variables.iter().map(|(name, shape)| ((*name).to_owned(), *shape)));
    check.block(ast.statements());
    for (name, body) in &bodies {
        if !check.visited.contains(name) {
            check.function(body, &[], Shape::Free);
        }
    }
    check.problem
}

/// Closures within closures that are followed.
const MAX_DEPTH: usize = 16;

struct NameCheck<'a> {
    bodies: &'a BTreeMap<String, Body>,
    visited: BTreeSet<String>,
    variables: Vec<(String, Shape)>,
    depth: usize,
    problem: Option<ExpressionProblem>,
}

impl NameCheck<'_> {
    fn report(&mut self, position: Position, message: String, help: Option<String>) {
        self.problem.get_or_insert_with(|| ExpressionProblem::at(position, message, help));
    }

    /// The shape of the last statement's value.
    fn block(&mut self, statements: &[Stmt]) -> Shape {
        let outside = self.variables.len();
        let shape = statements.iter().map(|statement| self.statement(statement)).last().unwrap_or(Shape::Free);
        self.variables.truncate(outside);
        shape
    }

    fn statement(&mut self, statement: &Stmt) -> Shape {
        match statement {
            Stmt::Expr(expression) => return self.shape(expression),
            Stmt::FnCall(call, position) => return self.call(call, *position),
            Stmt::Block(block) => return self.block(block.statements()),
            Stmt::Var(variable, ..) => {
                let shape = self.shape(&variable.1);
                self.variables.push((variable.0.name.to_string(), shape));
            }
            Stmt::Assignment(assignment) => {
                self.shape(&assignment.1.lhs);
                self.shape(&assignment.1.rhs);
                if let Expr::Variable(variable, ..) = &assignment.1.lhs {
                    let own = self.variables.iter_mut().rev().find(|(name, _)| *name == variable.1.as_str());
                    own.into_iter().for_each(|(_, shape)| *shape = Shape::Free);
                }
            }
            Stmt::If(flow, _) | Stmt::While(flow, _) | Stmt::Do(flow, ..) => {
                self.shape(&flow.expr);
                self.block(flow.body.statements());
                self.block(flow.branch.statements());
            }
            Stmt::TryCatch(flow, _) => {
                self.block(flow.body.statements());
                let outside = self.variables.len();
                if let Expr::Variable(variable, ..) = &flow.expr {
                    self.variables.push((variable.1.to_string(), Shape::Free));
                }
                self.block(flow.branch.statements());
                self.variables.truncate(outside);
            }
            Stmt::For(parts, _) => {
                let (item, counter, flow) = &**parts;
                let of = item_of(self.shape(&flow.expr));
                let outside = self.variables.len();
                self.variables.push((item.name.to_string(), of));
                self.variables.extend(counter.iter().map(|counter| (counter.name.to_string(), Shape::Plain)));
                self.block(flow.body.statements());
                self.variables.truncate(outside);
            }
            Stmt::Switch(parts, _) => {
                self.shape(&parts.0);
                for case in &parts.1.expressions {
                    self.shape(&case.lhs);
                    self.shape(&case.rhs);
                }
            }
            Stmt::Return(Some(expression), ..) | Stmt::BreakLoop(Some(expression), ..) => {
                self.shape(expression);
            }
            _ => {}
        }
        Shape::Free
    }

    fn shape(&mut self, expression: &Expr) -> Shape {
        match expression {
            Expr::Variable(variable, ..) => {
                let own = self.variables.iter().rev().find(|(name, _)| *name == variable.1.as_str());
                own.map_or(Shape::Free, |(_, shape)| *shape)
            }
            Expr::Dot(pair, flags, _) => {
                let left = self.shape(&pair.lhs);
                self.chain(left, &pair.rhs, true, *flags)
            }
            Expr::Index(pair, flags, _) => {
                let left = self.shape(&pair.lhs);
                self.chain(left, &pair.rhs, false, *flags)
            }
            Expr::FnCall(call, position) => self.call(call, *position),
            Expr::Stmt(block) => match closure(expression) {
                Some((name, captured)) => self.closure(&name, captured, Shape::Free),
                None => self.block(block.statements()),
            },
            Expr::And(parts, _) | Expr::Or(parts, _) | Expr::Coalesce(parts, _) => {
                parts.iter().for_each(|part| _ = self.shape(part));
                Shape::Free
            }
            Expr::Array(items, _) | Expr::InterpolatedString(items, _) => {
                items.iter().for_each(|item| _ = self.shape(item));
                Shape::Free
            }
            Expr::Map(entries, _) => {
                entries.0.iter().for_each(|(_, item)| _ = self.shape(item));
                Shape::Free
            }
            _ => Shape::Free,
        }
    }

    /// Follows `left.right` or `left[right]`. Rhai nests what follows within `right`, unless the chain ends here.
    fn chain(&mut self, left: Shape, right: &Expr, dot: bool, flags: ASTFlags) -> Shape {
        match right {
            Expr::Dot(pair, next, _) if !flags.contains(ASTFlags::BREAK) => {
                let step = self.step(left, &pair.lhs, dot);
                self.chain(step, &pair.rhs, true, *next)
            }
            Expr::Index(pair, next, _) if !flags.contains(ASTFlags::BREAK) => {
                let step = self.step(left, &pair.lhs, dot);
                self.chain(step, &pair.rhs, false, *next)
            }
            _ => self.step(left, right, dot),
        }
    }

    fn step(&mut self, left: Shape, right: &Expr, dot: bool) -> Shape {
        match (right, left) {
            (Expr::Property(property, position), _) if dot => self.property(left, &property.2, *position),
            (Expr::MethodCall(call, position), _) if dot => self.method(left, call, &call.args, *position),
            (Expr::StringConstant(name, position), Shape::One(_)) => self.property(left, name, *position),
            (index, _) => {
                self.shape(index);
                item_of(left)
            }
        }
    }

    fn property(&mut self, left: Shape, name: &str, position: Position) -> Shape {
        let Shape::One(kind) = left else {
            if left != Shape::Free && !PROPERTY_NAMES.contains(name) {
                let what = if left == Shape::Plain { "a plain value" } else { "a list" };
                let near = nearest(name, PROPERTY_NAMES.iter().map(String::as_str));
                self.report(position, format!("{what} has no `{name}`"), near.map(did_you_mean));
            }
            return match (left, name) {
                (Shape::Many(kind), "first" | "last") => Shape::One(kind),
                _ => Shape::Free,
            };
        };
        if let Some((_, shape)) = kind.fields().iter().find(|(field, _)| *field == name) {
            return *shape;
        }
        self.report(position, format!("{} has no `{name}`", kind.label()), Some(field_help(kind, name)));
        Shape::Free
    }

    fn call(&mut self, call: &FnCallExpr, position: Position) -> Shape {
        if call.op_token.is_some() {
            if call.name == "!=" && matches!(call.args.first(), Some(Expr::Unit(_))) {
                let help = "absent data differs from nothing: write `… != ()`".to_owned();
                self.report(position, "`()` on the left of `!=` is always false".to_owned(), Some(help));
            }
            call.args.iter().for_each(|argument| _ = self.shape(argument));
            return Shape::Free;
        }
        match call.args.split_first() {
            Some((first, rest)) => {
                let left = self.shape(first);
                self.method(left, call, rest, position)
            }
            None => self.method(Shape::Free, call, &[], position),
        }
    }

    fn method(&mut self, left: Shape, call: &FnCallExpr, arguments: &[Expr], position: Position) -> Shape {
        let name = call.name.as_str();
        if !FUNCTION_NAMES.contains(name) && !self.bodies.contains_key(name) {
            self.report(position, format!("there is no function `{name}`"), function_help(name));
        }
        let mut given = Shape::Free;
        for argument in arguments {
            given = match closure(argument) {
                Some((name, captured)) => self.closure(&name, captured, item_of(left)),
                None => self.shape(argument),
            };
        }
        match (left, name) {
            (Shape::Many(kind), "filter" | "filterNot") => Shape::Many(kind),
            (Shape::Many(kind), "find" | "first" | "firstOrNull" | "last" | "lastOrNull") => Shape::One(kind),
            (Shape::Many(_), "map") => match given {
                Shape::One(kind) => Shape::Many(kind),
                _ => Shape::Free,
            },
            _ => Shape::Free,
        }
    }

    /// The shape of a closure's value when its first parameter has this shape.
    fn closure(&mut self, name: &str, captured: &[Expr], of: Shape) -> Shape {
        self.visited.insert(name.to_owned());
        let captured: Vec<Shape> = captured.iter().map(|variable| self.shape(variable)).collect();
        match self.bodies.get(name) {
            Some(body) => self.function(body, &captured, of),
            None => Shape::Free,
        }
    }

    fn function(&mut self, body: &Body, captured: &[Shape], of: Shape) -> Shape {
        if self.depth == MAX_DEPTH {
            return Shape::Free;
        }
        let shapes = captured.iter().copied().chain([of]).chain(std::iter::repeat(Shape::Free));
        let parameters = body.parameters.iter().cloned().zip(shapes).collect();
        let outside = std::mem::replace(&mut self.variables, parameters);
        self.depth += 1;
        let shape = self.block(&body.statements);
        self.depth -= 1;
        self.variables = outside;
        shape
    }
}

fn item_of(list: Shape) -> Shape {
    match list {
        Shape::Many(kind) => Shape::One(kind),
        _ => Shape::Free,
    }
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

fn field_help(kind: ApiType, wrong: &str) -> String {
    let names = || kind.fields().iter().map(|(name, _)| *name);
    match nearest(wrong, names()) {
        Some(near) => did_you_mean(near),
        None => format!("it has `{}`", names().collect::<Vec<_>>().join("`, `")),
    }
}

fn function_help(wrong: &str) -> Option<String> {
    let spelled = match wrong {
        "listOf" | "setOf" | "arrayOf" | "mutableListOf" => "a list is written `[a, b]`",
        "mapOf" => "a map is written `#{key: value}`",
        "sleep" | "exit" | "eval" => "a script only computes",
        "matches" | "toRegex" | "Regex" => "there are no patterns; use `contains`, `starts_with` or `ends_with`",
        "containsString" => "use `contains`",
        _ => return nearest(wrong, FUNCTION_NAMES.iter().map(String::as_str)).map(did_you_mean),
    };
    Some(spelled.to_owned())
}
