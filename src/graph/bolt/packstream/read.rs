//! Bytes → values.

use super::Pack;

/// The maximum nesting of lists, maps and structures.
const DEPTH: usize = 100;

/// The most values in one message: each takes more memory than its bytes, so that a message of nothing but nulls
/// would grow thirtyfold.
const VALUES: usize = 2_000_000;

/// Why bytes are no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::graph::bolt) enum Malformed {
    #[error("it ends in the middle of a value")]
    Short,
    #[error("{0} bytes follow its end")]
    Trailing(usize),
    #[error("{0:#04x} marks no value")]
    Marker(u8),
    #[error("a string is not UTF-8")]
    Text,
    #[error("the key of a map is not a string")]
    Key,
    #[error("it is nested more than {DEPTH} deep")]
    Deep,
    #[error("it holds more than {VALUES} values")]
    Many,
}

/// Reads the one value that the bytes are.
pub(in crate::graph::bolt) fn read(bytes: &[u8]) -> Result<Pack, Malformed> {
    let mut reader = PackReader { rest: bytes, values: 0 };
    let value = reader.value(0)?;
    if reader.rest.is_empty() { Ok(value) } else { Err(Malformed::Trailing(reader.rest.len())) }
}

struct PackReader<'a> {
    rest: &'a [u8],
    values: usize,
}

impl<'a> PackReader<'a> {
    fn value(&mut self, depth: usize) -> Result<Pack, Malformed> {
        self.values += 1;
        if self.values > VALUES {
            return Err(Malformed::Many);
        }
        let [marker] = self.array()?;
        let low = usize::from(marker & 0x0f);
        match marker {
            0x00..=0x7f | 0xf0..=0xff => Ok(Pack::Int(i64::from(marker.cast_signed()))),
            0x80..=0x8f => self.string(low),
            0x90..=0x9f => self.list(low, depth),
            0xa0..=0xaf => self.map(low, depth),
            0xb0..=0xbf => self.structure(low, depth),
            0xc0 => Ok(Pack::Null),
            0xc1 => Ok(Pack::Float(f64::from_be_bytes(self.array()?))),
            0xc2 => Ok(Pack::Bool(false)),
            0xc3 => Ok(Pack::Bool(true)),
            0xc8 => Ok(Pack::Int(i8::from_be_bytes(self.array()?).into())),
            0xc9 => Ok(Pack::Int(i16::from_be_bytes(self.array()?).into())),
            0xca => Ok(Pack::Int(i32::from_be_bytes(self.array()?).into())),
            0xcb => Ok(Pack::Int(i64::from_be_bytes(self.array()?))),
            0xcc..=0xce => {
                let size = self.size(marker - 0xcc)?;
                Ok(Pack::Bytes(self.take(size)?.to_vec()))
            }
            0xd0..=0xd2 => {
                let size = self.size(marker - 0xd0)?;
                self.string(size)
            }
            0xd4..=0xd6 => {
                let size = self.size(marker - 0xd4)?;
                self.list(size, depth)
            }
            0xd8..=0xda => {
                let size = self.size(marker - 0xd8)?;
                self.map(size, depth)
            }
            other => Err(Malformed::Marker(other)),
        }
    }

    /// A size of one, two or four bytes.
    fn size(&mut self, width: u8) -> Result<usize, Malformed> {
        Ok(match width {
            0 => usize::from(u8::from_be_bytes(self.array()?)),
            1 => usize::from(u16::from_be_bytes(self.array()?)),
            _ => usize::try_from(u32::from_be_bytes(self.array()?)).map_err(|_| Malformed::Short)?,
        })
    }

    fn string(&mut self, size: usize) -> Result<Pack, Malformed> {
        let text = std::str::from_utf8(self.take(size)?).map_err(|_| Malformed::Text)?;
        Ok(Pack::String(text.to_owned()))
    }

    fn list(&mut self, size: usize, depth: usize) -> Result<Pack, Malformed> {
        Ok(Pack::List(self.values(size, depth)?))
    }

    fn structure(&mut self, size: usize, depth: usize) -> Result<Pack, Malformed> {
        let [tag] = self.array()?;
        Ok(Pack::Structure(tag, self.values(size, depth)?))
    }

    fn map(&mut self, size: usize, depth: usize) -> Result<Pack, Malformed> {
        self.fits(size, 2, depth)?;
        let mut entries = Vec::new();
        for _ in 0..size {
            let Pack::String(key) = self.value(depth + 1)? else { return Err(Malformed::Key) };
            entries.push((key, self.value(depth + 1)?));
        }
        Ok(Pack::Map(entries))
    }

