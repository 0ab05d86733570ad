//! Tokens and times of turns, as the spans of a trace tell them.

use serde_json::Value;

use super::otlp_spans::OtlpRecord;
use crate::dataset::model::RecordedTurn;
use crate::evidence::Usage;

/// A span, and how many of the user's messages it knows: it is about the last of them.
pub(super) type TurnSpan<'a> = (&'a OtlpRecord, usize);

/// Adds what the spans of one trace tell of its turns: the tokens of the models' calls, and how long the agent took. A turn of which
/// no span tells a figure is left without it.
pub(super) fn add_figures(turns: &mut [RecordedTurn], spans: &[TurnSpan<'_>]) {
    let asked: usize = turns.iter().filter(|turn| !turn.user.is_empty()).count();
    for (number, turn) in (1..).zip(turns.iter_mut().filter(|turn| !turn.user.is_empty())) {
        // A span without messages is about the only turn that there is.
        let own = spans.iter().filter(|(_, messages)| *messages == number || *messages == 0 && asked == 1);
        let (agents, models): (Vec<&OtlpRecord>, Vec<&OtlpRecord>) =
            own.map(|(span, _)| *span).partition(|span| is_agent(span));
        let models: Vec<&OtlpRecord> = models.into_iter().filter(|span| is_model(span)).collect();
        let of_models = Usage::sum_reported(models.iter().map(|span| usage(span)));
        turn.usage = of_models.or_else(|| Usage::sum_reported(agents.iter().map(|span| usage(span))));
        let spans = if agents.is_empty() { &models } else { &agents };
        let times = || spans.iter().filter(|span| span.start > 0 && span.end > span.start);
        if let (Some(start), Some(end)) = (times().map(|span| span.start).min(), times().map(|span| span.end).max()) {
            let seconds = (end - start) as f64 / 1e9;
            turn.extra.insert("duration".to_owned(), seconds.into());
        }
    }
}

fn operation(span: &OtlpRecord) -> &str {
    span.attributes.get("gen_ai.operation.name").and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn is_agent(span: &OtlpRecord) -> bool {
    matches!(operation(span), "invoke_agent" | "invoke_workflow")
}

/// Whether a span is a model's call.
fn is_model(span: &OtlpRecord) -> bool {
    match operation(span) {
        "chat" | "generate_content" | "text_completion" => true,
        "" | "call_llm" => usage(span).is_some() || span.attributes.contains_key("gcp.vertex.agent.llm_request"),
        _ => false,
    }
}

/// The tokens of a call; `None` where it tells none.
fn usage(span: &OtlpRecord) -> Option<Usage> {
    let number = |names: &[&str]| {
        names.iter().find_map(|name| match span.attributes.get(&format!("gen_ai.usage.{name}"))? {
            Value::String(text) => text.parse().ok(),
            value => value.as_u64(),
        })
    };
    let (input, output) = (number(&["input_tokens", "prompt_tokens"]), number(&["output_tokens", "completion_tokens"]));
    (input.is_some() || output.is_some()).then(|| Usage {
        cached_input_tokens: number(&["cache_read.input_tokens"]),
        reasoning_tokens: number(&["reasoning.output_tokens"]),
        ..Usage::from_counts(input, output)
    })
}
