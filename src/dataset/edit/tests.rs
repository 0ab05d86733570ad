use super::*;

const JOB: &str = "# about it all\ntarget: {user: u, chatbot: c, demo: {}}\n\ncases:\n  # the first\n  - id: a # yes\n    script:\n      - Hello\n      # deep\n\n  # the second\n  -\n    id: b\n    script: [\"x\n      y\"]\n    description: |\n      - no: item\n\n      # no comment\n  # the end\n  - {id: c, script: [z]}\nmetrics: [rouge] # last\n";

#[test]
fn a_case_of_a_job_is_taken_out_and_all_else_stays() {
    let file = CaseFile::of_job("f.yml", JOB).unwrap();
    assert_eq!(file.len(), 3);
    assert_eq!(file.written(0), "id: a # yes\nscript:\n  - Hello\n  # deep\n");
    assert_eq!(file.written(2), "{id: c, script: [z]}\n");
    let first = "  - id: a # yes\n    script:\n      - Hello\n      # deep\n";
    assert_eq!(file.without(0).unwrap(), JOB.replace(first, ""));
    let second = &JOB[JOB.find("  -\n    id: b").unwrap()..JOB.find("  # the end").unwrap()];
    assert_eq!(file.without(1).unwrap(), JOB.replace(second, ""));
    assert_eq!(file.without(2).unwrap(), JOB.replace("  - {id: c, script: [z]}\n", ""));
}

#[test]
fn a_case_is_put_behind_the_last_one_of_a_job() {
    let file = CaseFile::of_job("f.yml", JOB).unwrap();
    let with = file.with("id: d\nscript:\n- Hi\n");
    let expected = "  - {id: c, script: [z]}\n  - id: d\n    script:\n    - Hi\n";
    assert_eq!(with, JOB.replace("  - {id: c, script: [z]}\n", expected));
    assert_eq!(CaseFile::of_job("f.yml", &with).unwrap().written(3), "id: d\nscript:\n- Hi\n");
    assert_eq!(CaseFile::of_job("f.yml", &with).unwrap().without(3).unwrap(), JOB);
    let bare = "target: {}\ncases:\n- id: a\n  script: [b]";
    let with = CaseFile::of_job("f.yml", bare).unwrap().with("id: d\n");
    assert_eq!(with, format!("{bare}\n- id: d\n"));
    let windows = bare.replace('\n', "\r\n") + "\r\n";
    assert_eq!(CaseFile::of_job("f.yml", &windows).unwrap().with("id: d\n"), format!("{windows}- id: d\r\n"));
}

#[test]
fn lines_that_are_added_end_as_those_of_the_file_do() {
    let text = "{\r\n  \"eval_set_id\": \"s\",\r\n  \"eval_cases\": [\r\n    {\"eval_id\": \"a\"}\r\n  ]\r\n}\r\n";
    let with = CaseFile::of_data("f.json", text).unwrap().with("{\n  \"eval_id\": \"b\"\n}");
    assert_eq!(with.matches('\n').count(), with.matches("\r\n").count(), "{with:?}");
    assert!(with.contains("\r\n    {\r\n      \"eval_id\": \"b\"\r\n    }\r\n"), "{with:?}");
}

#[test]
fn quotes_and_brackets_may_go_on_in_lines_that_are_indented_by_less() {
    let text = "target: {}\ncases:\n  - id: a\n    script: [\"x\n  - {y\n  z\", {\n  b: c}]\n  - id: b\n";
    let file = CaseFile::of_job("f.yml", text).unwrap();
    assert_eq!(file.without(0).unwrap(), "target: {}\ncases:\n  - id: b\n");
    assert_eq!(file.without(1).unwrap(), text.replace("  - id: b\n", ""));
    let more = file.with("id: c\n");
    assert_eq!(CaseFile::of_job("f.yml", &more).unwrap().written(0), file.written(0));
}

