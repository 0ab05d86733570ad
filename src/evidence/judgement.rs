//! Questions to the judge, and its judgements.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Observed, Usage};

/// The JSON Schema that a model's reply must follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplySchema {
    /// A short name, letters and underscores: providers want one.
    pub name: String,
    /// The JSON Schema.
    pub schema: serde_json::Value,
    /// The most tokens that a reply takes, 1 or more, without what a model reasons before it.
    pub max_tokens: u32,
    /// Whether the probabilities of other scores are wanted, where the model tells them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_alternatives: bool,
}

/// A token of a reply, with what could have stood in its place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplyToken {
    /// Its text.
    pub text: String,
    /// The most probable tokens at its place, it among them, each with the logarithm of its probability.
    pub alternatives: Vec<(String, f64)>,
}

/// A score that a judge could have given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScoreAlternative {
    /// The score, 0 to 10.
    pub score: f64,
    /// Its probability, above 0 and at most 1.
    pub probability: f64,
}

/// The receiver of a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QuestionTo {
    /// The judge's model.
    #[default]
    Judge,
    /// The embeddings of two texts, whose cosine is the answer: the prompt is a JSON list of both.
    Embeddings,
}

impl QuestionTo {
    fn is_judge(&self) -> bool {
        *self == QuestionTo::Judge
    }
}

/// Something that a metric wants a judge to decide. The runner carries it; a metric never calls a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The question's id; metrics that ask the same question share its judgement.
    pub id: String,
    /// The metric that asks, and reads the reply.
    pub metric: String,
    /// The judge that is asked, of a panel; `None` where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Which of several samples of the same judge, from 1.
    pub sample: u32,
    /// How many samples of the same judge are asked for, 1 or more.
    #[serde(default = "first")]
    pub samples: u32,
    /// The rendered prompt: all that the judge sees.
    pub prompt: String,
    /// The shape of the reply.
    pub schema: ReplySchema,
    /// The judge's temperature.
    pub temperature: f64,
    /// The receiver.
    #[serde(default, skip_serializing_if = "QuestionTo::is_judge")]
    pub to: QuestionTo,
    /// The parts left out of texts that are too long, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<String>,
}

/// A question as a journal keeps it: what can be rendered again from the rest of the record is not kept twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedQuestion {
    /// The question's id.
    pub id: String,
    /// The metric that asked.
    pub metric: String,
    /// The judge that was asked, of a panel; `None` where there was only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Which of several samples of the same judge, from 1.
    pub sample: u32,
    /// The judge's temperature.
    pub temperature: f64,
    /// SHA-256 of the prompt and of the reply's schema, in hex: whether a question that is rendered again is the same.
    pub digest: String,
    /// The prompt. A journal holds it only where job, templates and conversation don't give it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The parts left out of texts that are too long, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<String>,
}

impl AskedQuestion {
    /// The question, without its prompt.
    pub fn new(question: &Question) -> AskedQuestion {
        AskedQuestion {
            id: question.id.clone(),
            metric: question.metric.clone(),
            judge: question.judge.clone(),
            sample: question.sample,
            temperature: question.temperature,
            digest: question.digest(),
            prompt: None,
            cuts: question.cuts.clone(),
        }
    }

    /// Its id among the questions about a conversation.
    pub fn key(&self) -> QuestionKey<'_> {
        (&self.id, self.judge.as_deref(), self.sample)
    }

    /// Whether this is an answer to it.
    pub fn is_answered_by(&self, judgement: &Judgement) -> bool {
        judgement.answers(self.key())
    }

    /// The question with its prompt.
    pub fn whole(question: &Question) -> AskedQuestion {
        AskedQuestion { prompt: Some(question.prompt.clone()), ..AskedQuestion::new(question) }
    }
}

/// The id of a question, the judge of a panel that is asked, and the sample.
pub type QuestionKey<'a> = (&'a str, Option<&'a str>, u32);

impl Question {
    /// Its id among the questions about a conversation.
    pub fn key(&self) -> QuestionKey<'_> {
        (&self.id, self.judge.as_deref(), self.sample)
    }

    /// SHA-256 of the prompt and of the reply's schema, in hex.
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        digest.update(&self.prompt);
        digest.update([0]);
        digest.update(self.schema.schema.to_string());
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A judge's answer to one question: its raw reply, so that it can be read and graded again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// The id of the question; version 1 called it the metric.
    #[serde(alias = "metric")]
    pub question: String,
    /// The model that answered; version 1 called it the model.
    #[serde(alias = "model")]
    pub judge: String,
    /// Which of several samples of the same judge, from 1.
    #[serde(default = "first")]
    pub sample: u32,
    /// The usable reply, or why there is none.
    pub reply: Observed<String>,
    /// Replies that could not be used, each with the reason, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<(String, String)>,
    /// The alternative scores by their probabilities, with the score itself; empty where its model does not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<ScoreAlternative>,
    /// Tokens and calls of all tries.
    pub usage: Usage,
    /// Whether the reply was kept of an earlier run: it took nothing now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cached: bool,
    /// Settings that the model refused (a temperature, a schema), a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

fn first() -> u32 {
    1
}

impl Judgement {
    /// Whether it answers the question with this key.
    pub fn answers(&self, key: QuestionKey<'_>) -> bool {
        let (question, judge, sample) = key;
        (self.question.as_str(), self.sample) == (question, sample) && judge.is_none_or(|judge| judge == self.judge)
    }
}

#[cfg(test)]
impl Judgement {
    /// The first sample of a judge, as tests need it.
    pub(crate) fn answered(question: impl Into<String>, reply: Observed<String>) -> Judgement {
        Judgement {
            question: question.into(),
            judge: "m".to_owned(),
            sample: 1,
            reply,
            rejected: Vec::new(),
            alternatives: Vec::new(),
            usage: Usage::default(),
            is_cached: false,
            notes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_of_one_judge_of_a_panel_answers_no_other() {
        let judgement = Judgement::answered("tasks", Observed::Seen("{}".to_owned()));
        for (key, answers) in [
            (("tasks", None, 1), true),
            (("tasks", Some("m"), 1), true),
            (("tasks", Some("other"), 1), false),
            (("tasks", None, 2), false),
            (("tone", None, 1), false),
        ] {
            assert_eq!(judgement.answers(key), answers, "{key:?}");
        }
    }

    #[test]
    fn a_judgement_of_version_1_is_read() {
        let usage = serde_json::to_string(&Usage::default()).unwrap();
        let stored = format!(r#"{{"metric": "tasks", "model": "m", "reply": {{"seen": "{{}}"}}, "usage": {usage}}}"#);
        let judgement: Judgement = serde_json::from_str(&stored).unwrap();
        assert_eq!((judgement.question.as_str(), judgement.judge.as_str(), judgement.sample), ("tasks", "m", 1));
    }
}
