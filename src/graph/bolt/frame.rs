//! Messages in chunks: two bytes of size, the chunk, and a size of zero at a message's end.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Limits on reading a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrameLimits {
    /// The most bytes of a message.
    pub(super) size: usize,
    /// The longest that a message may take from its first byte to its last.
    pub(super) time: Duration,
}

/// Reads the next message; `None` when the client hung up between two. The limits are asked for when its first byte is
/// there, as a client earns wider ones.
pub(super) async fn read(
    stream: &mut (impl AsyncRead + Unpin),
    bounds: impl Fn() -> FrameLimits,
) -> io::Result<Option<Vec<u8>>> {
    loop {
        let mut size = [0u8; 2];
        if stream.read(&mut size[..1]).await? == 0 {
            return Ok(None);
        }
        let bounds = bounds();
        let rest = async {
            stream.read_exact(&mut size[1..]).await?;
            chunks(stream, u16::from_be_bytes(size), bounds.size).await
        };
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "a message was begun and not finished in time");
        let message = tokio::time::timeout(bounds.time, rest).await.map_err(late)??;
        // An empty one only says that the client is still there.
        if !message.is_empty() {
            return Ok(Some(message));
        }
    }
}

async fn chunks(stream: &mut (impl AsyncRead + Unpin), first: u16, limit: usize) -> io::Result<Vec<u8>> {
    let mut message = Vec::new();
    let mut size = usize::from(first);
    while size > 0 {
        if message.len() + size > limit {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a message is larger than the limit of {limit} bytes"),
            ));
        }
        let start = message.len();
        message.resize(start + size, 0);
        stream.read_exact(&mut message[start..]).await?;
        size = usize::from(stream.read_u16().await?);
    }
    Ok(message)
}

/// Appends a message in chunks. `build` appends the message's bytes.
pub(super) fn write(out: &mut Vec<u8>, build: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0, 0]);
    build(out);
    let size = out.len() - start - 2;
    match u16::try_from(size) {
        Ok(size) => out[start..start + 2].copy_from_slice(&size.to_be_bytes()),
        Err(_) => {
            let message = out.split_off(start + 2);
            out.truncate(start);
            for chunk in message.chunks(usize::from(u16::MAX)) {
                out.extend_from_slice(&(chunk.len() as u16).to_be_bytes());
                out.extend_from_slice(chunk);
            }
        }
    }
    out.extend_from_slice(&[0, 0]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOUNDS: FrameLimits = FrameLimits { size: 200_000, time: Duration::from_secs(5) };

    fn all(bytes: &[u8], bounds: FrameLimits) -> io::Result<Vec<Vec<u8>>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        runtime.block_on(async {
            let (mut stream, mut messages) = (bytes, Vec::new());
            while let Some(message) = read(&mut stream, || bounds).await? {
                messages.push(message);
            }
            Ok(messages)
        })
    }

    #[test]
    fn messages_of_any_size_come_through_whole() {
        let messages: Vec<Vec<u8>> = [1, 2, 65_535, 65_536, 140_000].map(|size| vec![7; size]).to_vec();
        let mut bytes = vec![0, 0, 0, 0];
        for message in &messages {
            write(&mut bytes, |out| out.extend_from_slice(message));
            bytes.extend_from_slice(&[0, 0]);
        }
        assert_eq!(all(&bytes, BOUNDS).unwrap(), messages);
    }

    #[test]
    fn a_message_over_the_limit_is_refused() {
        let mut bytes = Vec::new();
        write(&mut bytes, |out| out.extend_from_slice(&[7; 100]));
        assert!(all(&bytes, FrameLimits { size: 100, ..BOUNDS }).is_ok());
        assert_eq!(all(&bytes, FrameLimits { size: 99, ..BOUNDS }).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[tokio::test]
    async fn a_message_that_never_ends_is_given_up() {
        let (mut client, mut server) = tokio::io::duplex(64);
        tokio::io::AsyncWriteExt::write_all(&mut client, &[0, 9, 1]).await.unwrap();
        assert_eq!(
            read(&mut server, || FrameLimits { time: Duration::from_millis(20), ..BOUNDS }).await.unwrap_err().kind(),
            io::ErrorKind::TimedOut
        );
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..200)) {
            let _ = all(&bytes, BOUNDS);
        }
    }
}
