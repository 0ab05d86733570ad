//! A panel of judges: each is asked everything, has a score by its own verdicts alone, and these come to one.

use std::cmp::Ordering;

use super::judged::{SPREAD, is_mean_settled, reasons};
use super::{Metric, MetricInput};
use crate::evidence::Judgement;
use crate::score::{Component, Dimension, Item, Score, is_settled, majority};

/// How the verdicts of several judges come to one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Vote {
    /// The majority of those that reach this score decides; a tie is against the agent.
    Majority(Score),
    /// Their mean.
    Mean,
}

/// The scores of a panel for a conversation. `seats` names its judges; none where there is only one.
pub fn combine_panel(
    metric: &dyn Metric,
    input: &MetricInput<'_>,
    seats: &[String],
    judgements: &[Judgement],
) -> Dimension {
    if seats.is_empty() {
        return metric.score(input, judgements);
    }
    let of_judge = |seat: &String| {
        // What embeddings answered is everybody's.
        let is_own = |judgement: &&Judgement| judgement.judge == *seat || !seats.contains(&judgement.judge);
        let own: Vec<Judgement> = judgements.iter().filter(is_own).cloned().collect();
        metric.score(input, &own)
    };
    let each: Vec<Dimension> = seats.iter().map(of_judge).collect();
    merged(metric, seats, each)
}

fn merged(metric: &dyn Metric, seats: &[String], mut each: Vec<Dimension>) -> Dimension {
    // Nothing that a judge was asked.
    if each.windows(2).all(|pair| pair[0] == pair[1]) {
        return each.swap_remove(0);
    }
    let labels = |dimension: &Dimension| dimension.items.iter().map(|item| item.label.clone()).collect::<Vec<_>>();
    let has_same_items = each.windows(2).all(|pair| labels(&pair[0]) == labels(&pair[1]));
    if !has_same_items || each[0].items.is_empty() {
        let vote = if has_same_items { metric.vote() } else { Vote::Mean };
        let component = voted(&beside(seats, each.iter().map(|dimension| &dimension.component)), vote);
        let distance = |dimension: &Dimension| match (dimension.component.score(), component.score()) {
            (Some(own), Some(all)) => (own.get() - all.get()).abs(),
            _ => f64::INFINITY,
        };
        // Each judge found items of its own: those are shown whose score is nearest to that of all.
        each.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        return Dimension { component, ..each.swap_remove(0) };
    }
    let item = |at: usize| {
        let verdicts = beside(seats, each.iter().map(|dimension| &dimension.items[at].component));
        Item { component: voted(&verdicts, metric.vote()), ..each[0].items[at].clone() }
    };
    let items: Vec<Item> = (0..each[0].items.len()).map(item).collect();
    Dimension { component: metric.score_items(&items), items, ..each.swap_remove(0) }
}

fn beside<'a>(seats: &'a [String], components: impl Iterator<Item = &'a Component>) -> Vec<(&'a str, &'a Component)> {
    seats.iter().map(String::as_str).zip(components).collect()
}

