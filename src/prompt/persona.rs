//! The persona's instructions, and the conversation from its side.

use minijinja::context;

use super::fence::without_tags;
use super::{PromptError, Templates};
use crate::evidence::{Guard, Message, Role, Turn};

pub(super) const VARIABLES: &[&str] = &["name", "voice", "signoff", "tasks", "facts", "plan", "traits", "allowed"];

/// The part of the job that the persona knows: not the acceptance criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PersonaView<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its way of speaking.
    pub voice: &'a str,
    /// The phrase that ends its goodbye.
    pub signoff: &'a str,
    /// Its tasks, in order.
    pub tasks: &'a [WantedTask<'a>],
    /// The facts that it *knows*: empty in the condition without facts.
    pub facts: &'a [String],
    /// The story that it plays or the plan that it follows, beside its tasks or instead of them.
    pub plan: Option<&'a str>,
    /// The kind of person it is.
    pub traits: &'a [String],
    /// The faults that it may make, because they are part of what it plays.
    pub allowed: &'a [Guard],
}

/// One thing that the persona is to bring about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedTask<'a> {
    /// `task` or `question`.
    pub kind: &'a str,
    /// The task.
    pub task: &'a str,
}

impl Templates {
    /// The persona's instructions: the first message of each of its requests, the same from the first turn to the last.
    ///
    /// # Errors
    /// When there is no such template or it can't be rendered.
    pub fn persona_instructions(&self, name: &str, view: &PersonaView<'_>) -> Result<Message, PromptError> {
        Ok(Message::new(Role::System, instructions(self, name, view)?))
    }
}

/// A turn as the persona sees it, to be added to what it saw before: its own line as `assistant`, the agent's as `user`,
/// inside one pair of `agent-reply` tags.
pub fn persona_turn(turn: &Turn) -> impl Iterator<Item = Message> {
    let own = (!turn.is_greeting()).then(|| Message::new(Role::Assistant, turn.user.clone()));
    let reply = turn.agent.as_deref().map(|text| Message::new(Role::User, fenced(text)));
    own.into_iter().chain(reply)
}

fn fenced(reply: &str) -> String {
    format!("<agent-reply>{}</agent-reply>", without_tags(reply))
}

fn instructions(templates: &Templates, name: &str, view: &PersonaView<'_>) -> Result<String, PromptError> {
    let tasks: Vec<_> = view
        .tasks
        .iter()
        .map(|task| context! { kind => without_tags(task.kind), task => without_tags(task.task) })
        .collect();
    let facts: Vec<_> = view.facts.iter().map(|fact| without_tags(fact)).collect();
    templates.render(
        name,
        context! {
            name => without_tags(view.name),
            voice => without_tags(view.voice),
            signoff => without_tags(view.signoff),
            tasks,
            facts,
            plan => view.plan.map(without_tags),
            traits => view.traits.iter().map(|line| without_tags(line)).collect::<Vec<_>>(),
            allowed => view.allowed.iter().map(|guard| guard.key()).collect::<Vec<_>>(),
        },
    )
}

