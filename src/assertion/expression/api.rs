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
pub(super) const VARIABLES: [(&str, Kind); 2] =
    [("objectContext", Kind::ObjectContext), ("evaluation", Kind::Evaluation)];

impl Kind {
    /// The names that such a thing has.
    pub(super) fn fields(self) -> &'static [(&'static str, Shape)] {
        use Shape::{Free, Many, Plain};
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
        }
    }
}
