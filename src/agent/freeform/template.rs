//! Templates: each text is filled in on its own, so that no message can break out of its place.

use std::collections::BTreeMap;

use minijinja::value::{Serde, Value as Filling};
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior};
use serde_json::Value;

use super::formatter::{percent_encoded, written};
use super::off_thread::{LIMIT, off_thread};
use crate::agent::SettingError;
use crate::clock::thread_time;
use crate::http::{Url, address_problem, header_problem};
use crate::secret::Secret;
use crate::text::{Position, nearest};

/// The names of the values that templates may use.
pub(in crate::agent) const NAMES: [&str; 9] =
    ["user", "chatbot", "sessionId", "message", "model", "history", "turn", "baseUrl", "apiKey"];

/// The names of further values, in templates that call a tool of the user.
const TOOL_NAMES: [&str; 2] = ["name", "arguments"];

/// The steps that rendering a template may take: well under a second.
const STEPS: u64 = 2_000_000;

/// Fills in an address of one of these schemes; each value is percent-encoded but `baseUrl`, which is an address itself.
///
/// # Errors
/// The problem of the key `url`.
pub(in crate::agent) fn address(
    text: &str,
    values: &Value,
    schemes: &[&str],
    example: &str,
) -> Result<Url, SettingError> {
    let mut values = values.clone();
    // Addresses are shown and logged.
    values.as_object_mut().and_then(|values| values.remove("apiKey"));
    let base = values.as_object_mut().and_then(|values| values.remove("baseUrl")).unwrap_or_default();
    let mut filling = Filling::from(Serde(&values));
    let base = base.as_str().map(str::to_owned);
    if let Some(base) = &base {
        filling = minijinja::context! { baseUrl => Filling::from_safe_string(base.clone()), ..filling };
    }
    let mut environment = environment(&filling);
    environment.set_formatter(move |out, state, value| percent_encoded(out, state, value, base.as_deref()));
    let url = rendered(&environment, "url", text, &filling)?;
    match address_problem(url.trim(), schemes) {
        None => {
            let problem = || format!("that is no address; write it like {example}");
            Url::parse(url.trim()).map_err(|_| SettingError::new("url", problem()))
        }
        Some(why) => Err(SettingError::new("url", format!("that is no address: {why}; write it like {example}"))),
    }
}

/// Fills in headers.
pub(in crate::agent) fn headers_of(
    headers: &BTreeMap<String, String>,
    values: &Value,
) -> Result<Vec<(String, Secret)>, SettingError> {
    let values = Filling::from(Serde(values));
    let plain = environment(&values);
    let fill = |(name, value): (&String, &String)| match rendered(&plain, &format!("headers.{name}"), value, &values) {
        Ok(_) if value.contains("${") => {
            let problem = format!(
                "`{name}` has a variable, and none are filled in here; {{{{ apiKey }}}} is EVAL_JOB_AGENT_API_KEY"
            );
            Err(SettingError::new("headers", problem))
        }
        Ok(value) => match header_problem(name, &value) {
            None => Ok((name.clone(), Secret::new(value))),
            Some(what) => Err(SettingError::new("headers", format!("`{name}` {what}"))),
        },
        Err(problem) => Err(problem),
    };
    headers.iter().map(fill).collect()
}

/// Fills in every text of a JSON value. The key of an error is the place of the text: `key.items[0]`.
pub(in crate::agent) fn fill_all(key: &str, body: &Value, values: &Value) -> Result<Value, SettingError> {
    let values = Filling::from(Serde(values));
    fill(&environment(&values), key, body, &values)
}

/// The same during a run: templates that can take long are rendered on a thread of their own.
pub(in crate::agent) async fn fill_all_off_thread(
    key: &'static str,
    body: &Value,
    values: &Value,
) -> Result<Value, SettingError> {
    if !can_be_slow_within(body) {
        return fill_all(key, body, values);
    }
    let (body, values) = (body.clone(), values.clone());
    off_thread(move || fill_all(key, &body, &values)).await.map_err(|error| SettingError::new(key, error))?
}

/// Whether a template does more than to insert values.
pub(super) fn can_be_slow(template: &str) -> bool {
    template.contains("{%") || template.contains("{{") && template.contains(['(', '|', '*', '~'])
}

pub(super) fn can_be_slow_within(body: &Value) -> bool {
    match body {
        Value::String(text) => can_be_slow(text),
        Value::Array(list) => list.iter().any(can_be_slow_within),
        Value::Object(map) => map.values().any(can_be_slow_within),
        _ => false,
    }
}

/// Whether a template uses one of its values, and not only has its name in a text.
pub(in crate::agent) fn mentions(template: &str, name: &str) -> bool {
    let environment = environment(&Filling::UNDEFINED);
    environment.template_from_str(template).is_ok_and(|template| template.undeclared_variables(false).contains(name))
}

