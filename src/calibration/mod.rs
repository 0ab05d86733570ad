//! How far a judge can be believed: its verdicts beside people's, and beside its own when it is asked again. Pure. In come the
//! trials of runs with their scorecards, and labels; out come figures for each metric.

mod known;
mod labels;
mod samples;

pub use known::{CheckVerdict, Failed, Finding, Known, finding};
pub use labels::{Calibration, MetricCalibration, People, judged_card, judged_parts, part_key};
pub use samples::{Flips, Rejudged, RejudgedTrial};
