//! An agent's state as an object context: a document in that shape, or one from which paths pick the parts.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;
use serde_json_path::JsonPath;

use super::path::path;
use super::resource::{function, items, mark_as_entity, resource};
use crate::agent::SettingError;
use crate::evidence::{ObjectContext, Resource};

/// The places of the parts of a state. Without a path it is the key of the same name.
#[derive(Debug, Clone, Default)]
pub(in crate::agent) struct StatePaths {
    context: Option<JsonPath>,
    entities: Option<JsonPath>,
    resources: Option<JsonPath>,
    functions: Option<JsonPath>,
}

impl StatePaths {
    /// Reads the paths of a job. `parent` is the key above all of them.
    ///
    /// # Errors
    /// The first path that can't be used.
    pub(in crate::agent) fn parse(
        parent: &str,
        paths: [(&str, Option<&String>); 4],
    ) -> Result<StatePaths, SettingError> {
        let read = |(key, text): (&str, Option<&String>)| text.map(|text| path(&format!("{parent}.{key}"), text));
        let [context, entities, resources, functions] = paths.map(|path| read(path).transpose());
        Ok(StatePaths { context: context?, entities: entities?, resources: resources?, functions: functions? })
    }

    /// The first part that assertions use and that was never found in the agent's state, in a sentence that names its key: the
    /// job's path may be wrong then, which says nothing about the agent. An empty list counts as found.
    pub(in crate::agent) fn missing(
        &self,
        body: &Value,
        looked_at: &[&str],
        found: &mut BTreeSet<&'static str>,
    ) -> Option<String> {
        let paths = [
            ("context", &self.context),
            ("entities", &self.entities),
            ("resources", &self.resources),
            ("functions", &self.functions),
        ];
        let is_looked_at = |part: &str| match part {
            // Entities are resources too.
            "entities" | "resources" => looked_at.iter().any(|part| matches!(*part, "entities" | "resources")),
            _ => looked_at.contains(&part),
        };
        for (part, path) in paths {
            let Some(path) = path.as_ref().filter(|_| is_looked_at(part)) else { continue };
            if is_found(path, body) {
                found.insert(part);
            }
            if !found.contains(part) {
                return Some(format!(
                    "target.http.state.{part}: `{path}` has found nothing in the agent's replies, not even an empty list"
                ));
            }
        }
        let has_path = |part: &str| paths.iter().any(|(known, path)| *known == part && path.is_some());
        let lists = ["entities", "resources", "functions"];
        let has_lists = lists.iter().any(|part| has_path(part) || body.get(part).is_some_and(Value::is_array));
        match looked_at.iter().find(|part| lists.contains(part)) {
            Some(part) if !has_lists => Some(format!(
                "the agent's state has none of entities, resources and functions, and assertions look at {part}; \
                 target.http.state.{part} is a JSONPath to them"
            )),
            _ => None,
        }
    }

    /// The object context of a state. A document without the shape of one is its `context`.
    pub(in crate::agent) fn object_context(&self, body: Value) -> ObjectContext {
        let list = |path: &Option<JsonPath>, key: &str| match path {
            Some(path) => items(path.query(&body).all()),
            None => body.get(key).filter(|list| list.is_array()).map(|list| items(vec![list])).unwrap_or_default(),
        };
        let mut resources: Vec<Resource> = list(&self.resources, "resources").iter().filter_map(resource).collect();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (place, known) in resources.iter().enumerate() {
            places.entry(known.id.clone()).or_insert(place);
        }
        for mut entity in list(&self.entities, "entities").iter().filter_map(resource) {
            let place = places.get(&entity.id).filter(|_| !entity.id.is_empty());
            match place.and_then(|place| resources.get_mut(*place)) {
                Some(known) => mark_as_entity(known),
                None => {
                    mark_as_entity(&mut entity);
                    places.entry(entity.id.clone()).or_insert(resources.len());
                    resources.push(entity);
                }
            }
        }
        let functions = list(&self.functions, "functions").iter().filter_map(function).collect();
        let context = match &self.context {
            Some(path) => match path.query(&body).all().as_slice() {
                [] => Value::Null,
                [one] => (*one).clone(),
                several => several.iter().map(|node| (*node).clone()).collect(),
            },
            None => {
                let is = |key: &str| body.get(key).is_some_and(Value::is_array);
                let has_the_shape = is("resources") || is("entities") && body.get("context").is_some();
                if has_the_shape { body.get("context").cloned().unwrap_or_default() } else { body }
            }
        };
        ObjectContext { context, resources, functions }
    }
}

