"""Gemini's generateContent: replies serialised from the `google-genai` package's models, requests validated by them.

Errors are those of https://ai.google.dev/gemini-api/docs/troubleshooting, in the shape of google.rpc.Status.
"""

from google.genai import types
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

SCORE_TEXT = '{"reason":"It asked for the time zone.","score":0.9}'


class Request(BaseModel):
    """The body, made of the package's own parts, which know every field that there may be."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=False)
    contents: list[types.Content]
    system_instruction: types.Content | None = None
    generation_config: types.GenerationConfig


def response(text=None, *, finish="STOP", usage=None, thought=None, blocked=None):
    parts = [types.Part(text=thought, thought=True)] if thought else []
    parts += [types.Part(text=text)] if text is not None else []
    feedback = types.GenerateContentResponsePromptFeedback(block_reason=blocked) if blocked else None
    content = types.Content(role="model", parts=parts) if parts else None
    candidates = None if blocked else [types.Candidate(content=content, finish_reason=finish, index=0)]
    reply = types.GenerateContentResponse(
        candidates=candidates,
        prompt_feedback=feedback,
        model_version="gemini-2.5-flash",
        usage_metadata=usage
        or types.GenerateContentResponseUsageMetadata(
            prompt_token_count=21, candidates_token_count=7, total_token_count=28
        ),
    )
    return reply.model_dump_json(by_alias=True, exclude_none=True)


def replies():
    full = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=1200,
        cached_content_token_count=1024,
        candidates_token_count=26,
        thoughts_token_count=64,
        total_token_count=1290,
    )
    return {
        "reply-text": response("Hi, can you help me?"),
        "reply-json": response(SCORE_TEXT, usage=full, thought="The time zone was asked for."),
        "reply-fenced": response(f"Here it is:\n```json\n{SCORE_TEXT}\n```"),
        "reply-safety": response(finish="SAFETY"),
        "reply-blocked": response(blocked="PROHIBITED_CONTENT"),
        "reply-length": response('{"reason":"It as', finish="MAX_TOKENS"),
        "reply-empty": response(),
    }


def error(code, status, words, details=()):
    return {"error": {"code": code, "message": words, "status": status, "details": list(details)}}


def info(kind, **fields):
    return {"@type": f"type.googleapis.com/google.rpc.{kind}", **fields}


def quota(name):
    return [info("QuotaFailure", violations=[{"quotaId": name}]), info("RetryInfo", retryDelay="0.001s")]


ERRORS = {
    "error-key": error(
        400, "INVALID_ARGUMENT", "API key not valid.", [info("ErrorInfo", reason="API_KEY_INVALID")]
    ),
    "error-model": error(404, "NOT_FOUND", "models/gemini-nope is not found for API version v1beta."),
    "error-rate": error(
        429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", quota("GenerateRequestsPerMinutePerProject")
    ),
    "error-day": error(
        429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", quota("GenerateRequestsPerDayPerProject")
    ),
    "error-schema": error(
        400, "INVALID_ARGUMENT", "Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field."
    ),
    "error-json-mode": error(400, "INVALID_ARGUMENT", "JSON mode is not enabled for this model"),
    "error-thinking": error(400, "INVALID_ARGUMENT", "Thinking level is not supported for this model."),
}


def problems(request):
    try:
        seen = Request.model_validate(request)
    except ValidationError as refused:
        return [str(refused)]
    again = seen.model_dump(mode="json", by_alias=True, exclude_none=True)
    return [] if again == request else [f"read as {again}"]
