//! A server on loopback that answers as a test says, also in ways that no HTTP library would: it cuts bodies, hangs,
//! closes and sends what is not HTTP.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What the server does with one request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A whole reply.
    Reply { status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8> },
    /// The head and a part of the body, then the end of the connection.
    Cut { declared: usize, body: Vec<u8> },
    /// The head and a part of the body, then nothing until the client gives up.
    Stall { declared: usize, body: Vec<u8> },
    /// A success in two pieces, each after a wait; what they really took, in milliseconds from the request's last byte, is
    /// noted just before each is written.
    Paced { content_type: &'static str, pieces: [Vec<u8>; 2], waits: [Duration; 2], took: Arc<Mutex<Vec<[f64; 2]>>> },
    /// As many bytes of JSON as this, without a declared length.
    Flood { bytes: usize },
    /// Reads the request and closes.
    Close,
    /// Reads the request and is silent until the client gives up.
    Hang,
    /// These bytes and the end of the connection.
    Raw(&'static [u8]),
    /// A JSON reply, and after a wait another one that nobody asked for.
    Twice { bodies: [String; 2], wait: Duration },
}

impl Answer {
    /// A JSON reply.
    pub fn json(status: u16, body: impl AsRef<[u8]>) -> Answer {
        Answer::of_type(status, "application/json", body)
    }

    /// A reply of another type.
    pub fn of_type(status: u16, content_type: &str, body: impl AsRef<[u8]>) -> Answer {
        let headers = vec![("content-type", content_type.to_owned())];
        Answer::Reply { status, headers, body: body.as_ref().to_vec() }
    }

    /// The same reply with one header more.
    pub fn with(mut self, name: &'static str, value: &str) -> Answer {
        if let Answer::Reply { headers, .. } = &mut self {
            headers.push((name, value.to_owned()));
        }
        self
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Received {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

type Script = dyn Fn(usize, &Received) -> Answer + Send + Sync;

/// A running server; it ends with the test's runtime.
#[derive(Clone)]
pub struct Server {
    /// `http://127.0.0.1:PORT`
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
    flooded: Arc<AtomicU64>,
    left: Arc<Notify>,
}

impl Server {
    /// Starts one; the script is asked with the request's number, counted from 0.
    pub async fn start(script: impl Fn(usize, &Received) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Server { url, received: Arc::default(), flooded: Arc::default(), left: Arc::default() };
        let (accepting, script): (_, Arc<Script>) = (server.clone(), Arc::new(script));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                let (server, script) = (accepting.clone(), Arc::clone(&script));
                tokio::spawn(async move { server.serve(stream, &*script).await });
            }
        });
        server
    }

    /// Starts one that gives these answers in order, the last one for ever.
    pub async fn with(answers: Vec<Answer>) -> Server {
        Server::start(move |number, _| answers[number.min(answers.len() - 1)].clone()).await
    }

    /// The address of a port on which nothing listens.
    pub async fn refusing() -> String {
        crate::servers::http::nobody()
    }

    /// All requests so far, in order.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// How many requests there were whose target ends like this.
    pub fn count(&self, target: &str) -> usize {
        self.received().iter().filter(|request| request.target.ends_with(target)).count()
    }

    /// How many bytes of floods were taken off the server's hands.
    pub fn flooded(&self) -> u64 {
        self.flooded.load(Ordering::SeqCst)
    }

    /// Waits until a client gives up on an answer that never ends.
    pub async fn client_left(&self) {
        self.left.notified().await;
    }

    async fn serve(&self, mut stream: TcpStream, script: &Script) -> Option<()> {
        loop {
            let request = read_request(&mut stream).await?;
            let answer = {
                let mut received = self.received.lock().unwrap();
                received.push(request.clone());
                script(received.len() - 1, &request)
            };
            match answer {
                Answer::Reply { status, headers, body } => {
                    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                    let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n", body.len());
                    stream.write_all(&[head.as_bytes(), &body].concat()).await.ok()?;
                }
                Answer::Cut { declared, body } => return self.part(&mut stream, declared, &body).await,
                Answer::Stall { declared, body } => {
                    self.part(&mut stream, declared, &body).await?;
                    return self.until_closed(&mut stream).await;
                }
                Answer::Paced { content_type, pieces, waits, took } => {
                    let since = Instant::now();
                    let length = pieces[0].len() + pieces[1].len();
                    let head =
                        format!("HTTP/1.1 200 X\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n");
                    tokio::time::sleep(waits[0]).await;
                    let first_ms = since.elapsed().as_secs_f64() * 1e3;
                    stream.write_all(&[head.as_bytes(), &pieces[0]].concat()).await.ok()?;
                    tokio::time::sleep(waits[1]).await;
                    took.lock().unwrap().push([first_ms, since.elapsed().as_secs_f64() * 1e3]);
                    stream.write_all(&pieces[1]).await.ok()?;
                }
                Answer::Flood { bytes } => return self.flood(&mut stream, bytes).await,
                Answer::Close => return None,
                Answer::Hang => return self.until_closed(&mut stream).await,
                Answer::Raw(bytes) => return stream.write_all(bytes).await.ok(),
                Answer::Twice { bodies, wait } => {
                    let reply = |body: &str| {
                        let length = body.len();
                        format!(
                            "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
                        )
                    };
                    stream.write_all(reply(&bodies[0]).as_bytes()).await.ok()?;
                    tokio::time::sleep(wait).await;
                    stream.write_all(reply(&bodies[1]).as_bytes()).await.ok()?;
                }
            }
        }
    }

    async fn until_closed(&self, stream: &mut TcpStream) -> Option<()> {
        while stream.read(&mut [0; 64]).await.is_ok_and(|bytes| bytes > 0) {}
        self.left.notify_one();
        None
    }

    async fn part(&self, stream: &mut TcpStream, declared: usize, body: &[u8]) -> Option<()> {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {declared}\r\n\r\n");
        stream.write_all(&[head.as_bytes(), body].concat()).await.ok()
    }

    async fn flood(&self, stream: &mut TcpStream, bytes: usize) -> Option<()> {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.ok()?;
        let chunk = [b"10000\r\n", &[b' '; 0x10000][..], b"\r\n"].concat();
        for _ in 0..bytes.div_ceil(0x10000) {
            stream.write_all(&chunk).await.ok()?;
            self.flooded.fetch_add(0x10000, Ordering::SeqCst);
        }
        stream.write_all(b"0\r\n\r\n").await.ok()
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 || bytes[0] == 0x16 {
            return None; // The client left, or wants TLS.
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap().split(' ').map(str::to_owned);
    let (method, target) = (first.next().unwrap(), first.next().unwrap());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = bytes.split_off(head_end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(Received { method, target, headers, body: String::from_utf8(body).unwrap() })
}
