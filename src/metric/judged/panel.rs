//! Several judgements of one question, as one.

use super::{JudgeItem, JudgeOptions, Scale, Verdict};
use crate::evidence::{Judgement, Observed};
use crate::metric::ReplyError;
use crate::score::{Component, Item, Score, majority};

/// Scores that differ by more than this, from 0 to 1, are a disagreement.
const SPREAD: f64 = 0.2;

/// The samples of one question, read.
pub(super) struct Samples {
    read: Vec<Vec<Verdict>>,
    /// Why others can't be used, or that nobody was asked.
    why: Vec<String>,
}

/// Reads the judgements of a question.
pub(super) fn samples(judgements: &[&Judgement], read: impl Fn(&str) -> Result<Vec<Verdict>, ReplyError>) -> Samples {
    let (mut usable, mut why) = (Vec::new(), Vec::new());
    for judgement in judgements {
        match &judgement.reply {
            Observed::Failed(error) => why.push(error.clone()),
            Observed::Seen(raw) => match read(raw) {
                Ok(verdicts) => usable.push(verdicts),
                Err(error) => why.push(error.to_string()),
            },
        }
    }
    if judgements.is_empty() {
        why.push("the judge was not asked".to_owned());
    }
    Samples { read: usable, why }
}

impl Samples {
    /// The items that the judge found: those of the first sample, for others find others.
    pub(super) fn found(&self) -> Result<Vec<JudgeItem>, String> {
        let first = self.read.first().ok_or_else(|| self.why.join("; "))?;
        let item = |verdict: &Verdict| JudgeItem::new(&*verdict.id, verdict.found.clone().unwrap_or_default(), None);
        Ok(first.iter().map(item).collect())
    }

    /// What all samples together come to for an item.
    pub(super) fn item(
        &self,
        item: &JudgeItem,
        (scale, second_below): (Scale, Option<Score>),
        options: &JudgeOptions,
    ) -> Item {
        let mut verdicts: Vec<&Verdict> =
            self.read.iter().filter_map(|all| all.iter().find(|verdict| verdict.id == item.id)).collect();
        let mut asked = self.read.len() + self.why.len();
        let second_try = match (second_below, verdicts.as_slice()) {
            (Some(line), [first, second, ..]) => Some(second_try((*first, *second), line)),
            _ => None,
        };
        if let Some(verdict) = second_try {
            (verdicts, asked) = (vec![verdict], 1);
        }
        let component = match combined(&verdicts, scale) {
            // Those that can't be used may have decided otherwise.
            Ok((component, usable)) if options.strict || usable * 2 > asked => component,
            Ok((_, usable)) => Component::missing(format!("only {usable} of {asked} verdicts can be used")),
            Err(Some(why)) => Component::missing(why),
            Err(None) if self.why.is_empty() => Component::missing("the judge gave no verdict on it"),
            Err(None) => Component::missing(self.why.join("; ")),
        };
        Item { turn: item.turn, weight: item.weight, ..Item::new(item.text.clone(), component) }
    }
}

/// Of two verdicts the second one where the first is below a line, whatever it says; else the first.
fn second_try<'v>((first, second): (&'v Verdict, &'v Verdict), line: Score) -> &'v Verdict {
    let is_below = matches!(first.decision, Ok(Some(score)) if score.is_below(line));
    if is_below { second } else { first }
}

