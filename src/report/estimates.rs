//! The uncertainty of a run's figures, in sentences that every report shows.

use super::comparison::{interval_words, signed};
use super::{count, duration, plain, two_decimals};
use crate::record::{Estimates, MeanFigure, ModelFigure, NamedFigure, Passes, Percentile, Provenance, RunSummary};
use crate::statistics::{Estimate, Interval, Over};

/// Of so few cases an interval is wider than anything that could be told from it.
const LEAST_CASES: u32 = 3;

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
        let lines = lines(estimates, score, varying);
        Some(EstimateLines { heading: heading(&model, score), lines, more: more(estimates) })
    };
    summary.figures.iter().filter_map(of_model).collect()
}

/// Whether its interval says something.
fn tells(figure: &MeanFigure) -> bool {
    figure.over == Some(Over::Repeats) || (figure.over == Some(Over::Cases) && figure.cases >= LEAST_CASES)
}

/// Whether so many cases have the same score that their passes say something, though their scores show no spread.
fn is_of_equals(figure: &MeanFigure) -> bool {
    figure.over.is_none() && figure.cases >= LEAST_CASES
}

fn heading(model: &str, score: MeanFigure) -> String {
    let over = match score.over {
        None => {
            let cases = count(score.cases as usize, "case");
            return format!("What the numbers carry{model} ({cases} with the same score: no interval can be told)");
        }
        Some(Over::Repeats) => {
            let trials = count(score.n as usize, "conversation");
            format!("95 % intervals over {trials} of one case: for this case only")
        }
        _ => format!("95 % intervals, Student's t over {}", count(score.cases as usize, "case")),
    };
    format!("What the numbers carry{model} ({over})")
}

fn lines(estimates: &Estimates, score: MeanFigure, varying: &str) -> Vec<String> {
    let mut lines = vec![format!("score {}", figure_words(score))];
    if let Some(interval) = score.skewed_interval {
        let Interval { low, high } = interval;
        lines.push(format!(
            "the cases are skewed: by bootstrap-t the score's interval is {} to {}",
            two_decimals(low),
            two_decimals(high)
        ));
    }
    if let Some(uplift) = estimates.uplift.filter(tells) {
        let interval = uplift.interval.map(|interval| format!(" ({})", interval_words(interval))).unwrap_or_default();
        lines.push(format!("the facts add {}{interval} to the score", signed(uplift.mean)));
    }
    lines.extend(estimates.passes.as_ref().map(passes));
    lines.extend(advice(estimates, score, varying));
    lines
}

fn figure_words(figure: MeanFigure) -> String {
    let interval =
        figure.interval.map(|Interval { low, high }| format!(" ({} to {})", two_decimals(low), two_decimals(high)));
    format!("{}{}", two_decimals(figure.mean), interval.unwrap_or_default())
}

fn passes(passes: &Passes) -> String {
    let percent = |value: f64| format!("{:.0} %", value * 100.0);
    let Estimate { value, interval } = passes.rate;
    let interval = interval.map(|it| format!(", {} to {}", percent(it.low), percent(it.high))).unwrap_or_default();
    let mut words = format!(
        "{} of {} pass by themselves ({}{interval})",
        passes.passed,
        count(passes.n as usize, "conversation"),
        percent(value)
    );
    if let Some(most) = passes.tries.last() {
        words +=
            &format!("; pass@{} {}, pass^{} {}", most.k, percent(most.pass_at_k), most.k, percent(most.pass_hat_k));
    }
    if passes.repeated > 0 {
        words += &match passes.flaky {
            0 => "; no case flips between repetitions".to_owned(),
            flaky => format!("; {flaky} of {} between repetitions", verb(flaky, passes.repeated)),
        };
    }
    words
}

fn verb(flaky: u32, repeated: u32) -> String {
    format!("{} {}", count(repeated as usize, "case"), if flaky == 1 { "flips" } else { "flip" })
}

/// Who can make repetitions of a case differ.
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

/// Where the variance of the score comes from, and what would narrow its interval most.
fn advice(estimates: &Estimates, score: MeanFigure, varying: &str) -> Option<String> {
    let share = estimates.share_of_repeats?;
    let percent = format!("{:.0} %", share * 100.0);
    let half = score.interval?.half_width();
    let conditions = estimates.conditions.len().max(1) as f64;
    let repeats = f64::from(score.n) / (f64::from(score.cases) * conditions);
    let more_cases = count(3 * score.cases as usize, "more case");
    let of = format!("{percent} of the score's variance is between repetitions of a case ({varying})");
    // Half as wide is a quarter of the variance, of which the cases' own share stays.
    let room = 0.25 - (1.0 - share);
    Some(match room > 0.0 {
        true => {
            let more = (share * repeats / room - repeats).ceil().max(1.0) as usize;
            format!("{of}: {} of each would halve the interval, or {more_cases}", count(more, "more repetition"))
        }
        false => {
            let least = two_decimals(half * (1.0 - share).sqrt());
            format!("{of}: {more_cases} would halve the interval; repetitions without end would make it ±{least}")
        }
    })
}

fn more(estimates: &Estimates) -> Vec<String> {
    let named = |it: &NamedFigure| format!("{} {}", plain(&it.name), figure_words(it.figure));
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

    fn advised(share: f64) -> String {
        let interval = Some(Interval { low: 0.4, high: 0.6 });
        let figure = serde_json::json!({"n": 60, "cases": 10, "mean": 0.5, "interval": interval});
        let score: MeanFigure = serde_json::from_value(figure.clone()).unwrap();
        let condition = |name: &str| {
            let mut named = figure.clone();
            named["name"] = name.into();
            named
        };
        let estimates = serde_json::json!({
            "conditions": [condition("without facts"), condition("with facts")], "shareOfRepeats": share,
        });
        advice(&serde_json::from_value(estimates).unwrap(), score, "agent and judge").unwrap()
    }

    #[test]
    fn what_halves_the_interval_is_what_leaves_a_quarter_of_the_variance() {
        // Three repetitions each: with 18, 0.1 + 0.9 * 3 / 18 is a quarter.
        assert_eq!(
            advised(0.9),
            "90 % of the score's variance is between repetitions of a case (agent and judge): 15 more repetitions of each would \
             halve the interval, or 30 more cases"
        );
        assert_eq!(
            advised(0.36),
            "36 % of the score's variance is between repetitions of a case (agent and judge): 30 more cases would halve the \
             interval; repetitions without end would make it ±0.08"
        );
    }
}
