//! Alignments of expected calls with actual ones: in order, in any order, and the heaviest of both.

/// For each expected one its partner, in order; as many as possible have one.
pub(super) type Pairs = Vec<Option<usize>>;

/// A matching in order in which every expected one has a partner, if there is one: the first that fits is never worse than a
/// later one.
pub(super) fn subsequence(
    expected: usize,
    actual: usize,
    edge: &mut impl FnMut(usize, usize) -> bool,
) -> Option<Pairs> {
    let mut pairs = Vec::with_capacity(expected);
    let mut next = 0;
    for wanted in 0..expected {
        if expected - wanted > actual - next {
            return None;
        }
        let found = (next..actual).find(|made| edge(wanted, *made))?;
        pairs.push(Some(found));
        next = found + 1;
    }
    Some(pairs)
}

/// A largest matching in any order: augmenting paths (Kuhn), each expected one first with the partners that are free.
pub(super) fn any_order(expected: usize, actual: usize, edge: &mut impl FnMut(usize, usize) -> bool) -> Pairs {
    let mut search =
        BipartiteMatching { actual, known: vec![None; expected * actual], owner: vec![None; actual], edge };
    let mut pairs = vec![None; expected];
    let mut waiting = Vec::new();
    for wanted in 0..expected {
        // Most calls are where they are expected: look there first.
        let mut places = (wanted..actual).chain(0..wanted.min(actual));
        match places.find(|made| search.owner[*made].is_none() && search.has(wanted, *made)) {
            Some(made) => search.owner[made] = Some(wanted),
            None => waiting.push(wanted),
        }
    }
    for wanted in waiting {
        search.augment(wanted);
    }
    for (made, owner) in search.owner.iter().enumerate() {
        if let Some(wanted) = owner {
            pairs[*wanted] = Some(made);
        }
    }
    pairs
}

struct BipartiteMatching<'a, F> {
    actual: usize,
    known: Vec<Option<bool>>,
    owner: Vec<Option<usize>>,
    edge: &'a mut F,
}

impl<F: FnMut(usize, usize) -> bool> BipartiteMatching<'_, F> {
    fn has(&mut self, wanted: usize, made: usize) -> bool {
        let at = wanted * self.actual + made;
        if let Some(known) = self.known[at] {
            return known;
        }
        let has = (self.edge)(wanted, made);
        self.known[at] = Some(has);
        has
    }

    /// Looks for a path to a free one, breadth first, and turns it round.
    fn augment(&mut self, start: usize) -> bool {
        let mut from: Vec<Option<usize>> = vec![None; self.actual];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(wanted) = queue.pop_front() {
            for made in 0..self.actual {
                if from[made].is_some() || !self.has(wanted, made) {
                    continue;
                }
                from[made] = Some(wanted);
                match self.owner[made] {
                    Some(owner) => queue.push_back(owner),
                    None => {
                        self.turn(made, start, &from);
                        return true;
                    }
                }
            }
        }
        false
    }

    fn turn(&mut self, end: usize, start: usize, from: &[Option<usize>]) {
        let mut made = end;
        while let Some(wanted) = from[made] {
            let before = (0..self.actual).find(|at| self.owner[*at] == Some(wanted));
            self.owner[made] = Some(wanted);
            match before {
                Some(before) if wanted != start => made = before,
                _ => return,
            }
        }
    }
}

/// Weights of pairs: `weights[expected][actual]`, 0 for none.
pub(super) type PairWeights = Vec<Vec<f64>>;

/// The heaviest alignment in order.
pub(super) fn heaviest_in_order(weights: &PairWeights, actual: usize) -> Pairs {
    let expected = weights.len();
    let mut best = vec![vec![0.0_f64; actual + 1]; expected + 1];
    for wanted in (0..expected).rev() {
        for made in (0..actual).rev() {
            let weight = weights[wanted][made];
            let paired = if weight > 0.0 { weight + best[wanted + 1][made + 1] } else { 0.0 };
            best[wanted][made] = paired.max(best[wanted + 1][made]).max(best[wanted][made + 1]);
        }
    }
    let mut pairs = vec![None; expected];
    let (mut wanted, mut made) = (0, 0);
    while wanted < expected && made < actual {
        let weight = weights[wanted][made];
        if weight > 0.0 && weight + best[wanted + 1][made + 1] >= best[wanted][made] {
            pairs[wanted] = Some(made);
            (wanted, made) = (wanted + 1, made + 1);
        } else if best[wanted + 1][made] >= best[wanted][made + 1] {
            wanted += 1;
        } else {
            made += 1;
        }
    }
    pairs
}

