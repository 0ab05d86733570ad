//! A tool of the user's that is spoken of: a user does things, and has no tools.

use super::scene::Scene;

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
    let is_known = |word: &str| {
        let of_case = scene.tasks.iter().chain(scene.facts);
        of_case.chain(scene.messages.iter().map(|(_, text)| text)).any(|text| text.raw.to_lowercase().contains(word))
    };
    let raw = turn.raw.to_lowercase();
    let names = scene.input.tools.iter().map(|name| (is_identifier(name), name.to_lowercase()));
    let named = names
        .map(|(is_identifier, name)| if is_identifier { name } else { format!("{name}(") })
        .find(|name| raw.contains(name.as_str()) && !is_known(name));
    named.or_else(|| turn.words().find(|word| TOOLS.contains(word) && !is_known(word)).map(str::to_owned))
}

/// Whether a name is no word that somebody says: `status_bar`, `statusBar`.
fn is_identifier(name: &str) -> bool {
    name.contains(['_', '-', '.', '/']) || name.chars().skip(1).any(char::is_uppercase)
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
        let tools = ["status_bar", "toggleData", "phone", "camera"];
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
        ] {
            assert!(!is_found(turn, &tools), "{turn}");
        }
        assert!(!is_found("I don't have a tool for that.", &[]));
    }
}
