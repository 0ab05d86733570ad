//! How a transport looks to the server at its other end.

use std::time::Duration;

use eval_job::agent::{Agent, RestSettings};
use eval_job::clock::Clock;
use eval_job::retry::RetryPolicy;
use eval_job::secret::Secret;
use serde_json::Value;

use crate::edges::server::{Answer, Received};

/// A transport over HTTP, and how a server answers it.
#[derive(Clone)]
pub struct Wire {
    /// The transport, and the way in which it is used.
    pub name: &'static str,
    /// What is under `target` in a job, beside `user` and `chatbot`, for a server at this address.
    pub target: fn(&str) -> Value,
    /// The client for a server at this address.
    pub agent: Connect,
    /// The answer to a request that says nothing: a session, a card. `None` for a message.
    pub before: fn(&Received) -> Option<Answer>,
    /// How a reply comes.
    pub form: Form,
    /// The body of a reply with these words; as a stream in two events, the second the longer one.
    pub says: fn(&str) -> String,
    /// The body of an error of the agent's own, with status 200; `None` where the transport has none.
    pub reports: Option<&'static str>,
    /// Where a message's body has the user's words, as JSON Pointer; `-` is the last of a list.
    pub heard: &'static str,
}

/// Makes the client for a server at this address.
pub type Connect = fn(&str, Limits) -> Box<dyn Agent>;

/// How a reply comes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As one JSON document.
    Document,
    /// As server-sent events.
    Events,
    /// As lines of JSON.
    Lines,
}

/// How long and how often something is tried.
#[derive(Clone, Copy)]
pub struct Limits {
    pub turn: Duration,
    pub tries: u32,
}

impl Wire {
    /// A whole reply with this body.
    pub fn reply(&self, body: impl AsRef<[u8]>) -> Answer {
        Answer::of_type(200, self.content_type(), body)
    }

    /// What a reply says that it is.
    pub fn content_type(&self) -> &'static str {
        match self.form {
            Form::Document => "application/json",
            Form::Events => "text/event-stream",
            Form::Lines => "application/x-ndjson",
        }
    }

    /// The user's words in a message.
    pub fn heard(&self, request: &Received) -> String {
        let body: Value = serde_json::from_str(&request.body).unwrap();
        let found = self.heard.split('/').skip(1).try_fold(&body, |value, step| match (value, step) {
            (Value::Array(list), "-") => list.last(),
            (Value::Array(list), nth) => list.get(nth.parse::<usize>().unwrap()),
            (value, name) => value.get(name),
        });
        found.and_then(Value::as_str).unwrap_or_else(|| panic!("{}: {}", self.name, request.body)).to_owned()
    }
}

impl Limits {
    /// Hardly a wait between the tries, but as long a one as a server asks for, up to 40 ms.
    pub fn policy(self) -> RetryPolicy {
        RetryPolicy {
            tries: self.tries,
            first_delay: Duration::from_millis(1),
            max_delay: Duration::from_millis(2),
            retry_after_cap: Duration::from_millis(40),
        }
    }

    /// What the members that share `agent/rest.rs` want to know.
    pub fn rest(self) -> RestSettings {
        RestSettings {
            headers: vec![("X-Tenant".to_owned(), Secret::new("hush-tenant"))],
            api_key: Some(Secret::new("hush-key")),
            turn_limit: self.turn,
            rng_seed: 1,
            clock: Clock::system(),
            retry: self.policy(),
            place: eval_job::limiter::Place::default(),
        }
    }
}
