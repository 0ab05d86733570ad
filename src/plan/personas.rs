//! The users of a run: each case that the persona plays is run with each kind of person that the job or the command line names.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Refusal;
use crate::job::{Case, Job, ModelName, UserPersona};

/// Puts a case for each kind of user in the place of each that the persona plays, `CASE@PERSONA`; those that name a persona of
/// their own stay as they are, unless the command line names some. Returns what can't work.
pub(super) fn expand(job: &mut Job, named: Vec<UserPersona>) -> Vec<Refusal> {
    let from_command_line = !named.is_empty();
    if from_command_line {
        job.persona.personas = named;
    }
    let personas = std::mem::take(&mut job.persona.personas);
    if personas.is_empty() {
        return Vec::new();
    }
    let is_held = |case: &Case| case.user.is_persona() && (from_command_line || case.persona.is_none());
    let held = job.cases.iter().filter(|case| is_held(case)).count();
    if held == 0 {
        let what =
            "no case has a user who could be of another kind: all have fixed messages, or a persona of their own";
        return vec![Refusal::new(what, "leave --persona and `evaluator.personas` out, or give a case `tasks`")];
    }
    let with_each = |case: &Arc<Case>| match is_held(case) {
        true => personas.iter().map(|persona| Arc::new(played(case, persona))).collect(),
        false => vec![case.clone()],
    };
    job.cases = job.cases.iter().flat_map(with_each).collect();
    Vec::new()
}

fn played(case: &Case, persona: &UserPersona) -> Case {
    let id = format!("{}@{}", case.id_in_file(), persona.name);
    Case { id, persona: Some(Box::new(persona.clone())), ..case.clone() }
}

/// How many cases the file has without their personas: the independent units.
pub(super) fn cases_in_file(job: &Job) -> usize {
    job.cases.iter().map(|case| case.id_in_file()).collect::<BTreeSet<_>>().len()
}

/// A warning where `scripted` plays several personas, all alike.
pub(super) fn warning(job: &Job) -> Option<String> {
    let is_scripted = job.persona_model().is_some_and(|model| model.name == ModelName::Scripted);
    let named = job.cases.iter().filter(|case| case.user.is_persona()).find_map(|case| case.persona.as_ref())?;
    is_scripted.then(|| {
        let name = &named.name;
        format!("the scripted persona plays every user alike, `{name}` too: name a model with --evaluator-model")
    })
}