/// Whether a text of a JSON value does.
pub(in crate::agent) fn mentions_within(body: &Value, name: &str) -> bool {
    match body {
        Value::String(text) => mentions(text, name),
        Value::Array(list) => list.iter().any(|item| mentions_within(item, name)),
        Value::Object(map) => map.values().any(|item| mentions_within(item, name)),
        _ => false,
    }
}

/// The environment for templates with these values. An argument that a call of a tool lacks is empty: not every call has each.
fn environment(values: &Filling) -> Environment<'static> {
    let mut environment = Environment::new();
    let undefined = if is_of_tool(values) { UndefinedBehavior::Chainable } else { UndefinedBehavior::Strict };
    environment.set_undefined_behavior(undefined);
    environment.set_fuel(Some(STEPS));
    environment.set_thread_clock(thread_time);
    environment.set_time_limit(LIMIT);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(written);
    environment
}

/// Whether these are the values for a call of a tool of the user.
fn is_of_tool(values: &Filling) -> bool {
    has(values, TOOL_NAMES[1])
}

fn has(values: &Filling, name: &str) -> bool {
    values.get_attr(name).is_ok_and(|value| !value.is_undefined())
}

/// Renders a text, in which each name must be known, whatever is undefined within the values of a call.
fn rendered(environment: &Environment<'_>, key: &str, text: &str, values: &Filling) -> Result<String, SettingError> {
    if is_of_tool(values)
        && let Ok(template) = environment.template_from_str(text)
    {
        let names = template.undeclared_variables(false).into_iter().filter(|name| !has(values, name));
        let first = names.map(|name| (text.find(&name).unwrap_or_default(), name)).min();
        if let Some((at, name)) = first {
            return Err(SettingError::within(key, place(text, at), not_known(Some(&name), values)));
        }
    }
    environment.render_str(text, values.clone()).map_err(|error| unfilled(key, &error, text, values))
}

fn fill(environment: &Environment<'_>, key: &str, body: &Value, values: &Filling) -> Result<Value, SettingError> {
    Ok(match body {
        Value::String(text) => fill_text(environment, key, text, values)?,
        Value::Array(list) => {
            let items = list.iter().enumerate();
            let filled = items.map(|(index, item)| fill(environment, &format!("{key}[{index}]"), item, values));
            filled.collect::<Result<Vec<_>, _>>()?.into()
        }
        Value::Object(map) => {
            let filled = map
                .iter()
                .map(|(name, value)| Ok((name.clone(), fill(environment, &format!("{key}.{name}"), value, values)?)));
            Value::Object(filled.collect::<Result<_, SettingError>>()?)
        }
        other => other.clone(),
    })
}

fn fill_text(environment: &Environment<'_>, key: &str, text: &str, values: &Filling) -> Result<Value, SettingError> {
    // As a template first: only its errors have a place.
    let rendered = rendered(environment, key, text, values)?;
    let Some(name) = lone(text) else { return Ok(rendered.into()) };
    let value = environment.compile_expression(name).and_then(|expression| expression.eval(values.clone()));
    let value = value.map_err(|error| unfilled(key, &error, text, values))?;
    Ok(serde_json::to_value(value).unwrap_or_default())
}

/// The expression of a text that consists of nothing else.
fn lone(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{") && !inner.contains("}}") && !inner.contains("{%")).then_some(inner)
}

/// The place of an error in a template and its kind. minijinja's own message could quote the template, which may hold a key.
fn unfilled(key: &str, error: &Error, template: &str, values: &Filling) -> SettingError {
    use minijinja::ErrorKind::{OutOfFuel, SyntaxError, UndefinedError, UnknownFilter, UnknownFunction, UnknownTest};
    let what = match error.kind() {
        UndefinedError => {
            let name = error.range().and_then(|range| template.get(range.start..)).map(|rest| {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                &rest[..end]
            });
            not_known(name, values)
        }
        SyntaxError => "this is no template: look at its {{ and }}".to_owned(),
        UnknownFilter | UnknownFunction | UnknownTest => "it uses something that templates do not have".to_owned(),
        OutOfFuel => format!(
            "it takes more than {STEPS} steps or {LIMIT:?}, or makes too much text; is there a loop within a loop over a long range, or a text that grows by itself?"
        ),
        kind => format!("it can't be filled in ({kind})"),
    };
    SettingError::within(key, position(error, template), what)
}

/// The problem with a name that stands for no value.
fn not_known(name: Option<&str>, values: &Filling) -> String {
    let names: Vec<&str> = NAMES.into_iter().chain(TOOL_NAMES.into_iter().filter(|name| has(values, name))).collect();
    let near = name.and_then(|name| nearest(name, names.iter().copied()));
    let near = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
    format!("a name in it is not known; {near}templates may name {}", names.join(", "))
}

