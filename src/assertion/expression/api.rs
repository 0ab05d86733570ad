//! What a script can see, by name: one table for the values and for the check of names.

/// The kinds of things that our API hands to a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
    /// `changes`.
    Changes,
    /// One of `changes.all`.
    Change,
    /// The node at an end of a relationship that was created, deleted or changed.
    End,
}

/// What is known of a value before it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A thing of our API.
    One(Kind),
    /// A list of them.
    Many(Kind),
    /// Text, a number or a boolean.
    Plain,
    /// JSON data, or anything else: every name is allowed.
    Free,
}

/// The variables of a script.
pub(super) const VARIABLES: [(&str, Kind); 3] =
    [("objectContext", Kind::ObjectContext), ("evaluation", Kind::Evaluation), ("changes", Kind::Changes)];

impl Kind {
    /// The names that such a thing has.
    pub(super) fn fields(self) -> &'static [(&'static str, Shape)] {
        use Shape::{Free, Many, One, Plain};
        match self {
            Kind::ObjectContext => &[
                ("context", Free),
                ("resources", Many(Kind::Resource)),
                ("functions", Many(Kind::Function)),
                ("entities", Many(Kind::Resource)),
            ],
            Kind::Evaluation => &[
                ("sessionId", Plain),
                ("model", Plain),
                ("job", Plain),
                ("transcript", Many(Kind::Message)),
                ("events", Free),
                ("functionCalls", Many(Kind::FunctionCall)),
                ("failureCount", Plain),
                ("done", Plain),
            ],
            Kind::Resource => &[
                ("id", Plain),
                ("name", Plain),
                ("description", Plain),
                ("properties", Free),
                ("labels", Free),
                ("aliases", Free),
                ("type", Free),
            ],
            Kind::Function => &[
                ("name", Plain),
                ("description", Plain),
                ("label", Plain),
                ("view", Plain),
                ("staticMethod", Plain),
                ("inputTypeSchema", Free),
            ],
            Kind::Message => &[("content", Plain), ("role", Plain), ("timeTakenMillis", Plain), ("events", Free)],
            Kind::FunctionCall => &[("function", Plain), ("args", Free)],
            Kind::Changes => &[
                ("created", Many(Kind::Change)),
                ("deleted", Many(Kind::Change)),
                ("changed", Many(Kind::Change)),
                ("all", Many(Kind::Change)),
            ],
            Kind::Change => &[
                ("kind", Plain),
                ("turn", Plain),
                ("late", Plain),
                ("what", Plain),
                ("labels", Free),
                ("type", Free),
                ("properties", Free),
                ("before", Free),
                ("changedProperties", Free),
                ("from", One(Kind::End)),
                ("to", One(Kind::End)),
            ],
            Kind::End => &[("labels", Free), ("properties", Free)],
        }
    }

    /// What a reader calls it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Kind::ObjectContext => "`objectContext`",
            Kind::Evaluation => "`evaluation`",
            Kind::Resource => "a resource",
            Kind::Function => "a function of the object context",
            Kind::Message => "a message of the transcript",
            Kind::FunctionCall => "a function call",
            Kind::Changes => "`changes`",
            Kind::Change => "a change",
            Kind::End => "the end of a relationship",
        }
    }
}
