//! The failed parts, each once with its reason and its conversations; those that passed are counted.

use std::collections::{BTreeMap, HashMap};

use super::super::gathered::{GatheredDimension, PartResult, PartRow, Sentences, TrialLocation};
use super::super::{Ink, Page, Paint, TrialNames, count, plain, two_decimals};
use super::{Run, parts};
use crate::score::{Component, Score};

/// The most failed tasks and assertions that are shown, unless the screen is unfolded.
const MAX_FAILURES: usize = 20;

/// The results of the parts of a dimension of a run.
#[derive(Default)]
struct FailureCounts {
    /// The noun for one of them.
    noun: String,
    all: usize,
    failed: usize,
    missing: usize,
    /// The lowest score of one that passed.
    lowest: Option<Score>,
}

/// A task or an assertion that a reader must see.
struct ShownFailures<'a> {
    case: &'a str,
    title: String,
    part: &'a PartRow,
    rows: Vec<FailureRow>,
    doubt: Option<String>,
    /// Whether its reasons are of several lines.
    is_block: bool,
}

/// Its result in some groups, and the reason.
struct FailureRow {
    mark: String,
    paint: Paint,
    place: String,
    why: String,
}

/// Writes the conversations that were in trouble, then the tasks and assertions that failed, then how many did not.
pub(super) fn failures(page: &mut Page, run: &Run<'_>) {
    troubles(page, run);
    let mut shown: Vec<ShownFailures<'_>> = Vec::new();
    let noun = |dimension: &GatheredDimension| FailureCounts { noun: dimension.noun(), ..FailureCounts::default() };
    let mut counts: Vec<FailureCounts> = run.gathered.measured.iter().map(noun).collect();
    let (mut cases, mut whole_cases) = (0, 0);
    for case in run.overview.cases() {
        let mut is_whole = !run.gathered.is_troubled(case);
        for (dimension, counts) in run.gathered.measured.iter().zip(&mut counts) {
            for (place, part) in run.gathered.parts(case, &dimension.name).into_iter().enumerate() {
                let (rows, verdict) = failed_rows(part, dimension.holds, run);
                counts.add(part, verdict);
                is_whole &= verdict == PartStatus::Well;
                let doubt = parts::doubt(run, case, dimension, part).filter(|doubt| doubt.is_serious);
                if !rows.is_empty() || doubt.is_some() {
                    let kind = plain(dimension.part());
                    let of = if run.names.tell_cases() { format!("{} · ", plain(case)) } else { String::new() };
                    let title = format!("{of}{kind} {}", place + 1);
                    let (doubt, is_block) = (doubt.map(|doubt| doubt.text), dimension.is_block);
                    shown.push(ShownFailures { case, title, part, rows, doubt, is_block });
                }
            }
        }
        (cases, whole_cases) = (cases + 1, whole_cases + usize::from(is_whole));
    }
    failed(page, run, &shown, &counts);
    if !run.screen.is_unfolded {
        passed(page, &counts, whole_cases, cases);
    }
}

/// The results of a task or an assertion in all conversations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartStatus {
    Well,
    Failed,
    Missing,
    /// It was checked nowhere.
    Unchecked,
}

impl FailureCounts {
    fn add(&mut self, part: &PartRow, standing: PartStatus) {
        match standing {
            PartStatus::Unchecked => return,
            PartStatus::Failed => self.failed += 1,
            PartStatus::Missing => self.missing += 1,
            PartStatus::Well => {
                let lowest = part.groups.iter().filter_map(|(_, made)| made.lowest);
                self.lowest = lowest.chain(self.lowest).min_by(|a, b| a.get().total_cmp(&b.get()));
            }
        }
        self.all += 1;
    }
}

/// Writes what kept conversations from saying something about the agent, or from coming to their own end: each once.
fn troubles(page: &mut Page, run: &Run<'_>) {
    for (text, groups) in run.gathered.troubles.in_order() {
        let paint: Paint = if text.starts_with("agent failed") { Ink::bad } else { Ink::unsure };
        // An agent's output is shown line by line.
        let mut lines = text.lines();
        let head = format!("{}: ", run.places(groups, TrialNames::group));
        page.gap();
        page.lead(0, 2, (Ink::bold, &head), (paint, lines.next().unwrap_or_default()));
        for line in lines {
            page.paragraph(2, Ink::unpainted, &format!("| {line}"));
        }
    }
    left_out(page, &run.gathered.troubles);
}

/// How many trials have sentences that are not shown.
fn left_out(page: &mut Page, sentences: &Sentences) {
    if sentences.dropped > 0 {
        page.gap();
        page.paragraph(
            0,
            Ink::unsure,
            &format!("and {} with other troubles", count(sentences.dropped, "conversation")),
        );
    }
}

