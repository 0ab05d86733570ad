//! The files that datasets are read from.

use std::io;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 512 * 1024 * 1024;

/// Files and folders: the disk's, or a test's.
pub trait Files {
    /// The text of a file.
    ///
    /// # Errors
    /// There is none, it can't be read, or it is no text.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// What is in a folder, sorted by name.
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
        let there = std::fs::metadata(path)?;
        if !there.is_file() && !there.is_dir() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe or a device"));
        }
        if there.len() > LARGEST {
            let megabytes = LARGEST / 1024 / 1024;
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("the file is larger than {megabytes} MiB"),
            ));
        }
        std::fs::read_to_string(path)
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
