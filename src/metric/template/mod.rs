//! A judge's question in the user's own words: a prompt with placeholders, asked of each turn.

mod fill;
mod part;
mod scorer;
mod trace;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::judged::{JudgeOptions, NO_JUDGE, exchanges, few, stood_before, unanswered};
use super::options::{JudgeUse, MetricOptions, OptionsProblem};
use super::{Metric, MetricInput, ReplyError, Rubric, Vote};
use crate::evidence::{Judgement, Observed, Question, QuestionTo};
use crate::prompt::{PromptError, Templates};
use crate::score::{Component, Dimension, Item, Score, Weight, is_settled, majority, weighted_mean};

pub use fill::{TemplateField, placeholders};
pub use part::is_path;
pub use scorer::{Category, ScorerReading, ScorerReplyError, TemplateScorer};
pub use trace::{StepPart, TraceStep};

/// `template`: a judge's question in the user's own words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "template metric")]
pub struct TemplateConfig {
    /// The prompt. `{{name}}` is replaced by the value of that variable.
    pub prompt: String,
    /// The form of the reply, and its score.
    pub scorer: TemplateScorer,
    /// The variables of the prompt, each with what it stands for.
    pub variables: std::collections::BTreeMap<String, TemplateField>,
    /// For a variable of which only a part is shown, the path to it, such as `$.items[0].name`: its value must be JSON then.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub paths: std::collections::BTreeMap<String, String>,
    /// The rubrics of every case, which the prompt may show beside those of the case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rubrics: Vec<Rubric>,
    /// A sample of at least this score is for the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    pub positive_from: Option<Score>,
    /// How judges are asked.
    pub judging: JudgeOptions,
}

impl TemplateConfig {
    /// Its problem: the key, and a sentence.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if self.prompt.trim().is_empty() {
            return Some(("prompt", "template needs `prompt`, what the judge is asked".to_owned()));
        }
        let shown = placeholders(&self.prompt);
        if let Some(unbound) = shown.iter().find(|name| !self.variables.contains_key(**name)) {
            return Some(("prompt", format!("`{{{{{unbound}}}}}` is none of its `variables`")));
        }
        if let Some(unknown) = self.paths.keys().find(|name| !self.variables.contains_key(*name)) {
            return Some(("paths", format!("`{unknown}` is none of its `variables`")));
        }
        if let Some(wrong) = self.paths.values().find(|path| !part::is_path(path)) {
            let why = format!("`{wrong}` is no path: write keys and places only, as in `$.items[0].name`");
            return Some(("paths", why));
        }
        let is_of_agent = |name: &&&str| self.variables.get(**name).is_some_and(|field| field.is_of_agent());
        if shown.iter().find(is_of_agent).is_none() {
            let why = "template shows the judge nothing of the agent: its prompt needs a variable that stands for `finalResponse`, `conversation`, `toolCalls` or `traceStep`";
            return Some(("prompt", why.to_owned()));
        }
        None
    }
}

impl MetricOptions for TemplateConfig {
    fn metric(&self, weight: Weight, label: &str) -> Option<Box<dyn Metric>> {
        Some(Box::new(TemplateMetric { weight, config: self.clone(), label: label.to_owned() }))
    }

    fn judge_use() -> JudgeUse {
        JudgeUse::ByJob
    }

    fn options_problem(&self) -> Option<OptionsProblem> {
        let (key, message) = self.problem()?;
        Some(OptionsProblem::new(key, message))
    }
}

/// A metric of a user's own prompt.
pub(super) struct TemplateMetric {
    pub(super) weight: Weight,
    pub(super) config: TemplateConfig,
    /// The metric's name in reports, by which a rubric names it as its only metric.
    pub(super) label: String,
}

