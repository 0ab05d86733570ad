//! The journal: a line of JSON an entry.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::{line, private};
use crate::record::Entry;
use crate::secret::Redactor;

/// A journal that is being written. Each entry is serialised by whoever appends it; the lines wait in a queue until one
/// writer at a time writes all that are there.
#[derive(Debug)]
pub struct Journal {
    file: Arc<File>,
    queue: Mutex<Queue>,
    /// How many lines are in the kernel.
    written: AtomicU64,
    /// Held by the one who writes, with the buffer that the queue's is exchanged for.
    writer: tokio::sync::Mutex<Vec<u8>>,
    /// Held by the one who syncs: how many lines are on the disk.
    synced: tokio::sync::Mutex<u64>,
    redactor: Redactor,
}

/// Lines that are to be written.
#[derive(Debug, Default)]
struct Queue {
    lines: Vec<u8>,
    /// How many lines there were, those that are written included: the number of the last one.
    appended: u64,
    /// Nothing is written after a failure, since a line may have been cut off.
    has_failed: bool,
}

/// Most lines are not longer.
const USUAL: usize = 1024;

/// A buffer that has grown past this is not kept.
const LARGE: usize = 1 << 20;

impl Journal {
    /// Starts a journal in a file that must not exist.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn create(path: &Path) -> io::Result<Journal> {
        let file = private::options().read(true).append(true).create_new(true).open(path)?;
        // Nobody else knows of it yet. Where files can't be locked, it is written without a lock.
        let _ = file.try_lock();
        Ok(Journal::after(Arc::new(file), 0))
    }

    /// The journal in this file, of which so many lines are written.
    pub(super) fn after(file: Arc<File>, lines: u64) -> Journal {
        Journal {
            file,
            queue: Mutex::new(Queue { appended: lines, ..Queue::default() }),
            written: AtomicU64::new(lines),
            writer: tokio::sync::Mutex::default(),
            synced: tokio::sync::Mutex::new(lines),
            redactor: Redactor::default(),
        }
    }

    /// This journal, with a redactor that clears every entry.
    pub fn with_redactor(mut self, redactor: Redactor) -> Journal {
        self.redactor = redactor;
        self
    }

    /// Queues an entry, without secrets: what will be written is returned. [`Journal::written`] waits until it is.
    ///
    /// # Errors
    /// That an earlier entry could not be written: the run must not go on.
    pub fn append<'e>(&self, entry: &'e Entry) -> io::Result<Cow<'e, Entry>> {
        let mut line = Vec::with_capacity(USUAL);
        serde_json::to_writer(&mut line, entry)?;
        let mut entry = Cow::Borrowed(entry);
        if let Some(cleared) = self.redactor.cleared(&*entry, &line)? {
            if let Some(trial) = entry.trial().filter(|_| entry.is_gone_on_with()) {
                // It comes first, so that no entry is kept without it.
                self.push(serde_json::to_vec(&Entry::TextsCleared { trial })?)?;
            }
            line.clear();
            serde_json::to_writer(&mut line, &cleared)?;
            entry = Cow::Owned(cleared);
        }
        self.push(line)?;
        Ok(entry)
    }

    /// Queues an entry, without secrets, that is at hand as something else which is written in the same way.
    ///
    /// # Errors
    /// Those of [`Journal::append`].
    pub fn append_written(&self, entry: &impl Serialize) -> io::Result<()> {
        let mut line = Vec::with_capacity(USUAL);
        serde_json::to_writer(&mut line, entry)?;
        match self.redactor.is_clean(&line) {
            true => self.push(line),
            false => self.append(&serde_json::from_slice(&line)?).map(drop),
        }
    }

    /// Queues a line.
    fn push(&self, mut line: Vec<u8>) -> io::Result<()> {
        // Its last brace comes after the number and the checksum.
        line.pop();
        let checksum = line::checksum(&line);
        let mut queue = self.queue();
        queue.check()?;
        queue.appended += 1;
        let number = queue.appended;
        line::push(&mut queue.lines, &line, number, checksum);
        Ok(())
    }

    /// Waits until all entries that were appended so far are in the kernel, so that they outlive the process.
    ///
    /// # Errors
    /// Whatever the file system says, or that an earlier entry could not be written; the run must not go on.
    pub async fn written(&self) -> io::Result<()> {
        let appended = self.queue().appended;
        if self.written.load(Ordering::Acquire) >= appended {
            return Ok(());
        }
        // Whoever is ready to go on appends first: the first one who comes back writes for all.
        tokio::task::yield_now().await;
        let mut buffer = self.writer.lock().await;
        if self.written.load(Ordering::Acquire) >= appended {
            return Ok(());
        }
        self.write(&mut buffer)
    }

    /// Waits until all entries that were appended so far are on the disk, so that they outlive a crash of the machine.
    ///
    /// # Errors
    /// Those of [`Journal::written`].
    pub async fn synced(&self) -> io::Result<()> {
        let appended = self.queue().appended;
        self.written().await?;
        let mut synced = self.synced.lock().await;
        if *synced < appended {
            let written = self.written.load(Ordering::Acquire);
            let file = self.file.clone();
            tokio::task::spawn_blocking(move || file.sync_data()).await??;
            *synced = written;
        }
        Ok(())
    }

    /// Writes what is queued. The buffer is the writer's, so that nobody else writes.
    fn write(&self, buffer: &mut Vec<u8>) -> io::Result<()> {
        let appended = {
            let mut queue = self.queue();
            queue.check()?;
            std::mem::swap(&mut queue.lines, buffer);
            queue.appended
        };
        if let Err(error) = (&*self.file).write_all(buffer) {
            self.queue().has_failed = true;
            return Err(error);
        }
        buffer.clear();
        buffer.shrink_to(LARGE);
        self.written.store(appended, Ordering::Release);
        Ok(())
    }

    /// The file, open for reading too: no other descriptor is needed, and it does not matter where the file is by now.
    pub(super) fn file(&self) -> Arc<File> {
        self.file.clone()
    }

    /// How many lines there are.
    pub(super) fn lines(&self) -> usize {
        self.queue().appended as usize
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn check(&self) -> io::Result<()> {
        match self.has_failed {
            true => Err(io::Error::other("an earlier entry could not be written")),
            false => Ok(()),
        }
    }
}

