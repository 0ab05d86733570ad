//! A model whose answers are recorded or replayed.

use serde::{Deserialize, Serialize};

use super::Tape;
use super::line::{Answer, Party};
use super::tape::{OpenRequest, RequestOutcome};
use crate::evidence::Usage;
use crate::llm::{Llm, LlmError, LlmReply, LlmRequest, LlmRole, UsageMeter};

/// A request to a model, as it is recorded.
#[derive(Serialize)]
struct ModelRequest<'a> {
    model: &'a str,
    #[serde(flatten)]
    request: &'a LlmRequest,
}

/// The usage of a request, over all its tries.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageSoFar {
    usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_failure: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct ModelAnswer {
    #[serde(flatten)]
    answer: Answer<LlmReply, LlmError>,
    taken: UsageSoFar,
}

impl UsageSoFar {
    fn from_meter(meter: &UsageMeter) -> UsageSoFar {
        UsageSoFar { usage: meter.usage(), last_failure: meter.last_failure() }
    }

    fn set(self, meter: &UsageMeter) {
        meter.set_recorded(self.usage, self.last_failure);
    }
}

/// A request that is under way; what it took so far is recorded with it where it is dropped.
struct PendingCall<'a> {
    recorded: Option<OpenRequest>,
    meter: &'a UsageMeter,
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        if let Some(mut recorded) = self.recorded.take() {
            recorded.abandoned(&UsageSoFar::from_meter(self.meter));
        }
    }
}

/// Asks a model, or replays its recorded answer.
pub async fn ask(tape: &Tape, llm: &dyn Llm, request: &LlmRequest, meter: &UsageMeter) -> Result<LlmReply, LlmError> {
    let party = match request.role {
        LlmRole::Persona => Party::Persona,
        LlmRole::Reviewer => Party::Reviewer,
        LlmRole::Judge => Party::Judge,
    };
    let asked = ModelRequest { model: llm.name(), request };
    match tape.replayed::<ModelAnswer, UsageSoFar>(party, &asked).await {
        None => {}
        Some(RequestOutcome::Answered(ModelAnswer { answer, taken })) => {
            taken.set(meter);
            return answer.into_result();
        }
        Some(RequestOutcome::Abandoned(taken)) => {
            taken.set(meter);
            return tape.abandon().await;
        }
    }
    let mut under_way = PendingCall { recorded: Some(tape.request(party, &asked)), meter };
    let answer = llm.complete_metered(request, meter).await;
    if let (false, Some(recorded)) = (matches!(tape, Tape::Off), under_way.recorded.take()) {
        recorded.answered(&ModelAnswer { answer: answer.clone().into(), taken: UsageSoFar::from_meter(meter) });
    }
    answer
}
