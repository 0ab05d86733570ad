//! Who may send when: the two paces, the pauses after refusals, and the end of a storm. Seconds since the gate was made are
//! an argument of everything.

use super::Told;
use super::pace::Pace;

/// How long everybody waits after a refusal, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pauses {
    /// After the first, where the endpoint asks for nothing.
    pub first: f64,
    /// How much longer after each further one with nothing accepted in between.
    pub factor: f64,
    /// The longest of our own choice.
    pub longest: f64,
    /// The longest that an endpoint can ask for.
    pub asked_cap: f64,
    /// Refusals one after the other, with nothing accepted in between, that make a storm.
    pub storm: u32,
    /// Seconds with nothing but refusals that make one too.
    pub patience: f64,
    /// Storms one after the other after which nobody waits for the end of a pause any more.
    pub hopeless: u64,
    /// Whether refusals may mean that too much was asked at once: then less is, and ever more again.
    pub counts_at_once: bool,
}

impl Pauses {
    /// 1, 4, 16 and 60 s: in all more than the minute by which providers count.
    pub const MODEL: Pauses = Pauses {
        first: 1.0,
        factor: 4.0,
        longest: 60.0,
        asked_cap: 90.0,
        storm: 5,
        patience: f64::INFINITY,
        hopeless: 3,
        counts_at_once: false,
    };

    /// For the agent under test, which may only be able to do few things at once: shorter pauses, and half a minute in all.
    pub const AGENT: Pauses = Pauses {
        first: 0.25,
        factor: 2.0,
        longest: 8.0,
        asked_cap: 90.0,
        storm: u32::MAX,
        patience: 30.0,
        hopeless: u64::MAX,
        counts_at_once: true,
    };
}

/// Which limit refused a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concerns {
    /// The one on requests.
    Requests,
    /// The one on tokens.
    Tokens,
    /// It does not say.
    Unknown,
}

impl Concerns {
    /// Reads it from the words of the refusal: `requests per min (RPM)`, `input tokens per minute`.
    pub fn of(words: &str) -> Concerns {
        let words = words.to_lowercase();
        if words.contains("tokens per") || words.contains("tpm") {
            Concerns::Tokens
        } else if words.contains("requests per") || words.contains("rpm") {
            Concerns::Requests
        } else {
            Concerns::Unknown
        }
    }
}

/// As many requests may be on their way before anything came back.
const FIRST_FLIGHT: u64 = 8;

/// Each that was accepted lets so many more be on their way: an endpoint that works is not kept waiting.
const FOLLOWERS: u64 = 64;

/// What the gate says to the first of the queue.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It may send.
    Go(Ticket),
    /// It may ask again at this moment.
    At(f64),
    /// It may ask again when something has come back.
    AfterAReply,
}

/// A request on its way.
#[derive(Debug)]
pub(super) struct Ticket {
    departed: f64,
    estimated: f64,
    reserved: f64,
    /// What had left with it, of requests and of tokens.
    sent: (f64, f64),
    /// How many were on their way with it, itself too.
    at_once: u64,
}

/// How many requests may be on their way at once: halved by a refusal, and raised one by one, the more slowly the more often
/// the same number was refused.
#[derive(Debug)]
struct AtOnce {
    most: f64,
    refused: f64,
    times: i32,
}

impl AtOnce {
    /// Whether the refusal is explained by others on their way.
    fn refused(&mut self, at_once: u64) -> bool {
        let at_once = at_once as f64;
        if at_once < 2.0 {
            return false;
        }
        self.times = if at_once >= self.refused { (self.times + 1).min(5) } else { 0 };
        self.refused = at_once;
        self.most = (self.most.min(at_once) / 2.0).floor().max(1.0);
        true
    }

    fn accepted(&mut self) {
        let is_near = self.most + 1.0 >= self.refused;
        let steps = if is_near { 10.0 * 2.0_f64.powi(self.times) } else { 1.0 };
        self.most += 1.0 / (steps * self.most);
    }
}

