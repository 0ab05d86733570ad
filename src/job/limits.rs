//! `limits` and `timing`: how long things may take, and what is timed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::money::{Dollars, SpendLimits};

/// The usual limit of one request to one of our own models.
const MODEL_SECONDS: f64 = 120.0;

/// Records of earlier versions have none.
fn is_usual_model_limit(seconds: &f64) -> bool {
    (*seconds - MODEL_SECONDS).abs() < f64::EPSILON
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "limits")]
pub struct Limits {
    /// Seconds for one try of one message to the agent.
    #[serde(rename = "turn")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 31_536_000))]
    pub turn_seconds: f64,
    /// Seconds for one conversation, and as many again for judging it; seeds do not count.
    #[serde(rename = "trial")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 31_536_000))]
    pub trial_seconds: f64,
    /// Seconds for one statement to the graph, tries included.
    #[serde(rename = "query")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 31_536_000))]
    pub query_seconds: f64,
    /// Seconds for one try of one request to persona, judge or another model of our own. After two tries that took so long no other one
    /// is made.
    #[serde(rename = "model", skip_serializing_if = "is_usual_model_limit")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 31_536_000))]
    pub model_seconds: f64,
    /// US dollars for the whole run: what persona and judge cost never exceeds it, and once the agent's own cost does, no
    /// further turn begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0, "maximum" = 1_000_000))]
    pub cost: Option<Dollars>,
    /// Tokens for the whole run, of requests and replies, counted like `cost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub tokens: Option<u64>,
    /// Seconds for the whole run; what goes on then is cut off, and kept as far as it went.
    #[serde(rename = "time", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 31_536_000))]
    pub run_seconds: Option<f64>,
    /// How often a conversation is held again in which the persona did not play its part, 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    pub reruns: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            turn_seconds: 60.0,
            trial_seconds: 1800.0,
            query_seconds: 30.0,
            model_seconds: MODEL_SECONDS,
            cost: None,
            tokens: None,
            run_seconds: None,
            reruns: 2,
        }
    }
}

impl Limits {
    /// The limits on money and tokens of the whole run.
    pub fn spend(&self) -> SpendLimits {
        SpendLimits { cost: self.cost, tokens: self.tokens }
    }

    /// Puts limits of the whole run in the place of these, where there are some.
    pub fn replace(&mut self, with: RunLimits) {
        self.cost = with.spend.cost.or(self.cost);
        self.tokens = with.spend.tokens.or(self.tokens);
        self.run_seconds = with.seconds.or(self.run_seconds);
    }
}

/// The limits of a whole run; without a number there is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunLimits {
    /// Money and tokens.
    pub spend: SpendLimits,
    /// Seconds.
    pub seconds: Option<f64>,
}

/// The part of a reply that is timed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "timing")]
pub struct TimingConfig {
    /// The end of the time: `complete` is the reply's last byte, `firstToken` its first token, where the transport
    /// streams.
    pub on: TimingOn,
}

/// Until when a reply is timed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TimingOn {
    /// Its last byte.
    #[default]
    Complete,
    /// Its first token.
    FirstToken,
}
