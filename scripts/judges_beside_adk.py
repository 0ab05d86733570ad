"""The judge metrics of Google ADK and of eval-job beside each other; see scripts/judges-beside."""

import asyncio
import collections
import http.server
import json
import logging
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

from google.adk.evaluation.eval_case import Invocation
from google.adk.evaluation.eval_metrics import EvalMetric, LlmAsAJudgeCriterion, RubricsBasedCriterion
from google.adk.evaluation.final_response_match_v2 import FinalResponseMatchV2Evaluator
from google.adk.evaluation.rubric_based_final_response_quality_v1 import RubricBasedFinalResponseQualityV1Evaluator
from google.adk.evaluation.rubric_based_tool_use_quality_v1 import RubricBasedToolUseV1Evaluator
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry
from google.genai import types

CASES = 40
THRESHOLD = 0.5
SAMPLES = [1, 2, 3, 5]
RUBRICS = ["The reply names a time.", "The reply is polite.", "The reply asks nothing."]
MARK = re.compile(r"case-(\d+)-of-(\w+)")

VALID = [
    '{"reasoning": "It says the same.", "is_the_agent_response_valid": "valid"}',
    '```json\n{\n  "reasoning": "same",\n  "is_the_agent_response_valid": "valid"\n}\n```',
    '{"reasoning": "same", "is_the_agent_response_valid": ["valid"]}',
    '{"reasoning": "same", "is_the_agent_response_valid": "true"}',
    '{"reasoning": "same", "is_the_agent_response_invalid": "false"}',
]
INVALID = [
    '{"reasoning": "No.", "is_the_agent_response_valid": "invalid"}',
    '{"reasoning": "No.", "is_the_agent_response_valid": "almost"}',
    '{"reasoning": "No.", "is_the_agent_response_valid": "partially_valid"}',
    '{"reasoning": "No.", "is_the_agent_response_invalid": "true"}',
    '{"reasoning": "No.", "is_the_agent_response_valid": false}',
]
NEITHER = ["I can't tell.", '{"reasoning": "?", "is_the_agent_response_valid": "perhaps"}', '{"reasoning": "?"}']


def match_answer(chance):
    return chance.choice(chance.choices([VALID, INVALID, NEITHER], [5, 5, 1])[0])


def rubric_answer(chance):
    """Verdicts on the rubrics as ADK asks for them: in any order, some left out, some of nobody's."""
    named = list(enumerate(RUBRICS))
    if chance.random() < 0.3:
        chance.shuffle(named)
    if chance.random() < 0.15:
        named.pop()
    if chance.random() < 0.1:
        named.append((9, "Nobody asked for this."))
    blocks = []
    for number, text in named:
        verdict = chance.choices(["yes", "no", "Yes.", "No, it does not", "unclear"], [6, 5, 2, 2, 1])[0]
        head = f"ID: r{number}\n" if chance.random() < 0.7 else ""
        rationale = "" if chance.random() < 0.03 else "Rationale: so it is\n"
        blocks.append(f"{head}Property: {text}\nEvidence: the reply\n{rationale}Verdict: {verdict}\n")
    return "\n".join(blocks)


METRICS = {
    "final_response_match_v2": (FinalResponseMatchV2Evaluator, LlmAsAJudgeCriterion, match_answer),
    "rubric_based_final_response_quality_v1": (
        RubricBasedFinalResponseQualityV1Evaluator,
        RubricsBasedCriterion,
        rubric_answer,
    ),
    "rubric_based_tool_use_quality_v1": (RubricBasedToolUseV1Evaluator, RubricsBasedCriterion, rubric_answer),
}


def criterion(metric, samples):
    written = {"threshold": THRESHOLD, "judge_model_options": {"judge_model": "scripted-judge", "num_samples": samples}}
    if metric.startswith("rubric"):
        written["rubrics"] = [
            {"rubric_id": f"r{number}", "rubric_content": {"text_property": text}} for number, text in enumerate(RUBRICS)
        ]
    return written


def answers_of(seed):
    """What the judge says to each sample of each case of each metric."""
    chance = random.Random(seed)
    return {
        (metric, case): [answer(chance) for _ in range(max(SAMPLES))]
        for metric, (_, _, answer) in METRICS.items()
        for case in range(CASES)
    }


def user_text(metric, case):
    return f"A table please, case-{case}-of-{metric}"


