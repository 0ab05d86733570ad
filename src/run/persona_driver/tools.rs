//! The tools of the persona: the instructions about them, and which calls are wrong.

use serde_json::{Value, json};

use super::PersonaDriver;
use crate::conversation::WantedTool;
use crate::evidence::{Message, UserToolCall};
use crate::job::{Job, UserTool};
use crate::metric::json_schema::CompiledSchema;
use crate::prompt::{PromptError, Templates, UserToolView, tool_exchange};
use crate::text::{cut, nearest, visible};

/// The most calls before one message.
pub(super) const MOST_CALLS: usize = 5;

/// The most characters that are shown of what is wrong with a call.
const SHOWN: usize = 300;

/// The calls of the persona's tools so far.
#[derive(Default)]
pub(super) struct ToolCalls {
    all: Vec<UserToolCall>,
    /// How many of them its request holds.
    shown: usize,
}

impl ToolCalls {
    /// Those of a conversation that goes on.
    pub(super) fn of_earlier(all: Vec<UserToolCall>) -> ToolCalls {
        ToolCalls { all, shown: 0 }
    }

    /// The messages about calls that its request does not hold yet, up to those before this turn's message.
    pub(super) fn messages_up_to(&mut self, turn: u32) -> Vec<Message> {
        let new = self.all[self.shown..].iter().take_while(|call| call.turn <= turn);
        let messages: Vec<Message> = new.flat_map(tool_exchange).collect();
        self.shown += messages.len() / 2;
        messages
    }

    /// What they say: it is known to the user.
    pub(super) fn known_texts(&self) -> Vec<String> {
        self.all.iter().map(UserToolCall::known_text).collect()
    }

    /// All of them.
    pub(super) fn all(&self) -> &[UserToolCall] {
        &self.all
    }

    /// The same, at the end of the conversation.
    pub(super) fn into_all(self) -> Vec<UserToolCall> {
        self.all
    }

    fn in_turn(&self, turn: u32) -> usize {
        self.all.iter().filter(|call| call.turn == turn).count()
    }
}

impl PersonaDriver<'_> {
    /// A tool that it asked for was called; the result stands in its next request.
    pub(in crate::run) fn tool_answered(&mut self, call: UserToolCall) {
        self.tool_calls.all.push(call);
    }

    /// Why a tool that it wants to use before the message of this turn can't be called.
    pub(super) fn wrong_call(&self, wanted: &WantedTool, turn: u32) -> Option<String> {
        problem(&self.engine.plan.job.persona.tools, wanted, self.tool_calls.in_turn(turn))
    }
}

/// The problem with a call after so many others before the same message, in a clause.
fn problem(tools: &[UserTool], wanted: &WantedTool, before: usize) -> Option<String> {
    let name = cut(visible(&wanted.name), SHOWN);
    let Some(tool) = tools.iter().find(|tool| tool.name == wanted.name) else {
        let near = nearest(&wanted.name, tools.iter().map(|tool| tool.name.as_str()));
        let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        return Some(format!("you have no tool `{name}`{near}; yours are {}", names.join(", ")));
    };
    if before >= MOST_CALLS {
        return Some(format!(
            "you have used your tools {before} times since the assistant's last message; say something to it now"
        ));
    }
    let wrong = match &wanted.arguments {
        Value::Object(_) => match CompiledSchema::new(tool.schema()) {
            Ok(schema) => schema.violations(&wanted.arguments).join("; ").replace("the document:", "all of them:"),
            Err(problem) => problem.to_string(),
        },
        _ => "they are no JSON object".to_owned(),
    };
    (!wrong.is_empty()).then(|| format!("the arguments of `{name}` are wrong: {}", cut(visible(&wrong), SHOWN)))
}

/// The instructions about its tools, which end the persona's others; `None` without any.
pub(super) fn instructions(job: &Job, templates: &Templates) -> Option<Result<String, PromptError>> {
    let views = tool_views(&job.persona.tools);
    (!views.is_empty()).then(|| templates.user_tools(&views, MOST_CALLS))
}

/// Tools with their schemas, as prompts show them.
pub(super) fn tool_views(tools: &[UserTool]) -> Vec<UserToolView<'_>> {
    fn view(tool: &UserTool) -> UserToolView<'_> {
        UserToolView { name: &tool.name, description: &tool.description, parameters: tool.schema() }
    }
    tools.iter().map(view).collect()
}

/// The form of a call in a reply. Its arguments are a text, since endpoints that enforce a schema know of no free mapping.
pub(super) fn call_schema(tools: &[UserTool]) -> Value {
    let names: Vec<&str> = std::iter::once(UserTool::NONE).chain(tools.iter().map(|tool| tool.name.as_str())).collect();
    json!({
        "type": "object",
        "description": "the tool of yours to use before you say anything; else none",
        "properties": {
            "name": {"type": "string", "enum": names},
            "arguments": {"type": "string", "description": "a JSON object"}
        },
        "required": ["name", "arguments"],
        "additionalProperties": false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<UserTool> {
        let tool = |name: &str, parameters| UserTool { name: name.to_owned(), description: "d".to_owned(), parameters };
        let on = json!({"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]});
        vec![tool("toggle_data", on), tool("status_bar", Value::Null)]
    }

    #[test]
    fn a_wrong_call_is_answered_with_what_is_wrong() {
        let problem = |name: &str, arguments: Value, before: usize| {
            super::problem(&tools(), &WantedTool { name: name.to_owned(), arguments }, before)
        };
        assert_eq!(problem("toggle_data", json!({"on": true}), MOST_CALLS - 1), None);
        assert_eq!(problem("status_bar", json!({}), 0), None);
        for (name, arguments, before, expected) in [
            (
                "toggle_date",
                json!({}),
                0,
                "no tool `toggle_date` (did you mean `toggle_data`?); yours are toggle_data, status_bar",
            ),
            ("toggle_data", json!({"on": "yes"}), 0, "`/on`: must be boolean, is string"),
            ("toggle_data", json!({}), 0, "all of them: lacks `on`"),
            ("toggle_data", json!("on"), 0, "they are no JSON object"),
            ("status_bar", json!({"on": true}), 0, "may not have `on`"),
            ("status_bar", json!({}), MOST_CALLS, "you have used your tools 5 times"),
        ] {
            let message = problem(name, arguments, before).unwrap();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn each_call_is_shown_once_and_before_the_message_that_follows_it() {
        let call = |turn: u32, result: &str| UserToolCall {
            turn,
            name: "status_bar".to_owned(),
            arguments: json!({}),
            result: Some(result.into()),
            changes: Vec::new(),
        };
        let mut calls = ToolCalls::of_earlier(vec![call(1, "a"), call(1, "b"), call(3, "c")]);
        let shown = |calls: &mut ToolCalls, turn| calls.messages_up_to(turn).len();
        assert_eq!(
            [shown(&mut calls, 1), shown(&mut calls, 2), shown(&mut calls, 3), shown(&mut calls, 3)],
            [4, 0, 2, 0]
        );
        assert_eq!((calls.in_turn(1), calls.in_turn(2)), (2, 0));
        assert_eq!(calls.known_texts(), ["a", "b", "c"]);
    }
}
