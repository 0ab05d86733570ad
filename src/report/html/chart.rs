//! Charts as shapes that a template draws.

use serde::Serialize;

use super::super::{duration, short_name, thousands};

/// A chart. All of what it shows is in its description too.
#[derive(Debug, Default, Serialize)]
pub(super) struct Chart {
    width: f64,
    height: f64,
    title: String,
    description: String,
    lines: Vec<ChartLine>,
    rects: Vec<Rect>,
    dots: Vec<Dot>,
    /// Lines that stand before everything else.
    marks: Vec<ChartLine>,
    texts: Vec<ChartLabel>,
}

#[derive(Debug, Serialize)]
struct ChartLine {
    class: &'static str,
    x1: f64,
    y1: f64,
    x2: f64,
    y2: f64,
}

#[derive(Debug, Serialize)]
struct Rect {
    class: &'static str,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    hint: String,
}

#[derive(Debug, Serialize)]
struct Dot {
    x: f64,
    y: f64,
}

#[derive(Debug, Serialize)]
struct ChartLabel {
    class: &'static str,
    x: f64,
    y: f64,
    anchor: &'static str,
    text: String,
}

const WIDTH: f64 = 800.0;
/// Columns of names to the left.
const NAMES: f64 = 190.0;
/// The free space to the right.
const MARGIN: f64 = 110.0;
const ROW: f64 = 34.0;
/// The most dots per row; more would overlap.
const MAX_DOTS: usize = 300;

/// Names with values.
pub(super) type ChartSeries = Vec<(String, Vec<f64>)>;

/// The reply times of groups of conversations, in milliseconds: a dot a reply, a line at the median. `None` without any.
pub(super) fn latencies(groups: ChartSeries) -> Option<Chart> {
    let groups: ChartSeries = groups.into_iter().filter(|(_, times)| !times.is_empty()).collect();
    let longest = groups.iter().flat_map(|(_, times)| times).copied().reduce(f64::max)?;
    let (mut chart, scale) = Chart::with_axis("Reply times", longest, groups.len(), |ms| duration(ms / 1000.0));
    let mut words = Vec::new();
    for (place, (name, mut times)) in groups.into_iter().enumerate() {
        times.sort_by(f64::total_cmp);
        let y = rounded(ROW.mul_add(place as f64, 18.0));
        let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
        let (median, most) = (at(0.5), at(0.95));
        let step = times.len().div_ceil(MAX_DOTS).max(1);
        chart.dots.extend(times.iter().step_by(step).map(|time| Dot { x: scale(*time), y }));
        chart.marks.push(ChartLine {
            class: "middle",
            x1: scale(median),
            y1: y - 10.0,
            x2: scale(median),
            y2: y + 10.0,
        });
        chart.name(&name, y);
        let end = WIDTH - MARGIN + 8.0;
        let text = format!("median {}", duration(median / 1000.0));
        chart.texts.push(ChartLabel { class: "", x: end, y: y + 4.0, anchor: "start", text });
        words.push(format!(
            "{name}: median {}, 95th percentile {}, {}",
            duration(median / 1000.0),
            duration(most / 1000.0),
            replies(times.len())
        ));
    }
    chart.description = words.join("; ");
    Some(chart)
}

/// Tokens of each who: input and output, one behind the other. `None` where nothing is known.
pub(super) fn tokens(rows: &[(String, u64, u64)]) -> Option<Chart> {
    let most = rows.iter().map(|(_, input, output)| input.saturating_add(*output)).max().filter(|most| *most > 0)?;
    let (mut chart, scale) = Chart::with_axis("Tokens", most as f64, rows.len(), |tokens| thousands(tokens as u64));
    let mut words = Vec::new();
    for (place, (name, input, output)) in rows.iter().enumerate() {
        let y = rounded(ROW.mul_add(place as f64, 18.0));
        let (from, to, end) = (NAMES, scale(*input as f64), scale((input + output) as f64));
        let text = format!("{} in, {} out", thousands(*input), thousands(*output));
        for (class, x, width) in [("light", from, to - from), ("bar", to, end - to)] {
            chart.rects.push(Rect { class, x, y: y - 9.0, width: rounded(width), height: 18.0, hint: text.clone() });
        }
        chart.name(name, y);
        words.push(format!("{name}: {text}"));
    }
    chart.description = format!("input light, output dark; {}", words.join("; "));
    Some(chart)
}

