//! Several judgements of one question, as one.

use super::{ItemVerdict, JudgeItem, JudgeOptions, Scale, UnknownVerdict, VerdictError};
use crate::evidence::{Judgement, Observed, ScoreAlternative};
use crate::metric::ReplyError;
use crate::score::{Component, Item, Score, is_settled, majority};

/// Scores that differ by more than this, from 0 to 1, are a disagreement.
pub(in crate::metric) const SPREAD: f64 = 0.2;

/// The samples of one question, read.
pub(super) struct Samples {
    read: Vec<Vec<ItemVerdict>>,
    /// Why others can't be used, or that the judge was not asked.
    why: Vec<String>,
}

/// Reads the judgements of a question.
pub(super) fn samples(
    judgements: &[&Judgement],
    read: impl Fn(&str, &[ScoreAlternative]) -> Result<Vec<ItemVerdict>, ReplyError>,
) -> Samples {
    let (mut usable, mut why) = (Vec::new(), Vec::new());
    for judgement in judgements {
        match &judgement.reply {
            Observed::Failed(error) => why.push(error.clone()),
            Observed::Seen(raw) => match read(raw, &judgement.alternatives) {
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

/// The scale of a metric's marks, and the mark below which a second sample counts instead of the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marking {
    pub(super) scale: Scale,
    pub(super) second_below: Option<Score>,
}

impl Samples {
    /// Each sample that can be read, by itself.
    pub(super) fn each(&self) -> impl Iterator<Item = Samples> {
        self.read.iter().map(|verdicts| Samples { read: vec![verdicts.clone()], why: Vec::new() })
    }

    /// Why others can't be read, or that the judge was not asked.
    pub(super) fn unusable(&self) -> &[String] {
        &self.why
    }

    /// The items that the judge found, in all samples.
    pub(super) fn found(&self) -> Vec<JudgeItem> {
        let item =
            |verdict: &ItemVerdict| JudgeItem::new(&*verdict.id, verdict.found.clone().unwrap_or_default(), None);
        self.read.iter().flatten().map(item).collect()
    }

    /// Why some of the verdicts on an item can't be used.
    fn problems(&self, verdicts: &[&ItemVerdict]) -> Vec<String> {
        let unusable = verdicts.iter().filter_map(|verdict| verdict.decision.as_ref().err());
        unusable.map(ToString::to_string).chain(self.why.iter().cloned()).collect()
    }

    /// The item with its score by all samples.
    pub(super) fn item(&self, item: &JudgeItem, marking: Marking, options: &JudgeOptions) -> Item {
        let mut verdicts: Vec<&ItemVerdict> =
            self.read.iter().filter_map(|all| all.iter().find(|verdict| verdict.id == item.id)).collect();
        let mut asked = self.read.len() + self.why.len();
        let Marking { scale, second_below } = marking;
        let second_try = match (second_below, verdicts.as_slice()) {
            (Some(line), [first, second, ..]) => Some(second_try(first, second, line)),
            _ => None,
        };
        if let Some(verdict) = second_try {
            (verdicts, asked) = (vec![verdict], 1);
        }
        let component = match combined(&verdicts, scale) {
            Ok((component, usable)) if options.strict || is_enough(&verdicts, scale, usable, asked) => component,
            Ok((_, usable)) => Component::missing(few(usable, asked, &self.problems(&verdicts))),
            Err(Some(error)) => Component::missing(error.to_string()),
            Err(None) if !self.why.is_empty() => Component::missing(reasons(&self.why)),
            Err(None) if options.unknown() == UnknownVerdict::LeftOut && !options.strict => {
                Component::not_applicable("the judge's verdict on it can't be used, and is left out")
            }
            Err(None) => Component::missing("the judge gave no usable verdict on it"),
        };
        self::item(item, component)
    }
}

/// Whether enough verdicts can be used: most of them, and so many that the others could not turn the result.
fn is_enough(verdicts: &[&ItemVerdict], scale: Scale, usable: usize, asked: usize) -> bool {
    let scores: Vec<Score> = verdicts.iter().filter_map(|verdict| verdict.decision.clone().ok()?).collect();
    let (inapplicable, failed) = (usable - scores.len().min(usable), asked - usable);
    let winners = inapplicable.max(scores.len());
    let is_applying_settled = inapplicable == 0 || failed == 0 || winners * 2 > asked;
    let is_settled = match scale {
        _ if failed == 0 || scores.len() < inapplicable => true,
        Scale::Ten => is_mean_settled(&scores.iter().map(|score| score.get()).collect::<Vec<_>>(), failed),
        _ => is_settled(&scores, Score::clamped(0.5), failed),
    };
    usable * 2 > asked && is_applying_settled && is_settled
}

/// The message that too few verdicts can be used, with the problems of the others.
pub(in crate::metric) fn few(usable: usize, asked: usize, problems: &[String]) -> String {
    let what = match usable * 2 > asked {
        true => format!("{usable} of {asked} verdicts can be used, and the others could have turned the result"),
        false => format!("only {usable} of {asked} verdicts can be used"),
    };
    if problems.is_empty() { what } else { format!("{what}: {}", reasons(problems).trim_end_matches('.')) }
}

/// An item with what it comes to.
pub(super) fn item(item: &JudgeItem, component: Component) -> Item {
    Item { turn: item.turn, weight: item.weight, ..Item::new(item.text.clone(), component) }
}

/// The mean of samples each of which has items and a score of its own, with the items of the one that is nearest to it.
pub(super) fn mean_of_samples(
    mut each: Vec<(Vec<Item>, Component)>,
    why: &[String],
    options: &JudgeOptions,
) -> (Vec<Item>, Component) {
    let asked = each.len() + why.len();
    if asked == 1 && each.len() == 1 {
        return each.remove(0);
    }
    let missing = each.iter().filter(|(_, component)| component.is_missing()).map(|(_, it)| it.why().to_owned());
    let why: Vec<String> = missing.chain(why.iter().cloned()).collect();
    each.retain(|(_, component)| !component.is_missing());
    let usable = each.len();
    if usable == 0 {
        return (Vec::new(), Component::missing(reasons(&why)));
    }
    if !options.strict && usable * 2 <= asked {
        return (Vec::new(), Component::missing(few(usable, asked, &why)));
    }
    let scores: Vec<f64> = each.iter().filter_map(|(_, component)| Some(component.score()?.get())).collect();
    let (inapplicable, failed) = (usable - scores.len(), asked - usable);
    let winners = inapplicable.max(scores.len());
    // Whether anything applies is voted on first, as judges of a panel do.
    let is_applying_settled = inapplicable == 0 || failed == 0 || winners * 2 > asked;
    let is_tie_good = scores.len() == inapplicable && scores.iter().sum::<f64>() * 2.0 >= scores.len() as f64;
    if !options.strict && !is_applying_settled {
        return (Vec::new(), Component::missing(few(usable, asked, &why)));
    }
    if scores.len() < inapplicable || is_tie_good {
        each.retain(|(_, component)| component.score().is_none());
        return each.remove(0);
    }
    if !options.strict && !is_mean_settled(&scores, failed) {
        return (Vec::new(), Component::missing(few(usable, asked, &why)));
    }
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    let distance = |component: &Component| component.score().map_or(f64::INFINITY, |it| (it.get() - mean).abs());
    each.sort_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    let (items, nearest) = each.remove(0);
    let component = Component::scored(Score::clamped(mean), format!("{}{}", nearest.why(), note_on(&scores)));
    (items, component.unstable_if(inapplicable > 0 || spread(&scores) > SPREAD))
}

/// Reasons, each once.
pub(in crate::metric) fn reasons(why: &[String]) -> String {
    let mut all: Vec<(&str, usize)> = Vec::new();
    for reason in why {
        match all.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => all.push((reason, 1)),
        }
    }
    let times = |(reason, count): (&str, usize)| match count {
        1 => reason.to_owned(),
        count => format!("{reason} ({count} times)"),
    };
    all.into_iter().map(times).collect::<Vec<_>>().join("; ")
}

/// Whether scores that could not be had would leave the mean of these where it is: these agree, or those are too few to move it far.
pub(in crate::metric) fn is_mean_settled(scores: &[f64], failed: usize) -> bool {
    failed as f64 <= SPREAD * (scores.len() + failed) as f64 || spread(scores) <= SPREAD + Score::HAIR
}

/// How far scores lie apart.
pub(in crate::metric) fn spread(scores: &[f64]) -> f64 {
    let lowest = scores.iter().copied().fold(1.0, f64::min);
    let highest = scores.iter().copied().fold(0.0, f64::max);
    (highest - lowest).max(0.0)
}

/// How far the scores of several samples lie apart, in words.
fn note_on(scores: &[f64]) -> String {
    let lowest = scores.iter().copied().fold(1.0, f64::min);
    let highest = scores.iter().copied().fold(0.0, f64::max);
    match scores.len() {
        1 => String::new(),
        count if highest - lowest > SPREAD => {
            format!(" (mean of {count} verdicts from {lowest:.1} to {highest:.1}: unstable)")
        }
        count => format!(" (mean of {count} verdicts)"),
    }
}

/// The second of two verdicts where the first is below a line, whatever it says; else the first.
fn second_try<'v>(first: &'v ItemVerdict, second: &'v ItemVerdict, line: Score) -> &'v ItemVerdict {
    let is_below = matches!(first.decision, Ok(Some(score)) if score.is_below(line));
    if is_below { second } else { first }
}

/// The verdicts of several samples on one item as one, and how many of them can be used; else why none can.
fn combined(verdicts: &[&ItemVerdict], scale: Scale) -> Result<(Component, usize), Option<VerdictError>> {
    let usable: Vec<(Option<Score>, &ItemVerdict)> =
        verdicts.iter().filter_map(|verdict| Some((verdict.decision.clone().ok()?, *verdict))).collect();
    let Some((_, first)) = usable.first() else {
        return Err(verdicts.iter().find_map(|verdict| verdict.decision.clone().err()));
    };
    let scores: Vec<Score> = usable.iter().filter_map(|(score, _)| *score).collect();
    let inapplicable = usable.len() - scores.len();
    let half = Score::clamped(0.5);
    let wins = scale != Scale::Ten && majority(&scores, half).is_some_and(|majority| majority.is_positive);
    // Whether it applies is voted on first; a tie is no good mark for the agent.
    let is_inapplicable = inapplicable > scores.len() || (inapplicable == scores.len() && wins);
    let component = if is_inapplicable {
        let reason =
            usable.iter().find(|(score, _)| score.is_none()).map_or(&first.reason, |(_, verdict)| &verdict.reason);
        scale.component(None, reason)
    } else if scale == Scale::Ten {
        let numbers: Vec<f64> = scores.iter().map(|score| score.get()).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let note = note_on(&numbers);
        Component::scored(Score::clamped(mean), format!("{}{note}", first.reason))
            .unstable_if(spread(&numbers) > SPREAD || inapplicable > 0)
    } else {
        let side = |score: Option<Score>| score.is_some_and(|score| score.is_below(half) != wins);
        let winner = usable.iter().find(|(score, _)| side(*score)).map_or(*first, |(_, verdict)| verdict);
        let alike = usable.iter().filter(|(score, _)| side(*score)).count();
        let note = match (usable.len(), alike) {
            (1, _) => String::new(),
            (all, alike) if all == alike => format!(" (all {all} verdicts)"),
            (all, alike) => format!(" (unstable: {alike} of {all} verdicts)"),
        };
        Component::scored(Score::from_bool(wins), format!("{}{note}", winner.reason)).unstable_if(alike < usable.len())
    };
    Ok((component, usable.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::judged::Citations;

    fn verdict(decision: Result<Option<f64>, &str>, reason: &str) -> ItemVerdict {
        ItemVerdict {
            id: "1".to_owned(),
            found: None,
            reason: reason.to_owned(),
            citations: Citations::default(),
            label: None,
            decision: decision
                .map(|score| score.map(Score::clamped))
                .map_err(|why| VerdictError::Evidence(why.to_owned())),
        }
    }

    fn combine(
        decisions: &[Result<Option<f64>, &str>],
        scale: Scale,
    ) -> Result<(Component, usize), Option<VerdictError>> {
        let verdicts: Vec<ItemVerdict> =
            decisions.iter().zip(["a", "b", "c", "d"]).map(|(it, reason)| verdict(*it, reason)).collect();
        combined(&verdicts.iter().collect::<Vec<_>>(), scale)
    }

    #[test]
    fn the_majority_decides_and_a_tie_is_against_it() {
        let yes_no = |decisions: &[Result<Option<f64>, &str>]| combine(decisions, Scale::YesNo).unwrap().0;
        assert_eq!(yes_no(&[Ok(Some(1.0))]), Component::scored(Score::ONE, "a"));
        assert_eq!(
            yes_no(&[Ok(Some(0.0)), Ok(Some(1.0)), Ok(Some(1.0))]),
            Component::scored(Score::ONE, "b (unstable: 2 of 3 verdicts)").unstable_if(true)
        );
        assert_eq!(
            yes_no(&[Ok(Some(1.0)), Ok(Some(0.0))]),
            Component::scored(Score::ZERO, "b (unstable: 1 of 2 verdicts)").unstable_if(true)
        );
        assert_eq!(yes_no(&[Ok(Some(1.0)), Ok(Some(1.0))]), Component::scored(Score::ONE, "a (all 2 verdicts)"));
        assert_eq!(yes_no(&[Ok(None), Ok(None), Ok(Some(0.0))]), Component::not_applicable("a"));
        assert_eq!(yes_no(&[Ok(Some(1.0)), Ok(None)]), Component::not_applicable("b"), "a tie is no good mark");
        let bad = yes_no(&[Ok(None), Ok(Some(0.0))]);
        assert_eq!((bad.score(), bad.is_unstable()), (Some(Score::ZERO), true));
        assert!(yes_no(&[Ok(Some(1.0)), Ok(Some(1.0)), Ok(None)]).is_unstable());
        assert_eq!(combine(&[Err("no quote")], Scale::YesNo), Err(Some(VerdictError::Evidence("no quote".to_owned()))));
        assert_eq!(combine(&[], Scale::YesNo), Err(None));
    }

    #[test]
    fn samples_with_items_of_their_own_have_a_mean() {
        let scored = |score: f64| {
            (
                vec![Item::new(score.to_string(), Component::missing(""))],
                Component::scored(Score::clamped(score), "1 of 2 hold"),
            )
        };
        let none = || (Vec::new(), Component::not_applicable("the judge found nothing"));
        let mean = |each: Vec<(Vec<Item>, Component)>, why: &[&str]| {
            let why: Vec<String> = why.iter().map(|why| (*why).to_owned()).collect();
            mean_of_samples(each, &why, &JudgeOptions::default())
        };
        let (items, component) = mean(vec![none(), scored(0.5), scored(1.0), scored(0.0)], &[]);
        assert_eq!((items[0].label.as_str(), component.score()), ("0.5", Score::new(0.5)));
        assert!(component.why().ends_with("(mean of 3 verdicts from 0.0 to 1.0: unstable)"), "{}", component.why());
        assert_eq!(mean(vec![none(), none(), scored(1.0)], &[]).1, none().1, "most found nothing");
        assert_eq!(
            mean(vec![scored(1.0)], &["no reply"]).1,
            Component::missing("only 1 of 2 verdicts can be used: no reply")
        );
        assert_eq!(mean(Vec::new(), &["down", "down", "slow"]).1, Component::missing("down (2 times); slow"));
        let apart = "2 of 3 verdicts can be used, and the others could have turned the result: no reply";
        assert_eq!(mean(vec![scored(1.0), scored(0.0)], &["no reply"]).1, Component::missing(apart));
        assert_eq!(mean(vec![scored(0.9), scored(1.0)], &["no reply"]).1.score(), Score::new(0.95));
        let most = [0.65, 0.7, 0.7, 0.75, 0.75, 0.8, 0.85, 0.9];
        let component = mean(most.map(scored).to_vec(), &["no reply"]).1;
        assert!(component.is_unstable() && component.score().is_some(), "one of nine moves little: {component:?}");
        // Without a score there is no mean, in no dialect.
        let strict = JudgeOptions { strict: true, ..JudgeOptions::default() };
        let one_failed = mean_of_samples(vec![none()], &["no reply".to_owned()], &strict);
        assert_eq!(one_failed.1, none().1);
        assert_eq!(mean(vec![scored(1.0), none()], &[]).1, none().1, "a tie is no good mark");
        let yes_yes = mean(vec![scored(1.0), scored(1.0), none()], &[]).1;
        assert!(yes_yes.is_unstable() && yes_yes.score() == Some(Score::ONE), "{yes_yes:?}");
        assert!(
            mean(vec![scored(1.0), scored(1.0), none()], &["down", "down"]).1.is_missing(),
            "two could have turned it"
        );
        let broken = (Vec::new(), Component::missing("no quote"));
        assert_eq!(mean(vec![broken.clone()], &[]).1, Component::missing("no quote"));
        assert_eq!(
            mean(vec![scored(1.0), broken.clone(), broken], &[]).1,
            Component::missing("only 1 of 3 verdicts can be used: no quote (2 times)")
        );
    }

    #[test]
    fn scores_are_averaged_and_a_wide_spread_is_reported() {
        let ten =
            |scores: &[f64]| combine(&scores.iter().map(|it| Ok(Some(*it))).collect::<Vec<_>>(), Scale::Ten).unwrap().0;
        assert_eq!(ten(&[0.7]), Component::scored(Score::clamped(0.7), "a"));
        let wide = ten(&[0.3, 0.9]);
        assert!((wide.score().unwrap().get() - 0.6).abs() < 1e-12);
        assert_eq!(wide.why(), "a (mean of 2 verdicts from 0.3 to 0.9: unstable)");
    }
}
