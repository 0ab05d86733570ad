//! Errors in the YAML itself.

use super::*;

#[test]
fn an_empty_file() {
    problems(
        "",
        r#"
job.yml:1:1: the job file is empty
  = help: a job has at least the keys `target`, `tasks` and `facts`; `eval-job schema` prints all of them
"#,
    );
    problems(
        "# nothing\n",
        r#"
job.yml:1:1: the job file is empty
  = help: a job has at least the keys `target`, `tasks` and `facts`; `eval-job schema` prints all of them
"#,
    );
}

#[test]
fn a_file_that_is_no_job() {
    problems(
        "# A title\n\nA page of words, which goes on: and on,\nover lines\n   name: of an example\n",
        r#"
job.yml:4:1: this is no job file: none of its lines begins with a key of a job
  = help: a job is YAML and has at least the keys `target`, `tasks` and `facts`; eval-job init writes a first one
"#,
    );
}

#[test]
fn something_else_than_a_mapping() {
    problems(
        "just text\n",
        r#"
job.yml:1:1: the job file: expected a mapping, found the string "just text"
  |
1 | just text
  | ^^^^^^^^^
"#,
    );
    problems(
        "- a\n",
        r#"
job.yml:1:1: the job file: expected a mapping, found a list
  |
1 | - a
  | ^
"#,
    );
    problems(
        "null\n",
        r#"
job.yml:1:1: the job file: expected a mapping, found null, which means nothing
  |
1 | null
  | ^^^^
"#,
    );
}

#[test]
fn a_tab_as_indentation() {
    problems(
        "target:\n\tuser: u\n",
        r#"
job.yml:2:1: a tab stands in the indentation; YAML allows only spaces there
  |
2 |     user: u
  | ^^^^
  = help: replace the tab by spaces
"#,
    );
    problems(
        "target:\n  user: u\n\tchatbot: c\n",
        r#"
job.yml:3:1: a tab stands in the indentation; YAML allows only spaces there
  |
3 |     chatbot: ***
  | ^^^^
  = help: replace the tab by spaces; values are shown as *** as long as the file can't be read
"#,
    );
    // A key is none the less one.
    problems(
        "scorer:\n\tmodel: openai/gpt\n\tapiKey: abc\n",
        r#"
job.yml:2:1: a tab stands in the indentation; YAML allows only spaces there
  |
2 |     model: openai/gpt
  | ^^^^
  = help: replace the tab by spaces
"#,
    );
    problems(
        "scorer:\n\tapiKey: abc\n",
        r#"
job.yml:2:1: a tab stands in the indentation; YAML allows only spaces there
  |
2 |     apiKey: ***
  | ^^^^
  = help: replace the tab by spaces
"#,
    );
}

#[test]
fn a_key_twice_names_both_lines_and_hides_nothing() {
    problems(
        &least_and("maxTurns: 1\nmaxTurns: 3\nname: 42\n"),
        r#"
job.yml:6:11: `maxTurns` must be at least 2, found 1
  |
6 | maxTurns: 1
  |           ^

job.yml:7:1: the key `maxTurns` is there already, in line 6
  |
7 | maxTurns: 3
  | ^^^^^^^^
  = help: keep one of the two

job.yml:8:7: `name`: expected a string, found the integer 42
  |
8 | name: 42
  |       ^^
  = help: put it in quotes: "42"
"#,
    );
}

#[test]
fn the_first_of_two_keys_is_the_one_in_the_same_mapping() {
    problems(
        &LEAST.replace("facts", "  - task: x\n    acceptanceCriteria: y\n    task: z\nfacts"),
        r#"
job.yml:7:5: the key `task` is there already, in line 5
  |
7 |     task: z
  |     ^^^^
  = help: keep one of the two
"#,
    );
    problems(
        &LEAST.replace("user: u", "user: u, user: v"),
        r#"
job.yml:1:19: the key `user` is there already, in line 1
  |
1 | target: {user: u, user: v, chatbot: c}
  |                   ^^^^
  = help: keep one of the two
"#,
    );
}

#[test]
fn several_documents() {
    problems(
        &least_and("---\nname: a\n"),
        r#"
job.yml:7:1: a second document starts here; a job file holds one
  |
7 | name: a
  | ^
  = help: split the file at the line `---` or `...`, one job a file
"#,
    );
}

#[test]
fn aliases() {
    problems(
        &least_and("name: *a\n"),
        r#"
job.yml:6:7: this alias (`*name`) refers to an anchor (`&name`) that is not there
  |
6 | name: *a
  |       ^
  = help: if it is meant as text, put it in quotes
"#,
    );
    problems(
        &least_and("tags: &a [*a]\n"),
        r#"
job.yml:6:11: this alias stands inside of what it refers to
  |
6 | tags: *** [***]
  |            ^^^
  = help: values are shown as *** as long as the file can't be read
"#,
    );
    problems(
        &least_and("<<: 3\n"),
        r#"
job.yml:6:5: what `<<` merges in must be a mapping
"#,
    );
}

#[test]
fn tags() {
    problems(
        &least_and("name: !foo x\n"),
        r#"
job.yml:6:12: a tag (`!name`) has no meaning in a job file
  |
6 | name: !foo x
  |            ^
  = help: if it is meant as text, put it in quotes
"#,
    );
    problems(
        &least_and("maxTurns: !!int x\n"),
        r#"
job.yml:6:17: this value does not fit the tag before it
  |
6 | maxTurns: ***
  |           ^^^
  = help: values are shown as *** as long as the file can't be read
"#,
    );
}

