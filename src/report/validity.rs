//! In how many conversations the persona played its part, in words.

use super::numbers::count;
use super::two_decimals;
use crate::record::Overview;

/// `the persona played its part in 47 of 50 conversations (0.94)`; `None` where fixed messages or rules spoke, or nothing was held.
pub(super) fn validity_words(run: &Overview) -> Option<String> {
    let (validity, provenance) = (&run.validity, &run.summary.provenance);
    let is_asked = provenance.min_validity.is_some();
    let is_model =
        !matches!(provenance.persona_model.as_str(), "script" | "scripted") && provenance.recorded.is_empty();
    let rate = validity.rate().filter(|_| is_model || is_asked || validity.invalid > 0)?;
    let held = count(validity.held, "conversation");
    let played = validity.held - validity.invalid;
    let share = if validity.invalid == 0 { String::new() } else { format!(" ({})", two_decimals(rate.get())) };
    let below = provenance.min_validity.filter(|least| rate.is_below(*least));
    let below = below.map(|least| format!(", and gate.minValidity is {}", least.get())).unwrap_or_default();
    Some(format!("the persona played its part in {played} of {held}{share}{below}"))
}

/// `4 messages were faulty and asked for again: 3 repetition, 1 fact leak`; `None` where there was none.
pub(super) fn fault_words(run: &Overview) -> Option<String> {
    let faults = &run.validity.faults;
    let parts: Vec<String> = faults.iter().map(|(guard, many)| format!("{many} {}", guard.label())).collect();
    (!parts.is_empty()).then(|| format!("messages not sent: {}", parts.join(", ")))
}
