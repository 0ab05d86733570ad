//! The nights of a job: what each came to, since when the score has another level, and which cases flip.

use chrono::{DateTime, Utc};

use super::comparison::{interval_text, signed};
use super::no_nights::no_nights_text;
use super::numbers::count;
use super::sparkline::{Bar, sparkline};
use super::{FigureCell, FigureRow, FigureTable, Ink, Page, Paint, Screen, duration, one_line, plain, two_decimals};
use crate::compare::RuleDifference;
use crate::record::Verdict;
use crate::statistics::LEAST_VALUES;
use crate::trend::{
    ExclusionReason, FlakePattern, InvalidTrials, LevelChange, Night, NightModel, Series, SuspectedFlake, Trend,
};

/// The most rule differences that are listed.
pub(super) const MAX_LISTED: usize = 3;

/// The most flaky cases that are shown; all of them, where the screen is unfolded.
const MAX_FLAKES: usize = 10;

/// From this width on a night has its year.
const WIDE: usize = 80;

/// The trend for a terminal; `is_ascii` where it has no letters but those of ASCII for bars.
pub fn trend(trend: &Trend, screen: Screen, is_ascii: bool) -> String {
    let mut page = Page::new(screen);
    let shown = match trend.nights.len() {
        shown if shown == trend.nights_in_all => String::new(),
        shown => format!(", the newest {shown} are shown"),
    };
    page.lead(
        0,
        2,
        (Ink::bold, &format!("{}:", one_line(&trend.job, screen.width))),
        (Ink::unpainted, &format!("{}{shown}", count(trend.nights_in_all, "night"))),
    );
    for model in models(trend) {
        page.gap();
        write_model(&mut page, trend, model, screen, is_ascii);
    }
    page.gap();
    flakes(&mut page, trend, screen);
    if let Some(words) = no_nights_text(&trend.no_nights) {
        page.paragraph(0, Ink::dim, &words);
    }
    page.text
}

/// The models of the nights that are shown, in the order in which they come.
fn models(trend: &Trend) -> Vec<&str> {
    let mut models: Vec<&str> = Vec::new();
    for model in trend.nights.iter().flat_map(|night| &night.models) {
        if !models.contains(&model.model.as_str()) {
            models.push(&model.model);
        }
    }
    models
}

fn write_model(page: &mut Page, trend: &Trend, model: &str, screen: Screen, is_ascii: bool) {
    let series: Vec<&Series> = trend.series.iter().filter(|series| series.model == model).collect();
    let bars = bars(&trend.nights, model, &series);
    let line = sparkline(&bars, screen.width.saturating_sub(2), is_ascii);
    let name = one_line(model, screen.width.saturating_sub(line.chars().count() + 2).max(8));
    page.lead(0, 2, (Ink::bold, &name), (Ink::unpainted, &line));
    page.gap();
    page.table(&table(&trend.nights, model, &series, screen));
    page.gap();
    for sentence in sentences(&series, &trend.nights) {
        page.lead(0, 2, (sentence.0, &sentence.1), (Ink::unpainted, &sentence.2));
    }
}

fn bars(nights: &[Night], model: &str, series: &[&Series]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for night in nights {
        if !night.differs.is_empty() && !bars.is_empty() {
            bars.push(Bar::Break);
        }
        let is_used = why_left_out(night, series).is_none();
        let score = night.model(model).and_then(|own| own.score).filter(|_| is_used);
        bars.push(score.map_or(Bar::Unknown, Bar::Of));
    }
    bars
}

/// A column of the table: its name, and what a night has there.
type Column<'a> = (&'static str, Box<dyn Fn(&Night, &NightModel) -> Option<String> + 'a>);

