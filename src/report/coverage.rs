//! The coverage of a suite of cases.

use serde_json::{Value, json};

use super::numbers::count;
use super::{Ink, Page, Paint, Screen, plain};
use crate::coverage::{Coverage, CoverageDifference, CoverageHit, CoverageItem, CoverageSubject};

/// A coverage for a terminal, beside an earlier one if there is one: the gaps first, what is touched where the screen is
/// unfolded.
pub fn coverage(coverage: &Coverage, difference: Option<&CoverageDifference>, screen: Screen) -> String {
    let mut page = Page::new(screen);
    let Coverage { runs, cases, conversations, .. } = coverage;
    let of = format!("{}, {}, {}", count(*runs, "run"), count(*cases, "case"), count(*conversations, "conversation"));
    match coverage.share() {
        Some(share) => {
            let paint = if share < 1.0 { Ink::bold } else { Ink::good };
            let but = if coverage.is_unlisted(CoverageSubject::Tool) { " but for tools" } else { "" };
            let share = format!("{:.1} % covered{but}", (share * 1000.0).floor() / 10.0);
            page.lead(0, 2, (paint, &share), (Ink::dim, &format!("· {of}")));
        }
        None => {
            let is_unlisted = coverage.is_unlisted(CoverageSubject::Tool);
            let what = if is_unlisted { "only calls are known" } else { "nothing to cover" };
            page.lead(0, 2, (Ink::bold, what), (Ink::dim, &format!("· {of}")));
        }
    }
    for subject in CoverageSubject::ALL {
        let (covered, all) = coverage.counts(subject);
        if all == 0 {
            continue;
        }
        page.gap();
        let (name, how) = labels(subject);
        let figures = match subject {
            subject if coverage.is_unlisted(subject) => {
                let expected = all - covered;
                let expected =
                    if expected > 0 { format!(", {expected} expected and never called") } else { String::new() };
                format!("{covered} called{expected}; which tools the agent has is not known: --tools FILE lists them")
            }
            _ => format!("{covered} of {all} {how}"),
        };
        page.lead(0, 2, (Ink::bold, name), (Ink::unpainted, &figures));
        for (item, touch) in coverage.items.iter().filter(|(item, _)| item.subject == subject) {
            line(&mut page, item, touch, screen.is_unfolded);
        }
    }
    if let Some(CoverageDifference { lost, gained }) = difference {
        page.gap();
        if lost.is_empty() && gained.is_empty() {
            page.paragraph(0, Ink::unpainted, "as much is covered as before");
        }
        let sides: [(_, Paint, _); 2] =
            [(lost, Ink::bad, "not covered any more"), (gained, Ink::good, "covered now, and not before")];
        for (items, paint, what) in sides {
            for item in items {
                let (name, _) = labels(item.subject);
                page.lead(0, 4, (paint, what), (Ink::unpainted, &format!("· {name} {}", named(item))));
            }
        }
    }
    page.text
}

fn line(page: &mut Page, item: &CoverageItem, touch: &CoverageHit, is_unfolded: bool) {
    let (paint, mark): (Paint, &str) = if touch.is_covered { (Ink::good, "✓") } else { (Ink::bad, "✗") };
    if is_unfolded || !touch.is_covered {
        page.lead(2, 6, (paint, &format!("{mark} {}", named(item))), (Ink::dim, &format!("· {}", touch.why)));
    }
}

/// An item's name, with the case that it belongs to.
fn named(item: &CoverageItem) -> String {
    match &item.case {
        Some((_, case)) => plain(&format!("{case}: {}", item.name)),
        None => plain(&item.name),
    }
}

/// The plural of a kind, and the participle for what covers it.
fn labels(subject: CoverageSubject) -> (&'static str, &'static str) {
    match subject {
        CoverageSubject::Tool => ("tools", "called"),
        CoverageSubject::Label => ("labels", "looked at by an assertion"),
        CoverageSubject::Relationship => ("relationships", "looked at by an assertion"),
        CoverageSubject::GoalEdge => ("goal edges", "reached in order"),
        CoverageSubject::Fact => ("facts", "mentioned by the persona"),
    }
}

/// The coverage as JSON.
pub fn coverage_json(coverage: &Coverage, difference: Option<&CoverageDifference>) -> Value {
    let items = coverage.items.iter().map(|(item, touch)| {
        let case = item.case.as_ref();
        json!({
            "subject": item.subject, "job": case.map(|it| &it.0), "case": case.map(|it| &it.1), "name": item.name,
            "covered": touch.is_covered, "why": touch.why,
        })
    });
    json!({
        "share": coverage.share(),
        "runs": coverage.runs,
        "cases": coverage.cases,
        "conversations": coverage.conversations,
        "toolsListed": coverage.are_tools_listed,
        "items": items.collect::<Vec<_>>(),
        "difference": difference,
    })
}
