//! Checks whether a server listens at an address, without a meaningful request.

use std::io;
use std::time::Duration;

use reqwest::{Method, Url};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::address::{is_loopback, shown};
use super::{HttpClient, HttpFault, HttpFaultKind};

impl HttpClient {
    /// Checks whether a server listens there. Without TLS and proxy only a connection is opened; otherwise a `HEAD` is sent,
    /// and any answer will do.
    pub async fn reach(&self, url: &Url, behind_proxy: bool, limit: Duration) -> Result<(), HttpFault> {
        let place = shown(url).trim_end_matches('/').to_owned();
        let is_secure = matches!(url.scheme(), "https" | "wss");
        if !is_secure && (is_loopback(url) || !behind_proxy) {
            let connected = timeout(limit, connect(url)).await.unwrap_or(Err(ConnectError::Timeout));
            return connected.map_err(|error| HttpFault::new(HttpFaultKind::Unreachable, &place, error));
        }
        let mut asked = url.clone();
        let scheme = if is_secure { "https" } else { "http" };
        if asked.set_scheme(scheme).is_err() {
            return Err(HttpFault::new(HttpFaultKind::Unsendable, &place, "the address names no server"));
        }
        asked.set_path("/");
        asked.set_query(None);
        let request = self.reqwest(&asked, &place)?.request(Method::HEAD, asked.clone());
        match timeout(limit, request.send()).await {
            Ok(Err(error)) => match HttpFault::from_send_error(error, &place, url) {
                fault if fault.kind.maybe_received() => Ok(()),
                fault => Err(fault),
            },
            // A server that accepts a connection without answering is there.
            Ok(Ok(_)) | Err(_) => Ok(()),
        }
    }
}

/// Why no connection could be opened.
#[derive(Debug, thiserror::Error)]
enum ConnectError {
    #[error("no connection: the host name was not found")]
    UnknownHost,
    #[error("no connection: it was refused; nothing listens there")]
    Refused,
    #[error("no connection: the host did not answer in time")]
    Timeout,
    #[error("no connection ({0})")]
    Io(io::Error),
}

/// Connects to the first address of the host that accepts. The error is that of the last one.
async fn connect(url: &Url) -> Result<(), ConnectError> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port().unwrap_or(80);
    let mut last = ConnectError::UnknownHost;
    for address in lookup_host((host, port)).await.map_err(|_| ConnectError::UnknownHost)? {
        last = match TcpStream::connect(address).await {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => ConnectError::Refused,
            Err(error) => ConnectError::Io(error),
        };
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    async fn reach(address: &str) -> Result<(), HttpFault> {
        HttpClient::new().reach(&Url::parse(address).unwrap(), false, LIMIT).await
    }

    #[tokio::test]
    async fn whoever_takes_a_connection_is_there_whatever_it_speaks() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        for address in [format!("http://127.0.0.1:{port}/api?key=1"), format!("ws://localhost:{port}/chat")] {
            assert_eq!(reach(&address).await, Ok(()), "{address}");
        }
        drop(listener);
        let fault = reach(&format!("http://user:hush@127.0.0.1:{port}/api")).await.unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::Unreachable);
        let expected = format!("http://127.0.0.1:{port}/api: no connection: it was refused; nothing listens there");
        assert_eq!(fault.message, expected);
    }

    #[tokio::test]
    async fn a_host_that_is_not_there_and_tls_that_is_none_are_reported() {
        let fault = reach("http://no-such-host.invalid/").await.unwrap_err();
        assert_eq!(fault.message, "http://no-such-host.invalid: no connection: the host name was not found");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                use tokio::io::AsyncWriteExt;
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            }
        });
        let fault = reach(&format!("https://127.0.0.1:{port}/")).await.unwrap_err();
        assert!(fault.message.contains("TLS failed"), "{fault}");
    }
}
