//! Refuses tools of the user that can't be called as the job has them.

use std::sync::Arc;

use super::Refusal;
use crate::agent::Ability;
use crate::job::{Case, Job, UserTool};

/// A warning where the agent could carry out calls of the user, who has no tools to call.
pub(super) fn unused(job: &Job) -> Option<String> {
    let transport = &job.target.transport;
    (job.persona.tools.is_empty() && transport.can(Ability::OffersUserTools)).then(|| {
        format!(
            "target.{}.userTools is never used: the user has no tools; name them in evaluator.tools",
            transport.key()
        )
    })
}

/// What can't work about the tools of the user, beside a transport that has none.
pub(super) fn refusals(job: &Job) -> Vec<Refusal> {
    let (tools, transport) = (&job.persona.tools, &job.target.transport);
    let mut refusals = Vec::new();
    let takes_some = tools.iter().find(|tool| tool.takes_arguments());
    if let Some(UserTool { name, .. }) = takes_some
        && transport.can(Ability::OffersUserTools)
        && !transport.sends_tool_arguments()
    {
        refusals.push(Refusal::for_key(
            &format!("target.{}.userTools", transport.key()),
            format!("nothing in it says {{{{ arguments }}}}, and the tool `{name}` takes some"),
            "say them in its body, for example: body: {arguments: \"{{ arguments }}\"}",
        ));
    }
    let is_beside = |case: &&Arc<Case>| case.reference.is_some() && case.user.is_persona();
    if let Some(case) = job.cases.iter().find(is_beside).filter(|_| !tools.is_empty()) {
        refusals.push(Refusal::for_key(
            "evaluator.tools",
            format!("case `{}` has a `reference` agent, for which no tools of the user are called", case.id),
            "leave `reference` out of the case, or `evaluator.tools` out of the job",
        ));
    }
    let asks = |case: &&Arc<Case>| case.assertions.iter().any(|assertion| assertion.check.needs_user_tool_calls());
    let unplayed = job.cases.iter().filter(asks).find(|case| tools.is_empty() || !case.user.is_persona());
    refusals.extend(unplayed.map(|case| {
        let why = match tools.is_empty() {
            true => "the user has no tools (evaluator.tools)".to_owned(),
            false => format!("the fixed messages of case `{}` use none", case.id),
        };
        Refusal::new(
            format!("an assertion looks at `evaluation.userToolCalls`, and {why}"),
            "name the tools in evaluator.tools, and let the persona play the case; or leave the assertion out of it",
        )
    }));
    refusals
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;

    #[test]
    fn a_target_that_carries_out_calls_of_a_user_without_tools_is_reported() {
        let can = |yes: &str| format!("target: {{user: u, chatbot: c, command: {{command: ./agent{yes}}}}}\n");
        let warnings = |target: &str| plan(target, "").unwrap().warnings;
        let unused = "target.command.userTools is never used: the user has no tools; name them in evaluator.tools";
        assert_eq!(warnings(&can(", userTools: true")), [unused]);
        assert_eq!(warnings(&can("")), [""; 0]);
    }
}
