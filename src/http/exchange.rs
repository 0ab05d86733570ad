//! One request and its reply.

use std::pin::Pin;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, Response, Url};
use tokio::time::Sleep;

use super::address::{password, shown};
use super::{HttpClient, HttpFault, HttpFaultKind, HttpReply};
use crate::secret::Secret;

/// How much of an error's body is read: enough for its words.
const ERROR_BODY_CAP: usize = 64 * 1024;

/// How long the words of an error are waited for: its status is what counts.
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
    /// From just before sending to the reply's last byte.
    pub time_limit: Duration,
    /// The longest reply that is read, in bytes.
    pub body_cap: usize,
}

/// A header that carries a key.
#[derive(Debug, Clone, Copy)]
pub struct KeyHeader<'a> {
    /// The header's name, in lower case.
    pub name: &'static str,
    /// What stands before the key: `Bearer `.
    pub before: &'static str,
    /// The key.
    pub key: &'a Secret,
}

/// What some services want of a request beyond its body.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Headers, by their names in lower case; they go before the usual ones.
    pub headers: &'a [(&'static str, &'a str)],
    /// What the body holds that no message may show.
    pub secret: Option<&'a Secret>,
}

impl HttpClient {
    /// Sends a request once and reads the reply to its last byte. Any status but a redirect is a reply; of an error's
    /// body only the start is read. Dropping the future drops the connection.
    pub async fn exchange(&self, call: Call<'_>) -> Result<HttpReply, HttpFault> {
        self.exchange_with(call, Beside::default()).await
    }

    /// The same, with headers of the service's own.
    pub async fn exchange_with(&self, call: Call<'_>, beside: Beside<'_>) -> Result<HttpReply, HttpFault> {
        let place = format!("{} {}", call.method, shown(&call.url));
        let mut headers = headers(&call, &place)?;
        for (name, value) in beside.headers {
            let value = HeaderValue::from_str(value).map_err(|_| {
                HttpFault::new(HttpFaultKind::Unsendable, &place, format!("the header `{name}` can't be sent"))
            })?;
            headers.insert(*name, value);
        }
        let keys = call.key.iter().map(|header| header.key.clone()).chain(beside.secret.cloned());
        let secrets = keys.chain(password(&call.url)).collect();
        let mut request = self.reqwest(&call.url, &place)?.request(call.method, call.url.clone()).headers(headers);
        if let Some(body) = call.body {
            request = request.body(body);
        }

        let mut deadline = std::pin::pin!(tokio::time::sleep(call.time_limit));
        let sent = tokio::select! {
            sent = request.send() => sent.map_err(|error| HttpFault::of_sending(error, &place, &call.url))?,
            () = &mut deadline => {
                let what = format!("no reply within {:?}", call.time_limit);
                return Err(HttpFault::new(HttpFaultKind::Timeout, &place, what));
            }
        };
        if sent.status().is_redirection() {
            return Err(redirect(&sent, &call.url, &place));
        }
        let mut reply = HttpReply::of_head(&sent, place, secrets);
        if reply.is_success() {
            reply.body = read_all(sent, &reply.place, call.body_cap, deadline, call.time_limit).await?;
        } else {
            reply.body = read_start(sent).await;
        }
        Ok(reply)
    }
}

fn headers(call: &Call<'_>, place: &str) -> Result<HeaderMap, HttpFault> {
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

fn redirect(response: &Response, from: &Url, place: &str) -> HttpFault {
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

/// The whole body, or why not; at most `cap` bytes and one network read are ever held.
async fn read_all(
    mut response: Response,
    place: &str,
    cap: usize,
    mut deadline: Pin<&mut Sleep>,
    time_limit: Duration,
) -> Result<Vec<u8>, HttpFault> {
    let too_long = || {
        let what = format!("the reply is longer than {}; reading stopped there", size(cap));
        HttpFault::new(HttpFaultKind::Unreadable, place, what)
    };
    if response.content_length().is_some_and(|length| length > cap as u64) {
        return Err(too_long());
    }
    let mut body = Vec::new();
    loop {
        let chunk = tokio::select! {
            chunk = response.chunk() => chunk.map_err(|error| HttpFault::of_reading(error, place, body.len()))?,
            () = &mut deadline => {
                let what = format!("the reply was not complete within {time_limit:?}; {} bytes had come", body.len());
                return Err(HttpFault::new(HttpFaultKind::Timeout, place, what));
            }
        };
        match chunk {
            None => return Ok(body),
            Some(chunk) if body.len() + chunk.len() > cap => return Err(too_long()),
            Some(chunk) => body.extend_from_slice(&chunk),
        }
    }
}

/// As much of an error's body as comes quickly: its words help, but nothing hangs on them.
async fn read_start(mut response: Response) -> Vec<u8> {
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

fn size(bytes: usize) -> String {
    const MIB: usize = 1024 * 1024;
    if bytes >= MIB && bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{bytes} bytes") }
}