fn table(nights: &[Night], model: &str, series: &[&Series], screen: Screen) -> FigureTable {
    let is_only = nights.iter().all(|night| night.models.len() < 2);
    let columns: Vec<Column<'_>> = vec![
        ("score", Box::new(|_, own| Some(own.score.map_or("–".to_owned(), two_decimals)))),
        (
            "95 % interval",
            Box::new(|_, own| own.interval.map(|it| format!("{} to {}", two_decimals(it.low), two_decimals(it.high)))),
        ),
        ("passes", Box::new(|_, own| own.passes.map(|passes| format!("{}/{}", passes.passed, passes.of)))),
        ("p95", Box::new(|_, own| own.latency_p95.map(|ms| duration(ms / 1000.0)))),
        ("cost", Box::new(|night, _| night.cost.filter(|_| is_only).map(|cost| format!("${:.2}", cost.get())))),
    ];
    let held: Vec<(&Night, &NightModel)> =
        nights.iter().filter_map(|night| Some((night, night.model(model)?))).collect();
    let has = |column: &&Column<'_>| held.iter().any(|(night, own)| column.1(night, own).is_some());
    let columns: Vec<&Column<'_>> = columns.iter().filter(has).collect();
    let mut rows = Vec::new();
    for (night, own) in &held {
        if !night.differs.is_empty() {
            rows.push(FigureRow { name: broken(&night.differs), indent: 0, paint: Ink::unsure, cells: Vec::new() });
        }
        let text = |column: &&Column<'_>| column.1(night, own).unwrap_or_default();
        let mut cells: Vec<FigureCell> = columns.iter().map(|column| (Ink::unpainted as Paint, text(column))).collect();
        cells.push(verdict(night, series));
        let format = if screen.width < WIDE { "%m-%d %H:%M" } else { "%Y-%m-%d %H:%M" };
        let name = format!("{} {}", night.started_at.format(format), plain(&night.run));
        rows.push(FigureRow { name, indent: 0, paint: Ink::unpainted, cells });
    }
    // The gate of a run is one for all of its models.
    let names = columns.iter().map(|(name, _)| *name).chain([if is_only { "" } else { "run" }]);
    let columns = names.map(|name| vec![name.to_owned()]).collect();
    FigureTable { title: "night".to_owned(), columns, rows }
}

fn broken(differs: &[RuleDifference]) -> String {
    let named: Vec<String> = differs
        .iter()
        .take(MAX_LISTED)
        .map(|it| format!("{} ({} and {})", plain(&it.what), plain(&it.first), plain(&it.second)))
        .collect();
    let more = differs.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("run otherwise from here on: {}{more}", named.join(", "))
}

fn why_left_out(night: &Night, series: &[&Series]) -> Option<ExclusionReason> {
    if matches!(night.verdict, Verdict::Incomplete | Verdict::Interrupted) {
        return Some(ExclusionReason::Incomplete);
    }
    let mut left_out = series.iter().flat_map(|series| &series.left_out);
    left_out.find(|it| it.run == night.run).map(|it| it.why)
}

fn verdict(night: &Night, series: &[&Series]) -> FigureCell {
    let label = night.verdict_label;
    match (why_left_out(night, series), night.verdict) {
        (Some(ExclusionReason::LacksCases { lacking }), _) => {
            (Ink::unsure, format!("not used, lacks {}", count(lacking, "case")))
        }
        (Some(ExclusionReason::Incomplete), Verdict::Incomplete | Verdict::Interrupted) => {
            (Ink::unsure, format!("{label}, not used"))
        }
        (Some(ExclusionReason::Incomplete), _) => (Ink::unsure, "not used, a figure is missing".to_owned()),
        (None, Verdict::Passed) if label != night.verdict.label() => (Ink::bold, label.to_owned()),
        (None, Verdict::Passed) => (Ink::good, label.to_owned()),
        (None, Verdict::GateFailed) => (Ink::bad, label.to_owned()),
        (None, _) => (Ink::unsure, label.to_owned()),
    }
}

/// A sentence, with the colour of its beginning.
type Sentence = (Paint, String, String);

