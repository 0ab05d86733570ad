//! How long replies take, added up.

/// So many replies of a group are held as they are.
const MOST_EXACT: u32 = 1000;

/// The bits of a 32-bit number that are left out of more: what remains is within a twentieth of a percent of it.
const LEFT_OUT: u32 = 13;

/// How long the replies of a group take, in milliseconds: each as it is while they are few, and of more how many are within a
/// thousandth of each other. Memory does not grow with their number, and is the same in whichever order they come.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ReplyTimes {
    count: u32,
    /// The bits of each time, which are in the order of the times, and how often it is there; sorted.
    times: Vec<(u32, u32)>,
}

impl ReplyTimes {
    /// Takes in a time, 0 or more.
    pub(super) fn add(&mut self, ms: f32) {
        self.count = self.count.saturating_add(1);
        if self.count == MOST_EXACT + 1 {
            let exact = std::mem::take(&mut self.times);
            exact.into_iter().for_each(|(bits, count)| self.insert(rounded(bits), count));
        }
        // There is a 0 with a sign, too.
        let bits = (ms.max(0.0) + 0.0).to_bits();
        self.insert(if self.count > MOST_EXACT { rounded(bits) } else { bits }, 1);
    }

    fn insert(&mut self, bits: u32, count: u32) {
        match self.times.binary_search_by_key(&bits, |(known, _)| *known) {
            Ok(place) => self.times[place].1 = self.times[place].1.saturating_add(count),
            Err(place) => self.times.insert(place, (bits, count)),
        }
    }

    /// The times, and how often each is there.
    pub(super) fn counts(&self) -> impl Iterator<Item = (f32, u32)> {
        self.times.iter().map(|(bits, count)| (f32::from_bits(*bits), *count))
    }
}

/// The bits of the nearest time of those that are told apart.
fn rounded(bits: u32) -> u32 {
    (bits + (1 << (LEFT_OUT - 1))) >> LEFT_OUT << LEFT_OUT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values: &[f32]) -> ReplyTimes {
        let mut times = ReplyTimes::default();
        values.iter().for_each(|ms| times.add(*ms));
        times
    }

    #[test]
    fn few_are_kept_as_they_are_and_many_to_within_a_thousandth_in_any_order() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut values: Vec<f32> = (0..MOST_EXACT).map(|_| rng.f32() * 1e4).collect();
        let few: Vec<f32> = times(&values).counts().flat_map(|(ms, count)| vec![ms; count as usize]).collect();
        values.sort_by(f32::total_cmp);
        assert_eq!(few, values);
        values.extend((0..200_000).map(|_| rng.f32() * 1e4));
        rng.shuffle(&mut values);
        let many = times(&values);
        values.sort_by(f32::total_cmp);
        assert_eq!(times(&values), many);
        let near: Vec<f32> = many.counts().flat_map(|(ms, count)| vec![ms; count as usize]).collect();
        assert_eq!(near.len(), values.len());
        assert!(near.iter().zip(&values).all(|(near, ms)| (near - ms).abs() <= 0.0005 * ms));
        assert!(many.times.len() < 20_000, "{}", many.times.len());
    }

    #[test]
    fn times_that_are_none_are_kept_too() {
        let odd: Vec<f32> = times(&[f32::NAN, -1.0, f32::INFINITY]).counts().map(|(ms, _)| ms).collect();
        assert_eq!(odd, [0.0, f32::INFINITY]);
        assert_eq!(f32::from_bits(rounded(f32::INFINITY.to_bits())), f32::INFINITY);
        assert_eq!(f32::from_bits(rounded(f32::MAX.to_bits())), f32::INFINITY);
    }
}