impl TemplateMetric {
    /// The rubrics of this metric that are about a turn: its own, and those of the case and the turn that name no other metric.
    fn rubrics<'r>(&'r self, input: &'r MetricInput<'_>, turn: u32) -> Vec<&'r Rubric> {
        let of_case = input.expected.into_iter().flat_map(|expected| &expected.rubrics);
        let of_turn = input.lines.iter().filter(move |line| line.turn == turn).flat_map(|line| &line.expected.rubrics);
        let is_own = |rubric: &&Rubric| rubric.metric.as_ref().is_none_or(|metric| *metric == self.label);
        self.config.rubrics.iter().chain(of_case.chain(of_turn).filter(is_own)).collect()
    }

    /// Reads a judge's reply about a turn.
    fn reading(&self, input: &MetricInput<'_>, turn: u32, raw: &str) -> Result<ScorerReading, ScorerReplyError> {
        let rubrics = self.rubrics(input, turn).into_iter().map(|rubric| rubric.id.as_str()).collect();
        self.config.scorer.read(raw, self.config.judging.strict, &rubrics)
    }

    fn id(&self, turn: u32) -> String {
        let digest = Sha256::digest(serde_json::to_string(&self.config).unwrap_or_default());
        let short: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("template-{short}@{turn}")
    }

    /// From which score a verdict speaks for the agent.
    fn positive_from(&self) -> Score {
        self.config.positive_from.unwrap_or(Score::clamped(0.5))
    }

    /// The score of a turn by the judges' samples.
    fn component(&self, input: &MetricInput<'_>, turn: u32, judgements: &[Judgement]) -> Component {
        let id = self.id(turn);
        let (mut readings, mut why) = (Vec::new(), None);
        let own: Vec<&Judgement> = judgements.iter().filter(|judgement| judgement.question == id).collect();
        for judgement in &own {
            let reading = match &judgement.reply {
                Observed::Seen(raw) => self.reading(input, turn, raw).map_err(|error| error.to_string()),
                Observed::Failed(error) => Err(error.clone()),
            };
            match reading {
                Ok(reading) => readings.push(reading),
                Err(error) => why = Some(error),
            }
        }
        let scores: Vec<Score> = readings.iter().map(|reading| reading.score).collect();
        let line = self.positive_from();
        match majority(&scores, line) {
            Some(found)
                if readings.len() * 2 > own.len()
                    && (self.config.judging.strict || is_settled(&scores, line, own.len() - readings.len())) =>
            {
                let reading = &readings[found.representative];
                let alike = scores.iter().filter(|score| score.is_below(line) != found.is_positive).count();
                let note = match (scores.len(), alike) {
                    (1, _) => String::new(),
                    (all, alike) if all == alike => format!(" (all {all} verdicts)"),
                    (all, alike) => format!(" (unstable: {alike} of {all} verdicts)"),
                };
                Component::scored(reading.score, format!("{}{note}", reading.reason)).unstable_if(alike < scores.len())
            }
            Some(_) => Component::missing(few(readings.len(), own.len(), why.as_slice())),
            None => Component::missing(why.unwrap_or_else(|| "the judge was not asked".to_owned())),
        }
    }
}

