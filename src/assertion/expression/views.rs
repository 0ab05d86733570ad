//! Evidence as a script sees it.

use std::collections::BTreeMap;

use rhai::{Dynamic, Map, Scope};

use super::config::Compiled;
use crate::evidence::{
    Change, Ending, Entity, Event, EventKind, Evidence, FactUse, Function, Node, ObjectContext, Resource, Role,
    ToolCall, Turn, UserToolCall, Value,
};
use crate::script::{ApiType, EXPRESSION, Record, data, list, map};

/// The variables of a script, each with its data where the script reads it.
pub(super) fn scope(
    script: &Compiled,
    context: Option<&ObjectContext>,
    changes: Option<&[Change]>,
    job: &str,
    evidence: &Evidence,
) -> Scope<'static> {
    let mut scope = Scope::new();
    let context = context.filter(|_| script.uses_object_context);
    let changes = changes.filter(|_| script.uses_changes);
    let evaluation = if script.uses_evaluation { evaluation(job, evidence) } else { Dynamic::UNIT };
    scope.push_constant_dynamic(
        EXPRESSION.variables[0].0,
        context.map_or(Dynamic::UNIT, |context| object_context(context, &script.context_parts)),
    );
    scope.push_constant_dynamic(EXPRESSION.variables[1].0, evaluation);
    scope.push_constant_dynamic(EXPRESSION.variables[2].0, changes.map_or(Dynamic::UNIT, self::changes));
    scope
}

/// The object context, with the parts that a script may look at: an agent's functions alone may be long.
fn object_context(context: &ObjectContext, parts: &[&str]) -> Dynamic {
    let part = |name: &'static str, made: &dyn Fn() -> Dynamic| {
        (name, if parts.contains(&name) { made() } else { Dynamic::UNIT })
    };
    Record::dynamic(
        ApiType::ObjectContext,
        [
            part("context", &|| data(&context.context)),
            part("resources", &|| list(context.resources.iter().map(resource))),
            part("functions", &|| list(context.functions.iter().map(function))),
            part("entities", &|| list(context.entities().map(resource))),
        ],
    )
}

fn resource(resource: &Resource) -> Dynamic {
    let label = resource.labels.iter().find(|label| *label != ObjectContext::ENTITY_LABEL);
    let kind = resource.properties.get("type").filter(|kind| !kind.is_null());
    let kind = kind.map(data).or_else(|| label.map(|label| label.clone().into()));
    Record::dynamic(
        ApiType::Resource,
        [
            ("id", resource.id.clone().into()),
            ("name", resource.name.clone().into()),
            ("description", resource.description.clone().into()),
            ("properties", map(&resource.properties)),
            ("labels", list(resource.labels.iter().map(|label| label.clone().into()))),
            ("aliases", list(resource.aliases.iter().map(|alias| alias.clone().into()))),
            ("type", kind.unwrap_or(Dynamic::UNIT)),
        ],
    )
}

fn function(function: &Function) -> Dynamic {
    let optional = |text: &Option<String>| text.clone().map_or(Dynamic::UNIT, Dynamic::from);
    Record::dynamic(
        ApiType::Function,
        [
            ("name", function.name.clone().into()),
            ("description", function.description.clone().into()),
            ("label", optional(&function.label)),
            ("view", optional(&function.view)),
            ("staticMethod", function.static_method.into()),
            ("inputTypeSchema", data(&function.input_type_schema)),
        ],
    )
}

fn evaluation(job: &str, evidence: &Evidence) -> Dynamic {
    let calls = evidence.transcript.events().filter_map(|event| match &event.kind {
        EventKind::FunctionCall(call) => Some(function_call(call)),
        _ => None,
    });
    Record::dynamic(
        ApiType::Evaluation,
        [
            ("sessionId", evidence.session_id.clone().into()),
            ("model", evidence.model.clone().into()),
            ("job", job.to_owned().into()),
            ("transcript", list(evidence.transcript.turns.iter().flat_map(messages))),
            ("events", list(evidence.transcript.events().map(event))),
            ("functionCalls", list(calls)),
            ("failureCount", i64::from(evidence.failure_count()).into()),
            ("facts", list(evidence.fact_uses.iter().flatten().map(fact_use))),
            ("userToolCalls", list(evidence.user_tool_calls.iter().map(user_tool_call))),
            ("done", matches!(evidence.ending, Ending::SignedOff { .. } | Ending::ScriptEnded).into()),
        ],
    )
}

/// A call of a tool of the user's own, which no function call of the agent is.
fn user_tool_call(call: &UserToolCall) -> Dynamic {
    Record::dynamic(
        ApiType::UserToolCall,
        [
            ("turn", i64::from(call.turn).into()),
            ("name", call.name.clone().into()),
            ("arguments", data(&call.arguments)),
            ("result", call.result.as_ref().map_or(Dynamic::UNIT, data)),
        ],
    )
}

