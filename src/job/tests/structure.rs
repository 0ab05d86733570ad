use super::*;
#[test]
fn an_unknown_key() {
    println!("@@@structure.an_unknown_key.0\n{}@@@end", rendered(&LEAST.replace("Criteria", "Critera")));
    println!("@@@structure.an_unknown_key.1\n{}@@@end", rendered(&LEAST.replace("user: u", "usr: u")));
    println!(
        "@@@structure.an_unknown_key.2\n{}@@@end",
        rendered(&LEAST.replace("chatbot: c", "chatbot: c, colour: red"))
    );
}
#[test]
fn a_key_that_belongs_elsewhere() {
    println!("@@@structure.a_key_that_belongs_elsewhere.0\n{}@@@end", rendered(&least_and("model: gpt\n")));
    println!(
        "@@@structure.a_key_that_belongs_elsewhere.1\n{}@@@end",
        rendered(&least_and("evaluator:\n  maxTurns: 3\n"))
    );
}
#[test]
fn missing_keys() {
    println!("@@@structure.missing_keys.0\n{}@@@end", rendered("{}\n"));
    println!("@@@structure.missing_keys.1\n{}@@@end", rendered(&LEAST.replace("facts: []\n", "")));
    println!("@@@structure.missing_keys.2\n{}@@@end", rendered(&LEAST.replace("user: u, ", "")));
    println!("@@@structure.missing_keys.3\n{}@@@end", rendered(&LEAST.replace("- task: t\n    ", "- ")));
}
#[test]
fn a_wrong_type() {
    println!("@@@structure.a_wrong_type.0\n{}@@@end", rendered(&least_and("name: 42\n")));
    println!("@@@structure.a_wrong_type.1\n{}@@@end", rendered(&least_and("name: true\n")));
    println!("@@@structure.a_wrong_type.2\n{}@@@end", rendered(&least_and("name: [a]\n")));
    println!("@@@structure.a_wrong_type.3\n{}@@@end", rendered(&least_and("name: {a: b}\n")));
    println!("@@@structure.a_wrong_type.4\n{}@@@end", rendered(&least_and("maxTurns: 3.0\n")));
    println!("@@@structure.a_wrong_type.5\n{}@@@end", rendered(&least_and("maxTurns: \"20\"\n")));
    println!("@@@structure.a_wrong_type.6\n{}@@@end", rendered(&least_and("tags: a\n")));
    println!("@@@structure.a_wrong_type.7\n{}@@@end", rendered(&least_and("assertions:\n")));
    println!("@@@structure.a_wrong_type.8\n{}@@@end", rendered(&least_and("evaluator:\n")));
    println!("@@@structure.a_wrong_type.9\n{}@@@end", rendered(&least_and("setups:\n  - MATCH (n) DELETE n\n")));
}
#[test]
fn facts_that_are_no_strings() {
    println!(
        "@@@structure.facts_that_are_no_strings.0\n{}@@@end",
        rendered(&LEAST.replace("[]", "\n  - The user: is here\n  - 42\n  - ~\n  - ''"))
    );
    println!("@@@structure.facts_that_are_no_strings.1\n{}@@@end", rendered(&LEAST.replace("[]", "")));
}
#[test]
fn out_of_range() {
    println!("@@@structure.out_of_range.0\n{}@@@end", rendered(&least_and("maxTurns: 1\n")));
    println!("@@@structure.out_of_range.1\n{}@@@end", rendered(&least_and("aspirationalAverage: 0\n")));
    println!("@@@structure.out_of_range.2\n{}@@@end", rendered(&least_and("evaluator: {temperature: 2.1}\n")));
    println!("@@@structure.out_of_range.3\n{}@@@end", rendered(&least_and("scorer: {temperature: -1}\n")));
    println!("@@@structure.out_of_range.4\n{}@@@end", rendered(&least_and("gate: {minScore: 1.5}\n")));
    println!("@@@structure.out_of_range.5\n{}@@@end", rendered(&least_and("limits: {turn: 0, trial: 1e12}\n")));
}
#[test]
fn numbers_that_json_lacks() {
    println!(
        "@@@structure.numbers_that_json_lacks.0\n{}@@@end",
        rendered(&least_and("evaluator: {temperature: .nan}\n"))
    );
    println!(
        "@@@structure.numbers_that_json_lacks.1\n{}@@@end",
        rendered(&least_and("assertions:\n  - cypher: x\n    expected: [1, .inf, {a: 18446744073709551615}]\n"))
    );
}
#[test]
fn empty_lists() {
    println!(
        "@@@structure.empty_lists.0\n{}@@@end",
        rendered("target: {user: u, chatbot: c}\ntasks: []\nfacts: []\ngreetings: []\n")
    );
}
#[test]
fn blank_texts() {
    println!(
        "@@@structure.blank_texts.0\n{}@@@end",
        rendered(
            "target: {user: ' ', chatbot: ''}\ntasks:\n  - task: |\n\n    acceptanceCriteria: \"\\n\"\nfacts: [' ']\nsetups: [{cypher: ' '}]\nevaluator: {signoff: ''}\n"
        )
    );
}
#[test]
fn a_word_that_is_not_on_the_list() {
    println!(
        "@@@structure.a_word_that_is_not_on_the_list.0\n{}@@@end",
        rendered(&LEAST.replace("task: t", "task: t\n    type: tsk"))
    );
    println!(
        "@@@structure.a_word_that_is_not_on_the_list.1\n{}@@@end",
        rendered(&least_and("assertions:\n  - expression: x\n    when: 3\n"))
    );
}
#[test]
fn what_stands_behind_an_alias_is_told_once_where_it_is_written() {
    println!(
        "@@@structure.what_stands_behind_an_alias_is_told_once_where_it_is_written.0\n{}@@@end",
        rendered(&least_and("evaluator: {temperature: &t 7}\nscorer: {temperature: *t}\n"))
    );
}
