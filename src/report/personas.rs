//! The figures of the kinds of users with which a run's cases were run, in words.

use super::{plain, two_decimals};
use crate::record::{ModelFigure, Overview};
use crate::score::Component;

/// `by user: terse 0.81, hostile 0.62`, a line for each of the agent's models; none where fewer than two kinds of users are
/// named.
pub(super) fn persona_lines(run: &Overview) -> Vec<String> {
    let summary = &run.summary;
    let names_models = summary.figures.len() > 1;
    let of_model = |figure: &ModelFigure| {
        let score = |figure: &Component| figure.score().map_or("missing".to_owned(), |it| two_decimals(it.get()));
        let of_one = |it: &crate::record::PersonaFigure| format!("{} {}", plain(&it.persona), score(&it.figure));
        let users: Vec<String> = figure.personas.iter().map(of_one).collect();
        let model = if names_models { format!("{}: ", plain(&figure.model)) } else { String::new() };
        (users.len() > 1).then(|| format!("by user: {model}{}", users.join(", ")))
    };
    summary.figures.iter().filter_map(of_model).collect()
}
