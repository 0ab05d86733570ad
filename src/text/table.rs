//! Tables in text: comma-separated with quotes, or tab-separated.

use super::Position;

/// A row of a table that is not empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableRow {
    /// Its first line, from 1.
    pub line: usize,
    /// Its cells, without white space around them.
    pub cells: Vec<String>,
    /// Where each cell begins.
    pub places: Vec<Position>,
}

/// The rows of a text. Quotes may hold separators, line breaks and, doubled, quotes.
pub fn table_rows(text: &str, separator: char) -> Vec<TableRow> {
    let mut rows = Vec::new();
    let (mut line, mut column) = (1, 1);
    let new_row = |line| TableRow { line, ..TableRow::default() };
    let (mut row, mut cell, mut begun) = (new_row(line), String::new(), Position { line, column });
    let mut is_quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' => (line, column) = (line + 1, 1),
            _ => column += 1,
        }
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                cell.push('"');
                characters.next();
                column += 1;
            }
            '"' if is_quoted => is_quoted = false,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                is_quoted = true;
            }
            _ if is_quoted => cell.push(character),
            '\r' => {}
            _ if character == '\n' || character == separator => {
                row.add(&mut cell, begun);
                begun = Position { line, column };
                if character == '\n' {
                    rows.push(std::mem::replace(&mut row, new_row(line)));
                }
            }
            _ => cell.push(character),
        }
    }
    row.add(&mut cell, begun);
    rows.push(row);
    rows.retain(|row| row.cells.iter().any(|cell| !cell.is_empty()));
    rows
}

impl TableRow {
    fn add(&mut self, cell: &mut String, begun: Position) {
        self.cells.push(std::mem::take(cell).trim().to_owned());
        self.places.push(begun);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_separators_breaks_and_quotes() {
        let rows = table_rows("a,b\r\n\"x, \"\"y\"\"\nz\", w \n\n,\nlast", ',');
        let shown = rows.iter().map(|row| (row.line, row.cells.join("|"))).collect::<Vec<_>>();
        assert_eq!(shown, [(1, "a|b".to_owned()), (2, "x, \"y\"\nz|w".to_owned()), (6, "last".to_owned())]);
        let places = rows.iter().flat_map(|row| &row.places).map(|at| (at.line, at.column)).collect::<Vec<_>>();
        assert_eq!(places, [(1, 1), (1, 3), (2, 1), (3, 4), (6, 1)]);
    }
}
