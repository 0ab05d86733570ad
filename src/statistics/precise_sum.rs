//! A sum of which the order does not matter.

/// A sum with twice the digits of its terms, so that it comes to the same in whichever order they are added.
///
/// Source: Dekker 1971, "A floating-point technique for extending the available precision".
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PreciseSum {
    high: f64,
    low: f64,
}

impl PreciseSum {
    /// Adds a term.
    pub fn add(&mut self, term: f64) {
        let sum = self.high + term;
        let part = sum - self.high;
        let lost = (self.high - (sum - part)) + (term - part);
        self.settle(sum, self.low + lost);
    }

    /// Adds the square of a number.
    pub fn add_square(&mut self, number: f64) {
        let square = number * number;
        self.add(square);
        self.add(number.mul_add(number, -square));
    }

    /// Adds another sum.
    pub fn add_all(&mut self, other: PreciseSum) {
        self.add(other.high);
        self.add(other.low);
    }

    /// The sum, rounded once.
    pub fn value(self) -> f64 {
        self.high
    }

    /// The sum of the negated terms.
    pub fn negated(self) -> PreciseSum {
        PreciseSum { high: -self.high, low: -self.low }
    }

    /// Its square, divided by a count.
    pub(super) fn square_over(self, count: f64) -> PreciseSum {
        let square = self.high * self.high;
        let lost = self.high.mul_add(self.high, -square) + 2.0 * self.high * self.low;
        let share = square / count;
        let rest = (-share).mul_add(count, square) + lost;
        let mut divided = PreciseSum::default();
        divided.settle(share, rest / count);
        divided
    }

    /// The difference to another sum, rounded once.
    pub(super) fn minus(self, other: PreciseSum) -> f64 {
        let mut difference = self;
        difference.add(-other.high);
        difference.add(-other.low);
        difference.value()
    }

    fn settle(&mut self, sum: f64, low: f64) {
        self.high = sum + low;
        self.low = low - (self.high - sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_terms_does_not_matter() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut terms: Vec<f64> = (0..1000).map(|_| rng.f64() * [1.0, 1e-6, 1e6][rng.usize(..3)]).collect();
        let sum = |terms: &[f64]| {
            let (mut sum, mut squares) = (PreciseSum::default(), PreciseSum::default());
            terms.iter().for_each(|term| {
                sum.add(*term);
                squares.add_square(*term);
            });
            (sum.value(), squares.value())
        };
        let first = sum(&terms);
        for _ in 0..20 {
            rng.shuffle(&mut terms);
            assert_eq!(sum(&terms), first);
        }
        let mut tenths = PreciseSum::default();
        (0..10).for_each(|_| tenths.add(0.1));
        assert_eq!(tenths.value(), 1.0);
        assert!((0..10).fold(0.0, |sum, _| sum + 0.1) != 1.0, "the digits are lost otherwise");
    }
}
