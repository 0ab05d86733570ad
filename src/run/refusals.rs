//! Whether persona or judge refuse every request, so that further conversations would be paid for nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::llm::{LlmError, LlmErrorKind};
use crate::record::Asker;

/// How many requests of one role may be refused for good, with none answered, before no further conversation begins.
const MAX_REFUSALS: u32 = 3;

/// The requests to persona and judge that were refused for their key, address or model, as long as none was answered.
#[derive(Debug, Default)]
pub(super) struct ModelRefusals(Mutex<SeenRefusals>);

#[derive(Debug, Default)]
struct SeenRefusals {
    roles: BTreeMap<&'static str, RoleRefusals>,
    /// Why a conversation could not begin.
    why: Option<String>,
}

#[derive(Debug, Default)]
struct RoleRefusals {
    was_answered: bool,
    refused: u32,
    /// Whether the endpoint of the role's only model has none of that name.
    is_misnamed: bool,
    last: Option<LlmError>,
}

impl RoleRefusals {
    fn is_all(&self) -> bool {
        !self.was_answered && (self.is_misnamed || self.refused >= MAX_REFUSALS)
    }
}

impl ModelRefusals {
    /// Takes in how a request came out; `is_only` where the role has no other model.
    pub(super) fn add<T>(&self, asker: Asker, answer: &Result<T, LlmError>, is_only: bool) {
        let mut seen = self.seen();
        let role = seen.roles.entry(label(asker)).or_default();
        match answer {
            Ok(_) => role.was_answered = true,
            Err(error) if error.kind.is_of_all() => {
                role.refused += 1;
                role.is_misnamed |= is_only && error.kind == LlmErrorKind::Misnamed;
                role.last = Some(error.clone());
            }
            Err(_) => {}
        }
    }

    /// Whether no further conversation may begin.
    pub(super) fn stop(&self) -> bool {
        let mut seen = self.seen();
        if seen.why.is_none() {
            let refused = seen.roles.iter().find(|(_, role)| role.is_all());
            let refused = refused.and_then(|(role, refusals)| Some((role, refusals.refused, refusals.last.as_ref()?)));
            let why = refused.map(|(role, requests, last)| {
                let next = match last.kind == LlmErrorKind::Misnamed {
                    true => "correct its name in the job file or the flag, and run it again",
                    false => "once that is mended, eval-job run --retry-errors goes on",
                };
                match requests {
                    1 => format!("the {role} refused its first request: {}; {next}", last.message),
                    many => format!("the {role} refused each of {many} requests: {}; {next}", last.message),
                }
            });
            seen.why = why;
        }
        seen.why.is_some()
    }

    /// Why conversations could not begin, in a sentence; `None` where all could.
    pub(super) fn why(&self) -> Option<String> {
        self.seen().why.clone()
    }

    fn seen(&self) -> MutexGuard<'_, SeenRefusals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn label(asker: Asker) -> &'static str {
    match asker {
        Asker::Persona => "persona",
        Asker::Reviewer => "persona's reviewer",
        Asker::Judge => "judge",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Usage;

    fn failed(kind: LlmErrorKind) -> Result<(), LlmError> {
        Err(LlmError { message: "answered 401".to_owned(), transient: false, usage: Box::new(Usage::default()), kind })
    }

    #[test]
    fn a_run_stops_where_all_of_the_first_requests_are_refused_for_good() {
        let refusals = ModelRefusals::default();
        for _ in 0..2 {
            refusals.add(Asker::Judge, &failed(LlmErrorKind::OfAll), true);
        }
        refusals.add(Asker::Judge, &failed(LlmErrorKind::Other), true);
        refusals.add(Asker::Persona, &Ok(()), true);
        assert!(!refusals.stop() && refusals.why().is_none());
        refusals.add(Asker::Judge, &failed(LlmErrorKind::OfAll), true);
        assert!(refusals.why().is_none(), "nothing was kept from beginning yet");
        assert!(refusals.stop());
        let why = refusals.why().unwrap();
        assert!(why.starts_with("the judge refused each of 3 requests: answered 401; once"), "{why}");
        // An answer that comes late does not let the run go on.
        refusals.add(Asker::Judge, &Ok(()), true);
        assert!(refusals.stop() && refusals.why() == Some(why));
        // One that is answered shows that key and address are right.
        let answered = ModelRefusals::default();
        answered.add(Asker::Judge, &Ok(()), true);
        for _ in 0..9 {
            answered.add(Asker::Judge, &failed(LlmErrorKind::OfAll), true);
        }
        assert!(!answered.stop());
    }

    #[test]
    fn a_wrong_name_stops_it_at_once_unless_others_of_a_panel_may_answer() {
        let message = "answered 404; check the name of the model, \"nope\", and OPENAI_BASE_URL".to_owned();
        let misnamed =
            || failed(LlmErrorKind::Misnamed).map_err(|error| LlmError { message: message.clone(), ..error });
        for is_only in [true, false] {
            let refusals = ModelRefusals::default();
            refusals.add(Asker::Judge, &misnamed(), is_only);
            assert_eq!(refusals.stop(), is_only);
        }
        let refusals = ModelRefusals::default();
        refusals.add(Asker::Judge, &misnamed(), true);
        assert!(
            refusals.stop() && refusals.why().unwrap().contains("refused its first request"),
            "{:?}",
            refusals.why()
        );
    }
}
