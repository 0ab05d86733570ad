//! People's verdicts on a run: `labels.ndjson` beside its journal, one a line, only appended to.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use super::journal_file::unreadable;
use super::{JournalFile, StoreError, private};
use crate::record::{LABEL_VERSION, Label};

/// The file's name.
const LABELS: &str = "labels.ndjson";

impl JournalFile {
    /// People's verdicts, in the order in which they were given. Lines that are none are left out: whoever was cut off while
    /// writing has lost nothing else. How many there are goes into `damaged_labels`.
    ///
    /// # Errors
    /// When the file can't be read, or is newer than this eval-job.
    pub fn labels(&mut self) -> Result<Vec<Label>, StoreError> {
        let path = self.folder.join(LABELS);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(unreadable(&path, source)),
        };
        let (mut labels, mut damaged) = (Vec::new(), Vec::new());
        let mut lines = BufReader::new(file);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            if lines.read_until(b'\n', &mut line).map_err(|source| unreadable(&path, source))? == 0 {
                break;
            }
            match serde_json::from_slice::<Label>(&line) {
                Ok(label) if label.version > LABEL_VERSION => {
                    let why = format!("line {number} is of a newer version of eval-job");
                    return Err(StoreError::Unreadable { path, why });
                }
                Ok(label) => labels.push(label),
                Err(_) => damaged.push(number.to_string()),
            }
        }
        if !damaged.is_empty() {
            let note = format!("of {LABELS} line {} is no label, and left out", damaged.join(", "));
            self.damaged_labels = Some(note);
        }
        Ok(labels)
    }

    /// Keeps one more verdict; it is on disk when this returns.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn add_label(&self, label: &Label) -> Result<(), StoreError> {
        let path = self.folder.join(LABELS);
        let write = || -> io::Result<()> {
            let mut file = private::options().create(true).append(true).read(true).open(&path)?;
            let mut line = serde_json::to_string(label)?;
            if let Some(redactor) = &self.redactor {
                line = redactor.redact(&line).into_owned();
            }
            // After a line that was cut off this one begins a new one.
            let is_open_ended = file.seek(SeekFrom::End(-1)).is_ok() && {
                let mut last = [0];
                file.read_exact(&mut last).is_ok() && last != *b"\n"
            };
            let begin = if is_open_ended { "\n" } else { "" };
            file.write_all(format!("{begin}{line}\n").as_bytes())?;
            file.sync_data()
        };
        write().map_err(|source| StoreError::Io { doing: "could not write", path: path.clone(), source })
    }
}
