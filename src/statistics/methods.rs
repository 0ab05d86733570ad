//! The methods behind the figures, by name, for whoever reads them in a document.

use serde::Serialize;

/// The methods of a run's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FigureMethods {
    /// The interval of a mean.
    pub mean: &'static str,
    /// The `interval` of a score, where it reaches farther than `tInterval`.
    pub unseen_cases: &'static str,
    /// The `skewedInterval` of a mean.
    pub skewed: &'static str,
    /// The interval of a share.
    pub share: &'static str,
    /// The interval of a percentile.
    pub percentile: &'static str,
    /// The test against a baseline.
    pub baseline: &'static str,
}

/// The methods of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonMethods {
    /// The `interval` of a difference.
    pub interval: &'static str,
    /// The `simultaneousInterval` of a score's difference.
    pub simultaneous_interval: &'static str,
    /// The `skewedInterval` of a difference.
    pub skewed_interval: &'static str,
    /// The test behind `p`.
    pub p: &'static str,
    /// The correction behind `adjustedP`.
    pub adjusted_p: &'static str,
    /// The test behind `signFlipP`.
    pub sign_flip_p: &'static str,
    /// The test behind `equivalenceP`.
    pub equivalence_p: &'static str,
}

/// The methods of a trend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrendMethods {
    /// The interval of a night's score.
    pub score: &'static str,
    /// The test behind `changes`.
    pub change: &'static str,
    /// The interval of a change.
    pub shift: &'static str,
}

const BY_T: &str = "Student's t over the means of the cases, cases - 1 degrees of freedom; of a single case over its repetitions (Welch)";
const BY_BOOTSTRAP: &str = "bootstrap-t over the means of the cases, drawn by rngSeed";

impl FigureMethods {
    /// Those of every run.
    pub const ALL: FigureMethods = FigureMethods {
        mean: BY_T,
        unseen_cases: "Student's t, widened by the share of unlike cases that may not have been drawn: 1 - 0.025^(1/cases)",
        skewed: BY_BOOTSTRAP,
        share: "Wilson, over as many conversations as those of the cases are worth",
        percentile: "Woodruff, with Student's t over the cases",
        baseline: "paired Student's t over the means of the cases, Holm over the models, their intervals at 1 - 0.05 / models (Bonferroni); non-inferiority by maxDrop",
    };
}

impl ComparisonMethods {
    /// Those of every comparison.
    pub const ALL: ComparisonMethods = ComparisonMethods {
        interval: BY_T,
        simultaneous_interval: "Student's t as for interval, at 1 - alpha / scores (Bonferroni)",
        skewed_interval: BY_BOOTSTRAP,
        p: "paired Student's t, two-sided; the flip of signs where the pairs show no spread",
        adjusted_p: "Holm",
        sign_flip_p: "flip of the cases' signs: every one up to 13 cases, else drawn by rngSeed; normal where more than 1,000 weigh alike",
        equivalence_p: "two one-sided tests by minEffect, allowing for cases that were not drawn",
    };
}

impl TrendMethods {
    /// Those of every trend.
    pub const ALL: TrendMethods = TrendMethods {
        score: BY_T,
        change: "a sequential test of the order of the nights, valid at every look: reported from evidence 20 on",
        shift: "Welch's t between the nights before and after",
    };
}
