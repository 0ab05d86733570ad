"""A started agent that behaves as its first argument says. The second names a file to which it adds its process ids and
what happens to it, a line each."""

import http.server
import json
import os
import signal
import subprocess
import sys
import time

behaviour, diary = sys.argv[1], sys.argv[2]


def note(line):
    with open(diary, "a") as file:
        file.write(f"{line}\n")


def ignore(number, _):
    note(f"asked {number}")


note(f"pid {os.getpid()}")
if behaviour in ("stubborn", "hanging-stubborn"):
    signal.signal(signal.SIGTERM, ignore)
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    deaf = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
    deaf.stdout.readline()
    note(f"pid {deaf.pid}")
elif behaviour == "never":
    print("still warming up", flush=True)
    time.sleep(600)
elif behaviour == "dies":
    print("reading the settings", flush=True)
    sys.exit("Traceback: no such model \x1b[31mgpt-0\x07")
elif behaviour == "taken-once" and len(open(diary).readlines()) == 1:
    sys.exit("OSError: [Errno 98] Address already in use")
elif behaviour == "taken":
    sys.exit("Error: listen EADDRINUSE: address already in use")
elif behaviour == "loud":
    line = b"x" * 1023 + b"\n"
    for _ in range(100 * 1024):
        sys.stdout.buffer.write(line)
elif behaviour == "tells":
    print(os.environ["NEO_PASSWORD"], os.environ["MY_API_TOKEN"], os.environ["OPENAI_API_KEY"], os.environ["MODE"], flush=True)


class Protocol(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    messages = 0

    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.endswith("/sessions"):
            if behaviour == "dies-when-asked":
                os._exit(7)
            return self.reply({"sessionId": f"s-{os.getpid()}"})
        Protocol.messages += 1
        note(f"message {Protocol.messages}")
        if behaviour == "dies-in-turn-2" and Protocol.messages == 2:
            print("out of memory", flush=True)
            os._exit(1)
        if behaviour.startswith("hanging"):
            time.sleep(600)
        self.reply({"message": {"role": "assistant", "content": f"reply {Protocol.messages}"}, "events": []})

    def do_GET(self):
        self.reply({"status": "up"})

    def reply(self, body):
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Protocol)
note(f"port {server.server_port}")
server.daemon_threads = True
print(f"listening on {os.environ['PORT']}", flush=True)
server.serve_forever()
