//! One type name, one type: whoever reads a name need not ask of which room it is.

use std::collections::BTreeMap;

use super::{code, files, root};

/// Names of which there are two for a reason.
const TWINS: &[(&str, &str)] = &[
    ("CaseSession", "the session of a job's case, and that of another system's: one schema, two owners"),
    ("Entry", "the macro that reads an entry beside its definition"),
    ("LocalEmbeddings", "with and without the feature `local-embeddings`"),
    ("TeamStore", "with and without the feature `postgres`"),
    ("TerminationSignals", "on Unix and elsewhere"),
];

#[test]
fn each_type_has_a_name_of_its_own() {
    let source = root().join("src");
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files(&source, "rs") {
        let path = file.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
        if path.ends_with("/tests.rs") || path.contains("/tests/") {
            continue;
        }
        for name in code(&file).lines().filter_map(type_name) {
            types.entry(name.to_owned()).or_default().push(path.clone());
        }
    }
    assert!(types.len() > 1000, "only {} types were read", types.len());
    let is_twin = |name: &str| TWINS.iter().any(|(twin, _)| *twin == name);
    let shared: Vec<String> = types
        .iter()
        .filter(|(name, paths)| paths.len() > 1 && !is_twin(name))
        .map(|(name, paths)| format!("{name}: {}", paths.join(", ")))
        .collect();
    assert!(shared.is_empty(), "rename all but one of each to what it is in the field:\n{}", shared.join("\n"));
    let alone: Vec<&str> = TWINS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| types.get(*name).is_none_or(|paths| paths.len() < 2))
        .collect();
    assert!(alone.is_empty(), "no twins any more: {alone:?}");
}

/// The name of the type that a line defines. Private types within functions are nobody else's.
fn type_name(line: &str) -> Option<&str> {
    let is_indented = line.starts_with(' ');
    let line = line.trim_start();
    let rest = match line.strip_prefix("pub") {
        Some(rest) => rest.strip_prefix('(').map_or(rest, |scope| scope.split_once(')').map_or("", |(_, rest)| rest)),
        None if is_indented => return None,
        None => line,
    };
    let rest = rest.trim_start();
    let (keyword, rest) = rest.split_once(' ')?;
    if !["struct", "enum", "trait", "type", "union"].contains(&keyword) {
        return None;
    }
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!name.is_empty()).then_some(name)
}

#[test]
fn a_definition_is_told_from_a_use() {
    let code = [
        "pub struct A<T> {",
        "pub(in crate::x) enum B {",
        "type C = u8;",
        "    pub struct D;",
        "    struct E;",
        "    type Error = u8;",
        "pub use x::F;",
    ];
    assert_eq!(code.into_iter().filter_map(type_name).collect::<Vec<_>>(), ["A", "B", "C", "D"]);
}