impl Drop for Journal {
    /// Writes what nobody waited for.
    fn drop(&mut self) {
        let mut buffer = std::mem::take(self.writer.get_mut());
        // Nobody is left to report it to.
        let _ = self.write(&mut buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;
    use crate::store::folder::read_journal;

    fn journal() -> (tempfile::TempDir, std::path::PathBuf, Journal) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.ndjson");
        let journal = Journal::create(&path).unwrap();
        (dir, path, journal)
    }

    fn user_said(trial: u32, turn: u32, text: &str) -> Entry {
        Entry::UserSaid { trial, turn, text: text.to_owned(), farewell: None, used_ms: None }
    }

    fn journal_bytes() -> Vec<u8> {
        let (_dir, path, journal) = journal();
        for turn in 1..=3 {
            journal.append(&user_said(1, turn, "naïve\n\"quoted\" \u{1b}")).unwrap();
        }
        drop(journal);
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn every_prefix_of_a_journal_reads_as_its_whole_lines() {
        let bytes = journal_bytes();
        for end in 0..=bytes.len() {
            let whole = bytes[..end].iter().filter(|byte| **byte == b'\n').count();
            let text = read_journal(&bytes[..end]);
            assert_eq!(text.entries.len(), whole, "at byte {end}");
            assert_eq!(text.damaged, None, "at byte {end}");
            assert_eq!(text.cut_off > 0, end > 0 && bytes[end - 1] != b'\n', "at byte {end}");
        }
    }

    #[test]
    fn no_spelling_of_a_secret_reaches_the_disk_and_what_will_be_written_is_returned() {
        let (_dir, path, journal) = journal();
        let redactor = Redactor::default();
        let journal = journal.with_redactor(redactor.clone());
        redactor.learn(&Secret::new("sk-canary/\"1\""));
        let secret = user_said(1, 1, "it is sk-canary/\"1\", or c2stY2FuYXJ5LyIxIg==");
        let written = journal.append(&secret).unwrap().into_owned();
        assert_eq!(written, user_said(1, 1, "it is ***, or ***"));
        let harmless = user_said(1, 2, "nothing");
        assert!(matches!(journal.append(&harmless).unwrap(), Cow::Borrowed(_)));
        for entry in [&secret, &harmless] {
            journal.append_written(&serde_json::to_value(entry).unwrap()).unwrap();
        }
        drop(journal);
        let mark = Entry::TextsCleared { trial: 1 };
        let entries = [mark.clone(), written.clone(), harmless.clone(), mark, written, harmless];
        assert_eq!(read_journal(&std::fs::read(&path).unwrap()).entries, entries);
    }

    #[test]
    fn a_damaged_line_is_named_and_all_others_are_kept() {
        let bytes = journal_bytes();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let altered = lines[1].iter().map(|byte| if *byte == b'q' { b'Q' } else { *byte }).collect::<Vec<u8>>();
        let is_damaged = |lines: &[&[u8]], line: usize, kept: usize, why: &str| {
            let text = read_journal(&lines.concat());
            assert_eq!(text.entries.len(), kept);
            assert_eq!(text.damaged.map(|(line, damage)| (line, damage.to_string())), Some((line, why.to_owned())));
        };
        is_damaged(&[lines[0], &altered, lines[2]], 2, 2, "it was altered: its checksum is another one");
        is_damaged(&[lines[0], lines[2]], 2, 2, "entry 2 was deleted before it");
        is_damaged(&[lines[2]], 1, 1, "entries 1 to 2 were deleted before it");
        is_damaged(&[lines[0], lines[1], lines[1], lines[2]], 3, 3, "it is entry 2, which does not belong here");
        is_damaged(&[lines[0], b"{}\n", lines[2]], 2, 2, "it has no number and no checksum at its end");
        let crlf = String::from_utf8(bytes.clone()).unwrap().replace('\n', "\r\n");
        assert_eq!(
            read_journal(crlf.as_bytes()),
            read_journal(&bytes),
            "nothing is lost where ends of lines are converted"
        );
        assert_eq!(read_journal(&[b"\xEF\xBB\xBF".as_slice(), &bytes].concat()), read_journal(&bytes));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn what_several_tasks_append_at_once_is_line_by_line_and_each_in_its_order() {
        let (_dir, path, journal) = journal();
        let journal = Arc::new(journal);
        let append = |trial: u32| {
            let journal = journal.clone();
            let path = path.clone();
            async move {
                for turn in 0..50 {
                    journal.append(&user_said(trial, turn, &"x".repeat(turn as usize * 400))).unwrap();
                    journal.written().await.unwrap();
                    if turn % 10 == 0 {
                        journal.synced().await.unwrap();
                    }
                }
                // Also while others go on.
                let read = read_journal(&std::fs::read(&path).unwrap());
                let own = |entry: &&Entry| matches!(entry, Entry::UserSaid { trial: it, .. } if *it == trial);
                assert_eq!(read.entries.iter().filter(own).count(), 50);
            }
        };
        let tasks: Vec<_> = (0..8).map(|trial| tokio::spawn(append(trial))).collect();
        for task in tasks {
            task.await.unwrap();
        }
        let read = read_journal(&std::fs::read(&path).unwrap());
        assert_eq!((read.entries.len(), read.cut_off, read.damaged), (400, 0, None));
        let mut next = [0; 8];
        for entry in read.entries {
            let Entry::UserSaid { trial, turn, .. } = entry else { panic!("{entry:?}") };
            assert_eq!(std::mem::replace(&mut next[trial as usize], turn + 1), turn);
        }
    }

    #[tokio::test]
    async fn what_is_ready_at_the_same_time_is_written_at_once() {
        let (_dir, path, journal) = journal();
        let turn = async |number| {
            journal.append(&user_said(1, number, "a")).unwrap();
            journal.written().await.unwrap();
            read_journal(&std::fs::read(&path).unwrap()).entries.len()
        };
        let (one, two, three) = tokio::join!(turn(1), turn(2), turn(3));
        assert_eq!((one, two, three), (3, 3, 3));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn nothing_is_kept_after_a_failure() {
        let (_dir, _, mut journal) = journal();
        journal.file = Arc::new(std::fs::OpenOptions::new().append(true).open("/dev/full").unwrap());
        journal.append(&user_said(1, 1, "a")).unwrap();
        assert!(journal.written().await.is_err());
        assert!(journal.append(&user_said(1, 2, "b")).is_err());
        assert!(journal.synced().await.is_err());
    }

    #[test]
    fn a_journal_is_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.ndjson");
        std::fs::write(&path, "kept").unwrap();
        assert!(Journal::create(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
    }
}
