//! Tables in text: comma-separated with quotes, or tab-separated.

/// The rows of a text, each with its line from 1. Quotes may hold separators, line breaks and, doubled, quotes.
pub(super) fn rows(text: &str, separator: char) -> Vec<(usize, Vec<String>)> {
    let mut rows = Vec::new();
    let (mut row, mut cell) = (Vec::new(), String::new());
    let (mut line, mut begun) = (1, 1);
    let mut is_quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        line += usize::from(character == '\n');
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                cell.push('"');
                characters.next();
            }
            '"' if is_quoted => is_quoted = false,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                is_quoted = true;
            }
            _ if is_quoted => cell.push(character),
            '\r' => {}
            '\n' => {
                row.push(std::mem::take(&mut cell));
                rows.push((begun, std::mem::take(&mut row)));
                begun = line;
            }
            _ if character == separator => row.push(std::mem::take(&mut cell)),
            _ => cell.push(character),
        }
    }
    row.push(cell);
    rows.push((begun, row));
    for (_, row) in &mut rows {
        row.iter_mut().for_each(|cell| *cell = cell.trim().to_owned());
    }
    rows.retain(|(_, row)| row.iter().any(|cell| !cell.is_empty()));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_separators_breaks_and_quotes() {
        let rows = rows("a,b\r\n\"x, \"\"y\"\"\nz\", w \n\n,\nlast", ',');
        let of = |line: usize, cells: &[&str]| (line, cells.iter().map(|cell| (*cell).to_owned()).collect());
        assert_eq!(rows, [of(1, &["a", "b"]), of(2, &["x, \"y\"\nz", "w"]), of(6, &["last"])]);
    }
}