def samples_of(case):
    return SAMPLES[case % len(SAMPLES)]


class ScriptedJudge(BaseLlm):
    """Says the next answer of the case that it is asked about."""

    @classmethod
    def supported_models(cls):
        return ["scripted-judge"]

    async def generate_content_async(self, llm_request, stream=False):
        text = llm_request.contents[0].parts[0].text
        case, metric = MARK.findall(text)[-1]
        key = (metric, int(case))
        ASKED[key] += 1
        answer = ANSWERS[key][ASKED[key] - 1]
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=answer)]))


def content(text, role):
    return types.Content(role=role, parts=[types.Part(text=text)])


async def by_adk(metric, case):
    evaluator, kind, _ = METRICS[metric]
    written = kind.model_validate(criterion(metric, samples_of(case)))
    user = content(user_text(metric, case), "user")
    actual = Invocation(user_content=user, final_response=content("At seven.", "model"))
    expected = Invocation(user_content=user, final_response=content("It is at seven.", "model"))
    judge = evaluator(EvalMetric(metric_name=metric, threshold=THRESHOLD, criterion=written))
    result = await judge.evaluate_invocations([actual], [expected])
    return result.overall_score


class Endpoint(http.server.BaseHTTPRequestHandler):
    """The agent (model `m`) and the judge, as OpenAI's API. A further sample is told by its seed."""

    def do_GET(self):
        self.reply({"data": []})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = "\n".join(message["content"] for message in body["messages"] if isinstance(message["content"], str))
        if body["model"] == "m":
            said = "At seven."
        else:
            case, metric = MARK.findall(text)[0]
            said = ANSWERS[metric, int(case)][body.get("seed", 0)]
        message = {"role": "assistant", "content": said}
        self.reply({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]})

    def reply(self, value):
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def by_eval_job(program, metric, samples, address, folder):
    """The scores of all cases of a metric with this number of samples."""
    cases = [case for case in range(CASES) if samples_of(case) == samples]
    invocation = lambda case: {
        "invocation_id": "1",
        "user_content": {"role": "user", "parts": [{"text": user_text(metric, case)}]},
        "final_response": {"role": "model", "parts": [{"text": "It is at seven."}]},
    }
    cases_written = [{"eval_id": str(case), "conversation": [invocation(case)]} for case in cases]
    os.makedirs(folder)
    with open(f"{folder}/set.evalset.json", "w") as file:
        json.dump({"eval_set_id": "set", "eval_cases": cases_written}, file)
    with open(f"{folder}/test_config.json", "w") as file:
        json.dump({"criteria": {metric: criterion(metric, samples)}}, file)
    flags = ["--model", "m", "--scorer-model", "openai/judge", "--dialect-strict", "--no-progress", "-o", "run.json"]
    command = [program, "run", "set.evalset.json", "--target", f"openai={address}/v1", *flags]
    environment = {**os.environ, "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "sk-nobody"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if not os.path.exists(f"{folder}/run.json"):
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    with open(f"{folder}/run.json") as file:
        record = json.load(file)
    scores = {}
    for trial in record["trials"]:
        dimension = trial["scorecard"]["dimensions"][0]
        scores[int(trial["trial"]["case"])] = dimension["component"].get("score")
    return scores


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    global ANSWERS, ASKED
    ANSWERS, ASKED = answers_of(seed), collections.Counter()
    LLMRegistry.register(ScriptedJudge)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    program = os.path.abspath(os.environ["EVAL_JOB"])
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for metric in METRICS:
            ours = {}
            for samples in SAMPLES:
                ours.update(by_eval_job(program, metric, samples, address, f"{folder}/{metric}-{samples}"))
            alike = 0
            for case in range(CASES):
                theirs = asyncio.run(by_adk(metric, case))
                own = ours.get(case)
                if (theirs is None) == (own is None) and (theirs is None or abs(theirs - own) < 1e-9):
                    alike += 1
                    continue
                print(f"{metric}, case {case}: ADK {theirs}, eval-job {own}")
                for answer in ANSWERS[metric, case][: samples_of(case)]:
                    print("    " + answer.replace("\n", "\n    ") + "\n    --")
            differing += CASES - alike
            print(f"{metric}: {alike} of {CASES} alike")
    sys.exit(1 if differing else 0)


main()
