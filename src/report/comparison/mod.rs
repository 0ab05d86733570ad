//! Sides beside each other: what each difference comes to, and what that rests on.

mod reserves;

use std::io::{self, Write};

use serde::Serialize;

use super::numbers::count;
use super::{FigureCell, FigureRow, FigureTable, Ink, Page, Paint, Screen, decimals, plain, two_decimals};
use crate::compare::{
    Bridge, ComparedScore, Comparison, ComparisonRules, Divergence, Excluded, Relation, Side, Subject,
};
use crate::statistics::{ComparisonMethods, Interval};
use reserves::{open_text, reserves};

/// The most excluded cases that are listed.
const MAX_LISTED: usize = 5;

/// Sides beside each other, and how they came to be compared.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// The sides, each beside the first one.
    pub comparisons: &'a [Comparison],
    /// How the older run was judged again, where it was.
    pub bridge: Option<&'a Bridge>,
    /// The rules of the comparison.
    pub rules: ComparisonRules,
}

/// The comparisons for a terminal.
pub fn comparisons(compared: &Compared<'_>, screen: Screen) -> String {
    let Compared { comparisons, bridge, rules } = *compared;
    let mut page = Page::new(screen);
    for (place, comparison) in comparisons.iter().enumerate() {
        if place > 0 {
            page.gap();
        }
        one(&mut page, comparison, rules, screen.is_unfolded);
    }
    if let Some(words) = family(comparisons, rules) {
        page.gap();
        page.paragraph(0, Ink::dim, &words);
    }
    if let Some(bridge) = bridge {
        page.gap();
        page.paragraph(0, Ink::dim, &bridge_text(bridge));
    }
    page.text
}

/// How the older run was judged again.
fn bridge_text(bridge: &Bridge) -> String {
    let (run, by) = (plain(&bridge.run), plain(&bridge.by));
    let judge = bridge.judge.as_deref().map(|judge| format!(", its judge {}", plain(judge))).unwrap_or_default();
    let lost = match (bridge.without_score, &bridge.stopped) {
        (0, _) => String::new(),
        (lost, why) => format!(
            " {} of it without a score that way: {}.",
            count(lost, "conversation"),
            why.as_ref().map_or_else(|| "what is kept does not say it".to_owned(), |why| plain(why)),
        ),
    };
    format!("The scores of {run} are those that it has by the job of {by}{judge}, not those of its own night.{lost}")
}

fn one(page: &mut Page, comparison: &Comparison, rules: ComparisonRules, is_unfolded: bool) {
    let [first, second] = names(&comparison.first, &comparison.second);
    let Some(score) = comparison.scores.first() else {
        page.lead(
            0,
            2,
            (Ink::unsure, "inconclusive:"),
            (Ink::unpainted, &format!("{second} beside {first}: no pair has a score")),
        );
        left_out(page, &comparison.left_out);
        return;
    };
    let relation = score.relation;
    let figures = format!(
        "{second} beside {first}: {} → {}, {}",
        two_decimals(score.first),
        two_decimals(score.second),
        figure_text(score)
    );
    page.lead(0, 2, (paint(relation), &format!("{}:", relation.label())), (Ink::unpainted, &figures));
    let pairs = format!("{} of {}", count(score.pairs as usize, "pair"), count(score.cases as usize, "case"));
    page.paragraph(0, Ink::dim, &format!("{pairs} · {}", side_text(comparison)));
    page.gap();
    let shows = |score: &&ComparedScore| is_unfolded || !score.no_pair_differs || score.subject == Subject::Score;
    let rows: Vec<FigureRow> = comparison.scores.iter().filter(shows).map(row).collect();
    let alike = comparison.scores.len() - rows.len();
    let column = |name: &str| vec![name.to_owned()];
    let interval = format!("{} interval", level_text(rules));
    let columns = ["first", "second", "difference", &interval, "p", ""].map(column).to_vec();
    page.table(&FigureTable { title: String::new(), columns, rows });
    if alike > 0 {
        page.paragraph(0, Ink::dim, &format!("{alike} more in which no pair differs (-v shows them)"));
    }
    page.gap();
    reserves(score, rules).iter().for_each(|line| page.paragraph(0, Ink::unpainted, line));
    if let Some(divergence) = &comparison.divergence {
        page.paragraph(0, Ink::unpainted, &divergence_text(divergence));
    }
    left_out(page, &comparison.left_out);
}

