//! What a function takes has names: no tuple that is taken apart in its parameters.

use super::{files, root};

#[test]
fn no_function_takes_a_tuple_apart_in_its_parameters() {
    let mut wrong = Vec::new();
    for file in files(&root().join("src"), "rs") {
        let path = file.strip_prefix(root()).unwrap().display().to_string();
        let text = std::fs::read_to_string(&file).unwrap();
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        wrong.extend(tuples(&code.join("\n")).into_iter().map(|name| format!("{path}: {name}")));
    }
    assert!(wrong.is_empty(), "pass two arguments, or a struct; or make it a method:\n{}", wrong.join("\n"));
}

/// The names of the functions with a parameter `(a, b): (A, B)`.
fn tuples(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
            continue;
        }
        let signature = &code[at + "fn ".len()..];
        let name = signature.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let rest = without_generics(&signature[name.len()..]);
        if !name.is_empty() && rest.starts_with('(') && takes_tuple(&rest[1..closing(rest)]) {
            found.push(name);
        }
    }
    found
}

/// What follows the generic parameters.
fn without_generics(rest: &str) -> &str {
    let mut depth = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if !rest[..at].ends_with(['-', '=']) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return rest[at..].strip_prefix('>').unwrap_or(&rest[at..]);
        }
    }
    ""
}

/// The place of the bracket that closes the first one.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn takes_tuple(parameters: &str) -> bool {
    let mut at = 0;
    let mut begins = true;
    while let Some(c) = parameters[at..].chars().next() {
        let length = if matches!(c, '(' | '[' | '{') { closing(&parameters[at..]) + 1 } else { c.len_utf8() };
        if begins && c == '(' && parameters[at + length..].trim_start().starts_with(':') {
            return true;
        }
        begins = c == ',' || begins && c.is_whitespace();
        at = (at + length).min(parameters.len());
    }
    false
}

#[test]
fn tuples_are_found_in_parameters_and_nowhere_else() {
    let code = "fn one((a, b): (&A, &B)) {}\nfn two<F: Fn((A, B)) -> C>(\n    &self,\n    (a, b): (A, B),\n) {}\n\
                fn good(pair: (A, B), each: impl Fn((A, B))) { let x = |(a, b): (A, B)| a; }\nlet fine = (1, 2);";
    assert_eq!(tuples(code), ["one", "two"]);
}
