//! `scorer.model`: one judge, or a panel of several.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::model_file::ModelMapping;
use super::{Model, ModelName, ModelNameError};

/// The most judges of a panel.
const MOST: usize = 9;

/// The judges: one, or a panel of several, each of which is asked everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Panel {
    first: Model,
    others: Vec<Model>,
}

/// Models that are no panel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PanelError {
    /// There is none.
    #[error("a panel needs a judge: `scorer: {{model: openai/gpt-4.1-mini}}`")]
    Empty,
    /// There are too many.
    #[error("a panel has {MOST} judges at most, and this one has {0}")]
    TooMany(usize),
    /// The same model twice.
    #[error("`{0}` is in the panel twice; `samples` asks a judge several times")]
    Twice(ModelName),
    /// A name of no model.
    #[error(transparent)]
    Name(#[from] ModelNameError),
    /// The scripted rules are one of several.
    #[error("`scripted` can't be one of several judges: it scores only tasks and tone")]
    Rules,
}

impl Panel {
    /// A panel of these judges.
    ///
    /// # Errors
    /// No judge, too many, the same twice, or rules beside models.
    pub fn new(models: Vec<Model>) -> Result<Panel, PanelError> {
        let names: Vec<&ModelName> = models.iter().map(|model| &model.name).collect();
        if let Some((_, error)) = no_seat(&names) {
            return Err(error);
        }
        let mut models = models.into_iter();
        Ok(Panel { first: models.next().ok_or(PanelError::Empty)?, others: models.collect() })
    }

    /// Reads the names of one judge or several, with commas between them.
    ///
    /// # Errors
    /// A name that is none, or models that are no panel.
    pub fn parse(text: &str) -> Result<Panel, PanelError> {
        let models = text.split(',').map(|name| Ok(Model::new(ModelName::parse(name.trim())?)));
        Panel::new(models.collect::<Result<_, ModelNameError>>()?)
    }

    /// The judges, in their order; one or more.
    pub fn judges(&self) -> impl Iterator<Item = &Model> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The names of the judges where there are several; none where there is one.
    pub fn seats(&self) -> Vec<String> {
        if self.others.is_empty() { Vec::new() } else { self.judges().map(|judge| judge.name.to_string()).collect() }
    }

    /// Whether no model judges.
    pub fn is_scripted(&self) -> bool {
        self.first.name == ModelName::Scripted
    }

    /// Whether the job names its judges.
    pub fn is_named(&self) -> bool {
        self.first.is_named || !self.others.is_empty()
    }

    /// Whether the job says nothing of them.
    pub(super) fn is_unnamed(&self) -> bool {
        !self.is_named()
    }

    /// Replaces the judges. One whose name is among those before keeps the address and the key that the job gives it.
    pub fn replace(&mut self, judges: &Panel) {
        let known = |judge: &Model| self.judges().find(|own| own.name == judge.name).unwrap_or(judge).clone();
        *self = Panel { first: known(&judges.first), others: judges.others.iter().map(known).collect() };
    }

    /// The one judge; `None` of a panel.
    pub(crate) fn only_mut(&mut self) -> Option<&mut Model> {
        self.others.is_empty().then_some(&mut self.first)
    }
}

/// The first judge that can't sit in a panel, by its place from 0, and why.
pub(super) fn no_seat(names: &[&ModelName]) -> Option<(usize, PanelError)> {
    names.iter().enumerate().find_map(|(at, name)| {
        let error = match name {
            _ if at >= MOST => PanelError::TooMany(names.len()),
            ModelName::Scripted if names.len() > 1 => PanelError::Rules,
            name if names[..at].contains(name) => PanelError::Twice((*name).clone()),
            _ => return None,
        };
        Some((at, error))
    })
}

impl From<Model> for Panel {
    fn from(first: Model) -> Panel {
        Panel { first, others: Vec::new() }
    }
}

/// The judges' names, as `--scorer-model` takes them.
impl fmt::Display for Panel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.judges().map(|judge| judge.name.to_string()).collect();
        f.write_str(&names.join(","))
    }
}

impl Serialize for Panel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.others.is_empty() {
            return self.first.serialize(serializer);
        }
        self.judges().collect::<Vec<_>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Panel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Panel, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Panel::default()),
            Value::Array(models) => {
                let read = |model| serde_json::from_value(model).map_err(Error::custom);
                let models = models.into_iter().map(read).collect::<Result<_, _>>()?;
                Panel::new(models).map_err(Error::custom)
            }
            model => serde_json::from_value::<Model>(model).map(Panel::from).map_err(Error::custom),
        }
    }
}

impl JsonSchema for Panel {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Panel".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mapping = generator.subschema_for::<ModelMapping>();
        let judge = json_schema!({ "anyOf": [{ "type": "string" }, mapping] });
        json_schema!({ "anyOf": [
            { "type": ["string", "null"] },
            mapping,
            { "type": "array", "items": judge, "minItems": 1, "maxItems": MOST },
        ] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> serde_json::Result<Panel> {
        serde_json::from_str(text)
    }

    #[test]
    fn one_judge_is_written_as_a_model_and_several_as_a_list() {
        let one = read(r#""openai/a""#).unwrap();
        assert_eq!((one.seats(), one.to_string()), (Vec::new(), "openai/a".to_owned()));
        assert_eq!(read(r#"["openai/a"]"#).unwrap(), one);
        let several = read(r#"["openai/a", {"name": "gemini/b", "baseUrl": "http://h"}]"#).unwrap();
        assert_eq!(several.seats(), ["openai/a", "gemini/b"]);
        for panel in [one, several] {
            assert_eq!(read(&serde_json::to_string(&panel).unwrap()).unwrap(), panel);
        }
    }

    #[test]
    fn a_judge_that_stays_keeps_its_address() {
        let mut panel = read(r#"["openai/a", {"name": "openai/b", "baseUrl": "http://h"}]"#).unwrap();
        panel.replace(&Panel::parse("openai/b, openai/c").unwrap());
        assert_eq!(panel.to_string(), "openai/b,openai/c");
        let addresses: Vec<_> = panel.judges().map(|judge| judge.base_url.as_deref()).collect();
        assert_eq!(addresses, [Some("http://h"), None]);
        assert!(Panel::parse("openai/a,,openai/b").is_err());
    }

    #[test]
    fn what_is_no_panel_is_refused_with_the_reason() {
        for (text, why) in [
            ("[]", "a panel needs a judge"),
            (r#"["openai/a", "a"]"#, "`openai/a` is in the panel twice; `samples`"),
            (r#"["openai/a", "scripted"]"#, "`scripted` can't be one of several judges"),
            (r#"["a","b","c","d","e","f","g","h","i","j"]"#, "9 judges at most, and this one has 10"),
            (r#"["openai/a", "acme/b"]"#, "`acme` is not a provider"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
