//! The uncertainty of a run's figures, in sentences that every report shows.

use std::collections::BTreeSet;

use super::comparison::{interval_text, signed};
use super::{count, duration, plain, two_decimals};
use crate::compare::MOST_MORE;
use crate::evidence::case_and_persona;
use crate::record::{Estimates, MeanFigure, ModelFigure, NamedFigure, Passes, Percentile, Provenance, RunSummary};
use crate::statistics::{Estimate, Interval, LEVEL, SamplingUnit, t_half_width, unseen_share};

/// With fewer cases an interval is too wide to show anything.
const LEAST_CASES: u32 = 3;

/// The most cases that are advised beyond those that were held: a suite of practical size has no more.
const MOST_CASES: u32 = MOST_MORE;

/// The largest factor of repetitions that is advised.
const MOST_TIMES: u32 = 20;

/// The uncertainty of one model's figures.
#[derive(serde::Serialize)]
pub(super) struct EstimateLines {
    /// Their heading.
    pub heading: String,
    /// The score, the uplift and the passes.
    pub lines: Vec<String>,
    /// Each condition, metric and percentile.
    pub more: Vec<String>,
}

/// The sentences of a run, model by model; none where its conversations are too few to carry anything.
pub(super) fn estimate_lines(summary: &RunSummary) -> Vec<EstimateLines> {
    let is_one = summary.figures.len() == 1;
    let of_model = |figure: &ModelFigure| {
        let estimates = figure.estimates.as_deref()?;
        let score = estimates.score.filter(|score| tells(score) || is_of_equals(score))?;
        let model = if is_one { String::new() } else { format!(", {}", plain(&figure.model)) };
        let varying = varying(&summary.provenance);
        let mut lines = lines(estimates, figure.personas.len().max(1), score, varying);
        if let (Some(score), Some(text)) = (lines.first_mut(), lacking_text(figure, score)) {
            score.push_str(&text);
        }
        Some(EstimateLines { heading: heading(&model, score), lines, more: more(estimates) })
    };
    summary.figures.iter().filter_map(of_model).collect()
}

/// Whether its interval says something.
fn tells(figure: &MeanFigure) -> bool {
    figure.over == Some(SamplingUnit::Repeats)
        || (figure.over == Some(SamplingUnit::Cases) && figure.cases >= LEAST_CASES)
}

/// Whether so many have the same score that their passes say something, though their scores show no spread.
fn is_of_equals(figure: &MeanFigure) -> bool {
    figure.over.is_none() && (figure.cases >= LEAST_CASES || figure.interval.is_some())
}

fn heading(model: &str, score: MeanFigure) -> String {
    let (cases, trials) = (count(score.cases as usize, "case"), count(score.n as usize, "conversation"));
    let over = match (score.over, score.interval) {
        (None, None) => {
            return format!("What the numbers carry{model} ({cases} with the same score: no interval can be given)");
        }
        (None, _) if score.cases == 1 => {
            format!("95 % intervals over {trials} of one case with the same score: for this case only")
        }
        (None, _) => format!("95 % intervals over {cases} with the same score"),
        (Some(SamplingUnit::Repeats), _) => format!("95 % intervals over {trials} of one case: for this case only"),
        _ => format!("95 % intervals over {cases}"),
    };
    format!("What the numbers carry{model} ({over})")
}

/// How many cases have a score, where some have none.
fn lacking_text(figure: &ModelFigure, score: MeanFigure) -> Option<String> {
    let names: Vec<String> = figure.personas.iter().map(|it| it.persona.clone()).collect();
    let cases: BTreeSet<&str> = figure.cases.iter().map(|case| case_and_persona(&case.case, &names).0).collect();
    let lacking = cases.len().checked_sub(score.cases as usize).filter(|lacking| *lacking > 0)?;
    let all = count(cases.len(), "case");
    Some(format!(
        " over the {} of {all} that have one: what the other {lacking} would have may be anything",
        score.cases
    ))
}

