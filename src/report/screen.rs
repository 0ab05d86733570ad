//! Text laid out for a terminal: paragraphs that are wrapped, tables that fit.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use super::{Ink, Paint, one_line, plain, short_name, wrapped};

/// Columns between two columns of a table.
const GAP: usize = 2;

/// A row's name is cut to so many columns before the columns of a table are broken up.
const SHORTEST_NAME: usize = 20;

/// The terminal that a text is laid out for.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Its colours.
    pub ink: Ink,
    /// Its columns.
    pub width: usize,
    /// Whether what passed is shown too, part by part.
    pub is_unfolded: bool,
}

/// A text as it is laid out. Invariant: no line is wider than the screen.
#[derive(Debug)]
pub struct Page {
    /// Whole lines.
    pub text: String,
    screen: Screen,
}

/// A table: names of rows to the left, numbers to the right.
#[derive(Debug, Default)]
pub struct FigureTable {
    /// The heading of the rows' names.
    pub title: String,
    /// The columns' names, each of one line or more.
    pub columns: Vec<Vec<String>>,
    /// The rows.
    pub rows: Vec<FigureRow>,
}

/// A row of a table; one without cells is a heading of those below it.
#[derive(Debug)]
pub struct FigureRow {
    /// Its name.
    pub name: String,
    /// How far the name is indented.
    pub indent: usize,
    /// The name's colour.
    pub paint: Paint,
    /// A cell for each column.
    pub cells: Vec<FigureCell>,
}

/// A cell of a table.
pub type FigureCell = (Paint, String);

impl Page {
    /// An empty page.
    pub fn new(screen: Screen) -> Page {
        Page { text: String::new(), screen }
    }

    /// A blank line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// A paragraph in one colour; its lines but the first are indented by two columns more.
    pub fn paragraph(&mut self, indent: usize, paint: Paint, text: &str) {
        self.lead(indent, indent + 2, (Ink::unpainted, ""), (paint, text));
    }

    /// A paragraph that begins in another colour, with the indentation of its first line and of all others.
    pub fn lead(&mut self, first: usize, others: usize, lead: (Paint, &str), rest: (Paint, &str)) {
        let Screen { ink, width, .. } = self.screen;
        let is_seen = |character: &char| !character.is_whitespace();
        let mut leading = plain(lead.1).chars().filter(is_seen).count();
        let lines =
            wrapped(&format!("{} {}", lead.1, rest.1), width.saturating_sub(first), width.saturating_sub(others));
        for (place, line) in lines.iter().enumerate() {
            let mut seen = line.char_indices().filter(|(_, character)| is_seen(character));
            let at = seen.nth(leading).map_or(line.len(), |(at, _)| at);
            let (leads, follows) = line.split_at(line[..at].trim_end().len());
            leading -= leads.chars().filter(is_seen).count();
            self.text.push_str(&" ".repeat(if place == 0 { first } else { others }));
            self.text.push_str(&lead.0(ink, leads));
            self.text.push_str(&rest.0(ink, follows));
            self.text.push('\n');
        }
    }

