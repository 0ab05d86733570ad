//! WebSockets (RFC 6455): the handshake is a request like every other, so that certificates, the proxy and the refusal of
//! redirects are the same; then frames.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use reqwest::{Response, StatusCode, Upgraded, Url};
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::address::{password, shown};
use super::exchange::{read_start, redirect};
use super::{Extra, HttpClient, HttpFault, HttpFaultKind, HttpReply, excerpt, too_long};
use crate::secret::{Redactor, Secret};

/// The number of frames that may wait to be read.
const HELD: usize = 8;

/// The time limit of the closing handshake.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// The request for a connection. It has no `Debug`: an address can hold a password.
pub struct Handshake<'a> {
    /// `ws:`, `wss:`, or the same as `http:`, `https:`.
    pub url: Url,
    /// Headers of the user's own.
    pub headers: &'a [(String, Secret)],
    /// The subprotocols that are offered, the preferred one first.
    pub subprotocols: &'a [String],
    /// The time limit.
    pub time_limit: Duration,
    /// The longest message that is read, in bytes, in however many frames.
    pub cap: usize,
}

/// The outcome of a handshake.
pub enum HandshakeOutcome {
    /// A status that is not a success, with the start of its body.
    Refused(Box<HttpReply>),
    /// The connection is open.
    Open(Box<Socket>),
}

/// A message from the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A text.
    Text(String),
    /// The end, with a code and a reason where the server gave them; the reason is untrusted.
    Closed(Option<(u16, String)>),
}

/// An open connection. It is read all the time, so that pings are answered between messages; dropping it starts the closing
/// handshake.
pub struct Socket {
    /// The connection, as messages name it.
    place: String,
    secrets: Vec<Secret>,
    redactor: Redactor,
    outgoing: mpsc::Sender<OutgoingText>,
    incoming: mpsc::Receiver<Result<Frame, ReadFailure>>,
}

/// A text, and a channel that reports that it was sent.
type OutgoingText = (String, oneshot::Sender<()>);

/// Why nothing more can be read.
struct ReadFailure {
    kind: HttpFaultKind,
    what: String,
}

impl HttpClient {
    /// Opens a connection, once.
    pub async fn connect(&self, handshake: Handshake<'_>) -> Result<HandshakeOutcome, HttpFault> {
        let place = format!("WebSocket {}", shown(&handshake.url));
        let unsendable = |what: &str| HttpFault::new(HttpFaultKind::Unsendable, &place, what);
        let mut url = handshake.url.clone();
        let scheme = if matches!(url.scheme(), "wss" | "https") { "https" } else { "http" };
        url.set_scheme(scheme).map_err(|()| unsendable("the address is none of a WebSocket"))?;
        let key = generate_key();
        let extra = Extra { headers: handshake.headers, ..Extra::default() };
        let headers = headers(&extra, &handshake, &key, &place)?;
        let request = self.reqwest(&url, &place)?.get(url.clone()).headers(headers);
        let response = match tokio::time::timeout(handshake.time_limit, request.send()).await {
            Ok(response) => response.map_err(|error| HttpFault::from_send_error(error, &place, &url))?,
            Err(_) => {
                let what = format!("no answer to the handshake within {:?}", handshake.time_limit);
                return Err(HttpFault::new(HttpFaultKind::Timeout, &place, what));
            }
        };
        if response.status().is_redirection() {
            return Err(redirect(&response, &url, &place));
        }
        let secrets: Vec<Secret> = password(&url).into_iter().chain(extra.secrets()).collect();
        self.learn(None, &url, &extra);
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let mut reply = HttpReply::from_head(&response, place, secrets, &self.redactor);
            reply.body = read_start(response).await;
            if reply.is_success() {
                return Err(reply.unreadable("no WebSocket is there: the handshake was answered like a usual request"));
            }
            return Ok(HandshakeOutcome::Refused(Box::new(reply)));
        }
        check_handshake(&response, &handshake, &key, &place)?;
        let broken = |_| HttpFault::new(HttpFaultKind::Broken, &place, "the connection broke after the handshake");
        let upgraded = response.upgrade().await.map_err(broken)?;
        let cap = handshake.cap;
        let config = WebSocketConfig::default().max_message_size(Some(cap)).max_frame_size(Some(cap));
        let frames = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await;
        let ((outgoing, to_send), (arrived, incoming)) = (mpsc::channel(1), mpsc::channel(HELD));
        tokio::spawn(transfer_frames(frames, cap, to_send, arrived));
        Ok(HandshakeOutcome::Open(Box::new(Socket {
            place,
            secrets,
            redactor: self.redactor.clone(),
            outgoing,
            incoming,
        })))
    }
}

