use super::*;

fn names(tools: &[Tool]) -> String {
    tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn tools_are_read_from_what_the_systems_write() {
    for (text, expected) in [
        (r#"["a", "b"]"#, "a b"),
        ("- a\n- name: b\n", "a b"),
        (r#"{"tools": [{"name": "a", "inputSchema": {}}]}"#, "a"),
        (r#"{"name": "a", "description": "Does it", "input_schema": {}, "binding": {}}"#, "a"),
        (r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}, {"name": "b"}]}}"#, "a b"),
        (r#"[{"type": "function", "function": {"name": "a"}}, {"type": "function", "name": "b"}]"#, "a b"),
        (
            r#"{"tools": [{"functionDeclarations": [{"name": "a"}]}, {"function_declarations": [{"name": "b"}]}]}"#,
            "a b",
        ),
        (r#"{"name": "agent", "skills": [{"id": "a", "name": "An a", "tags": []}]}"#, "a"),
        (r#"{"resources": [], "functions": [{"name": "a", "staticMethod": true}]}"#, "a"),
        (r#"["a", "a"]"#, "a"),
        (
            "openapi: 3.1.0\npaths:\n  /x/{id}:\n    parameters: []\n    get: {operationId: a}\n    post: {}\n",
            "a POST /x/{id}",
        ),
        ("import x\n\n@tool\ndef a(): ...\n\ndef b(): ...\n", "a"),
        ("def a(): ...\nasync def b(): ...\ndef _c(): ...\n", "a b"),
    ] {
        let tools = read_tools(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(names(&tools), expected, "{text}");
    }
}

#[test]
fn what_holds_no_tools_is_refused() {
    for text in ["{}", "[]", "null", "name: agent", r#"{"tools": {}}"#, r#"[{"name": " "}]"#, "def _private(): ...\n"] {
        assert_eq!(read_tools(text), Err(ToolsError::NoTools), "{text}");
    }
    for text in ["{\"tools\": [", "a: [b"] {
        let error = read_tools(text).unwrap_err();
        assert!(matches!(&error, ToolsError::Unreadable(why) if why.contains("line")), "{text}: {error}");
    }
}

#[test]
fn arguments_have_their_schemas_and_references_are_followed() {
    let mcp = r##"{"tools": [{"name": "book", "description": " Book a train ", "inputSchema": {"type": "object",
        "properties": {"to": {"$ref": "#/$defs/city"}, "own": {"$ref": "#/$defs/own"}, "lost": {"$ref": "#/no"}}, "required": ["to"],
        "$defs": {"city": {"type": "string", "examples": ["Rome"]}, "own": {"$ref": "#/$defs/own"}}}}]}"##;
    let tools = read_tools(mcp).unwrap();
    assert_eq!(tools[0].description, "Book a train");
    assert_eq!(tools[0].arguments["to"], serde_json::json!({"type": "string", "examples": ["Rome"]}));
    assert_eq!(
        (&tools[0].arguments["own"], &tools[0].arguments["lost"]),
        (&serde_json::json!({}), &serde_json::json!({}))
    );
    assert!(tools[0].required.contains("to") && tools[0].required.len() == 1);
}

#[test]
fn an_operation_takes_what_is_in_its_path_its_query_and_its_body() {
    let document = "
openapi: 3.0.0
paths:
  /trains/{id}:
    parameters: [{name: id, in: path, schema: {type: integer}}]
    post:
      operationId: book
      summary: Book a train
      parameters:
        - {name: X-Key, in: header, required: true, schema: {type: string}}
        - {$ref: '#/components/parameters/day'}
      requestBody:
        content: {application/json: {schema: {$ref: '#/components/schemas/Booking'}}}
components:
  parameters: {day: {name: day, in: query, required: true, example: 2027-03-01, schema: {type: string, format: date}}}
  schemas: {Booking: {type: object, required: [seats], properties: {seats: {type: integer}, note: {type: string}}}}
";
    let tools = read_tools(document).unwrap();
    let book = &tools[0];
    assert_eq!(book.arguments.keys().map(String::as_str).collect::<Vec<_>>().len(), 4, "{:?}", book.arguments);
    assert_eq!(book.required.iter().map(String::as_str).collect::<Vec<_>>(), ["day", "id", "seats"]);
    assert_eq!(book.arguments["day"]["format"], "date");
    assert_eq!(book.arguments["day"]["example"], "2027-03-01");
}

#[test]
fn a_function_says_what_it_takes() {
    let text = r#"
@tool(name="x", permission=ToolPermission.READ)
async def book_train(
    to: str, day: Optional[date] = None, kind: Literal["single", 'return'] = "single",
    seats: Annotated[int, "How many, at most (9)"] = 1, names: list[str] | None = None, *, tool_context: ToolContext
) -> dict:
    """Book a train
    for the user.

    Args:
        to (str): The city to go to
        day: The day of travel
    """
    def inner(): ...
"#;
    let tools = read_tools(text).unwrap();
    let book = &tools[0];
    assert_eq!((book.name.as_str(), book.description.as_str()), ("book_train", "Book a train for the user."));
    assert_eq!(book.required.iter().collect::<Vec<_>>(), ["to"]);
    let expected = serde_json::json!({
        "to": {"type": "string", "description": "The city to go to"},
        "day": {"type": "string", "format": "date", "description": "The day of travel"},
        "kind": {"enum": ["single", "return"], "default": "single"},
        "seats": {"type": "integer", "description": "How many, at most (9)", "default": 1},
        "names": {"type": "array", "items": {"type": "string"}},
    });
    assert_eq!(Value::Object(book.arguments.clone()), expected);
}
