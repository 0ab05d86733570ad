//! Reads the tags that mark the data in the embedded templates.

use std::fmt;

/// A tag that the prompt should have and has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MissingTag(pub(super) &'static str);

impl fmt::Display for MissingTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "The scripted stand-in finds no <{0}> … </{0}> in the prompt: it can only read prompts that mark their data with the tags of the embedded templates. Keep those tags in a template of your own, or name a language model.",
            self.0
        )
    }
}

/// One element: its attributes as written, and its content, still escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element<'a> {
    attributes: &'a str,
    pub(super) inner: &'a str,
}

impl Element<'_> {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let start = self.attributes.find(&format!("{name}=\""))? + name.len() + 2;
        self.attributes[start..].split('"').next()
    }

    /// Its content, unescaped.
    pub(super) fn text(&self) -> String {
        unescape(self.inner).trim().to_owned()
    }
}

/// The last element of this name: a template's data comes after its prose.
pub(super) fn last<'a>(text: &'a str, name: &'static str) -> Result<Element<'a>, MissingTag> {
    let start = [" ", ">"].iter().filter_map(|end| text.rfind(&format!("<{name}{end}"))).max();
    start.and_then(|start| first(&text[start..], name)).map(|(element, _)| element).ok_or(MissingTag(name))
}

/// All elements of this name, in order.
pub(super) fn all<'a>(text: &'a str, name: &str) -> Vec<Element<'a>> {
    let mut rest = text;
    let mut found = Vec::new();
    while let Some((element, after)) = first(rest, name) {
        found.push(element);
        rest = after;
    }
    found
}

/// The text as it was before the prompt escaped it.
fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&amp;", "&")
}

fn first<'a>(text: &'a str, name: &str) -> Option<(Element<'a>, &'a str)> {
    let open = [" ", ">"].iter().filter_map(|end| text.find(&format!("<{name}{end}"))).min()?;
    let body = &text[open + 1 + name.len()..];
    let (attributes, body) = body.split_once('>')?;
    let (inner, after) = body.split_once(&format!("</{name}>"))?;
    Some((Element { attributes, inner }, after))
}

#[cfg(test)]
mod tests;
