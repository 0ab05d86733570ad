//! A WebSocket server on loopback that does what a test says.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame as WireFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{self, Message};

/// What a server does, one after the other.
#[derive(Debug, Clone)]
pub enum Do {
    Send(String),
    Binary(Vec<u8>),
    /// Bytes that say that they are a text.
    AsText(Vec<u8>),
    /// The same text until the client has had enough.
    Endless(String),
    /// Waits as long.
    Wait(Duration),
    /// Notes how long ago the message came, in milliseconds.
    Note(Arc<Mutex<Vec<f64>>>),
    /// Waits for the pong.
    Ping,
    Close(u16, &'static str),
    /// Ends the connection without a word.
    Drop,
}

type Script = dyn Fn(usize, &str) -> Vec<Do> + Send + Sync;

/// A WebSocket server that does something when a client has come, and after each message.
#[derive(Clone, Default)]
pub struct Peer {
    /// `ws://127.0.0.1:PORT`
    pub url: String,
    received: Arc<Mutex<Vec<String>>>,
    headers: Arc<Mutex<Vec<(String, String)>>>,
    shaken: Arc<AtomicUsize>,
    /// Told when a ping was answered.
    pub pong: Arc<Notify>,
    /// Told when a client says goodbye.
    pub goodbye: Arc<Notify>,
}

impl Peer {
    /// Does this first, and this after each message of a connection, the last for ever.
    pub async fn start(first: Vec<Do>, answers: Vec<Vec<Do>>) -> Peer {
        let answer = move |nth: usize, _: &str| answers[nth.min(answers.len() - 1)].clone();
        Peer::answering(Vec::new(), first, answer).await
    }

    /// Refuses as many handshakes with these statuses; each message of a connection is answered by its number, counted from
    /// 0, and its text.
    pub async fn answering(
        refusals: Vec<u16>,
        first: Vec<Do>,
        answer: impl Fn(usize, &str) -> Vec<Do> + Send + Sync + 'static,
    ) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let peer = Peer { url: format!("ws://{}", listener.local_addr().unwrap()), ..Peer::default() };
        let (accepting, answer): (_, Arc<Script>) = (peer.clone(), Arc::new(answer));
        tokio::spawn(async move {
            let mut refusals = refusals.into_iter();
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                let (peer, first, answer, refusal) =
                    (accepting.clone(), first.clone(), Arc::clone(&answer), refusals.next());
                tokio::spawn(async move { peer.serve(stream, refusal, first, &*answer).await });
            }
        });
        peer
    }

    async fn serve(&self, stream: TcpStream, refusal: Option<u16>, first: Vec<Do>, answer: &Script) -> Option<()> {
        #[expect(clippy::result_large_err, reason = "the library's callback")]
        let shake = |request: &Request, mut response: Response| {
            let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
            let mut headers = self.headers.lock().unwrap();
            headers.extend(request.headers().iter().map(|(name, value)| (name.to_string(), text(value))));
            headers.push((":path".to_owned(), request.uri().to_string()));
            if request.headers().contains_key("sec-websocket-protocol") {
                response.headers_mut().insert("sec-websocket-protocol", "chat.v1".parse().unwrap());
            }
            self.shaken.fetch_add(1, Ordering::SeqCst);
            match refusal {
                None => Ok(response),
                Some(status) => {
                    let refused =
                        tungstenite::http::Response::builder().status(status).header("retry-after", "0").body(None);
                    Err(refused.unwrap())
                }
            }
        };
        let mut socket = tokio_tungstenite::accept_hdr_async(stream, shake).await.ok()?;
        let (mut due, mut came) = (first, Instant::now());
        let mut number = 0;
        loop {
            for what in due {
                match what {
                    Do::Send(text) => socket.send(Message::text(text)).await.ok()?,
                    Do::Binary(bytes) => socket.send(Message::binary(bytes)).await.ok()?,
                    Do::AsText(bytes) => {
                        let frame = WireFrame::message(bytes, OpCode::Data(Data::Text), true);
                        socket.send(Message::Frame(frame)).await.ok()?;
                    }
                    Do::Endless(text) => loop {
                        socket.send(Message::text(text.clone())).await.ok()?;
                    },
                    Do::Wait(time) => tokio::time::sleep(time).await,
                    Do::Note(took) => took.lock().unwrap().push(came.elapsed().as_secs_f64() * 1000.0),
                    Do::Ping => {
                        socket.send(Message::Ping("are you there?".into())).await.ok()?;
                        let Some(Ok(Message::Pong(_))) = socket.next().await else { return None };
                        self.pong.notify_one();
                    }
                    Do::Close(code, reason) => {
                        let frame = CloseFrame { code: code.into(), reason: reason.into() };
                        socket.close(Some(frame)).await.ok()?;
                        while socket.next().await.is_some() {}
                        return None;
                    }
                    Do::Drop => return None,
                }
            }
            let message = socket.next().await?.ok()?;
            if message.is_close() {
                self.goodbye.notify_one();
                return None;
            }
            came = Instant::now();
            let text = message.into_text().ok()?.to_string();
            due = answer(number, &text);
            self.received.lock().unwrap().push(text);
            number += 1;
        }
    }

    /// How many handshakes there were.
    pub fn handshakes(&self) -> usize {
        self.shaken.load(Ordering::SeqCst)
    }

    /// All texts so far, in order.
    pub fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }

    /// A header of the handshakes so far; `:path` is what they asked for.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers.lock().unwrap().iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }
}