/// Whether a path finds anything, or would if a list that is there had items.
fn is_found(path: &JsonPath, body: &Value) -> bool {
    if !path.query(body).is_empty() {
        return true;
    }
    let text = path.to_string();
    let items = ["[*]", ".*", "[?", "[:"].iter().filter_map(|sign| text.find(sign)).min();
    let list = items.and_then(|end| JsonPath::parse(&text[..end]).ok());
    let is_filtered = text.contains("[?");
    list.is_some_and(|list| {
        list.query(body).all().into_iter().any(|node| match node {
            Value::Array(items) => items.is_empty() || is_filtered,
            Value::Object(fields) => fields.is_empty() || is_filtered,
            other => other.is_null(),
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state(body: Value) -> ObjectContext {
        StatePaths::default().object_context(body)
    }

    #[test]
    fn a_path_that_never_finds_anything_is_the_jobs_and_an_empty_list_the_agents() {
        let (entities, bodies) =
            (|text: &str| Some(text.to_owned()), json!([{"items": []}, {"items": [{"id": 1}]}, {"item": 5}]));
        for (text, wanted) in [
            ("$.items", [true, true, false]),
            ("$.items[*]", [true, true, false]),
            ("$.items[*].id", [true, true, false]),
            ("$.items[*].it", [true, false, false]),
            ("$.items[?@.id > 7]", [true, true, false]),
            ("$.things[*]", [false, false, false]),
        ] {
            let path = entities(text);
            let picks = StatePaths::parse(
                "s",
                [("context", None), ("entities", path.as_ref()), ("resources", None), ("functions", None)],
            );
            let picks = picks.unwrap();
            for (body, is_found) in bodies.as_array().unwrap().iter().zip(wanted) {
                let missing = |looked_at: &[&str]| picks.missing(body, looked_at, &mut BTreeSet::new());
                assert_eq!(missing(&["resources"]).is_none(), is_found, "{text} in {body}");
                assert_eq!(missing(&["context"]), None, "nobody looks at it");
            }
            // A state that was there before was removed by the agent.
            let mut found = BTreeSet::from(["entities"]);
            assert_eq!(picks.missing(&json!({}), &["entities"], &mut found), None);
        }
        let without = |body, looked_at: &[&str]| StatePaths::default().missing(&body, looked_at, &mut BTreeSet::new());
        let problem = without(json!({"mood": "good"}), &["context", "resources"]).unwrap();
        assert!(problem.contains("target.http.state.resources is a JSONPath"), "{problem}");
        assert_eq!(without(json!({"mood": "good"}), &["context"]), None);
        assert_eq!(without(json!({"entities": []}), &["resources"]), None);
    }

    fn entities(context: &ObjectContext) -> Vec<&str> {
        context.entities().map(|entity| entity.name.as_str()).collect()
    }

    #[test]
    fn hundreds_of_thousands_of_entities_are_read_at_once() {
        let things = |from: usize| (from..from + 60_000).map(|n| json!({"id": n.to_string()})).collect::<Vec<_>>();
        let since = crate::clock::Clock::system().start();
        let context = state(json!({"resources": things(0), "entities": things(30_000)}));
        assert_eq!((context.resources.len(), context.entities().count()), (90_000, 60_000));
        assert!(since.elapsed_ms() < 30_000.0);
    }

    #[test]
    fn a_document_in_the_shape_of_an_object_context_is_one() {
        let embabels = state(json!({"context": "c", "resources": [{"id": "1", "name": "a"}, 5]}));
        assert_eq!((embabels.context, embabels.resources.len()), (json!("c"), 1));
        let body = json!({"context": "c", "entities": [{"id": 7, "name": "Bob", "type": "Person", "age": 5}],
                          "resources": [{"id": "8", "name": "Inn", "labels": ["Place"]}],
                          "functions": [{"name": "f"}, "g", {"type": "function", "function": {"name": "h"}}]});
        let context = state(body);
        assert_eq!((entities(&context), context.resources.len()), (vec!["Bob"], 2));
        assert_eq!(context.context, "c");
        assert_eq!(context.resources[1].properties, *json!({"type": "Person", "age": 5}).as_object().unwrap());
        let names: Vec<&str> = context.functions.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["f", "g", "h"]);
        let twice = json!({"resources": [{"id": "1", "name": "a"}], "entities": [{"id": "1", "name": "a"}, "b"]});
        assert_eq!((entities(&state(twice.clone())), state(twice).resources.len()), (vec!["a", "b"], 2));
    }

    #[test]
    fn any_other_document_is_the_context_and_shows_its_entities() {
        assert_eq!(state(json!({"cart": [1]})).context, json!({"cart": [1]}));
        let body = json!({"entities": [{"id": 1, "title": "Milk"}], "open": true});
        let context = state(body.clone());
        assert_eq!((context.context.clone(), entities(&context)), (body, vec!["Milk"]));
        for odd in [json!(null), json!("x"), json!([{"id": 1}]), json!({"entities": 5, "resources": {"a": 1}})] {
            assert_eq!(state(odd.clone()), ObjectContext { context: odd, ..ObjectContext::default() });
        }
    }

    #[test]
    fn paths_say_where_everything_is() {
        let (context, entities_at) = ("$.session.mood".to_owned(), "$..people".to_owned());
        let (things, tools) = ("$.things[*]".to_owned(), "$.tools[*].name".to_owned());
        let picks = StatePaths::parse(
            "target.http.state",
            [
                ("context", Some(&context)),
                ("entities", Some(&entities_at)),
                ("resources", Some(&things)),
                ("functions", Some(&tools)),
            ],
        );
        let body = json!({"session": {"mood": "calm"}, "data": {"people": [{"id": 1, "name": "Ann"}]},
                          "things": [{"id": "x"}], "tools": [{"name": "book"}], "entities": ["not these"]});
        let shown = picks.unwrap().object_context(body);
        assert_eq!((shown.context.clone(), entities(&shown)), (json!("calm"), vec!["Ann"]));
        assert_eq!((shown.resources.len(), shown.functions[0].name.as_str()), (2, "book"));
        let wrong = "people".to_owned();
        let nothing = StatePaths::parse("target.http.state", [("entities", Some(&wrong)); 4]).unwrap_err().to_string();
        assert!(nothing.starts_with("target.http.state.entities: `people` is no JSONPath"), "{nothing}");
    }
}
