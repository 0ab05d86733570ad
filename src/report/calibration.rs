//! How far a judge can be believed, as a page.

use super::judge_check::UNLIKE;
use super::{Ink, Page, Paint, Screen, count, one_line, plain, two_decimals};
use crate::calibration::{Flips, MetricCalibration};
use crate::compare::MOST_MORE;
use crate::statistics::{Estimate, SpreadShares};

/// With fewer labels a threshold fits these labels alone.
const FEW: usize = 30;

/// The most columns of a reason.
const REASON: usize = 400;

/// The judge beside people, metric by metric, and beside itself where it was asked again.
pub fn calibration(
    metrics: &[MetricCalibration],
    flips: &[Flips],
    spread: Option<SpreadShares>,
    screen: Screen,
) -> String {
    let mut page = Page::new(screen);
    for (metric, place) in metrics.iter().zip(0..) {
        if place > 0 {
            page.gap();
        }
        let of = format!("{} of {} judged parts are labelled", metric.labelled, metric.judged);
        page.lead(0, 2, (Ink::bold, &plain(&metric.metric)), (Ink::dim, &format!("· {of}")));
        lines(metric).iter().for_each(|(paint, line)| page.paragraph(2, *paint, line));
    }
    if !flips.is_empty() {
        page.gap();
        page.paragraph(0, Ink::bold, "Judged again");
    }
    for flip in flips {
        let metric = plain(&flip.metric);
        if let (Some(rate), Some(spread)) = (flip.flip_rate, flip.spread) {
            let (rate, spread, parts) = (percent(rate), two_decimals(spread), count(flip.parts, "part"));
            let words = format!(
                "{metric}: two verdicts on the same part differ in {rate} of {parts}, scores spread by {spread} (standard deviation)"
            );
            page.paragraph(2, Ink::unpainted, &words);
        } else {
            page.paragraph(2, Ink::unsure, &format!("{metric}: no part has two verdicts that can be used"));
        }
        if flip.missing > 0 {
            let why = flip.why.as_ref().map(|why| format!(": {}", one_line(why, REASON))).unwrap_or_default();
            let words = format!("{metric}: {} of {} can't be used{why}", flip.missing, count(flip.asked, "verdict"));
            page.paragraph(2, Ink::unsure, &words);
        }
    }
    if let Some(spread) = spread {
        page.paragraph(2, Ink::unpainted, &spread_text(spread));
    }
    page.text
}

/// Where the variance of the score comes from, and what would narrow its interval most.
fn spread_text(SpreadShares { cases, personas, users, repeats, judging }: SpreadShares) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let (of_personas, of_repeats) = (personas.unwrap_or(0.0), repeats + users.unwrap_or(0.0));
    let advice = match () {
        () if judging >= cases.max(of_personas).max(of_repeats) => "scorer.samples, or another judge, would do most",
        () if of_repeats >= cases.max(of_personas) => "more repetitions (--repeat) would do most",
        () if of_personas > cases => "more cases, or more kinds of users (--persona), would do most",
        () => "more cases would do most",
    };
    let kinds = personas.map(|share| format!(", {} how they go with each kind of user", percent(share)));
    let between = match users {
        Some(users) => {
            format!("{} the user's and {} the agent's between repetitions", percent(users), percent(repeats))
        }
        None => format!("{} between repetitions (agent and user)", percent(repeats)),
    };
    format!(
        "of the variance of the score, judged once, {} is between cases{}, {between}, {} the judge's: {advice}",
        percent(cases),
        kinds.unwrap_or_default(),
        percent(judging)
    )
}

