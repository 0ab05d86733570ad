//! The HTTP client itself.

use std::time::Duration;

use eval_job::http::{BaseUrl, Call, HttpClient, HttpFault, HttpFaultKind, HttpReply, KeyHeader, Method};
use eval_job::secret::Secret;

use serde_json::Value;

use super::server::{Answer, Server};

async fn get(url: &str, body_cap: usize) -> Result<HttpReply, HttpFault> {
    let call = Call {
        method: Method::GET,
        url: BaseUrl::parse(url).unwrap().join(["x"]),
        key: None,
        body: None,
        time_limit: Duration::from_secs(20),
        body_cap,
    };
    HttpClient::new().exchange(call).await
}

#[tokio::test]
async fn a_body_is_read_up_to_its_cap_and_not_one_byte_further() {
    let server = Server::with(vec![Answer::json(200, r#"{"a":1}"#)]).await;
    assert_eq!(get(&server.url, 7).await.unwrap().object::<Value>().unwrap()["a"], 1);
    let fault = get(&server.url, 6).await.unwrap_err();
    assert_eq!(fault.message, format!("GET {}/x: the reply is longer than 6 bytes; reading stopped there", server.url));
}

#[tokio::test]
async fn a_flood_is_not_drunk() {
    let server = Server::with(vec![Answer::Flood { bytes: 50 << 20 }]).await;
    let fault = get(&server.url, 1 << 20).await.unwrap_err();
    assert_eq!(fault.kind, HttpFaultKind::BeyondLimit);
    assert!(fault.message.ends_with("the reply is longer than 1 MiB; reading stopped there"), "{fault}");
    // What lies in the sockets' buffers was written and not read.
    assert!(server.flooded() < 20 << 20, "{} bytes were taken", server.flooded());
}

#[tokio::test]
async fn a_refused_connection_is_named() {
    let url = Server::refusing().await;
    let fault = get(&url, 10).await.unwrap_err();
    let words = format!("GET {url}/x: no connection: it was refused; nothing listens there");
    assert_eq!((fault.kind, fault.message), (HttpFaultKind::Unreachable, words));
}

#[tokio::test]
async fn tls_that_fails_is_named() {
    let server = Server::with(vec![Answer::Close]).await;
    let fault = get(&server.url.replace("http:", "https:"), 10).await.unwrap_err();
    assert_eq!(fault.kind, HttpFaultKind::Unreachable);
    assert!(fault.message.contains("TLS failed ("), "{fault}");
}

#[tokio::test]
async fn a_redirect_is_named_with_its_target_and_not_followed() {
    for (location, words) in [
        (Some("https://elsewhere.example:444/a?key=1"), "to https://elsewhere.example:444;"),
        (Some("/other"), "to http://127.0.0.1:"),
        (None, "without saying where to;"),
    ] {
        let answer = Answer::json(307, "{}");
        let answer = location.map_or(answer.clone(), |location| answer.with("location", location));
        let server = Server::with(vec![answer]).await;
        let fault = get(&server.url, 10).await.unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::Redirect(307));
        assert!(fault.message.contains(&format!("answered 307, a redirect {words}")), "{fault}");
        assert!(!fault.message.contains("key"), "{fault}");
        assert_eq!(server.received().len(), 1);
    }
}

#[tokio::test]
async fn neither_key_nor_password_gets_into_words() {
    let server = Server::with(vec![Answer::json(500, "bad key hush-key of ann:hush-word")]).await;
    let url = server.url.replace("http://", "http://ann:hush-word@");
    let key = Secret::new("hush-key");
    let call = |key| Call {
        method: Method::PUT,
        url: BaseUrl::parse(&url).unwrap().join([]),
        key: Some(KeyHeader { name: "x-api-key", before: "", key }),
        body: Some(b"{}".to_vec()),
        time_limit: Duration::from_secs(20),
        body_cap: 100,
    };
    let reply = HttpClient::new().exchange(call(&key)).await.unwrap();
    let words = format!("PUT {}/: answered 500 Internal Server Error: \"bad key *** of ann:***\"", server.url);
    assert_eq!(reply.refusal(), words);
    let sent = &server.received()[0];
    assert_eq!(sent.header("x-api-key"), Some("hush-key"));
    assert_eq!(sent.header("authorization"), Some("Basic YW5uOmh1c2gtd29yZA=="));

    let key = Secret::new("hush\nkey");
    let fault = HttpClient::new().exchange(call(&key)).await.unwrap_err();
    assert_eq!(fault.kind, HttpFaultKind::Unsendable);
    assert!(fault.message.contains("is there a line break in it?") && !fault.message.contains("hush"), "{fault}");
}

#[tokio::test]
async fn an_errors_endless_words_hold_nobody_up() {
    let server = Server::with(vec![Answer::Raw(b"HTTP/1.1 503 X\r\ncontent-length: 900\r\n\r\nbusy, sorry")]).await;
    let reply = get(&server.url, 10).await.unwrap();
    assert_eq!((reply.status, reply.body.as_slice()), (503, &b"busy, sorry"[..]));
}