/// The heaviest assignment in any order (the Hungarian method, with potentials).
pub(super) fn heaviest(weights: &PairWeights, actual: usize) -> Pairs {
    let expected = weights.len();
    if expected == 0 || actual == 0 {
        return vec![None; expected];
    }
    // Rows may not be more than columns: columns that do not exist weigh nothing.
    let columns = actual.max(expected);
    let cost = |row: usize, column: usize| weights[row].get(column).map_or(0.0, |weight| -weight);
    let (mut of_row, mut of_column) = (vec![0.0; expected + 1], vec![0.0; columns + 1]);
    // The row of each column; 0 is none, and column 0 stands for the row that is being placed.
    let mut row_of = vec![0; columns + 1];
    for row in 1..=expected {
        row_of[0] = row;
        let (mut least, mut way, mut used) =
            (vec![f64::INFINITY; columns + 1], vec![0; columns + 1], vec![false; columns + 1]);
        let mut column = 0;
        loop {
            used[column] = true;
            let current = row_of[column];
            let (mut delta, mut next) = (f64::INFINITY, 0);
            for other in 1..=columns {
                if used[other] {
                    continue;
                }
                let reduced = cost(current - 1, other - 1) - of_row[current] - of_column[other];
                if reduced < least[other] {
                    (least[other], way[other]) = (reduced, column);
                }
                if least[other] < delta {
                    (delta, next) = (least[other], other);
                }
            }
            for other in 0..=columns {
                if used[other] {
                    of_row[row_of[other]] += delta;
                    of_column[other] -= delta;
                } else {
                    least[other] -= delta;
                }
            }
            column = next;
            if row_of[column] == 0 {
                break;
            }
        }
        while column != 0 {
            let before = way[column];
            row_of[column] = row_of[before];
            column = before;
        }
    }
    let mut pairs = vec![None; expected];
    for column in 1..=actual {
        if let Some(row) = row_of[column].checked_sub(1)
            && weights[row][column - 1] > 0.0
        {
            pairs[row] = Some(column - 1);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn size(pairs: &Pairs) -> usize {
        pairs.iter().flatten().count()
    }

    fn greedy(edges: &[Vec<bool>], actual: usize) -> usize {
        let mut used = vec![false; actual];
        let mut size = 0;
        for row in edges {
            if let Some(made) = (0..actual).find(|made| row[*made] && !used[*made]) {
                used[made] = true;
                size += 1;
            }
        }
        size
    }

    /// Every assignment, one after the other.
    fn brute(weights: &PairWeights, actual: usize, in_order: bool) -> f64 {
        fn go(weights: &[Vec<f64>], used: &mut Vec<bool>, from: usize, in_order: bool) -> f64 {
            let Some((row, rest)) = weights.split_first() else { return 0.0 };
            let mut best = go(rest, used, from, in_order);
            for made in if in_order { from } else { 0 }..used.len() {
                if used[made] || row[made] <= 0.0 {
                    continue;
                }
                used[made] = true;
                best = best.max(row[made] + go(rest, used, made + 1, in_order));
                used[made] = false;
            }
            best
        }
        go(weights, &mut vec![false; actual], 0, in_order)
    }

    fn weight(weights: &PairWeights, pairs: &Pairs) -> f64 {
        pairs.iter().enumerate().filter_map(|(wanted, made)| Some(weights[wanted][(*made)?])).sum()
    }

    fn edges() -> impl Strategy<Value = (Vec<Vec<bool>>, usize)> {
        (0usize..6, 0usize..6).prop_flat_map(|(expected, actual)| {
            (proptest::collection::vec(proptest::collection::vec(any::<bool>(), actual), expected), Just(actual))
        })
    }

    proptest! {
        #[test]
        fn matchings_are_largest_and_heaviest((edges, actual) in edges(), values in proptest::collection::vec(1u32..9, 36)) {
            let pairs = any_order(edges.len(), actual, &mut |wanted, made| edges[wanted][made]);
            let weights: PairWeights = edges.iter().enumerate().map(|(wanted, row)| {
                row.iter().enumerate().map(|(made, has)| if *has { f64::from(values[wanted * 6 + made]) } else { 0.0 }).collect()
            }).collect();
            let ones: PairWeights = edges.iter().map(|row| row.iter().map(|has| f64::from(u8::from(*has))).collect()).collect();
            for (wanted, made) in pairs.iter().enumerate() {
                prop_assert!(made.is_none_or(|made| edges[wanted][made]));
            }
            let mut used: Vec<usize> = pairs.iter().flatten().copied().collect();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), size(&pairs), "each once");
            prop_assert!(size(&pairs) >= greedy(&edges, actual));
            prop_assert_eq!(size(&pairs) as f64, brute(&ones, actual, false));
            prop_assert!((weight(&weights, &heaviest(&weights, actual)) - brute(&weights, actual, false)).abs() < 1e-9);
            let in_order = heaviest_in_order(&weights, actual);
            prop_assert!((weight(&weights, &in_order) - brute(&weights, actual, true)).abs() < 1e-9);
            let places: Vec<usize> = in_order.iter().flatten().copied().collect();
            prop_assert!(places.is_sorted());
            let first = subsequence(edges.len(), actual, &mut |wanted, made| edges[wanted][made]);
            prop_assert_eq!(first.is_some(), brute(&ones, actual, true) as usize == edges.len());
        }
    }
}
