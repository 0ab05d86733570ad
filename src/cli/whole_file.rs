//! A file that is written as a whole or not at all: beside its place first, which it then takes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that is being written.
pub(super) struct WholeFile {
    file: File,
    /// Where it is written, until it takes its place; `None` where it is written in its place.
    beside: Option<PathBuf>,
    place: PathBuf,
}

impl WholeFile {
    /// Begins one. A pipe or a device, and a file in a folder that takes no others, are written in their place.
    pub(super) fn open(path: &Path) -> io::Result<WholeFile> {
        // Of a link the file that it leads to is replaced.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let there = fs::metadata(path);
        let in_place = || File::options().write(true).create(true).truncate(true).open(path);
        if there.as_ref().is_ok_and(|there| !there.is_file()) || path.is_symlink() && there.is_err() {
            return Ok(WholeFile { file: in_place()?, beside: None, place });
        }
        let mut name = place.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.partial", std::process::id()));
        let beside = place.with_file_name(name);
        match File::create_new(&beside) {
            Ok(file) => {
                let file = WholeFile { file, beside: Some(beside), place };
                if let Ok(there) = there {
                    file.file.set_permissions(there.permissions())?;
                }
                Ok(file)
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && there.is_ok() => {
                Ok(WholeFile { file: in_place()?, beside: None, place })
            }
            Err(error) => Err(error),
        }
    }

    /// It takes its place.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let Some(beside) = &self.beside else { return self.file.flush() };
        self.file.sync_data()?;
        fs::rename(beside, &self.place)?;
        self.beside = None;
        Ok(())
    }

    /// It takes its place, where no other file is.
    fn finish_new(self) -> io::Result<()> {
        let Some(beside) = &self.beside else { return Err(io::ErrorKind::AlreadyExists.into()) };
        self.file.sync_data()?;
        match fs::hard_link(beside, &self.place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // Not every file system has links.
            Err(_) if self.place.exists() => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => self.finish(),
            Ok(()) => Ok(()),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        self.beside.iter().for_each(|beside| drop(fs::remove_file(beside)));
    }
}

/// Writes a text, in the place of the file that is there.
pub(super) fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::open(path)?;
    file.write_all(text)?;
    file.finish()
}

/// Writes a text where no file is.
///
/// # Errors
/// One is there, or it can't be written.
pub(super) fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    if path.exists() || path.is_symlink() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let mut file = WholeFile::open(path)?;
    file.write_all(text)?;
    file.finish_new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finished_leaves_the_file_as_it_was_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let mut file = WholeFile::open(&path).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        write(&path, b"new").unwrap();
        assert_eq!(write_new(&path, b"other").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        write_new(&folder.path().join("b"), b"b").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