/// The judges' scores, each with its name. Less than a majority of usable verdicts is none.
fn voted(verdicts: &[(&str, &Component)], vote: Vote) -> Component {
    let usable: Vec<(&str, &Component)> = verdicts.iter().copied().filter(|(_, it)| !it.is_missing()).collect();
    if usable.len() * 2 <= verdicts.len() {
        let why = |(judge, component): &(&str, &Component)| format!("{judge}: {}", component.why());
        let why: Vec<String> = verdicts.iter().filter(|(_, it)| it.is_missing()).map(why).collect();
        return Component::missing(format!(
            "only {} of {} judges gave a usable verdict: {}",
            usable.len(),
            verdicts.len(),
            reasons(&why)
        ));
    }
    let scored: Vec<(&str, Score, &str)> =
        usable.iter().filter_map(|(judge, it)| Some((*judge, it.score()?, it.why()))).collect();
    let scores: Vec<Score> = scored.iter().map(|(_, score, _)| *score).collect();
    let inapplicable: Vec<(&str, &Component)> = usable.iter().copied().filter(|(_, it)| it.score().is_none()).collect();
    let failed = verdicts.len() - usable.len();
    // Whether it applies is voted on first; a tie is no good mark for the agent.
    let is_positive = match vote {
        Vote::Majority(line) => majority(&scores, line).is_some_and(|it| it.is_positive),
        Vote::Mean => scores.iter().map(|score| score.get()).sum::<f64>() * 2.0 >= scores.len() as f64,
    };
    let is_inapplicable = match (inapplicable.len() * 2).cmp(&usable.len()) {
        Ordering::Greater => true,
        Ordering::Equal => is_positive,
        Ordering::Less => false,
    };
    let winners = if is_inapplicable { inapplicable.len() } else { scored.len() };
    let applies_settled = inapplicable.is_empty() || failed == 0 || winners * 2 > verdicts.len();
    let is_score_settled = match vote {
        _ if is_inapplicable => true,
        Vote::Majority(line) => is_settled(&scores, line, failed),
        Vote::Mean => is_mean_settled(&scores.iter().map(|score| score.get()).collect::<Vec<_>>(), failed),
    };
    if !applies_settled || !is_score_settled {
        let failed = verdicts.iter().filter(|(_, it)| it.is_missing());
        let failed: Vec<String> = failed.map(|(judge, it)| format!("{judge}: {}", it.why())).collect();
        return Component::missing(format!(
            "{} of {} judges gave a usable verdict, and the others could have turned the result: {}",
            usable.len(),
            verdicts.len(),
            reasons(&failed)
        ));
    }
    if let Some((_, component)) = inapplicable.first().filter(|_| is_inapplicable) {
        return (*component).clone();
    }
    let names: Vec<&str> = inapplicable.iter().map(|(judge, _)| *judge).collect();
    let component = match vote {
        Vote::Majority(line) => decided(&scored, &names, line),
        Vote::Mean => averaged(&scored),
    };
    let failed: Vec<&str> = verdicts.iter().filter(|(_, it)| it.is_missing()).map(|(judge, _)| *judge).collect();
    match component {
        Component::Scored { score, why, unstable } if !failed.is_empty() => {
            Component::scored(score, format!("{why} (without {}, who gave no usable verdict)", failed.join(", ")))
                .unstable_if(unstable)
        }
        component => component,
    }
    .unstable_if(!inapplicable.is_empty() || usable.iter().any(|(_, component)| component.is_unstable()))
}

/// The verdict of the majority; `inapplicable` are the judges who say that it does not apply.
fn decided(scored: &[(&str, Score, &str)], inapplicable: &[&str], line: Score) -> Component {
    let scores: Vec<Score> = scored.iter().map(|(_, score, _)| *score).collect();
    let Some(majority) = majority(&scores, line) else { return Component::missing("no judge gave a verdict") };
    let is_alike = |score: Score| score.is_below(line) != majority.is_positive;
    let others = scored.iter().filter(|(_, score, _)| !is_alike(*score)).map(|(judge, ..)| *judge);
    let others: Vec<&str> = others.chain(inapplicable.iter().copied()).collect();
    let (_, score, why) = scored[majority.representative];
    let all = scored.len() + inapplicable.len();
    let note = match (all, others.len()) {
        (1, _) => String::new(),
        (all, 0) => format!("all {all} judges"),
        (all, against) => {
            let verb = if against == 1 { "disagrees" } else { "disagree" };
            format!("unstable: {} of {all} judges agree; {} {verb}", all - against, others.join(", "))
        }
    };
    Component::scored(score, noted(why, &note)).unstable_if(!others.is_empty())
}

fn averaged(scored: &[(&str, Score, &str)]) -> Component {
    let numbers: Vec<f64> = scored.iter().map(|(_, score, _)| score.get()).collect();
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let distance = |score: Score| (score.get() - mean).abs();
    let nearest = scored.iter().min_by(|(_, a, _), (_, b, _)| distance(*a).total_cmp(&distance(*b)));
    let why = nearest.map_or("", |(_, _, why)| why);
    let lowest = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let each: Vec<String> = scored.iter().map(|(judge, score, _)| format!("{judge} {:.2}", score.get())).collect();
    let note = match numbers.len() {
        1 => String::new(),
        _ if highest - lowest > SPREAD => format!("unstable: {}", each.join(", ")),
        _ => each.join(", "),
    };
    Component::scored(Score::clamped(mean), noted(why, &note)).unstable_if(highest - lowest > SPREAD)
}

