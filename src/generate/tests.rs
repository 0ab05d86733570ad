use serde_json::{Value, json};

use super::*;
use crate::job::Problems;
use crate::tool_list::read_tools;

const TOOLS: &str = r#"{"tools": [
    {"name": "book_train", "description": "Books a train for the user. Slow.", "inputSchema": {"type": "object", "required": ["to", "day", "class"],
        "properties": {"to": {"type": "string", "description": "The city to go to"}, "day": {"type": "string", "format": "date"},
            "class": {"enum": ["first", "second"]}, "seats": {"type": "integer", "minimum": 3, "maximum": 4},
            "note": {"type": "string", "description": "Anything that is to be written on the ticket that the user gets, in any language"}}}},
    {"name": "listBookings"}]}"#;

fn of_tools(personas: &[&str], most: usize) -> Vec<Draft> {
    let personas: Vec<String> = personas.iter().map(|name| (*name).to_owned()).collect();
    drafts(&goals_of_tools(&read_tools(TOOLS).unwrap()), &personas, most)
}

fn document(drafts: &[Draft]) -> Value {
    job_document("train", &json!({"user": "u", "chatbot": "c"}), drafts, true)
}

#[test]
fn a_tool_is_a_goal_with_facts_for_its_arguments_and_an_expected_call() {
    let document = document(&of_tools(&[], 2));
    let first = &document["cases"][0];
    assert_eq!(first["tasks"][0]["task"], "Get the assistant to book a train");
    assert_eq!(
        first["facts"],
        json!(["The class is first", "The day is 2027-03-15", "The city to go to is Oslo"])
            .as_array()
            .map(sorted(first))
            .unwrap()
    );
    let call = &first["expected"]["calls"][0];
    assert_eq!(call["tool"], "book_train");
    assert_eq!(call["args"], json!({"to": "Oslo", "day": "2027-03-15", "class": "first"}));
    assert_eq!(call["match"], json!({"to": "fuzzy", "day": "date"}));
    assert_eq!(first["conditions"], json!(["withFacts"]));
    let second = &document["cases"][1];
    assert_eq!(second["tasks"][0]["task"], "Get the assistant to list bookings");
    assert_eq!((&second["facts"], &second["expected"]["calls"][0]["args"]), (&Value::Null, &json!({})));
}

/// The facts in the order of the case: that of the schema's keys is not what is tested.
fn sorted(case: &Value) -> impl Fn(&Vec<Value>) -> Value {
    let there = case["facts"].as_array().cloned().unwrap_or_default();
    move |expected| {
        let mut expected = expected.clone();
        expected.sort_by_key(|fact| there.iter().position(|it| it == fact));
        Value::Array(expected)
    }
}

#[test]
fn what_the_agent_needs_is_also_not_known_and_optional_arguments_are_given_at_times() {
    let all = of_tools(&[], 100);
    let document = document(&all);
    let cases = document["cases"].as_array().unwrap();
    let unknown =
        cases.iter().find(|case| case["conditions"] == json!(["withoutFacts"]) && !case["facts"].is_null()).unwrap();
    assert_eq!(unknown["expected"], Value::Null);
    assert!(unknown["tasks"][0]["acceptanceCriteria"].as_str().unwrap().contains("city to go to"), "{unknown:#}");
    let whole = cases.iter().find(|case| !case["expected"]["calls"][0]["args"]["seats"].is_null()).unwrap();
    let seats = whole["expected"]["calls"][0]["args"]["seats"].as_i64().unwrap();
    assert!((3..=4).contains(&seats), "{seats}");
    // Nothing says what it could be: it stands there to be replaced, and is not compared.
    assert_eq!(whole["expected"]["calls"][0]["match"]["note"], "ignore");
    assert!(whole["facts"].to_string().contains("another example note"), "{whole:#}");
}

#[test]
fn cases_differ_have_ids_that_stay_and_take_turns() {
    let (once, again) = (of_tools(&["terse", "hostile"], 12), of_tools(&["terse", "hostile"], 12));
    assert_eq!(once, again);
    assert!(once.len() >= 8, "{}", once.len());
    let mut ids: Vec<&str> = once.iter().map(|draft| draft.id.as_str()).collect();
    let begins: Vec<&str> = ids.iter().take(2).map(|id| id.rsplit_once('-').unwrap().0).collect();
    assert_eq!(begins, ["book_train", "listBookings"]);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), once.len());
    let longer = of_tools(&["terse", "hostile"], 4);
    assert_eq!(longer[..], once[..4]);
    let document = document(&once);
    let personas: Vec<&Value> =
        document["cases"].as_array().unwrap().iter().take(4).map(|case| &case["persona"]).collect();
    assert_eq!(personas, ["terse", "hostile", "hostile", "terse"]);
}

