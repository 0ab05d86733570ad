//! Exports of OpenTelemetry, one a line: which lines tell of the same conversations, so that they are read together and others are not.

use std::collections::{BTreeMap, HashMap};

use super::super::super::json;
use super::super::otlp::CONVERSATION_IDS;
use super::super::otlp_spans::records;
use super::pieces::Piece;

/// Lines by what they tell of.
#[derive(Debug, Default)]
pub(super) struct Traces {
    /// A line that tells of each trace and conversation.
    line_of: HashMap<String, usize>,
    /// The lines: where they stand, and their numbers.
    lines: Vec<((u64, u64), usize)>,
    /// For each line another one that it belongs together with; itself for the first of all that do.
    with: Vec<usize>,
}

impl Traces {
    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Adds a line.
    pub(super) fn add(&mut self, bytes: &[u8], span: (u64, u64), line: usize) {
        let place = self.lines.len();
        self.lines.push((span, line));
        self.with.push(place);
        // The reader reports what can't be read, with its place, later.
        let Some(read) = std::str::from_utf8(bytes).ok().and_then(|text| json::read(text).ok()) else { return };
        let (spans, events) = records(&read.root);
        for record in spans.iter().chain(&events) {
            let conversations = CONVERSATION_IDS.iter();
            let ids = conversations.filter_map(|key| record.attributes.get(*key)?.as_str());
            for id in ids.chain([record.trace.as_str()]).filter(|id| !id.is_empty()) {
                match self.line_of.get(id) {
                    Some(known) => {
                        let (one, other) = (self.first_of(*known), self.first_of(place));
                        self.with[one.max(other)] = one.min(other);
                    }
                    None => {
                        self.line_of.insert(id.to_owned(), place);
                    }
                }
            }
        }
    }

    /// The first line of those that a line belongs together with.
    fn first_of(&mut self, mut line: usize) -> usize {
        while self.with[line] != line {
            self.with[line] = self.with[self.with[line]];
            line = self.with[line];
        }
        line
    }

    /// A piece for each group, in the order of their first lines.
    pub(super) fn into_pieces(mut self) -> Vec<Piece> {
        let mut pieces: BTreeMap<usize, Piece> = BTreeMap::new();
        for place in 0..self.lines.len() {
            let first = self.first_of(place);
            let (span, line) = self.lines[place];
            pieces.entry(first).or_insert_with(|| Piece { line, ..Piece::default() }).spans.push(span);
        }
        pieces.into_values().zip(1..).map(|(piece, number)| Piece { number: Some(number), ..piece }).collect()
    }
}
