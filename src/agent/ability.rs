//! The abilities of a transport, known before anything is sent.

/// Something that not every transport can do. The plan refuses a job that needs an ability which its transport lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ability {
    /// The agent's model is named with each session or message: `--model`.
    ChoosesModel,
    /// The agent shows its observable state: `objectContext` in expressions.
    ShowsState,
    /// Replies are streamed, so that the time to the first token is known.
    Streams,
    /// Function calls and their results are reported.
    ReportsTools,
    /// The agent's own tokens are reported.
    ReportsUsage,
    /// A session can begin with an earlier conversation.
    TakesHistory,
    /// A document can be put into the agent's memory without a conversation.
    IngestsText,
    /// A session can begin with a state of the case's own.
    TakesState,
    /// Calls of tools are answered with a case's own results.
    MocksTools,
    /// A session that another process of eval-job opened can be continued.
    Resumes,
    /// The tools of the simulated user can be called.
    OffersUserTools,
}

impl Ability {
    /// All of them.
    pub const ALL: [Ability; 11] = [
        Ability::ChoosesModel,
        Ability::ShowsState,
        Ability::Streams,
        Ability::ReportsTools,
        Ability::ReportsUsage,
        Ability::TakesHistory,
        Ability::IngestsText,
        Ability::TakesState,
        Ability::MocksTools,
        Ability::Resumes,
        Ability::OffersUserTools,
    ];

    /// A phrase that completes "it can …".
    pub fn as_phrase(self) -> &'static str {
        match self {
            Ability::ChoosesModel => "choose the model",
            Ability::ShowsState => "show its state",
            Ability::Streams => "stream its replies",
            Ability::ReportsTools => "report function calls",
            Ability::ReportsUsage => "report its tokens",
            Ability::TakesHistory => "begin with an earlier conversation",
            Ability::IngestsText => "take in documents",
            Ability::TakesState => "take a state of the session",
            Ability::MocksTools => "answer tool calls for a case",
            Ability::Resumes => "go on with a session",
            Ability::OffersUserTools => "call tools of the user",
        }
    }
}