/// The line and the column of a place in a text.
fn place(text: &str, at: usize) -> Option<Position> {
    let before = text.get(..at)?;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Some(Position { line: before.matches('\n').count() + 1, column })
}

fn position(error: &Error, template: &str) -> Option<Position> {
    let line = error.line()?;
    let start = error.range().map(|range| range.start).and_then(|start| template.get(..start));
    // Without its place in the line, the line's first braces are the nearest.
    let before = start.map(|before| before.rsplit('\n').next().unwrap_or_default());
    let braces = || template.lines().nth(line - 1).and_then(|line| line.split("{{").next());
    Some(Position { line, column: before.or_else(braces)?.chars().count() + 1 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::agent::freeform::{FilledRequest, MethodConfig, RequestTemplate};

    fn values(message: &str) -> Value {
        json!({"user": "ann", "chatbot": "c", "sessionId": "a/b ?ä", "message": message, "model": "m",
               "history": [{"role": "user", "content": "Hi"}], "turn": 2, "baseUrl": "http://127.0.0.1:9"})
    }

    fn filled(url: &str, body: Value) -> Result<FilledRequest, SettingError> {
        let headers = BTreeMap::from([("X-User".to_owned(), "is {{ user }}".to_owned())]);
        RequestTemplate { method: MethodConfig::Post, url, headers: &headers, body: &body, is_of_tool: false }
            .fill(&values("Say \"hi\"\n{{ x }}"))
    }

    #[test]
    fn each_part_is_filled_in_by_its_own_rules() {
        let body = json!({"say": "{{ message }}", "all": "{{ history }}", "turn": "{{ turn }}", "n": 5, "{{ k }}": null,
                          "in": ["{{ user }}: {{ message }}"]});
        let request = filled("{{ baseUrl }}/s/{{ sessionId }}?m={{ message }}", body).unwrap();
        assert_eq!(
            request.url.as_str(),
            "http://127.0.0.1:9/s/a%2Fb%20%3F%C3%A4?m=Say%20%22hi%22%0A%7B%7B%20x%20%7D%7D"
        );
        let (name, value) = &request.headers[0];
        assert_eq!((name.as_str(), value.expose()), ("X-User", "is ann"));
        assert_eq!(
            request.body.unwrap(),
            json!({"say": "Say \"hi\"\n{{ x }}", "all": [{"role": "user", "content": "Hi"}], "turn": 2, "n": 5,
                   "{{ k }}": null, "in": ["ann: Say \"hi\"\n{{ x }}"]})
        );
    }

    #[test]
    fn a_mapping_within_a_text_is_json_and_an_argument_may_be_absent() {
        let mut values = values("Hi");
        values["name"] = "set".into();
        values["arguments"] = json!({"note": "it's \"so\" & more", "on": true, "x": null, "list": [1]});
        let headers =
            BTreeMap::from([("X-Arguments".to_owned(), "{{ arguments.list }}{{ arguments.nope.at }}".to_owned())]);
        let body = json!({
            "whole": "{{ arguments }}", "text": "do {{ arguments }} of {{ history }}", "note": "{{ arguments.note }}",
            "on": "{{ arguments.on }}", "absent": "{{ arguments.nope }}", "within": "<{{ arguments.nope }}>",
        });
        let fill = |url: &str, body: &Value| {
            RequestTemplate { method: MethodConfig::Post, url, headers: &headers, body, is_of_tool: true }.fill(&values)
        };
        let request = fill("http://h/{{ name }}?a={{ arguments.list }}&b={{ message | tojson }}", &body).unwrap();
        assert_eq!(request.url.as_str(), "http://h/set?a=%5B1%5D&b=%22Hi%22");
        assert_eq!(request.headers[0].1.expose(), "[1]");
        let sent = request.body.unwrap();
        assert_eq!(
            (&sent["whole"], &sent["on"], &sent["absent"], &sent["within"]),
            (&values["arguments"], &json!(true), &Value::Null, &json!("<>"))
        );
        assert_eq!(sent["note"], "it's \"so\" & more");
        let text = sent["text"].as_str().unwrap().strip_prefix("do ").unwrap();
        let (arguments, history) = text.split_once(" of ").unwrap();
        assert_eq!(serde_json::from_str::<Value>(arguments).unwrap(), values["arguments"], "{text}");
        assert_eq!(serde_json::from_str::<Value>(history).unwrap(), values["history"], "{text}");
        let problem = fill("http://h", &json!({"a": "{{ name }}\n {{ argumens.note }}"})).err().unwrap().to_string();
        assert!(
            problem.starts_with("body.a: line 2, column 5: a name in it is not known; did you mean arguments?"),
            "{problem}"
        );
    }

    #[test]
    fn what_others_take_of_the_processor_is_not_charged_to_a_template() {
        let values = Filling::from(Serde(&values("Hi")));
        let mut environment = environment(&values);
        environment.set_time_limit(std::time::Duration::from_millis(500));
        let other = std::thread::spawn(|| {
            let since = crate::clock::Clock::system().start();
            while since.elapsed_ms() < 550.0 {}
        });
        other.join().unwrap();
        let filled = rendered(&environment, "body", "{% for i in range(100) %}{{ i }}{% endfor %}", &values).unwrap();
        assert!(filled.ends_with("9899"), "{filled}");
        let text = "{% for i in range(1000) %}{% for j in range(1000) %}{% endfor %}{% endfor %}";
        environment.set_fuel(Some(u64::MAX / 4));
        environment.set_time_limit(std::time::Duration::from_millis(20));
        assert!(rendered(&environment, "body", text, &values).is_err(), "its own time is");
    }

    #[test]
    fn the_agents_key_goes_into_headers_and_bodies_and_into_no_address() {
        let (body, mut values) = (json!({"key": "{{ apiKey }}"}), values("Hi"));
        let fill = |header: &str, url: &str, values: &Value| {
            let headers = BTreeMap::from([("Authorization".to_owned(), header.to_owned())]);
            RequestTemplate { method: MethodConfig::Post, url, headers: &headers, body: &body, is_of_tool: false }
                .fill(values)
        };
        let unset = fill("Bearer {{ apiKey }}", "http://h", &values).err().unwrap().to_string();
        assert!(unset.contains("headers.Authorization") && unset.contains("not known"), "{unset}");
        values["apiKey"] = "agentkey99887".into();
        let request = fill("Bearer {{ apiKey }}", "http://h", &values).unwrap();
        assert_eq!(request.headers[0].1.expose(), "Bearer agentkey99887");
        assert_eq!(request.body, Some(json!({"key": "agentkey99887"})));
        assert!(fill("x", "http://h/{{ apiKey }}", &values).is_err());
        let variable = fill("Bearer ${MY_KEY}", "http://h", &values).err().unwrap().to_string();
        assert!(variable.contains("{{ apiKey }} is EVAL_JOB_AGENT_API_KEY"), "{variable}");
    }

    #[test]
    fn errors_of_filling_in_do_not_show_the_template() {
        for (url, body, expected) in [
            (
                "http://h/{{ nope }}",
                Value::Null,
                "url: line 1, column 13: a name in it is not known; templates may name user",
            ),
            (
                "http://h/{{ sessionID }}",
                Value::Null,
                "url: line 1, column 13: a name in it is not known; did you mean sessionId? templates may name user",
            ),
            ("http://h/{{ user", Value::Null, "url: line 1, column 13: this is no template"),
            ("h/{{ user }}", Value::Null, "url: that is no address: http:// or https:// must stand before it"),
            ("h:80/x", Value::Null, "url: that is no address: http:// or https:// must stand before it"),
            ("ftp://h", Value::Null, "url: that is no address: it begins with another scheme than http:// or https://"),
            ("http://h:99999/", Value::Null, "url: that is no address: invalid port number"),
            ("${URL}/x", Value::Null, "url: that is no address: no variables are filled in here"),
            ("http://h", json!({"a": ["{{ nope }}"]}), "body.a[0]: line 1, column 4: a name in it is not known"),
            ("http://h", json!({"a": "{{ user }}\nä\n  ä{{ nope }}"}), "body.a: line 3, column "),
            ("http://h", json!("{{ user }}\n{{ us er }}"), "body: line 2, column "),
            ("http://h", json!("s3cret {{ user | nope }}"), "body: line 1, column "),
            (
                "http://h",
                json!("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"),
                "body: line 1, column",
            ),
        ] {
            let problem = filled(url, body).err().unwrap().to_string();
            assert!(problem.starts_with(expected) && !problem.contains("s3cret"), "{url}: {problem}");
        }
    }

    proptest! {
        #[test]
        fn no_message_breaks_out(message in "\\PC{0,30}|[\"\\\\{}%/?#&\r\n]{0,20}") {
            let (headers, body) = (BTreeMap::new(), json!({"a": "{{ message }}", "b": "x{{ message }}"}));
            let parts = RequestTemplate {
                method: MethodConfig::Post, url: "http://h/a/{{ message }}?q={{ message }}&z=1", headers: &headers, body: &body, is_of_tool: false,
            };
            let request = parts.fill(&values(&message)).unwrap();
            prop_assert_eq!(request.body.unwrap(), json!({"a": &message, "b": format!("x{message}")}));
            prop_assert_eq!(request.url.query_pairs().count(), 2);
            prop_assert_eq!(request.url.host_str(), Some("h"));
        }
    }
}
