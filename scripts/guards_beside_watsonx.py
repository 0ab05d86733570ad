"""watsonx's guard on the simulated user (`UserSimulatorGuardrails` of its evaluation framework) on a labelled corpus; see
scripts/guards-beside.

It has one rule: each value that the user's model reports with its message stands in the story or in a message of the agent. No model
wrote this corpus, so the values are taken from the turn: all that has a digit, mail addresses, and words with a capital within a
sentence. With a model the figures depend on what it reports; what it doesn't report isn't checked."""

import json
import re
import sys

from agentops.llm_user.guardrails import UserSimulatorGuardrails
from agentops.llm_user.models import SimulatedUserTurn
from agentops.type import ContentType, Message

VALUE = re.compile(r"[^\s,;:!?()\"]*\d[^\s,;!?()\"]*|[^\s,;:]+@[^\s,;:]+|(?<=[^.!?\s] )[A-ZÀ-ÞА-Я][\w'-]+")


def text(entry):
    return entry if isinstance(entry, str) else entry.get("task") or entry.get("fact") or json.dumps(entry)


def is_rejected(guard, turn):
    known = turn["tasks"] + (turn["facts"] if turn["condition"] == "with_facts" else [])
    values = {str(at): value.rstrip(".") for at, value in enumerate(VALUE.findall(turn["turn"])) if value != "I"}
    history = [Message(role=it["role"], content=it["content"], type=ContentType.text) for it in turn["transcript"]]
    return not guard.check(SimulatedUserTurn(content=turn["turn"], entities=values), "\n".join(map(text, known)), history).passed


def main():
    guard = UserSimulatorGuardrails()
    with open(sys.argv[1], encoding="utf-8") as corpus:
        turns = [json.loads(line) for line in corpus if line.strip()]
    rejected = {turn["id"] for turn in turns if is_rejected(guard, turn)}
    print(f"watsonx, {sys.argv[1]}: {len(turns)} turns, {len(rejected)} rejected")
    good = [turn for turn in turns if not turn["labels"]]
    wrong = sum(turn["id"] in rejected for turn in good)
    print(f"{'good turns':<16} {len(good):>3}, rejected {wrong / max(len(good), 1):>6.1%}")
    for label in sorted({label for turn in turns for label in turn["labels"]}):
        positives = [turn for turn in turns if label in turn["labels"]]
        negatives = [turn for turn in turns if label not in turn["labels"]]
        found = sum(turn["id"] in rejected for turn in positives) / len(positives)
        alarms = sum(turn["id"] in rejected for turn in negatives) / max(len(negatives), 1)
        print(f"{label:<16} {len(positives):>3} positives, recall {found:>6.1%}, false alarms {alarms:>5.1%}")


main()
