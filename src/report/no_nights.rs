//! The line below a trend that names the runs that are no nights of it.

use super::trend::MAX_LISTED;
use super::{count, plain};
use crate::trend::{SkipReason, SkippedRun};

/// The runs that are no nights; `None` where there are none.
pub(super) fn no_nights_text(no_nights: &[SkippedRun]) -> Option<String> {
    let named = |is_one: &dyn Fn(&SkipReason) -> bool| -> Option<(usize, String)> {
        let runs: Vec<String> = no_nights.iter().filter(|it| is_one(&it.why)).map(|it| plain(&it.run)).collect();
        let more = runs.len().saturating_sub(MAX_LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown: Vec<&str> = runs.iter().rev().take(MAX_LISTED).map(String::as_str).collect();
        (!runs.is_empty()).then(|| (runs.len(), format!("{}{more}", shown.join(", "))))
    };
    let replays = named(&|why| matches!(why, SkipReason::Replay { .. }))
        .map(|(many, runs)| format!("{} ({runs})", count(many, "replay")));
    let merged = named(&|why| matches!(why, SkipReason::MergedAgain { .. }))
        .map(|(many, runs)| format!("{} of parts that were merged again later ({runs})", count(many, "run")));
    let recorded = named(&|why| matches!(why, SkipReason::Person))
        .map(|(many, runs)| format!("{} with a person ({runs})", count(many, "conversation")));
    let parts: Vec<String> = replays.into_iter().chain(recorded).chain(merged).collect();
    (!parts.is_empty()).then(|| format!("No nights: {}.", parts.join(", ")))
}
