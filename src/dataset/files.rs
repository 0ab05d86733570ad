//! The files that datasets are read from.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 512 * 1024 * 1024;

/// A file that is read piece by piece.
pub trait FileReader: BufRead + Seek {}

impl<R: BufRead + Seek> FileReader for R {}

/// Files and folders: the disk's, or a test's.
pub trait Files {
    /// The text of a file.
    ///
    /// # Errors
    /// There is none, it can't be read, or it is no text.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// A file of any size, to be read piece by piece.
    ///
    /// # Errors
    /// There is none, or it can't be read.
    fn reader(&self, path: &Path) -> io::Result<Box<dyn FileReader>> {
        Ok(Box::new(Cursor::new(self.read(path)?)))
    }

    /// The entries of a folder, sorted by name.
    ///
    /// # Errors
    /// There is none, or it can't be read.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Whether there is a file of this path.
    fn is_file(&self, path: &Path) -> bool;

    /// Whether there is a folder of this path.
    fn is_folder(&self, path: &Path) -> bool;
}

/// A file of which parts are read: what was read ahead is not read again for the next one.
pub(super) struct PartReader {
    reader: Box<dyn FileReader>,
    /// The byte that comes next; `None` after an error.
    at: Option<u64>,
}

impl PartReader {
    /// Opens a file.
    pub(super) fn open(path: &Path, files: &dyn Files) -> io::Result<PartReader> {
        Ok(PartReader { reader: files.reader(path)?, at: Some(0) })
    }

    /// Adds so many bytes, as far as the file has them.
    pub(super) fn read(&mut self, start: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        // The reader itself, which keeps what it has read ahead; not its box, which may not.
        let reader = &mut *self.reader;
        match self.at.take().map(|at| i64::try_from(i128::from(start) - i128::from(at))) {
            Some(Ok(0)) => {}
            Some(Ok(offset)) => reader.seek_relative(offset)?,
            _ => drop(reader.seek(SeekFrom::Start(start))?),
        }
        bytes.reserve(usize::try_from(length).unwrap_or_default());
        let read = reader.take(length).read_to_end(bytes)?;
        self.at = Some(start + read as u64);
        Ok(())
    }
}

impl std::fmt::Debug for PartReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartReader").field("at", &self.at).finish_non_exhaustive()
    }
}

/// The disk's.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskFiles;

impl Files for DiskFiles {
    fn read(&self, path: &Path) -> io::Result<String> {
        let there = regular(path)?;
        if there.len() > LARGEST {
            let megabytes = LARGEST / 1024 / 1024;
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("the file is larger than {megabytes} MiB"),
            ));
        }
        std::fs::read_to_string(path)
    }

    fn reader(&self, path: &Path) -> io::Result<Box<dyn FileReader>> {
        regular(path)?;
        Ok(Box::new(BufReader::with_capacity(1 << 16, File::open(path)?)))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }
}

/// The metadata of a file or folder. A pipe or a device may never begin or never end, and is refused.
fn regular(path: &Path) -> io::Result<Metadata> {
    let there = std::fs::metadata(path)?;
    if there.is_file() || there.is_dir() {
        return Ok(there);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe or a device"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_in_any_order_and_as_far_as_the_file_has_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let text: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
        std::fs::write(&path, &text).unwrap();
        let mut reader = PartReader::open(&path, &DiskFiles).unwrap();
        for (start, length) in
            [(0, 10), (10, 70_000), (70_010, 5), (3, 9), (150_000, 1), (199_990, 100), (300_000, 4), (5, 2)]
        {
            let mut bytes = b"before".to_vec();
            reader.read(start, length, &mut bytes).unwrap();
            let (from, to) = ((start as usize).min(text.len()), ((start + length) as usize).min(text.len()));
            assert_eq!(bytes, [b"before", &text[from..to]].concat(), "{start}, {length}");
        }
    }
}
