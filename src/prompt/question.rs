//! The prompts of the judge's questions: a frame that all share, and what each metric adds to it.

use std::collections::BTreeSet;

use minijinja::{Value, context};

use super::cut::Cut;
use super::fence::escape;
use super::user_tools::calls_before;
use super::{PromptError, Templates};
use crate::evidence::{AgentMessage, ToolUse, Transcript, Turn, UserToolCall};

/// The part of a trial that one question shows to the judge.
#[derive(Debug, Clone, Copy)]
pub struct QuestionView<'a> {
    /// The items that the judge decides on.
    pub items: &'a [ViewItem<'a>],
    /// `yesNo`, `support` or `ten`: what may be decided.
    pub scale: &'a str,
    /// How many items the judge may find, where it finds them itself.
    pub finds_items: Option<u32>,
    /// Whether a verdict must quote what it rests on.
    pub needs_quotes: bool,
    /// The metric's own options.
    pub options: &'a serde_json::Value,
    /// All facts of the case.
    pub facts: &'a [String],
    /// Whether the persona knew them.
    pub user_knew_facts: bool,
    /// Texts for the judge, each with its name.
    pub context: &'a [(&'a str, &'a str)],
    /// The conversation.
    pub transcript: &'a Transcript,
    /// The calls of the user's own tools.
    pub user_tools: &'a [UserToolCall],
    /// Whether each message of the agent's is shown by itself and numbered within its turn, in its place among the calls.
    pub by_message: bool,
}

/// Something that the judge decides on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewItem<'a> {
    /// Its id, by which the verdict names it.
    pub id: &'a str,
    /// The item to decide.
    pub text: &'a str,
    /// The turn that it is about, where it is about one.
    pub turn: Option<u32>,
}

/// A rendered question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedQuestion {
    /// All that the judge sees.
    pub prompt: String,
    /// The parts left out of texts that are too long, a sentence each.
    pub cuts: Vec<String>,
}

impl Templates {
    /// The prompt by which a judge writes the steps of a `geval` metric.
    ///
    /// # Errors
    /// When the template can't be rendered.
    pub fn steps_prompt(&self, criteria: &str) -> Result<String, PromptError> {
        self.render("judge/geval_steps", context! { criteria => escape(criteria) })
    }

    /// A question's prompt.
    ///
    /// # Errors
    /// When there is no such template or it can't be rendered.
    pub fn question(&self, name: &str, view: &QuestionView<'_>) -> Result<RenderedQuestion, PromptError> {
        let Parts { items, facts, context, transcript, cut, .. } = view.parts();
        let prompt = self.render(
            name,
            context! {
                items, scale => view.scale, finds_items => view.finds_items, needs_quotes => view.needs_quotes,
                options => escaped(view.options), facts, user_knew_facts => view.user_knew_facts, context, transcript,
            },
        )?;
        Ok(RenderedQuestion { prompt, cuts: cut.into_sentences() })
    }
}

/// The view of a question, cut by the budget that all its texts share.
struct Parts {
    items: Vec<Value>,
    facts: Vec<String>,
    context: Vec<Value>,
    transcript: Vec<Value>,
    /// The turns of which not everything is shown.
    cut_turns: BTreeSet<u32>,
    cut: Cut,
}

impl QuestionView<'_> {
    /// The turns of which the judge is not shown everything.
    pub fn cut_turns(&self) -> BTreeSet<u32> {
        self.parts().cut_turns
    }

    fn parts(&self) -> Parts {
        let mut cut = Cut::default();
        let item = |item: &ViewItem<'_>| {
            let text = cut.text(item.text, || format!("the item {}", item.id));
            context! { id => escape(item.id), text => escape(&text), turn => item.turn }
        };
        let items: Vec<Value> = self.items.iter().map(item).collect();
        let facts: Vec<String> =
            self.facts.iter().map(|fact| escape(&cut.text(fact, || "a fact".to_owned()))).collect();
        let text = |(name, text): &(&str, &str)| {
            let text = cut.text(text, || format!("the context {name}"));
            context! { name => escape(name).replace('"', "&quot;"), text => escape(&text) }
        };
        let context: Vec<Value> = self.context.iter().map(text).collect();
        let (mut transcript, mut cut_turns) = (Vec::new(), BTreeSet::new());
        for (turn, calls) in self.transcript.turns.iter().zip(self.transcript.tool_uses_by_turn()) {
            transcript.extend(calls_before(turn.number, self.user_tools, &mut cut));
            let before = cut.count();
            transcript.extend(messages_of(turn, &calls, self.by_message, &mut cut));
            cut_turns.extend((cut.count() > before).then_some(turn.number));
        }
        Parts { items, facts, context, transcript, cut_turns, cut }
    }
}

/// The events of a turn, in their order: the user's message, the agent's calls with their results, its reply.
fn messages_of(turn: &Turn, calls: &[ToolUse], by_message: bool, cut: &mut Cut) -> Vec<Value> {
    let mut message = |from: &str, text: &str, number: Option<usize>| {
        let text = cut.text(text, || format!("a message of turn {} ({from})", turn.number));
        context! { turn => turn.number, from, text => escape(&text), number }
    };
    let said = match (by_message, turn.agent.as_deref()) {
        (true, _) => turn.agent_messages(),
        (false, reply) => {
            reply.into_iter().map(|text| AgentMessage { text, after_calls: calls.len(), is_reply: true }).collect()
        }
    };
    let mut said = (1..).zip(said).map(|(number, it)| (by_message.then_some(number), it)).peekable();
    let mut messages = Vec::new();
    if !turn.is_greeting() {
        messages.push(message("user", &turn.user, None));
    }
    for (call, before) in calls.iter().zip(0..) {
        while let Some((number, it)) = said.next_if(|(_, it)| it.after_calls <= before) {
            messages.push(message("agent", it.text, number));
        }
        messages.push(message("agent's call of a tool", &call_text(call), None));
        if let Some(result) = &call.result {
            messages.push(message("tool", &result_text(result), None));
        }
    }
    messages.extend(said.map(|(number, it)| message("agent", it.text, number)));
    messages
}

/// A call as the judge reads it.
pub fn call_text(call: &ToolUse) -> String {
    format!("{} {}", call.tool, call.args)
}

/// A tool's result as the judge reads it.
pub fn result_text(result: &serde_json::Value) -> String {
    result.as_str().map_or_else(|| result.to_string(), str::to_owned)
}

/// The same value with all its texts escaped.
fn escaped(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::String(text) => Value::from(escape(text)),
        serde_json::Value::Array(items) => items.iter().map(escaped).collect(),
        serde_json::Value::Object(fields) => {
            Value::from_pairs(fields.iter().map(|(key, value)| (key.as_str(), escaped(value))))
        }
        serde_json::Value::Bool(flag) => Value::from(*flag),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(number) => Value::from(number),
            None => Value::from(number.as_f64().unwrap_or_default()),
        },
        serde_json::Value::Null => Value::from(()),
    }
}
