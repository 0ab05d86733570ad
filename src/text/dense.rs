//! Texts in which white space does not matter.

use memchr::memmem;

/// A text without white space as JSON has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenseText(Vec<u8>);

impl DenseText {
    /// The text without its white space.
    pub fn new(text: &str) -> DenseText {
        let mut dense = text.as_bytes().to_vec();
        dense.retain(|byte| !byte.is_ascii_whitespace());
        DenseText(dense)
    }

    /// Whether a part stands in it, whatever spaces and lines either is written with.
    pub fn contains(&self, part: &str) -> bool {
        memmem::find(&self.0, &DenseText::new(part).0).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_and_lines_do_not_matter_and_letters_do() {
        let text = DenseText::new("Reply with\n{\"score\": 1.0}\t– naïve");
        assert!(text.contains("{ \"score\":\r\n1.0 }") && text.contains("– naïve") && text.contains(""));
        assert!(!text.contains("{\"score\": 1}") && !text.contains("naive"));
    }
}
