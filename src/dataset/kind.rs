//! The kinds of files that are known.

use serde::Serialize;

/// A system whose files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum System {
    /// Google's Agent Development Kit.
    Adk,
    /// trpc-agent-go.
    Trpc,
    /// IBM's watsonx Orchestrate.
    Watsonx,
    /// Red Hat's self-service-agent quickstart.
    Redhat,
    /// Formats of several systems: message lists and traces.
    Shared,
}

impl System {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            System::Adk => "ADK",
            System::Trpc => "trpc-agent-go",
            System::Watsonx => "watsonx Orchestrate",
            System::Redhat => "Red Hat",
            System::Shared => "no system",
        }
    }
}

/// The purpose of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Purpose {
    /// It holds cases.
    Cases,
    /// It stands beside a file with cases.
    Companion,
    /// It tells what was said and done.
    Recorded,
    /// It sums up what was measured; nothing can be read back from it.
    Summary,
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident: $system:ident, $purpose:ident, $name:literal;)*) => {
        /// The format of a file, by its content.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub enum Kind { $($(#[doc = $doc])* $kind,)* }

        impl Kind {
            /// All of them.
            pub const ALL: &[Kind] = &[$(Kind::$kind,)*];

            /// The system that writes it.
            pub fn system(self) -> System {
                match self { $(Kind::$kind => System::$system,)* }
            }

            /// Its purpose.
            pub fn purpose(self) -> Purpose {
                match self { $(Kind::$kind => Purpose::$purpose,)* }
            }

            /// Its kind, for messages.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// `{"eval_set_id", "eval_cases": […]}`.
    AdkEvalSet: Adk, Cases, "an eval set of Google ADK";
    /// `[{"query", "reference", "expected_tool_use"}]`.
    AdkTestList: Adk, Cases, "a test file of Google ADK's old schema";
    /// `[{"name", "data": […], "initial_session"}]`.
    AdkOldEvalSet: Adk, Cases, "an eval set of Google ADK's old schema";
    /// `{"scenarios": […]}`.
    AdkScenarios: Adk, Cases, "a file of conversation scenarios of Google ADK";
    /// `{"criteria": {…}}`.
    AdkTestConfig: Adk, Companion, "a test_config.json of Google ADK";
    /// `{"state": {…}}`, with or without app and user.
    AdkSession: Adk, Companion, "an initial session of Google ADK";
    /// `{"eval_set_result_id", "eval_case_results": […]}`.
    AdkResult: Adk, Recorded, "a result file of Google ADK";
    /// `[{"user_content", "final_response", …}]`.
    AdkInvocations: Adk, Recorded, "a list of recorded invocations of Google ADK";
    /// `{"evalSetId", "evalCases": […]}`.
    TrpcEvalSet: Trpc, Cases, "an eval set of trpc-agent-go";
    /// `[{"metricName", "threshold", "criterion"}]`.
    TrpcMetrics: Trpc, Companion, "a metrics file of trpc-agent-go";
    /// `{"evalSetResultId", "evalCaseResults": […]}`.
    TrpcResult: Trpc, Recorded, "a result file of trpc-agent-go";
    /// `{"story", "goals", "goal_details"}`.
    WatsonxCase: Watsonx, Cases, "a ground-truth dataset of watsonx Orchestrate";
    /// YAML with `test_paths`.
    WatsonxConfig: Watsonx, Cases, "a config.yml of watsonx Orchestrate";
    /// CSV with the header `story,agent`.
    WatsonxStories: Watsonx, Cases, "a file of stories of watsonx Orchestrate";
    /// Tab-separated: story, expected response, agent.
    WatsonxValidation: Watsonx, Cases, "a validation file of watsonx Orchestrate";
    /// `[{"role", "content", "type"}]`.
    WatsonxMessages: Watsonx, Recorded, "a list of recorded messages of watsonx Orchestrate";
    /// `[{"message", "reason"}]`.
    WatsonxAnalyze: Watsonx, Recorded, "a list of analysed messages of watsonx Orchestrate";
    /// Metrics of a case, or `summary_metrics.csv`.
    WatsonxMetrics: Watsonx, Summary, "a file of figures of a run of watsonx Orchestrate";
    /// `{"metadata", "conversation": […]}`.
    RedhatConversation: Redhat, Cases, "a conversation of Red Hat's evaluations";
    /// `{"scenario", "expected_outcome", "user_description"}`, or a list of them.
    RedhatGoldens: Redhat, Cases, "scenarios of DeepEval's simulator";
    /// One user id a line.
    RedhatUserIds: Redhat, Companion, "a list of user ids of Red Hat's evaluations";
    /// `deepeval_*.json`.
    RedhatResult: Redhat, Summary, "a file of figures of a run of Red Hat's evaluations";
    /// `[{"role", "content"}]`.
    MessageList: Shared, Recorded, "a list of messages as OpenAI writes them";
    /// OpenTelemetry's JSON.
    OtlpTraces: Shared, Recorded, "a file of traces in OpenTelemetry's JSON";
}
