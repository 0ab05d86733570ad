"""An agent that calls whatever its script says: no tool of it does anything."""

import json
from pathlib import Path

from google.adk import Agent
from google.adk.tools import BaseTool
from google.genai import types
from scripted import scripted


class Nothing(BaseTool):
    """Takes any arguments."""

    def _get_declaration(self):
        return types.FunctionDeclaration(name=self.name, description=self.description)

    async def run_async(self, *, args, tool_context):
        return {"done": True}


script = json.loads(Path(__file__).with_name("answers.json").read_text())
names = sorted({call["name"] for steps in script.values() for step in steps for call in step.get("calls", [])})
tools = [Nothing(name=name, description=name) for name in names]
root_agent = Agent(name="traps", model=scripted(__file__), tools=tools)