/// The rules.
#[derive(Debug)]
pub(super) struct Gate {
    requests: Pace,
    tokens: Pace,
    pauses: Pauses,
    chance: fastrand::Rng,
    paused_until: f64,
    /// When the last refusal that counted came; whatever left before it tells nothing new.
    refused_at: f64,
    strikes: u32,
    /// When the first of them came.
    first_strike: f64,
    /// Seconds that were asked for and waited since then.
    believed: f64,
    at_once: AtOnce,
    storms: u64,
    /// How many there were when something was accepted last.
    storms_before: u64,
    on_their_way: u64,
    accepted: u64,
    /// How many tokens a request costs for each that was estimated.
    tokens_per_estimated: f64,
}

impl Gate {
    pub(super) fn new(pauses: Pauses, rng_seed: u64) -> Gate {
        // Six requests a minute are always dared, by the pauses that are usual.
        let least = 0.1 / pauses.first.max(1.0);
        Gate {
            requests: Pace::new(1.0, least),
            tokens: Pace::new(1000.0, 1000.0 * least),
            pauses,
            chance: fastrand::Rng::with_seed(rng_seed),
            paused_until: 0.0,
            refused_at: f64::NEG_INFINITY,
            strikes: 0,
            first_strike: 0.0,
            believed: 0.0,
            at_once: AtOnce { most: f64::INFINITY, refused: f64::INFINITY, times: 0 },
            storms: 0,
            storms_before: 0,
            on_their_way: 0,
            accepted: 0,
            tokens_per_estimated: 1.0,
        }
    }

    /// How many storms there were.
    pub(super) fn storms(&self) -> u64 {
        self.storms
    }

    /// Whether storm followed storm, and a pause is on: whoever comes now need not wait for its end.
    pub(super) fn is_hopeless(&self, now: f64) -> bool {
        self.storms - self.storms_before >= self.pauses.hopeless && now < self.paused_until
    }

    pub(super) fn ask(&mut self, now: f64, estimated: f64) -> Verdict {
        // Where nothing is known to work, one goes first.
        let is_probing = self.strikes >= 2 || self.strikes == 1 && self.accepted < FIRST_FLIGHT;
        let most = match self.pauses.counts_at_once {
            true => self.at_once.most as u64,
            false => FIRST_FLIGHT + FOLLOWERS * self.accepted,
        };
        if is_probing && self.on_their_way > 0 || self.on_their_way >= most {
            return Verdict::AfterAReply;
        }
        let reserved = estimated.max(1.0) * self.tokens_per_estimated;
        let ready = self.paused_until.max(self.requests.ready_at(now)).max(self.tokens.ready_at(now));
        if ready > now {
            return Verdict::At(ready);
        }
        self.on_their_way += 1;
        self.requests.departed(now, 1.0);
        self.tokens.departed(now, reserved);
        let sent = (self.requests.sent(), self.tokens.sent());
        let at_once = self.on_their_way;
        Verdict::Go(Ticket { departed: now, estimated: estimated.max(1.0), reserved, sent, at_once })
    }

    pub(super) fn accepted(&mut self, now: f64, ticket: Ticket, tokens: Option<f64>, told: &Told) {
        self.on_their_way = self.on_their_way.saturating_sub(1);
        self.accepted += 1;
        self.storms_before = self.storms;
        self.at_once.accepted();
        let spent = tokens.unwrap_or(ticket.reserved);
        if tokens.is_some() {
            let ratio = (spent / ticket.estimated).clamp(0.05, 20.0);
            self.tokens_per_estimated += 0.2 * (ratio - self.tokens_per_estimated);
        }
        let is_news = ticket.departed >= self.refused_at;
        self.requests.arrived(now, 1.0, is_news);
        self.tokens.arrived(now, spent, is_news);
        if is_news {
            self.strikes = 0;
        }
        self.told(now, &ticket, told);
    }

