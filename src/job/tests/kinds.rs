use super::*;
#[test]
fn two_kinds_of_key_in_one_assertion() {
    println!(
        "@@@kinds.two_kinds_of_key_in_one_assertion.0\n{}@@@end",
        rendered(&least_and("assertions:\n  - cypher: RETURN 1\n    expression: \"true\"\n"))
    );
    println!(
        "@@@kinds.two_kinds_of_key_in_one_assertion.1\n{}@@@end",
        rendered(&least_and(
            "assertions:\n  - expression: \"true\"\n    weight: 2\n    cypher: RETURN 1\n    expected: 1\n"
        ))
    );
}
#[test]
fn no_kind_of_key() {
    println!(
        "@@@kinds.no_kind_of_key.0\n{}@@@end",
        rendered(&least_and("assertions:\n  - weight: 1\n  - expected: 1\n  - {}\n"))
    );
}
#[test]
fn a_misspelt_kind_is_one_problem() {
    println!(
        "@@@kinds.a_misspelt_kind_is_one_problem.0\n{}@@@end",
        rendered(&least_and("assertions:\n  - cyper: RETURN 1\n    expected: 1\n"))
    );
}
#[test]
fn cypher_and_expected_need_each_other() {
    println!(
        "@@@kinds.cypher_and_expected_need_each_other.0\n{}@@@end",
        rendered(&least_and("assertions:\n  - cypher: RETURN 1\n"))
    );
    println!(
        "@@@kinds.cypher_and_expected_need_each_other.1\n{}@@@end",
        rendered(&least_and("assertions:\n  - expression: \"true\"\n    expected: 1\n"))
    );
}
#[test]
fn seeds() {
    println!(
        "@@@kinds.seeds.0\n{}@@@end",
        rendered(&least_and(
            "seeds:\n  - text: a\n    conversation: [{content: b}]\n  - conversation:\n      - {role: usr, content: hi}\n  - conversation: hi\n  - text:\n"
        ))
    );
}
#[test]
fn two_backends() {
    println!("@@@kinds.two_backends.0\n{}@@@end", rendered(&least_and("graph:\n  embedded:\n  neo4j:\n    uri: 7\n")));
}
#[test]
fn a_model_and_a_script() {
    println!(
        "@@@kinds.a_model_and_a_script.0\n{}@@@end",
        rendered(&least_and("evaluator:\n  script: [Hello]\n  model: scripted\n"))
    );
}
#[test]
fn two_transports() {
    println!(
        "@@@kinds.two_transports.0\n{}@@@end",
        rendered(&LEAST.replace("chatbot: c", "chatbot: c, demo: , embabel: {}"))
    );
}
