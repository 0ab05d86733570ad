//! IBM Cloud's tokens: an API key is exchanged for one that lasts an hour. As in the IAM Identity Services API, "Create an
//! IAM access token for a user or service ID using an API key".

use std::time::Duration;

use serde::Deserialize;
use tokio::sync::Mutex;

use super::{BaseUrl, Call, Extra, HttpClient, HttpFault, HttpFaultKind, HttpReply, Method, Url};
use crate::clock::{Clock, Stopwatch};
use crate::secret::Secret;

/// A token is given up so many seconds before its end.
const MARGIN: f64 = 60.0;

/// IBM Cloud's token service.
pub const IAM_URL: &str = "https://iam.cloud.ibm.com";

/// The settings of an exchange.
pub struct IamSettings {
    /// Where tokens come from, usually [`IAM_URL`].
    pub url: BaseUrl,
    /// The API key. It goes there and nowhere else.
    pub key: Secret,
    /// How long one try may take.
    pub time_limit: Duration,
    /// Tells when a token ends.
    pub clock: Clock,
}

/// The token of all requests of a client.
pub struct IamTokens {
    settings: IamSettings,
    http: HttpClient,
    held: Mutex<Option<CachedToken>>,
}

/// Why a try brought no token.
pub enum IamDenial {
    /// No reply, or none that can be read.
    Fault(HttpFault),
    /// A status that is no success.
    Refused(Box<HttpReply>),
}

impl IamDenial {
    /// Whether the key itself is unknown: IBM says so with the status 400.
    pub fn is_of_the_key(&self) -> bool {
        matches!(self, IamDenial::Refused(reply) if String::from_utf8_lossy(&reply.body).contains("BXNIM04"))
    }
}

struct CachedToken {
    token: Secret,
    since: Stopwatch,
    seconds: f64,
}

#[derive(Deserialize)]
struct TokenReply {
    access_token: String,
    #[serde(default)]
    expires_in: Option<f64>,
}

impl IamTokens {
    /// A client of the token service; nothing is sent yet.
    pub fn new(settings: IamSettings, http: HttpClient) -> IamTokens {
        IamTokens { settings, http, held: Mutex::new(None) }
    }

    /// A token that has not been refused; whoever comes first fetches it, the others wait for that. `failed` is asked
    /// after each try that brought none: how long to wait before the next, or the error to end with.
    pub async fn current<E>(
        &self,
        refused: Option<&Secret>,
        mut failed: impl FnMut(IamDenial) -> Result<Duration, E> + Send,
    ) -> Result<Secret, E> {
        let mut held = self.held.lock().await;
        let is_valid = |held: &CachedToken| {
            held.since.elapsed_ms() / 1000.0 < held.seconds - MARGIN
                && refused.is_none_or(|refused| *refused != held.token)
        };
        if let Some(held) = held.as_ref().filter(|held| is_valid(held)) {
            return Ok(held.token.clone());
        }
        loop {
            let since = self.settings.clock.start();
            match self.fetch().await {
                Ok(TokenReply { access_token, expires_in }) => {
                    let token = Secret::new(access_token);
                    self.http.redactor.learn(&token);
                    *held = Some(CachedToken { token: token.clone(), since, seconds: expires_in.unwrap_or(3600.0) });
                    return Ok(token);
                }
                Err(denial) => {
                    let delay = failed(denial)?;
                    tokio::time::sleep(delay).await;
                }
            }
        }
    }

    async fn fetch(&self) -> Result<TokenReply, IamDenial> {
        let IamSettings { url, key, time_limit, .. } = &self.settings;
        let unsendable = |_| {
            let message = format!("{url}: the key can't be sent");
            IamDenial::Fault(HttpFault { kind: HttpFaultKind::Unsendable, message })
        };
        let mut form = Url::parse("form:?").map_err(unsendable)?;
        form.query_pairs_mut()
            .append_pair("grant_type", "urn:ibm:params:oauth:grant-type:apikey")
            .append_pair("apikey", key.expose());
        let call = Call {
            method: Method::POST,
            url: url.join(["identity", "token"]),
            key: None,
            body: Some(form.query().unwrap_or_default().as_bytes().to_vec()),
            time_limit: *time_limit,
            body_cap: 1 << 20,
        };
        let headers = &[("content-type", "application/x-www-form-urlencoded")];
        let beside = Extra { plain: headers, secret: Some(key), ..Extra::default() };
        let reply = self.http.exchange_with(call, beside).await.map_err(IamDenial::Fault)?;
        if !reply.is_success() {
            return Err(IamDenial::Refused(Box::new(reply)));
        }
        reply.object().map_err(IamDenial::Fault)
    }
}
