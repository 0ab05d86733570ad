//! Values that a key can't have.

use super::*;

#[test]
fn a_wrong_type() {
    problems(
        &least_and("name: 42\n"),
        r#"
job.yml:6:7: `name`: expected a string, found the integer 42
  |
6 | name: 42
  |       ^^
  = help: put it in quotes: "42"
"#,
    );
    problems(
        &least_and("name: true\n"),
        r#"
job.yml:6:7: `name`: expected a string, found the boolean true
  |
6 | name: true
  |       ^^^^
  = help: put it in quotes: "true"
"#,
    );
    problems(
        &least_and("name: [a]\n"),
        r#"
job.yml:6:7: `name`: expected a string, found a list
  |
6 | name: [a]
  |       ^
  = help: text that starts with `[` or `- ` needs quotes around all of it
"#,
    );
    problems(
        &least_and("name: {a: b}\n"),
        r#"
job.yml:6:7: `name`: expected a string, found a mapping
  |
6 | name: {a: b}
  |       ^
  = help: text with `: ` in it needs quotes around all of it
"#,
    );
    problems(
        &least_and("maxTurns: 3.0\n"),
        r#"
job.yml:6:11: `maxTurns`: expected an integer, found the number 3.0
  |
6 | maxTurns: 3.0
  |           ^^^
  = help: write 3
"#,
    );
    problems(
        &least_and("maxTurns: \"20\"\n"),
        r#"
job.yml:6:11: `maxTurns`: expected an integer, found the string "20"
  |
6 | maxTurns: "20"
  |           ^^^^
  = help: leave out the quotes
"#,
    );
    problems(
        &least_and("tags: a\n"),
        r#"
job.yml:6:7: `tags`: expected a list, found the string "a"
  |
6 | tags: a
  |       ^
  = help: start each entry on a line of its own with `- `
"#,
    );
    problems(
        &least_and("assertions:\n"),
        r#"
job.yml:6:1: `assertions`: expected a list, found nothing
  |
6 | assertions:
  | ^^^^^^^^^^
  = help: write `assertions: []` if there are none
"#,
    );
    problems(
        &least_and("evaluator:\n"),
        r#"
job.yml:6:1: `evaluator`: expected a mapping, found nothing
  |
6 | evaluator:
  | ^^^^^^^^^
  = help: write a value for `evaluator`, or leave the key out
"#,
    );
    problems(
        &least_and("setups:\n  - MATCH (n) DELETE n\n"),
        r#"
job.yml:7:5: an entry of `setups`: expected a mapping, found the string "MATCH (n) DELETE n"
  |
7 |   - MATCH (n) DELETE n
  |     ^^^^^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn facts_that_are_no_strings() {
    problems(
        &LEAST.replace("[]", "\n  - The user: is here\n  - 42\n  - ~\n  - ''"),
        r#"
job.yml:6:5: an entry of `facts`: expected a string, found a mapping
  |
6 |   - The user: is here
  |     ^^^^^^^^
  = help: text with `: ` in it needs quotes around all of it

job.yml:7:5: an entry of `facts`: expected a string, found the integer 42
  |
7 |   - 42
  |     ^^
  = help: put it in quotes: "42"

job.yml:8:5: an entry of `facts`: expected a string, found ~, which means nothing
  |
8 |   - ~
  |     ^
  = help: if it is meant as text, put it in quotes: "~"

job.yml:9:5: an entry of `facts` is blank
  |
9 |   - ''
  |     ^^
"#,
    );
    problems(
        &LEAST.replace("[]", ""),
        r#"
job.yml:5:1: `facts`: expected a list, found nothing
  |
5 | facts:
  | ^^^^^
  = help: write `facts: []` if there are none
"#,
    );
}

#[test]
fn out_of_range() {
    problems(
        &least_and("maxTurns: 1\n"),
        r#"
job.yml:6:11: `maxTurns` must be at least 2, found 1
  |
6 | maxTurns: 1
  |           ^
"#,
    );
    problems(
        &least_and("assertions:\n  - expression: \"true\"\n    weight: 1e308\n"),
        r#"
job.yml:8:13: `weight` must be at most 1000000, found 1e308
  |
8 |     weight: 1e308
  |             ^^^^^
"#,
    );
    problems(
        &least_and("aspirationalAverage: 0\n"),
        r#"
job.yml:6:22: `aspirationalAverage` must be at least 1, found 0
  |
6 | aspirationalAverage: 0
  |                      ^
"#,
    );
    problems(
        &least_and("evaluator: {temperature: 2.1}\n"),
        r#"
job.yml:6:26: `temperature` must be from 0 to 2, found 2.1
  |
6 | evaluator: {temperature: 2.1}
  |                          ^^^
"#,
    );
    problems(
        &least_and("scorer: {temperature: -1}\n"),
        r#"
job.yml:6:23: `temperature` must be from 0 to 2, found -1
  |
6 | scorer: {temperature: -1}
  |                       ^^
"#,
    );
    problems(
        &least_and("gate: {minScore: 1.5}\n"),
        r#"
job.yml:6:18: `minScore` must be from 0 to 1, found 1.5
  |
6 | gate: {minScore: 1.5}
  |                  ^^^
"#,
    );
    problems(
        &least_and("limits: {turn: 0, trial: 1e12}\n"),
        r#"
job.yml:6:16: `turn` must be more than 0, found 0
  |
6 | limits: {turn: 0, trial: 1e12}
  |                ^

job.yml:6:26: `trial` must be at most 31536000, found 1e12
  |
6 | limits: {turn: 0, trial: 1e12}
  |                          ^^^^
"#,
    );
}

#[test]
fn numbers_that_json_lacks() {
    problems(
        &least_and("evaluator: {temperature: .nan}\n"),
        r#"
job.yml:6:26: expected a finite number, found .nan
  |
6 | evaluator: {temperature: .nan}
  |                          ^^^^
"#,
    );
    problems(
        &least_and("assertions:\n  - cypher: x\n    expected: [1, .inf, {a: 18446744073709551616}]\n"),
        r#"
job.yml:8:19: expected a finite number, found .inf
  |
8 |     expected: [1, .inf, {a: 18446744073709551616}]
  |                   ^^^^

job.yml:8:29: the integer 18446744073709551616 does not fit in 64 bits
  |
8 |     expected: [1, .inf, {a: 18446744073709551616}]
  |                             ^^^^^^^^^^^^^^^^^^^^
  = help: if it is meant as text, put it in quotes: "18446744073709551616"
"#,
    );
}

#[test]
fn empty_lists() {
    problems(
        "target: {user: u, chatbot: c}\ntasks: []\nfacts: []\nconditions: []\n",
        r#"
job.yml:2:1: `tasks` is empty; it needs at least one entry
  |
2 | tasks: []
  | ^^^^^

job.yml:4:1: `conditions` is empty; it needs at least one entry
  |
4 | conditions: []
  | ^^^^^^^^^^
"#,
    );
}

#[test]
fn blank_texts() {
    problems(
        "target: {user: ' ', chatbot: ''}\ntasks:\n  - task: |\n\n    acceptanceCriteria: \"\\n\"\nfacts: [' ']\nsetups: [{cypher: ' '}]\nevaluator: {signoff: ''}\n",
        r#"
job.yml:1:16: `user` is blank
  |
1 | target: {user: ' ', chatbot: ''}
  |                ^^^

job.yml:1:30: `chatbot` is blank
  |
1 | target: {user: ' ', chatbot: ''}
  |                              ^^

job.yml:3:5: `task` is blank
  |
3 |   - task: |
  |     ^^^^

job.yml:5:25: `acceptanceCriteria` is blank
  |
5 |     acceptanceCriteria: "\n"
  |                         ^^^^

job.yml:6:9: an entry of `facts` is blank
  |
6 | facts: [' ']
  |         ^^^

job.yml:7:19: `cypher` is blank
  |
7 | setups: [{cypher: ' '}]
  |                   ^^^

job.yml:8:22: `signoff` is blank
  |
8 | evaluator: {signoff: ''}
  |                      ^^
"#,
    );
}

#[test]
fn a_word_that_is_not_on_the_list() {
    problems(
        &LEAST.replace("task: t", "task: t\n    type: tsk"),
        r#"
job.yml:4:11: `type` can't be "tsk"
  |
4 |     type: tsk
  |           ^^^
  = expected one of: task, question
  = help: did you mean `task`?
"#,
    );
    problems(
        &least_and("assertions:\n  - expression: 'true'\n    when: 3\n"),
        r#"
job.yml:8:11: `when`: expected one of its values, found the integer 3
  |
8 |     when: 3
  |           ^
  = expected one of: withoutFacts, withFacts
"#,
    );
}

#[test]
fn what_stands_behind_an_alias_is_reported_once_where_it_is_written() {
    problems(
        &least_and("evaluator: {temperature: &t 7}\nscorer: {temperature: *t}\n"),
        r#"
job.yml:6:29: `temperature` must be from 0 to 2, found 7
  |
6 | evaluator: {temperature: &t 7}
  |                             ^
"#,
    );
}