/// The reply time of each turn, with its tokens where they are known. `None` where no time was taken, or for a single turn.
pub(super) fn turns(turns: &[(u32, Option<f64>, Option<u64>)]) -> Option<Chart> {
    const HEIGHT: f64 = 70.0;
    const LEFT: f64 = 8.0;
    let longest = turns.iter().filter_map(|(_, ms, _)| *ms).reduce(f64::max).filter(|longest| *longest > 0.0)?;
    if turns.len() < 2 {
        return None;
    }
    let step = ((WIDTH - 2.0 * LEFT) / turns.len() as f64).min(72.0);
    let most = turns.iter().filter_map(|(_, _, tokens)| *tokens).max().filter(|most| *most > 0);
    let mut chart = Chart {
        width: rounded(step.mul_add(turns.len() as f64, 2.0 * LEFT).max(300.0)),
        height: HEIGHT + 34.0,
        title: "Turns".to_owned(),
        ..Chart::default()
    };
    let mut words = Vec::new();
    for (place, (number, ms, tokens)) in turns.iter().enumerate() {
        let x = rounded(step.mul_add(place as f64, LEFT));
        let time = ms.map_or_else(|| "no reply".to_owned(), |ms| duration(ms / 1000.0));
        let taken = tokens.map(|tokens| format!(", {} tokens", thousands(tokens))).unwrap_or_default();
        let hint = format!("turn {number}: {time}{taken}");
        let bar = |value: f64, of: f64| rounded((value / of * HEIGHT).max(1.5));
        let height = ms.map_or(0.0, |ms| bar(ms, longest));
        let wide = rounded((step * if most.is_some() { 0.42 } else { 0.7 }).max(1.0));
        let y = 16.0 + HEIGHT - height;
        chart.rects.push(Rect { class: "bar", x, y: rounded(y), width: wide, height, hint: hint.clone() });
        if let Some((tokens, most)) = tokens.zip(most) {
            let height = bar(tokens as f64, most as f64);
            let y = rounded(16.0 + HEIGHT - height);
            let x = rounded(x + wide + 1.0);
            chart.rects.push(Rect { class: "light", x, y, width: rounded(wide * 0.7), height, hint: hint.clone() });
        }
        if step >= 40.0 {
            let middle = rounded(x + wide / 2.0);
            chart.texts.push(ChartLabel { class: "", x: middle, y: rounded(y - 4.0), anchor: "middle", text: time });
        }
        if step >= 16.0 || place % 10 == 0 {
            let (x, y) = (rounded(x + wide / 2.0), HEIGHT + 30.0);
            chart.texts.push(ChartLabel { class: "name", x, y, anchor: "middle", text: number.to_string() });
        }
        words.push(hint);
    }
    chart.description = words.join("; ");
    Some(chart)
}

impl Chart {
    /// A chart of so many rows, with a line and a number every now and then, and where a value is.
    fn with_axis(title: &str, most: f64, rows: usize, shown: impl Fn(f64) -> String) -> (Chart, impl Fn(f64) -> f64) {
        let step = step(most);
        let end = (most / step).ceil().max(1.0) * step;
        let scale = move |value: f64| rounded((WIDTH - NAMES - MARGIN).mul_add(value / end, NAMES));
        let bottom = rounded(ROW * rows as f64 + 4.0);
        let mut chart = Chart { width: WIDTH, height: bottom + 22.0, title: title.to_owned(), ..Chart::default() };
        for tick in 0..=(end / step).round() as u32 {
            let value = f64::from(tick) * step;
            let x = scale(value);
            chart.lines.push(ChartLine { class: "grid", x1: x, y1: 0.0, x2: x, y2: bottom });
            chart.texts.push(ChartLabel { class: "", x, y: bottom + 16.0, anchor: "middle", text: shown(value) });
        }
        (chart, scale)
    }

    fn name(&mut self, name: &str, y: f64) {
        const LONGEST: usize = 28;
        let text = short_name(name, LONGEST);
        self.texts.push(ChartLabel { class: "name", x: NAMES - 10.0, y: y + 4.0, anchor: "end", text });
    }
}

/// A round step of which four or so make up a length.
fn step(most: f64) -> f64 {
    let raw = (most / 4.0).max(1e-3);
    let magnitude = 10_f64.powf(raw.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * magnitude);
    steps.into_iter().find(|step| *step >= raw * 0.999).unwrap_or(raw)
}

fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn replies(number: usize) -> String {
    if number == 1 { "1 reply".to_owned() } else { format!("{number} replies") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charts_axis_ends_at_a_round_number() {
        assert_eq!([0.4, 3.0, 7.5, 100.0, 1234.0].map(step), [0.1, 1.0, 2.0, 25.0, 500.0]);
    }

    #[test]
    fn a_chart_says_in_words_what_it_shows() {
        let chart = latencies(vec![("a".to_owned(), vec![100.0, 300.0, 200.0]), ("b".to_owned(), vec![])]).unwrap();
        assert_eq!(chart.description, "a: median 200 ms, 95th percentile 300 ms, 3 replies");
        assert!(chart.dots.iter().all(|dot| (NAMES..=WIDTH).contains(&dot.x)));
        assert!(latencies(Vec::new()).is_none() && tokens(&[]).is_none());
        let chart = turns(&[(1, Some(100.0), None), (2, None, None)]).unwrap();
        assert_eq!(chart.description, "turn 1: 100 ms; turn 2: no reply");
        assert!(turns(&[(1, Some(100.0), None)]).is_none());
    }
}
