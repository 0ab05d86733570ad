//! Values added up, so that their mean and their variance are known without them.

/// Values added up: how many, their mean, and how far they spread. Memory is the same for one and for a million.
///
/// Source: Welford 1962, which loses no digits where the spread is small beside the mean.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// How many there are.
    pub count: u32,
    mean: f64,
    squares: f64,
}

impl Sums {
    /// Takes in one more.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / f64::from(self.count);
        self.squares += before * (value - self.mean);
    }

    /// The sums of the negated values.
    pub fn negated(self) -> Sums {
        Sums { mean: -self.mean, ..self }
    }

    /// Their mean; `None` of none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Their variance, with count − 1 below the line; `None` of fewer than two.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / f64::from(self.count - 1)).max(0.0))
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
        let one: Sums = [0.5].into_iter().collect();
        assert_eq!((one.mean(), one.variance()), (Some(0.5), None));
    }
}
