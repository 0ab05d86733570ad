//! The table of metrics: a row each. Job files, the schema and the weights know of a metric by its row alone.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::Metric;
use super::config::weight;
use super::options::{JudgeUse, MetricOptions};
use crate::score::{Score, Weight};
use crate::script::ScriptText;

macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $key:ident: $variant:ident($config:ty), weight $weight:literal;)*) => {
        /// Something that can be measured.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub enum MetricKind {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl MetricKind {
            /// All of them, in the order in which they are shown.
            pub const ALL: &'static [MetricKind] = &[$(MetricKind::$variant,)*];

            /// As the job file spells it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(MetricKind::$variant => stringify!($key),)*
                }
            }

            /// The description that editors show.
            pub(super) fn description(self) -> &'static str {
                match self {
                    $(MetricKind::$variant => concat!($($doc,)+).trim(),)*
                }
            }

            /// How much it counts unless the job says otherwise: Embabel's weights for what Embabel measures, else 1.
            pub const fn default_weight(self) -> Weight {
                match self {
                    $(MetricKind::$variant => weight($weight),)*
                }
            }

            /// Whether a judge is asked for it, and how.
            fn judge_use(self) -> JudgeUse {
                match self {
                    $(MetricKind::$variant => <$config as MetricOptions>::judge_use(),)*
                }
            }
        }

        /// The metric, with its options.
        #[derive(Debug, Clone, PartialEq)]
        pub enum MetricConfig {
            $($(#[doc = $doc])+ $variant(Box<$config>),)*
        }

        impl MetricConfig {
            /// The metric with its default options.
            pub fn new(kind: MetricKind) -> MetricConfig {
                match kind {
                    $(MetricKind::$variant => MetricConfig::$variant(Box::default()),)*
                }
            }

            /// Its kind.
            pub fn kind(&self) -> MetricKind {
                match self {
                    $(MetricConfig::$variant(_) => MetricKind::$variant,)*
                }
            }

            /// Its options.
            pub(super) fn options(&self) -> &dyn MetricOptions {
                match self {
                    $(MetricConfig::$variant(options) => &**options,)*
                }
            }
        }

        /// A metric with options, a threshold, or a name of its own.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        #[schemars(title = "metric", rename = "Metric", transform = one_metric)]
        #[expect(non_snake_case, reason = "the fields are the keys of the job file")]
        pub struct MetricMapping {
            /// The metric's name in reports. Default: that of what it measures
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(regex(pattern = r"\S"))]
            pub(super) name: Option<String>,
            /// How much it counts, instead of what `weights` says.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "Option<f64>", range(min = 0, max = 1_000_000))]
            pub(super) weight: Option<Weight>,
            /// The least score with which a case passes, 0 to 1. A case that scores less fails the run.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
            pub(super) threshold: Option<Score>,
            /// The same metric with other options, for comparison: the report tells where its score differs.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub(super) beside: Option<Box<MetricMapping>>,
            $(
                $(#[doc = $doc])+
                #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
                pub(super) $key: Option<$config>,
            )*
        }

        impl MetricMapping {
            /// The metric that it names.
            pub(super) fn config(&mut self) -> Result<MetricConfig, NotOneMetric> {
                let named = [$(self.$key.take().map(|config| MetricConfig::$variant(Box::new(config))),)*];
                let mut named = named.into_iter().flatten();
                match (named.next(), named.next()) {
                    (Some(config), None) => Ok(config),
                    _ => Err(NotOneMetric),
                }
            }

            /// Names a metric.
            pub(super) fn set(&mut self, config: MetricConfig) {
                match config {
                    $(MetricConfig::$variant(config) => self.$key = Some(*config),)*
                }
            }
        }
    };
}

