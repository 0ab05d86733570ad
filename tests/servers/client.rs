//! A transport as a job configures it, with what it is connected with.

use std::time::Duration;

use eval_job::agent::{Agent, AgentContext, AgentError, Attempts, Reply, Session, Transport};
use eval_job::clock::Clock;
use eval_job::http::HttpClient;
use eval_job::retry::RetryPolicy;
use eval_job::secret::{Redactor, Secret};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A transport and what it is connected with.
pub struct Client<T> {
    pub config: T,
    pub context: AgentContext,
}

impl<T: Transport + DeserializeOwned> Client<T> {
    /// With this configuration, which must be one that can work, four attempts and hardly a wait between them.
    pub fn new(config: Value) -> Client<T> {
        let config: T = serde_json::from_value(config).unwrap();
        assert_eq!(config.check(), []);
        Client::unchecked(config)
    }

    /// The same for a configuration that can't work.
    pub fn unchecked(config: T) -> Client<T> {
        Client { config, context: context() }
    }

    pub fn agent(self) -> Box<dyn Agent> {
        self.config.connect(self.context).unwrap()
    }

    pub async fn open(self) -> Result<Box<dyn Session>, AgentError> {
        self.agent().open().await
    }

    /// A conversation that opens.
    pub async fn session(self) -> Box<dyn Session> {
        self.open().await.unwrap()
    }
}

/// Who talks with whom, with four attempts and hardly a wait between them.
pub fn context() -> AgentContext {
    let (first_delay, short) = (Duration::from_millis(1), Duration::from_millis(2));
    let retry = RetryPolicy { tries: 4, first_delay, max_delay: short, retry_after_cap: short };
    let redactor = Redactor::new([&Secret::new("hush-key")]);
    AgentContext {
        api_key: Some(Secret::new("hush-key")),
        folder: std::env::temp_dir(),
        redactor,
        turn_limit: Duration::from_secs(20),
        rng_seed: 1,
        retry,
        reading: retry,
        ..AgentContext::new("ann", "helper", "m", HttpClient::new(), Clock::system())
    }
}

/// What came of one message.
pub struct Exchange {
    pub reply: Result<Reply, AgentError>,
    pub attempts: Attempts,
}

/// Says something and keeps the attempts beside the reply.
pub trait Talk {
    async fn talk(&mut self, message: &str) -> Exchange;
}

impl Talk for Box<dyn Session> {
    async fn talk(&mut self, message: &str) -> Exchange {
        let mut attempts = Attempts::default();
        let reply = self.say(message, &mut attempts).await;
        Exchange { reply, attempts }
    }
}
