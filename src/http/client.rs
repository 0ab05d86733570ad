//! The reqwest clients: one that uses the system's proxy, and one without a proxy for this machine's own addresses.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Url;
use reqwest::redirect::Policy;

use super::address::is_loopback;
use super::{HttpFault, HttpFaultKind};
use crate::secret::Redactor;

/// The time limit for a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Idle connections are closed before common servers close them (5 s): otherwise a message could be sent while the connection
/// is being closed, and it would be unknown whether it arrived.
const IDLE_LIMIT: Duration = Duration::from_secs(4);

/// The HTTP client of all edges: cheap to make and to clone; connections are shared between clones.
#[derive(Clone, Default)]
pub struct HttpClient {
    built: Arc<Built>,
    /// Whether each request has a connection of its own.
    is_unpooled: bool,
    pub(super) redactor: Redactor,
}

#[derive(Default)]
struct Built {
    proxied: OnceLock<reqwest::Result<reqwest::Client>>,
    direct: OnceLock<reqwest::Result<reqwest::Client>>,
    unpooled_proxied: OnceLock<reqwest::Result<reqwest::Client>>,
    unpooled_direct: OnceLock<reqwest::Result<reqwest::Client>>,
}

impl HttpClient {
    /// A client; certificates and proxy settings are read at its first request.
    pub fn new() -> HttpClient {
        HttpClient::default()
    }

    /// Sets the redactor, which learns the keys that the client sends and receives.
    pub fn with_redactor(self, redactor: Redactor) -> HttpClient {
        HttpClient { redactor, ..self }
    }

    /// The same with a connection for each request: what a server sends beyond its reply can't be taken for the reply to the next
    /// one.
    pub fn unpooled(self) -> HttpClient {
        HttpClient { is_unpooled: true, ..self }
    }

    /// The client for an address: `HTTP_PROXY` is not used for this machine's own addresses.
    pub(super) fn reqwest(&self, url: &Url, place: &str) -> Result<&reqwest::Client, HttpFault> {
        let loopback = is_loopback(url);
        let slot = match (self.is_unpooled, loopback) {
            (false, true) => &self.built.direct,
            (false, false) => &self.built.proxied,
            (true, true) => &self.built.unpooled_direct,
            (true, false) => &self.built.unpooled_proxied,
        };
        let kept = if self.is_unpooled { 0 } else { usize::MAX };
        slot.get_or_init(|| build(loopback, kept)).as_ref().map_err(|error| {
            HttpFault::new(HttpFaultKind::Unsendable, place, format!("the HTTP client can't be set up: {error}"))
        })
    }
}

/// A client without a proxy or with the system's, which keeps so many idle connections to a host.
fn build(direct: bool, kept: usize) -> reqwest::Result<reqwest::Client> {
    install_tls();
    let builder = || {
        let builder = reqwest::Client::builder()
            .user_agent(concat!("eval-job/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(CONNECT_LIMIT)
            .pool_idle_timeout(IDLE_LIMIT)
            .pool_max_idle_per_host(kept);
        if direct { builder.no_proxy() } else { builder }
    };
    // Without CA certificates plain HTTP still works; over TLS no server is trusted then.
    let without_certificates = || builder().tls_certs_only([]).build();
    builder().build().or_else(|_| without_certificates())
}

/// Makes ring the process's TLS provider, unless it is already.
pub fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