fn noted(why: &str, note: &str) -> String {
    if note.is_empty() { why.to_owned() } else { format!("{why} ({note})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(score: f64) -> Component {
        Component::scored(Score::clamped(score), format!("says {score}"))
    }

    fn vote(verdicts: &[(&str, Component)], vote: Vote) -> Component {
        voted(&verdicts.iter().map(|(judge, component)| (*judge, component)).collect::<Vec<_>>(), vote)
    }

    #[test]
    fn the_majority_of_judges_decides_and_names_the_others() {
        let half = Vote::Majority(Score::clamped(0.5));
        let found = vote(&[("a", score(1.0)), ("b", score(0.0)), ("c", score(1.0))], half);
        let unstable = |score, why: &str| Component::scored(score, why).unstable_if(true);
        assert_eq!(found, unstable(Score::ONE, "says 1 (unstable: 2 of 3 judges agree; b disagrees)"));
        let tie = vote(&[("a", score(1.0)), ("b", score(0.0))], half);
        assert_eq!(tie, unstable(Score::ZERO, "says 0 (unstable: 1 of 2 judges agree; a disagrees)"));
        let alike = vote(&[("a", score(1.0)), ("b", score(1.0))], half);
        assert_eq!(alike, Component::scored(Score::ONE, "says 1 (all 2 judges)"));
    }

    #[test]
    fn the_mean_names_each_judge() {
        let found = vote(&[("a", score(0.3)), ("b", score(0.9))], Vote::Mean);
        assert!((found.score().unwrap().get() - 0.6).abs() < 1e-12);
        assert_eq!(found.why(), "says 0.3 (unstable: a 0.30, b 0.90)");
        assert_eq!(vote(&[("a", score(0.5)), ("b", score(0.5))], Vote::Mean).why(), "says 0.5 (a 0.50, b 0.50)");
    }

    #[test]
    fn less_than_a_majority_of_judges_is_no_verdict() {
        let down = || Component::missing("503");
        let found = vote(&[("a", score(1.0)), ("b", down()), ("c", down())], Vote::Mean);
        assert_eq!(found, Component::missing("only 1 of 3 judges gave a usable verdict: b: 503; c: 503"));
        let found = vote(&[("a", score(1.0)), ("b", down()), ("c", score(0.0))], Vote::Majority(Score::clamped(0.5)));
        assert_eq!(
            found,
            Component::missing(
                "2 of 3 judges gave a usable verdict, and the others could have turned the result: b: 503"
            )
        );
        let found = vote(&[("a", score(0.0)), ("b", down()), ("c", score(0.0))], Vote::Majority(Score::clamped(0.5)));
        assert_eq!(
            found,
            Component::scored(Score::ZERO, "says 0 (all 2 judges) (without b, who gave no usable verdict)")
        );
        let none = || Component::not_applicable("says nothing of it");
        assert_eq!(vote(&[("a", none()), ("b", none()), ("c", score(1.0))], Vote::Mean), none());
    }

    #[test]
    fn a_mean_stands_only_where_those_that_failed_could_not_have_moved_it_far() {
        let mean = |scores: &[f64], failed: usize| {
            let failed = (0..failed).map(|_| ("down", Component::missing("401")));
            let verdicts: Vec<_> = scores.iter().map(|it| ("up", score(*it))).chain(failed).collect();
            vote(&verdicts, Vote::Mean)
        };
        let open = "2 of 3 judges gave a usable verdict, and the others could have turned the result: down: 401";
        assert_eq!(mean(&[1.0, 0.0], 1), Component::missing(open));
        // They agree within 0.2, or one of five can't move it by more than that.
        for (scores, failed, all) in [(&[0.9, 0.7][..], 1, 0.8), (&[1.0, 0.0, 1.0, 0.0], 1, 0.5), (&[1.0, 0.0], 0, 0.5)]
        {
            let found = mean(scores, failed).score().unwrap().get();
            assert!((found - all).abs() < 1e-12, "{scores:?} {failed}: {found}");
        }
        assert!(mean(&[1.0, 0.0, 1.0], 1).is_missing());
    }

    #[test]
    fn judges_who_say_that_it_does_not_apply_are_counted_and_win_no_good_mark_by_a_tie() {
        let none = || Component::not_applicable("says nothing of it");
        let down = || Component::missing("503");
        let half = |verdicts: &[(&str, Component)]| vote(verdicts, Vote::Majority(Score::clamped(0.5)));
        assert_eq!(half(&[("a", none()), ("b", score(1.0))]), none(), "a tie is no good mark");
        let bad = half(&[("a", none()), ("b", score(0.0))]);
        assert_eq!((bad.score(), bad.is_unstable()), (Some(Score::ZERO), true));
        let found = half(&[("a", score(1.0)), ("b", score(1.0)), ("c", none())]);
        assert_eq!(found.why(), "says 1 (unstable: 2 of 3 judges agree; c disagrees)");
        assert!(found.is_unstable());
        assert_eq!(half(&[("a", none()), ("b", none()), ("c", score(1.0)), ("d", score(1.0))]), none());
        // The one that failed could have made it a tie.
        assert!(half(&[("a", none()), ("b", none()), ("c", score(1.0)), ("d", down())]).is_missing());
        assert!(half(&[("a", score(1.0)), ("b", score(1.0)), ("c", none()), ("d", down())]).is_missing());
    }
}
