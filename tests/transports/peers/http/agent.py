"""An agent with a REST interface of its own, by Python's standard library: POST /talks, POST /talks/ID, GET /talks/ID.

It answers with one JSON document, remembers what was said in each talk, and wants a key.
"""

import itertools
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

TALKS = {}
NUMBERS = itertools.count(1)


class Agent(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/health":
            return self.answer(200, {"up": True})
        talk = unquote(self.path.removeprefix("/talks/"))
        self.answer(200, {"heard": TALKS[talk]}) if talk in TALKS else self.answer(404, {"error": "no such talk"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
        if self.headers.get("X-Key") != "peer-key":
            return self.answer(401, {"error": "who are you?"})
        if self.path == "/talks":
            talk = f"talk {next(NUMBERS)}"
            TALKS[talk] = []
            return self.answer(201, {"talk": {"id": talk}})
        talk = unquote(self.path.removeprefix("/talks/"))
        if talk not in TALKS:
            return self.answer(404, {"error": "no such talk"})
        TALKS[talk].append(body["say"])
        words = f"You said: {body['say']} ({len(TALKS[talk])})"
        self.answer(200, {"reply": {"words": words}, "tokens": {"in": len(body["say"]), "out": len(words)}})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Agent).serve_forever()