/// The lines of a part that did not come out well, groups with the same one together, and what became of it.
fn failed_rows(part: &PartRow, holds: bool, run: &Run<'_>) -> (Vec<FailureRow>, PartStatus) {
    type Groups = BTreeMap<usize, TrialLocation>;
    let mut found: Vec<((String, String, bool), Groups)> = Vec::new();
    let mut standing = PartStatus::Unchecked;
    for (group, made) in part.groups.iter() {
        let component = made.tally.component();
        let is_missing = matches!(component, Some(Component::Missing { .. }));
        let partly = made.missing().filter(|_| !is_missing);
        standing = match (standing, &made.failed, is_missing || partly.is_some()) {
            (_, Some(_), _) | (PartStatus::Failed, ..) => PartStatus::Failed,
            (_, _, true) | (PartStatus::Missing, ..) => PartStatus::Missing,
            (standing, _, _) if made.tally.scored == 0 => standing,
            _ => PartStatus::Well,
        };
        // A reason that is shown for the conversation is not repeated for its parts.
        if (made.failed.is_none() && !is_missing && partly.is_none()) || (is_missing && parts::is_shown_once(made, run))
        {
            continue;
        }
        let mut note = |key: (String, String, bool), place: Option<TrialLocation>| {
            let place = place.unwrap_or(TrialLocation { trials: 1, repeat: 1, turn: 0 });
            match found.iter_mut().find(|(known, _)| *known == key) {
                Some((_, groups)) => drop(groups.insert(group, place)),
                None => found.push((key, BTreeMap::from([(group, place)]))),
            }
        };
        if made.failed.is_some() || is_missing {
            let place = made.failed.clone().or_else(|| made.missing_location());
            note((mark(made, holds), made.reasons().join("; "), is_missing), place);
        }
        // The judge's failure is no reason of a score.
        if let Some(why) = partly {
            let mark = format!("missing in {} of {}", made.tally.missing, made.tally.count());
            note((mark, why.to_owned(), true), made.missing_location());
        }
    }
    let rows = found.into_iter().map(|((mark, why, is_missing), groups)| {
        let paint: Paint = if is_missing { Ink::unsure } else { Ink::bad };
        let place = run.named(&groups, TrialNames::group_within_case, false);
        FailureRow { mark, paint, place, why }
    });
    (rows.collect(), standing)
}

/// The result of a part, before the name of its group.
fn mark(made: &PartResult, holds: bool) -> String {
    let several = made.tally.count() > 1;
    match made.tally.component() {
        Some(Component::Missing { .. }) => "missing".to_owned(),
        Some(Component::Scored { .. }) if holds && several => {
            format!("{} of {} hold", made.whole, made.tally.scored)
        }
        Some(Component::Scored { score, .. }) if !holds => two_decimals(score.get()),
        _ => "fails".to_owned(),
    }
}

/// Writes the tasks and assertions that failed, and those that may say nothing.
fn failed(page: &mut Page, run: &Run<'_>, shown: &[ShownFailures<'_>], counts: &[FailureCounts]) {
    if shown.is_empty() {
        return;
    }
    page.gap();
    let title = |what: &str, number: fn(&FailureCounts) -> usize| {
        let of = |counts: &FailureCounts| match number(counts) {
            0 => None,
            several => Some(format!("{several} of {}", count(counts.all, &counts.noun))),
        };
        let text: Vec<String> = counts.iter().filter_map(of).collect();
        (!text.is_empty()).then(|| format!("{what}: {}", text.join(", ")))
    };
    let titles = [title("Failed", |it| it.failed), title("undetermined", |it| it.missing)];
    let doubtful = shown.iter().filter(|it| it.doubt.is_some()).count();
    let doubtful = (doubtful > 0).then(|| format!("held before: {}", count(doubtful, "assertion")));
    let titles: Vec<String> = titles.into_iter().flatten().chain(doubtful).collect();
    let mut title = titles.join("; ");
    if let Some(first) = title.get(..1).map(str::to_uppercase) {
        title.replace_range(..1, &first);
    }
    page.paragraph(0, Ink::bold, &title);
    let most = if run.screen.is_unfolded { usize::MAX } else { MAX_FAILURES };
    // Several metrics of one conversation may have the same reason, line for line.
    let mut blocks: HashMap<(&str, &str, &str), &str> = HashMap::new();
    for it in shown.iter().take(most) {
        page.lead(2, 4, (Ink::bold, &format!("{} ·", it.title)), (Ink::unpainted, &parts::label(it.part)));
        if let Some(doubt) = &it.doubt {
            page.paragraph(4, Ink::unsure, doubt);
        }
        for row in &it.rows {
            let (mut first, mut rest) = (row.why.clone(), "");
            if let Some((head, lines)) = row.why.split_once('\n').filter(|_| it.is_block) {
                match blocks.get(&(it.case, &row.place, &row.why)) {
                    Some(known) => first = format!("as {known}"),
                    None => (first, rest) = (head.to_owned(), lines),
                }
                blocks.entry((it.case, &row.place, &row.why)).or_insert(&it.title);
            }
            page.lead(4, 6, (row.paint, &row.mark), (Ink::unpainted, &format!("{}: {first}", row.place)));
            rest.lines().for_each(|line| page.paragraph(6 + parts::leading(line), Ink::unpainted, line));
        }
    }
    if let Some(rest) = shown.get(most..).filter(|rest| !rest.is_empty()) {
        let mut cases: Vec<&str> = rest.iter().map(|it| it.case).collect();
        cases.dedup();
        let of = if cases.len() > 1 { format!(" of {} cases", cases.len()) } else { String::new() };
        page.paragraph(2, Ink::dim, &format!("and {} more{of} (-v shows them)", rest.len()));
    }
}

/// Writes how much passed.
fn passed(page: &mut Page, counts: &[FailureCounts], whole_cases: usize, cases: usize) {
    let text = |counts: &FailureCounts| {
        let passed = counts.all - counts.failed - counts.missing;
        let lowest = counts.lowest.filter(|lowest| *lowest < Score::ONE);
        let lowest = lowest.map(|lowest| format!(" ({} the lowest)", two_decimals(lowest.get()))).unwrap_or_default();
        (passed > 0).then(|| format!("{}{lowest}", count(passed, &counts.noun)))
    };
    let of_cases = (cases > 1 && whole_cases > 0).then(|| format!("{whole_cases} of {cases} cases"));
    let all = of_cases.into_iter().chain(counts.iter().filter_map(text));
    let all: Vec<String> = all.collect();
    if !all.is_empty() {
        page.gap();
        page.lead(0, 2, (Ink::good, "Passed:"), (Ink::unpainted, &format!("{} (-v shows them)", all.join(", "))));
    }
}
