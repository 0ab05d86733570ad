//! The reqwest clients: one that goes through the system's proxy and one, for this machine itself, that does not.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Url;
use reqwest::redirect::Policy;

use super::address::is_loopback;
use super::{HttpFault, HttpFaultKind};
use crate::secret::Redactor;

/// How long a connection may take to come up.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Idle connections are dropped before common servers drop them (5 s), or a message could be sent into a connection that
/// is just being closed, and nobody could tell whether it arrived.
const IDLE_LIMIT: Duration = Duration::from_secs(4);

/// The HTTP client of all edges: cheap to make and to clone; connections are shared between clones.
#[derive(Clone, Default)]
pub struct HttpClient {
    built: Arc<Built>,
    pub(super) redactor: Redactor,
}

#[derive(Default)]
struct Built {
    proxied: OnceLock<Result<reqwest::Client, String>>,
    direct: OnceLock<Result<reqwest::Client, String>>,
}

impl HttpClient {
    /// A client; certificates and proxy settings are read at its first request.
    pub fn new() -> HttpClient {
        HttpClient::default()
    }

    /// The same client; what it sends as a key, and what it is given as one, is told to this redactor.
    pub fn with_redactor(self, redactor: Redactor) -> HttpClient {
        HttpClient { redactor, ..self }
    }

    /// The client for an address: `HTTP_PROXY` is for the world outside, a local agent is not behind it.
    pub(super) fn reqwest(&self, url: &Url, place: &str) -> Result<&reqwest::Client, HttpFault> {
        let loopback = is_loopback(url);
        let slot = if loopback { &self.built.direct } else { &self.built.proxied };
        slot.get_or_init(|| build(loopback)).as_ref().map_err(|error| {
            HttpFault::new(HttpFaultKind::Unsendable, place, format!("the HTTP client can't be set up: {error}"))
        })
    }
}

fn build(direct: bool) -> Result<reqwest::Client, String> {
    install_tls();
    let builder = || {
        let builder = reqwest::Client::builder()
            .user_agent(concat!("eval-job/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(CONNECT_LIMIT)
            .pool_idle_timeout(IDLE_LIMIT);
        if direct { builder.no_proxy() } else { builder }
    };
    // A machine without CA certificates can still speak plain HTTP; over TLS it then trusts nobody.
    let without_certificates = || builder().tls_certs_only([]).build();
    builder().build().or_else(|_| without_certificates()).map_err(|error| error.to_string())
}

/// Makes ring the process's TLS provider. Whoever came first stays: both are then this same one.
pub fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
