//! CRC-32 of the lines of a journal, as zlib and PNG have it.

/// Tables for eight bytes at a time.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut value, mut bit) = (byte as u32, 0);
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ 0xEDB8_8320 } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// The checksum of all parts, one after the other.
pub(super) fn crc32(parts: &[&[u8]]) -> u32 {
    crc32_after(0, parts)
}

/// The checksum of what has this one with all parts after it.
pub(super) fn crc32_after(before: u32, parts: &[&[u8]]) -> u32 {
    !parts.iter().fold(!before, |crc, part| update(crc, part))
}

fn update(mut crc: u32, bytes: &[u8]) -> u32 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        let mixed = (u64::from_le_bytes(*chunk) ^ u64::from(crc)).to_le_bytes();
        let looked_up = mixed.iter().zip(TABLES.iter().rev());
        crc = looked_up.fold(0, |crc, (byte, table)| crc ^ table[usize::from(*byte)]);
    }
    rest.iter().fold(crc, |crc, byte| (crc >> 8) ^ TABLES[0][((crc ^ u32::from(*byte)) & 0xFF) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_checksum_that_everybody_has() {
        assert_eq!(crc32(&[b"123456789"]), 0xCBF4_3926);
        assert_eq!(crc32(&[b""]), 0);
        let text: Vec<u8> = (0..=255).collect();
        for cut in 0..text.len() {
            assert_eq!(crc32(&[&text[..cut], &text[cut..]]), 0x2905_8C73, "cut at {cut}");
            assert_eq!(crc32_after(crc32(&[&text[..cut]]), &[&text[cut..]]), 0x2905_8C73, "cut at {cut}");
        }
    }
}
