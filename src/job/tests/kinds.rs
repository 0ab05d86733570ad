//! Kinds that are distinguished by the key that is present.

use super::*;

#[test]
fn two_kinds_of_key_in_one_assertion() {
    problems(
        &least_and("assertions:\n  - cypher: RETURN 1\n    expression: \"true\"\n"),
        r#"
job.yml:8:5: `expression` is another kind of assertion than `cypher` in line 7
  |
8 |     expression: "true"
  |     ^^^^^^^^^^
  = help: make two assertions of it, one with `cypher` and one with `expression`
"#,
    );
    problems(
        &least_and("assertions:\n  - expression: \"true\"\n    weight: 2\n    cypher: RETURN 1\n    expected: 1\n"),
        r#"
job.yml:9:5: `cypher` is another kind of assertion than `expression` in line 7
  |
9 |     cypher: RETURN 1
  |     ^^^^^^
  = help: make two assertions of it, one with `expression` and one with `cypher`
"#,
    );
}

#[test]
fn no_kind_of_key() {
    problems(
        &least_and("assertions:\n  - weight: 1\n  - expected: 1\n  - {}\n"),
        r#"
job.yml:7:5: this assertion needs one of the keys `cypher`, `expression` and `changes`
  |
7 |   - weight: 1
  |     ^^^^^^

job.yml:8:5: this assertion needs one of the keys `cypher`, `expression` and `changes`
  |
8 |   - expected: 1
  |     ^^^^^^^^

job.yml:9:5: this assertion needs one of the keys `cypher`, `expression` and `changes`
  |
9 |   - {}
  |     ^
"#,
    );
}

#[test]
fn a_misspelt_kind_is_one_problem() {
    problems(
        &least_and("assertions:\n  - cyper: RETURN 1\n    expected: 1\n"),
        r#"
job.yml:7:5: unknown key `cyper`
  |
7 |   - cyper: RETURN 1
  |     ^^^^^
  = expected one of: name, weight, when, holdsBefore, cypher, expected, expression, changes
  = help: did you mean `cypher`?
"#,
    );
}

#[test]
fn cypher_and_expected_need_each_other() {
    problems(
        &least_and("assertions:\n  - cypher: RETURN 1\n"),
        r#"
job.yml:7:5: `cypher` needs `expected` beside it
  |
7 |   - cypher: RETURN 1
  |     ^^^^^^
  = help: `expected`: The expected result: a value, a list for one row, a list of lists or mappings for a table. 1 equals 1.0, not "1".
"#,
    );
    problems(
        &least_and("assertions:\n  - expression: \"true\"\n    expected: 1\n"),
        r#"
job.yml:8:5: `expected` needs `cypher` beside it
  |
8 |     expected: 1
  |     ^^^^^^^^
  = help: `cypher`: A Cypher query that only reads. `$user`, `$sessionId`, `$trial` and `$model` are parameters.
"#,
    );
}

#[test]
fn names_of_which_some_have_a_value() {
    let of =
        |rest: &str| rendered(&least_and(&format!("metrics:\n  - template: {{prompt: 'Is it {{{{r}}}}?', {rest}}}\n")));
    let numeric = of("scorer: numeric, variables: {r: finalResponse}");
    assert!(numeric.contains("`scorer` can't be \"numeric\""), "{numeric}");
    assert!(numeric.contains("expected one of: singleScore, boolean, categorical, rubricScores"), "{numeric}");
    let field = of("scorer: boolean, variables: {r: finalRespons}");
    assert!(field.contains("did you mean `finalResponse`?"), "{field}");
    let key = of("scorer: {numeric: []}, variables: {r: finalResponse}");
    assert!(key.contains("`scorer`: expected the key `categorical` or `rubricScores`, found `numeric`"), "{key}");
    let bare = of("scorer: categorical, variables: {r: finalResponse}");
    assert!(bare.contains("`categorical` needs a value"), "{bare}");
    assert_eq!(of("scorer: {categorical: [{label: a, score: 1}]}, variables: {r: finalResponse}"), "no problems");
}

#[test]
fn seeds() {
    problems(
        &least_and(
            "seeds:\n  - text: a\n    conversation: [{content: b}]\n  - conversation:\n      - {role: usr, content: hi}\n  - conversation: hi\n  - text:\n",
        ),
        r#"
job.yml:8:5: `conversation` is another kind of seed than `text` in line 7
  |
8 |     conversation: [{content: b}]
  |     ^^^^^^^^^^^^
  = help: make two seeds of it, one with `text` and one with `conversation`

job.yml:10:16: `role` can't be "usr"
   |
10 |       - {role: usr, content: hi}
   |                ^^^
   = expected one of: user, assistant, system, tool
   = help: did you mean `user`?

job.yml:11:19: `conversation`: expected a list, found the string "hi"
   |
11 |   - conversation: hi
   |                   ^^
   = help: start each entry on a line of its own with `- `

job.yml:12:5: `text`: expected a string, found nothing
   |
12 |   - text:
   |     ^^^^
   = help: write a value for `text`, or leave the key out
"#,
    );
}

#[test]
fn two_backends() {
    problems(
        &least_and("graph:\n  embedded:\n  neo4j:\n    uri: 7\n"),
        r#"
job.yml:8:3: `neo4j` excludes `embedded` in line 7
  |
8 |   neo4j:
  |   ^^^^^
  = help: keep one of the two

job.yml:9:10: `uri`: expected a string, found the integer 7
  |
9 |     uri: 7
  |          ^
  = help: put it in quotes: "7"
"#,
    );
}

#[test]
fn a_model_and_a_script() {
    problems(
        &least_and("evaluator:\n  script: [Hello]\n  model: scripted\n"),
        r#"
job.yml:8:3: `model` excludes `script` in line 7
  |
8 |   model: scripted
  |   ^^^^^
  = help: keep one of the two
"#,
    );
}

#[test]
fn two_transports() {
    problems(
        &LEAST.replace("chatbot: c", "chatbot: c, demo: , embabel: {}"),
        r#"
job.yml:1:39: `embabel` excludes `demo` in line 1
  |
1 | target: {user: u, chatbot: c, demo: , embabel: {}}
  |                                       ^^^^^^^
  = help: keep one of the two
"#,
    );
}

#[test]
fn a_change_is_of_a_node_or_of_a_relationship() {
    problems(
        &least_and(
            "assertions:\n  - changes:\n      created:\n        - where: {x: 1}\n        - {node: A, relationship: R}\n        - {node: A, from: {node: B}}\n      deleted: [{node: A, set: {x: 1}}]\n",
        ),
        r#"
job.yml:9:11: this change needs one of the keys `node` and `relationship`
  |
9 |         - where: {x: 1}
  |           ^^^^^

job.yml:10:21: `relationship` is another kind of change than `node` in line 10
   |
10 |         - {node: A, relationship: R}
   |                     ^^^^^^^^^^^^
   = help: make two changes of it, one with `node` and one with `relationship`

job.yml:11:21: `from` needs `relationship` beside it
   |
11 |         - {node: A, from: {node: B}}
   |                     ^^^^
   = help: `relationship`: A relationship of this type.

job.yml:12:27: unknown key `set`
   |
12 |       deleted: [{node: A, set: {x: 1}}]
   |                           ^^^
   = expected one of: node, relationship, from, to, where, count
"#,
    );
}
