//! The state of a run's folder, cheap to see: the sizes and times of its files.

use std::fmt::{self, Display, Formatter};
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::store::folder::{JOURNAL, SUMMARY};

/// The state of a run's folder: it changes with whatever is written there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    journal: FileStamp,
    summary: Option<FileStamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    /// Nanoseconds since 1970; 0 where the file system has no times.
    modified: u128,
}

impl Stamp {
    /// The stamp of a run folder; `None` where there is no journal.
    pub fn read(folder: &Path) -> Option<Stamp> {
        let stamp =
            |name: &str| fs::metadata(folder.join(name)).ok().filter(Metadata::is_file).map(FileStamp::from_metadata);
        Some(Stamp { journal: stamp(JOURNAL)?, summary: stamp(SUMMARY) })
    }
}

impl FileStamp {
    fn from_metadata(metadata: Metadata) -> FileStamp {
        let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        FileStamp { bytes: metadata.len(), modified: modified.unwrap_or_default().as_nanos() }
    }
}

/// As the index holds it.
impl Display for Stamp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let FileStamp { bytes, modified } = self.journal;
        write!(f, "{bytes}@{modified}")?;
        self.summary.map_or(Ok(()), |summary| write!(f, " {}@{}", summary.bytes, summary.modified))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_written_makes_another_stamp() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Stamp::read(dir.path()), None);
        let mut seen = Vec::new();
        for (file, text) in [(JOURNAL, "{}\n"), (JOURNAL, "{}\n{}\n"), (SUMMARY, "{}"), (SUMMARY, "{} ")] {
            fs::write(dir.path().join(file), text).unwrap();
            seen.push(Stamp::read(dir.path()).unwrap().to_string());
        }
        let journal = fs::File::options().append(true).open(dir.path().join(JOURNAL)).unwrap();
        journal.set_modified(UNIX_EPOCH).unwrap();
        seen.push(Stamp::read(dir.path()).unwrap().to_string());
        fs::remove_file(dir.path().join(SUMMARY)).unwrap();
        seen.push(Stamp::read(dir.path()).unwrap().to_string());
        let count = seen.len();
        seen.dedup();
        assert_eq!(seen.len(), count, "{seen:?}");
        assert_eq!(seen.last().unwrap(), "6@0");
    }
}