    /// A label, and a text that begins at this column in all its lines.
    pub fn labelled(&mut self, label: &str, column: usize, text: &str) {
        let room = self.screen.width.saturating_sub(column);
        for (place, line) in wrapped(text, room, room).iter().enumerate() {
            let label = if place == 0 { label } else { "" };
            let line = format!("{label:<column$}{line}");
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    /// A name and a mark, each with the columns that it has, and a text beside them; below them where there is little room.
    pub fn aligned(&mut self, indent: usize, [name, mark]: [(&str, usize); 2], paint: Paint, text: &str) {
        let Screen { ink, width, .. } = self.screen;
        let column = indent + name.1 + GAP + mark.1 + GAP;
        if column > width / 2 {
            return self.lead(indent, indent + 2, (paint, &format!("{} {}", name.0, mark.0)), (Ink::unpainted, text));
        }
        for (place, line) in wrapped(text, width - column, width - column).iter().enumerate() {
            let beside = if place == 0 { (name.0, mark.0) } else { ("", "") };
            // Columns are counted, not characters.
            let padded =
                |text: &str, columns: usize| format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())));
            let (name, mark) = (padded(beside.0, name.1), padded(beside.1, mark.1));
            let line = format!("{}{name}  {}  {line}", " ".repeat(indent), paint(ink, &mark));
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    /// A table. Columns that don't fit beside each other follow below, with the rows' names again.
    pub fn table(&mut self, table: &FigureTable) {
        let width = self.screen.width;
        let columns: Vec<usize> = (0..table.columns.len()).map(|place| table.column(place).min(width / 2)).collect();
        let longest = table.names();
        let names = match width.checked_sub(columns.iter().sum()) {
            Some(room) if room >= SHORTEST_NAME.min(longest) => room.min(longest),
            _ => longest.min(width * 2 / 5),
        };
        let mut first = 0;
        while first < columns.len() {
            let mut used = names;
            let fits = |column: &&usize| {
                used += **column;
                used <= width
            };
            let last = first + columns[first..].iter().take_while(fits).count().max(1);
            if first > 0 {
                self.gap();
            }
            self.columns(table, first..last, &columns, names);
            first = last;
        }
    }

    /// Some columns of a table.
    fn columns(&mut self, table: &FigureTable, places: Range<usize>, widths: &[usize], names: usize) {
        let Screen { ink, width, .. } = self.screen;
        let name = |text: &str, indent: usize, paint: Paint| {
            let text = short_name(text, names.saturating_sub(indent));
            let after = names.saturating_sub(indent + text.width());
            format!("{}{}{}", " ".repeat(indent), paint(ink, &text), " ".repeat(after))
        };
        let cell = |text: &str, width: usize, paint: Paint| {
            let text = one_line(text, width - GAP);
            format!("{}{}", " ".repeat(width - text.width()), paint(ink, &text))
        };
        let height = table.columns[places.clone()].iter().map(Vec::len).max().unwrap_or_default();
        for level in 0..height {
            let mut line = name(if level == 0 { &table.title } else { "" }, 0, Ink::bold);
            for place in places.clone() {
                let column = &table.columns[place];
                // Names of fewer lines stand at the bottom.
                let text = (level + column.len()).checked_sub(height).and_then(|level| column.get(level));
                line.push_str(&cell(text.map_or("", String::as_str), widths[place], Ink::dim));
            }
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
        for row in &table.rows {
            let line = match row.cells.is_empty() {
                true => (row.paint)(ink, &short_name(&row.name, width)),
                false => {
                    let cells = places.clone().filter_map(|place| Some((row.cells.get(place)?, widths[place])));
                    let cells = cells.map(|((paint, text), width)| cell(text, width, *paint));
                    name(&row.name, row.indent, row.paint) + cells.collect::<String>().as_str()
                }
            };
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }
}

impl FigureTable {
    /// How wide a column is, with the gap before it.
    fn column(&self, place: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(place)).map(|(_, text)| text.width());
        GAP + self.columns[place].iter().map(|name| name.width()).chain(cells).max().unwrap_or_default()
    }

    /// How wide the longest name of a row is.
    fn names(&self) -> usize {
        let rows = self.rows.iter().filter(|row| !row.cells.is_empty());
        rows.map(|row| row.indent + row.name.width()).chain([self.title.width()]).max().unwrap_or_default()
    }

    /// The columns that are left for names beside all columns of numbers.
    pub fn room(&self, width: usize) -> usize {
        width.saturating_sub((0..self.columns.len()).map(|place| self.column(place)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: usize) -> Page {
        Page::new(Screen { ink: Ink::None, width, is_unfolded: false })
    }

    #[test]
    fn a_paragraph_is_wrapped_and_its_beginning_has_a_colour_of_its_own() {
        let mut page = Page::new(Screen { ink: Ink::Colour, width: 16, is_unfolded: false });
        page.lead(2, 4, (Ink::bold, "a long beginning:"), (Ink::dim, "and the rest"));
        let lines: Vec<String> =
            page.text.lines().map(|line| line.replace("\u{1b}[0m", ">").replace('\u{1b}', "<")).collect();
        assert_eq!(lines, ["  <[1ma long>", "    <[1mbeginning:>", "    <[2mand the rest>"]);
    }

    #[test]
    fn columns_that_do_not_fit_follow_below() {
        let cells = |texts: [&str; 3]| texts.map(|text| (Ink::unpainted as Paint, text.to_owned())).to_vec();
        let row = |name: &str, texts| FigureRow {
            name: name.to_owned(),
            indent: 0,
            paint: Ink::unpainted,
            cells: cells(texts),
        };
        let column = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let table = FigureTable {
            title: "T".to_owned(),
            columns: vec![column(&["timing", "× 1"]), column(&["all"]), column(&["more"])],
            rows: vec![row("a name that is long", ["1.00", "0.50", "–"])],
        };
        let mut wide = page(60);
        wide.table(&table);
        assert_eq!(
            wide.text,
            "T                    timing\n                        × 1   all  more\na name that is long    1.00  0.50     –\n"
        );
        let mut narrow = page(20);
        narrow.table(&table);
        assert_eq!(
            narrow.text,
            "T         timing\n             × 1\na na…ong    1.00\n\nT          all  more\na na…ong  0.50     –\n"
        );
    }
}
