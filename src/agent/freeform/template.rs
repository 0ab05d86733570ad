//! Templates: each text is filled in on its own, so that no message can break out of its place.

use std::collections::BTreeMap;
use std::fmt::Write;

use minijinja::value::{Serde, Value as Filling};
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior};
use serde_json::Value;

use super::off_thread::{LIMIT, off_thread};
use crate::agent::SettingError;
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
    if let Some(base) = base.as_str() {
        let base = Filling::from_safe_string(base.to_owned());
        filling = minijinja::context! { baseUrl => base, ..filling };
    }
    let url = environment(true).render_str(text, filling.clone());
    let url = url.map_err(|error| unfilled("url", &error, text, &filling))?;
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
    let (plain, values) = (environment(false), Filling::from(Serde(values)));
    let fill = |(name, value): (&String, &String)| match plain.render_str(value, values.clone()) {
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
        Err(error) => Err(unfilled(&format!("headers.{name}"), &error, value, &values)),
    };
    headers.iter().map(fill).collect()
}

/// Fills in every text of a JSON value. The key of an error is the place of the text: `key.items[0]`.
pub(in crate::agent) fn fill_all(key: &str, body: &Value, values: &Value) -> Result<Value, SettingError> {
    fill(&environment(false), key, body, &Filling::from(Serde(values)))
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
    let environment = environment(false);
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

fn environment(is_address: bool) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(STEPS));
    environment.set_time_limit(LIMIT);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    if is_address {
        environment.set_formatter(percent_encoded);
    }
    environment
}

/// Puts a value into an address: as one segment, or one part of a query, whatever it holds (RFC 3986, section 2).
fn percent_encoded(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Filling) -> Result<(), Error> {
    if value.is_safe() || value.is_undefined() {
        return minijinja::escape_formatter(out, state, value);
    }
    for byte in value.to_string().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.write_char(byte.into())?,
            byte => write!(out, "%{byte:02X}")?,
        }
    }
    Ok(())
}

fn fill(environment: &Environment<'_>, key: &str, body: &Value, values: &Filling) -> Result<Value, SettingError> {
    Ok(match body {
        Value::String(text) => {
            fill_text(environment, text, values).map_err(|error| unfilled(key, &error, text, values))?
        }
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

fn fill_text(environment: &Environment<'_>, text: &str, values: &Filling) -> Result<Value, Error> {
    // As a template first: only its errors have a place.
    let rendered = environment.render_str(text, values.clone())?;
    let Some(name) = lone(text) else { return Ok(rendered.into()) };
    let value = environment.compile_expression(name)?.eval(values.clone())?;
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
            let is_there = |name: &&str| values.get_attr(name).is_ok_and(|value| !value.is_undefined());
            let names: Vec<&str> = NAMES.into_iter().chain(TOOL_NAMES.into_iter().filter(is_there)).collect();
            let near = error.range().and_then(|range| template.get(range.start..)).and_then(|rest| {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                nearest(&rest[..end], names.iter().copied())
            });
            let near = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
            format!("a name in it is not known; {near}templates may name {}", names.join(", "))
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