impl Metric for TemplateMetric {
    fn name(&self) -> &'static str {
        "template"
    }

    fn questions(&self, input: &MetricInput<'_>, _templates: &Templates) -> Result<Vec<Question>, PromptError> {
        let mut all = Vec::new();
        if !input.judge.is_there {
            return Ok(all);
        }
        for turn in exchanges(input.transcript, true) {
            // A missing value is an error of the turn, which its score reports.
            let Ok((prompt, cuts)) = fill::fill(self, input, turn) else { continue };
            let samples = self.config.judging.samples(input);
            let rubrics = self.rubrics(input, turn.number).len();
            let question = |sample| Question {
                id: self.id(turn.number),
                metric: self.name().to_owned(),
                judge: None,
                sample,
                samples,
                prompt: prompt.clone(),
                schema: self.config.scorer.schema(rubrics),
                temperature: input.judge.temperature,
                to: QuestionTo::Judge,
                cuts: cuts.clone(),
            };
            all.extend((1..=samples).map(question));
        }
        Ok(all)
    }

    fn reads(&self, question: &Question) -> bool {
        let prefix = self.id(0);
        let prefix = prefix.trim_end_matches('0');
        question.id.starts_with(prefix)
    }

    fn read(&self, input: &MetricInput<'_>, question: &Question, raw: &str) -> Result<(), ReplyError> {
        if stood_before(&question.prompt, raw) {
            return Err(ReplyError::Quoted);
        }
        let turn = question.id.rsplit_once('@').and_then(|(_, turn)| turn.parse().ok()).unwrap_or_default();
        self.reading(input, turn, raw).map(drop).map_err(|error| ReplyError::Verdicts(vec![error.to_string()]))
    }

    fn score(&self, input: &MetricInput<'_>, judgements: &[Judgement]) -> Dimension {
        if !input.judge.is_there {
            return Dimension::new(self.name(), self.weight, Component::missing(NO_JUDGE));
        }
        if !input.transcript.has_reply() {
            let component = Component::scored(Score::ZERO, "the agent never replied");
            return Dimension::new(self.name(), self.weight, component);
        }
        let items: Vec<Item> = exchanges(input.transcript, self.config.judging.strict)
            .into_iter()
            .map(|turn| {
                let component = match (unanswered(input, Some(turn.number)), fill::fill(self, input, turn)) {
                    (Some(component), _) => component,
                    (None, Ok(_)) => self.component(input, turn.number, judgements),
                    (None, Err(error)) => Component::missing(error.to_string()),
                };
                let label = format!("turn {} · {}", turn.number, turn.user);
                Item { turn: Some(turn.number), ..Item::new(label, component) }
            })
            .collect();
        let component = self.score_items(&items);
        Dimension { items, ..Dimension::new(self.name(), self.weight, component) }
    }

    fn vote(&self) -> Vote {
        Vote::Majority(self.positive_from())
    }

    fn score_items(&self, items: &[Item]) -> Component {
        match items {
            [only] => only.component.clone(),
            items => weighted_mean(items.iter().map(|item| (item.weight, item.label.as_str(), &item.component))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{Transcript, Turn};
    use crate::metric::JudgeInput;
    use crate::metric::input::Example;

    fn metric(path: &str) -> TemplateMetric {
        let config = json!({"prompt": "Is {{ name }} kind? {{all}}", "scorer": "boolean",
            "variables": {"name": "finalResponse", "all": "userContent"}, "paths": {"name": path}});
        TemplateMetric { weight: Weight::ONE, config: serde_json::from_value(config).unwrap(), label: "own".to_owned() }
    }

    #[test]
    fn of_a_variable_with_a_path_only_that_part_is_shown() {
        let mut example = Example::new(0);
        let replies = [r#"{"guests": [{"name": "Bill <b>"}]}"#, r#"{"guests": []}"#];
        let turns = replies.iter().zip(1..).map(|(reply, turn)| Turn::answered(turn, "{\"guests\": 1}", reply));
        example.transcript = Transcript { turns: turns.collect() };
        let input = example.input();
        let input = MetricInput { judge: JudgeInput { is_there: true, samples: 1, ..input.judge }, ..input };
        let metric = metric("$.guests[0].name");
        let questions = metric.questions(&input, &Templates::embedded()).unwrap();
        assert_eq!(questions.len(), 1, "the second turn has no such part");
        assert!(questions[0].prompt.contains("Is Bill &lt;b> kind?"), "{}", questions[0].prompt);
        assert!(questions[0].prompt.contains("\"guests\": 1"), "the other one is whole: {}", questions[0].prompt);
        let items = metric.score(&input, &[]).items;
        assert!(
            items[1].component.why().contains("`name` of turn 2: it has nothing at `$.guests[0].name`"),
            "{items:?}"
        );
    }

    #[test]
    fn the_rubrics_shown_are_those_of_the_metric_and_a_score_is_wanted_for_each() {
        let config = json!({"prompt": "{{ reply }} {{ rubrics }}", "scorer": {"rubricScores": []},
            "variables": {"reply": "finalResponse", "rubrics": "rubrics"}, "rubrics": [{"id": "1", "text": "It is kind."}]});
        let metric = TemplateMetric {
            weight: Weight::ONE,
            config: serde_json::from_value(config).unwrap(),
            label: "own".to_owned(),
        };
        let expected: crate::metric::trajectory::Expectation = serde_json::from_value(json!({"rubrics": [
            {"id": "2", "text": "It is short.", "description": "At most a line.", "metric": "own"},
            {"id": "3", "text": "It is long.", "metric": "another"}]}))
        .unwrap();
        let mut example = Example::new(0);
        example.transcript = Transcript { turns: vec![Turn::answered(1, "Hi", "Hello")] };
        let input = example.input();
        let judge = JudgeInput { is_there: true, samples: 1, ..input.judge };
        let input = MetricInput { judge, expected: Some(&expected), ..input };
        let questions = metric.questions(&input, &Templates::embedded()).unwrap();
        let shown = json!([{"id": "1", "content": {"text": "It is kind."}},
            {"id": "2", "content": {"text": "It is short."}, "description": "At most a line."}]);
        assert_eq!(questions[0].prompt, format!("Hello {shown}"));
        let read = |ids: &[&str]| {
            let scores: Vec<_> = ids.iter().map(|id| json!({"id": id, "reason": "so", "score": 1})).collect();
            metric.read(&input, &questions[0], &json!({ "rubricScores": scores }).to_string())
        };
        assert!(read(&["1", "2"]).is_ok());
        for others in [&["1"][..], &["1", "2", "3"]] {
            assert!(read(others).unwrap_err().to_string().contains("not of 1, 2"), "{others:?}");
        }
    }

    #[test]
    fn a_path_that_is_none_or_of_no_variable_is_reported() {
        assert_eq!(metric("$.a").config.problem(), None);
        let (key, why) = metric("$..a").config.problem().unwrap();
        assert!(key == "paths" && why.starts_with("`$..a` is no path"), "{why}");
        let mut config = metric("$.a").config;
        config.paths.insert("other".to_owned(), "$.a".to_owned());
        assert_eq!(config.problem().unwrap().1, "`other` is none of its `variables`");
    }
}