/// The verdicts of several samples on one item as one, and how many of them can be used; else why none can.
fn combined(verdicts: &[&Verdict], scale: Scale) -> Result<(Component, usize), Option<String>> {
    let usable: Vec<(Option<Score>, &Verdict)> =
        verdicts.iter().filter_map(|verdict| Some((verdict.decision.clone().ok()?, *verdict))).collect();
    let Some((_, first)) = usable.first() else {
        return Err(verdicts.iter().find_map(|verdict| verdict.decision.clone().err()));
    };
    let scores: Vec<Score> = usable.iter().filter_map(|(score, _)| *score).collect();
    let component = if scores.len() * 2 < usable.len() || scores.is_empty() {
        scale.component(None, &first.reason)
    } else if scale == Scale::Ten {
        let numbers: Vec<f64> = scores.iter().map(|score| score.get()).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let lowest = numbers.iter().copied().fold(1.0, f64::min);
        let highest = numbers.iter().copied().fold(0.0, f64::max);
        let note = match scores.len() {
            1 => String::new(),
            count if highest - lowest > SPREAD => {
                format!(" (mean of {count} verdicts from {lowest:.1} to {highest:.1}: unstable)")
            }
            count => format!(" (mean of {count} verdicts)"),
        };
        Component::scored(Score::clamped(mean), format!("{}{note}", first.reason))
    } else {
        let half = Score::clamped(0.5);
        let wins = majority(&scores, half).is_some_and(|majority| majority.is_positive);
        let side = |score: Option<Score>| score.is_some_and(|score| score.is_below(half) != wins);
        let winner = usable.iter().find(|(score, _)| side(*score)).map_or(*first, |(_, verdict)| verdict);
        let alike = usable.iter().filter(|(score, _)| side(*score)).count();
        let note = match (usable.len(), alike) {
            (1, _) => String::new(),
            (all, alike) if all == alike => format!(" (all {all} verdicts)"),
            (all, alike) => format!(" (unstable: {alike} of {all} verdicts)"),
        };
        Component::scored(Score::from_bool(wins), format!("{}{note}", winner.reason))
    };
    Ok((component, usable.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(decision: Result<Option<f64>, &str>, reason: &str) -> Verdict {
        Verdict {
            id: "1".to_owned(),
            found: None,
            reason: reason.to_owned(),
            quotes: Vec::new(),
            turns_read: Vec::new(),
            decision: decision.map(|score| score.map(Score::clamped)).map_err(str::to_owned),
        }
    }

    fn combine(decisions: &[Result<Option<f64>, &str>], scale: Scale) -> Result<(Component, usize), Option<String>> {
        let verdicts: Vec<Verdict> =
            decisions.iter().zip(["a", "b", "c", "d"]).map(|(it, reason)| verdict(*it, reason)).collect();
        combined(&verdicts.iter().collect::<Vec<_>>(), scale)
    }

    #[test]
    fn the_majority_decides_and_a_tie_is_against_it() {
        let yes_no = |decisions: &[Result<Option<f64>, &str>]| combine(decisions, Scale::YesNo).unwrap().0;
        assert_eq!(yes_no(&[Ok(Some(1.0))]), Component::scored(Score::ONE, "a"));
        assert_eq!(
            yes_no(&[Ok(Some(0.0)), Ok(Some(1.0)), Ok(Some(1.0))]),
            Component::scored(Score::ONE, "b (unstable: 2 of 3 verdicts)")
        );
        assert_eq!(
            yes_no(&[Ok(Some(1.0)), Ok(Some(0.0))]),
            Component::scored(Score::ZERO, "b (unstable: 1 of 2 verdicts)")
        );
        assert_eq!(yes_no(&[Ok(Some(1.0)), Ok(Some(1.0))]), Component::scored(Score::ONE, "a (all 2 verdicts)"));
        assert_eq!(yes_no(&[Ok(None), Ok(None), Ok(Some(0.0))]), Component::not_applicable("a"));
        assert_eq!(combine(&[Err("no quote")], Scale::YesNo), Err(Some("no quote".to_owned())));
        assert_eq!(combine(&[], Scale::YesNo), Err(None));
    }

    #[test]
    fn scores_are_averaged_and_a_wide_spread_is_said() {
        let ten =
            |scores: &[f64]| combine(&scores.iter().map(|it| Ok(Some(*it))).collect::<Vec<_>>(), Scale::Ten).unwrap().0;
        assert_eq!(ten(&[0.7]), Component::scored(Score::clamped(0.7), "a"));
        let wide = ten(&[0.3, 0.9]);
        assert!((wide.score().unwrap().get() - 0.6).abs() < 1e-12);
        assert_eq!(wide.why(), "a (mean of 2 verdicts from 0.3 to 0.9: unstable)");
    }
}
