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

from google.adk.evaluation.conversation_scenarios import ConversationScenario
from google.adk.evaluation.eval_case import Invocation
from google.adk.evaluation.eval_metrics import (
    EvalMetric,
    HallucinationsCriterion,
    LlmAsAJudgeCriterion,
    LlmBackedUserSimulatorCriterion,
    RubricsBasedCriterion,
)
from google.adk.evaluation.final_response_match_v2 import FinalResponseMatchV2Evaluator
from google.adk.evaluation.hallucinations_v1 import HallucinationsV1Evaluator
from google.adk.evaluation.rubric_based_final_response_quality_v1 import RubricBasedFinalResponseQualityV1Evaluator
from google.adk.evaluation.rubric_based_multi_turn_trajectory_evaluator import RubricBasedMultiTurnTrajectoryEvaluator
from google.adk.evaluation.rubric_based_tool_use_quality_v1 import RubricBasedToolUseV1Evaluator
from google.adk.evaluation.simulation.per_turn_user_simulator_quality_v1 import PerTurnUserSimulatorQualityV1
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


# What a judge may call a sentence; the last two are no labels of ADK's.
LABELS = ["supported", "unsupported", "contradictory", "disputed", "not_applicable", "perhaps", "SUPPORTED"]
CLAIM = re.compile(r"Claim \d+ of turn \d+ of case-\d+-of-\w+ holds\.")

# What the simulated user says, one message after the other.
WISHES = [
    "I need somewhere to eat tonight.",
    "There will be two of us, and one is in a wheelchair.",
    "Could it be by the window?",
    "What does the set menu cost?",
    "Please put it under Lovelace.",
]
BYE = "Thank you, good bye!"
SPOKEN_VALID = ['{"reasoning": "Fine.", "is_valid": "valid"}', '{"is_valid": true, "reasoning": "Fine."}', '{"is_valid": "true"}']
SPOKEN_INVALID = ['{"reasoning": "No.", "is_valid": "invalid"}', '{"is_valid": false, "reasoning": "No."}', '{"is_valid": "almost"}']
SPOKEN_NEITHER = ["I can't tell.", '{"is_valid": "perhaps"}']


def label_answer(chance):
    """Labels of each claim of both turns; none for a claim that the judge passes over."""
    chosen = lambda: None if chance.random() < 0.05 else chance.choices(LABELS, [6, 3, 1, 1, 2, 1, 1])[0]
    return [[chosen() for _ in range(chance.randint(1, 4))] for _ in range(2)]


def simulator_answer(chance):
    """What a judge says of the end, and of each message after the first, the goodbye included."""
    chosen = lambda: chance.choice(chance.choices([SPOKEN_VALID, SPOKEN_INVALID, SPOKEN_NEITHER], [7, 3, 1])[0])
    return [chosen() for _ in range(len(WISHES) + 1)]


METRICS = {
    "final_response_match_v2": (FinalResponseMatchV2Evaluator, LlmAsAJudgeCriterion, match_answer),
    "rubric_based_final_response_quality_v1": (
        RubricBasedFinalResponseQualityV1Evaluator,
        RubricsBasedCriterion,
        rubric_answer,
    ),
    "rubric_based_tool_use_quality_v1": (RubricBasedToolUseV1Evaluator, RubricsBasedCriterion, rubric_answer),
    "rubric_based_multi_turn_trajectory_quality_v1": (
        RubricBasedMultiTurnTrajectoryEvaluator,
        RubricsBasedCriterion,
        rubric_answer,
    ),
    "hallucinations_v1": (HallucinationsV1Evaluator, HallucinationsCriterion, label_answer),
    "per_turn_user_simulator_quality_v1": (
        PerTurnUserSimulatorQualityV1,
        LlmBackedUserSimulatorCriterion,
        simulator_answer,
    ),
}
OF_CLAIMS, OF_USER, OF_ALL = "hallucinations_v1", "per_turn_user_simulator_quality_v1", "rubric_based_multi_turn_trajectory_quality_v1"


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


def user_text(metric, case, turn=1):
    before = "A table please" if turn == 1 else f"And another thing, the {turn}nd"
    return f"{before}, case-{case}-of-{metric}"


