//! Prices by model.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Price;

/// Prices by model, `provider/model`. The embedded ones are those of the day that stands in them; a file goes before.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceTable {
    /// The day of the embedded prices.
    dated: String,
    /// The day of a file's, where it names one.
    own_dated: Option<String>,
    models: BTreeMap<String, Price>,
    /// The models of a file.
    own: BTreeSet<String>,
    /// Names of models that are asked elsewhere than at their providers, whose prices do not hold there.
    elsewhere: BTreeSet<String>,
}

/// The first error of a file of prices.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PricesError {
    /// It is no YAML, or not of this shape.
    #[error("{0}")]
    Syntax(String),
    /// A price is negative, too large or no number.
    #[error("{model}: {rate} is no price: dollars a million tokens, 0 to 1,000,000")]
    Rate {
        /// The model's name in the file.
        model: String,
        /// Dollars a million tokens.
        rate: f64,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TableFile {
    /// The day of the prices.
    #[serde(default)]
    dated: Option<String>,
    models: BTreeMap<String, Price>,
}

impl Default for PriceTable {
    fn default() -> PriceTable {
        PriceTable::embedded()
    }
}

impl PriceTable {
    /// The embedded prices.
    pub fn embedded() -> PriceTable {
        // A test reads it.
        PriceTable::read(include_str!("prices.yml")).unwrap_or_else(|_| PriceTable::new(String::new(), BTreeMap::new()))
    }

    fn new(dated: String, models: BTreeMap<String, Price>) -> PriceTable {
        PriceTable { dated, own_dated: None, models, own: BTreeSet::new(), elsewhere: BTreeSet::new() }
    }

    /// The same for models of these names that are asked elsewhere than at their providers: only a file's prices hold there.
    pub fn with_elsewhere(mut self, names: impl IntoIterator<Item = String>) -> PriceTable {
        self.elsewhere.extend(names);
        self
    }

    /// Whether a price is known that does not hold, since the model is asked elsewhere than at its provider.
    pub fn is_elsewhere(&self, name: &str) -> bool {
        self.known(name).is_some() && self.price(name).is_none()
    }

    fn read(text: &str) -> Result<PriceTable, PricesError> {
        let TableFile { dated, models } =
            serde_saphyr::from_str(text).map_err(|error| PricesError::Syntax(error.to_string()))?;
        let is_wrong = |rate: f64| !(0.0..=1e6).contains(&rate);
        for (name, price) in &models {
            let long = price.long_context;
            let rates = [Some(price.input), price.cached_input, Some(price.output)];
            let long = long.map_or([None; 3], |long| [Some(long.input), long.cached_input, Some(long.output)]);
            if let Some(rate) = rates.into_iter().chain(long).flatten().find(|rate| is_wrong(*rate)) {
                return Err(PricesError::Rate { model: name.clone(), rate });
            }
        }
        Ok(PriceTable::new(dated.unwrap_or_default(), models))
    }

    /// Adds the prices of a file; they take precedence over the known ones.
    ///
    /// # Errors
    /// The first error in the file.
    pub fn with_file(mut self, text: &str) -> Result<PriceTable, PricesError> {
        let PriceTable { dated, models, .. } = PriceTable::read(text)?;
        self.own.extend(models.keys().cloned());
        self.models.extend(models);
        self.own_dated = (!dated.is_empty()).then_some(dated);
        Ok(self)
    }

    /// The day of the prices of these models, and where they are from a file: `2026-11-20`, `a file`, `2026-11-20, and a file
    /// of 2026-12-01`. Of the agent's own models some may not be known yet: the embedded day stands where any may be asked for.
    pub fn dated(&self, models: impl IntoIterator<Item = String>) -> String {
        let file = || match &self.own_dated {
            Some(day) => format!("a file of {day}"),
            None => "a file".to_owned(),
        };
        let is_own = |name: &String| self.known(name).is_some_and(|(known, _)| self.own.contains(known));
        let models: Vec<String> = models.into_iter().filter(|name| self.price(name).is_some()).collect();
        match (models.iter().any(is_own), !models.is_empty() && models.iter().all(is_own)) {
            (true, true) => file(),
            (true, false) => format!("{}, and {}", self.dated, file()),
            (false, _) => self.dated.clone(),
        }
    }

    /// The price of a model, by the name that a job or an agent has for it: `openai/gpt-4.1-mini`, `gpt-4.1-mini`,
    /// `gpt-4.1-mini-2025-04-14`. A name without a provider must be known of one provider only.
    pub fn price(&self, name: &str) -> Option<&Price> {
        let (known, price) = self.known(name)?;
        (self.own.contains(known) || !self.elsewhere.contains(name)).then_some(price)
    }

    fn known(&self, name: &str) -> Option<(&String, &Price)> {
        let exact = |name: &str| match (self.models.get_key_value(name), name.contains('/')) {
            (Some(known), _) => Some(known),
            (None, true) => None,
            (None, false) => {
                let mut same = self.models.iter().filter(|(known, _)| after_slash(known) == name);
                same.next().filter(|_| same.next().is_none())
            }
        };
        exact(name).or_else(|| exact(undated(name)?))
    }
}

fn after_slash(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, model)| model)
}

