//! A large document that is a list, or has one of results or cases in it, item by item: found by its brackets alone.

use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::super::super::{Files, json};
use super::pieces::{Piece, Pieces};

/// The most that may stand before and behind a list, and the longest first item.
const MOST_AROUND: usize = 4 << 20;

/// The pieces of a document of at least so many bytes; `None` where it is smaller, or no such list.
pub(in crate::dataset) fn cut(
    path: &Path,
    files: &dyn Files,
    lists: &[&str],
    at_least: u64,
) -> io::Result<Option<Pieces>> {
    let mut reader = files.reader(path)?;
    let (mut scan, mut at) = (Scan { lists: lists.to_vec(), ..Scan::default() }, 0_u64);
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        let mut offset = 0;
        loop {
            offset += scan.pass_over(&buffer[offset..]);
            let Some(byte) = buffer.get(offset) else { break };
            if !scan.take(*byte, at + offset as u64) {
                return Ok(None);
            }
            offset += 1;
        }
        let read = buffer.len();
        at += read as u64;
        reader.consume(read);
    }
    let is_whole = scan.stack.is_empty() && !scan.items.is_empty();
    if at < at_least || !is_whole {
        return Ok(None);
    }
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
    let (Some(before), Some(after)) = (text(scan.before), text(scan.after)) else { return Ok(None) };
    let piece = |((span, line), number)| Piece { spans: vec![span], line, number: Some(number), ..Piece::default() };
    Ok(Some(Pieces { before, after, list: scan.items.into_iter().zip(1..).map(piece).collect() }))
}

/// How far a document was looked at.
#[derive(Default)]
struct Scan<'a> {
    /// The keys of the lists that are looked for.
    lists: Vec<&'a str>,
    /// The brackets that are open.
    stack: Vec<u8>,
    is_text: bool,
    is_escaped: bool,
    comment: Option<Comment>,
    /// The byte before, outside of texts.
    previous: u8,
    /// Whether the document has begun.
    has_begun: bool,
    line: usize,
    /// The last text at the depth of the root's keys.
    key: Vec<u8>,
    /// Within the list: its depth.
    list: Option<usize>,
    has_ended: bool,
    /// The item that is read: where it began, and its line.
    item: Option<(u64, usize)>,
    items: Vec<((u64, u64), usize)>,
    /// The first item's bytes, until it was looked at.
    first: Option<Vec<u8>>,
    before: Vec<u8>,
    after: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comment {
    /// To the end of the line.
    Line,
    /// To `*/`.
    Block,
}

/// The byte order mark, which some editors write before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whether a byte can say something, outside of texts and within them.
const SAYS_SOMETHING: [[bool; 256]; 2] = [says_something(b"\"[]{}/#\n"), says_something(b"\"\\\n")];

const fn says_something(bytes: &[u8]) -> [bool; 256] {
    let mut says = [false; 256];
    let mut at = 0;
    while at < bytes.len() {
        says[bytes[at] as usize] = true;
        at += 1;
    }
    says
}

impl Scan<'_> {
    /// Passes over what is deep within an item, which is most of a document; returns how many bytes that are. What ends an item or may
    /// begin a comment is left to [`Scan::take`].
    fn pass_over(&mut self, bytes: &[u8]) -> usize {
        let Some(depth) = self.list.filter(|depth| self.stack.len() > *depth && !self.items.is_empty()) else {
            return 0;
        };
        let may_begin_comment = !self.is_text && self.previous == b'/';
        if self.is_escaped || self.comment.is_some() || may_begin_comment {
            return 0;
        }
        let mut at = 0;
        loop {
            let says_something = &SAYS_SOMETHING[usize::from(self.is_text)];
            let plain = bytes[at..].iter().position(|byte| says_something[usize::from(*byte)]);
            let next = plain.map_or(bytes.len(), |plain| at + plain);
            if let (false, Some(last)) = (self.is_text, bytes[at..next].last()) {
                self.previous = *last;
            }
            at = next;
            let Some(byte) = bytes.get(at) else { return at };
            match (self.is_text, byte) {
                (_, b'\n') => self.line += 1,
                (true, b'"') => self.is_text = false,
                (false, b'"') => self.is_text = true,
                (false, b'[' | b'{') => self.stack.push(*byte),
                (false, b']' | b'}') if self.stack.len() > depth + 1 => {
                    self.stack.pop();
                }
                _ => return at,
            }
            if !self.is_text || *byte == b'"' {
                self.previous = *byte;
            }
            at += 1;
        }
    }

    /// Takes the next byte; `false` where this can't be such a document.
    fn take(&mut self, byte: u8, at: u64) -> bool {
        if usize::try_from(at).is_ok_and(|at| BYTE_ORDER_MARK.get(at) == Some(&byte)) {
            return true;
        }
        self.line += usize::from(byte == b'\n');
        let was_in_list = self.list.is_some();
        let is_fine = self.step(byte, at);
        if self.list.is_none() {
            let around = if self.has_ended { &mut self.after } else { &mut self.before };
            if !was_in_list || self.has_ended {
                around.push(byte);
            }
            if around.len() > MOST_AROUND {
                return false;
            }
        } else if !was_in_list {
            self.before.push(byte);
        } else if self.items.is_empty() && self.item.is_some() {
            let first = self.first.get_or_insert_default();
            first.push(byte);
            if first.len() > MOST_AROUND {
                return false;
            }
        }
        is_fine
    }

    fn step(&mut self, byte: u8, at: u64) -> bool {
        if self.is_text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_text = false,
                _ if self.list.is_none() && self.stack.len() == 1 => self.key.push(byte),
                _ => {}
            }
            return true;
        }
        if self.is_in_comment(byte) {
            return true;
        }
        let in_list = self.list == Some(self.stack.len());
        if in_list && self.item.is_none() && !byte.is_ascii_whitespace() && !matches!(byte, b',' | b']' | b'/' | b'#') {
            self.item = Some((at, self.line + 1));
        }
        match byte {
            b'"' => {
                self.is_text = true;
                self.key.clear();
            }
            b'[' | b'{' => {
                // Another document follows: this is one a line.
                if self.stack.is_empty() && std::mem::replace(&mut self.has_begun, true) {
                    return false;
                }
                let is_root = self.stack.is_empty() && byte == b'[';
                let is_key =
                    self.stack.len() == 1 && byte == b'[' && self.lists.iter().any(|list| list.as_bytes() == self.key);
                self.stack.push(byte);
                if self.list.is_none() && !self.has_ended && (is_root || is_key) {
                    self.list = Some(self.stack.len());
                }
            }
            b']' | b'}' => {
                if in_list {
                    self.end_item(at);
                    (self.list, self.has_ended) = (None, true);
                }
                self.stack.pop();
            }
            b',' if in_list => return self.end_item(at),
            _ => {}
        }
        true
    }

    /// Whether a byte outside of texts is part of a comment.
    fn is_in_comment(&mut self, byte: u8) -> bool {
        let previous = std::mem::replace(&mut self.previous, byte);
        match (self.comment, previous, byte) {
            (Some(Comment::Line), _, b'\n') | (Some(Comment::Block), b'*', b'/') => {
                (self.comment, self.previous) = (None, 0);
                true
            }
            (Some(_), ..) => true,
            (None, b'/', b'/') | (None, _, b'#') => {
                self.comment = Some(Comment::Line);
                true
            }
            (None, b'/', b'*') => {
                (self.comment, self.previous) = (Some(Comment::Block), 0);
                true
            }
            (None, ..) => false,
        }
    }

    /// An item ends before this byte; `false` where it is no conversation.
    fn end_item(&mut self, at: u64) -> bool {
        let Some((start, line)) = self.item.take() else { return true };
        self.items.push(((start, at - start), line));
        match self.first.take() {
            // A list of objects with messages, rather than of messages.
            Some(first) if self.stack.first() == Some(&b'[') => has_messages(&first),
            _ => true,
        }
    }
}

