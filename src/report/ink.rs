//! Colours, or none. Everything can be read without them.

use anstyle::{AnsiColor, Style};

/// How a text is painted: one of [`Ink`]'s functions.
pub type Paint = fn(Ink, &str) -> String;

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// ANSI colours.
    Colour,
    /// None.
    None,
}

impl Ink {
    /// Any style.
    pub fn paint(self, style: Style, text: &str) -> String {
        match self {
            Ink::Colour if !text.is_empty() => format!("{style}{text}{style:#}"),
            _ => text.to_owned(),
        }
    }

    /// For all else.
    pub fn unpainted(self, text: &str) -> String {
        text.to_owned()
    }

    /// For what matters most.
    pub fn bold(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// For what matters less.
    pub fn dim(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// For what went well.
    pub fn good(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    /// For what did not.
    pub fn bad(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default(), text)
    }

    /// For what could not be determined.
    pub fn unsure(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }
}
