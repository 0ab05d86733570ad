#!/usr/bin/env python3
"""Times Google ADK's own tool trajectory metric on the cases of scripts/many-recorded, in process.

    target/peers/adk/venv/bin/python scripts/trajectories_beside_adk.py FOLDER

prints microseconds of CPU a case: to read the eval set and the conversations, to compare them, and to write the results.
scripts/peers installs ADK.
"""
import json
import logging
import pathlib
import sys
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

from google.adk.evaluation.eval_case import IntermediateData, Invocation
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
from google.genai import types


def content(role, text):
    return types.Content(role=role, parts=[types.Part(text=text)])


def recorded(line):
    """The conversation of a line of messages, as ADK holds it."""
    document = json.loads(line)
    turns = []
    for message in document["messages"]:
        if message["role"] == "user":
            turns.append(Invocation(user_content=content("user", message["content"]), intermediate_data=IntermediateData()))
        elif message["role"] == "assistant":
            for call in message.get("tool_calls") or []:
                args = json.loads(call["function"]["arguments"])
                turns[-1].intermediate_data.tool_uses.append(types.FunctionCall(name=call["function"]["name"], args=args))
            if message["content"]:
                turns[-1].final_response = content("model", message["content"])
    return document["id"], turns


def main(folder):
    folder = pathlib.Path(folder)
    times = [time.process_time()]
    cases = EvalSet.model_validate_json((folder / "set.json").read_text()).eval_cases
    times.append(time.process_time())
    conversations = dict(map(recorded, (folder / "recorded.jsonl").open()))
    times.append(time.process_time())
    evaluator = TrajectoryEvaluator(threshold=1.0)
    results = [evaluator.evaluate_invocations(conversations[case.eval_id], case.conversation) for case in cases]
    times.append(time.process_time())
    written = sum(len(result.model_dump_json()) for result in results)
    times.append(time.process_time())
    passed = sum(result.overall_score == 1.0 for result in results)
    print(f"{len(cases)} cases, {passed} of them as expected, {written} bytes of results")
    parts = ["read the eval set", "read the conversations", "compare", "write the results"]
    for part, before, after in zip(parts, times, times[1:]):
        print(f"{(after - before) / len(cases) * 1e6:9.1f} µs a case to {part}")
    print(f"{(times[-1] - times[0]) / len(cases) * 1e6:9.1f} µs a case in all")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
