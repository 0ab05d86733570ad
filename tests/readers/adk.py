"""Reads what eval-job wrote with Google ADK's own readers: the results of an app, or pairs of an eval
set and its test_config.json."""

import json
import sys

from google.adk.evaluation.eval_config import EvalConfig
from google.adk.evaluation.eval_metrics import (
    BaseCriterion,
    LlmAsAJudgeCriterion,
    RubricsBasedCriterion,
    ToolTrajectoryCriterion,
)
from google.adk.evaluation.evaluator import EvalStatus
from google.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager
from google.adk.evaluation.local_eval_sets_manager import load_eval_set_from_file

TYPES = {"trajectory": ToolTrajectoryCriterion, "finalResponse": LlmAsAJudgeCriterion, "rubric": RubricsBasedCriterion}


def type_of(result):
    """The type of criterion that ADK's own evaluator of such a metric reads it as."""
    return TYPES.get(result.metric_name, BaseCriterion)


def results(agents, app):
    manager = LocalEvalSetResultsManager(agents)
    for name in manager.list_eval_set_results(app):
        result = manager.get_eval_set_result(app, name)
        for case in result.eval_case_results:
            metrics = {
                it.metric_name: [EvalStatus(it.eval_status).name, it.score, it.threshold]
                for it in case.overall_eval_metric_results
            }
            turns = []
            for turn in case.eval_metric_result_per_invocation:
                actual, expected = turn.actual_invocation, turn.expected_invocation
                calls = [[call.name, call.args] for call in actual.intermediate_data.tool_uses]
                wanted = expected and expected.intermediate_data
                turns.append(
                    {
                        "user": actual.user_content.parts[0].text,
                        "reply": actual.final_response and actual.final_response.parts[0].text,
                        "calls": calls,
                        "results": [it.response for it in actual.intermediate_data.tool_responses],
                        "expected": [[call.name, call.args] for call in wanted.tool_uses] if wanted else None,
                    }
                )
            yield {
                "set": case.eval_set_id,
                "case": case.eval_id,
                "status": case.final_eval_status.name,
                "metrics": metrics,
                "criteria": {
                    it.metric_name: type_of(it).model_validate(it.criterion.model_dump()).model_dump(mode="json")
                    for it in case.overall_eval_metric_results
                    if it.criterion
                },
                "turns": turns,
                "session": case.session_id,
                "user": case.user_id,
            }


def cases(path):
    for case in load_eval_set_from_file(path, path).eval_cases:
        lines = [turn.user_content.parts[0].text for turn in case.conversation or []]
        yield {"case": case.eval_id, "lines": lines, "scenario": case.conversation_scenario is not None}


if __name__ == "__main__":
    kind, *arguments = sys.argv[1:]
    if kind == "results":
        print(json.dumps(list(results(*arguments))))
    else:
        read = []
        for path, config in zip(arguments[::2], arguments[1::2]):
            criteria = EvalConfig.model_validate_json(open(config).read()).criteria
            read.append({"cases": list(cases(path)), "criteria": sorted(criteria)})
        print(json.dumps(read))