fn lines(estimates: &Estimates, kinds: usize, score: MeanFigure, varying: &str) -> Vec<String> {
    let mut lines = vec![format!("score {}", figure_text(score))];
    if let Some(interval) = score.skewed_interval {
        let Interval { low, high } = interval;
        lines.push(format!(
            "the cases are skewed: by bootstrap-t the score's interval is {} to {}",
            two_decimals(low),
            two_decimals(high)
        ));
    }
    let of_one = estimates.uplift.filter(|it| it.over != score.over && it.over == Some(SamplingUnit::Repeats));
    let of_one = of_one.map_or("", |_| " of the one case that has them: for this case only");
    lines.extend(estimates.uplift.and_then(uplift_text).map(|text| format!("{text}{of_one}")));
    lines.extend(estimates.passes.as_ref().map(|it| passes(it, score.cases)));
    lines.extend(advice(estimates, kinds, score, varying));
    lines
}

/// The difference that the facts make. Where it is the same in all cases, nothing tells an interval.
fn uplift_text(uplift: MeanFigure) -> Option<String> {
    let mean = signed(uplift.mean);
    match uplift.interval {
        Some(interval) => {
            tells(&uplift).then(|| format!("the facts add {mean} ({}) to the score", interval_text(interval)))
        }
        None if tells(&uplift) => Some(format!("the facts add {mean} to the score")),
        None => (uplift.over.is_none() && uplift.cases > 1).then(|| {
            format!("the facts add {mean} to the score in each of {} cases: no interval can be given", uplift.cases)
        }),
    }
}

fn figure_text(figure: MeanFigure) -> String {
    let range = |it: Interval| format!("{} to {}", two_decimals(it.low), two_decimals(it.high));
    let mean = two_decimals(figure.mean);
    match (figure.interval.map(range), figure.t_interval.map(range)) {
        (Some(interval), Some(by_t)) if interval != by_t => {
            format!("{mean} ({interval}; by Student's t alone {by_t})")
        }
        (Some(interval), _) => format!("{mean} ({interval})"),
        (None, _) => mean,
    }
}

fn passes(passes: &Passes, cases: u32) -> String {
    let percent = |value: f64| format!("{:.0} %", value * 100.0);
    let Estimate { value, interval } = passes.rate;
    let unseen = unseen_share(cases, (1.0 - LEVEL) / 2.0);
    let by = |it: Interval| {
        let is_unseen = (it.low - (value - unseen * value)).abs() < 1e-9
            || (it.high - (value + unseen * (1.0 - value))).abs() < 1e-9;
        match is_unseen {
            // Of all or none, Wilson's interval is narrower than this.
            true if value <= 0.0 || value >= 1.0 => "with room for cases that were not seen",
            true => "by Wilson, with room for cases that were not seen",
            false => "by Wilson",
        }
    };
    let interval =
        interval.map(|it| format!(", {} to {} {}", percent(it.low), percent(it.high), by(it))).unwrap_or_default();
    let is_by_case = (value - f64::from(passes.passed) / f64::from(passes.n.max(1))).abs() >= 0.005;
    let by_case = if is_by_case { ", each case weighing the same" } else { "" };
    let mut text = format!(
        "{} of {} pass by themselves ({}{interval}{by_case})",
        passes.passed,
        count(passes.n as usize, "conversation"),
        percent(value)
    );
    if let Some(most) = passes.tries.last() {
        text += &format!("; pass@{} {}, pass^{} {}", most.k, percent(most.pass_at_k), most.k, percent(most.pass_hat_k));
    }
    if passes.repeated > 0 {
        text += &match passes.flaky {
            0 => "; no case flips between repetitions".to_owned(),
            flaky => format!("; {flaky} of {} between repetitions", verb(flaky, passes.repeated)),
        };
    }
    text
}

fn verb(flaky: u32, repeated: u32) -> String {
    format!("{} {}", count(repeated as usize, "case"), if flaky == 1 { "flips" } else { "flip" })
}

/// The parties that can make repetitions of a case differ.
fn varying(provenance: &Provenance) -> &'static str {
    let has_persona = provenance.persona_model != "script";
    let has_judge = provenance.judge_model != "none";
    match (has_persona, has_judge) {
        (true, true) => "agent, persona and judge",
        (true, false) => "agent and persona",
        (false, true) => "agent and judge",
        (false, false) => "the agent alone",
    }
}

