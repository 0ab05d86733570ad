//! The figures of a run, small enough to read those of a thousand runs at once.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{ListedRun, MeanFigure, ModelFigure, Passes, Percentile, Provenance, RunSummary};
use crate::evidence::Condition;
use crate::money::Dollars;
use crate::score::Score;

/// The parts of a provenance that decide how conversations go and what they are worth.
const DECIDING: [&str; 12] = [
    "jobDigest",
    "prompts",
    "persona",
    "personas",
    "personaModel",
    "personaTemperature",
    "judgeModel",
    "judgeTemperature",
    "modelEndpoint",
    "maxTurns",
    "steps",
    "toolVersion",
];

/// The figures of a run: how its job did that night, without conversations and reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFigures {
    /// The run as a list shows it: its job, its start, whether it ended, its verdict.
    pub run: ListedRun,
    /// Whether its user stopped it.
    pub interrupted: bool,
    /// SHA-256, in hex, of what decides how conversations go and what they are worth. Runs of one digest were made alike; runs
    /// of two may have been, since a comment in the job file makes another one.
    pub provenance_digest: String,
    /// SHA-256, in hex, of the same with the whole job: runs of one digest were made by the same rules. `None` where the job
    /// was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_digest: Option<String>,
    /// The known part of its cost in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
    /// Which of the job's cases were run, where not all of them were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// The id of the recorded run that it replays, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<String>,
    /// The runs of the parts of which it was merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<String>,
    /// The least score of the gate, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_score: Option<Score>,
    /// Whether it says of each case how many conversations pass: an earlier version kept that of all cases together.
    #[serde(default)]
    pub tells_passes: bool,
    /// Its models in the order of the run; none for a run that has not ended.
    pub models: Vec<ModelCells>,
}

/// The figures of one of the agent's models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCells {
    /// The agent's model.
    pub model: String,
    /// The mean of its cases, 0 to 1; `None` where one of them has no figure.
    pub score: Option<f64>,
    /// The mean with its interval, over the cases that have all of their conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<MeanFigure>,
    /// How often its conversations pass, where something is asked of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<Passes>,
    /// How long its replies take, in milliseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency: Vec<Percentile>,
    /// Each case in each condition, in the order of the plan.
    pub cells: Vec<CellFigure>,
}

/// The figure of one case in one condition, over its repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CellFigure {
    /// The case's id.
    pub case: String,
    /// The condition.
    pub condition: Condition,
    /// How many trials have a figure.
    pub n: u32,
    /// How many have none.
    pub missing: u32,
    /// How many pass or do not, each by itself; 0 where nothing is asked of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub decided: u32,
    /// How many of those pass.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed: u32,
    /// The mean of those that have one, 0 to 1.
    pub mean: Option<f64>,
}

impl From<&RunSummary> for RunFigures {
    fn from(summary: &RunSummary) -> RunFigures {
        let provenance = &summary.provenance;
        let part = provenance.part.as_ref().map(|_| "a part of the suite".to_owned());
        RunFigures {
            run: ListedRun::from(summary),
            interrupted: summary.interrupted,
            provenance_digest: digest(provenance),
            rules_digest: None,
            cost: summary.cost,
            selection: provenance.selection.clone().or(part),
            replayed: provenance.replayed.clone(),
            merged: provenance.merged.iter().flat_map(|merged| &merged.parts).map(|part| part.run.clone()).collect(),
            min_score: provenance.min_score,
            tells_passes: summary.tells_passes(),
            models: summary.figures.iter().map(ModelCells::from).collect(),
        }
    }
}

impl RunFigures {
    /// The figures with the digest of the rules: `job` is the text, in JSON, of the job that it was made with.
    pub fn with_job(self, job: Option<&[u8]>) -> RunFigures {
        let of_job = |job: &[u8]| hex(&Sha256::digest([self.provenance_digest.as_bytes(), job].concat()));
        let rules_digest = job.filter(|_| !self.provenance_digest.is_empty()).map(of_job);
        RunFigures { rules_digest, ..self }
    }
}

