"""OpenAI's Responses API: streams serialised from the `openai` package's models, requests validated by its types."""

import json

from openai.types.responses import FunctionToolParam, ResponseInputParam, ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsBase, ResponseCreateParamsStreaming
from pydantic import TypeAdapter, ValidationError

EVENT = TypeAdapter(ResponseStreamEvent)

USAGE = {
    "input_tokens": 37,
    "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 0},
    "output_tokens": 11,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 48,
}


def response(status, output=(), **more):
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1741290958.0,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "gpt-4.1-2025-04-14",
        "output": list(output),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    } | more


def message(*content):
    return {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": list(content)}


def words(text):
    return {"type": "output_text", "text": text, "annotations": []}


def delta(kind, text):
    event = {"type": f"response.{kind}.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text}
    return event | ({"logprobs": []} if kind == "output_text" else {})


CREATED = {"type": "response.created", "response": response("in_progress")}
HI = message(words("Hi there!"))
NO = message({"type": "refusal", "refusal": "I can't."})
TOOLS = [
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "news"}},
    {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["dragons"], "results": None},
    {"type": "mcp_call", "id": "mcp_1", "server_label": "dice", "name": "roll", "arguments": '{"dice":"2d4"}', "output": "4"},
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "container_id": "cntr_1",
        "status": "completed",
        "code": "1+1",
        "outputs": [{"type": "logs", "logs": "2"}],
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "get_current_weather",
        "arguments": '{"location":"Boston, MA"}',
        "status": "completed",
    },
]

STREAMS = {
    "reply-words": [
        CREATED,
        {"type": "response.output_item.added", "output_index": 0, "item": message() | {"status": "in_progress"}},
        delta("output_text", "Hi"),
        delta("output_text", " there!"),
        {"type": "response.output_item.done", "output_index": 0, "item": HI},
        {"type": "response.completed", "response": response("completed", [HI], usage=USAGE)},
    ],
    "reply-refusal": [
        CREATED,
        delta("refusal", "I can't."),
        {"type": "response.completed", "response": response("completed", [NO], usage=USAGE)},
    ],
    "reply-tools": [CREATED, {"type": "response.completed", "response": response("completed", TOOLS, usage=USAGE)}],
    "reply-incomplete": [
        CREATED,
        delta("output_text", "Once upon"),
        {
            "type": "response.incomplete",
            "response": response("incomplete", incomplete_details={"reason": "max_output_tokens"}, usage=USAGE),
        },
    ],
    "reply-failed": [
        CREATED,
        {"type": "error", "code": "ERR_SOMETHING", "message": "Something went wrong", "param": None},
        {
            "type": "response.failed",
            "response": response("failed", error={"code": "rate_limit_exceeded", "message": "Slow down"}),
        },
    ],
}

ERRORS = {}


def replies():
    def line(number, event):
        return EVENT.validate_python(event | {"sequence_number": number}, strict=True).model_dump(exclude_unset=True)

    return {name: json.dumps([line(*pair) for pair in enumerate(events)]) for name, events in STREAMS.items()}


def problems(request):
    """What the package's types have against a recorded request."""
    try:
        TypeAdapter(ResponseCreateParamsStreaming).validate_python(request)
        seen = dict(request)
        # The package types these as open or lazy; validated on their own they are looked at to the last field.
        TypeAdapter(ResponseInputParam).validate_python(request["input"])
        if "tools" in request:
            seen["tools"] = TypeAdapter(list[FunctionToolParam]).validate_python(request["tools"])
    except ValidationError as refused:
        return [str(refused)]
    unknown = request.keys() - ResponseCreateParamsStreaming.__annotations__.keys()
    unknown -= ResponseCreateParamsBase.__annotations__.keys()
    found = [f"unknown field {key!r}" for key in sorted(unknown)]
    return found + [f"{key!r} holds something unknown" for key in request if seen[key] != request[key]]