/// The sentences about the changes of a model, oldest first.
fn sentences(series: &[&Series], nights: &[Night]) -> Vec<Sentence> {
    let mut all: Vec<Sentence> = series.iter().flat_map(|own| own.changes.iter().map(change)).collect();
    let newest = nights.last().map(|night| night.rules);
    let conditions = nights.last().and_then(|night| Some(night.model(&series.first()?.model)?.conditions()));
    let is_now =
        |own: &&&Series| Some(own.rules) == newest && conditions.as_ref().is_none_or(|it| own.conditions == *it);
    let now = series.iter().rev().find(is_now);
    all.push(match now {
        None => (
            Ink::unsure,
            "too few nights to say:".to_owned(),
            "none that can be used was run by today's rules".to_owned(),
        ),
        Some(now) => {
            let since = if now.changes.is_empty() { "" } else { " since then" };
            let differs = series.iter().any(|other| other.conditions != now.conditions);
            let labels: Vec<&str> = now.conditions.iter().map(|condition| condition.label()).collect();
            let conditions = if differs { format!(", {}", labels.join(" and ")) } else { String::new() };
            let over = format!("{}, {}{conditions}", count(now.nights_since, "night"), count(now.cases, "case"));
            match now.too_few {
                true => (
                    Ink::unsure,
                    format!("too few nights to say{since}:"),
                    format!("{over}; with {LEAST_VALUES} a change can show at the earliest"),
                ),
                false => {
                    (Ink::dim, format!("no{} change is shown:", if since.is_empty() { "" } else { " further" }), over)
                }
            }
        }
    });
    all
}

fn change(change: &LevelChange) -> Sentence {
    let shift = &change.shift;
    let interval = shift.interval.map(|it| format!(" ({})", interval_text(it))).unwrap_or_default();
    let paint = if shift.difference < 0.0 { Ink::bad } else { Ink::good };
    let (before, after) = (count(change.nights_before, "night"), change.nights_after);
    (
        paint,
        format!("since {} ({}):", day(change.since_at), plain(&change.since)),
        format!(
            "{} → {}, {}{interval}, {before} before and {after} since",
            two_decimals(shift.before),
            two_decimals(shift.after),
            signed(shift.difference)
        ),
    )
}

fn day(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d").to_string()
}

fn flakes(page: &mut Page, trend: &Trend, screen: Screen) {
    let lost = lost_text(&trend.lost);
    if trend.flakes.is_empty() {
        let is_asked = trend.nights.iter().flat_map(|night| &night.models).any(|model| model.passes.is_some());
        let words = match is_asked {
            true => "No case flips, by today's rules.",
            false if trend.nights.iter().all(|night| night.models.iter().all(|model| model.score.is_none())) => {
                "No conversation has a score, so that nothing tells whether a case flips."
            }
            false => {
                "Nothing is asked of single conversations (a gate, a threshold, an assertion), so that none can flip."
            }
        };
        page.paragraph(0, Ink::dim, words);
    } else {
        let rows: Vec<FigureRow> = match screen.is_unfolded {
            true => trend.flakes.iter().map(flake).collect(),
            false => trend.flakes.iter().take(MAX_FLAKES).map(flake).collect(),
        };
        let more = trend.flakes.len() - rows.len();
        let column = |name: &str| vec![name.to_owned()];
        let columns = ["passes", "flips", "since", "suspected"].map(column).to_vec();
        page.table(&FigureTable { title: "cases that flip".to_owned(), columns, rows });
        if more > 0 {
            page.paragraph(0, Ink::dim, &format!("{more} more (-v shows them)"));
        }
    }
    if let Some(lost) = lost {
        page.paragraph(0, Ink::unsure, &lost);
    }
}

fn flake(flake: &SuspectedFlake) -> FigureRow {
    let SuspectedFlake { flake, suspected } = flake;
    let condition = match flake.key.condition {
        crate::evidence::Condition::WithFacts => format!(", {}", flake.key.condition.label()),
        crate::evidence::Condition::WithoutFacts => String::new(),
    };
    let sources: Vec<String> = suspected.iter().map(|it| format!("{} {}", it.source.label(), it.count)).collect();
    let (flips, words) = match flake.pattern {
        FlakePattern::Flips => (flake.flips().to_string(), sources.join(", ")),
        FlakePattern::FailsSince => ("fails since".to_owned(), sources.join(", ")),
        FlakePattern::PassesSince => ("passes since".to_owned(), sources.join(", ")),
    };
    let cell = |text: String| -> FigureCell { (Ink::unpainted, text) };
    FigureRow {
        name: format!("{}{condition}", plain(&flake.key.case)),
        indent: 0,
        paint: Ink::unpainted,
        cells: vec![
            cell(format!("{}/{}", flake.passes.passed, flake.passes.of)),
            cell(flips),
            cell(day(flake.since_at)),
            cell(if words.is_empty() { "–".to_owned() } else { words }),
        ],
    }
}

