"""A small agent that keeps an address book and reminders in a graph, for eval-job to start and to evaluate.

eval-job gives it PORT and the NEO_ variables. It speaks the part of Embabel's protocol that eval-job uses, reaches the
graph by Neo4j's official driver, and understands a few sentences by rules. Put your own agent in its place.
"""

import json
import os
import re
import signal
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

try:
    from neo4j import GraphDatabase
except ImportError:
    wanted = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requirements.txt")
    sys.exit(f"The neo4j package is missing. Install it: {sys.executable} -m pip install -r {wanted}")

ADD_CONTACT = """
MERGE (u:User {id: $user})
MERGE (u)-[:HAS_CONTACT]->(c:Contact {name: $name}) SET c.phone = $phone"""
ADD_REMINDER = """
MERGE (u:User {id: $user})
CREATE (u)-[:HAS_REMINDER]->(:Reminder {title: $title, day: $day})"""
CONTACTS = "MATCH (:User {id: $user})-[:HAS_CONTACT]->(c) RETURN c AS node, c.name AS name ORDER BY name"
EVERYTHING = "MATCH (:User {id: $user})-[:HAS_CONTACT|HAS_REMINDER]->(n) RETURN n AS node, coalesce(n.name, n.title) AS name"

driver = GraphDatabase.driver(os.environ["NEO_URI"], auth=(os.environ["NEO_USERNAME"], os.environ["NEO_PASSWORD"]))
sessions = {}


class Session:
    """One conversation: whose it is, and the name whose phone number was asked for."""

    def __init__(self, user):
        self.user, self.waiting_for, self.events = user, None, []

    def query(self, cypher, **parameters):
        """Runs Cypher for the session's user, and only for that one."""
        database = os.environ.get("NEO_DATABASE")
        return driver.execute_query(cypher, user=self.user, **parameters, database_=database).records

    def call(self, function, cypher, **arguments):
        """The same as a function call that is reported to eval-job."""
        request = {"function": {"name": function}, "arguments": arguments, "context": self.user}
        records = self.query(cypher, **arguments)
        self.events += [{"request": request}, {"output": f"{len(records)} rows" if records else "ok"}]
        return records

    def answer(self, text):
        self.events = []
        if self.waiting_for:
            name, self.waiting_for = self.waiting_for, None
            number = re.search(r"[+\d][\d /-]{5,}\d", text)
            return self.add_contact(name, number and number.group())
        if found := re.search(r"add (?:the \w+ )?([A-Z]\w+(?: [A-Z]\w+)*) to my contacts", text):
            self.waiting_for = found.group(1)
            return f"Gladly. What is {self.waiting_for}'s phone number?"
        if found := re.search(r"reminder to (.+?) (?:on|for) (\w+)\W*$", text):
            title, day = found.group(1).capitalize(), found.group(2)
            self.call("createReminder", ADD_REMINDER, title=title, day=day)
            return f"I've created a reminder to {found.group(1)} on {day}."
        if re.search(r"how many contacts", text):
            names = [record["name"] for record in self.call("listContacts", CONTACTS)]
            return f"You have {len(names)} contacts: {' and '.join(names)}."
        if re.search(r"\b(hello|hi|hey|greetings|yo)\b", text, re.IGNORECASE):
            return "Hello! I keep your contacts and reminders. How can I help you?"
        return "You're welcome."

    def add_contact(self, name, phone):
        self.call("addContact", ADD_CONTACT, name=name, phone=phone)
        if phone:
            return f"I've added {name} to your contacts with the phone number {phone}."
        return f"I've added {name} to your contacts without a phone number; tell me when you have it."

    def object_context(self):
        """What the agent has at hand, in the shape that expressions in the job look at."""
        resources = []
        for record in self.query(EVERYTHING):
            node, name = record["node"], record["name"]
            labels = [*node.labels, "DomainNode"]
            resources.append({"id": node.element_id, "name": name, "properties": dict(node), "labels": labels})
        return {"context": self.user, "resources": resources, "functions": []}


class Protocol(BaseHTTPRequestHandler):
    """PUT sessions, PUT messages, GET objectContexts/ID, below /api/v1/chat."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece

    def do_PUT(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/sessions"):
            session_id = str(uuid.uuid4())
            sessions[session_id] = Session(body["user"])
            return self.reply(200, {"sessionId": session_id})
        session = sessions.get(body.get("sessionId"))
        if session is None or not self.path.endswith("/messages"):
            return self.reply(404, {"error": "There is no such session."})
        message = {"role": "assistant", "content": session.answer(body["message"]["content"])}
        self.reply(200, {"sessionId": body["sessionId"], "message": message, "events": session.events})

    def do_GET(self):
        if self.path == "/health":
            return self.reply(200, {"status": "up"})
        session = sessions.get(self.path.rsplit("/", 1)[-1])
        if session is None:
            return self.reply(404, {"error": "There is no such session."})
        self.reply(200, session.object_context())

    def reply(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    driver.verify_connectivity()
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Protocol)
    print(f"the agent listens on port {server.server_port}, its graph is at {os.environ['NEO_URI']}", flush=True)
    server.serve_forever()
