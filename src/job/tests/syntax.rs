use super::*;
#[test]
fn an_empty_file() {
    println!("@@@syntax.an_empty_file.0\n{}@@@end", rendered(""));
    println!("@@@syntax.an_empty_file.1\n{}@@@end", rendered("# nothing\n"));
}
#[test]
fn something_else_than_a_mapping() {
    println!("@@@syntax.something_else_than_a_mapping.0\n{}@@@end", rendered("just text\n"));
    println!("@@@syntax.something_else_than_a_mapping.1\n{}@@@end", rendered("- a\n"));
    println!("@@@syntax.something_else_than_a_mapping.2\n{}@@@end", rendered("null\n"));
}
#[test]
fn a_tab_as_indentation() {
    println!("@@@syntax.a_tab_as_indentation.0\n{}@@@end", rendered("target:\n\tuser: u\n"));
    println!("@@@syntax.a_tab_as_indentation.1\n{}@@@end", rendered("target:\n  user: u\n\tchatbot: c\n"));
}
#[test]
fn a_key_twice_names_both_lines_and_hides_nothing() {
    println!(
        "@@@syntax.a_key_twice_names_both_lines_and_hides_nothing.0\n{}@@@end",
        rendered(&least_and("maxTurns: 1\nmaxTurns: 3\nname: 42\n"))
    );
}
#[test]
fn the_first_of_two_keys_is_the_one_in_the_same_mapping() {
    println!(
        "@@@syntax.the_first_of_two_keys_is_the_one_in_the_same_mapping.0\n{}@@@end",
        rendered(&LEAST.replace("facts", "  - task: x\n    acceptanceCriteria: y\n    task: z\nfacts"))
    );
    println!(
        "@@@syntax.the_first_of_two_keys_is_the_one_in_the_same_mapping.1\n{}@@@end",
        rendered(&LEAST.replace("user: u", "user: u, user: v"))
    );
}
#[test]
fn several_documents() {
    println!("@@@syntax.several_documents.0\n{}@@@end", rendered(&least_and("---\nname: a\n")));
}
#[test]
fn aliases() {
    println!("@@@syntax.aliases.0\n{}@@@end", rendered(&least_and("name: *a\n")));
    println!("@@@syntax.aliases.1\n{}@@@end", rendered(&least_and("tags: &a [*a]\n")));
    println!("@@@syntax.aliases.2\n{}@@@end", rendered(&least_and("<<: 3\n")));
}
#[test]
fn tags() {
    println!("@@@syntax.tags.0\n{}@@@end", rendered(&least_and("name: !foo x\n")));
    println!("@@@syntax.tags.1\n{}@@@end", rendered(&least_and("maxTurns: !!int x\n")));
}
#[test]
fn a_key_that_is_a_list() {
    println!("@@@syntax.a_key_that_is_a_list.0\n{}@@@end", rendered(&least_and("? [a]\n: b\n")));
}
#[test]
fn what_is_not_yaml() {
    println!("@@@syntax.what_is_not_yaml.0\n{}@@@end", rendered(&least_and("name: a: b\n")));
    println!("@@@syntax.what_is_not_yaml.1\n{}@@@end", rendered(&least_and("name: \"a\n")));
    println!("@@@syntax.what_is_not_yaml.2\n{}@@@end", rendered(&least_and("name: [a\n")));
    println!("@@@syntax.what_is_not_yaml.3\n{}@@@end", rendered(&least_and("name: @a\n")));
    println!("@@@syntax.what_is_not_yaml.4\n{}@@@end", rendered(&least_and("name: 'it's'\n")));
    println!("@@@syntax.what_is_not_yaml.5\n{}@@@end", rendered(&least_and("name: \"\\q\"\n")));
    println!("@@@syntax.what_is_not_yaml.6\n{}@@@end", rendered(&least_and("  name: a\n")));
    println!("@@@syntax.what_is_not_yaml.7\n{}@@@end", rendered(&least_and("tags: - a\n")));
    println!("@@@syntax.what_is_not_yaml.8\n{}@@@end", rendered(&least_and("name: \u{1b}[2J\n")));
}
#[test]
fn line_breaks_marks_and_wide_characters_leave_the_caret_in_place() {
    println!(
        "@@@syntax.line_breaks_marks_and_wide_characters_leave_the_caret_in_place.0\n{}@@@end",
        rendered(&"name: 日本 # ü\nx日: [ä, {}]\n".replace('\n', "\r\n"))
    );
    println!(
        "@@@syntax.line_breaks_marks_and_wide_characters_leave_the_caret_in_place.1\n{}@@@end",
        rendered("\u{feff}näme: 1\n")
    );
}
#[test]
fn nothing_in_a_file_steers_the_terminal() {
    println!(
        "@@@syntax.nothing_in_a_file_steers_the_terminal.0\n{}@@@end",
        rendered(&least_and("na\u{202e}me: \"\\e[2J\"\n"))
    );
    println!(
        "@@@syntax.nothing_in_a_file_steers_the_terminal.1\n{}@@@end",
        rendered(&least_and("\"na\\e[2Jme\": 1\n"))
    );
}