fn headers(extra: &Extra<'_>, handshake: &Handshake<'_>, key: &str, place: &str) -> Result<HeaderMap, HttpFault> {
    let mut headers = HeaderMap::new();
    extra.add_to(&mut headers, place)?;
    let offered = handshake.subprotocols.join(", ");
    let own: [(HeaderName, &str); 5] = [
        (CONNECTION, "Upgrade"),
        (UPGRADE, "websocket"),
        (SEC_WEBSOCKET_VERSION, "13"),
        (SEC_WEBSOCKET_KEY, key),
        (SEC_WEBSOCKET_PROTOCOL, &offered),
    ];
    for (name, value) in own.into_iter().filter(|(_, value)| !value.is_empty()) {
        let value = HeaderValue::from_str(value).map_err(|_| {
            HttpFault::new(HttpFaultKind::Unsendable, place, format!("the header `{name}` can't be sent"))
        })?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Checks that the server has accepted the handshake (RFC 6455, section 4.1).
fn check_handshake(response: &Response, handshake: &Handshake<'_>, key: &str, place: &str) -> Result<(), HttpFault> {
    let unreadable = |what: String| HttpFault::new(HttpFaultKind::Unreadable, place, what);
    let header = |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
    if header(SEC_WEBSOCKET_ACCEPT) != Some(derive_accept_key(key.as_bytes()).as_str()) {
        return Err(unreadable("the handshake's answer is none to it (Sec-WebSocket-Accept)".to_owned()));
    }
    match header(SEC_WEBSOCKET_PROTOCOL) {
        Some(chosen) if !handshake.subprotocols.iter().any(|offered| offered == chosen) => {
            Err(unreadable(format!("the server chose the subprotocol {}, which nobody offered", excerpt(chosen, &[]))))
        }
        _ => Ok(()),
    }
}

impl Socket {
    /// Sends a text and waits until it was sent.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn send(&mut self, text: String) -> Result<(), HttpFault> {
        let (confirm, confirmed) = oneshot::channel();
        let sent = self.outgoing.send((text, confirm)).await.is_ok() && confirmed.await.is_ok();
        let broken = || self.fault(HttpFaultKind::Broken, "the connection broke before a message was sent");
        if sent { Ok(()) } else { Err(broken()) }
    }

    /// The next text, or the end.
    pub async fn next(&mut self) -> Result<Frame, HttpFault> {
        match self.incoming.recv().await {
            None => Ok(Frame::Closed(None)),
            Some(Ok(frame)) => Ok(frame),
            Some(Err(ReadFailure { kind, what })) => Err(self.fault(kind, &self.hidden(&what))),
        }
    }

    /// The next text or the end, if it has come already; `None` where nothing has.
    pub async fn arrived(&mut self) -> Option<Result<Frame, HttpFault>> {
        // The task that reads the connection goes on only when it is let: it may hold frames for which there was no room.
        tokio::task::yield_now().await;
        match self.incoming.try_recv().ok()? {
            Ok(frame) => Some(Ok(frame)),
            Err(ReadFailure { kind, what }) => Some(Err(self.fault(kind, &self.hidden(&what)))),
        }
    }

    /// A fault of this connection.
    pub fn fault(&self, kind: HttpFaultKind, what: &str) -> HttpFault {
        HttpFault::new(kind, &self.place, what)
    }

    /// An excerpt of untrusted text from this connection, in quotes and without secrets.
    pub fn quote(&self, text: &str) -> String {
        excerpt(&self.redactor.redact(text), &self.secrets)
    }

    fn hidden(&self, text: &str) -> String {
        self.quote(text).trim_matches('"').to_owned()
    }
}

/// Transfers frames both ways until one side closes. A frame is read only when there is room for it.
async fn transfer_frames(
    mut frames: WebSocketStream<Upgraded>,
    cap: usize,
    mut to_send: mpsc::Receiver<OutgoingText>,
    arrived: mpsc::Sender<Result<Frame, ReadFailure>>,
) {
    loop {
        let room_then_frame = async {
            match arrived.reserve().await {
                Ok(room) => Some((room, frames.next().await)),
                Err(_) => None,
            }
        };
        tokio::select! {
            outgoing = to_send.recv() => match outgoing {
                Some((text, confirm)) => {
                    if frames.send(Message::text(text)).await.is_ok() {
                        let _ = confirm.send(());
                    }
                    // The error is read next.
                }
                None => {
                    let _ = tokio::time::timeout(CLOSE_LIMIT, frames.close(None)).await;
                    return;
                }
            },
            read = room_then_frame => match read {
                Some((_, Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))))) => {}
                Some((room, Some(Ok(Message::Text(text))))) => room.send(Ok(Frame::Text(text.to_string()))),
                Some((room, last)) => {
                    room.send(end(last, cap));
                    let closing = async { while let Some(Ok(_)) = frames.next().await {} };
                    let _ = tokio::time::timeout(CLOSE_LIMIT, closing).await;
                    return;
                }
                None => return,
            },
        }
    }
}

/// Interprets the last message of a connection.
fn end(last: Option<Result<Message, Error>>, cap: usize) -> Result<Frame, ReadFailure> {
    let failure = |kind, what| Err(ReadFailure { kind, what });
    match last {
        Some(Ok(Message::Close(Some(frame)))) => Ok(Frame::Closed(Some((frame.code.into(), frame.reason.to_string())))),
        Some(Ok(Message::Binary(bytes))) => {
            let what = format!("a binary frame of {} bytes came; only texts can be read", bytes.len());
            failure(HttpFaultKind::Unreadable, what)
        }
        None | Some(Ok(_) | Err(Error::ConnectionClosed | Error::AlreadyClosed)) => Ok(Frame::Closed(None)),
        Some(Err(Error::Capacity(_))) => failure(HttpFaultKind::BeyondLimit, too_long("a frame", cap)),
        Some(Err(Error::Utf8(_))) => failure(HttpFaultKind::Useless, "a text frame is not valid UTF-8".to_owned()),
        Some(Err(Error::Io(_) | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake))) => {
            failure(HttpFaultKind::Broken, "the connection broke".to_owned())
        }
        Some(Err(other)) => failure(HttpFaultKind::Unreadable, format!("what came is no WebSocket frame: {other}")),
    }
}
