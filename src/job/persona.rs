//! `evaluator` and `scorer`: the persona that poses as the user, and the judge.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::embeddings::EmbeddingsFile;
use super::model_file::ModelFile;
use super::user_persona::UserPersonaFile;
use super::{AllowedFaults, Embeddings, Line, Model, Panel, Review, UserPersona, UserTool, rules};
use crate::evidence::DEFAULT_SIGNOFF;

/// The persona that poses as the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "evaluator", transform = model_or_script)]
pub struct Persona {
    /// Shown beside the persona's lines.
    #[schemars(regex(pattern = r"\S"))]
    pub name: String,
    /// How it speaks; ends its instructions.
    pub voice: String,
    /// The template of its instructions: `eval/socrates` is `prompts/eval/socrates.jinja`.
    #[schemars(regex(pattern = r"\S"))]
    pub prompt: String,
    /// The temperature of its model, 0 to 2.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: f64,
    /// The phrase that ends the conversation; case is ignored.
    #[schemars(regex(pattern = r"\S"))]
    pub signoff: String,
    /// The model that it speaks by: `openai/MODEL` (any OpenAI-compatible endpoint), `anthropic/MODEL`, `gemini/MODEL`,
    /// `watsonx/MODEL` or `scripted` (rules, no model); or a mapping that says how it is reached. Default:
    /// openai/gpt-4.1-mini
    #[serde(deserialize_with = "rules::or_default", skip_serializing_if = "Model::is_unnamed")]
    #[schemars(with = "ModelFile")]
    pub model: Model,
    /// The faults that this persona may make, because they are part of what it plays; `all` for every one.
    #[serde(skip_serializing_if = "AllowedFaults::is_none")]
    pub allow: AllowedFaults,
    /// A second model that reads each message before it is sent, beside the checks that need none. What it finds faulty is
    /// treated like what they find; where it can't be asked, they stand alone.
    #[serde(deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Review")]
    pub review: Option<Review>,
    /// The kinds of people the user is: each case that the persona plays is held with each of them. A name of one in
    /// `prompts/personas`, built in or beside the job; or a mapping that describes one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<UserPersonaFile>", length(min = 1))]
    pub personas: Vec<UserPersona>,
    /// What the user can do or look at beside talking, where the target offers it: the persona calls a tool when the agent asks for
    /// it, and tells what it saw.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub tools: Vec<UserTool>,
    /// Fixed messages, sent one after the other, instead of a model.
    #[serde(deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Line>", length(min = 1))]
    pub script: Option<Vec<Line>>,
}

fn model_or_script(schema: &mut Schema) {
    rules::apart(schema, &[["model", "script"], ["review", "script"], ["tools", "script"]]);
}

impl Persona {
    /// The template of its instructions where a job names none.
    pub const PROMPT: &'static str = "eval/socrates";
}

impl Default for Persona {
    fn default() -> Persona {
        Persona {
            name: "Socrates".to_owned(),
            voice: "You speak like a friendly, relaxed human".to_owned(),
            prompt: Persona::PROMPT.to_owned(),
            temperature: 0.5,
            signoff: DEFAULT_SIGNOFF.to_owned(),
            model: Model::default(),
            allow: AllowedFaults::default(),
            review: None,
            personas: Vec::new(),
            tools: Vec::new(),
            script: None,
        }
    }
}

/// The judge that scores the tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "scorer")]
pub struct Judge {
    /// The template of its instructions: `eval/score` is `prompts/eval/score.jinja`.
    #[schemars(regex(pattern = r"\S"))]
    pub prompt: String,
    /// The temperature of its model, 0 to 2.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: f64,
    /// How often the judge is asked each question, 1 to 99: the majority of its verdicts decides, a tie against the agent, and
    /// scores are averaged. Default: 1
    #[serde(skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 99))]
    pub samples: u32,
    /// `openai/MODEL` (any OpenAI-compatible endpoint), `anthropic/MODEL`, `gemini/MODEL`, `watsonx/MODEL` or `scripted`
    /// (rules, no model); or a mapping that says how it is reached; or a list of several, a panel: each is asked everything, the
    /// majority of their verdicts decides, a tie against the agent, and scores are averaged. Default: openai/gpt-4.1-mini
    #[serde(skip_serializing_if = "Panel::is_unnamed")]
    pub model: Panel,
    /// Whether each verdict on tasks and tone must quote the words that it rests on, or, where it rests on something absent, name
    /// the turns that were read; one whose quote does not stand in the conversation is missing. Default: true with the
    /// template `eval/score`, false with another one, which may not ask for quotes
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<bool>,
    /// The model whose embeddings compare texts that may mean the same (`fuzzy`) where no model judges: `openai/MODEL`, of
    /// any endpoint that speaks OpenAI's embeddings, or `{folder: PATH}`, on this machine. Default: their letters are compared
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<EmbeddingsFile>")]
    pub embeddings: Option<Embeddings>,
    /// How the cases were chosen whose tasks have `verifiedBy`: `chosen` by whoever wrote the job, or `random`, drawn by lot.
    /// Only if they are random can the mean of all tasks be corrected by them without reserve. Default: chosen
    #[serde(skip_serializing_if = "VerifiedCases::is_chosen")]
    pub verified_cases: VerifiedCases,
}

/// How the cases were chosen whose tasks are verified.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum VerifiedCases {
    /// By whoever wrote the job.
    #[default]
    Chosen,
    /// By lot.
    Random,
}

impl VerifiedCases {
    fn is_chosen(&self) -> bool {
        *self == VerifiedCases::Chosen
    }
}

impl Judge {
    /// The template of its instructions where a job names none.
    const PROMPT: &'static str = "eval/score";

    /// Decides whether its verdicts must rest on evidence, where the job does not say.
    pub(super) fn set_defaults(&mut self) {
        self.evidence.get_or_insert(self.prompt == Judge::PROMPT);
    }
}

impl Default for Judge {
    fn default() -> Judge {
        Judge {
            prompt: Judge::PROMPT.to_owned(),
            temperature: 0.0,
            samples: 1,
            model: Panel::default(),
            evidence: None,
            embeddings: None,
            verified_cases: VerifiedCases::Chosen,
        }
    }
}

fn is_one(samples: &u32) -> bool {
    *samples == 1
}
