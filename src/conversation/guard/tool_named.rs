//! A tool of the user's that is spoken of: a user does things, and has no tools.

use super::invented_fact::sources;
use super::scene::Scene;
use crate::text::is_of_word;

/// Words for a tool.
const TOOLS: [&str; 16] = [
    "tool",
    "tools",
    "tool's",
    "werkzeug",
    "werkzeuge",
    "tool-result",
    "outil",
    "outils",
    "herramienta",
    "herramientas",
    "strumento",
    "strumenti",
    "ferramenta",
    "ferramentas",
    "narzedzie",
    "narzedzia",
];

/// The word by which a turn names a tool of the user's, or speaks of one, where neither the case nor the conversation has it. A call
/// that is written as a text calls nothing.
pub(super) fn names_tool(scene: &Scene<'_>) -> Option<String> {
    if scene.input.tools.is_empty() {
        return None;
    }
    let turn = scene.text();
    let is_known =
        |word: &str| sources(scene).any(|text| text.plain().contains(word) || text.raw.to_lowercase().contains(word));
    let raw = turn.raw.to_lowercase();
    let says = |name: &str| {
        raw.match_indices(name).any(|(at, _)| {
            let is_outside = |c: Option<char>| c.is_none_or(|c| !is_of_word(c));
            is_outside(raw[..at].chars().next_back()) && is_outside(raw[at + name.len()..].chars().next())
        })
    };
    let is_called = |name: &str| raw.contains(&format!("{name}("));
    let mut names = scene.input.tools.iter().map(|name| (is_identifier(name), name.to_lowercase()));
    let named = names.find(|(is_identifier, name)| {
        (if *is_identifier { says(name) || is_called(name) } else { is_called(name) }) && !is_known(name)
    });
    let of_tools = || turn.words().find(|word| TOOLS.contains(word) && !is_known(word)).map(str::to_owned);
    named.map(|(_, name)| name).or_else(of_tools)
}

/// Whether a name is no word that somebody says: `status_bar`, `statusBar`, but not `SIM` or `wi-fi`.
fn is_identifier(name: &str) -> bool {
    let is_camel = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    name.contains('_') || name.as_bytes().windows(2).any(is_camel)
}

#[cfg(test)]
mod tests {
    use crate::conversation::guard::{GuardInput, check};
    use crate::evidence::{Guard, Message, Role};

    fn is_found(turn: &str, tools: &[&str]) -> bool {
        let transcript = [
            Message::new(Role::User, "My internet is gone."),
            Message::new(Role::Assistant, "What does your status bar show? Is phone() fine?"),
        ];
        let found = check(&GuardInput {
            has_facts: true,
            tasks: &["Get the internet back"],
            signoff: "So Long",
            transcript: &transcript,
            turn,
            tools,
            ..GuardInput::default()
        });
        found.iter().any(|finding| finding.guard == Guard::ReasoningLeak)
    }

    #[test]
    fn a_user_speaks_of_no_tools() {
        let tools = ["status_bar", "toggleData", "phone", "camera", "SIM", "wi-fi"];
        for turn in [
            "status_bar()",
            "I'll use the status_bar now.",
            "I toggled toggledata to true.",
            "camera()",
            "According to the tool-result, it is fine.",
            "I don't have a tool for that.",
        ] {
            assert!(is_found(turn, &tools), "{turn}");
        }
        for turn in [
            "My status bar shows one line.",
            "The camera is fine, and phone() too.",
            "I took a picture with the camera",
            "It's simple: my wi-fi is on, and the SIM is in.",
        ] {
            assert!(!is_found(turn, &tools), "{turn}");
        }
        assert!(!is_found("I don't have a tool for that.", &[]));
    }
}
