//! What requests of our own models set aside beyond what they took.

use std::collections::BTreeMap;

use crate::evidence::Usage;
use crate::money::{Amount, Dollars, Price};

/// By model, the request that set most tokens aside beyond those that it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Margins(BTreeMap<String, Margin>);

/// What one request set aside, and what it took.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Margin {
    most: Amount,
    took: Usage,
}

impl Margin {
    fn tokens(&self) -> u64 {
        let took = [self.took.input_tokens, self.took.output_tokens].into_iter().flatten().sum();
        self.most.tokens.saturating_sub(took)
    }
}

impl Margins {
    /// A request to a model is over that could cost so much at most.
    pub(super) fn add(&mut self, model: &str, most: Amount, took: Usage) {
        let margin = Margin { most, took };
        if most != Amount::default() && self.0.get(model).is_none_or(|known| known.tokens() < margin.tokens()) {
            self.0.insert(model.to_owned(), margin);
        }
    }

    /// The largest of all, where tokens are priced as they were then.
    pub fn largest(&self, prices: &BTreeMap<String, Price>) -> Amount {
        let amount = |(model, margin): (&String, &Margin)| {
            let took = prices.get(model).map_or(Dollars::ZERO, |price| price.cost(&margin.took).known());
            Amount { dollars: margin.most.dollars.minus(took), tokens: margin.tokens() }
        };
        self.0.iter().map(amount).fold(Amount::default(), Amount::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_is_that_of_the_request_that_took_least_of_what_it_set_aside() {
        let dollars = |amount| Dollars::new(amount).unwrap();
        let aside = |tokens| Amount { dollars: dollars(tokens as f64 / 1e6), tokens };
        let mut margins = Margins::default();
        margins.add("judge", aside(50), Usage::from_counts(Some(30), Some(10)));
        margins.add("judge", aside(40), Usage::from_counts(Some(10), None));
        margins.add("judge", aside(20), Usage::default());
        margins.add("persona", Amount { tokens: 25, ..Amount::default() }, Usage::from_counts(Some(1), Some(1)));
        let price = Price { input: 1.0, cached_input: None, output: 1.0, long_context: None };
        let prices = BTreeMap::from([("judge".to_owned(), price)]);
        assert_eq!(margins.largest(&prices), Amount { dollars: dollars(40e-6), tokens: 30 });
        assert_eq!(Margins::default().largest(&prices), Amount::default());
    }
}
