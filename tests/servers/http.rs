//! A small HTTP server that can also misbehave.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What arrived.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// What is answered.
pub enum Reply {
    /// A status and a JSON body.
    Json(u16, serde_json::Value),
    /// A status, a content type and a body.
    Body(u16, &'static str, Vec<u8>),
    /// A head that promises more than comes.
    CutOff(&'static str),
    /// As many bytes of JSON string as this.
    Endless(usize),
    /// Nothing, until the client goes away.
    Silence,
}

/// What becomes of a request for the list of models.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModelList {
    /// There is none.
    None,
    /// It is a request like any other.
    Asked,
}

type Log = Arc<Mutex<Vec<Request>>>;

/// A server on a free port of loopback; it ends with the process.
pub struct Server {
    pub address: String,
    log: Log,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Answers every request by this function, but for the list of models, of which it has none: who asks for that is not counted.
    pub fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        Server::behind(None, ModelList::None, answer)
    }

    /// Answers every request by this function.
    pub fn with_list(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        Server::behind(None, ModelList::Asked, answer)
    }

    /// The same over TLS, with the certificate of `tests/fixtures/tls`, which nobody trusts by itself. Each connection
    /// waits so long for its handshake.
    pub fn start_tls(pause: Duration, answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        Server::behind(Some((super::tls::config(), pause)), ModelList::Asked, answer)
    }

    fn behind(
        tls: Option<(Arc<rustls::ServerConfig>, Duration)>,
        list: ModelList,
        answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let address = format!("{scheme}://{}", listener.local_addr().unwrap());
        let (log, connections) = (Log::default(), Arc::new(AtomicUsize::new(0)));
        let counted = connections.clone();
        let (answer, kept) = (Arc::new(answer), log.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let (answer, kept, tls) = (answer.clone(), kept.clone(), tls.clone());
                stream.set_nodelay(true).unwrap();
                std::thread::spawn(move || match tls {
                    Some((tls, pause)) => {
                        std::thread::sleep(pause);
                        serve(super::tls::stream(tls, stream), list, answer.as_ref(), &kept);
                    }
                    None => serve(stream, list, answer.as_ref(), &kept),
                });
            }
        });
        Server { address, log, connections }
    }

    /// How many connections came, also those on which nothing could be said.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Everything that has arrived.
    pub fn requests(&self) -> Vec<Request> {
        self.log.lock().unwrap().clone()
    }
}

/// An address on which nothing listens, and on which nothing will: it stays taken to the end of the process.
pub fn nobody() -> String {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    std::mem::forget(socket);
    format!("http://{address}")
}

fn serve(stream: impl Read + Write, list: ModelList, answer: &dyn Fn(&Request) -> Reply, log: &Log) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        if list == ModelList::None && request.method == "GET" && request.path.ends_with("/models") {
            if write(reader.get_mut(), 404, "application/json", b"{}").is_err() {
                return;
            }
            continue;
        }
        log.lock().unwrap().push(request.clone());
        let stream = reader.get_mut();
        let written = match answer(&request) {
            Reply::Json(status, json) => write(stream, status, "application/json", json.to_string().as_bytes()),
            Reply::Body(status, kind, body) => write(stream, status, kind, &body),
            Reply::CutOff(body) => {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n";
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
                return;
            }
            Reply::Endless(bytes) => {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\"";
                let _ = stream.write_all(head.as_bytes());
                let piece = vec![b'x'; 1 << 16];
                for _ in 0..bytes >> 16 {
                    if stream.write_all(&piece).is_err() {
                        break;
                    }
                }
                return;
            }
            Reply::Silence => {
                let _ = stream.read(&mut [0; 1]);
                return;
            }
        };
        if written.is_err() {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}

fn write(stream: &mut impl Write, status: u16, kind: &str, body: &[u8]) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 {status} Status\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), body].concat())
}
