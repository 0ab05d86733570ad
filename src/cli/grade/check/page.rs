//! The report of a check.

use super::CheckedConversation;
use crate::calibration::{CheckVerdict, Failed, Finding, Known};
use crate::report::{Ink, Page, Paint, Screen, one_line, two_decimals};

/// The most columns of a reason.
const REASON: usize = 400;

/// The findings, one a line, and what they come to.
pub(super) fn page(checked: &[CheckedConversation], verdict: CheckVerdict, screen: Screen) -> String {
    let mut page = Page::new(screen);
    for it in checked {
        let (paint, mark, words) = line(it);
        let name = format!("{mark} {}", one_line(&it.name, 80));
        page.lead(0, 2, (paint, &name), (Ink::unpainted, &format!("· known {} · {words}", it.known.as_str())));
    }
    if !checked.is_empty() {
        page.gap();
    }
    let of = |known: Known| checked.iter().filter(|it| it.known == known).count();
    let right = |known: Known| {
        checked.iter().filter(|it| it.known == known && matches!(it.finding, Finding::AsKnown { .. })).count()
    };
    let unknown = checked.iter().filter(|it| matches!(it.finding, Finding::Unknown { .. })).count();
    let bad = format!("{} of {} known-bad", right(Known::Bad), of(Known::Bad));
    let good = format!("{} of {} known-good conversations recognised", right(Known::Good), of(Known::Good));
    let unknown = if unknown > 0 { format!(", {unknown} could not be judged") } else { String::new() };
    let (paint, word): (Paint, &str) = match verdict {
        CheckVerdict::Passed => (Ink::good, "passed"),
        CheckVerdict::Missed => (Ink::bad, "the judge is wrong"),
        CheckVerdict::Unknown => (Ink::unsure, "the judge can't be used"),
        CheckVerdict::NoneBad => (Ink::unsure, "none is known to be bad, so nothing shows that the judge finds fault"),
    };
    page.lead(0, 2, (paint, &format!("{word}:")), (Ink::unpainted, &format!("{bad} and {good}{unknown}")));
    if of(Known::Good) == 0 && of(Known::Bad) > 0 {
        page.paragraph(0, Ink::unsure, "None is known to be good: a judge that fails everything passes this check");
    }
    page.text
}

fn line(it: &CheckedConversation) -> (Paint, &'static str, String) {
    let names = |failed: &[Failed]| {
        let name = |it: &Failed| format!("{} {}", one_line(&it.name, 50), two_decimals(it.score));
        failed.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    match (&it.finding, it.known) {
        (Finding::AsKnown { failed }, Known::Bad) => (Ink::good, "✓", format!("fails: {}", names(failed))),
        (Finding::AsKnown { .. }, Known::Good) => (Ink::good, "✓", "passes".to_owned()),
        (Finding::Otherwise { failed }, Known::Good) => (Ink::bad, "✗", format!("fails: {}", names(failed))),
        (Finding::Otherwise { failed }, Known::Bad) => {
            let must = match it.must_fail.is_empty() {
                true => String::new(),
                false => format!(", must fail {}", one_line(&it.must_fail.join(", "), 200)),
            };
            let only = if failed.is_empty() { String::new() } else { format!(", and fails only {}", names(failed)) };
            (Ink::bad, "✗", format!("slipped through{must}{only}"))
        }
        (Finding::Unknown { why }, _) => (Ink::unsure, "?", one_line(why, REASON)),
    }
}