#[test]
fn a_tool_without_arguments_is_one_case_for_each_kind_of_user() {
    let goals = goals_of_tools(&read_tools(r#"["ping"]"#).unwrap());
    assert_eq!(drafts(&goals, &[], 50).len(), 1);
    assert_eq!(drafts(&goals, &["terse".to_owned(), "novice".to_owned()], 50).len(), 2);
}

fn stories(text: &str) -> Result<Stories, Problems> {
    let tools = read_tools(TOOLS).unwrap();
    let problem = |name: &str| (name != "terse").then(|| format!("there is no persona `{name}`"));
    read_stories("s.csv", text, &StoryCheck { tools: &tools, persona_problem: &problem })
}

#[test]
fn a_story_is_a_goal_with_its_outcome_facts_tools_and_persona() {
    let read = stories(
        "id,story,outcome,facts,tools,persona,agent\nrome,\"You want to go to Rome, soon\",A train is booked,The day is Friday; The class is first,book_train,terse,desk\n",
    )
    .unwrap();
    assert_eq!(read.agents, ["desk"]);
    let document = document(&drafts(&read.goals, &["hostile".to_owned(), "novice".to_owned()], 10));
    let cases = document["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2, "its own persona alone, once with the facts and once without");
    assert_eq!(cases[0]["persona"], "terse");
    assert_eq!(cases[0]["facts"], json!(["The day is Friday", "The class is first"]));
    assert_eq!(
        cases[0]["tasks"],
        json!([{"task": "You want to go to Rome, soon", "acceptanceCriteria": "A train is booked"}])
    );
    assert_eq!(cases[0]["expected"], json!({"calls": [{"tool": "book_train"}]}));
    assert_eq!(cases[0]["conditions"], json!(["withFacts"]));
    // Who does not know the day is asked for it: that is no call that is missing.
    assert_eq!((&cases[1]["conditions"], &cases[1]["expected"]), (&json!(["withoutFacts"]), &Value::Null));
    assert_eq!(cases[1]["facts"], cases[0]["facts"]);
    let criteria = cases[1]["tasks"][0]["acceptanceCriteria"].as_str().unwrap();
    assert!(criteria.starts_with("A train is booked; or, as the user can't say"), "{criteria}");
    let of_watsonx = stories("story,agent\nYou want to go to Rome,desk\n").unwrap();
    assert!(of_watsonx.goals[0].situations[0].outcome.contains("the user asks for"));
}

#[test]
fn problems_of_a_table_come_with_their_place() {
    for (text, expected) in [
        ("", "1:1: there is nothing in this file"),
        ("story,outcome\n", "1:1: there are no stories below the names of the columns"),
        ("tale,outcome\na,b\n", "1:1: no column is named `story` (or `scenario`); there are: tale, outcome"),
        ("story,mood\na,b\n", "1:7: there is no column `mood`"),
        ("story,story\na,b\n", "1:7: the column `story` is there twice"),
        (
            "story,outcome\nGo to Rome,\n",
            "2:12: this story has no outcome: nobody could say whether the agent did what it should",
        ),
        (
            "story,outcome\nGo to Rome\n",
            "2:1: this story has no outcome: nobody could say whether the agent did what it should",
        ),
        ("story,outcome\n,Booked\n", "2:1: this row has no story"),
        ("story\nGo to Rome, soon\n", "2:12: this row has 2 cells, and 1 columns are named"),
        ("story,tools\nGo,book_trane\n", "2:4: the agent has no tool `book_trane`"),
        ("story,persona\nGo,nobody\n", "2:4: there is no persona `nobody`"),
    ] {
        let problems = stories(text).unwrap_err().list;
        let problems = problems.iter().map(|it| format!("{}:{}: {}", it.line, it.column, it.message));
        assert_eq!(problems.collect::<Vec<_>>().join("\n"), expected, "{text}");
    }
}

#[test]
fn an_object_that_nobody_can_say_is_left_out_or_not_compared_and_never_a_fact() {
    let tools = r#"{"tools": [{"name": "postLogin", "description": "Log in", "inputSchema": {"type": "object", "required": ["user", "device"],
        "properties": {"user": {"type": "string"}, "device": {"type": "object"}, "options": {"type": "object", "properties": {"fast": {}}},
            "tags": {"type": "array", "items": {"type": "object"}}, "city": {"type": "string"}}}}]}"#;
    let document = document(&drafts(&goals_of_tools(&read_tools(tools).unwrap()), &[], 100));
    let cases = document["cases"].as_array().unwrap();
    assert_eq!(cases[0]["tasks"][0]["task"], "Get the assistant to log in");
    assert!(cases.iter().any(|case| !case["expected"]["calls"][0]["args"]["city"].is_null()));
    for case in cases {
        assert!(!case["facts"].to_string().contains('{'), "{case:#}");
        let call = &case["expected"]["calls"][0];
        assert_eq!((&call["args"]["options"], &call["args"]["tags"]), (&Value::Null, &Value::Null), "{case:#}");
        if !call.is_null() {
            assert_eq!((&call["args"]["device"], &call["match"]["device"]), (&json!({}), &json!("ignore")));
        }
    }
}
