//! The most that requests can have cost of which the usage is not known.

use std::collections::BTreeMap;

use crate::money::{Amount, Dollars, Price};

/// The most that requests of our own models without a known usage can have cost, by model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SetAside(BTreeMap<String, ModelShare>);

/// The share of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct ModelShare {
    /// What was set aside while the model had a price.
    priced: Amount,
    /// Tokens that were set aside while it had none.
    unpriced_tokens: u64,
}

impl SetAside {
    /// Adds what was set aside for a request to a model.
    pub fn add(&mut self, model: &str, amount: Amount) {
        if amount == Amount::default() {
            return;
        }
        let share = self.0.entry(model.to_owned()).or_default();
        match amount.dollars {
            Dollars::ZERO => share.unpriced_tokens = share.unpriced_tokens.saturating_add(amount.tokens),
            _ => share.priced = share.priced.plus(amount),
        }
    }

    /// Adds all of another.
    pub fn extend(&mut self, other: &SetAside) {
        for (model, other) in &other.0 {
            let share = self.0.entry(model.clone()).or_default();
            share.priced = share.priced.plus(other.priced);
            share.unpriced_tokens = share.unpriced_tokens.saturating_add(other.unpriced_tokens);
        }
    }

    /// All of it, by the prices of today. What was set aside without a price, or by another one than that of `before`, is not known
    /// to be of requests or replies: each token has the dearer of the two prices.
    pub fn amount(&self, now: &BTreeMap<String, Price>, before: &BTreeMap<String, Price>) -> Amount {
        let share = |(model, share): (&String, &ModelShare)| {
            let ModelShare { priced, unpriced_tokens } = *share;
            let price = now.get(model);
            let is_other = price.is_some() && price != before.get(model);
            let repriced = if is_other { priced.tokens } else { 0 };
            let most = |tokens| price.map_or(Dollars::ZERO, |price| price.dearest(tokens));
            let tokens = priced.tokens.saturating_add(unpriced_tokens);
            Amount { dollars: priced.dollars.max(most(repriced)).plus(most(unpriced_tokens)), tokens }
        };
        self.0.iter().map(share).fold(Amount::default(), Amount::plus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_aside_without_a_price_costs_the_dearer_one() {
        let price = |input, output| Price { input, cached_input: None, output, long_context: None };
        let dollars = |amount| Dollars::new(amount).unwrap();
        let prices = |price| BTreeMap::from([("m".to_owned(), price)]);
        let mut aside = SetAside::default();
        aside.add("m", Amount { dollars: Dollars::ZERO, tokens: 1_000_000 });
        aside.add("other", Amount { dollars: Dollars::ZERO, tokens: 5 });
        let (none, now) = (BTreeMap::new(), prices(price(1.0, 4.0)));
        assert_eq!(aside.amount(&none, &none), Amount { dollars: Dollars::ZERO, tokens: 1_000_005 });
        assert_eq!(aside.amount(&now, &none), Amount { dollars: dollars(4.0), tokens: 1_000_005 });
        let mut priced = SetAside::default();
        priced.add("m", Amount { dollars: dollars(2.0), tokens: 1_000_000 });
        assert_eq!(priced.amount(&now, &now).dollars, dollars(2.0), "it was set aside by this price");
        assert_eq!(priced.amount(&prices(price(1.0, 8.0)), &now).dollars, dollars(8.0));
        priced.extend(&aside);
        assert_eq!(priced.amount(&now, &now), Amount { dollars: dollars(6.0), tokens: 2_000_005 });
    }
}
