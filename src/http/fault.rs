//! The faults between a request and its reply.

use std::error::Error;
use std::io;
use std::net::{IpAddr, UdpSocket};

use reqwest::Url;

use super::address::is_loopback;
use super::{certificate_problem, excerpt};
use crate::descriptors;

/// Why a request has no usable reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HttpFault {
    /// The kind of fault.
    pub kind: HttpFaultKind,
    /// The call and its failure, in a sentence without secrets.
    pub message: String,
}

/// The kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpFaultKind {
    /// The request can't be made at all: a key that no header can carry, no TLS.
    Unsendable,
    /// No connection: the request was not sent.
    Unreachable,
    /// No connection, for want of a file descriptor of our own: the request was not sent.
    NoDescriptor,
    /// No connection, since this machine has no network: the request was not sent.
    NoNetwork,
    /// The server's certificate is not trusted, or is another host's: the request was not sent.
    Untrusted,
    /// The time limit ran out; the request can have arrived.
    Timeout,
    /// The connection ended after the request was sent, before any of a reply came; it can have arrived.
    Cut,
    /// The connection broke within a reply; the request can have arrived.
    Broken,
    /// A redirect, with this status.
    Redirect(u16),
    /// The reply's content type is not JSON.
    WrongType,
    /// The reply has another shape than expected: no JSON, other JSON, a web page instead of a stream.
    Unreadable,
    /// The reply has the expected shape and can't be used: empty, cut off, not UTF-8.
    Useless,
    /// The reply is longer or deeper than what is read of one ([`BODY_CAP`](super::BODY_CAP)): nobody can tell what it says.
    BeyondLimit,
}

impl HttpFaultKind {
    /// Whether the server can have received the request.
    pub fn maybe_received(self) -> bool {
        match self {
            HttpFaultKind::Unsendable
            | HttpFaultKind::Unreachable
            | HttpFaultKind::NoDescriptor
            | HttpFaultKind::NoNetwork
            | HttpFaultKind::Untrusted
            | HttpFaultKind::Redirect(_) => false,
            HttpFaultKind::Timeout
            | HttpFaultKind::Cut
            | HttpFaultKind::Broken
            | HttpFaultKind::WrongType
            | HttpFaultKind::Unreadable
            | HttpFaultKind::Useless
            | HttpFaultKind::BeyondLimit => true,
        }
    }
}

impl HttpFault {
    pub(super) fn new(kind: HttpFaultKind, place: &str, what: impl std::fmt::Display) -> HttpFault {
        HttpFault { kind, message: format!("{place}: {what}") }
    }

    /// A fault in sending a request or in waiting for the reply's head.
    pub(super) fn from_send_error(error: reqwest::Error, place: &str, url: &Url) -> HttpFault {
        // Without a descriptor a host name seems not to be known.
        let is_ours = io_errors(&error).any(descriptors::is_exhausted);
        if is_ours || (error.is_connect() && error.is_dns() && descriptors::are_exhausted()) {
            let what = format!("no connection: {}", descriptors::NONE_LEFT);
            return HttpFault::new(HttpFaultKind::NoDescriptor, place, what);
        }
        if io_kinds(&error).any(is_without_network) && has_no_network(url) {
            let what = format!("no connection: this machine has no network there ({})", cause(&error));
            return HttpFault::new(HttpFaultKind::NoNetwork, place, what);
        }
        if error.is_builder() {
            let what = format!("the request can't be made: {}", cause(&error));
            return HttpFault::new(HttpFaultKind::Unsendable, place, what);
        }
        if !error.is_connect() {
            let cause = cause(&error);
            let is_reset = io_kinds(&error).any(|kind| kind == io::ErrorKind::ConnectionReset);
            // A TLS server sends an alert, which is no HTTP, or closes the connection.
            let may_want_tls = url.scheme() == "http" && (is_reset || cause.contains("invalid HTTP version"));
            let hint = if may_want_tls { "; if TLS is spoken there, the address begins with https://" } else { "" };
            let what = format!("the connection broke before a reply came ({cause}){hint}");
            return HttpFault::new(HttpFaultKind::Cut, place, what);
        }
        if let Some(problem) = io_errors(&error).find_map(certificate_problem) {
            let what = format!("no connection: the server's certificate {problem}");
            return HttpFault::new(HttpFaultKind::Untrusted, place, what);
        }
        let what = if error.is_dns() {
            "no connection: the host name was not found".to_owned()
        } else if refused(&error) && is_loopback(url) {
            "no connection: it was refused; nothing listens there".to_owned()
        } else if refused(&error) {
            "no connection: it was refused, there or by a proxy on the way".to_owned()
        } else if error.is_timeout() {
            "no connection: the host did not answer in time".to_owned()
        } else if url.scheme() == "https" && !tcp_failed(&error) {
            let cause = cause(&error);
            let is_plain = cause.contains("InvalidContentType");
            let hint = if is_plain { "; no TLS is spoken there: the address begins with http://" } else { "" };
            format!("no connection: TLS failed ({cause}){hint}")
        } else {
            format!("no connection ({})", cause(&error))
        };
        HttpFault::new(HttpFaultKind::Unreachable, place, what)
    }

