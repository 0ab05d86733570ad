"""Anthropic's Messages: replies serialised from the `anthropic` package's models, requests validated by its types.

Errors are those of https://docs.anthropic.com/en/api/errors, in its shape.
"""

from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import TypeAdapter, ValidationError

SCORE = {"reason": "It asked for the time zone.", "score": 0.9}
SCORE_TEXT = '{"reason":"It asked for the time zone.","score":0.9}'

# Models up to Claude 4.6 take it and judges want it; the package has left it out of its types since then. A model that
# refuses it is asked without (request-without-temperature).
LEFT_OUT_OF_THE_TYPES = {"temperature"}


def message(content, *, stop_reason="end_turn", usage=None):
    blocks = [TextBlock(type="text", text=content)] if isinstance(content, str) else content
    return Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-sonnet-4-5",
        content=blocks,
        stop_reason=stop_reason,
        stop_sequence=None,
        usage=usage or Usage(input_tokens=21, output_tokens=7),
    ).model_dump_json(exclude_unset=True)


def replies():
    cached = Usage(
        input_tokens=150, cache_creation_input_tokens=26, cache_read_input_tokens=1024, output_tokens=90
    )
    tool = ToolUseBlock(type="tool_use", id="toolu_1", name="verdict", input=SCORE, caller={"type": "direct"})
    return {
        "reply-text": message("Hi, can you help me?"),
        "reply-json": message(SCORE_TEXT, usage=cached),
        "reply-tool": message([tool], stop_reason="tool_use"),
        "reply-fenced": message(f"Here it is:\n```json\n{SCORE_TEXT}\n```"),
        "reply-refusal": message([], stop_reason="refusal"),
        "reply-length": message('{"reason":"It as', stop_reason="max_tokens"),
        "reply-empty": message([]),
    }


def error(kind, words):
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}


ERRORS = {
    "error-key": error("authentication_error", "invalid x-api-key"),
    "error-model": error("not_found_error", "model: claude-nope"),
    "error-rate": error(
        "rate_limit_error", "This request would exceed your organization's rate limit of 50 requests per minute."
    ),
    "error-overloaded": error("overloaded_error", "Overloaded"),
    "error-billing": error("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    "error-temperature": error("invalid_request_error", "`temperature` is deprecated for this model."),
    "error-schema": error("invalid_request_error", "output_config.format: Extra inputs are not permitted"),
    "error-tool": error("invalid_request_error", "tool_choice: this model does not take tools"),
}


def problems(request):
    seen = {key: value for key, value in request.items() if key not in LEFT_OUT_OF_THE_TYPES}
    try:
        TypeAdapter(MessageCreateParamsNonStreaming).validate_python(seen)
    except ValidationError as refused:
        return [str(refused)]
    known = set(MessageCreateParamsNonStreaming.__annotations__)
    known |= set().union(*(base.__annotations__ for base in MessageCreateParamsNonStreaming.__orig_bases__))
    return [f"unknown field {key!r}" for key in sorted(seen.keys() - known)]
