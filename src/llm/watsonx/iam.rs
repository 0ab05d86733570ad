//! IBM Cloud's tokens: an API key is exchanged for one that lasts an hour. As in the IAM Identity Services API, "Create an
//! IAM access token for a user or service ID using an API key".

use serde::Deserialize;
use tokio::sync::Mutex;

use crate::clock::{Clock, Stopwatch};
use crate::http::{BaseUrl, Call, Extra, HttpClient, Method};
use crate::llm::failure::{Failure, Next, Whom};
use crate::llm::{Complaint, LlmError, ModelSettings, Origin};
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// A token is given up so many seconds before its end.
const MARGIN: f64 = 60.0;

/// Where the address of the token service comes from.
const FROM: &str = "WATSONX_IAM_URL";

/// The token of all requests of a client.
pub(super) struct Tokens {
    url: BaseUrl,
    key: Secret,
    origin: Origin,
    time_limit: std::time::Duration,
    retry: RetryPolicy,
    rng_seed: u64,
    clock: Clock,
    http: HttpClient,
    held: Mutex<Option<Held>>,
}

struct Held {
    token: Secret,
    since: Stopwatch,
    seconds: f64,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    #[serde(default)]
    expires_in: Option<f64>,
}

impl Tokens {
    pub(super) fn of(settings: &ModelSettings, url: &str, http: HttpClient) -> Result<Tokens, LlmError> {
        let url = BaseUrl::parse(url).map_err(|error| LlmError::for_good(format!("{FROM}: {error}")))?;
        Ok(Tokens {
            url,
            key: settings.key.clone().unwrap_or_else(|| Secret::new("")),
            origin: Origin { key: settings.origin.key.clone(), address: FROM.to_owned() },
            time_limit: settings.time_limit,
            retry: settings.retry,
            rng_seed: settings.rng_seed,
            clock: settings.clock,
            http,
            held: Mutex::new(None),
        })
    }

    /// A token that has not been refused; whoever comes first fetches it, the others wait for that.
    pub(super) async fn current(&self, refused: Option<&Secret>) -> Result<Secret, Failure> {
        let mut held = self.held.lock().await;
        let is_good = |held: &Held| {
            held.since.elapsed_ms() / 1000.0 < held.seconds - MARGIN
                && refused.is_none_or(|refused| *refused != held.token)
        };
        if let Some(held) = held.as_ref().filter(|held| is_good(held)) {
            return Ok(held.token.clone());
        }
        let mut delays = self.retry.delays(self.rng_seed);
        loop {
            let since = self.clock.start();
            let failure = match self.fetch().await {
                Ok(Granted { access_token, expires_in }) => {
                    let token = Secret::new(access_token);
                    *held = Some(Held { token: token.clone(), since, seconds: expires_in.unwrap_or(3600.0) });
                    return Ok(token);
                }
                Err(failure) => failure,
            };
            let (Next::Again(asked) | Next::Slower(asked)) = failure.next else { return Err(failure) };
            let Some(delay) = delays.next(asked) else { return Err(Failure { next: Next::End, ..failure }) };
            tokio::time::sleep(delay).await;
        }
    }

    async fn fetch(&self) -> Result<Granted, Failure> {
        let mut form = crate::http::Url::parse("form:?").map_err(|_| self.unsendable())?;
        form.query_pairs_mut()
            .append_pair("grant_type", "urn:ibm:params:oauth:grant-type:apikey")
            .append_pair("apikey", self.key.expose());
        let call = Call {
            method: Method::POST,
            url: self.url.join(["identity", "token"]),
            key: None,
            body: Some(form.query().unwrap_or_default().as_bytes().to_vec()),
            time_limit: self.time_limit,
            body_cap: 1 << 20,
        };
        let headers = &[("content-type", "application/x-www-form-urlencoded")];
        let beside = Extra { plain: headers, secret: Some(&self.key), ..Extra::default() };
        let reply = self.http.exchange_with(call, beside).await;
        let reply = reply.map_err(|fault| Failure::of_fault(fault, &self.origin))?;
        if reply.is_success() {
            return reply.object().map_err(|fault| Failure::of_fault(fault, &self.origin));
        }
        let mut complaint = Complaint::of_body(&reply.body);
        // IBM's words for a key that it does not know, with the status 400.
        if complaint.code.starts_with("BXNIM04") {
            complaint.details.push_str("API_KEY_INVALID");
        }
        let whom = Whom { model: "", origin: &self.origin, clock: self.clock };
        Err(Failure::of_status(&reply, &complaint, whom))
    }

    fn unsendable(&self) -> Failure {
        let message = format!("{}: the key can't be sent", self.origin.key);
        Failure { error: LlmError::for_good(message), next: Next::End }
    }
}
