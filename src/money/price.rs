//! The price of a model's tokens.

use serde::{Deserialize, Serialize};

use super::Dollars;
use crate::evidence::Usage;

/// The price of a model's tokens, in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Input tokens that were in the provider's cache; the same as `input` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Output tokens, reasoning included.
    pub output: f64,
    /// The rates of long requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_context: Option<LongContext>,
}

/// The rates of requests above a number of input tokens, and of their replies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LongContext {
    /// The largest number of input tokens at the usual rates.
    pub above: u64,
    /// Input tokens.
    pub input: f64,
    /// Input tokens that were in the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Output tokens.
    pub output: f64,
}

/// The cost of calls, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Exactly this.
    Exactly(Dollars),
    /// This, and the unknown cost of calls that reported no token counts.
    AtLeast(Dollars),
    /// Unknown: there is no price, or no call reported its token counts.
    Unknown,
}

impl Cost {
    /// Nothing.
    pub const NOTHING: Cost = Cost::Exactly(Dollars::ZERO);

    /// The sum; a lower bound where one of the two is not exact.
    pub fn plus(self, other: Cost) -> Cost {
        match (self, other) {
            (Cost::Exactly(a), Cost::Exactly(b)) => Cost::Exactly(a.plus(b)),
            (Cost::Unknown, Cost::Unknown) => Cost::Unknown,
            (a, b) => Cost::AtLeast(a.known().plus(b.known())),
        }
    }

    /// The part that is known.
    pub fn known(self) -> Dollars {
        match self {
            Cost::Exactly(dollars) | Cost::AtLeast(dollars) => dollars,
            Cost::Unknown => Dollars::ZERO,
        }
    }
}

impl Price {
    /// The cost of this usage. Where its longest request was a long one, all of it is priced so: sums do not tell which
    /// tokens were those of the long ones.
    pub fn cost(&self, usage: &Usage) -> Cost {
        if *usage == Usage::default() {
            return Cost::NOTHING;
        }
        let Some((input, output)) = usage.input_tokens.zip(usage.output_tokens) else { return Cost::Unknown };
        let cached = usage.cached_input_tokens.unwrap_or(0).min(input);
        let rates = self.rates(usage.largest_input_tokens.unwrap_or(input));
        let known = rates.input.times(input - cached).plus(rates.cached.times(cached)).plus(rates.output.times(output));
        if usage.unreported_calls > 0 { Cost::AtLeast(known) } else { Cost::Exactly(known) }
    }

    /// The most that a call can cost whose request has at most so many tokens, and whose reply.
    pub fn at_most(&self, input: u64, output: u64) -> Dollars {
        let (usual, long) = (self.rates(0), self.rates(input));
        let input = usual.input.max(usual.cached).max(long.input).max(long.cached).times(input);
        input.plus(usual.output.max(long.output).times(output))
    }

    /// The most that so many tokens can cost, whatever they are of.
    pub fn dearest(&self, tokens: u64) -> Dollars {
        let [usual, long] = [0, u64::MAX].map(|request| self.rates(request));
        let rates = [usual.input, usual.cached, usual.output, long.input, long.cached, long.output];
        rates.into_iter().max().unwrap_or_default().times(tokens)
    }

    fn rates(&self, request: u64) -> Rates {
        let of = |input: f64, cached: Option<f64>, output: f64| Rates {
            input: per_token(input),
            cached: per_token(cached.unwrap_or(input)),
            output: per_token(output),
        };
        match &self.long_context {
            Some(long) if request > long.above => of(long.input, long.cached_input, long.output),
            _ => of(self.input, self.cached_input, self.output),
        }
    }
}

/// The rates of a single token.
struct Rates {
    input: Dollars,
    cached: Dollars,
    output: Dollars,
}

fn per_token(of_a_million: f64) -> Dollars {
    Dollars::from(of_a_million / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINI: Price = Price { input: 0.4, cached_input: Some(0.1), output: 1.6, long_context: None };

    fn dollars(amount: f64) -> Dollars {
        Dollars::new(amount).unwrap()
    }

    #[test]
    fn cached_tokens_are_part_of_the_request_and_cheaper() {
        let usage = Usage { cached_input_tokens: Some(600_000), ..Usage::from_counts(Some(1_000_000), Some(100_000)) };
        assert_eq!(MINI.cost(&usage), Cost::Exactly(dollars(0.16 + 0.06 + 0.16)));
        let usage = Usage { cached_input_tokens: None, ..usage };
        assert_eq!(MINI.cost(&usage), Cost::Exactly(dollars(0.4 + 0.16)));
        let more_than_all = Usage { cached_input_tokens: Some(2_000_000), ..usage };
        assert_eq!(MINI.cost(&more_than_all), Cost::Exactly(dollars(0.1 + 0.16)));
    }

    #[test]
    fn what_is_not_known_is_not_free() {
        assert_eq!(MINI.cost(&Usage::from_counts(None, Some(5))), Cost::Unknown);
        assert_eq!(MINI.cost(&Usage::default()), Cost::NOTHING);
        let without_calls = Usage { calls: 0, ..Usage::from_counts(Some(1_000_000), Some(0)) };
        assert_eq!(MINI.cost(&without_calls), Cost::Exactly(dollars(0.4)));
        let one_unknown = Usage::from_counts(Some(1_000_000), Some(0)).plus(Usage::from_counts(None, None));
        assert_eq!(MINI.cost(&one_unknown), Cost::AtLeast(dollars(0.4)));
        assert_eq!(Cost::Unknown.plus(Cost::Exactly(dollars(1.0))), Cost::AtLeast(dollars(1.0)));
        assert_eq!(Cost::Unknown.plus(Cost::Unknown), Cost::Unknown);
    }

    #[test]
    fn a_long_request_costs_more_from_its_limit_on() {
        let long = LongContext { above: 200_000, input: 4.0, cached_input: None, output: 18.0 };
        let price = Price { input: 2.0, cached_input: None, output: 12.0, long_context: Some(long) };
        assert_eq!(price.cost(&Usage::from_counts(Some(200_000), Some(0))), Cost::Exactly(dollars(0.4)));
        assert_eq!(price.cost(&Usage::from_counts(Some(200_001), Some(0))), Cost::Exactly(dollars(0.800_004)));
        assert_eq!(price.at_most(200_000, 1_000), dollars(0.4 + 0.012));
        assert_eq!(price.at_most(300_000, 1_000), dollars(1.2 + 0.018));
    }

    #[test]
    fn nothing_costs_more_than_the_most_that_it_can_cost() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..2_000 {
            let mut rate = || (rng.f64() * 20.0 * 1e6).round() / 1e6;
            let long = LongContext { above: 100, input: rate(), cached_input: Some(rate()), output: rate() };
            let price = Price { input: rate(), cached_input: Some(rate()), output: rate(), long_context: Some(long) };
            let (most_in, most_out) = (rng.u64(1..300), rng.u64(1..300));
            let (input, output) = (rng.u64(0..=most_in), rng.u64(0..=most_out));
            let usage = Usage {
                cached_input_tokens: Some(rng.u64(0..=input)),
                ..Usage::from_counts(Some(input), Some(output))
            };
            let Cost::Exactly(cost) = price.cost(&usage) else { panic!("{usage:?}") };
            assert!(cost <= price.at_most(most_in, most_out), "{price:?} {usage:?}");
        }
    }
}
