//! The numbers of a date: which of them is year, month and day.

use super::words::is_digits;

/// The numbers of a date, of which it is not known yet which are which.
#[derive(Default)]
pub(super) struct Numbers {
    pub(super) values: Vec<i64>,
    pub(super) year: Option<usize>,
    pub(super) month: Option<usize>,
    pub(super) has_century: bool,
}

impl Numbers {
    pub(super) fn push(&mut self, token: &str) -> Option<()> {
        let value: f64 = token.parse().ok()?;
        let is_year = value > 100.0 || (is_digits(token) && token.len() > 2);
        if is_year {
            self.has_century = true;
            if self.year.replace(self.values.len()).is_some() {
                return None;
            }
        }
        self.values.push(value as i64);
        Some(())
    }

    pub(super) fn push_month(&mut self, month: u32) -> Option<()> {
        if self.month.replace(self.values.len()).is_some() {
            return None;
        }
        self.values.push(i64::from(month));
        Some(())
    }

    pub(super) fn may_be_day(&self, value: f64) -> bool {
        let month = self.month.map(|at| self.values[at]);
        (1.0..=31.0).contains(&value) && month.is_none_or(|month| value <= f64::from(days_of(2000, month as u32)))
    }

    /// Year, month and day.
    pub(super) fn resolve(&self) -> Option<[Option<i64>; 3]> {
        let v = &self.values;
        let all = |y: usize, m: usize, d: usize| Some([Some(v[y]), Some(v[m]), Some(v[d])]);
        if let (3, Some(year), Some(month)) = (v.len(), self.year, self.month) {
            return all(year, month, 3 - year - month);
        }
        match (v.len(), self.month) {
            (0, _) => Some([None, None, None]),
            (1, Some(_)) => Some([None, Some(v[0]), None]),
            (1, None) => {
                Some(if v[0] > 31 || self.year.is_some() { [Some(v[0]), None, None] } else { [None, None, Some(v[0])] })
            }
            (2, Some(month)) => {
                let other = v[1 - month];
                let is_year = other > 31 || self.year.is_some();
                Some(if is_year { [Some(other), Some(v[month]), None] } else { [None, Some(v[month]), Some(other)] })
            }
            (2, None) if v[0] > 31 => Some([Some(v[0]), Some(v[1]), None]),
            (2, None) if v[1] > 31 => Some([Some(v[1]), Some(v[0]), None]),
            (2, None) => Some([None, Some(v[0]), Some(v[1])]),
            (3, Some(0)) if v[1] > 31 => all(1, 0, 2),
            (3, Some(0)) => all(2, 0, 1),
            (3, Some(1)) if v[0] > 31 => all(0, 1, 2),
            (3, Some(1)) => all(2, 1, 0),
            (3, Some(_)) if v[1] > 31 => all(1, 2, 0),
            (3, Some(_)) => all(0, 2, 1),
            (3, None) if v[0] > 31 || self.year == Some(0) => all(0, 1, 2),
            (3, None) if v[0] > 12 => all(2, 1, 0),
            (3, None) => all(2, 0, 1),
            _ => None,
        }
    }
}

pub(super) fn days_of(year: i64, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
