//! Whether somebody listens at an address, without a request that means anything.

use std::io;
use std::time::Duration;

use reqwest::{Method, Url};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::address::{is_loopback, shown};
use super::{HttpClient, HttpFault, HttpFaultKind};

impl HttpClient {
    /// Whether somebody listens there. Of a plain address only the connection is tried, which no server takes for a request;
    /// over TLS, and behind a proxy, a `HEAD` is sent, whatever it is answered.
    pub async fn reach(&self, url: &Url, behind_proxy: bool, limit: Duration) -> Result<(), HttpFault> {
        let place = shown(url).trim_end_matches('/').to_owned();
        let is_secure = matches!(url.scheme(), "https" | "wss");
        if !is_secure && (is_loopback(url) || !behind_proxy) {
            let what = match timeout(limit, connect(url)).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(what)) => what,
                Err(_) => "no connection: the host did not answer in time".to_owned(),
            };
            return Err(HttpFault::new(HttpFaultKind::Unreachable, &place, what));
        }
        let mut asked = url.clone();
        let scheme = if is_secure { "https" } else { "http" };
        if asked.set_scheme(scheme).is_err() {
            return Err(HttpFault::new(HttpFaultKind::Unsendable, &place, "the address is none of a server"));
        }
        asked.set_path("/");
        asked.set_query(None);
        let request = self.reqwest(&asked, &place)?.request(Method::HEAD, asked.clone());
        match timeout(limit, request.send()).await {
            Ok(Err(error)) => match HttpFault::from_send_error(error, &place, url) {
                fault if fault.kind.maybe_received() => Ok(()),
                fault => Err(fault),
            },
            // Whoever takes a connection and says nothing is there; what it is worth, the conversation shows.
            Ok(Ok(_)) | Err(_) => Ok(()),
        }
    }
}

/// Tries every address of the host. The error says why none took the connection.
async fn connect(url: &Url) -> Result<(), String> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port().unwrap_or(80);
    let Ok(addresses) = lookup_host((host, port)).await else {
        return Err("no connection: the host name was not found".to_owned());
    };
    let mut trouble = None;
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(_) => return Ok(()),
            Err(error) => trouble = Some(error),
        }
    }
    Err(match trouble {
        Some(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            "no connection: it was refused; nothing listens there".to_owned()
        }
        Some(error) => format!("no connection ({error})"),
        None => "no connection: the host name was not found".to_owned(),
    })
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
    async fn a_host_that_is_not_there_and_tls_that_is_none_are_told() {
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