/// Renders it on samples, with facts and without; where a case has a plan, it must be shown.
pub(super) fn try_out(templates: &Templates, name: &str, has_plan: bool) -> Result<(), PromptError> {
    let canary = "a story that no template has of itself";
    let tasks = [WantedTask { kind: "task", task: "sample" }, WantedTask { kind: "question", task: "sample" }];
    let facts = ["sample".to_owned()];
    for facts in [&facts[..], &[]] {
        let plan = (has_plan || facts.is_empty()).then_some(canary);
        let traits = facts;
        let view = PersonaView {
            name: "sample",
            voice: "sample",
            signoff: "sample",
            tasks: &tasks,
            facts,
            plan,
            traits,
            allowed: if facts.is_empty() { &[] } else { &Guard::ALL },
        };
        if !instructions(templates, name, &view)?.contains(canary) && has_plan {
            let message = format!(
                "The template `{name}` never shows `plan`: the persona would not know what a case wants of it."
            );
            return Err(PromptError { message, place: templates.start(name) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TASKS: &[WantedTask<'_>] = &[
        WantedTask { kind: "task", task: "Ask for a table by the window" },
        WantedTask { kind: "question", task: "Ask what <b>today's</b> soup & bread cost" },
    ];

    fn view(facts: &[String]) -> PersonaView<'_> {
        let (plan, traits) = (None, [].as_slice());
        PersonaView {
            name: "Nell",
            voice: "You mumble",
            signoff: "Ta-ra",
            tasks: TASKS,
            facts,
            plan,
            traits,
            allowed: &[],
        }
    }

    fn turn(number: u32, user: &str, agent: Option<&str>) -> Turn {
        Turn { agent: agent.map(str::to_owned), latency_ms: agent.map(|_| 1.0), ..Turn::begun(number, user.to_owned()) }
    }

    fn messages(facts: &[String], turns: Vec<Turn>) -> Vec<Message> {
        let instructions = Templates::embedded().persona_instructions("eval/socrates", &view(facts)).unwrap();
        std::iter::once(instructions).chain(turns.iter().flat_map(persona_turn)).collect()
    }

    #[test]
    fn the_instructions_hold_everything_between_tags_and_escaped() {
        let facts = vec!["The user likes salt & <pepper>".to_owned()];
        let system = &messages(&facts, vec![])[0];
        assert_eq!(system.role, Role::System);
        for expected in [
            "<tasks>\n<task index=\"1\" kind=\"task\">Ask for a table by the window</task>",
            "<task index=\"2\" kind=\"question\">Ask what &lt;b>today's&lt;/b> soup & bread cost</task>\n</tasks>",
            "<facts>\n<fact>The user likes salt & &lt;pepper></fact>\n</facts>",
            "<signoff>Ta-ra</signoff>",
            "You play Nell,",
            "# Your voice\n\nYou mumble",
        ] {
            assert!(system.content.contains(expected), "{expected}\n not in\n{}", system.content);
        }
    }

    #[test]
    fn a_plan_and_traits_are_data_between_tags() {
        let traits = ["is new to this</traits>".to_owned()];
        let plan = Some("You want a refund. When you have it, output only </finished>.");
        let view = PersonaView { plan, traits: &traits, tasks: &[], ..view(&[]) };
        let system = Templates::embedded().persona_instructions("eval/socrates", &view).unwrap().content;
        for expected in [
            "<plan>\nYou want a refund. When you have it, output only &lt;/finished>.\n</plan>",
            "<traits>\n<trait>is new to this&lt;/traits></trait>\n</traits>",
        ] {
            assert!(system.contains(expected), "{expected}\n not in\n{system}");
        }
        assert!(!system.contains("<tasks>"), "{system}");
        let hidden = Templates::embedded().with_file("own", "{{ tasks }}{{ name }}", "own.jinja");
        assert!(hidden.check("own", crate::prompt::TemplateKind::Persona).is_none());
        let problem = hidden.check("own", crate::prompt::TemplateKind::PersonaWithPlan).unwrap();
        assert!(problem.message.contains("never shows `plan`"), "{problem}");
    }

    #[test]
    fn the_persona_sees_itself_as_the_assistant() {
        let roles: Vec<_> = messages(&[], vec![turn(1, "Hello", Some("Hi <there>")), turn(2, "A table", None)])
            .into_iter()
            .skip(1)
            .map(|message| (message.role, message.content))
            .collect();
        assert_eq!(
            roles,
            [
                (Role::Assistant, "Hello".to_owned()),
                (Role::User, "<agent-reply>Hi &lt;there></agent-reply>".to_owned()),
                (Role::Assistant, "A table".to_owned()),
            ]
        );
    }

    #[test]
    fn a_fact_that_is_not_known_leaves_no_trace() {
        let facts = vec!["CANARY-7".to_owned()];
        assert!(messages(&facts, vec![])[0].content.contains("CANARY-7"));
        let withheld = messages(&[], vec![]);
        assert!(!format!("{withheld:?}").contains("CANARY-7"));
        assert!(withheld[0].content.contains("<facts>\n</facts>"));
    }

    #[test]
    fn a_template_that_is_not_there_is_an_error() {
        let error = Templates::embedded().persona_instructions("eval/none", &view(&[])).unwrap_err();
        assert!(error.message.starts_with("There is no template `eval/none`."), "{error}");
    }

    proptest! {
        #[test]
        fn a_reply_never_leaves_its_fence(reply in "(</?agent-reply>|<|>|&lt;|&|[a-z ]){0,12}|\\PC{0,40}") {
            let messages = messages(&[], vec![turn(1, "Hello", Some(&reply))]);
            let content = &messages[2].content;
            prop_assert_eq!(content.matches("<agent-reply>").count(), 1);
            prop_assert_eq!(content.matches("</agent-reply>").count(), 1);
            prop_assert!(content.starts_with("<agent-reply>") && content.ends_with("</agent-reply>"));
        }

        #[test]
        fn messages_only_ever_grow(talk in proptest::collection::vec(("\\PC{1,20}", "\\PC{0,20}"), 1..6)) {
            let turns: Vec<Turn> = talk
                .iter()
                .zip(1..)
                .map(|((user, agent), number)| turn(number, user, Some(agent)))
                .collect();
            let whole = messages(&[], turns.clone());
            for length in 0..turns.len() {
                let earlier = messages(&[], turns[..length].to_vec());
                prop_assert_eq!(&whole[..earlier.len()], &earlier[..]);
            }
        }
    }
}
