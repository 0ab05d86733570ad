//! Expectations, as the metric `trajectory` compares them.

use std::collections::BTreeMap;

use super::{CaseExpectation, DatasetCall, GoalKind, LineExpectation};
use crate::metric::trajectory::{Expectation, ExpectedCall, ExpectedMessage, Rule, RuleKind};

impl DatasetCall {
    /// The call as it is compared; a goal has a name.
    pub fn to_expected(&self, name: Option<&str>) -> ExpectedCall {
        ExpectedCall { name: name.map(str::to_owned), ..self.clone().into_expected() }
    }

    /// The call as it is compared.
    pub fn into_expected(self) -> ExpectedCall {
        let rule = |word: &serde_json::Value| match word.as_str() {
            Some("fuzzy") => RuleKind::Fuzzy,
            Some("ignore") => RuleKind::Ignore,
            Some("optional") => RuleKind::Optional,
            _ => RuleKind::Strict,
        };
        ExpectedCall {
            name: None,
            tool: self.tool,
            args: self.args,
            result: self.result,
            rules: self.rules.into_iter().map(|(path, word)| (path, Rule::Kind(rule(&word)))).collect(),
        }
    }
}

impl LineExpectation {
    /// The expectations of the turn, without the criteria for judges.
    pub fn to_expectation(&self) -> Expectation {
        Expectation {
            calls: self.calls.as_ref().map(|calls| calls.iter().map(|call| call.to_expected(None)).collect()),
            reply: self.reply.clone(),
            rubrics: self.rubrics.clone(),
            ..Expectation::default()
        }
    }
}

impl CaseExpectation {
    /// The expectations of the conversation. Goals that are neither a call nor a message are those that nobody sees.
    pub fn to_expectation(&self) -> Expectation {
        let state = self.state.clone().map(serde_json::Value::Object);
        let mut expectation = Expectation { state, ..Expectation::default() };
        let Some(goals) = &self.goals else { return expectation };
        let mut calls = Vec::new();
        let mut graph: BTreeMap<String, Vec<String>> =
            goals.nodes.iter().map(|goal| (goal.name.clone(), Vec::new())).collect();
        for (before, after) in &goals.edges {
            graph.entry(before.clone()).or_default().push(after.clone());
        }
        for goal in &goals.nodes {
            let name = goal.name.clone();
            match &goal.kind {
                GoalKind::ToolCall(call) => calls.push(call.to_expected(Some(&name))),
                GoalKind::Text { response, keywords, .. } => {
                    let (reply, keywords) = (response.clone(), keywords.clone());
                    expectation.messages.push(ExpectedMessage { name, reply, keywords });
                }
                GoalKind::Interaction { .. } | GoalKind::Search { .. } | GoalKind::ToolResponse(_) => {
                    expectation.unseen.push(name)
                }
            }
        }
        expectation.calls = Some(calls);
        expectation.goals = Some(graph);
        expectation
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::dataset::{Beside, load};

    #[test]
    fn goals_become_calls_messages_and_a_graph() {
        let text = r#"{"story": "s", "agent": "a", "goals": {"get": ["look"], "look": ["end"]}, "goal_details": [
            {"type": "tool_call", "name": "get", "tool_name": "t", "args": {"x": 1, "y": 2}, "arg_matching": {"x": "fuzzy"}},
            {"type": "conversational_search", "name": "look"},
            {"type": "text", "name": "end", "response": "r", "keywords": ["k"]}]}"#;
        let dataset = load("f.json", text, &Beside::default()).unwrap();
        let expectation = dataset.cases[0].expected.to_expectation();
        assert_eq!(
            serde_json::to_value(&expectation).unwrap(),
            json!({"calls": [{"name": "get", "tool": "t", "args": {"x": 1, "y": 2}, "match": {"x": "fuzzy"}}],
                   "goals": {"end": [], "get": ["look"], "look": ["end"]}, "unseen": ["look"], "messages": [{"name": "end", "reply": "r", "keywords": ["k"]}]})
        );
    }
}