impl ModelCells {
    /// Its cases in the order of the plan: the score of each, the mean of its conditions' where each has one, and its cells.
    pub fn cases(&self) -> impl Iterator<Item = (&str, Option<f64>, &[CellFigure])> {
        self.cells.chunk_by(|one, other| one.case == other.case).map(|cells| {
            let sum = cells.iter().map(|cell| cell.mean).sum::<Option<f64>>();
            (cells[0].case.as_str(), sum.map(|sum| sum / cells.len() as f64), cells)
        })
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The figures of a run that has not ended, or of which an earlier version kept no more.
impl From<ListedRun> for RunFigures {
    fn from(run: ListedRun) -> RunFigures {
        let of_model = |figure: &super::ListedFigure| ModelCells {
            model: figure.model.clone(),
            score: figure.figure.score().map(|score| score.get()),
            estimate: None,
            passes: None,
            latency: Vec::new(),
            cells: Vec::new(),
        };
        let models = run.figures.iter().map(of_model).collect();
        RunFigures {
            run,
            interrupted: false,
            provenance_digest: String::new(),
            rules_digest: None,
            cost: None,
            selection: None,
            replayed: None,
            merged: Vec::new(),
            min_score: None,
            tells_passes: false,
            models,
        }
    }
}

impl From<&ModelFigure> for ModelCells {
    fn from(figure: &ModelFigure) -> ModelCells {
        let estimates = figure.estimates.as_deref();
        let cells = figure.cases.iter().flat_map(|case| {
            case.conditions.iter().map(|it| CellFigure {
                case: case.case.clone(),
                condition: it.condition,
                n: it.n,
                missing: it.missing,
                decided: it.decided,
                passed: it.passed,
                mean: it.figure.score().map(|score| score.get()),
            })
        });
        ModelCells {
            model: figure.model.clone(),
            score: figure.figure.score().map(|score| score.get()),
            estimate: estimates.and_then(|it| it.score),
            passes: estimates.and_then(|it| it.passes.clone()),
            latency: estimates.map(|it| it.latency.clone()).unwrap_or_default(),
            cells: cells.collect(),
        }
    }
}

/// SHA-256 of what decides how conversations go and what they are worth, in hex.
fn digest(provenance: &Provenance) -> String {
    let all = serde_json::to_value(provenance).unwrap_or_default();
    let parts: Vec<(&str, &Value)> = DECIDING.into_iter().filter_map(|key| Some((key, all.get(key)?))).collect();
    let text = serde_json::to_vec(&parts).unwrap_or_default();
    hex(&Sha256::digest(&text))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance(text: &str) -> Provenance {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_digest_is_of_what_decides_scores_and_of_nothing_else() {
        let held = provenance(r#"{"jobDigest": "aa", "judgeModel": "openai/j", "maxTurns": 4}"#);
        let elsewhere = Provenance { job_file: "other.yml".to_owned(), rng_seed: 7, ..held.clone() };
        assert_eq!(digest(&held), digest(&elsewhere));
        assert_eq!(digest(&held).len(), 64);
        for other in [
            Provenance { judge_model: "openai/k".to_owned(), ..held.clone() },
            Provenance { job_digest: "bb".to_owned(), ..held.clone() },
            Provenance { max_turns: 5, ..held.clone() },
        ] {
            assert_ne!(digest(&held), digest(&other), "{other:?}");
        }
    }

    #[test]
    fn figures_are_read_as_they_were_written_and_keep_what_is_missing() {
        let summary: RunSummary = serde_json::from_str(
            r#"{"version": 2, "id": "k3f9qz", "startedAt": "2026-11-20T21:45:12Z", "finishedAt": null, "interrupted": true,
                "provenance": {"job": "Desk", "models": ["m"]}, "verdict": "interrupted", "figures": [{"model": "m",
                "figure": {"kind": "missing", "error": "b: no trials"}, "cases": [
                {"case": "a", "figure": {"kind": "scored", "score": 0.5, "why": ""}, "conditions": [
                  {"condition": "withFacts", "n": 2, "missing": 1, "figure": {"kind": "scored", "score": 0.5, "why": ""}}]},
                {"case": "b", "figure": {"kind": "missing", "error": "no trials"}, "conditions": [
                  {"condition": "withFacts", "n": 0, "missing": 3, "figure": {"kind": "missing", "error": "no trials"}}]}]}]}"#,
        )
        .unwrap();
        let figures = RunFigures::from(&summary);
        let cells: Vec<_> =
            figures.models[0].cells.iter().map(|it| (it.case.as_str(), it.n, it.missing, it.mean)).collect();
        assert_eq!(cells, [("a", 2, 1, Some(0.5)), ("b", 0, 3, None)]);
        assert_eq!((figures.models[0].score, figures.interrupted, figures.run.finished_at), (None, true, None));
        let again: RunFigures = serde_json::from_str(&serde_json::to_string(&figures).unwrap()).unwrap();
        assert_eq!(again, figures);
    }
}
