"""An agent for `adk api_server` whose model is a few rules, so that no real model is needed: it notes what it is asked
to note with a tool, lists its notes, and repeats the rest. "break" makes its model fail."""

import re

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import ToolContext
from google.genai import types


def note(thing: str, tool_context: ToolContext) -> dict:
    """Notes a thing."""
    notes = tool_context.state.get("notes", [])
    tool_context.state["notes"] = [*notes, thing]
    return {"noted": thing, "count": len(notes) + 1}


def notes_now(tool_context: ToolContext) -> dict:
    """Everything that was noted."""
    return {"notes": tool_context.state.get("notes", [])}


USAGE = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=12, candidates_token_count=5, total_token_count=17, cached_content_token_count=3
)


def whole(*parts: types.Part) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=list(parts)), usage_metadata=USAGE)


class Rules(BaseLlm):
    """Answers by rules."""

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            result = last.function_response.response
            text = f"Noted: {result['noted']}." if "noted" in result else f"Your notes: {', '.join(result['notes'])}."
        elif "break" in last.text:
            raise RuntimeError("the model is out of order")
        elif "refuse" in last.text:
            yield LlmResponse(error_code="SAFETY", error_message="blocked by a filter")
            return
        elif match := re.search(r"note (?:down )?(?:the )?(\w+)", last.text, re.IGNORECASE):
            call = types.Part.from_function_call(name="note", args={"thing": match[1]})
            yield whole(types.Part(text="One moment."), call)
            return
        elif "what you noted" in last.text:
            yield whole(types.Part.from_function_call(name="notes_now", args={}))
            return
        else:
            text = f"You said: {last.text}"
        if stream:
            for piece in re.findall(r"\S+\s*", text):
                content = types.Content(role="model", parts=[types.Part(text=piece)])
                yield LlmResponse(content=content, partial=True)
        yield whole(types.Part(text=text))


root_agent = LlmAgent(name="helper", model=Rules(model="rules"), instruction="Be kind.", tools=[note, notes_now])
