//! A file that is written as a whole or not at all: beside its place first, which it then takes.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::report::ResultFile;

/// A file that is being written.
pub(super) enum WholeFile {
    /// Beside the place that it takes when it is finished.
    Beside { file: BufWriter<NamedTempFile>, place: PathBuf },
    /// A pipe, a device, or a file in a folder that takes no others.
    InPlace(BufWriter<File>),
}

impl WholeFile {
    /// Begins one.
    pub(super) fn open(path: &Path) -> io::Result<WholeFile> {
        // Of a link the file that it leads to is replaced.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let there = fs::metadata(path);
        let in_place = || {
            let file = File::options().write(true).create(true).truncate(true).open(path)?;
            Ok(WholeFile::InPlace(BufWriter::new(file)))
        };
        if there.as_ref().is_ok_and(|there| !there.is_file()) || path.is_symlink() && there.is_err() {
            return in_place();
        }
        match beside(&place, there.as_ref().ok().map(fs::Metadata::permissions)) {
            Ok(file) => Ok(WholeFile::Beside { file: BufWriter::new(file), place }),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && there.is_ok() => in_place(),
            Err(error) => Err(error),
        }
    }

    /// It takes its place. Until the machine itself has written it down is not waited for where `at_once` says so: the
    /// process may end, and the file is whole.
    fn close(self, at_once: bool) -> io::Result<()> {
        match self {
            WholeFile::InPlace(mut file) => file.flush(),
            WholeFile::Beside { file, place } => {
                let file = file.into_inner().map_err(|error| without_path(error.into_error()))?;
                if !at_once {
                    file.as_file().sync_data()?;
                }
                file.persist(place)?;
                Ok(())
            }
        }
    }
}

/// A file of a name that no other has, with the permissions of the one that it will replace.
fn beside(place: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut name = place.file_name().unwrap_or_default().to_os_string();
    name.push(".");
    let mut builder = Builder::new();
    builder.prefix(&name).suffix(".partial");
    #[cfg(unix)]
    let usual = Some(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    let usual = None;
    if let Some(usual) = usual {
        // As any new file: less what the user's mask takes away.
        builder.permissions(usual);
    }
    let file = builder.tempfile_in(folder).map_err(without_path)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

/// The error without the path of the temporary file, which users do not know.
fn without_path(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((why, _)) => io::Error::new(error.kind(), why.to_owned()),
        None => error,
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            WholeFile::Beside { file, .. } => file.write(bytes).map_err(without_path),
            WholeFile::InPlace(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            WholeFile::Beside { file, .. } => file.flush().map_err(without_path),
            WholeFile::InPlace(file) => file.flush(),
        }
    }
}

impl ResultFile for WholeFile {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.close(false)
    }
}

/// Writes a text, in the place of the file that is there.
pub(super) fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::open(path)?;
    file.write_all(text)?;
    file.close(false)
}

/// The same for a process that ends at once.
pub(super) fn write_at_once(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::open(path)?;
    file.write_all(text)?;
    file.close(true)
}

/// Writes a text where no file is.
///
/// # Errors
/// One is there, or it can't be written.
pub(super) fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    if path.exists() || path.is_symlink() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let mut file = beside(path, None)?;
    file.write_all(text)?;
    file.as_file().sync_data()?;
    file.persist_noclobber(path)?;
    Ok(())
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

    #[test]
    fn two_that_write_the_same_file_both_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut slow = WholeFile::open(&path).unwrap();
        slow.write_all(b"slow").unwrap();
        write_at_once(&path, b"at once").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "at once");
        Box::new(slow).finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "slow");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
