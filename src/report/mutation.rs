//! The report on what the assertions of a stored run notice.

use std::fmt::Write;

use super::{count, one_line, plain};
use crate::record::{MissedMutant, MutatedTrial, MutationKind, NotMeasured, NotMutated, mutation_counts};

/// The most characters of a change, and of what was altered.
const CHANGE: usize = 160;
const ALTERED: usize = 300;

/// The report on one run.
pub fn mutation(run: &str, job: &str, trials: &[MutatedTrial]) -> String {
    let mut text = format!("{} · {}\n", plain(run), plain(job));
    let (noticed, all) = mutation_counts(trials);
    let _ = match all {
        0 => writeln!(text, "mutation score not determined · nothing could be mutated"),
        _ => writeln!(
            text,
            "mutation score {:.2} · {noticed} of {all} mutants of what the agent changed in the graph are noticed",
            share(noticed, all)
        ),
    };
    let mut cases: Vec<&str> = Vec::new();
    for trial in trials {
        if !cases.contains(&trial.case.as_str()) {
            cases.push(&trial.case);
        }
    }
    for case in &cases {
        let own: Vec<&MutatedTrial> = trials.iter().filter(|it| it.case == *case).collect();
        let (noticed, all) = mutation_counts(own.iter().copied());
        if cases.len() > 1 && all > 0 {
            let _ = writeln!(text, "case {} {:.2} · {noticed} of {all}", plain(case), share(noticed, all));
        }
        for line in missed(&own) {
            let _ = writeln!(text, "  ✗ {line} (case {})", plain(case));
        }
    }
    for trial in trials {
        let name = plain(&trial.trial);
        match &trial.not_mutated {
            Some(NotMutated::Nothing(why)) => _ = writeln!(text, "  nothing to mutate in {name}: {}", plain(why)),
            Some(NotMutated::Unknown(why)) => _ = writeln!(text, "  not mutated: {name}: {}", plain(why)),
            None => {}
        }
        if let Some(NotMeasured { mutants, why }) = &trial.not_measured {
            let mutants = count(*mutants, "mutant");
            let _ = writeln!(
                text,
                "  not measured: {mutants} of {name}, an assertion could not be evaluated: {}",
                plain(why)
            );
        }
        if let Some(all) = trial.cut_from {
            let tried = trial.mutants + trial.not_measured.as_ref().map_or(0, |it| it.mutants);
            let _ = writeln!(text, "  of {all} mutants of {name}, {tried} were tried");
        }
    }
    if noticed < all {
        text.push_str("  assert how many there are, and the values that the conversation must bring\n");
    }
    text
}

/// A line for each change, with all that is not noticed about it.
fn missed(trials: &[&MutatedTrial]) -> Vec<String> {
    let mut changes: Vec<(&str, Vec<&MissedMutant>)> = Vec::new();
    for mutant in trials.iter().flat_map(|trial| &trial.missed) {
        match changes.iter_mut().find(|(change, _)| *change == mutant.change) {
            Some((_, own)) if own.contains(&mutant) => {}
            Some((_, own)) => own.push(mutant),
            None => changes.push((&mutant.change, vec![mutant])),
        }
    }
    let line = |(change, mutants): (&str, Vec<&MissedMutant>)| {
        let altered: Vec<&str> = mutants.iter().filter_map(|it| it.altered.as_deref()).collect();
        let kinds = mutants.iter().filter(|it| it.kind != MutationKind::Altered).map(|it| it.kind.as_str().to_owned());
        let altered = (!altered.is_empty()).then(|| format!("altered ({})", one_line(&altered.join(", "), ALTERED)));
        let all: Vec<String> = kinds.chain(altered).collect();
        format!("{}: no assertion notices if it is {}", one_line(change, CHANGE), all.join(", "))
    };
    changes.into_iter().map(line).collect()
}

fn share(noticed: usize, all: usize) -> f64 {
    noticed as f64 / all as f64
}
