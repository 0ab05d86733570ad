//! Values added up, so that their mean and their variance are known without them.

use super::PreciseSum;

/// The share of the mean of the squares below which a variance is what rounding leaves of none.
const ROUNDING: f64 = 1e-28;

/// Values added up: how many, their mean, and how far they spread, in whichever order they come. Memory is the same for one and for a
/// million.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// How many there are.
    pub count: u32,
    sum: PreciseSum,
    squares: PreciseSum,
}

impl Sums {
    /// Takes in one more.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum.add(value);
        self.squares.add_square(value);
    }

    /// Takes in all of another.
    pub fn add_all(&mut self, other: Sums) {
        self.count += other.count;
        self.sum.add_all(other.sum);
        self.squares.add_all(other.squares);
    }

    /// The sums of the negated values.
    pub fn negated(self) -> Sums {
        Sums { sum: self.sum.negated(), ..self }
    }

    /// Their mean; `None` of none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.value() / f64::from(self.count))
    }

    /// Their variance, with count − 1 below the line; `None` of fewer than two.
    pub fn variance(&self) -> Option<f64> {
        let count = f64::from(self.count);
        let squares = self.squares.minus(self.sum.square_over(count));
        let spread = if squares > ROUNDING * self.squares.value() { squares } else { 0.0 };
        (self.count > 1).then(|| spread / (count - 1.0))
    }
}

impl FromIterator<f64> for Sums {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Sums {
        let mut sums = Sums::default();
        values.into_iter().for_each(|value| sums.add(value));
        sums
    }
}

/// The values of one case in one condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The case.
    pub case: usize,
    /// Its values in this condition.
    pub values: Sums,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_variance_are_those_of_the_values() {
        let sums: Sums = [1e9 + 0.25, 1e9 + 0.5, 1e9 + 0.75].into_iter().collect();
        assert_eq!(sums.mean(), Some(1e9 + 0.5));
        assert!((sums.variance().unwrap() - 0.0625).abs() < 1e-9);
        assert_eq!((Sums::default().mean(), Sums::default().variance()), (None, None));
        let same: Sums = [0.1; 7].into_iter().collect();
        assert_eq!((same.mean(), same.variance()), (Some(0.1), Some(0.0)));
        let one: Sums = [0.5].into_iter().collect();
        assert_eq!((one.mean(), one.variance()), (Some(0.5), None));
    }
}