/// The name without the day of its version, if it has one: `-2025-04-14`, `-20250514`, `-latest`.
fn undated(name: &str) -> Option<&str> {
    let is_date = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                shape => byte == shape,
            })
    };
    ["-0000-00-00", "-00000000", "-latest"].iter().find_map(|shape| {
        let at = name.len().checked_sub(shape.len())?;
        let (bare, end) = name.split_at_checked(at)?;
        is_date(end, shape).then_some(bare)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_providers_price_holds_only_at_the_provider_and_a_files_everywhere() {
        let table = PriceTable::embedded().with_elsewhere(["openai/gpt-4.1-mini".to_owned()]);
        assert!(table.price("openai/gpt-4.1-mini").is_none() && table.price("gpt-4.1-mini").is_some());
        let table = table.with_file("models: {openai/gpt-4.1-mini: {input: 1, output: 2}}").unwrap();
        assert!(table.price("openai/gpt-4.1-mini").is_some());
    }

    #[test]
    fn the_embedded_prices_can_be_read_and_are_dated() {
        let table = PriceTable::read(include_str!("prices.yml")).unwrap();
        assert!(table.models.len() > 30, "{}", table.models.len());
        assert_eq!(table.dated.len(), "2026-09-30".len());
        for name in table.models.keys() {
            let (provider, _) = name.split_once('/').unwrap();
            assert!(["openai", "anthropic", "gemini"].contains(&provider), "{name}");
            assert!(undated(name).is_none(), "{name}: versions are found without their day");
        }
        for (name, price) in &table.models {
            assert!(price.cached_input.is_none_or(|cached| cached <= price.input), "{name}");
            assert!(price.output >= price.input, "{name}");
        }
    }

    #[test]
    fn a_model_is_found_by_the_names_that_people_have_for_it() {
        let table = PriceTable::embedded();
        let mini = table.price("openai/gpt-4.1-mini").unwrap();
        assert_eq!((mini.input, mini.cached_input, mini.output), (0.4, Some(0.1), 1.6));
        for name in ["gpt-4.1-mini", "gpt-4.1-mini-2025-04-14", "openai/gpt-4.1-mini-2025-04-14"] {
            assert_eq!(table.price(name), Some(mini), "{name}");
        }
        assert!(table.price("anthropic/claude-sonnet-4-20250514").is_some());
        for unknown in ["own", "openai/llama3", "gemini/gpt-4.1-mini", "", "gpt-4.1-mini-20", "é-latest", "-latest"] {
            assert_eq!(table.price(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn the_day_is_that_of_the_prices_that_are_used() {
        let own = |text: &str| PriceTable::embedded().with_file(text).unwrap();
        let dated = |table: &PriceTable, models: &[&str]| table.dated(models.iter().map(|name| (*name).to_owned()));
        let day = PriceTable::embedded().dated;
        let (named, undated) = (
            own("{dated: 2026-11-20, models: {own: {input: 3, output: 4}}}"),
            own("models: {own: {input: 3, output: 4}}"),
        );
        assert_eq!(dated(&named, &["own", "unknown"]), "a file of 2026-11-20");
        assert_eq!(dated(&undated, &["own"]), "a file");
        assert_eq!(dated(&undated, &["own", "gpt-4.1-mini"]), format!("{day}, and a file"));
        assert_eq!(dated(&undated, &["gpt-4.1-mini"]), day);
        assert_eq!(dated(&undated, &["unknown"]), day);
    }

    #[test]
    fn a_file_goes_before_and_says_what_is_wrong_with_it() {
        let table = PriceTable::embedded();
        let file =
            "dated: 2026-11-20\nmodels:\n  openai/gpt-4.1-mini: {input: 1, output: 2}\n  own: {input: 3, output: 4}\n";
        let with = table.clone().with_file(file).unwrap();
        assert_eq!(with.price("openai/gpt-4.1-mini").unwrap().input, 1.0);
        assert_eq!(with.price("own").unwrap().output, 4.0);
        assert!(with.price("openai/gpt-4.1").is_some());
        for (wrong, says) in [
            ("models: {a: {input: -1, output: 2}}", "a: -1 is no price"),
            ("models: {a: {input: 1}}", "output"),
            ("models: {a: {input: 1, output: 2, cached: 3}}", "cached"),
            ("models: {a: {input: 1, output: .nan}}", "is no price"),
            ("a: b", "models"),
            ("", ""),
        ] {
            let error = table.clone().with_file(wrong).unwrap_err().to_string();
            assert!(error.contains(says), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_name_of_two_providers_is_of_neither() {
        let file = "models: {azure/gpt-4.1-mini: {input: 1, output: 2}}";
        let table = PriceTable::embedded().with_file(file).unwrap();
        assert_eq!(table.price("gpt-4.1-mini"), None);
        assert!(table.price("azure/gpt-4.1-mini").is_some());
    }
}
