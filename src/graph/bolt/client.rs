//! Writes the server's messages: they are buffered and flushed when the client is waiting for them.

use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;

use super::failure::BoltFailure;
use super::frame;
use super::packstream::{Pack, Writer, map};
use super::value::{Packer, RelationshipNumbers, ValueFormat};
use crate::graph::Value;

const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const IGNORED: u8 = 0x7e;
const FAILURE: u8 = 0x7f;

/// The size at which the buffer is flushed anyway.
const FULL: usize = 64 << 10;

/// Appends a row as the message that it is sent in.
pub(super) fn row(bytes: &mut Vec<u8>, row: &[Value], format: ValueFormat, numbers: &RelationshipNumbers) {
    frame::write(bytes, |bytes| {
        let mut packer = Packer { out: Writer(bytes), format, numbers };
        packer.out.structure(RECORD, 1);
        packer.out.list(row.len());
        row.iter().for_each(|value| packer.value(value));
    });
}

/// The way to one client.
#[derive(Debug)]
pub(super) struct ClientWriter {
    stream: OwnedWriteHalf,
    gathered: Vec<u8>,
    stall: Duration,
}

impl ClientWriter {
    /// `stall` is the longest that the client may leave something unread.
    pub(super) fn new(stream: OwnedWriteHalf, stall: Duration) -> ClientWriter {
        ClientWriter { stream, gathered: Vec::new(), stall }
    }

    pub(super) fn success<const N: usize>(&mut self, metadata: [(&str, Pack); N]) {
        self.succeed(map(metadata));
    }

    pub(super) fn succeed(&mut self, metadata: Pack) {
        self.say(Pack::Structure(SUCCESS, vec![metadata]));
    }

    pub(super) fn ignored(&mut self) {
        self.say(Pack::Structure(IGNORED, vec![]));
    }

    pub(super) fn failure(&mut self, failure: BoltFailure) {
        let metadata = map([("code", failure.code.into()), ("message", failure.message.into())]);
        self.say(Pack::Structure(FAILURE, vec![metadata]));
    }

    /// One row, as [`row`] wrote it. It waits when the client is slow to read.
    pub(super) async fn record(&mut self, row: &[u8]) -> io::Result<()> {
        self.raw(row);
        if self.gathered.len() < FULL { Ok(()) } else { self.flush().await }
    }

    /// Bytes as they are.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.gathered.extend_from_slice(bytes);
    }

    /// Sends what is gathered.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answers");
        tokio::time::timeout(self.stall, self.stream.write_all(&self.gathered)).await.map_err(late)??;
        self.gathered.clear();
        Ok(())
    }

    fn say(&mut self, message: Pack) {
        frame::write(&mut self.gathered, |bytes| super::packstream::write(bytes, &message));
    }
}
