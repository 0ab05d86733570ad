//! In how many conversations the persona played its part, in words.

use super::numbers::count;
use super::{plain, two_decimals};
use crate::record::{ModelValidity, Overview};

/// `the persona played its part in 47 of 50 conversations (0.94)`; `None` where fixed messages or rules spoke, or nothing was run.
pub(super) fn validity_text(run: &Overview) -> Option<String> {
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
    let models = &validity.of_models;
    let of_model = |it: &ModelValidity| format!("{} {} of {}", plain(&it.model), it.held - it.invalid, it.held);
    let by_model = match models.len() > 1 && validity.invalid > 0 {
        true => format!(": {}", models.iter().map(of_model).collect::<Vec<_>>().join(", ")),
        false => String::new(),
    };
    Some(format!("the persona played its part in {played} of {held}{share}{below}{by_model}"))
}

/// For each model with many conversations that were discarded: what its score would be, had the agent lost them.
pub(super) fn discarded_texts(run: &Overview) -> Vec<String> {
    let text = |it: &ModelValidity| {
        let figure = run.summary.figures.iter().find(|figure| figure.model == it.model)?;
        let score = figure.figure.score()?;
        let worst = it.worst(score)?;
        Some(format!(
            "{}: {} of {} were discarded because the persona erred, which an agent may bring about: had each scored 0, the score \
             would be {}, not {}",
            plain(&it.model),
            it.invalid,
            count(it.held, "conversation"),
            two_decimals(worst.get()),
            two_decimals(score.get())
        ))
    };
    run.validity.of_models.iter().filter_map(text).collect()
}

/// The most faults that are named as ones to allow.
const NAMED: usize = 3;

/// The advice where conversations have no score because of the persona, or too many were discarded; `None` otherwise.
pub(super) fn remedy_text(run: &Overview) -> Option<String> {
    let (validity, provenance) = (&run.validity, &run.summary.provenance);
    let is_below = provenance.min_validity.is_some_and(|least| validity.is_below(least));
    if validity.unscored == 0 && !is_below || matches!(provenance.persona_model.as_str(), "script" | "scripted") {
        return None;
    }
    let mut faults: Vec<_> = validity.faults.iter().collect();
    faults.sort_by_key(|(_, many)| std::cmp::Reverse(**many));
    let played = faults.iter().filter(|(guard, _)| guard.may_be_played());
    let keys: Vec<String> = played.take(NAMED).map(|(guard, _)| guard.key()).collect();
    let allow = match keys.as_slice() {
        [] => String::new(),
        keys => format!("; where the user is meant to do that, evaluator.allow: [{}]", keys.join(", ")),
    };
    let stuck = match validity.stuck {
        0 => String::new(),
        many => format!("{} not run again, as the persona fails there each time; ", were(many)),
    };
    Some(format!("{stuck}try another model as the persona (--evaluator-model){allow}"))
}

fn were(conversations: usize) -> String {
    format!("{} {}", count(conversations, "conversation"), if conversations == 1 { "was" } else { "were" })
}

/// `4 messages were faulty and asked for again: 3 repetition, 1 fact leak`; `None` where there was none.
pub(super) fn fault_text(run: &Overview) -> Option<String> {
    let faults = &run.validity.faults;
    let parts: Vec<String> = faults.iter().map(|(guard, many)| format!("{many} {}", guard.label())).collect();
    (!parts.is_empty()).then(|| format!("messages not sent: {}", parts.join(", ")))
}
