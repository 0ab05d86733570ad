//! The rows of a result as they wait to be fetched: packed, in the format of the client.
//!
//! Each row is packed as soon as the engine gives it. A number takes a few bytes then and not a hundred, and no
//! transaction stays open for a client that is slow.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::graph::Value;

/// Rows are freed in chunks of this many bytes.
const CHUNK_BYTES: usize = 256 << 10;

/// The size of a row, before its bytes.
const SIZE: usize = size_of::<usize>();

/// Appends a row in the format of the client.
#[derive(Clone)]
pub struct Form(Arc<Append>);

type Append = dyn Fn(&[Value], &mut Vec<u8>) + Send + Sync;

impl Form {
    /// A form by what it appends for a row.
    pub fn new(append: impl Fn(&[Value], &mut Vec<u8>) + Send + Sync + 'static) -> Form {
        Form(Arc::new(append))
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Form")
    }
}

/// Packed rows, in order.
#[derive(Debug, Default)]
pub struct Packed {
    chunks: VecDeque<Vec<u8>>,
    /// How much of the first chunk was fetched.
    at: usize,
    rows: usize,
}

impl Packed {
    /// Appends a row.
    pub(super) fn push(&mut self, row: &[Value], form: &Form) {
        if self.chunks.back().is_none_or(|chunk| chunk.len() >= CHUNK_BYTES) {
            let size = if self.chunks.is_empty() { 0 } else { CHUNK_BYTES + CHUNK_BYTES / 16 };
            self.chunks.push_back(Vec::with_capacity(size));
        }
        let Some(chunk) = self.chunks.back_mut() else { return };
        let start = chunk.len();
        chunk.extend_from_slice(&[0; SIZE]);
        (form.0)(row, chunk);
        let size = chunk.len() - start - SIZE;
        chunk[start..start + SIZE].copy_from_slice(&size.to_ne_bytes());
        self.rows += 1;
    }

    /// The next row.
    pub fn fetch(&mut self) -> Option<&[u8]> {
        if self.chunks.front().is_some_and(|chunk| self.at == chunk.len()) {
            self.chunks.pop_front();
            self.at = 0;
        }
        let rest = self.chunks.front()?.get(self.at..)?;
        let (size, rest) = rest.split_first_chunk()?;
        let size = usize::from_ne_bytes(*size);
        self.at += SIZE + size;
        self.rows -= 1;
        rest.get(..size)
    }

    /// How many rows are left.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A form that [`values`] reads.
    pub(in crate::graph) fn json() -> Form {
        Form::new(|row, bytes| serde_json::to_writer(bytes, row).unwrap())
    }

    pub(in crate::graph) fn values(mut rows: Packed) -> Vec<Vec<Value>> {
        let mut all = Vec::new();
        while let Some(row) = rows.fetch() {
            all.push(serde_json::from_slice(row).unwrap());
        }
        all
    }

    #[test]
    fn rows_of_any_size_come_back_in_order() {
        let mut packed = Packed::default();
        let sizes = [0, 1, 70_000, 2 * CHUNK_BYTES, 3, CHUNK_BYTES, CHUNK_BYTES, 0, 12];
        let row = |size: usize| vec![Value::String("x".repeat(size)), Value::Int(size as i64)];
        sizes.iter().for_each(|size| packed.push(&row(*size), &json()));
        packed.push(&[], &Form::new(|_, _| {}));
        assert_eq!(packed.len(), sizes.len() + 1);
        for size in sizes {
            assert_eq!(serde_json::from_slice::<Vec<Value>>(packed.fetch().unwrap()).unwrap(), row(size));
        }
        assert_eq!(packed.fetch(), Some(&[][..]));
        assert!(packed.is_empty());
        assert_eq!(packed.fetch(), None);
    }
}