/// Where the variance of the score comes from, and what would narrow its interval most, of cases that were run with so many kinds
/// of users.
fn advice(estimates: &Estimates, kinds: usize, score: MeanFigure, varying: &str) -> Option<String> {
    let share = estimates.share_of_repeats?;
    let now = Precision::from_figure(score)?;
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let range = estimates.share_of_repeats_interval;
    let range = range.map(|it| format!(", {} to {}", percent(it.low), percent(it.high))).unwrap_or_default();
    let settings = (estimates.conditions.len().max(1) * kinds) as f64;
    let repeats = f64::from(score.n) / (f64::from(score.cases) * settings);
    let of = format!("{} of the score's variance is between repetitions of a case ({varying}{range})", percent(share));
    let is_half = |precision: &Precision| precision.half_width() <= now.half_width() / 2.0 + 1e-9;
    let cases = (1..=MOST_CASES).find(|more| is_half(&Precision { cases: now.cases + more, ..now }));
    let more_cases = match cases {
        Some(cases) => count(cases as usize, "more case"),
        None => format!("more than {MOST_CASES} more cases"),
    };
    let repeated = |times: f64| Precision { deviation: now.deviation * (1.0 - share + share / times).sqrt(), ..now };
    let most = (f64::from(MOST_TIMES) * repeats) as u32;
    Some(match (1..most).find(|more| is_half(&repeated(1.0 + f64::from(*more) / repeats))) {
        Some(more) => {
            format!(
                "{of}: {} of each would halve the interval, or {more_cases}",
                count(more as usize, "more repetition")
            )
        }
        None => {
            let least = two_decimals(repeated(f64::INFINITY).half_width());
            let repeated = match least == two_decimals(now.half_width()) {
                true => format!("repetitions leave it at ±{least}"),
                false => format!("repetitions without end would make it ±{least}"),
            };
            let is_practical = if cases.is_some() { "would" } else { "(no practical suite) would" };
            format!("{of}: {more_cases} {is_practical} halve the interval; {repeated}")
        }
    })
}

/// The parts of the width of a score's interval over cases.
#[derive(Clone, Copy)]
struct Precision {
    mean: f64,
    /// The standard deviation of the cases' means.
    deviation: f64,
    cases: u32,
}

impl Precision {
    fn from_figure(score: MeanFigure) -> Option<Precision> {
        let (error, cases) = (score.standard_error?, score.cases);
        score.interval?;
        Some(Precision { mean: score.mean, deviation: error * f64::from(cases).sqrt(), cases })
    }

    /// Half the width of the interval: Student's t, cut to 0 to 1, but no narrower than what cases that were not seen leave open.
    fn half_width(&self) -> f64 {
        let by_t = t_half_width(f64::from(self.cases - 1), LEVEL) * self.deviation / f64::from(self.cases).sqrt();
        let unseen = unseen_share(self.cases, (1.0 - LEVEL) / 2.0);
        let reach = |room: f64| by_t.min(room).max(unseen * room);
        (reach(self.mean) + reach(1.0 - self.mean)) / 2.0
    }
}