/// A fact by its place, and the turns in which the agent asked for it, the user said it and the agent stated it.
fn fact_use(fact: &FactUse) -> Dynamic {
    let turn = |turn: Option<u32>| turn.map_or(Dynamic::UNIT, |turn| Dynamic::from(i64::from(turn)));
    let parts = [
        ("fact", i64::from(fact.fact).into()),
        ("asked", turn(fact.asked)),
        ("released", turn(fact.released)),
        ("volunteered", fact.is_volunteered().into()),
        ("stated", turn(fact.stated)),
        ("known", fact.is_known_to_agent().into()),
        ("prompted", turn(fact.prompted)),
    ];
    Record::dynamic(ApiType::FactUse, parts)
}

/// The messages of a turn. The events belong to the agent's; a user's message takes no time.
fn messages(turn: &Turn) -> impl Iterator<Item = Dynamic> + '_ {
    let message = |role: Role, content: &str, millis: Dynamic, events: Dynamic| {
        Record::dynamic(
            ApiType::Message,
            [
                ("content", content.to_owned().into()),
                ("role", role.as_str().to_owned().into()),
                ("timeTakenMillis", millis),
                ("events", events),
            ],
        )
    };
    let user = message(Role::User, &turn.user, Dynamic::from(0_i64), Dynamic::from_array(Vec::new()));
    let agent = turn.agent.as_deref().map(|text| {
        let millis = turn.latency_ms.map_or(Dynamic::UNIT, |millis| Dynamic::from(millis.round() as i64));
        message(Role::Assistant, text, millis, list(turn.events.iter().map(event)))
    });
    (!turn.is_greeting()).then_some(user).into_iter().chain(agent)
}

fn function_call(call: &ToolCall) -> Dynamic {
    Record::dynamic(ApiType::FunctionCall, [("function", call.function.clone().into()), ("args", data(&call.args))])
}

fn changes(changes: &[Change]) -> Dynamic {
    let of = |fits: fn(&Change) -> bool| list(changes.iter().filter(|change| fits(change)).map(change));
    Record::dynamic(
        ApiType::Changes,
        [
            ("created", of(|change| matches!(change, Change::Created { .. }))),
            ("deleted", of(|change| matches!(change, Change::Deleted { .. }))),
            ("changed", of(|change| matches!(change, Change::Changed { .. }))),
            ("all", of(|_| true)),
        ],
    )
}

fn change(change: &Change) -> Dynamic {
    let (entity, when) = (change.entity(), change.when());
    let kind = match change {
        Change::Created { .. } => "created",
        Change::Deleted { .. } => "deleted",
        Change::Changed { .. } => "changed",
    };
    let (what, kind_of_relationship, from, to) = match entity {
        Entity::Node(_) => ("node", Dynamic::UNIT, Dynamic::UNIT, Dynamic::UNIT),
        Entity::Relationship { relationship, from, to } => {
            ("relationship", relationship.kind.clone().into(), end(from), end(to))
        }
    };
    let names = change.property_changes().into_iter().map(|property| property.name.to_owned().into());
    Record::dynamic(
        ApiType::Change,
        [
            ("kind", kind.to_owned().into()),
            ("turn", i64::from(when.turn).into()),
            ("late", when.late.into()),
            ("what", what.to_owned().into()),
            ("labels", texts(entity.labels())),
            ("type", kind_of_relationship),
            ("properties", properties(entity.properties())),
            ("before", change.before().map_or(Dynamic::UNIT, |before| properties(before.properties()))),
            ("changedProperties", list(names)),
            ("from", from),
            ("to", to),
        ],
    )
}

fn end(node: &Node) -> Dynamic {
    Record::dynamic(ApiType::End, [("labels", texts(&node.labels)), ("properties", properties(&node.properties))])
}

fn texts(texts: &[String]) -> Dynamic {
    list(texts.iter().map(|text| text.clone().into()))
}

fn properties(entries: &BTreeMap<String, Value>) -> Dynamic {
    Dynamic::from_map(entries.iter().map(|(key, value)| (key.as_str().into(), graph_value(value))).collect::<Map>())
}

/// A value of the graph as Rhai's own: dates and times are their ISO 8601 text, points their coordinates.
fn graph_value(value: &Value) -> Dynamic {
    match value {
        Value::Null => Dynamic::UNIT,
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::String(text) => text.clone().into(),
        Value::List(items) => list(items.iter().map(graph_value)),
        Value::Map(entries) => properties(entries),
        Value::Temporal(temporal) => temporal.text.clone().into(),
        Value::Point(point) => list(point.coordinates.iter().map(|coordinate| (*coordinate).into())),
        // No property is one of these.
        Value::Node(_) | Value::Relationship(_) | Value::Path(_) => value.to_string().into(),
    }
}

/// An event in the shape in which Embabel's agents report it, with whatever else the agent reported of it.
fn event(event: &Event) -> Dynamic {
    data(&event.to_json())
}
