//! How far agents that do nothing get with a job, and what lets them pass.

use serde::Serialize;

use crate::evidence::TrialId;
use crate::score::{Component, Dimension, Item, Outcome, Scorecard, Vacuity, Weight};

/// A conversation with an agent that does nothing; the trial's model is the agent's name.
#[derive(Debug, Clone)]
pub struct AuditedTrial {
    /// Which one.
    pub trial: TrialId,
    /// Its outcome.
    pub outcome: Outcome,
    /// Its scores.
    pub scorecard: Option<Scorecard>,
}

/// How far agents that do nothing get with a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// The score of each agent.
    pub agents: Vec<TrivialScore>,
    /// The parts that let agents pass, or hold before the first message.
    pub findings: Vec<AuditFinding>,
    /// The parts that only a judge could decide.
    pub undetermined: Vec<String>,
    /// The parts for which these agents give nothing to measure, with the reason.
    pub unmeasured: Vec<String>,
    /// The share of the weights that timing has, 0 to 1.
    pub timing_share: f64,
    /// Why conversations could not be run, and why assertions could not be evaluated.
    pub broken: Vec<String>,
}

/// The score of one agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrivialScore {
    /// Its name.
    pub agent: String,
    /// The mean over conversations, 0 to 1; `None` where nothing was determined.
    pub score: Option<f64>,
}

/// An assertion, a metric or a task that an agent passes which does nothing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditFinding {
    /// The case's id.
    pub case: String,
    /// The dimension.
    pub dimension: String,
    /// The metric of the dimension.
    pub metric: String,
    /// Its part; `None` for all of it.
    pub part: Option<String>,
    /// The agents that it lets pass.
    pub agents: Vec<String>,
    /// Whether it holds before the first word.
    pub held_before: bool,
}

impl Audit {
    /// Adds up conversations, in which each agent has the same cases; `asks_judge` knows metrics by name.
    pub fn new(agents: &[&str], trials: &[AuditedTrial], asks_judge: fn(&str) -> bool) -> Audit {
        let mut audit = Audit::default();
        for agent in agents {
            let own = trials.iter().filter(|it| it.trial.model == *agent);
            let scores: Vec<f64> = own.filter_map(|it| it.scorecard.as_ref().and_then(figure)).collect();
            let score = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
            audit.agents.push(TrivialScore { agent: (*agent).to_owned(), score });
        }
        for trial in trials {
            match &trial.scorecard {
                Some(scorecard) => audit.add(&trial.trial, scorecard, asks_judge),
                None => {
                    let why = trial.outcome.error().unwrap_or("it came to no score");
                    add(&mut audit.broken, format!("case {}: {why}", trial.trial.case));
                }
            }
        }
        audit
    }

    /// The job's trivial-agent score: the highest of all agents.
    pub fn score(&self) -> Option<f64> {
        self.agents.iter().filter_map(|agent| agent.score).reduce(f64::max)
    }

