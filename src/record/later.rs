//! What later entries of a journal say of earlier ones: it is known before the trials are put together.

use std::collections::BTreeMap;

use super::{Entry, Provenance};
use crate::money::Price;

/// The prices of a run's models, by their names, and their day.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunPrices {
    /// The known prices, in dollars a million tokens.
    pub models: BTreeMap<String, Price>,
    /// The day of the prices.
    pub dated: String,
}

impl RunPrices {
    /// Everything in the record of a run is priced by these from now on, but for models of which they know no price.
    pub(super) fn replace(self, provenance: &mut Provenance) {
        if !self.models.is_empty() {
            provenance.prices.extend(self.models);
            provenance.prices_dated = self.dated;
        }
    }
}

/// What later entries say of earlier ones.
#[derive(Debug, Clone, Default)]
pub struct LaterEntries {
    /// How often each trial is run again: an attempt that is restarted is not handed out as finished. See
    /// [`Entry::TrialRestarted`].
    pub(super) restarts: BTreeMap<u32, u32>,
    /// The prices by which the run went on last: one record has one price for a model.
    pub(super) prices: Option<RunPrices>,
}

impl LaterEntries {
    /// What these say.
    pub fn from_entries<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> LaterEntries {
        let mut later = LaterEntries::default();
        entries.into_iter().for_each(|entry| later.add(entry));
        later
    }

    /// Takes in the next entry.
    pub fn add(&mut self, entry: &Entry) {
        if let Some(trial) = entry.takes_up_again() {
            *self.restarts.entry(trial).or_default() += 1;
        }
        if let Entry::RunResumed { prices, prices_dated, .. } = entry
            && !prices.is_empty()
        {
            let known = self.prices.get_or_insert_default();
            known.models.extend(prices.clone());
            known.dated.clone_from(prices_dated);
        }
    }

    /// The same with the prices of whoever goes on with the run now.
    pub fn with_prices(self, prices: Option<RunPrices>) -> LaterEntries {
        LaterEntries { prices: prices.filter(|it| !it.models.is_empty()).or(self.prices), ..self }
    }
}
