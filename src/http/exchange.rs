//! One request and its reply.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, Response, Url};

use super::address::password;
use super::send::SendTiming;
use super::{Extra, HttpClient, HttpFault, HttpFaultKind, HttpReply, Opened};
use crate::secret::Secret;

/// The part of an error's body that is read, in bytes: enough for its message.
const ERROR_BODY_CAP: usize = 64 * 1024;

/// The time limit for an error's body: its status is enough.
const ERROR_BODY_LIMIT: Duration = Duration::from_secs(2);

/// A request with a JSON body, or none. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct Call<'a> {
    /// The method.
    pub method: Method,
    /// The address.
    pub url: Url,
    /// The header that carries the key, where there is one.
    pub key: Option<KeyHeader<'a>>,
    /// The JSON text to send.
    pub body: Option<Vec<u8>>,
    /// The time limit, from just before sending to the reply's last byte.
    pub time_limit: Duration,
    /// The longest reply that is read, in bytes.
    pub body_cap: usize,
}

/// A header that carries a key.
#[derive(Debug, Clone, Copy)]
pub struct KeyHeader<'a> {
    /// The header's name, in lower case.
    pub name: &'static str,
    /// The prefix of the key: `Bearer `.
    pub before: &'static str,
    /// The key.
    pub key: &'a Secret,
}

impl HttpClient {
    /// Adds a request's secrets to the redactor.
    pub(super) fn learn(&self, key: Option<&Secret>, url: &Url, extra: &Extra<'_>) {
        key.into_iter().chain(extra.secret).for_each(|secret| self.redactor.learn(secret));
        extra.headers.iter().for_each(|(name, value)| self.redactor.learn_header(name, value));
        if let Some(password) = password(url) {
            self.redactor.learn_login(url.username(), &password);
        }
    }

    /// Sends a request once and reads the reply to its last byte. Any status but a redirect is a reply; only the start of an
    /// error's body is read. Dropping the future closes the connection.
    pub async fn exchange(&self, call: Call<'_>) -> Result<HttpReply, HttpFault> {
        self.exchange_with(call, Extra::default()).await
    }

    /// The same with options.
    pub async fn exchange_with(&self, call: Call<'_>, extra: Extra<'_>) -> Result<HttpReply, HttpFault> {
        let cap = call.body_cap;
        match self.begin(call, extra, SendTiming::Unmeasured).await? {
            Opened::Refused(reply) => Ok(*reply),
            Opened::Streaming(stream) => Ok(stream.whole(cap).await?.0),
        }
    }
}

pub(super) fn headers(call: &Call<'_>, place: &str) -> Result<HeaderMap, HttpFault> {
    let mut headers = HeaderMap::new();
    // Embabel's protocol wants the content type on every request, on those without a body too.
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(KeyHeader { name, before, key }) = call.key {
        let mut value = HeaderValue::from_str(&format!("{before}{}", key.expose())).map_err(|_| {
            let what = "the API key holds a character that no header can carry; is there a line break in it?";
            HttpFault::new(HttpFaultKind::Unsendable, place, what)
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

pub(super) fn redirect(response: &Response, from: &Url, place: &str) -> HttpFault {
    let status = response.status().as_u16();
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let target = location.and_then(|location| from.join(location).ok()).map(|url| {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
    });
    let target = target.map_or_else(|| "without saying where to".to_owned(), |target| format!("to {target}"));
    let what = format!("answered {status}, a redirect {target}; redirects are not followed: name the final address");
    HttpFault::new(HttpFaultKind::Redirect(status), place, what)
}

/// The part of an error's body that comes quickly: its message helps, and is not required.
pub(super) async fn read_start(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() >= ERROR_BODY_CAP {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(ERROR_BODY_LIMIT, reading).await;
    body
}

pub(super) fn size(bytes: usize) -> String {
    const MIB: usize = 1024 * 1024;
    if bytes >= MIB && bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{bytes} bytes") }
}