    /// A fault in reading the reply's body, of which this many bytes came.
    pub(super) fn from_read_error(error: reqwest::Error, place: &str, bytes: usize) -> HttpFault {
        let what = format!("the connection broke in the middle of the reply, after {bytes} bytes ({})", cause(&error));
        HttpFault::new(HttpFaultKind::Broken, place, what)
    }
}

/// The innermost cause, which is the informative one; the outer ones repeat the address with its user part.
fn cause(error: &reqwest::Error) -> String {
    let message = chain(error).last().map_or_else(|| "unknown cause".to_owned(), ToString::to_string);
    excerpt(&message, &[]).trim_matches('"').to_owned()
}

fn refused(error: &reqwest::Error) -> bool {
    io_kinds(error).any(|kind| kind == io::ErrorKind::ConnectionRefused)
}

/// Whether a connection failed before anything left this machine: no interface is up, or none leads there. A host that does not
/// answer is not meant.
fn is_without_network(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NetworkUnreachable | io::ErrorKind::NetworkDown)
}

/// Whether this machine itself has no way there. Of a host with addresses of both kinds only the last error is reported, which may
/// say no more than that this machine has no IPv6: then no route at all has to be there. Nothing is sent to find that out.
fn has_no_network(url: &Url) -> bool {
    let is_address = url.host_str().is_some_and(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok());
    // Addresses for documentation (RFC 5737 and 3849): whatever leads beyond this machine leads there.
    let has_route = |own: &str, other: &str| UdpSocket::bind(own).and_then(|socket| socket.connect(other)).is_ok();
    is_address || !(has_route("0.0.0.0:0", "192.0.2.1:9") || has_route("[::]:0", "[2001:db8::1]:9"))
}

/// Whether the connection failed beneath TLS.
fn tcp_failed(error: &reqwest::Error) -> bool {
    io_kinds(error).any(|kind| {
        matches!(
            kind,
            io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable
                | io::ErrorKind::AddrNotAvailable
                | io::ErrorKind::PermissionDenied
        )
    }) || chain(error).any(|cause| cause.to_string().contains("tunnel"))
}

fn io_kinds(error: &reqwest::Error) -> impl Iterator<Item = io::ErrorKind> {
    io_errors(error).map(io::Error::kind)
}

fn io_errors(error: &reqwest::Error) -> impl Iterator<Item = &io::Error> {
    chain(error).filter_map(|cause| cause.downcast_ref::<io::Error>())
}

fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_unknown_host_is_not_reported_as_a_refusal() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let url = Url::parse("http://no-such-host.invalid/").unwrap();
        let error = client.get(url.clone()).send().await.unwrap_err();
        let fault = HttpFault::from_send_error(error, "GET x", &url);
        assert_eq!(fault.kind, HttpFaultKind::Unreachable);
        assert_eq!(fault.message, "GET x: no connection: the host name was not found");
    }

    /// The result of a request to a server that answers every connection with these bytes.
    async fn message_from(scheme: &str, bytes: &'static [u8]) -> String {
        use std::io::{Read, Write};
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = Url::parse(&format!("{scheme}://{}/", listener.local_addr().unwrap())).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(bytes).unwrap();
        });
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let error = client.get(url.clone()).send().await.unwrap_err();
        server.join().unwrap();
        HttpFault::from_send_error(error, "GET x", &url).message
    }

    #[tokio::test]
    async fn the_wrong_scheme_for_a_port_names_the_right_one() {
        // An alert of TLS: unexpected message.
        let message = message_from("http", b"\x15\x03\x03\x00\x02\x02\x0a").await;
        assert!(message.ends_with("if TLS is spoken there, the address begins with https://"), "{message}");
        let message = message_from("https", b"HTTP/1.0 400 Bad Request\r\n\r\n").await;
        assert!(message.ends_with("no TLS is spoken there: the address begins with http://"), "{message}");
    }

    #[test]
    fn only_what_left_can_have_been_received() {
        use HttpFaultKind::{
            BeyondLimit, Broken, NoDescriptor, NoNetwork, Redirect, Timeout, Unreachable, Unreadable, Unsendable,
            Untrusted, Useless, WrongType,
        };
        for (kind, expected) in [
            (Unsendable, false),
            (Unreachable, false),
            (NoDescriptor, false),
            (NoNetwork, false),
            (Untrusted, false),
            (Redirect(307), false),
            (Timeout, true),
            (Broken, true),
            (WrongType, true),
            (Unreadable, true),
            (Useless, true),
            (BeyondLimit, true),
        ] {
            assert_eq!(kind.maybe_received(), expected, "{kind:?}");
        }
    }
}