def turns_of(metric):
    return 2 if metric in (OF_CLAIMS, OF_ALL) else 1


def claims(case, turn):
    """The sentences of a reply."""
    count = len(ANSWERS[OF_CLAIMS, case][0][turn - 1])
    return [f"Claim {number} of turn {turn} of case-{case}-of-{OF_CLAIMS} holds." for number in range(count)]


def reply_text(metric, case, turn):
    return " ".join(claims(case, turn)) if metric == OF_CLAIMS else "At seven."


def label_of(claim):
    number, turn, case = map(int, re.match(r"Claim (\d+) of turn (\d+) of case-(\d+)-", claim).groups())
    return ANSWERS[OF_CLAIMS, case][0][turn - 1][number]


def labelled_blocks(found):
    """The labels as ADK asks for them."""
    block = "sentence: {}\nlabel: {}\nrationale: so\nsupporting_excerpt: null\ncontradicting_excerpt: null"
    return "\n\n".join(block.format(claim, label_of(claim)) for claim in found if label_of(claim) is not None)


def plan(case):
    return f"You look for a restaurant, as in case-{case}-of-{OF_USER}."


def messages(case):
    """What the user says in a case; it is as eval-job's simulated user, which takes leave in words, has it."""
    return [*WISHES[: 1 + case % len(WISHES)], BYE]


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
        if metric == OF_CLAIMS:
            answer = self.about_claims(text)
        elif metric == OF_USER:
            # The last part of the prompt is the message; that of the end is the signal alone.
            said = text[text.rindex("Generated User Response") :]
            place = next((at for at, message in enumerate(messages(int(case))) if message in said), 0)
            ASKED[key, place] += 1
            answer = ANSWERS[key][ASKED[key, place] - 1][place]
        else:
            ASKED[key] += 1
            answer = ANSWERS[key][ASKED[key] - 1]
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=answer)]))

    def about_claims(self, text):
        """Cuts a reply into sentences, or labels them."""
        if "**Sentences Begin**" in text:
            return labelled_blocks(CLAIM.findall(text[text.rindex("**Sentences Begin**") :]))
        found = CLAIM.findall(text[text.rindex("**Response Begin**") :])
        return "\n".join(f"<sentence>{claim}</sentence>" for claim in found)


def content(text, role):
    return types.Content(role=role, parts=[types.Part(text=text)])


async def by_adk(metric, case):
    evaluator, kind, _ = METRICS[metric]
    written = kind.model_validate(criterion(metric, samples_of(case)))
    judge = evaluator(EvalMetric(metric_name=metric, threshold=THRESHOLD, criterion=written))
    if metric == OF_USER:
        turn = lambda said: Invocation(user_content=content(said, "user"), final_response=content("At seven.", "model"))
        scenario = ConversationScenario(starting_prompt=WISHES[0], conversation_plan=plan(case))
        result = await judge.evaluate_invocations([turn(said) for said in messages(case)], None, scenario)
        return result.overall_score
    turns = range(1, turns_of(metric) + 1)
    user = lambda turn: content(user_text(metric, case, turn), "user")
    reply = lambda turn: content(reply_text(metric, case, turn), "model")
    actual = [Invocation(user_content=user(turn), final_response=reply(turn)) for turn in turns]
    expected = [Invocation(user_content=user(turn), final_response=content("It is at seven.", "model")) for turn in turns]
    result = await judge.evaluate_invocations(actual, expected)
    return result.overall_score