    /// Why there is no score.
    pub fn why_no_score(&self) -> &'static str {
        match self {
            Audit { broken, .. } if !broken.is_empty() => "something could not be audited",
            Audit { findings, .. } if findings.iter().any(|it| it.held_before) => {
                "what holds before the first word is not counted, and nothing else is scored"
            }
            Audit { undetermined, .. } if !undetermined.is_empty() => "nothing could be scored without the judge",
            _ => "nothing is scored",
        }
    }

    fn add(&mut self, trial: &TrialId, scorecard: &Scorecard, asks_judge: fn(&str) -> bool) {
        let weight = |dimension: &&Dimension| dimension.weight.get();
        let used = || scorecard.dimensions.iter().filter(|it| !matches!(it.component, Component::NotApplicable { .. }));
        let timing: f64 = scorecard.dimensions.iter().filter(|it| is_timing(it)).map(|it| it.weight.get()).sum();
        let others: f64 = used().filter(|it| !is_timing(it)).map(|it| weight(&it)).sum();
        if timing > 0.0 {
            self.timing_share = self.timing_share.max(timing / (timing + others));
        }
        for dimension in timing_alone(scorecard) {
            let passes = dimension.component.score().is_some_and(|score| dimension.pass_line().is_met(score));
            if passes {
                self.find(trial, dimension, None, false);
            }
        }
        for dimension in counted(scorecard) {
            let is_of_assertions = dimension.metric() == "assertions";
            if known(dimension).is_none() && dimension.component.is_missing() {
                match dimension.metric() {
                    metric if asks_judge(metric) => add(&mut self.undetermined, dimension.name.clone()),
                    // Each of its parts is named.
                    _ if is_of_assertions => {}
                    _ => add(&mut self.unmeasured, format!("{} ({})", dimension.name, dimension.component.why())),
                }
            }
            for item in &dimension.items {
                let held_before = matches!(item.vacuity, Some(Vacuity::Vacuous | Vacuity::HeldBefore));
                if is_of_assertions && item.weight > Weight::ZERO && !held_before && item.component.is_missing() {
                    let why = item.component.why();
                    add(&mut self.broken, format!("case {}: assertion {}: {why}", trial.case, item.label));
                }
                let passes = item.weight > Weight::ZERO
                    && outcome(item).score().is_some_and(|score| dimension.pass_line().is_met(score));
                if passes || held_before {
                    self.find(trial, dimension, Some(&item.label), held_before);
                }
            }
            let passes = dimension.component.score().is_some_and(|score| dimension.pass_line().is_met(score));
            if dimension.items.is_empty() && passes {
                self.find(trial, dimension, None, false);
            }
        }
    }

    fn find(&mut self, trial: &TrialId, dimension: &Dimension, part: Option<&str>, held_before: bool) {
        let is_same = |it: &&mut AuditFinding| {
            it.case == trial.case && it.dimension == dimension.name && it.part.as_deref() == part
        };
        let known = self.findings.iter_mut().find(is_same);
        if let Some(known) = known {
            known.held_before |= held_before;
            return add(&mut known.agents, trial.model.clone());
        }
        self.findings.push(AuditFinding {
            case: trial.case.clone(),
            dimension: dimension.name.clone(),
            metric: dimension.metric().to_owned(),
            part: part.map(str::to_owned),
            agents: vec![trial.model.clone()],
            held_before,
        });
    }
}

fn add(texts: &mut Vec<String>, text: String) {
    if !texts.contains(&text) {
        texts.push(text);
    }
}

fn is_timing(dimension: &Dimension) -> bool {
    dimension.metric() == "timing"
}

/// An agent that does nothing is always fast.
fn counted(scorecard: &Scorecard) -> impl Iterator<Item = &Dimension> {
    scorecard.dimensions.iter().filter(|it| it.weight > Weight::ZERO && !is_timing(it))
}

/// Timing, where nothing else counts.
fn timing_alone(scorecard: &Scorecard) -> impl Iterator<Item = &Dimension> {
    let applies = |it: &&Dimension| !matches!(it.component, Component::NotApplicable { .. });
    let is_alone = !counted(scorecard).any(|it| applies(&it));
    let timing = scorecard.dimensions.iter().filter(|it| it.weight > Weight::ZERO && is_timing(it));
    timing.filter(move |_| is_alone)
}

/// The result of a part without a judge.
fn outcome(item: &Item) -> &Component {
    item.verified.as_ref().unwrap_or(&item.component)
}

/// The result of a dimension, as far as it is known without a judge.
fn known(dimension: &Dimension) -> Option<f64> {
    let parts = dimension.items.iter().filter_map(|item| Some((item.weight, outcome(item).score()?.get())));
    mean(parts).or_else(|| Some(dimension.component.score()?.get()))
}

fn figure(scorecard: &Scorecard) -> Option<f64> {
    let counts = counted(scorecard).chain(timing_alone(scorecard));
    mean(counts.filter_map(|dimension| Some((dimension.weight, known(dimension)?))))
}

fn mean(parts: impl Iterator<Item = (Weight, f64)>) -> Option<f64> {
    let (mut weights, mut sum) = (0.0, 0.0);
    for (weight, score) in parts {
        weights += weight.get();
        sum += weight.get() * score;
    }
    (weights > 0.0).then(|| sum / weights)
}
