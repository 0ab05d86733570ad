"""An agent on the A2A project's own server, in version 1.0 or 0.3 as its argument says. It repeats what it hears, asks
back where it is told to book, works for a while where it is told to work, and fails where it is told to fail."""

import asyncio
import os
import sys

import uvicorn
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

VERSION, STREAMING, PORT = sys.argv[1], sys.argv[2] == "streaming", int(os.environ["PORT"])


class Repeats(AgentExecutor):
    async def execute(self, context, event_queue):
        said = context.get_user_input()
        if context.current_task is None and not any(word in said for word in ["book", "work", "fail"]):
            await event_queue.enqueue_event(new_text_message(f"You said: {said}", context_id=context.context_id))
            return
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        answer = lambda text: task.new_agent_message([new_text_part(text)])
        if "fail" in said:
            await task.failed(answer("out of order"))
        elif context.current_task is None and "book" in said:
            await task.requires_input(answer("For which day?"))
        elif "work" in said:
            await task.start_work(answer("I am at it."))
            await asyncio.sleep(0.05)
            await task.add_artifact([new_text_part("The work is ")], artifact_id="result")
            await task.add_artifact([new_text_part("done.")], artifact_id="result", append=True, last_chunk=True)
            await task.complete()
        else:
            await task.complete(answer(f"Booked: {said}"))

    async def cancel(self, context, event_queue):
        raise NotImplementedError


card = AgentCard(
    name="Repeats",
    description="Repeats what it hears",
    version="1",
    capabilities=AgentCapabilities(streaming=STREAMING),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="repeat", name="Repeat", description="Repeats", tags=["test"])],
    supported_interfaces=[
        AgentInterface(url=f"http://127.0.0.1:{PORT}/rpc", protocol_binding="JSONRPC", protocol_version=VERSION)
    ],
)
handler = DefaultRequestHandler(agent_executor=Repeats(), task_store=InMemoryTaskStore(), agent_card=card)
routes = create_agent_card_routes(card) + create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=VERSION == "0.3")
uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=PORT, log_level="warning")
