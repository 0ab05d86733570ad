//! The nights of a job: what each came to, since when the score has another level, and which cases flip.

use chrono::{DateTime, Utc};
use unicode_width::UnicodeWidthStr;

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
    for (run, words) in long_breaks(&trend.nights, model, screen) {
        page.lead(0, 2, (Ink::unsure, &format!("run otherwise from {run} on:")), (Ink::unpainted, &words));
    }
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
            let name = broken(&night.differs, screen);
            rows.push(FigureRow { name, indent: 0, paint: Ink::unsure, cells: Vec::new() });
        }
        let text = |column: &&Column<'_>| column.1(night, own).unwrap_or_default();
        let mut cells: Vec<FigureCell> = columns.iter().map(|column| (Ink::unpainted as Paint, text(column))).collect();
        // The verdict of a run is one for all of its models.
        cells.push(match verdict(night, series) {
            (paint, text) if is_only || why_left_out(night, series).is_some() => (paint, text),
            (paint, _) => (paint, String::new()),
        });
        let format = if screen.width < WIDE { "%m-%d %H:%M" } else { "%Y-%m-%d %H:%M" };
        let name = format!("{} {}", night.started_at.format(format), plain(&night.run));
        rows.push(FigureRow { name, indent: 0, paint: Ink::unpainted, cells });
    }
    let names = columns.iter().map(|(name, _)| *name).chain([""]);
    let columns = names.map(|name| vec![name.to_owned()]).collect();
    FigureTable { title: "night".to_owned(), columns, rows }
}

/// The row where nights are run otherwise from; where it has no room for what differs, that stands below the table.
fn broken(differs: &[RuleDifference], screen: Screen) -> String {
    let whole = format!("run otherwise from here on: {}", differences(differs, screen));
    match whole.width() > screen.width {
        true => "run otherwise from here on (see below)".to_owned(),
        false => whole,
    }
}

fn differences(differs: &[RuleDifference], screen: Screen) -> String {
    let most = if screen.is_unfolded { usize::MAX } else { MAX_LISTED };
    let named: Vec<String> = differs
        .iter()
        .take(most)
        .map(|it| match it.is_unnamed() {
            true => plain(&it.what),
            false => format!("{} ({} and {})", plain(&it.what), plain(&it.first), plain(&it.second)),
        })
        .collect();
    let more: usize = differs.iter().skip(most).map(|it| it.count).sum();
    let more = if more > 0 { format!(" and {more} more (-v shows them)") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// What differs where the table has no room for it, with the run that is the first to be run otherwise.
fn long_breaks(nights: &[Night], model: &str, screen: Screen) -> Vec<(String, String)> {
    let held = nights.iter().filter(|night| !night.differs.is_empty() && night.model(model).is_some());
    let words = held.map(|night| (plain(&night.run), differences(&night.differs, screen)));
    let row = "run otherwise from here on: ".len();
    words.filter(|(_, words)| row + words.width() > screen.width).collect()
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
    let model = nights.last().and_then(|night| night.model(&series.first()?.model));
    let is_now = |own: &&&Series| Some(own.rules) == newest && model.is_none_or(|it| own.conditions == it.conditions());
    let is_as_often = |own: &&&Series| is_now(own) && model.is_some_and(|it| own.repeats == it.repeats);
    // A night that was cut off has too few repetitions to say which series it is of.
    let now = series.iter().rev().find(is_as_often).or_else(|| series.iter().rev().find(is_now));
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
            let differs = series.iter().any(|other| other.repeats != now.repeats);
            let repeats = if differs { format!(", {}", times_each(now.repeats)) } else { String::new() };
            let over =
                format!("{}, {}{conditions}{repeats}", count(now.nights_since, "night"), count(now.cases, "case"));
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

/// How often each case was run.
fn times_each(repeats: u32) -> String {
    if repeats == 1 { "each once".to_owned() } else { format!("each {repeats} times") }
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
        let tells_models = models(trend).len() > 1;
        let row = |it: &SuspectedFlake| flake(it, tells_models);
        let rows: Vec<FigureRow> = match screen.is_unfolded {
            true => trend.flakes.iter().map(row).collect(),
            false => trend.flakes.iter().take(MAX_FLAKES).map(row).collect(),
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

fn flake(flake: &SuspectedFlake, tells_models: bool) -> FigureRow {
    let SuspectedFlake { flake, suspected } = flake;
    let model = if tells_models { format!(" · {}", plain(&flake.key.model)) } else { String::new() };
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
        name: format!("{}{model}{condition}", plain(&flake.key.case)),
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
    let say = if lost.count() == 1 { "says" } else { "say" };
    (!named.is_empty()).then(|| {
        format!(
            "Not counted as flips: {all} of the nights shown, which {say} nothing of the agent ({}).",
            named.join(", ")
        )
    })
}

#[cfg(test)]
mod tests;