metrics! {
    /// How fast the agent replies.
    timing: Timing(super::timing::TimingOptions), weight 1.0;
    /// How well the tasks were done, as a judge sees it.
    tasks: Tasks(super::tasks::TasksConfig), weight 2.0;
    /// How the agent spoke, as a judge sees it.
    tone: Tone(super::tasks::ToneConfig), weight 0.0;
    /// Whether the assertions hold after the conversation.
    assertions: Assertions(AssertionsConfig), weight 4.0;
    /// Whether the agent called its tools as expected: `expected.calls` of the case and of the lines of its script.
    trajectory: Trajectory(super::trajectory::TrajectoryCheck), weight 1.0;
    /// How much of the expected reply's wording the actual one has.
    rouge: Rouge(super::rouge::RougeConfig), weight 1.0;
    /// Whether a reply is, contains or matches the expected one, and how long it is.
    text: Text(super::wording::TextConfig), weight 1.0;
    /// Whether a reply has the expected keywords.
    keywords: Keywords(super::wording::KeywordsConfig), weight 1.0;
    /// Whether a reply is a JSON document, which one, and of what shape.
    json: Json(super::document::JsonConfig), weight 1.0;
    /// Whether a reply is a well-formed XML document.
    xml: Xml(super::document::XmlConfig), weight 1.0;
    /// Whether a reply is right in several ways at once: `text`, `json`, `rouge` and `xml`, those that are given.
    reply: Reply(super::parts::ReplyParts), weight 1.0;
    /// Whether the agent's state after the conversation is the expected one: `expected.state` of the case.
    state: State(super::state::StateConfig), weight 1.0;
    /// A Rhai script that gives the score: a number from 0 to 1, true or false, or a map of `score` and `reason`. It sees
    /// `turns`, `toolCalls`, `reply`, `state` and `expected`.
    rhai: Rhai(ScriptText), weight 1.0;
    /// Whether sentences hold, as a judge sees it: `rubrics`, and `expected.rubrics` of the case and of the lines of its script.
    rubric: Rubric(super::rubric::RubricConfig), weight 1.0;
    /// How far a criterion is met, as a judge sees it, from 0 to 10 and in steps.
    geval: Geval(super::geval::GevalConfig), weight 1.0;
    /// Whether each reply is relevant to what the user had said by then, as a judge sees it.
    turnRelevancy: TurnRelevancy(super::turn_relevancy::TurnRelevancyConfig), weight 1.0;
    /// Whether each reply keeps to the agent's role, as a judge sees it.
    roleAdherence: RoleAdherence(super::role_adherence::RoleAdherenceConfig), weight 1.0;
    /// Whether the agent met everything that the user wanted, as a judge sees it.
    completeness: Completeness(super::completeness::CompletenessConfig), weight 1.0;
    /// Whether each sentence of the replies is supported by what the user said, the tools returned, the facts and the context, as
    /// a judge sees it.
    hallucination: Hallucination(super::hallucination::HallucinationConfig), weight 1.0;
    /// Whether each reply is as good as the expected one, as a judge sees it.
    finalResponse: FinalResponse(super::final_response::FinalResponseConfig), weight 1.0;
    /// Whether the conversation is better than that of the reference agent, or than the expected replies, as a judge sees it.
    pairwise: Pairwise(super::pairwise::PairwiseConfig), weight 1.0;
    /// Whether the simulated user kept to its part, as a judge sees it. It says nothing of the agent.
    simulatedUser: SimulatedUser(super::simulated_user::SimulatedUserConfig), weight 0.0;
    /// Whether the agent asked for the facts, of those that the user did not tell unasked.
    elicitation: Elicitation(super::elicitation::ElicitationConfig), weight 0.0;
    /// The answer of a judge to a prompt of your own, asked of each turn.
    template: Template(super::template::TemplateConfig), weight 1.0;
    /// A metric that can't be computed here: it is missing, with its reason.
    unavailable: Unavailable(super::unavailable::UnavailableConfig), weight 0.0;
}

impl MetricKind {
    /// The metrics of a job that names none.
    pub const DEFAULT: [MetricKind; 4] =
        [MetricKind::Timing, MetricKind::Tasks, MetricKind::Tone, MetricKind::Assertions];

    /// Whether a judge is asked for it.
    pub fn asks_judge(self) -> bool {
        self.judge_use() != JudgeUse::NotAsked
    }

    /// Whether a judge is asked by one of the templates of `prompts/judge`.
    pub fn is_judged(self) -> bool {
        self.judge_use() == JudgeUse::ByTemplate
    }
}

/// The options of `assertions`: none. They need more than a [`MetricInput`](super::MetricInput), so the grader computes them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AssertionsConfig(NoOptions);

impl MetricOptions for AssertionsConfig {
    fn metric(&self, _weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        None
    }
}

/// A metric that has no options: `{}`, or nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "metric without options")]
pub struct NoOptions {}

/// A mapping that names no metric, or several.
#[derive(Debug, thiserror::Error)]
#[error("an entry of `metrics` names one metric")]
pub(super) struct NotOneMetric;

/// Reads a key that counts as present without a value too: `rouge:` is `rouge: {}`.
fn present<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::<T>::deserialize(deserializer).map(|value| Some(value.unwrap_or_default()))
}

fn one_metric(schema: &mut Schema) {
    let branches: Vec<Value> = MetricKind::ALL.iter().map(|kind| json!({ "required": [kind.as_str()] })).collect();
    schema.insert("oneOf".to_owned(), Value::Array(branches));
}
