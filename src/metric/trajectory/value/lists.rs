//! Lists: element by element, or in any order.

use std::collections::HashMap;

use serde_json::Value;

use super::ValueComparison;
use crate::metric::trajectory::align;
use crate::metric::trajectory::compiled::CompiledRule;
use crate::metric::trajectory::equality::{Mode, text_of};
use crate::metric::trajectory::rule::{PathTree, RuleKind};

impl ValueComparison<'_> {
    /// Compares lists; without an order, by the pairs of elements that hold best. What a script can't tell counts only where
    /// it decides.
    pub(super) fn lists(
        &mut self,
        rule: &CompiledRule,
        ignore: Option<&PathTree>,
        mode: &Mode,
        wanted: &[Value],
        made: &[Value],
        whole: (&Value, &Value),
    ) -> bool {
        if wanted.len() != made.len() {
            let why = format!("{} elements, {} expected", made.len(), wanted.len());
            return self.differs(Some(whole.0), Some(whole.1), Some(why));
        }
        let inherited = rule.inherited();
        let ignore = ignore.filter(|_| mode.into_lists);
        if mode.list_order || wanted.len() < 2 {
            let mut same = true;
            for (index, (expected, actual)) in wanted.iter().zip(made).enumerate() {
                same &= self.at_index(index, |it| match ignore {
                    Some(tree) => it.equal(inherited, Some(tree), mode, expected, actual),
                    None => it.value(inherited, mode, expected, actual),
                });
                if !same && !self.goes_on() {
                    return false;
                }
            }
            return same;
        }
        // Whatever is fuzzy within must be equal here: which elements belong together is not known.
        let inherited =
            CompiledRule::from_kind(if rule.kind == RuleKind::Fuzzy { RuleKind::Strict } else { rule.kind });
        let mut known: HashMap<(usize, usize), Option<bool>> = HashMap::new();
        let mut doubts = Vec::new();
        let mut search = |unknown: bool| {
            let mut edge = |expected: usize, actual: usize| {
                let verdict = known.entry((expected, actual)).or_insert_with(|| {
                    let mut probe = ValueComparison::new(self.layers, false).shown_as(&self.shown).at_path(&self.path);
                    (probe.has_ignore_word, probe.strict) = (self.has_ignore_word, self.strict);
                    probe.deadline = self.deadline;
                    let same = probe.equal(inherited, ignore, mode, &wanted[expected], &made[actual]);
                    let is_known = !same || !probe.fuzzy.is_empty() || probe.unknown.is_empty();
                    doubts.append(&mut probe.unknown);
                    is_known.then_some(same && probe.fuzzy.is_empty())
                });
                verdict.unwrap_or(unknown)
            };
            align::any_order(wanted.len(), made.len(), &mut edge).iter().position(Option::is_none)
        };
        let Some(first) = search(false) else { return true };
        if search(true).is_none() {
            self.unknown.extend(doubts.into_iter().next());
            return true;
        }
        let why = format!("no element is {}", text_of(&wanted[first]));
        self.differs(Some(whole.0), Some(whole.1), Some(why))
    }
}
