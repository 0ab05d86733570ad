"""A model that answers by a script: `answers.json` beside the agent has the steps of the answer to each user message.
A step is the content of one reply of a model: texts, and calls of tools."""

import json
from pathlib import Path

from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Scripted(BaseLlm):
    """Answers by a script."""

    answers: dict

    async def generate_content_async(self, llm_request, stream=False):
        # The last message of the user, and how many replies came after it.
        replies, said = 0, ""
        for content in reversed(llm_request.contents):
            texts = [part.text for part in content.parts if part.text]
            if content.role == "user" and texts and not any(part.function_response for part in content.parts):
                said = "\n".join(texts)
                break
            replies += content.role == "model"
        steps = self.answers.get(said, [{"texts": [f"You said: {said}"]}])
        step = steps[min(replies, len(steps) - 1)]
        parts = [types.Part(text=text) for text in step.get("texts", [])]
        parts += [types.Part.from_function_call(name=it["name"], args=it["args"]) for it in step.get("calls", [])]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def scripted(file: str) -> Scripted:
    """The model of the agent in this file."""
    answers = json.loads(Path(file).with_name("answers.json").read_text())
    return Scripted(model="scripted", answers=answers)
