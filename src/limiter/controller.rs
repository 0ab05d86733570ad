//! The rules: when a request may be sent, by two rates, the pauses after refusals, and the number of concurrent requests. The
//! time, in seconds since the limiter was made, is always an argument.

use super::rate::Rate;
use super::{BackoffPolicy, RateLimitHeaders};

/// The number of requests that may be in flight before any was accepted.
const FIRST_IN_FLIGHT: u64 = 8;

/// A decision about the first request of the queue.
#[derive(Debug)]
pub(super) enum AdmissionDecision {
    /// Send it.
    Send(InFlight),
    /// Decide again at this time.
    WaitUntil(f64),
    /// Decide again after a reply.
    WaitForReply,
}

/// A request that was sent.
#[derive(Debug)]
pub(super) struct InFlight {
    sent_at: f64,
    /// Tokens as the caller estimates them, and as they were counted.
    estimated: f64,
    counted: f64,
    /// The totals of requests and tokens sent, this one included.
    sent: (f64, f64),
    /// The number of requests in flight, this one included.
    concurrency: u64,
}

/// Near the number of requests in flight that was refused, one more is tried after this many accepted requests for each.
const CAREFUL: f64 = 20.0;

/// The limit on requests in flight: halved by a refusal and raised one by one, slowly near the number that was refused.
#[derive(Debug)]
struct ConcurrencyLimit {
    most: f64,
    refused: f64,
}

impl ConcurrencyLimit {
    /// Notes a refusal. Returns whether other requests in flight explain it.
    fn refused(&mut self, concurrency: u64) -> bool {
        if concurrency >= 2 {
            self.refused = concurrency as f64;
            self.most = (self.most.min(self.refused) / 2.0).floor().max(1.0);
        }
        concurrency >= 2
    }

    fn accepted(&mut self) {
        let steps = if self.most + 1.0 >= self.refused { CAREFUL } else { 1.0 };
        self.most += 1.0 / (steps * self.most);
    }
}

/// The state of one endpoint's rate limits.
#[derive(Debug)]
pub(super) struct Controller {
    requests: Rate,
    tokens: Rate,
    policy: BackoffPolicy,
    jitter: fastrand::Rng,
    pub(super) paused_until: f64,
    /// The time of the last refusal that counted; requests sent before it bring no news.
    refused_at: f64,
    /// Refusals in a row, with nothing accepted in between.
    pub(super) refusals: u32,
    concurrency: ConcurrencyLimit,
    times_exhausted: u64,
    /// `times_exhausted` at the last accepted request.
    exhausted_before: u64,
    in_flight: u64,
    is_known_to_work: bool,
    /// The tokens of a request, divided by its estimate.
    tokens_per_estimated: f64,
}

impl Controller {
    pub(super) fn new(policy: BackoffPolicy, rng_seed: u64) -> Controller {
        // Six requests a minute are always tried, by the usual pauses.
        let least = 0.1 / policy.first.max(1.0);
        Controller {
            requests: Rate::new(1.0, least),
            tokens: Rate::new(1000.0, 1000.0 * least),
            policy,
            jitter: fastrand::Rng::with_seed(rng_seed),
            paused_until: 0.0,
            refused_at: f64::NEG_INFINITY,
            refusals: 0,
            concurrency: ConcurrencyLimit { most: f64::INFINITY, refused: f64::INFINITY },
            times_exhausted: 0,
            exhausted_before: 0,
            in_flight: 0,
            is_known_to_work: false,
            tokens_per_estimated: 1.0,
        }
    }

    /// The number of times that the limiter was exhausted by refusals in a row.
    pub(super) fn times_exhausted(&self) -> u64 {
        self.times_exhausted
    }

    /// Whether it was exhausted again and again, and a pause is on: new requests are refused at once.
    pub(super) fn fails_fast(&self, now: f64) -> bool {
        self.times_exhausted - self.exhausted_before >= self.policy.fail_fast_after && now < self.paused_until
    }

