//! Which of our own models a job asks: the persona's, the judge's, and the one whose embeddings compare texts.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::{Case, Embeddings, Job, Model, ModelName, Review};
use crate::metric::trajectory::Expectation;
use crate::metric::{MetricConfig, MetricEntry};

/// A cached property of a list of cases: a job may have a hundred thousand, and each conversation asks.
#[derive(Debug, Default)]
pub(super) struct CachedPerCases(OnceLock<(usize, usize, bool)>);

impl CachedPerCases {
    /// The cached result of `find`. It is computed again for a list at another place or of another length.
    fn find(&self, cases: &[Arc<Case>], find: impl Fn() -> bool) -> bool {
        let (place, many) = (cases.as_ptr().addr(), cases.len());
        let (known_place, known_many, found) = *self.0.get_or_init(|| (place, many, find()));
        if (known_place, known_many) == (place, many) { found } else { find() }
    }
}

impl Clone for CachedPerCases {
    fn clone(&self) -> CachedPerCases {
        CachedPerCases::default()
    }
}

impl PartialEq for CachedPerCases {
    fn eq(&self, _: &CachedPerCases) -> bool {
        true
    }
}

impl Job {
    /// The judges; none where no metric asks them.
    pub fn judges(&self) -> impl Iterator<Item = &Model> {
        let is_asked = self.asks_judge() || (self.has_judge() && self.compares_meanings(true));
        self.judge.model.judges().filter(move |_| is_asked)
    }

    /// The judges, each with the key of the job that names it.
    pub fn judges_with_keys(&self) -> Vec<(String, &Model)> {
        let is_panel = !self.judge.model.seats().is_empty();
        let key = |at| if is_panel { format!("scorer.model[{at}]") } else { "scorer".to_owned() };
        self.judges().enumerate().map(|(at, judge)| (key(at), judge)).collect()
    }

    /// Whether a metric asks a judge by a template of its own, beside `tasks` and `tone`, or a reviewer reads the persona's messages.
    pub fn asks_questions(&self) -> bool {
        self.review().is_some() || self.metrics.iter().any(|metric| metric.kind().is_judged())
    }

    fn asks_judge(&self) -> bool {
        let asks_reader = || self.metrics.iter().any(|metric| self.asks_reader(metric));
        self.metrics.iter().any(|metric| metric.kind().asks_judge()) || self.asks_reader.find(&self.cases, asks_reader)
    }

    /// Whether a metric asks a judge which goals were reached.
    fn asks_reader(&self, entry: &MetricEntry) -> bool {
        let MetricConfig::Trajectory(check) = &entry.metric else { return false };
        self.cases.iter().filter_map(|case| case.expected.as_ref()).any(|expected| check.config().asks_reader(expected))
    }

    /// Whether a model judges: one that is named, or that a metric asks.
    pub fn has_judge(&self) -> bool {
        !self.judge.model.is_scripted() && (self.judge.model.is_named() || self.asks_judge())
    }

    /// The model of embeddings; `None` where none is named, or nothing is left to it.
    pub fn embeddings(&self) -> Option<&Embeddings> {
        let is_strict = |entry: &MetricEntry| match &entry.metric {
            MetricConfig::Trajectory(check) => check.config().is_strict_watsonx(),
            _ => false,
        };
        let is_left = || !self.has_judge() || self.metrics.iter().any(is_strict);
        self.judge.embeddings.as_ref().filter(|_| is_left() && self.compares_meanings(false))
    }

    /// The model of embeddings that an endpoint has.
    pub fn embeddings_model(&self) -> Option<&Model> {
        match self.embeddings()? {
            Embeddings::Endpoint(model) => Some(model),
            Embeddings::Folder(_) => None,
        }
    }

    /// The folder of the model of embeddings that is on this machine: as the job writes it, and as it is found from here.
    pub fn embeddings_folder(&self) -> Option<(&str, PathBuf)> {
        match self.embeddings()? {
            Embeddings::Endpoint(_) => None,
            Embeddings::Folder(folder) => Some((folder, self.folder.join(folder))),
        }
    }

    /// Whether a rule of the metric `trajectory` asks which texts mean the same. `by_judge` leaves out what only embeddings or
    /// letters answer.
    fn compares_meanings(&self, by_judge: bool) -> bool {
        let is_one = |entry: &MetricEntry| match &entry.metric {
            MetricConfig::Trajectory(check) if by_judge && check.config().is_strict_watsonx() => None,
            MetricConfig::Trajectory(check) => Some(check.config().is_fuzzy()),
            _ => None,
        };
        let mut of_metrics = self.metrics.iter().filter_map(is_one).peekable();
        of_metrics.peek().is_some()
            && (of_metrics.any(|is_fuzzy| is_fuzzy)
                || self.cases.iter().any(|case| case.expectations().any(Expectation::is_fuzzy)))
    }

    /// The persona's model; `None` where all its lines are fixed and it makes up no result of a tool.
    pub fn persona_model(&self) -> Option<&Model> {
        let asks = || self.cases.iter().any(|case| case.user.is_persona() || case.writes_results());
        self.asks_persona.find(&self.cases, asks).then_some(&self.persona.model)
    }

    /// The review of the persona's messages; `None` where there is none, or where rules speak, which make no faults.
    pub fn review(&self) -> Option<&Review> {
        let is_asked = self.persona_model().is_some_and(|model| model.name != ModelName::Scripted);
        self.persona.review.as_ref().filter(|_| is_asked)
    }

    /// The reviewer's model.
    pub fn review_model(&self) -> Option<&Model> {
        self.review().map(|review| &review.model)
    }
}
