"""OpenAI's chat completions: replies serialised from the `openai` package's models, requests validated by its types."""

from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionMessage, ChatCompletionMessageParam
from openai.types.chat.chat_completion import Choice
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming, ResponseFormat
from openai.types.completion_usage import CompletionTokensDetails, PromptTokensDetails
from openai.types.shared import ErrorObject
from pydantic import TypeAdapter, ValidationError

PLAIN_USAGE = CompletionUsage(prompt_tokens=21, completion_tokens=7, total_tokens=28)
FULL_USAGE = CompletionUsage(
    prompt_tokens=1200,
    completion_tokens=90,
    total_tokens=1290,
    prompt_tokens_details=PromptTokensDetails(cached_tokens=1024, audio_tokens=0),
    completion_tokens_details=CompletionTokensDetails(reasoning_tokens=64, audio_tokens=0),
)


def completion(content, *, finish_reason="stop", refusal=None, usage=PLAIN_USAGE):
    message = ChatCompletionMessage(role="assistant", content=content, refusal=refusal)
    return ChatCompletion(
        id="chatcmpl-1",
        object="chat.completion",
        created=1760000000,
        model="gpt-4.1-mini-2025-04-14",
        choices=[Choice(index=0, finish_reason=finish_reason, logprobs=None, message=message)],
        usage=usage,
    )


SCORE = '{"reason":"It asked for the time zone.","score":0.9}'

REPLIES = {
    "reply-text": completion("Hi, can you help me?"),
    "reply-json": completion(SCORE, usage=FULL_USAGE),
    "reply-fenced": completion(f"Here is my verdict:\n```json\n{SCORE}\n```\nI hope that helps."),
    "reply-prose": completion("I would give it nine out of ten."),
    "reply-without-usage": completion("Hello.", usage=None),
    "reply-refusal": completion(None, refusal="I'm sorry, I can't help with that."),
    "reply-length": completion('{"reason":"It as', finish_reason="length"),
    "reply-content-filter": completion("", finish_reason="content_filter"),
    "reply-null": completion(None),
}


def error(message, kind, code=None, param=None):
    return {"error": ErrorObject(message=message, type=kind, code=code, param=param).model_dump()}


REQUEST = "invalid_request_error"

ERRORS = {
    "error-key": error("Incorrect API key provided.", REQUEST, "invalid_api_key"),
    "error-model": error("The model `nope` does not exist or you do not have access to it.", REQUEST, "model_not_found"),
    "error-quota": error("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"),
    "error-rate": error("Rate limit reached for requests.", "requests", "rate_limit_exceeded"),
    "error-temperature": error(
        "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
        REQUEST,
        "unsupported_value",
        "temperature",
    ),
    "error-schema": error(
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        REQUEST,
        None,
        "response_format",
    ),
    "error-json-mode": error(
        "'response_format' of type 'json_object' is not supported with this model.", REQUEST, None, "response_format"
    ),
    "error-length": error("This model's maximum context length is 8192 tokens.", REQUEST, "context_length_exceeded"),
}


def replies():
    return {name: reply.model_dump_json(exclude_unset=True) for name, reply in REPLIES.items()}


def problems(request):
    """What the package's types have against a recorded request."""
    try:
        TypeAdapter(CompletionCreateParamsNonStreaming).validate_python(request)
        # The package types these as lazy or open; validated on their own they are looked at to the last field.
        seen = dict(request)
        seen["messages"] = TypeAdapter(list[ChatCompletionMessageParam]).validate_python(request["messages"])
        if "response_format" in request:
            seen["response_format"] = TypeAdapter(ResponseFormat).validate_python(request["response_format"])
    except ValidationError as refused:
        return [str(refused)]
    unknown = request.keys() - CompletionCreateParamsNonStreaming.__annotations__.keys()
    unknown -= set().union(*(base.__annotations__ for base in CompletionCreateParamsNonStreaming.__orig_bases__))
    found = [f"unknown field {key!r}" for key in sorted(unknown)]
    # Validation drops what a nested type does not know.
    found += [f"{key!r} holds something unknown" for key in request if seen[key] != request[key]]
    return found
