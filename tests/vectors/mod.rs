//! What other systems' matchers and scorers answer: ours answer the same under `strict`, and the sound answer by default.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]
#![expect(clippy::print_stdout, reason = "the test says how many vectors of each kind hold")]

mod dataset;
mod judge;
mod numbers;
mod text;
mod trajectory;
mod vector;
mod wording;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use vector::Vector;

/// Whose answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The other system's own, with its flaws.
    Strict,
    /// Ours.
    Default,
}

/// What we make of a vector: a value with the keys of `expected`, or the message of the error with which the input is refused.
pub struct Answer(pub Result<Value, String>);

/// The kind of a vector, which names its group, with our answer.
pub type Answered = (&'static str, Answer);

/// The readers of kinds. Each tells its own by the keys of `input` and `expected` and by the name's prefix, and says `None` to others.
const KINDS: [fn(&Vector, Dialect) -> Option<Answered>; 6] =
    [trajectory::answer, text::answer, wording::answer, numbers::answer, dataset::answer, judge::answer];

/// How many of a group hold, of how many.
#[derive(Default)]
struct Group {
    passed: usize,
    total: usize,
}

#[test]
fn vectors() {
    let own = crate::house::root().join("tests/vectors");
    let mut folders = vec![own.clone()];
    folders.extend(std::env::var_os("EVAL_JOB_VECTORS").filter(|it| !it.is_empty()).map(PathBuf::from));
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let mut wrong = Vec::new();
    for folder in &folders {
        let all = vector::read_all(folder, &own);
        assert!(!all.is_empty(), "no <system>/vectors.json with vectors below {}", folder.display());
        for vector in all {
            run(&vector, &mut groups, &mut wrong);
        }
    }
    for (name, group) in &groups {
        println!("{name}: {}/{}", group.passed, group.total);
    }
    let (passed, total) = groups.values().fold((0, 0), |(passed, total), it| (passed + it.passed, total + it.total));
    println!("all: {passed}/{total}");
    assert!(wrong.is_empty(), "{} do not hold:\n{}", wrong.len(), wrong.join("\n"));
}

/// Runs a vector in the strict dialect, and in the default one where a better answer is known.
fn run(vector: &Vector, groups: &mut BTreeMap<String, Group>, wrong: &mut Vec<String>) {
    for (dialect, expected) in vector.expectations() {
        let Some((kind, answer)) = KINDS.iter().find_map(|kind| kind(vector, dialect)) else {
            groups.entry(format!("{} / unknown kind", vector.system)).or_default().total += 1;
            wrong.push(format!("{}: unknown kind: input has {:?}", vector.place(), vector.keys()));
            return;
        };
        let group = groups.entry(format!("{} / {kind}", vector.system)).or_default();
        let Answer(given) = answer;
        group.total += 1;
        match vector::compare(&expected, &given) {
            Ok(()) => group.passed += 1,
            Err(why) => wrong.push(format!("{} ({kind}, {dialect:?}): {why}", vector.place())),
        }
    }
}

/// Where a file that a vector names is: below one of the folders, by its path or else by its name.
pub fn find_file(folders: &[PathBuf], named: &str) -> Result<PathBuf, String> {
    let by_path = folders.iter().map(|folder| folder.join(named)).find(|path| path.is_file());
    let name = Path::new(named).file_name().unwrap_or_default();
    let by_name = || {
        let mut all = folders.iter().flat_map(|folder| crate::house::files(folder, "txt"));
        all.find(|path| path.file_name() == Some(name))
    };
    by_path.or_else(by_name).ok_or_else(|| format!("{named} is in none of {folders:?}"))
}

#[test]
fn an_answer_must_have_what_is_expected_and_errors_must_be_errors() {
    use serde_json::json;
    let holds = |expected: Value, given: Result<Value, String>| vector::compare(&expected, &given).is_ok();
    assert!(holds(json!({"f1": 0.533333}), Ok(json!({"f1": 0.5333333333333333, "precision": 1}))));
    assert!(!holds(json!({"f1": 0.5333}), Ok(json!({"f1": 0.5333333333333333}))));
    assert!(holds(json!({"f1": 0.5333, "tolerance": 1e-4}), Ok(json!({"f1": 0.5333333333333333}))));
    assert!(!holds(json!({"f1": 1.0}), Ok(json!({"precision": 1.0}))));
    assert!(!holds(json!({"f1": 1.0}), Err("no".to_owned())));
    assert!(!holds(json!({"error": true}), Ok(json!({"f1": 1.0}))));
    assert!(holds(json!({"error": true, "match": false}), Err("no".to_owned())));
    assert!(holds(json!({"config_error": true}), Err("no".to_owned())));
    assert!(holds(json!(true), Ok(json!(true))));
    assert!(!holds(json!(true), Ok(json!(false))));
    assert!(!holds(json!(null), Ok(json!(0))));
    assert!(!holds(json!({"match": false, "error_contains": "x"}), Ok(json!({"match": false}))));
    assert!(holds(json!({"match": false, "error_contains": "x"}), Ok(json!({"match": false, "why": "too few"}))));
}

#[test]
fn a_better_answer_is_expected_by_default_and_the_systems_own_under_strict() {
    use serde_json::json;
    let vector = |value: Value| Vector::from_value("x", value, vec![]).unwrap();
    let within = vector(json!({"name": "a", "input": {}, "expected": {"match": false, "better_expected": true}}));
    assert_eq!(
        within.expectations(),
        [(Dialect::Strict, json!({"match": false})), (Dialect::Default, json!({"match": true}))]
    );
    let beside = vector(json!({"name": "a", "input": {}, "expected": false, "better_expected": true}));
    assert_eq!(beside.expectations(), [(Dialect::Strict, json!(false)), (Dialect::Default, json!(true))]);
    let object = vector(json!({"name": "a", "input": {}, "expected": {"p": 1, "better_expected": {"p": 2}}}));
    assert_eq!(object.expectations(), [(Dialect::Strict, json!({"p": 1})), (Dialect::Default, json!({"p": 2}))]);
}
