//! The bodies of a script's closures and functions.

use std::collections::BTreeMap;

use rhai::{AST, ASTNode, Dynamic, Expr, FnPtr, Stmt};

/// A function of a script.
#[derive(Debug)]
pub(crate) struct Body {
    /// The names of its parameters; captured variables come first.
    pub(crate) parameters: Vec<String>,
    /// Its body.
    pub(crate) statements: Vec<Stmt>,
}

/// All functions of a script, closures too, by name. (Rhai shows a function's body only to [`AST::walk`], so each is
/// walked on its own.)
pub(crate) fn bodies(ast: &AST) -> BTreeMap<String, Body> {
    let mut bodies = BTreeMap::new();
    for function in ast.iter_fn_def() {
        let alone = ast.clone_functions_only_filtered(|_, _, _, name, count| {
            name == function.name.as_str() && count == function.params.len()
        });
        let mut statements = Vec::new();
        alone.walk(&mut |path: &[ASTNode]| {
            if let [ASTNode::Stmt(statement)] = path {
                statements.push((*statement).clone());
            }
            true
        });
        let parameters = function.params.iter().map(ToString::to_string).collect();
        bodies.insert(function.name.to_string(), Body { parameters, statements });
    }
    bodies
}

/// The function that an expression stands for, and the variables that it captures.
pub(crate) fn closure(expression: &Expr) -> Option<(String, &[Expr])> {
    match expression {
        Expr::DynamicConstant(value, _) => name_of(value).map(|name| (name, [].as_slice())),
        // A closure that captures: `{ share variables; curry(closure, variables…) }`.
        Expr::Stmt(block) => match block.statements() {
            [Stmt::Share(_), Stmt::Expr(last)] => match &**last {
                Expr::FnCall(call, _) if call.name == "curry" => {
                    let (first, captured) = call.args.split_first()?;
                    closure(first).map(|(name, _)| (name, captured))
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn name_of(value: &Dynamic) -> Option<String> {
    value.read_lock::<FnPtr>().map(|pointer| pointer.fn_name().to_owned())
}