fn has_messages(item: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        messages: Option<IgnoredAny>,
    }
    match serde_json::from_slice::<Head>(item) {
        Ok(head) => head.messages.is_some(),
        // It may have comments.
        Err(_) => {
            std::str::from_utf8(item).is_ok_and(|item| json::read(item).is_ok_and(|read| read.root.has("messages")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The items of a text, with what stands before them.
    fn items(text: &str) -> Option<(String, Vec<&str>)> {
        let mut scan = Scan { lists: vec!["eval_cases"], ..Scan::default() };
        let is_one = text.bytes().zip(0..).all(|(byte, at)| scan.take(byte, at));
        let item =
            |((start, length), _): &((u64, u64), usize)| text[*start as usize..(start + length) as usize].trim_end();
        is_one.then(|| (String::from_utf8(scan.before).unwrap(), scan.items.iter().map(item).collect()))
    }

    #[test]
    fn a_byte_order_mark_and_comments_with_brackets_and_quotes_are_no_part_of_a_document() {
        let (before, found) = items("\u{feff}{\"eval_cases\": [{\"a\": 1}, {\"b\": 2}]}").unwrap();
        assert_eq!((before.as_str(), found), ("{\"eval_cases\": [", vec!["{\"a\": 1}", "{\"b\": 2}"]));
        let text = "// it's \"mine\" [\n/* { \" */ # ] \"\n{\"eval_cases\": [ // one, \"two\n\
                    {\"a\": \"// # /*\"}, /* , \" ] */ {\"b\": 2 /* } \" */}, # end ]\n]}\n// \" [";
        let (_, found) = items(text).unwrap();
        assert_eq!(found, ["{\"a\": \"// # /*\"}", "{\"b\": 2 /* } \" */}"]);
        assert!(items("// a\n{}\n{}").is_none(), "a document a line");
    }

    #[test]
    fn what_is_passed_over_says_nothing() {
        let texts = [
            "{\"eval_cases\": [{\"a\": [1, {\"b\": \"x\\\"]},\\\\\"}]},\n {\"c\": \"[\n\", // } \"\n \"d\": 4/5 /* ] */}, 3, [\"\"], {}\n]}",
            "{\"eval_cases\": [{\"a\": 1}, {\"b\": \"# no comment\", # one }\n\"c\": [[], {}]} , {\"d\":\"\\u0022]\"}]} ",
        ];
        for text in texts {
            let scanned = |passes_over: bool| {
                let mut scan = Scan { lists: vec!["eval_cases"], ..Scan::default() };
                let mut at = 0;
                loop {
                    at += if passes_over { scan.pass_over(&text.as_bytes()[at..]) } else { 0 };
                    let Some(byte) = text.as_bytes().get(at) else { break };
                    assert!(scan.take(*byte, at as u64));
                    at += 1;
                }
                (scan.items, scan.line, String::from_utf8(scan.after).unwrap(), scan.stack)
            };
            assert_eq!(scanned(true), scanned(false), "{text}");
            assert!(scanned(true).0.len() >= 3, "{text}");
        }
    }

    #[test]
    fn messages_are_seen_beside_comments() {
        assert!(items("[{\"messages\": [] /* \" */}, {}]").is_some());
        assert!(items("[{\"role\": 1 /* \" */}, {}]").is_none());
    }
}
