//! The data that a script reads, as far as its text shows.

use serde::Serialize;

use crate::evidence::ObjectContext;
use crate::script::{Lexeme, LexemeKind, tokens};

/// Whether a script looks at the object context, so that it has to be fetched. True unless it clearly does not.
pub fn uses_object_context(script: &str) -> bool {
    mentions(script, "objectContext")
}

/// Whether a script looks at the conversation itself. True unless it clearly does not.
pub fn uses_evaluation(script: &str) -> bool {
    mentions(script, "evaluation")
}

fn mentions(script: &str, name: &str) -> bool {
    tokens(script).iter().any(|token| match token.kind {
        LexemeKind::Word => token.text == name,
        LexemeKind::Template => token.text.contains(name),
        _ => false,
    })
}

/// Whether a script looks at the functions that the agent called, `evaluation.functionCalls`.
pub fn uses_function_calls(script: &str) -> bool {
    uses_list(script, "functionCalls")
}

/// Whether a script looks at the calls of the user's own tools, `evaluation.userToolCalls`.
pub fn uses_user_tool_calls(script: &str) -> bool {
    uses_list(script, "userToolCalls")
}

fn uses_list(script: &str, name: &str) -> bool {
    let tokens = tokens(script);
    tokens.iter().enumerate().any(|(at, token)| match token.kind {
        LexemeKind::Word => token.text == name,
        // `evaluation["functionCalls"]` is the same.
        LexemeKind::Quoted => is_after(&tokens, at, &["[", "?["]) && token.text.trim_matches(['"', '\'']) == name,
        LexemeKind::Template => is_filled_in(token.text, name),
        LexemeKind::Sign => false,
    })
}

/// Whether a script looks at the changes of the graph. A property of that name does not count.
pub fn uses_changes(script: &str) -> bool {
    let tokens = tokens(script);
    tokens.iter().enumerate().any(|(at, token)| match token.kind {
        LexemeKind::Word => token.text == "changes" && !is_after(&tokens, at, &[".", "?."]),
        LexemeKind::Template => is_filled_in(token.text, "changes"),
        _ => false,
    })
}

fn is_after(tokens: &[Lexeme<'_>], at: usize, signs: &[&str]) -> bool {
    at > 0 && signs.iter().any(|sign| tokens[at - 1].is(sign))
}

/// In `${…}` of a text; every mention counts.
fn is_filled_in(template: &str, name: &str) -> bool {
    template.contains("${") && template.contains(name)
}

/// The parts of the object context.
const PARTS: [&str; 4] = ["context", "resources", "entities", "functions"];

/// Whether two object contexts show the same, as far as a script looks at them. The order of things does not count.
pub fn same_context(script: &str, one: &ObjectContext, other: &ObjectContext) -> bool {
    let is_looked_at = |part: &str| parts(script).is_none_or(|parts| parts.contains(&part));
    let entities = |context: &ObjectContext| multiset(context.entities());
    (!is_looked_at("context") || one.context == other.context)
        && (!is_looked_at("resources") || multiset(&one.resources) == multiset(&other.resources))
        && (!is_looked_at("entities") || entities(one) == entities(other))
        && (!is_looked_at("functions") || multiset(&one.functions) == multiset(&other.functions))
}

/// The parts of the object context that a script looks at by name.
pub fn context_parts(script: &str) -> Vec<&'static str> {
    let named = parts(script).unwrap_or_default();
    PARTS.into_iter().filter(|part| named.contains(part)).collect()
}

/// The parts of the object context that a script may look at.
pub(super) fn possible_context_parts(script: &str) -> Vec<&'static str> {
    let named = parts(script);
    PARTS.into_iter().filter(|part| named.as_ref().is_none_or(|named| named.contains(part))).collect()
}

/// The parts of the object context that a script names; `None` where it can look at all of them.
fn parts(script: &str) -> Option<Vec<&str>> {
    let tokens = tokens(script);
    if tokens.iter().any(|token| token.kind == LexemeKind::Template && token.text.contains("objectContext")) {
        return None;
    }
    let mentions =
        tokens.iter().enumerate().filter(|(_, token)| token.kind == LexemeKind::Word && token.text == "objectContext");
    mentions
        .map(|(at, _)| {
            let sign = tokens.get(at + 1).filter(|sign| sign.is(".") || sign.is("?."));
            let name = sign.and_then(|_| tokens.get(at + 2))?;
            PARTS.contains(&name.text).then_some(name.text)
        })
        .collect()
}

fn multiset<T: Serialize>(things: impl IntoIterator<Item = T>) -> Vec<String> {
    let mut things: Vec<String> =
        things.into_iter().map(|thing| serde_json::to_string(&thing).unwrap_or_default()).collect();
    things.sort();
    things
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Resource;

    fn context(ids: &[&str], labels: &[&str], own: &str) -> ObjectContext {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        let resource = |id: &&str| Resource { id: (*id).to_owned(), labels: labels.clone(), ..Resource::default() };
        ObjectContext { context: own.into(), resources: ids.iter().map(resource).collect(), ..ObjectContext::default() }
    }

    #[test]
    fn only_what_is_looked_at_counts() {
        let entities = "objectContext.entities.size == 1";
        let before = context(&["a", "b"], &[], "x");
        assert!(same_context(entities, &before, &context(&["c"], &[], "y")), "no entity is among them");
        assert!(!same_context("objectContext.resources.size == 1", &before, &context(&["c"], &[], "x")));
        assert!(same_context("objectContext?.resources.size == 1", &before, &context(&["b", "a"], &[], "y")));
        assert!(!same_context(entities, &before, &context(&["a"], &["DomainNode"], "x")));
        assert!(!same_context("objectContext.context == 'x'", &before, &context(&["a", "b"], &[], "y")));
        assert_eq!(
            possible_context_parts("objectContext.entities.size == objectContext?.context"),
            ["context", "entities"]
        );
        for all in ["let c = objectContext; c.size == 1", "`${objectContext}` == ''", "objectContext[what] == 1"] {
            assert!(!same_context(all, &before, &context(&["a", "b"], &[], "y")), "{all}");
            assert_eq!(possible_context_parts(all), PARTS, "{all}");
        }
    }
}