/// Where conversations part, in a sentence.
fn divergence_text(divergence: &Divergence) -> String {
    let Divergence { never, by_user, by_agent, median_turn, pairs } = divergence;
    let all = count(pairs.len(), "pair");
    let Some(turn) = median_turn else {
        return format!("In {all} user and agent say the same to the end.");
    };
    let never = if *never > 0 { format!("; {never} never") } else { String::new() };
    let turn = if *turn < 1.0 { "the greeting".to_owned() } else { format!("turn {turn:.0}") };
    format!(
        "The conversations of {all} part at {turn} (median): {by_agent} at the agent's reply, {by_user} at the user's message{never}."
    )
}

/// The level of the intervals: `95 %`, or more where each is one of several looks.
pub(super) fn level_text(rules: ComparisonRules) -> String {
    let percent = (1.0 - rules.alpha) * 100.0;
    if (percent - percent.round()).abs() < 1e-6 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// The reason for the level, where it is not the usual one.
pub(super) fn looks_text(rules: ComparisonRules) -> Option<String> {
    (rules.alpha < ComparisonRules::default().alpha).then(|| {
        let (most, level) = (p_value_text(rules.alpha), level_text(rules));
        format!("Each look at the scores claims a difference where p is at most {most}, and its intervals cover at {level}: all looks together err in at most 5 of 100 runs.")
    })
}

/// The names by which the sides differ: their models, or their runs.
fn names(first: &Side, second: &Side) -> [String; 2] {
    [first, second].map(|side| plain(if first.run == second.run { &side.model } else { &side.run }))
}

/// The models or runs of the sides, where their names do not say them.
fn side_text(comparison: &Comparison) -> String {
    let (first, second) = (&comparison.first, &comparison.second);
    match first.run == second.run {
        true => format!("run {}", plain(&first.run)),
        false if first.model == second.model => format!("model {}", plain(&first.model)),
        false => format!("models {} and {}", plain(&first.model), plain(&second.model)),
    }
}

/// A difference with its interval, in words.
fn figure_text(score: &ComparedScore) -> String {
    match score.shown_interval() {
        Some(interval) => format!("{} ({})", signed(score.difference), interval_text(interval)),
        None if score.no_pair_differs => "no pair differs".to_owned(),
        None => signed(score.difference),
    }
}

/// The relation of a side to the first one, in a few words and their colour.
pub(super) fn relation_text(second: &str, first: &str, relation: Relation) -> (Paint, String) {
    let (first, second) = (plain(first), plain(second));
    let words = match relation {
        Relation::Better => format!("{second} is better than {first}:"),
        Relation::Worse => format!("{second} is worse than {first}:"),
        Relation::Same => format!("{second} is the same as {first}:"),
        Relation::Inconclusive => format!("{second} beside {first} is inconclusive:"),
    };
    (paint(relation), words)
}

/// The difference that this rests on, and what would decide it.
pub(super) fn beside_text(score: &ComparedScore, rules: ComparisonRules) -> String {
    let over = match score.over {
        _ if score.cases == 1 => "for this case only".to_owned(),
        _ => format!("over {}", count(score.cases as usize, "case")),
    };
    let open = match score.relation {
        Relation::Inconclusive => format!(". {}", open_text(score, rules).join(" ").trim_end_matches('.')),
        _ => String::new(),
    };
    let relation = match score.relation {
        Relation::Same => format!(
            "; two one-sided tests show less than {} apart (p {})",
            rules.min_effect,
            p_value_text(score.equivalence_p)
        ),
        _ => String::new(),
    };
    format!("{}, {over}{}{relation}{open}", figure_text(score), chances_text(score))
}

/// The chances of such a difference where there is none; nothing where no pair differs.
fn chances_text(score: &ComparedScore) -> String {
    match score.over {
        Some(_) => {
            format!(", p {} (flip of signs {})", p_value_text(score.adjusted_p), p_value_text(score.sign_flip_p))
        }
        None => String::new(),
    }
}

fn row(score: &ComparedScore) -> FigureRow {
    let cell = |text: String| -> FigureCell { (Ink::unpainted, text) };
    FigureRow {
        name: plain(score.subject.name()),
        indent: if score.subject == Subject::Score { 0 } else { 2 },
        paint: if score.subject == Subject::Score { Ink::bold } else { Ink::unpainted },
        cells: vec![
            cell(two_decimals(score.first)),
            cell(two_decimals(score.second)),
            cell(signed(score.difference)),
            cell(score.shown_interval().map_or("–".to_owned(), interval_text)),
            cell(p_value_text(score.adjusted_p)),
            (paint(score.relation), score.relation.label().to_owned()),
        ],
    }
}

fn paint(relation: Relation) -> Paint {
    match relation {
        Relation::Better => Ink::good,
        Relation::Worse => Ink::bad,
        Relation::Same => Ink::bold,
        Relation::Inconclusive => Ink::unsure,
    }
}

fn left_out(page: &mut Page, left_out: &Excluded) {
    let mut line = |text: String| page.paragraph(0, Ink::unsure, &text);
    for (cases, which) in [(&left_out.only_first, "first"), (&left_out.only_second, "second")] {
        if !cases.is_empty() {
            let named: Vec<String> = cases.iter().take(MAX_LISTED).map(|case| plain(case)).collect();
            let more = cases.len().saturating_sub(MAX_LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let all = count(cases.len(), "case");
            line(format!("Not compared: {all} of the {which} side only: {}{more}.", named.join(", ")));
        }
    }
    let conversations = |number: u32| count(number as usize, "conversation");
    if left_out.unpaired > 0 {
        line(format!("Not compared: {} of shared cases without a counterpart.", conversations(left_out.unpaired)));
    }
    for (lacking, which) in [
        (left_out.first_lacks_score, "the first side only"),
        (left_out.second_lacks_score, "the second side only"),
        (left_out.both_lack_score, "both sides"),
    ] {
        if lacking > 0 {
            line(format!("Not compared: {} without a score on {which}.", conversations(lacking)));
        }
    }
}

/// Among how many the chances are adjusted, and which intervals cover at once.
fn family(comparisons: &[Comparison], rules: ComparisonRules) -> Option<String> {
    let at_once = at_once_text(comparisons, rules);
    let scores = comparisons.iter().filter(|comparison| !comparison.scores.is_empty()).count();
    let others = comparisons.iter().map(|comparison| comparison.scores.len().saturating_sub(1)).sum::<usize>();
    let scores = (scores > 1).then(|| count(scores, "score"));
    let others = (others > 1).then(|| format!("{others} conditions and metrics"));
    let families: Vec<String> = scores.into_iter().chain(others.clone()).collect();
    let adjusted =
        (!families.is_empty()).then(|| format!("p is adjusted among {} (Holm).", families.join(", and among ")));
    let each =
        (at_once.is_some() && others.is_some()).then(|| "Those of conditions and metrics each for itself.".to_owned());
    let lines: Vec<String> = adjusted.into_iter().chain(at_once).chain(each).collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}

/// That the intervals of several scores cover all at once, and at which level each does.
pub(super) fn at_once_text(comparisons: &[Comparison], rules: ComparisonRules) -> Option<String> {
    let scores = comparisons.iter().filter_map(|comparison| comparison.scores.first());
    let several = scores.clone().count();
    let level = level_text(ComparisonRules { alpha: rules.alpha / several.max(1) as f64, ..rules });
    scores
        .clone()
        .any(|score| score.simultaneous_interval.is_some())
        .then(|| format!("The intervals of the {several} scores cover all at once ({level} each, Bonferroni)."))
}

/// Writes the comparisons as JSON, indented and with a newline at its end: of many pairs one after the other.
///
/// # Errors
/// Those of the writer.
pub fn write_comparisons(compared: &Compared<'_>, mut to: impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Document<'a> {
        min_effect: f64,
        alpha: f64,
        rng_seed: u64,
        methods: ComparisonMethods,
        relations: Vec<Relation>,
        comparisons: &'a [Comparison],
        #[serde(skip_serializing_if = "Option::is_none")]
        bridge: Option<&'a Bridge>,
    }
    let Compared { comparisons, bridge, rules } = *compared;
    let document = Document {
        min_effect: rules.min_effect,
        alpha: rules.alpha,
        rng_seed: rules.rng_seed,
        methods: ComparisonMethods::ALL,
        relations: comparisons.iter().map(Comparison::relation).collect(),
        comparisons,
        bridge,
    };
    serde_json::to_writer_pretty(&mut to, &document)?;
    to.write_all(b"\n")?;
    to.flush()
}

pub(super) fn interval_text(Interval { low, high }: Interval) -> String {
    format!("{} to {}", signed(low), signed(high))
}

/// A difference with its sign, to three decimals.
pub(super) fn signed(value: f64) -> String {
    let text = decimals(value.abs(), 3);
    let sign = match value {
        _ if text.chars().all(|c| matches!(c, '0' | '.')) => '±',
        _ if value < 0.0 => '−',
        _ => '+',
    };
    format!("{sign}{text}")
}

/// A chance as it is read: to two places that count.
fn p_value_text(p: f64) -> String {
    match p {
        p if p < 0.0001 => "<0.0001".to_owned(),
        p if p < 0.001 => format!("{p:.4}"),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}