#[test]
fn a_key_that_is_a_list() {
    problems(
        &least_and("? [a]\n: b\n"),
        r#"
job.yml:6:3: a key must be text, not a list or a mapping
  |
6 | ? [***]
  |   ^
  = help: text that starts with `{` or `[`, such as `{{ name }}`, needs quotes around all of it
"#,
    );
}

#[test]
fn what_is_not_yaml() {
    problems(
        &least_and("name: a: b\n"),
        r#"
job.yml:6:8: this is not valid YAML: mapping values are not allowed in this context
  |
6 | name: a: b
  |        ^
  = help: text with `: ` in it needs quotes; otherwise check that this line is indented like its neighbours
"#,
    );
    problems(
        &least_and("name: \"a\n"),
        r#"
job.yml:7:1: this is not valid YAML: invalid indentation in multiline quoted scalar
  |
7 |
  | ^
  = help: is a quotation mark missing in the line above?
"#,
    );
    problems(
        &least_and("name: [a\n"),
        r#"
job.yml:6:7: this is not valid YAML: unclosed bracket '['
  |
6 | name: [***
  |       ^
  = help: is a closing bracket missing above?
"#,
    );
    problems(
        &least_and("name: @a\n"),
        r#"
job.yml:6:7: this is not valid YAML: unexpected character: `@'
  |
6 | name: @a
  |       ^
  = help: text that starts with this character needs quotes
"#,
    );
    problems(
        &least_and("name: 'it's'\n"),
        r#"
job.yml:6:11: this is not valid YAML: invalid trailing content after single-quoted scalar
  |
6 | name: 'it's'
  |           ^
  = help: write `''` for an apostrophe within single quotes, or use double quotes
"#,
    );
    problems(
        &least_and("name: \"\\q\"\n"),
        r#"
job.yml:6:7: this is not valid YAML: while parsing a quoted scalar, found unknown escape character
  |
6 | name: "\q"
  |       ^
  = help: write `\\` for a backslash, or use single quotes
"#,
    );
    problems(
        &least_and("  name: a\n"),
        r#"
job.yml:6:3: this is not valid YAML: while parsing a block mapping, did not find expected key
  |
6 |   name: a
  |   ^
  = help: check that this line and those after it are indented like their neighbours
"#,
    );
    problems(
        &least_and("tags: - a\n"),
        r#"
job.yml:6:7: this is not valid YAML: block sequence entries are not allowed in this context
  |
6 | tags: - ***
  |       ^
  = help: start the list on a line of its own
"#,
    );
    problems(
        &least_and("name: \u{1b}[2J\n"),
        r#"
job.yml:6:7: this is not valid YAML: unexpected character: `\u{1b}'
  |
6 | name: \u{1b}[***
  |       ^^^^^^
  = help: a control character can't stand here; within double quotes it has an escape, such as `\e`
"#,
    );
}

#[test]
fn line_breaks_marks_and_wide_characters_leave_the_caret_in_place() {
    problems(
        &"name: 日本 # ü\nx日: [ä, {}]\n".replace('\n', "\r\n"),
        r#"
job.yml:1:1: missing keys `target`, `tasks` and `facts` in the job file
  |
1 | name: 日本 # ü
  | ^^^^
  = help: write `facts: []` if there are none

job.yml:2:1: unknown key `x日`
  |
2 | x日: [ä, {}]
  | ^^^
  = expected one of: name, description, tags, evaluator, scorer, target, reference, aspirationalAverage, timing, metrics, weights, maxTurns, greetings, seeds, setups, tasks, facts, expected, context, assertions, cases, conditions, repeat, graph, isolation, gate, limits
"#,
    );
    problems(
        "\u{feff}näme: 1\n",
        r#"
job.yml:1:1: unknown key `näme`
  |
1 | näme: 1
  | ^^^^
  = expected one of: name, description, tags, evaluator, scorer, target, reference, aspirationalAverage, timing, metrics, weights, maxTurns, greetings, seeds, setups, tasks, facts, expected, context, assertions, cases, conditions, repeat, graph, isolation, gate, limits
  = help: did you mean `name`?

job.yml:1:1: missing keys `target`, `tasks` and `facts` in the job file
  |
1 | näme: 1
  | ^^^^
  = help: write `facts: []` if there are none
"#,
    );
}

#[test]
fn nothing_in_a_file_steers_the_terminal() {
    problems(
        &least_and("na\u{202e}me: \"\\e[2J\"\n"),
        r#"
job.yml:6:1: unknown key `na\u{202e}me`
  |
6 | na\u{202e}me: "\e[2J"
  | ^^^^^^^^^^^^
  = expected one of: name, description, tags, evaluator, scorer, target, reference, aspirationalAverage, timing, metrics, weights, maxTurns, greetings, seeds, setups, tasks, facts, expected, context, assertions, cases, conditions, repeat, graph, isolation, gate, limits
  = help: did you mean `name`?
"#,
    );
    problems(
        &least_and("\"na\\e[2Jme\": 1\n"),
        r#"
job.yml:6:1: unknown key `na\u{1b}[2Jme`
  |
6 | "na\e[2Jme": 1
  | ^^^^^^^^^^^
  = expected one of: name, description, tags, evaluator, scorer, target, reference, aspirationalAverage, timing, metrics, weights, maxTurns, greetings, seeds, setups, tasks, facts, expected, context, assertions, cases, conditions, repeat, graph, isolation, gate, limits
"#,
    );
}