#[test]
fn a_job_whose_cases_are_not_lines_is_refused() {
    for (text, expected) in [
        ("target: {}\ntasks: []\n", "it has no `cases`"),
        ("cases: [{id: a}, {id: b}]\n", "stand in brackets"),
        ("x: &c\n- id: a\ncases: *c\n", ""),
        ("cases:\n- id: a\n", ""),
    ] {
        match CaseFile::of_job("f.yml", text) {
            Err(problems) => assert!(problems.list[0].message.contains(expected), "{text}: {problems:?}"),
            Ok(file) => assert!(file.len() == 1 && file.without(0).is_err() || text.contains('*'), "{text}"),
        }
    }
}

const SET: &str = "{\n  // mine\n  \"eval_set_id\": \"s\",\n  \"eval_cases\": [\n    {\"eval_id\": \"a\", \"conversation\": []}, // one\n    {\n      \"eval_id\": \"b\",\n      \"conversation\": []\n    }\n  ],\n  \"x\": 1.50\n}\n";

#[test]
fn a_case_of_an_eval_set_is_taken_out_or_put_in_and_all_else_stays() {
    let file = CaseFile::of_data("f.json", SET).unwrap();
    assert_eq!((file.len(), file.is_json()), (2, true));
    assert_eq!(file.written(1), "{\n  \"eval_id\": \"b\",\n  \"conversation\": []\n}");
    let second = ",\n    {\n      \"eval_id\": \"b\",\n      \"conversation\": []\n    }";
    let without = file.without(1).unwrap();
    assert_eq!(without, SET.replace(", // one", "").replace(&second[1..], ""));
    let first = "{\"eval_id\": \"a\", \"conversation\": []}, // one\n    ";
    assert_eq!(file.without(0).unwrap(), SET.replace(first, ""));
    let with = file.with("{\n  \"eval_id\": \"ć\"\n}");
    let last = "    }\n  ],";
    assert_eq!(with, SET.replace(last, "    },\n    {\n      \"eval_id\": \"ć\"\n    }\n  ],"));
    assert_eq!(CaseFile::of_data("f.json", &with).unwrap().without(2).unwrap(), SET);
    let flat = "\u{feff}{\"eval_set_id\": \"s\", \"eval_cases\": [{\"eval_id\": \"a\"}]}";
    let with = CaseFile::of_data("f.json", flat).unwrap().with("{\n \"eval_id\": \"b\"\n}");
    assert_eq!(with, flat.replace("}]", "}, {\"eval_id\":\"b\"}]"));
    let none = CaseFile::of_data("f.json", flat).unwrap().without(0).unwrap();
    assert_eq!(none, flat.replace("{\"eval_id\": \"a\"}", ""));
    assert!(CaseFile::of_data("f.json", &none).unwrap().is_empty());
    let again = CaseFile::of_data("f.json", &none).unwrap().with("{\"eval_id\": \"a\"}");
    assert_eq!(again, flat);
}

#[test]
fn the_only_case_goes_with_the_comma_behind_it() {
    for (behind, left) in
        [("", ""), (", ", " "), (" // a, b\n # c\n, /* d */", " // a, b\n # c\n /* d */"), (" /* , */", " /* , */")]
    {
        let text = format!("{{\"eval_set_id\": \"s\", \"eval_cases\": [{{\"eval_id\": \"a\"}}{behind}]}}");
        let none = CaseFile::of_data("f.json", &text).unwrap().without(0).unwrap();
        assert_eq!(none, format!("{{\"eval_set_id\": \"s\", \"eval_cases\": [{left}]}}"));
        assert!(CaseFile::of_data("f.json", &none).unwrap().is_empty(), "{none}");
    }
}

#[test]
fn a_file_that_is_a_single_case_is_refused() {
    let problems =
        CaseFile::of_data("f.json", r#"{"story": "s", "agent": "a", "goals": {}, "goal_details": []}"#).unwrap_err();
    assert!(problems.list[0].message.contains("it is not a list of cases"), "{problems:?}");
}