fn more(estimates: &Estimates) -> Vec<String> {
    let named = |it: &NamedFigure| format!("{} {}", plain(&it.name), figure_text(it.figure));
    let percentile = |it: &Percentile| {
        let time = |ms: f64| duration(ms / 1000.0);
        let interval = it.ms.interval.map(|own| format!(" ({} to {})", time(own.low), time(own.high)));
        format!("p{} {}{}", it.of_hundred, time(it.ms.value), interval.unwrap_or_default())
    };
    let latency: Vec<String> = estimates.latency.iter().map(percentile).collect();
    let latency = (!latency.is_empty()).then(|| format!("replies take {}", latency.join(", ")));
    estimates.conditions.iter().chain(&estimates.metrics).map(named).chain(latency).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The advice for cases with this deviation of their means, of which repetitions make this share.
    fn advised(share: f64, cases: u32, deviation: f64) -> String {
        let error = deviation / f64::from(cases).sqrt();
        let score = serde_json::json!({
            "n": 6 * cases, "cases": cases, "mean": 0.5, "standardError": error, "interval": {"low": 0.4, "high": 0.6},
        });
        let condition = |name: &str| {
            let mut named = score.clone();
            named["name"] = name.into();
            named
        };
        let estimates = serde_json::json!({
            "conditions": [condition("without facts"), condition("with facts")],
            "shareOfRepeats": share,
            "shareOfRepeatsInterval": {"low": 0.2, "high": 1.0},
        });
        let score: MeanFigure = serde_json::from_value(score).unwrap();
        advice(&serde_json::from_value(estimates).unwrap(), 1, score, "agent and judge").unwrap()
    }

    #[test]
    fn what_halves_the_interval_is_what_leaves_half_of_its_width() {
        // Three repetitions each: with 18, 0.1 + 0.9 * 3 / 18 is a quarter. SciPy's t.ppf(.975, 392) / sqrt(393) is half of
        // t.ppf(.975, 99) / sqrt(100).
        assert_eq!(
            advised(0.9, 100, 0.3),
            "90 % of the score's variance is between repetitions of a case (agent and judge, 20 % to 100 %): 15 more repetitions of \
             each would halve the interval, or 293 more cases"
        );
        assert_eq!(
            advised(0.36, 100, 0.3),
            "36 % of the score's variance is between repetitions of a case (agent and judge, 20 % to 100 %): 293 more cases would \
             halve the interval; repetitions without end would make it ±0.05"
        );
    }

    #[test]
    fn a_suite_that_nobody_has_is_not_advised() {
        // Of 1,000 cases it takes some 3,000 more.
        let text = advised(0.01, 1000, 0.3);
        assert!(text.contains(": more than 1000 more cases (no practical suite) would halve the interval; "), "{text}");
    }

    #[test]
    fn three_more_of_three_cases_halve_an_interval() {
        // Of three cases it is cut to 0 to 1, of six Student's t is 2.571 * 0.2 / sqrt(6), and unseen cases leave 0.46 / 2.
        let half = |cases: u32| Precision { mean: 0.5, deviation: 0.2, cases }.half_width();
        assert!((half(3) - 0.4968).abs() < 1e-3 && (half(6) - 0.2296).abs() < 1e-3, "{} {}", half(3), half(6));
        assert!(advised(0.1, 3, 0.2).contains(": 3 more cases would halve"), "{}", advised(0.1, 3, 0.2));
    }

    #[test]
    fn the_method_of_an_interval_of_passes_is_the_one_that_decides() {
        let text = |passed: u32, n: u32, interval: (f64, f64)| {
            let rate = serde_json::json!({
                "value": f64::from(passed) / f64::from(n), "interval": {"low": interval.0, "high": interval.1},
            });
            let all =
                serde_json::json!({"n": n, "passed": passed, "rate": rate, "tries": [], "repeated": 0, "flaky": 0});
            passes(&serde_json::from_value(all).unwrap(), n)
        };
        // statsmodels' Wilson interval with t of 9 is 0.12 to 0.65 of 3 of 10; unseen cases leave 0.21 to 0.52.
        assert!(text(3, 10, (0.12, 0.65)).ends_with("(30 %, 12 % to 65 % by Wilson)"));
        let room = "with room for cases that were not seen)";
        assert!(text(3, 3, (0.025_f64.powf(1.0 / 3.0), 1.0)).ends_with(&format!("(100 %, 29 % to 100 % {room}")));
        let low = 0.5 * 0.025_f64.powf(0.1);
        assert!(text(5, 10, (low, 0.8)).ends_with(&format!("(50 %, 35 % to 80 % by Wilson, {room}")));
    }

    #[test]
    fn a_score_of_some_cases_says_so() {
        let figure = serde_json::json!({
            "model": "m", "figure": {"kind": "missing", "error": "c1: no judge"},
            "cases": (0..4).map(|case| serde_json::json!({
                "case": format!("c{case}"), "figure": {"kind": "missing", "error": "no judge"}, "conditions": [],
            })).collect::<Vec<_>>(),
        });
        let figure: ModelFigure = serde_json::from_value(figure).unwrap();
        let score =
            |cases: u32| serde_json::from_value(serde_json::json!({"n": cases, "cases": cases, "mean": 0.8})).unwrap();
        let text = lacking_text(&figure, score(3)).unwrap();
        assert_eq!(text, " over the 3 of 4 cases that have one: what the other 1 would have may be anything");
        assert_eq!(lacking_text(&figure, score(4)), None);
    }
}
