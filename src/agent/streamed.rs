//! A reply that is read event by event while it comes, and timed.

use crate::http::{BODY_CAP, HttpFault, HttpReply, HttpStream, Pieces};

/// How a stream is cut into its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events.
    Sse,
    /// A line each.
    Lines,
}

/// What an event brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Took {
    Nothing,
    /// Words for the user.
    Words,
    /// The end: nothing that follows is read.
    End,
}

/// Milliseconds from the request's last byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    /// To the first words, where there were any.
    pub(super) first_ms: Option<f64>,
    /// To the last byte that was read.
    pub(super) last_ms: f64,
}

/// Reads a stream to its end, or to the event that is it. Each event's data is handed out as it is complete.
pub(super) async fn read_events(
    mut stream: HttpStream,
    framing: Framing,
    mut take: impl FnMut(&str, &HttpReply) -> Result<Took, HttpFault> + Send,
) -> Result<Times, HttpFault> {
    if stream.head.is_page() {
        let (reply, _) = stream.whole(BODY_CAP).await?;
        return Err(reply.unreadable("answered a web page instead of a stream"));
    }
    let mut first_ms = None;
    let mut pieces = match framing {
        Framing::Sse => Pieces::sse(),
        Framing::Lines => Pieces::lines(),
    };
    while let Some(chunk) = stream.chunk().await? {
        let now = stream.elapsed_ms();
        let too_long = || stream.head.amiss("an event of the stream is longer than 64 MiB; reading stopped there");
        for data in pieces.push(&chunk).ok_or_else(too_long)? {
            match take(&data, &stream.head)? {
                Took::Nothing => {}
                Took::Words => first_ms = first_ms.or(Some(now)),
                Took::End => return Ok(Times { first_ms, last_ms: now }),
            }
        }
    }
    let last_ms = stream.elapsed_ms();
    if let Some(data) = pieces.finish()
        && take(&data, &stream.head)? == Took::Words
    {
        first_ms = first_ms.or(Some(last_ms));
    }
    Ok(Times { first_ms, last_ms })
}
