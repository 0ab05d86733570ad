//! How requests get to the instance: with a token, and with the user's own headers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::settings::{base, edition, iam};
use super::{AuthConfig, EditionConfig, WatsonxSettings};
use crate::agent::attempts::{Again, Failure, admitted, fail};
use crate::agent::{AgentError, AgentErrorKind, Attempts};
use crate::http::{
    BODY_CAP, BaseUrl, Call, Extra, HttpClient, HttpReply, HttpStream, IamDenial, IamSettings, IamTokens, KeyHeader,
    Method, Opened, STREAM_CAP, Url,
};
use crate::retry::Delays;
use crate::secret::Secret;

/// What all requests to an instance share.
pub(super) struct Gate {
    pub(super) settings: WatsonxSettings,
    pub(super) base: BaseUrl,
    pub(super) edition: EditionConfig,
    http: HttpClient,
    tokens: Option<IamTokens>,
    calls: AtomicU64,
}

/// What is sent, the same at every try.
pub(super) struct Outgoing {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) body: Option<Value>,
    pub(super) headers: Vec<(String, Secret)>,
    /// What to try where the reply is 404.
    pub(super) if_not_found: &'static str,
}

/// A request that was not answered with a stream.
pub(super) struct Refused {
    pub(super) failure: Failure,
    /// The status and the words of a reply in small letters, where there was one.
    pub(super) said: Option<(u16, String)>,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        Refused { failure, said: None }
    }
}

impl Gate {
    pub(super) fn new(settings: WatsonxSettings, http: HttpClient) -> Result<Gate, AgentError> {
        let unusable = |message| AgentError { kind: AgentErrorKind::Unreachable, message };
        let base = base(&settings.base_url).map_err(unusable)?;
        let token_url = iam(&settings.config).map_err(unusable)?;
        let key = settings.rest.api_key.clone().filter(|_| settings.config.auth == AuthConfig::Iam);
        let tokens = key.map(|key| {
            let (time_limit, clock) = (settings.rest.turn_limit, settings.rest.clock);
            IamTokens::new(IamSettings { url: token_url, key, time_limit, clock }, http.clone())
        });
        let edition = edition(&settings.config, &base);
        Ok(Gate { settings, base, edition, http, tokens, calls: AtomicU64::new(0) })
    }

    /// The waits between the tries of one call.
    pub(super) fn delays(&self) -> Delays {
        let rest = &self.settings.rest;
        rest.retry.delays(rest.rng_seed.wrapping_add(self.calls.fetch_add(1, Ordering::Relaxed))).timed_by(rest.clock)
    }

    /// A document that is only read, with retries.
    pub(super) async fn document(&self, outgoing: &Outgoing) -> Result<Value, AgentError> {
        let (mut delays, mut tries) = (self.delays(), Attempts::default());
        loop {
            let once = || async {
                let stream = self.open(outgoing).await.map_err(|refused| refused.failure)?;
                stream.whole(BODY_CAP).await.and_then(|(reply, _)| reply.json()).map_err(Failure::of_fault)
            };
            match admitted(&self.settings.rest.place, once, (&mut delays, &mut tries)).await {
                Ok(document) => return Ok(document),
                Err(failure) => fail(failure, &mut delays, &mut tries).await?,
            }
        }
    }

    /// One try, up to the head of its reply. A token that is refused is asked for again once.
    pub(super) async fn open(&self, outgoing: &Outgoing) -> Result<HttpStream, Refused> {
        let key = self.key(None).await?;
        match self.send(outgoing, key.as_ref()).await? {
            Opened::Streaming(stream) => Ok(*stream),
            Opened::Refused(reply) if reply.status == 401 && self.tokens.is_some() => {
                let fresh = self.key(key.as_ref()).await?;
                match self.send(outgoing, fresh.as_ref()).await? {
                    Opened::Streaming(stream) => Ok(*stream),
                    Opened::Refused(reply) => Err(self.refused(&reply, outgoing)),
                }
            }
            Opened::Refused(reply) => Err(self.refused(&reply, outgoing)),
        }
    }

    async fn send(&self, outgoing: &Outgoing, key: Option<&Secret>) -> Result<Opened, Failure> {
        let rest = &self.settings.rest;
        let headers = [outgoing.headers.as_slice(), &rest.headers].concat();
        // A header that the user names is the user's own.
        let is_named = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        let key = key.filter(|_| !is_named);
        let call = Call {
            method: outgoing.method.clone(),
            url: outgoing.url.clone(),
            key: key.map(|key| KeyHeader { name: "authorization", before: "Bearer ", key }),
            body: outgoing.body.as_ref().map(|body| body.to_string().into_bytes()),
            time_limit: rest.turn_limit,
            body_cap: STREAM_CAP,
        };
        let opened = self.http.open(call, Extra { headers: &headers, ..Extra::default() }, rest.clock).await;
        opened.map_err(|fault| Failure::of_fault(fault).with_hint(hint))
    }

    /// The key that goes along: the job's, or a token for it.
    async fn key(&self, refused: Option<&Secret>) -> Result<Option<Secret>, Failure> {
        let Some(tokens) = &self.tokens else { return Ok(self.settings.rest.api_key.clone()) };
        let mut delays = self.delays();
        let failed = |denial: IamDenial| -> Result<Duration, Failure> {
            let failure = self.denied(denial);
            let (Again::After(asked) | Again::Slower(asked)) = failure.again else { return Err(failure) };
            delays.next(asked).ok_or(Failure { again: Again::Never, ..failure })
        };
        tokens.current(refused, failed).await.map(Some)
    }

    fn denied(&self, denial: IamDenial) -> Failure {
        let is_of_the_key = denial.is_of_the_key();
        let failure = match denial {
            IamDenial::Fault(fault) => {
                Failure::of_fault(fault).with_hint(|_| "; target.watsonx.iamUrl says where it is")
            }
            IamDenial::Refused(reply) if is_of_the_key => {
                Failure::of_number(401, reply.refusal(), None).with_hint(hint)
            }
            IamDenial::Refused(reply) => Failure::of_status(&reply, self.settings.rest.clock).with_hint(hint),
        };
        // No message has left yet.
        Failure { maybe_received: false, ..failure }
    }

    fn refused(&self, reply: &HttpReply, outgoing: &Outgoing) -> Refused {
        let failure = Failure::of_status(reply, self.settings.rest.clock).with_hint(|kind| match kind {
            AgentErrorKind::NotFound => outgoing.if_not_found,
            kind => hint(kind),
        });
        Refused { failure, said: Some((reply.status, String::from_utf8_lossy(&reply.body).to_lowercase())) }
    }
}

fn hint(kind: AgentErrorKind) -> &'static str {
    match kind {
        AgentErrorKind::Unreachable => "; is it running? target.watsonx.baseUrl says where it is looked for",
        AgentErrorKind::Unauthorized => {
            "; check the key (target.watsonx.apiKey or EVAL_JOB_AGENT_API_KEY), and whether it is a token or, with \
             `auth: iam`, an API key"
        }
        _ => "",
    }
}
