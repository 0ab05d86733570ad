//! The files that datasets are read from.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Cursor, Seek};
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
