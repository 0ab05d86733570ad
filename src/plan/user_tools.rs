//! Refuses tools of the user that can't be called as the job has them.

use super::Refusal;
use crate::agent::Ability;
use crate::job::{Job, UserTool};

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
    let is_beside = |case: &&std::sync::Arc<crate::job::Case>| case.reference.is_some() && case.user.is_persona();
    if let Some(case) = job.cases.iter().find(is_beside).filter(|_| !tools.is_empty()) {
        refusals.push(Refusal::for_key(
            "evaluator.tools",
            format!("case `{}` has a `reference` agent, for which no tools of the user are called", case.id),
            "leave `reference` out of the case, or `evaluator.tools` out of the job",
        ));
    }
    refusals
}
