//! A request on its way, and the moment at which its last byte went: from there on the time is the server's.

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

/// Whether the moment of a request's last byte is measured.
#[derive(Debug, Clone, Copy)]
pub(super) enum Timing {
    Unwanted,
    By(Clock),
}

/// How much of a body the connection is given at once: a long one is not said to have left when its first byte has.
const PIECE: usize = 16 << 10;

impl HttpClient {
    /// Sends a request and waits for the reply's head: that, and the stopwatch that has run since the request's last byte
    /// was given to the connection. Looking up the host, connecting and TLS are before that. A redirect is a fault.
    pub(super) async fn send(
        &self,
        call: Call<'_>,
        (mut headers, place): (HeaderMap, &str),
        timing: Timing,
        deadline: Pin<&mut Sleep>,
    ) -> Result<(Response, Stopwatch), HttpFault> {
        let sent = Arc::new(OnceLock::new());
        let request = self.reqwest(&call.url, place)?.request(call.method.clone(), call.url.clone());
        let bytes = call.body.unwrap_or_default();
        // The connection would send the length by itself if it knew that this body has one.
        if !bytes.is_empty() || matches!(call.method, Method::POST | Method::PUT | Method::PATCH) {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
        }
        let (clock, body) = match timing {
            // Head and body leave in one piece, which costs the system less.
            Timing::Unwanted => (Clock::system(), Body::from(bytes)),
            Timing::By(clock) => (clock, Body::wrap_stream(TimedBody { bytes, at: 0, clock, sent: Arc::clone(&sent) })),
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

/// A body that notes when its last piece is taken; one without a byte is dropped by the connection instead, as soon as
/// the head is written.
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