class Endpoint(http.server.BaseHTTPRequestHandler):
    """The agent (model `m`) and the judge, as OpenAI's API. A further sample is told by its seed."""

    def do_GET(self):
        self.reply({"data": []})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [message["content"] for message in body["messages"] if isinstance(message["content"], str)]
        said = {"m": self.agent, "persona": self.persona}.get(body["model"], self.judge)(body, texts)
        message = {"role": "assistant", "content": said}
        self.reply({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]})

    def agent(self, _, texts):
        found = MARK.findall(texts[-1])
        return reply_text(found[-1][1], int(found[-1][0]), 1 + ("And another" in texts[-1])) if found else "At seven."

    def persona(self, _, texts):
        case = int(MARK.findall("\n".join(texts))[0][0])
        # Its own lines and the agent's alternate behind the first one, which the case gives.
        at = sum(wish in "\n".join(texts[1:]) for wish in WISHES)
        message = messages(case)[at]
        is_done = message == BYE
        return json.dumps({"message": message, "done": is_done, "reason": "all is dealt with" if is_done else ""})

    def judge(self, body, texts):
        text = "\n".join(texts)
        if not MARK.search(text):
            # Whatever the agent says to the simulated user.
            ids = re.findall(r'<item id="([^"]+)"', text)
            verdict = lambda id: {"id": id, "reason": "so", "quotes": [], "turnsRead": [], "verdict": "supported"}
            return json.dumps({"verdicts": [verdict(id) for id in ids]})
        case, metric = MARK.findall(text)[0]
        if metric == OF_CLAIMS:
            return self.labels(int(case), text)
        answer = ANSWERS[metric, int(case)][body.get("seed", 0)]
        return self.spoken(text, answer) if metric == OF_USER else answer

    def labels(self, case, text):
        """The labels as eval-job asks for them, in every second case as ADK does."""
        items = re.findall(r'<item id="([^"]+)"[^>]*>([^<]*)</item>', text)
        if case % 2:
            return labelled_blocks([claim for _, claim in items])
        named = {"not_applicable": "notApplicable"}
        verdict = lambda it: {"id": it[0], "reason": "so", "quotes": [], "turnsRead": [], "verdict": named.get(label_of(it[1]), label_of(it[1]))}
        return json.dumps({"verdicts": [verdict(it) for it in items if label_of(it[1]) is not None]})

    def spoken(self, text, answer):
        """The verdicts on the user's messages and on the end."""
        word = lambda said: "yes" if said in SPOKEN_VALID else "no" if said in SPOKEN_INVALID else "unclear"
        place = lambda id: 0 if id == "end" else int(id) - 1
        ids = re.findall(r'<item id="([^"]+)"', text)
        verdict = lambda id: {"id": id, "reason": "so", "quotes": [], "turnsRead": [], "verdict": word(answer[place(id)])}
        return json.dumps({"verdicts": [verdict(id) for id in ids]})

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
    invocation = lambda case, turn: {
        "invocation_id": str(turn),
        "user_content": {"role": "user", "parts": [{"text": user_text(metric, case, turn)}]},
        "final_response": {"role": "model", "parts": [{"text": "It is at seven."}]},
    }
    of_case = lambda case: {"conversation": [invocation(case, turn) for turn in range(1, turns_of(metric) + 1)]}
    if metric == OF_USER:
        of_case = lambda case: {"conversation_scenario": {"starting_prompt": WISHES[0], "conversation_plan": plan(case)}}
    cases_written = [{"eval_id": str(case), **of_case(case)} for case in cases]
    os.makedirs(folder)
    with open(f"{folder}/set.evalset.json", "w") as file:
        json.dump({"eval_set_id": "set", "eval_cases": cases_written}, file)
    with open(f"{folder}/test_config.json", "w") as file:
        criteria = {metric: criterion(metric, samples)}
        if metric == OF_USER:
            # It counts in no score of an agent's, so that another one has to.
            criteria[OF_CLAIMS] = criterion(OF_CLAIMS, 1)
        json.dump({"criteria": criteria}, file)
    models = ["--model", "m", "--scorer-model", "openai/judge", "--evaluator-model", "openai/persona"]
    flags = [*models, "--dialect-strict", "--no-progress", "-o", "run.json"]
    command = [program, "run", "set.evalset.json", "--target", f"openai={address}/v1", *flags]
    environment = {**os.environ, "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": "sk-nobody"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if not os.path.exists(f"{folder}/run.json"):
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    with open(f"{folder}/run.json") as file:
        record = json.load(file)
    scores = {}
    for trial in record["trials"]:
        named = [it for it in trial["scorecard"]["dimensions"] if it["name"] == metric]
        scores[int(trial["trial"]["case"])] = named[0]["component"].get("score")
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
                    print("    " + str(answer).replace("\n", "\n    ") + "\n    --")
            differing += CASES - alike
            print(f"{metric}: {alike} of {CASES} alike")
    sys.exit(1 if differing else 0)


main()
