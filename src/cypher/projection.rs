//! The projections of a statement, WITH and RETURN, and the items in them.

use super::{Span, Statement};

/// A WITH or a RETURN with all that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projection {
    /// Its first token.
    pub at: usize,
    /// Whether it is a RETURN.
    pub returns: bool,
    /// Whether it is DISTINCT.
    pub distinct: bool,
    /// Its items; one empty one where there is none.
    pub items: Vec<Span>,
    /// The keys after ORDER BY, with their directions.
    pub sorts: Vec<Span>,
    /// SKIP and LIMIT.
    pub cut: Span,
    /// WHERE and its condition.
    pub filter: Span,
    /// The first token after it.
    pub end: usize,
}

impl Statement<'_> {
    /// The WITH or RETURN that begins at this token.
    pub fn projection(&self, at: usize) -> Option<Projection> {
        if !self.keyword(at, "WITH RETURN") || !self.begins(at) {
            return None;
        }
        let returns = self.keyword(at, "RETURN");
        let distinct = self.keyword(at + 1, "DISTINCT");
        let first = at + 1 + usize::from(distinct);
        let mut end = self.part_end(first);
        let items = self.list(first..end);
        let mut sorts = Vec::new();
        if self.sorts(end) {
            let from = end + 2;
            end = self.part_end(from);
            sorts = self.list(from..end);
        }
        let cut = end;
        while self.keyword(end, "SKIP LIMIT") {
            end = self.part_end(end + 1);
        }
        let filter = end;
        if !returns && self.keyword(end, "WHERE") {
            end = self.part_end(end + 1);
        }
        Some(Projection { at, returns, distinct, items, sorts, cut: cut..filter, filter: filter..end, end })
    }

    /// The alias that an item has after AS or by being nothing but a name.
    pub fn alias(&self, item: &Span) -> Option<usize> {
        let last = item.end.checked_sub(1)?;
        let written = item.len() > 2 && self.keyword(last - 1, "AS");
        (written || item.len() == 1 && self.named(last)).then_some(last)
    }

    /// An item without its AS and alias.
    pub fn expression(&self, item: &Span) -> Span {
        match item.len() > 2 && self.keyword(item.end - 2, "AS") {
            true => item.start..item.end - 2,
            false => item.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projections_have_all_their_parts() {
        let s = Statement::parse(
            "MATCH (n) WITH DISTINCT n, n.with AS x WHERE x > 1 CALL { RETURN 1 } RETURN x, count(*) ORDER BY x DESC, n SKIP 1 \
             LIMIT 2 UNION RETURN 1;",
        );
        let parts = |projection: &Projection| {
            let texts = |spans: &[Span]| spans.iter().map(|span| s.text(span)).collect::<Vec<_>>();
            let (items, sorts) = (texts(&projection.items), texts(&projection.sorts));
            (projection.returns, projection.distinct, items, sorts, s.text(&projection.cut), s.text(&projection.filter))
        };
        assert_eq!(
            s.projections.iter().map(parts).collect::<Vec<_>>(),
            [
                (false, true, vec!["n", "n.with AS x"], vec![], "", "WHERE x > 1"),
                (true, false, vec!["x", "count(*)"], vec!["x DESC", "n"], "SKIP 1 LIMIT 2", ""),
                (true, false, vec!["1"], vec![], "", ""),
            ]
        );
        assert!(s.has_union());
    }
}
