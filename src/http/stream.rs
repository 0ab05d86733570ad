//! A streamed reply, timed from the last byte of its request.

use std::borrow::Cow;
use std::pin::Pin;
use std::time::Duration;

use reqwest::Response;
use tokio::time::Sleep;

use super::address::{password, shown};
use super::exchange::{headers, read_start};
use super::send::{RequestHead, SendTiming};
use super::{Call, Extra, HttpClient, HttpFault, HttpFaultKind, HttpReply, too_long};
use crate::clock::{Clock, Stopwatch};

/// The outcome of a call with a streamed reply.
pub enum Opened {
    /// A status that is not a success, with the start of its body.
    Refused(Box<HttpReply>),
    /// A success, with a body still to be read.
    Streaming(Box<HttpStream>),
}

/// A reply with a body still to be read. Dropping it closes the connection.
pub struct HttpStream {
    /// The head; its body is empty.
    pub head: HttpReply,
    response: Response,
    deadline: Pin<Box<Sleep>>,
    time_limit: Duration,
    read: usize,
    cap: usize,
    /// Since the request's last byte was given to the connection.
    sent: Stopwatch,
    /// The time of the last byte so far.
    last_ms: f64,
    characters: Utf8Check,
}

impl HttpClient {
    /// Sends a request once and reads the reply's head. As with [`HttpClient::exchange`], redirects are faults, and the
    /// time limit is for the whole reply.
    pub async fn open(&self, call: Call<'_>, extra: Extra<'_>, clock: Clock) -> Result<Opened, HttpFault> {
        self.begin(call, extra, SendTiming::By(clock)).await
    }

    /// Sends a request once and reads the reply's head, timed or not.
    pub(super) async fn begin(
        &self,
        call: Call<'_>,
        extra: Extra<'_>,
        timing: SendTiming,
    ) -> Result<Opened, HttpFault> {
        let place = format!("{} {}", call.method, shown(&call.url));
        let mut headers = headers(&call, &place)?;
        extra.add_to(&mut headers, &place)?;
        let secrets = call.key.iter().map(|header| header.key.clone());
        let secrets = secrets.chain(password(&call.url)).chain(extra.secrets()).collect();
        self.learn(call.key.map(|header| header.key), &call.url, &extra);
        let (time_limit, cap) = (call.time_limit, call.body_cap);
        let mut deadline = Box::pin(tokio::time::sleep(time_limit));
        let (response, sent) =
            self.send(call, RequestHead { headers, place: &place }, timing, deadline.as_mut()).await?;
        let mut head = HttpReply::from_head(&response, place, secrets, &self.redactor);
        if !head.is_success() {
            head.body = read_start(response).await;
            return Ok(Opened::Refused(Box::new(head)));
        }
        let last_ms = sent.elapsed_ms();
        Ok(Opened::Streaming(Box::new(HttpStream {
            head,
            response,
            deadline,
            time_limit,
            read: 0,
            cap,
            sent,
            last_ms,
            characters: Utf8Check::default(),
        })))
    }
}

impl HttpStream {
    /// The next bytes; `None` at the end. Invalid UTF-8 is a fault.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, HttpFault> {
        let before = self.read;
        let Some(bytes) = self.bytes().await? else { return Ok(None) };
        match self.characters.take(&bytes) {
            None => Ok(Some(bytes)),
            Some(at) => {
                let quoted = self.head.quote(&String::from_utf8_lossy(&bytes));
                let what =
                    format!("the reply is not valid UTF-8 (byte {}): {quoted}", before.saturating_add_signed(at));
                Err(self.head.malformed(&what))
            }
        }
    }

    async fn bytes(&mut self) -> Result<Option<Vec<u8>>, HttpFault> {
        let place = &self.head.place;
        let chunk = tokio::select! {
            chunk = self.response.chunk() => chunk.map_err(|error| HttpFault::from_read_error(error, place, self.read))?,
            () = &mut self.deadline => {
                let limit = self.time_limit;
                let what = format!("the reply was not complete within {limit:?}; {} bytes had come", self.read);
                return Err(HttpFault::new(HttpFaultKind::Timeout, place, what));
            }
        };
        let Some(chunk) = chunk else { return Ok(None) };
        self.last_ms = self.sent.elapsed_ms();
        self.read += chunk.len();
        if self.read > self.cap {
            return Err(self.too_long());
        }
        Ok(Some(chunk.to_vec()))
    }

    fn too_long(&self) -> HttpFault {
        HttpFault::new(HttpFaultKind::BeyondLimit, &self.head.place, too_long("the reply", self.cap))
    }

    /// The whole reply, of at most this many bytes, and the milliseconds to its last one.
    pub async fn whole(mut self, cap: usize) -> Result<(HttpReply, f64), HttpFault> {
        self.cap = self.cap.min(cap);
        if self.response.content_length().is_some_and(|length| length > self.cap as u64) {
            return Err(self.too_long());
        }
        while let Some(bytes) = self.bytes().await? {
            self.head.body.extend_from_slice(&bytes);
        }
        Ok((self.head, self.last_ms))
    }

    /// Milliseconds from the request's last byte to the last byte received so far.
    pub fn elapsed_ms(&self) -> f64 {
        self.last_ms
    }
}

/// Checks that bytes that come in pieces are UTF-8.
#[derive(Debug, Default)]
struct Utf8Check {
    /// The beginning of a character that the next piece must continue: at most three bytes.
    begun: Vec<u8>,
}

impl Utf8Check {
    /// The offset of the first invalid byte, counted from the beginning of this piece.
    fn take(&mut self, piece: &[u8]) -> Option<isize> {
        let begun = std::mem::take(&mut self.begun);
        let bytes = if begun.is_empty() { Cow::Borrowed(piece) } else { Cow::Owned([&begun, piece].concat()) };
        let error = str::from_utf8(&bytes).err()?;
        if error.error_len().is_none() {
            self.begun = bytes[error.valid_up_to()..].to_vec();
            return None;
        }
        Some(error.valid_up_to().cast_signed() - begun.len().cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_may_come_in_pieces_and_a_byte_that_belongs_to_none_is_found() {
        for (pieces, expected) in [
            (&[&b"a\xc3"[..], b"\xa4b"][..], None),
            (&[b"\xf0\x9f", b"\x98", b"\x80"], None),
            (&[b"ab\xff"], Some(2)),
            (&[b"a\xc3", b"x"], Some(-1)),
        ] {
            let mut characters = Utf8Check::default();
            assert_eq!(pieces.iter().find_map(|piece| characters.take(piece)), expected, "{pieces:?}");
        }
    }
}
