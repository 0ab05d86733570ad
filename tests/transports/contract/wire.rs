//! How a transport looks to the server at its other end.

use std::time::Duration;

use eval_job::agent::a2a::A2aConfig;
use eval_job::agent::adk::AdkConfig;
use eval_job::agent::command::CommandConfig;
use eval_job::agent::embabel::EmbabelConfig;
use eval_job::agent::http::HttpConfig;
use eval_job::agent::openai::OpenAiConfig;
use eval_job::agent::responses::ResponsesConfig;
use eval_job::agent::trpc::TrpcConfig;
use eval_job::agent::watsonx::WatsonxConfig;
use eval_job::agent::websocket::WebSocketConfig;
use eval_job::agent::{Agent, AgentContext, Transport};
use eval_job::retry::RetryPolicy;
use serde_json::{Value, from_value};

use crate::edges::server::{Answer, Received};
use crate::servers::client::context;

/// A transport over HTTP, and how a server answers it.
#[derive(Clone)]
pub struct Wire {
    /// The transport, and the way in which it is used.
    pub name: &'static str,
    /// What is under `target` in a job, beside `user` and `chatbot`, for a server at this address.
    pub target: fn(&str) -> Value,
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

impl Wire {
    /// The client for a server at this address.
    pub fn agent(&self, url: &str, limits: Limits) -> Box<dyn Agent> {
        connect(&(self.target)(url), limits)
    }
}

/// The client of what is under `target` in a job, beside `user` and `chatbot`.
pub fn connect(target: &Value, limits: Limits) -> Box<dyn Agent> {
    let (key, config) = target.as_object().unwrap().iter().next().unwrap();
    let config = config.clone();
    let context = limits.context();
    let connected = match key.as_str() {
        "embabel" => from_value::<EmbabelConfig>(config).unwrap().connect(context),
        "openai" => from_value::<OpenAiConfig>(config).unwrap().connect(context),
        "responses" => from_value::<ResponsesConfig>(config).unwrap().connect(context),
        "http" => from_value::<HttpConfig>(config).unwrap().connect(context),
        "websocket" => from_value::<WebSocketConfig>(config).unwrap().connect(context),
        "command" => from_value::<CommandConfig>(config).unwrap().connect(context),
        "adk" => from_value::<AdkConfig>(config).unwrap().connect(context),
        "a2a" => from_value::<A2aConfig>(config).unwrap().connect(context),
        "trpc" => from_value::<TrpcConfig>(config).unwrap().connect(context),
        "watsonx" => from_value::<WatsonxConfig>(config).unwrap().connect(context),
        other => panic!("{other}"),
    };
    connected.unwrap()
}

impl Limits {
    /// Hardly a wait between the attempts, but as long a one as a server asks for, up to 40 ms.
    pub fn context(self) -> AgentContext {
        let retry = RetryPolicy {
            tries: self.tries,
            first_delay: Duration::from_millis(1),
            max_delay: Duration::from_millis(2),
            retry_after_cap: Duration::from_millis(40),
        };
        AgentContext { turn_limit: self.turn, retry, reading: retry, ..context() }
    }
}
