//! A row of figures as a line of small bars.

/// Bars of a terminal that has them, the lowest first.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Letters for all others.
const LETTERS: [char; 8] = ['_', '.', ',', '-', '~', '=', '*', '#'];

/// Figures that lie closer together than this are not drawn apart over the whole height: chance alone moves them.
const LEAST_RANGE: f64 = 0.1;

/// One figure of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bar {
    /// A figure.
    Of(f64),
    /// No figure.
    Unknown,
    /// Later figures can't be compared with earlier ones.
    Break,
}

/// The newest bars that fit into so many columns.
pub(super) fn sparkline(bars: &[Bar], width: usize, is_ascii: bool) -> String {
    let bars = &bars[bars.len().saturating_sub(width)..];
    let values = || bars.iter().filter_map(|bar| if let Bar::Of(value) = bar { Some(*value) } else { None });
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let range = (high - low).max(LEAST_RANGE);
    let lowest = (low + high - range) / 2.0;
    let (set, unknown, apart) = if is_ascii { (LETTERS, ' ', '|') } else { (BARS, '·', '|') };
    let bar = |bar: &Bar| match bar {
        Bar::Of(value) => {
            let step = ((value - lowest) / range * (set.len() - 1) as f64).round();
            set[(step.max(0.0) as usize).min(set.len() - 1)]
        }
        Bar::Unknown => unknown,
        Bar::Break => apart,
    };
    bars.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_figures_are_drawn_as_high_as_they_are() {
        let bars = [0.1, 0.5, 0.7, 0.9].map(Bar::Of);
        assert_eq!(sparkline(&bars, 10, false), "▁▅▆█");
        assert_eq!(sparkline(&bars, 3, false), "▁▅█");
        assert_eq!(sparkline(&bars, 10, true), "_~=#");
        assert_eq!(sparkline(&[], 10, false), "");
    }

    #[test]
    fn figures_that_are_close_together_do_not_look_far_apart() {
        assert_eq!(sparkline(&[0.80, 0.81, 0.80].map(Bar::Of), 10, false), "▄▅▄");
        assert_eq!(sparkline(&[Bar::Of(1.0), Bar::Unknown, Bar::Break, Bar::Of(1.0)], 10, false), "▅·|▅");
        assert_eq!(sparkline(&[Bar::Unknown], 10, true), " ");
    }
}
