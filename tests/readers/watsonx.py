"""Reads what eval-job wrote with the models and tools of IBM's evaluation framework: result folders, or folders
of ground truth."""

import json
import sys
from pathlib import Path

from agentops.analyze_run import Analyzer
from agentops.analyze_run_store import DiskRunStore
from agentops.type import TestCase
from agentops.utils import TestCaseResources
from agentops.utils.utils import load_summary_csv


def results(folder):
    store, resources = DiskRunStore(folder), TestCaseResources(folder)
    analyzer = Analyzer()
    rows = []
    for row in store.get_summary():
        name = row["dataset_name"]
        runs = store.list_run_ids(name)
        paths = runs.get(int(row["run_idx"]), {})
        messages, meta = store.get_analyze_messages(name, path=paths.get("analyze"))
        metrics = store.get_test_metrics(name, path=paths.get("metrics"))
        said = resources.get_messages(name if not paths else None, paths.get("messages"))
        reasons = [it.reason for it in messages if it.reason]
        rows.append(
            {
                "case": name,
                "success": metrics.is_success,
                "failed": analyzer._is_failed_test_case(metrics),
                "expected": metrics.expected_tool_calls,
                "messages": [[it.role, it.type] for it in said],
                "reasons": reasons,
                "missed": (meta or {}).get("missed_tool_calls", []),
                "error": row["is_error"],
            }
        )
    return {"rows": rows, "csv": len(load_summary_csv(folder))}


def cases(folder):
    read = []
    for path in sorted(Path(folder).glob("*.json")):
        case = TestCase.from_path(str(path))
        names = [getattr(goal, "name", None) for goal in case.goal_details]
        read.append({"case": case.dataset_name, "agent": case.agent, "goals": names, "prompts": case.user_prompts})
    return read


if __name__ == "__main__":
    read = results if sys.argv[1] == "results" else cases
    print(json.dumps([read(folder) for folder in sys.argv[2:]]))