fn lines(metric: &MetricCalibration) -> Vec<(Paint, String)> {
    let mut lines: Vec<(Paint, String)> = Vec::new();
    if let Some(agreement) = metric.agreement {
        let kappa = agreement.kappa.map(|it| format!(", κ {}", figure(it))).unwrap_or_default();
        let alpha = agreement.alpha.map(|it| format!(", α {}", figure(it))).unwrap_or_default();
        lines.push((
            Ink::unpainted,
            format!("judge and people agree on {:.0} %{kappa}{alpha}", agreement.observed * 100.0),
        ));
        let (lenient, strict) = (agreement.too_lenient, agreement.too_strict);
        if lenient + strict > 0 {
            let words = format!("it passes {lenient} that people do not, and does not pass {strict} that people do");
            lines.push((Ink::unpainted, words));
        }
    }
    let (own, all) = metric.cases;
    if let Some(corrected) = metric.corrected {
        let halved = match metric.to_halve {
            Some(enough) if enough <= all => format!("; labels on {enough} cases would halve the interval"),
            Some(enough) if enough > all + MOST_MORE as usize => {
                format!("; to halve the interval takes more than {MOST_MORE} further cases")
            }
            Some(enough) => format!("; to halve the interval takes {enough} cases, all labelled"),
            None => String::new(),
        };
        lines.push((
            Ink::unpainted,
            format!(
                "the judge passes {:.0} %; people would pass {} by the labels on {own} of {all} cases{halved}",
                metric.passed * 100.0,
                percent(corrected)
            ),
        ));
    }
    lines.extend(not_random(metric).map(|words| (Ink::unsure as Paint, words)));
    if let Some((threshold, kappa)) = metric.best_threshold {
        let few = if metric.labelled < FEW { "; that may fit these few labels only" } else { "" };
        let words = format!(
            "κ is highest, {}, where a score of {} and more passes{few}",
            two_decimals(kappa),
            two_decimals(threshold)
        );
        lines.push((Ink::unpainted, words));
    }
    let people = &metric.people;
    if let Some(alpha) = people.alpha {
        let shared = count(people.shared, "part");
        lines.push((
            Ink::unpainted,
            format!("{} agree with each other on {shared}: α {}", plain(&people.names.join(", ")), figure(alpha)),
        ));
    } else if people.names.len() == 1 {
        lines.push((
            Ink::dim,
            format!("all labels are by {}: nobody knows how far people agree", plain(&people.names[0])),
        ));
    }
    if metric.undecided > 0 {
        lines.push((
            Ink::unsure,
            format!("{} unclear to people, or they are split evenly", is_or_are(metric.undecided)),
        ));
    }
    if metric.labelled > 0
        && let Some(why) = &metric.not_corrected
    {
        lines.push((Ink::unsure, format!("the share that people would pass is not estimated: {}", why)));
    }
    if metric.labelled == 0 {
        lines.push((Ink::unsure, "no labels: `eval-job label` asks for them".to_owned()));
    }
    lines
}

/// Why the labelled parts don't stand for all; `None` where nothing says so.
fn not_random(metric: &MetricCalibration) -> Option<String> {
    metric.corrected?;
    let what = "the estimate for all holds only if they are a random part";
    if metric.unlabelled_runs > 0 {
        let runs = count(metric.unlabelled_runs, "run");
        return Some(format!("{runs} without a label: {what}, which labels of some runs alone are not"));
    }
    let apart = metric.imbalance.filter(|errors| *errors > UNLIKE)?;
    let apart = two_decimals(apart);
    Some(format!(
        "the judge's scores of labelled parts and of the others lie {apart} standard errors apart: the labels are no random part, \
         and the estimate does not hold for all"
    ))
}

fn is_or_are(number: usize) -> String {
    if number == 1 { "1 part is".to_owned() } else { format!("{number} parts are") }
}

/// `0.58 (0.41 to 0.75)`.
pub(super) fn figure(estimate: Estimate) -> String {
    let value = two_decimals(estimate.value);
    match estimate.interval {
        Some(interval) => format!("{value} ({} to {})", two_decimals(interval.low), two_decimals(interval.high)),
        None => value,
    }
}

/// `43 % (16 to 75 %)`.
pub(super) fn percent(estimate: Estimate) -> String {
    let whole = |share: f64| format!("{:.0}", share * 100.0);
    let value = whole(estimate.value);
    match estimate.interval {
        Some(interval) => format!("{value} % ({} to {} %)", whole(interval.low), whole(interval.high)),
        None => format!("{value} %"),
    }
}
