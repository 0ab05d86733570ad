"""The judge metrics of DeepEval and of eval-job beside each other; see scripts/judges-beside.

DeepEval asks for one verdict at a time and eval-job for all of a conversation, so the judge decides by a table, and words its
decisions as each wants them."""

import http.server
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
os.environ["ERROR_REPORTING"] = "NO"

from deepeval.metrics import (
    ConversationalGEval,
    ConversationCompletenessMetric,
    RoleAdherenceMetric,
    TurnRelevancyMetric,
)
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import ConversationalTestCase, MultiTurnParams, Turn

CASES = 40
ROLE = "A waiter."
CRITERIA = "The assistant is brief."
PARAMS = [MultiTurnParams.ROLE, MultiTurnParams.CONTENT]
METRICS = {
    "turnRelevancy": ({}, lambda model: TurnRelevancyMetric(model=model, include_reason=False, async_mode=False)),
    "completeness": ({}, lambda model: ConversationCompletenessMetric(model=model, include_reason=False, async_mode=False)),
    "roleAdherence": ({"role": ROLE}, lambda model: RoleAdherenceMetric(model=model, include_reason=False, async_mode=False)),
    "geval": (
        {"criteria": CRITERIA},
        lambda model: ConversationalGEval(name="brief", criteria=CRITERIA, evaluation_steps=["Look."], evaluation_params=PARAMS, model=model, async_mode=False),
    ),
}


class Decisions:
    """What the judge thinks of a case."""

    def __init__(self, metric, case):
        chance = random.Random(f"{metric} {case} {SEED}")
        self.turns = chance.randint(1, 4)
        words = ["yes", "yes", "no", "no", "yes"] + (["perhaps"] if metric in ("turnRelevancy", "completeness") else [])
        self.verdicts = [chance.choice(words) for _ in range(self.turns)]
        self.found = [chance.choice(words) for _ in range(chance.randint(0, 4))]
        self.score = chance.randint(0, 10)


def said(case, turn):
    return f"Message {turn} of case-{case}-"


class Judge(DeepEvalBaseLLM):
    """Answers DeepEval's prompts, of which the kind is known by the metric and the call."""

    def __init__(self, metric, case):
        self.metric, self.decisions, self.calls = metric, Decisions(metric, case), 0
        super().__init__()

    def load_model(self):
        return self

    def get_model_name(self):
        return "scripted"

    async def a_generate(self, prompt, *_, **__):
        return self.generate(prompt)

    def generate(self, prompt, *_, **__):
        decisions, call = self.decisions, self.calls
        self.calls += 1
        if self.metric == "turnRelevancy":
            return json.dumps({"verdict": decisions.verdicts[call], "reason": "so"})
        if self.metric == "completeness":
            if call == 0:
                return json.dumps({"intentions": [f"wish {number}" for number in range(len(decisions.found))]})
            return json.dumps({"verdict": decisions.found[call - 1], "reason": "so"})
        if self.metric == "roleAdherence":
            out = [index for index, verdict in enumerate(decisions.verdicts) if verdict == "no"]
            return json.dumps({"verdicts": [{"index": index, "reason": "so", "ai_message": ""} for index in out]})
        return json.dumps({"score": decisions.score, "reason": "so"})


def by_deepeval(metric, case):
    turns = []
    for number in range(1, Decisions(metric, case).turns + 1):
        turns += [Turn(role="user", content=said(case, number)), Turn(role="assistant", content="Very well.")]
    test_case = ConversationalTestCase(turns=turns, chatbot_role=ROLE)
    return METRICS[metric][1](Judge(metric, case)).measure(test_case, _show_indicator=False)


class Endpoint(http.server.BaseHTTPRequestHandler):
    """The agent (model `m`) and the judge, as OpenAI's API."""

    metric = ""

    def do_GET(self):
        self.reply({"data": []})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = "\n".join(message["content"] for message in body["messages"])
        content = "Very well." if body["model"] == "m" else json.dumps(self.verdicts(text))
        message = {"role": "assistant", "content": content}
        self.reply({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]})

    def verdicts(self, text):
        decisions = Decisions(self.metric, int(re.findall(r"case-(\d+)-", text)[0]))
        ids = re.findall(r'<item id="([^"]+)"', text)
        if self.metric == "geval":
            return {"verdicts": [{"id": ids[0], "reason": "so", "quotes": [], "turnsRead": [], "score": decisions.score}]}
        given = decisions.found if self.metric == "completeness" else decisions.verdicts
        ids = ids or [str(number) for number in range(1, len(given) + 1)]
        verdict = lambda it: {"id": it[0], "item": "a wish", "reason": "so", "quotes": [], "turnsRead": [], "verdict": it[1]}
        return {"verdicts": [verdict(it) for it in zip(ids, given)]}

    def reply(self, value):
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def by_eval_job(program, metric, address, folder):
    os.makedirs(folder)
    script = lambda case: [said(case, number) for number in range(1, Decisions(metric, case).turns + 1)]
    job = {
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": f"{address}/v1"}},
        "scorer": {"model": {"name": "openai/judge", "baseUrl": f"{address}/v1"}},
        "evaluator": {"script": ["Hello"]},
        "facts": [],
        "greetings": [],
        "metrics": [{metric: {**METRICS[metric][0], "judging": {"strict": True}}}],
        "cases": [{"id": str(case), "script": script(case)} for case in range(CASES)],
    }
    with open(f"{folder}/job.yml", "w") as file:
        json.dump(job, file)
    command = [program, "run", "job.yml", "--model", "m", "--no-progress", "-o", "run.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if not os.path.exists(f"{folder}/run.json"):
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    with open(f"{folder}/run.json") as file:
        record = json.load(file)
    component = lambda trial: trial["scorecard"]["dimensions"][0]["component"]
    return {int(trial["trial"]["case"]): component(trial) for trial in record["trials"]}


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address, program = f"http://127.0.0.1:{server.server_port}", os.path.abspath(os.environ["EVAL_JOB"])
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for metric in METRICS:
            Endpoint.metric = metric
            ours = by_eval_job(program, metric, address, f"{folder}/{metric}")
            alike = known = 0
            for case in range(CASES):
                theirs, own = by_deepeval(metric, case), ours.get(case, {})
                score = own.get("score")
                if score is not None and abs(theirs - score) < 1e-9:
                    alike += 1
                    continue
                decisions = Decisions(metric, case)
                given = decisions.found if metric == "completeness" else decisions.verdicts
                # Named in docs/judges.md: DeepEval gives full points where no verdict can be used.
                if theirs == 1 and own.get("kind") == "missing" and set(given) == {"perhaps"}:
                    known += 1
                    continue
                print(f"{metric}, case {case}: DeepEval {theirs}, eval-job {own}: {vars(decisions)}")
            differing += CASES - alike - known
            print(f"{metric}: {alike} of {CASES} alike" + (f", {known} differ as documented" if known else ""))
    sys.exit(1 if differing else 0)


SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 1
main()
