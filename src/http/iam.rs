//! IBM Cloud's access tokens: an API key is exchanged for a token that is valid for an hour. As in the IAM Identity Services
//! API, "Create an IAM access token for a user or service ID using an API key".

use std::time::Duration;

use serde::Deserialize;
use tokio::sync::Mutex;

use super::{BaseUrl, Call, Extra, HttpClient, HttpFault, HttpFaultKind, HttpReply, Method, Url};
use crate::clock::{Clock, Stopwatch};
use crate::secret::Secret;

/// A token is renewed this many seconds before it expires.
const MARGIN: f64 = 60.0;

/// IBM Cloud's token service.
pub const IAM_URL: &str = "https://iam.cloud.ibm.com";

/// The settings of an exchange.
pub struct IamSettings {
    /// The address of the token service, usually [`IAM_URL`].
    pub url: BaseUrl,
    /// The API key. It is sent to that service only.
    pub key: Secret,
    /// The time limit of one attempt.
    pub time_limit: Duration,
    /// Measures the age of tokens.
    pub clock: Clock,
}

/// The tokens of a client, shared by all its requests.
pub struct IamTokens {
    settings: IamSettings,
    http: HttpClient,
    held: Mutex<Option<CachedToken>>,
}

/// Why an attempt has returned no token.
pub enum IamDenial {
    /// No usable reply.
    Fault(HttpFault),
    /// A status that is not a success.
    Refused(Box<HttpReply>),
}

impl IamDenial {
    /// Whether the key itself is unknown, for which IBM answers with status 400.
    pub fn is_about_key(&self) -> bool {
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

    /// A valid token, and not the `refused` one. The first caller fetches it, the others wait. After each failed attempt
    /// `failed` returns the wait before the next one, or the final error.
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