    /// Whether it makes a storm.
    pub(super) fn refused(
        &mut self,
        now: f64,
        ticket: Ticket,
        concerns: Concerns,
        asked: Option<f64>,
        told: &Told,
    ) -> bool {
        self.on_their_way = self.on_their_way.saturating_sub(1);
        self.told(now, &ticket, told);
        let asked = asked.map(|asked| asked.clamp(0.0, self.pauses.asked_cap));
        if ticket.departed < self.refused_at {
            // It left before everybody was told to slow down; only its wish counts.
            self.paused_until = self.paused_until.max(now + asked.unwrap_or(0.0));
            return false;
        }
        self.refused_at = now;
        self.strikes += 1;
        if self.strikes == 1 {
            (self.first_strike, self.believed) = (now, 0.0);
        }
        let in_a_row = (self.strikes, now - self.first_strike);
        let is_too_much_at_once = self.pauses.counts_at_once && self.at_once.refused(ticket.at_once);
        if concerns != Concerns::Tokens && !is_too_much_at_once {
            self.requests.slow_down(now, asked, in_a_row);
        }
        if concerns != Concerns::Requests && !is_too_much_at_once {
            self.tokens.slow_down(now, asked, in_a_row);
        }
        let own = self.pauses.first * self.pauses.factor.powi(self.strikes.min(30) as i32 - 1);
        let own = own.min(self.pauses.longest);
        let pause = match asked {
            // The endpoint knows best, unless it was believed in vain.
            Some(asked) if self.strikes <= 2 => asked,
            Some(asked) => asked.max(own),
            None => own,
        };
        // Only ever later, so that nobody knocks before the time.
        self.paused_until = self.paused_until.max(now + pause * (1.0 + 0.1 * self.chance.f64()));
        if let (Some(asked), 1..=2) = (asked, self.strikes) {
            self.believed += asked;
        }
        let waited = now + pause - self.first_strike - self.believed;
        let is_storm = self.strikes >= self.pauses.storm || waited > self.pauses.patience;
        if is_storm {
            self.storms += 1;
            // Whoever comes next tries once.
            self.strikes = self.strikes.min(self.pauses.storm - 1);
        }
        is_storm
    }

    /// Nothing came back of it.
    pub(super) fn lost(&mut self, _: Ticket) {
        self.on_their_way = self.on_their_way.saturating_sub(1);
    }

    fn told(&mut self, now: f64, ticket: &Ticket, told: &Told) {
        // Somewhere between departure and reply.
        let counted = (ticket.departed + now) / 2.0;
        if let Some(allowance) = &told.requests {
            self.requests.told(counted, ticket.sent.0, allowance);
        }
        if let Some(allowance) = &told.tokens {
            self.tokens.told(counted, ticket.sent.1, allowance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_its_limit_or_none() {
        for (words, concerns) in [
            ("Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000, Requested 300.", Concerns::Tokens),
            ("This request would exceed your rate limit of 30,000 input tokens per minute.", Concerns::Tokens),
            ("Rate limit reached on requests per min (RPM): Limit 3.", Concerns::Requests),
            ("Too many requests", Concerns::Unknown),
        ] {
            assert_eq!(Concerns::of(words), concerns, "{words}");
        }
    }

    #[test]
    fn after_three_storms_in_a_row_nobody_waits_until_something_is_accepted() {
        let mut gate = Gate::new(Pauses::MODEL, 1);
        let (mut now, mut storms) = (0.0, 0);
        let go = |gate: &mut Gate, now: &mut f64| loop {
            match gate.ask(*now, 100.0) {
                Verdict::Go(ticket) => return ticket,
                Verdict::At(moment) => *now = moment,
                Verdict::AfterAReply => panic!("nothing is on its way"),
            }
        };
        while storms < 3 {
            assert!(!gate.is_hopeless(now));
            let ticket = go(&mut gate, &mut now);
            // An endless wait that is asked for is cut to what is bearable.
            storms += u64::from(gate.refused(now, ticket, Concerns::Unknown, Some(9_999_999.0), &Told::default()));
        }
        assert!(gate.is_hopeless(now) && now < 700.0, "{now}");
        let ticket = go(&mut gate, &mut now);
        gate.accepted(now, ticket, None, &Told::default());
        assert!(!gate.is_hopeless(now));
    }

    #[test]
    fn refusals_of_what_left_together_slow_down_once() {
        let mut gate = Gate::new(Pauses::MODEL, 1);
        let mut go = || match gate.ask(0.0, 100.0) {
            Verdict::Go(ticket) => ticket,
            other => panic!("{other:?}"),
        };
        let tickets = [go(), go(), go()];
        for ticket in tickets {
            gate.refused(1.0, ticket, Concerns::Unknown, None, &Told::default());
        }
        assert_eq!(gate.strikes, 1);
        assert!((2.0..2.2).contains(&gate.paused_until), "{}", gate.paused_until);
    }
}
