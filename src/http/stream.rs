//! A reply that is read while it comes, timed from the last byte of its request.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::stream;
use reqwest::header::{CONTENT_LENGTH, HeaderValue};
use reqwest::{Body, Response};
use tokio::time::Sleep;

use super::address::{password, shown};
use super::exchange::{headers, read_start, redirect, size};
use super::{Call, Extra, HttpClient, HttpFault, HttpFaultKind, HttpReply};
use crate::clock::{Clock, Stopwatch};

/// What came of a call whose reply is read while it comes.
pub enum Opened {
    /// A status that is no success, with the start of its body.
    Refused(Box<HttpReply>),
    /// A success, of which the body is still to come.
    Streaming(Box<HttpStream>),
}

/// A reply of which the body is still to come. Dropping it drops the connection.
pub struct HttpStream {
    /// The head; its body is empty.
    pub head: HttpReply,
    response: Response,
    deadline: Pin<Box<Sleep>>,
    time_limit: Duration,
    read: usize,
    cap: usize,
    /// Since the request's last byte was handed to the connection.
    sent: Stopwatch,
}

impl HttpClient {
    /// Sends a request once and reads the reply's head. As with [`HttpClient::exchange`], redirects are faults, and the
    /// time limit is for the whole reply.
    pub async fn open(&self, call: Call<'_>, extra: Extra<'_>, clock: Clock) -> Result<Opened, HttpFault> {
        let place = format!("{} {}", call.method, shown(&call.url));
        let mut headers = headers(&call, &place)?;
        extra.add_to(&mut headers, &place)?;
        let secrets = call.key.iter().map(|header| header.key.clone());
        let secrets = secrets.chain(password(&call.url)).chain(extra.secrets()).collect();
        let mut request = self.reqwest(&call.url, &place)?.request(call.method, call.url.clone());
        let sent = Arc::new(OnceLock::new());
        if let Some(body) = call.body {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
            let sent = Arc::clone(&sent);
            // The connection asks for it when it is up and takes it whole: from here on the time is the server's.
            let body = stream::once(async move {
                let _ = sent.set(clock.start());
                Ok::<_, Infallible>(body)
            });
            request = request.body(Body::wrap_stream(body));
        }
        let before = clock.start();
        let mut deadline = Box::pin(tokio::time::sleep(call.time_limit));
        let response = tokio::select! {
            response = request.headers(headers).send() => {
                response.map_err(|error| HttpFault::of_sending(error, &place, &call.url))?
            }
            () = &mut deadline => {
                let what = format!("no reply within {:?}", call.time_limit);
                return Err(HttpFault::new(HttpFaultKind::Timeout, &place, what));
            }
        };
        if response.status().is_redirection() {
            return Err(redirect(&response, &call.url, &place));
        }
        let mut head = HttpReply::of_head(&response, place, secrets);
        if !head.is_success() {
            head.body = read_start(response).await;
            return Ok(Opened::Refused(Box::new(head)));
        }
        let sent = sent.get().copied().unwrap_or(before);
        let (time_limit, cap) = (call.time_limit, call.body_cap);
        Ok(Opened::Streaming(Box::new(HttpStream { head, response, deadline, time_limit, read: 0, cap, sent })))
    }
}

impl HttpStream {
    /// The next bytes; `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, HttpFault> {
        let place = &self.head.place;
        let chunk = tokio::select! {
            chunk = self.response.chunk() => chunk.map_err(|error| HttpFault::of_reading(error, place, self.read))?,
            () = &mut self.deadline => {
                let limit = self.time_limit;
                let what = format!("the reply was not complete within {limit:?}; {} bytes had come", self.read);
                return Err(HttpFault::new(HttpFaultKind::Timeout, place, what));
            }
        };
        let Some(chunk) = chunk else { return Ok(None) };
        self.read += chunk.len();
        if self.read > self.cap {
            let what = format!("the reply is longer than {}; reading stopped there", size(self.cap));
            return Err(HttpFault::new(HttpFaultKind::Unreadable, place, what));
        }
        Ok(Some(chunk.to_vec()))
    }

    /// The whole reply, of at most this many bytes.
    pub async fn whole(mut self, cap: usize) -> Result<(HttpReply, f64), HttpFault> {
        self.cap = self.cap.min(cap);
        while let Some(chunk) = self.chunk().await? {
            self.head.body.extend_from_slice(&chunk);
        }
        let elapsed = self.elapsed_ms();
        Ok((self.head, elapsed))
    }

    /// Milliseconds since the request's last byte left.
    pub fn elapsed_ms(&self) -> f64 {
        self.sent.elapsed_ms()
    }
}
