"""Runs `adk eval` for each line of standard input, `AGENT<tab>FILE<tab>CONFIG`, in one process, and prints what it made of
each as a line of JSON: the status and the metrics of each case."""

import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

# Google's cloud SDK, which only the metrics of its own service use.
for name in ["agentplatform", "vertexai"]:
    sys.modules[name] = MagicMock()

from click.testing import CliRunner
from google.adk.cli.cli_tools_click import main
from google.adk.evaluation.agent_evaluator import AgentEvaluator

agents = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(agents))
for line in sys.stdin:
    agent, file, config = line.rstrip("\n").split("\t")
    if isinstance(rows := json.loads(Path(file).read_text()), list) and "query" in rows[0]:
        # `adk eval` itself does not read the old lists; ADK's own migration does.
        migrated = agents / "migrated.test.json"
        AgentEvaluator.migrate_eval_data_to_new_schema(file, str(migrated))
        file = str(migrated)
    history = agents / agent / ".adk" / "eval_history"
    known = set(history.glob("*.json"))
    # Each agent's module is called `agent`.
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").is_relative_to(agents) and name != "scripted":
            del sys.modules[name]
    chosen = ["--config_file_path", config] if config else []
    ran = CliRunner().invoke(main, ["eval", str(agents / agent), file, *chosen])
    cases = []
    for path in sorted(set(history.glob("*.json")) - known):
        result = json.loads(path.read_text())
        result = json.loads(result) if isinstance(result, str) else result
        for case in result["eval_case_results"]:
            metrics = [
                {"name": it["metric_name"], "score": it.get("score"), "status": it["eval_status"]}
                for it in case["overall_eval_metric_results"]
            ]
            cases.append({"id": case["eval_id"], "status": case["final_eval_status"], "metrics": metrics})
    trouble = None if cases else f"{ran.output}\n{ran.exception!r}"
    print("RESULT" + json.dumps({"cases": cases, "exit": ran.exit_code, "trouble": trouble}), flush=True)