/// Conversations that are no flips, in words; `None` where there are none.
fn lost_text(lost: &InvalidTrials) -> Option<String> {
    let kinds = [
        (lost.broken, "broken"),
        (lost.persona_invalid, "spoilt by the persona"),
        (lost.judge_failed, "without a verdict of the judge"),
        (lost.without_score, "without a score"),
    ];
    let named: Vec<String> =
        kinds.iter().filter(|(number, _)| *number > 0).map(|(number, kind)| format!("{number} {kind}")).collect();
    let all = count(lost.count() as usize, "conversation");
    (!named.is_empty())
        .then(|| format!("No flips: {all} of the nights shown that say nothing of the agent ({}).", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::compare::RunRules;
    use crate::record::{Provenance, RunSummary};
    use crate::trend::{Nights, Sources, TrendScope};

    fn night(number: usize, verdict: &str, model: &str, score: f64) -> RunSummary {
        let figure = json!({"kind": "scored", "score": score, "why": ""});
        let at = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(number as i64);
        let case = |case: &str, passed: u32| {
            json!({"case": case, "figure": figure, "conditions": [{
                "condition": "withoutFacts", "n": 2, "missing": 0, "decided": 2, "passed": passed, "figure": figure}]})
        };
        serde_json::from_value(json!({
            "version": 2, "id": format!("id{number}"), "startedAt": at, "finishedAt": at, "interrupted": false,
            "provenance": {"job": "Order desk", "models": [model]}, "verdict": verdict, "cost": 0.314,
            "figures": [{"model": model, "figure": figure, "cases": [case("a case that is good", 2), case("another", number as u32 % 2)]}],
        }))
        .unwrap()
    }

    /// Fourteen nights, then eight that are lower, one without its figures among them; the last two are run otherwise.
    fn nights(model: &str) -> Nights {
        let mut nights = Nights::new(TrendScope::default());
        for number in 0..24 {
            let level = if number < 14 { 0.86 } else { 0.79 };
            let verdict = if number == 5 { "incomplete" } else { "passed" };
            let temperature = if number < 22 { 0.0 } else { 0.7 };
            let job = json!({"scorer": {"temperature": temperature}, "cases": []});
            nights.take(
                &night(number, verdict, model, level + (number % 3) as f64 / 1000.0),
                RunRules::new(&Provenance::default(), Some(&job)),
            );
        }
        nights
    }

    fn page(nights: &Nights, last: usize, width: usize) -> String {
        let screen = Screen { ink: Ink::None, width, is_unfolded: false };
        trend(&nights.trend("Order desk".to_owned(), last, &Sources::default()), screen, false)
    }

    #[test]
    fn no_line_is_wider_than_the_screen() {
        for model in ["gpt-4.1-mini", &"提醒".repeat(60), "x\u{1b}[31m"] {
            for width in [60, 80, 140] {
                for last in [1, 5, 100] {
                    let page = page(&nights(model), last, width);
                    assert!(
                        page.lines().all(|line| line.width() <= width) && !page.contains('\u{1b}'),
                        "{width}:\n{page}"
                    );
                }
            }
        }
    }

    #[test]
    fn findings_are_sentences() {
        let page = page(&nights("m"), 24, 100);
        for line in [
            "Order desk: 24 nights\n",
            "\nm ",
            "1970-01-06 03:00 id5",
            "incomplete, not used\n",
            "run otherwise from here on: scorer.temperature (0.0 and 0.7)\n",
            "since 1970-01-15 (id14): 0.86 → 0.79, −0.070 (",
            " 13 nights before and 8 since\n",
            "too few nights to say: 2 nights, 2 cases; with 10 a change can show at the earliest\n",
        ] {
            let line = line.replace("03:00", "00:00");
            assert!(page.contains(&line), "{line}\n{page}");
        }
        assert!(!page.contains("95 % interval") && page.contains("$0.31"), "{page}");
    }

    #[test]
    fn a_case_that_flips_has_a_row() {
        let mut nights = Nights::new(TrendScope::default());
        for number in 0..4 {
            nights.take(&night(number, "passed", "m", 0.5), RunRules::default());
        }
        let page = page(&nights, 4, 80);
        assert!(page.contains("cases that flip  passes  flips       since  suspected\n"), "{page}");
        assert!(page.contains("another             2/8      2  1970-01-02          –\n"), "{page}");
    }
}
