//! Values → bytes, in the shortest form of each.

use super::Pack;

/// Appends a value.
pub(in crate::graph::bolt) fn write(bytes: &mut Vec<u8>, value: &Pack) {
    let mut writer = Writer(bytes);
    writer.value(value);
}

/// Appends values piece by piece, for those that never become a [`Pack`].
pub(in crate::graph::bolt) struct Writer<'a>(pub(in crate::graph::bolt) &'a mut Vec<u8>);

impl Writer<'_> {
    pub(in crate::graph::bolt) fn value(&mut self, value: &Pack) {
        match value {
            Pack::Null => self.null(),
            Pack::Bool(truth) => self.bool(*truth),
            Pack::Int(number) => self.int(*number),
            Pack::Float(number) => self.float(*number),
            Pack::Bytes(content) => {
                self.size(content.len(), None, [0xcc, 0xcd, 0xce]);
                self.0.extend_from_slice(content);
            }
            Pack::String(text) => self.string(text),
            Pack::List(items) => {
                self.list(items.len());
                items.iter().for_each(|item| self.value(item));
            }
            Pack::Map(entries) => {
                self.map(entries.len());
                for (key, entry) in entries {
                    self.string(key);
                    self.value(entry);
                }
            }
            Pack::Structure(tag, fields) => {
                self.structure(*tag, fields.len());
                fields.iter().for_each(|field| self.value(field));
            }
        }
    }

    pub(in crate::graph::bolt) fn null(&mut self) {
        self.0.push(0xc0);
    }

    pub(in crate::graph::bolt) fn bool(&mut self, truth: bool) {
        self.0.push(if truth { 0xc3 } else { 0xc2 });
    }

    pub(in crate::graph::bolt) fn int(&mut self, number: i64) {
        if (-16..128).contains(&number) {
            self.0.push(number.to_be_bytes()[7]);
        } else if let Ok(number) = i8::try_from(number) {
            self.marked(0xc8, &number.to_be_bytes());
        } else if let Ok(number) = i16::try_from(number) {
            self.marked(0xc9, &number.to_be_bytes());
        } else if let Ok(number) = i32::try_from(number) {
            self.marked(0xca, &number.to_be_bytes());
        } else {
            self.marked(0xcb, &number.to_be_bytes());
        }
    }

    pub(in crate::graph::bolt) fn float(&mut self, number: f64) {
        self.marked(0xc1, &number.to_be_bytes());
    }

    pub(in crate::graph::bolt) fn string(&mut self, text: &str) {
        self.size(text.len(), Some(0x80), [0xd0, 0xd1, 0xd2]);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// The head of a list; so many values must follow.
    pub(in crate::graph::bolt) fn list(&mut self, size: usize) {
        self.size(size, Some(0x90), [0xd4, 0xd5, 0xd6]);
    }

    /// The head of a map; so many strings, each with its value, must follow.
    pub(in crate::graph::bolt) fn map(&mut self, size: usize) {
        self.size(size, Some(0xa0), [0xd8, 0xd9, 0xda]);
    }

    /// The head of a structure; so many values, at most 15, must follow.
    pub(in crate::graph::bolt) fn structure(&mut self, tag: u8, size: usize) {
        debug_assert!(size < 16, "a structure has at most 15 fields");
        self.0.extend_from_slice(&[0xb0 | (size & 0x0f) as u8, tag]);
    }

    fn size(&mut self, size: usize, tiny: Option<u8>, markers: [u8; 3]) {
        match (tiny, u8::try_from(size), u16::try_from(size)) {
            (Some(marker), Ok(size @ ..16), _) => self.0.push(marker | size),
            (_, Ok(size), _) => self.marked(markers[0], &[size]),
            (_, _, Ok(size)) => self.marked(markers[1], &size.to_be_bytes()),
            // Rows, messages and properties are bounded long before this.
            _ => self.marked(markers[2], &u32::try_from(size).unwrap_or(u32::MAX).to_be_bytes()),
        }
    }

    fn marked(&mut self, marker: u8, bytes: &[u8]) {
        self.0.push(marker);
        self.0.extend_from_slice(bytes);
    }
}
