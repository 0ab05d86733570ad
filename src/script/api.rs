//! The names that a script can use: one table for the values and for the check of names.

/// The kinds of things that our API hands to a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiType {
    /// `objectContext`.
    ObjectContext,
    /// `evaluation`.
    Evaluation,
    /// One of `objectContext.resources` or `objectContext.entities`.
    Resource,
    /// One of `objectContext.functions`.
    Function,
    /// One of `evaluation.transcript`.
    Message,
    /// One of `evaluation.functionCalls`.
    FunctionCall,
    /// One of `evaluation.facts`.
    FactUse,
    /// One of `evaluation.userToolCalls`.
    UserToolCall,
    /// `changes`.
    Changes,
    /// One of `changes.all`.
    Change,
    /// The node at an end of a relationship that was created, deleted or changed.
    End,
    /// One of `turns`.
    Turn,
    /// One of `toolCalls`.
    ToolUse,
}

/// The static type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A thing of our API.
    One(ApiType),
    /// A list of them.
    Many(ApiType),
    /// Text, a number or a boolean.
    Plain,
    /// JSON data, or anything else: every name is allowed.
    Free,
}

impl ApiType {
    /// The names that such a thing has.
    pub(crate) fn fields(self) -> &'static [(&'static str, Shape)] {
        use Shape::{Free, Many, One, Plain};
        match self {
            ApiType::ObjectContext => &[
                ("context", Free),
                ("resources", Many(ApiType::Resource)),
                ("functions", Many(ApiType::Function)),
                ("entities", Many(ApiType::Resource)),
            ],
            ApiType::Evaluation => &[
                ("sessionId", Plain),
                ("model", Plain),
                ("job", Plain),
                ("transcript", Many(ApiType::Message)),
                ("events", Free),
                ("functionCalls", Many(ApiType::FunctionCall)),
                ("failureCount", Plain),
                ("facts", Many(ApiType::FactUse)),
                ("userToolCalls", Many(ApiType::UserToolCall)),
                ("done", Plain),
            ],
            ApiType::Resource => &[
                ("id", Plain),
                ("name", Plain),
                ("description", Plain),
                ("properties", Free),
                ("labels", Free),
                ("aliases", Free),
                ("type", Free),
            ],
            ApiType::Function => &[
                ("name", Plain),
                ("description", Plain),
                ("label", Plain),
                ("view", Plain),
                ("staticMethod", Plain),
                ("inputTypeSchema", Free),
            ],
            ApiType::FactUse => &[
                ("fact", Plain),
                ("asked", Plain),
                ("released", Plain),
                ("volunteered", Plain),
                ("stated", Plain),
                ("known", Plain),
                ("prompted", Plain),
            ],
            ApiType::Message => &[("content", Plain), ("role", Plain), ("timeTakenMillis", Plain), ("events", Free)],
            ApiType::FunctionCall => &[("function", Plain), ("args", Free)],
            ApiType::UserToolCall => &[("turn", Plain), ("name", Plain), ("arguments", Free), ("result", Free)],
            ApiType::Changes => &[
                ("created", Many(ApiType::Change)),
                ("deleted", Many(ApiType::Change)),
                ("changed", Many(ApiType::Change)),
                ("all", Many(ApiType::Change)),
            ],
            ApiType::Change => &[
                ("kind", Plain),
                ("turn", Plain),
                ("late", Plain),
                ("what", Plain),
                ("labels", Free),
                ("type", Free),
                ("properties", Free),
                ("before", Free),
                ("changedProperties", Free),
                ("from", One(ApiType::End)),
                ("to", One(ApiType::End)),
            ],
            ApiType::End => &[("labels", Free), ("properties", Free)],
            ApiType::Turn => &[
                ("number", Plain),
                ("user", Plain),
                ("reply", Free),
                ("toolCalls", Many(ApiType::ToolUse)),
                ("timeTakenMillis", Plain),
                ("expected", Free),
            ],
            ApiType::ToolUse => &[("tool", Plain), ("args", Free), ("result", Free), ("turn", Plain)],
        }
    }

    /// Its name in messages.
    pub(crate) fn label(self) -> &'static str {
        match self {
            ApiType::ObjectContext => "`objectContext`",
            ApiType::Evaluation => "`evaluation`",
            ApiType::Resource => "a resource",
            ApiType::Function => "a function of the object context",
            ApiType::FactUse => "an entry of `evaluation.facts`",
            ApiType::Message => "a message of the transcript",
            ApiType::FunctionCall => "a function call",
            ApiType::UserToolCall => "an entry of `evaluation.userToolCalls`",
            ApiType::Changes => "`changes`",
            ApiType::Change => "a change",
            ApiType::End => "the end of a relationship",
            ApiType::Turn => "a turn",
            ApiType::ToolUse => "a tool call",
        }
    }
}
