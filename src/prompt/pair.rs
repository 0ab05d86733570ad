//! The prompt that shows the judge two conversations.

use minijinja::{Value, context};

use super::cut::Cut;
use super::fence::escape;
use super::{PromptError, RenderedQuestion, Templates};

/// Two conversations, one beside the other.
#[derive(Debug, Clone, Copy)]
pub struct PairView<'a> {
    /// By what one is better than the other.
    pub criteria: &'a str,
    /// The messages of the first, each with who says it.
    pub first: &'a [(&'static str, &'a str)],
    /// The messages of the second.
    pub second: &'a [(&'static str, &'a str)],
    /// All facts of the case.
    pub facts: &'a [String],
    /// Texts for the judge, each with its name.
    pub context: &'a [(&'a str, &'a str)],
}

impl Templates {
    /// The question which of two conversations is better.
    ///
    /// # Errors
    /// When the template can't be rendered.
    pub fn pair(&self, view: &PairView<'_>) -> Result<RenderedQuestion, PromptError> {
        self.beside("judge/pairwise", view)
    }

    /// The question how good each of two replies is, by a letter.
    ///
    /// # Errors
    /// When the template can't be rendered.
    pub fn verifier(&self, view: &PairView<'_>) -> Result<RenderedQuestion, PromptError> {
        self.beside("judge/verifier", view)
    }

    fn beside(&self, template: &str, view: &PairView<'_>) -> Result<RenderedQuestion, PromptError> {
        let mut cut = Cut::default();
        let facts: Vec<String> =
            view.facts.iter().map(|fact| escape(&cut.text(fact, || "a fact".to_owned()))).collect();
        let text = |(name, text): &(&str, &str)| {
            let text = cut.text(text, || format!("the context {name}"));
            context! { name => escape(name).replace('"', "&quot;"), text => escape(&text) }
        };
        let context: Vec<Value> = view.context.iter().map(text).collect();
        let mut messages = |which: &str, all: &[(&'static str, &str)]| -> Vec<Value> {
            let message = |(from, text): &(&'static str, &str)| {
                let text = cut.text(text, || format!("a message of the {which} conversation ({from})"));
                context! { from => *from, text => escape(&text) }
            };
            all.iter().map(message).collect()
        };
        let (first, second) = (messages("first", view.first), messages("second", view.second));
        let criteria = escape(view.criteria);
        let prompt = self.render(template, context! { criteria, facts, context, first, second })?;
        Ok(RenderedQuestion { prompt, cuts: cut.into_sentences() })
    }
}