    fn values(&mut self, size: usize, depth: usize) -> Result<Vec<Pack>, Malformed> {
        self.fits(size, 1, depth)?;
        (0..size).map(|_| self.value(depth + 1)).collect()
    }

    /// Refuses an item that claims to be larger than the rest of the message, before memory is reserved for it.
    fn fits(&self, size: usize, width: usize, depth: usize) -> Result<(), Malformed> {
        if depth >= DEPTH {
            return Err(Malformed::Deep);
        }
        if size.saturating_mul(width) > self.rest.len() {
            return Err(Malformed::Short);
        }
        if size > VALUES { Err(Malformed::Many) } else { Ok(()) }
    }

    fn take(&mut self, size: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(size).ok_or(Malformed::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Malformed::Short)?;
        self.rest = rest;
        Ok(*taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::write;
    use super::*;

    fn pack() -> impl Strategy<Value = Pack> {
        let leaf = prop_oneof![
            Just(Pack::Null),
            any::<bool>().prop_map(Pack::Bool),
            any::<i64>().prop_map(Pack::Int),
            (-200i64..200).prop_map(Pack::Int),
            any::<f64>().prop_filter("NaN is not equal to itself", |f| !f.is_nan()).prop_map(Pack::Float),
            prop::collection::vec(any::<u8>(), 0..300).prop_map(Pack::Bytes),
            "\\PC{0,20}".prop_map(Pack::String),
            "[a-z]{250,300}".prop_map(Pack::String),
        ];
        leaf.prop_recursive(4, 60, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..20).prop_map(Pack::List),
                prop::collection::vec(("[a-z]{0,5}", inner.clone()), 0..20).prop_map(Pack::Map),
                (any::<u8>(), prop::collection::vec(inner, 0..16))
                    .prop_map(|(tag, fields)| Pack::Structure(tag, fields)),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in pack()) {
            let mut bytes = Vec::new();
            write(&mut bytes, &value);
            prop_assert_eq!(read(&bytes), Ok(value.clone()));
            bytes.pop();
            prop_assert!(read(&bytes).is_err());
        }

        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }

    #[test]
    fn sizes_that_lie_are_refused_without_memory() {
        for bytes in
            [&[0xd6, 0xff, 0xff, 0xff, 0xff][..], &[0xda, 0x7f, 0xff, 0xff, 0xff], &[0xce, 0xff, 0, 0, 0], &[0x9f]]
        {
            assert_eq!(read(bytes), Err(Malformed::Short), "{bytes:?}");
        }
    }

    #[test]
    fn depth_and_number_have_their_limits() {
        let nested = |depth: usize| [vec![0x91; depth], vec![0xc0]].concat();
        assert!(read(&nested(DEPTH)).is_ok());
        assert_eq!(read(&nested(DEPTH + 1)), Err(Malformed::Deep));
        let nulls = |count: u32| [&[0xd6][..], &count.to_be_bytes(), &vec![0xc0; count as usize]].concat();
        assert!(read(&nulls(VALUES as u32 - 1)).is_ok());
        assert_eq!(read(&nulls(VALUES as u32)), Err(Malformed::Many));
    }

    #[test]
    fn what_is_no_value_is_named() {
        assert_eq!(read(&[]), Err(Malformed::Short));
        assert_eq!(read(&[0xc4]), Err(Malformed::Marker(0xc4)));
        assert_eq!(read(&[0xdc, 1, 1]), Err(Malformed::Marker(0xdc)));
        assert_eq!(read(&[0x81, 0xff]), Err(Malformed::Text));
        assert_eq!(read(&[0xa1, 0x01, 0x01]), Err(Malformed::Key));
        assert_eq!(read(&[0xc0, 0xc0]), Err(Malformed::Trailing(1)));
    }

    #[test]
    fn integers_take_the_shortest_form() {
        for (number, size) in
            [(0, 1), (-16, 1), (127, 1), (-17, 2), (-128, 2), (128, 3), (-129, 3), (32768, 5), (1 << 31, 9)]
        {
            let mut bytes = Vec::new();
            write(&mut bytes, &Pack::Int(number));
            assert_eq!((bytes.len(), read(&bytes)), (size, Ok(Pack::Int(number))), "{number}");
        }
    }
}
