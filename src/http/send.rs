//! Sends a request, and measures when its last byte was sent: the server's time begins there.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use futures_util::Stream;
use reqwest::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};
use reqwest::{Body, Method, Response};
use tokio::time::Sleep;

use super::exchange::redirect;
use super::{Call, HttpClient, HttpFault, HttpFaultKind};
use crate::clock::{Clock, Stopwatch};

/// Whether it is measured when a request's last byte was sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum SendTiming {
    Unmeasured,
    By(Clock),
}

/// The headers of a request, and its method and address as errors show them.
pub(super) struct RequestHead<'a> {
    pub(super) headers: HeaderMap,
    pub(super) place: &'a str,
}

/// The bytes of a body that are given to the connection at once: so a long body is not taken for sent with its first byte.
const PIECE: usize = 16 << 10;

impl HttpClient {
    /// Sends a request and waits for the reply's head. Returns it with a stopwatch that has run since the request's last byte
    /// was given to the connection, after name lookup, connecting and TLS. A redirect is a fault.
    pub(super) async fn send(
        &self,
        call: Call<'_>,
        head: RequestHead<'_>,
        timing: SendTiming,
        deadline: Pin<&mut Sleep>,
    ) -> Result<(Response, Stopwatch), HttpFault> {
        let RequestHead { mut headers, place } = head;
        let sent = Arc::new(OnceLock::new());
        let request = self.reqwest(&call.url, place)?.request(call.method.clone(), call.url.clone());
        let bytes = call.body.unwrap_or_default();
        // The connection does not know the length of this body.
        if !bytes.is_empty() || matches!(call.method, Method::POST | Method::PUT | Method::PATCH) {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
        }
        let (clock, body) = match timing {
            // Head and body are sent in one write, which costs less.
            SendTiming::Unmeasured => (Clock::system(), Body::from(bytes)),
            SendTiming::By(clock) => {
                (clock, Body::wrap_stream(TimedBody { bytes, at: 0, clock, sent: Arc::clone(&sent) }))
            }
        };
        let before = clock.start();
        let response = tokio::select! {
            response = request.headers(headers).body(body).send() => {
                response.map_err(|error| HttpFault::from_send_error(error, place, &call.url))?
            }
            () = deadline => {
                let what = format!("no reply within {:?}", call.time_limit);
                return Err(HttpFault::new(HttpFaultKind::Timeout, place, what));
            }
        };
        if response.status().is_redirection() {
            return Err(redirect(&response, &call.url, place));
        }
        Ok((response, sent.get().copied().unwrap_or(before)))
    }
}

/// A body that notes when its last piece is taken. An empty one is dropped by the connection instead, as soon as the head is
/// written.
struct TimedBody {
    bytes: Vec<u8>,
    at: usize,
    clock: Clock,
    sent: Arc<OnceLock<Stopwatch>>,
}

impl Stream for TimedBody {
    type Item = Result<Vec<u8>, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let (start, end) = (self.at, self.bytes.len().min(self.at + PIECE));
        self.at = end;
        if end == self.bytes.len() {
            let _ = self.sent.set(self.clock.start());
        }
        Poll::Ready((start < end).then(|| Ok(self.bytes[start..end].to_vec())))
    }
}

impl Drop for TimedBody {
    fn drop(&mut self) {
        let _ = self.sent.set(self.clock.start());
    }
}