    /// Decides whether a request of this many tokens may be sent.
    pub(super) fn request(&mut self, now: f64, tokens: f64) -> AdmissionDecision {
        // Where nothing is known to work, one request goes first.
        let most = match (self.refusals, self.is_known_to_work) {
            (0, false) => FIRST_IN_FLIGHT,
            (0 | 1, true) => u64::MAX,
            _ => 1,
        };
        if self.in_flight >= most.min(self.concurrency.most as u64) {
            return AdmissionDecision::WaitForReply;
        }
        let estimated = tokens.max(1.0);
        let counted = estimated * self.tokens_per_estimated;
        let ready = self.paused_until.max(self.requests.ready_at(now)).max(self.tokens.ready_at(now));
        if ready > now {
            return AdmissionDecision::WaitUntil(ready);
        }
        self.in_flight += 1;
        let sent = (self.requests.sent(now, 1.0), self.tokens.sent(now, counted));
        AdmissionDecision::Send(InFlight { sent_at: now, estimated, counted, sent, concurrency: self.in_flight })
    }

    /// The request was served; `tokens` is its usage, where it is known.
    pub(super) fn accepted(&mut self, now: f64, sent: InFlight, tokens: Option<f64>, headers: &RateLimitHeaders) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.is_known_to_work = true;
        self.exhausted_before = self.times_exhausted;
        self.concurrency.accepted();
        if let Some(tokens) = tokens {
            let ratio = (tokens / sent.estimated).clamp(0.05, 20.0);
            self.tokens_per_estimated += 0.2 * (ratio - self.tokens_per_estimated);
        }
        let is_news = sent.sent_at >= self.refused_at;
        self.requests.accepted(now, 1.0, is_news);
        self.tokens.accepted(now, tokens.unwrap_or(sent.counted), is_news);
        if is_news {
            self.refusals = 0;
        }
        self.note(now, &sent, headers);
    }

    /// The request was refused, with the wait in seconds that the endpoint asks for.
    pub(super) fn refused(&mut self, now: f64, sent: InFlight, retry_after: Option<f64>, headers: &RateLimitHeaders) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.note(now, &sent, headers);
        let retry_after = self.policy.credible(retry_after);
        if sent.sent_at < self.refused_at {
            // It was sent before the slowdown; only the wait that the endpoint asks for counts.
            self.paused_until = self.paused_until.max(now + retry_after.unwrap_or(0.0));
            return;
        }
        self.refused_at = now;
        self.refusals += 1;
        if !(self.policy.adapts_concurrency && self.concurrency.refused(sent.concurrency)) {
            self.requests.refused(now, self.refusals);
            self.tokens.refused(now, self.refusals);
        }
        // The pause is never shortened.
        let pause = self.policy.pause(self.refusals, retry_after);
        self.paused_until = self.paused_until.max(now + pause * (1.0 + 0.1 * self.jitter.f64()));
        if self.refusals >= self.policy.max_refusals {
            self.times_exhausted += 1;
            // The next request is tried once.
            self.refusals = self.policy.max_refusals - 1;
        }
    }

    /// The request was refused for other requests of ours that are served: fewer are sent at once, after one pause.
    pub(super) fn refused_for_others(&mut self, now: f64, sent: InFlight, retry_after: Option<f64>) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.concurrency.refused(sent.concurrency.max(2));
        self.paused_until = self.paused_until.max(now + self.policy.pause(1, self.policy.credible(retry_after)));
    }

    /// The request got no response.
    pub(super) fn lost(&mut self, _: InFlight) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    fn note(&mut self, now: f64, request: &InFlight, headers: &RateLimitHeaders) {
        // The endpoint counted somewhere between request and reply.
        let counted_at = (request.sent_at + now) / 2.0;
        if let Some(window) = &headers.requests {
            self.requests.reported(counted_at, request.sent.0, window);
        }
        if let Some(window) = &headers.tokens {
            self.tokens.reported(counted_at, request.sent.1, window);
        }
    }
}
