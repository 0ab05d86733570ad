"""An agent behind a WebSocket that counts words; on the word "break" it breaks."""

import asyncio
import json
import os
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import serve


async def talk(connection):
    user = parse_qs(urlsplit(connection.request.path).query)["user"][0]

    async def tell(**frame):
        await connection.send(json.dumps(frame))

    await tell(session=f"talk-of-{user}")
    await tell(piece="Welcome, ")
    await tell(piece=user)
    await tell(end=True)
    async for frame in connection:
        said = json.loads(frame)["say"]
        if "break" in said:
            await tell(piece="I am")
            raise RuntimeError("out of order")
        words = said.split()
        await tell(tool={"name": "count", "args": {"words": words}})
        for piece in (f"{user} said ", f"{len(words)} words: ", said):
            await tell(piece=piece)
        await tell(end=True, tokens={"in": len(words), "out": 3})


async def main():
    async with serve(talk, "127.0.0.1", int(os.environ["PORT"]), subprotocols=["talk.v1"]) as server:
        await server.serve_forever()


asyncio.run(main())
