//! IBM Cloud's tokens for requests to models, with what a denial means for them.

use crate::clock::Clock;
use crate::http::{BaseUrl, HttpClient, IamDenial, IamSettings, IamTokens};
use crate::llm::failure::{ErrorContext, Failure, NextTry};
use crate::llm::{ApiError, LlmError, ModelSettings, Origin};
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// Where the address of the token service comes from.
const FROM: &str = "WATSONX_IAM_URL";

/// The token of all requests of a client.
pub(super) struct AccessTokens {
    service: IamTokens,
    origin: Origin,
    retry: RetryPolicy,
    rng_seed: u64,
    clock: Clock,
}

impl AccessTokens {
    pub(super) fn new(settings: &ModelSettings, url: &str, http: HttpClient) -> Result<AccessTokens, LlmError> {
        let url = BaseUrl::parse(url).map_err(|error| LlmError::for_good(format!("{FROM}: {error}")))?;
        let key = settings.key.clone().unwrap_or_else(|| Secret::new(""));
        let (time_limit, clock) = (settings.time_limit, settings.clock);
        Ok(AccessTokens {
            service: IamTokens::new(IamSettings { url, key, time_limit, clock }, http),
            origin: Origin { key: settings.origin.key.clone(), address: FROM.to_owned() },
            retry: settings.retry,
            rng_seed: settings.rng_seed,
            clock,
        })
    }

    /// A token that has not been refused.
    pub(super) async fn current(&self, refused: Option<&Secret>) -> Result<Secret, Failure> {
        let mut delays = self.retry.delays(self.rng_seed);
        let failed = |denial: IamDenial| {
            let failure = self.failure(denial);
            let (NextTry::Again(asked) | NextTry::Slower(asked)) = failure.next else { return Err(failure) };
            delays.next(asked).ok_or(Failure { next: NextTry::End, ..failure })
        };
        self.service.current(refused, failed).await
    }

    fn failure(&self, denial: IamDenial) -> Failure {
        let is_about_key = denial.is_about_key();
        match denial {
            IamDenial::Fault(fault) => Failure::from_fault(fault, &self.origin),
            IamDenial::Refused(reply) => {
                let mut api_error = ApiError::from_body(&reply.body);
                if is_about_key {
                    api_error.details.push_str("API_KEY_INVALID");
                }
                let context = ErrorContext { model: "", origin: &self.origin, clock: self.clock };
                Failure::from_status(&reply, &api_error, context)
            }
        }
    }
}
