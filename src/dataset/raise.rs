//! A job's cases as a dataset, so that they can be written as another system's.

use serde_json::{Map, Value};

use super::Kind;
use super::model::{
    CaseSession, CaseUser, ContextFile, ContextMessage, Dataset, DatasetCall, DatasetCase, DatasetGoals, DatasetMetric,
    Goal, GoalKind, LineExpectation, MeasureKind, Scenario, ScenarioPersona, ToolMock, UserLine,
};
use crate::evidence::Message;
use crate::job::{Case, ContextText, Job, Line, Seed, User};
use crate::metric::rouge::RougeConfig;
use crate::metric::trajectory::{CallOrder, Expectation, ExpectedCall, Rule, TrajectoryConfig, TrajectoryMatcher};
use crate::metric::{MetricConfig, MetricEntry};

/// The cases of a job, and what of them no other system's file says.
pub fn from_job(job: &Job) -> (Dataset, Vec<String>) {
    let mut warnings = Vec::new();
    let mut dataset = Dataset::new(Kind::MessageList, job.name.clone());
    dataset.description.clone_from(&job.description);
    dataset.runs = (job.repeat > 1).then_some(job.repeat);
    dataset.personas.clone_from(&job.persona.personas);
    dataset.cases = job.cases.iter().map(|case| case_of(job, case, &mut warnings)).collect();
    if !job.persona.tools.is_empty() {
        warnings.push("evaluator.tools: the user's own tools are eval-job's, and are left out".to_owned());
    }
    for entry in &job.metrics {
        let mut warn = |what: &str| warnings.push(format!("metric {}: {what}", entry.label()));
        match metric_of(entry, &mut warn) {
            Some(metric) => dataset.metrics.push(metric),
            None => warn("only eval-job measures it"),
        }
    }
    (dataset, warnings)
}

/// The metrics that other systems have too.
fn metric_of(entry: &MetricEntry, warn: &mut dyn FnMut(&str)) -> Option<DatasetMetric> {
    let threshold = |usual: f64, warn: &mut dyn FnMut(&str)| {
        let own = entry.threshold.map(|threshold| threshold.get());
        if own.is_none() {
            warn(&format!("it has no threshold, and others need one: {usual} is written"));
        }
        Some(own.unwrap_or(usual))
    };
    match &entry.metric {
        MetricConfig::Trajectory(check) => {
            let mut metric = DatasetMetric::new(entry.label(), MeasureKind::Trajectory, threshold(1.0, warn));
            let matcher = check.matcher(&Expectation::default()).ok();
            let allows_others = matcher.is_some_and(TrajectoryMatcher::allows_other_calls);
            let order = matcher.map_or(CallOrder::Exact, TrajectoryMatcher::order);
            let (ordered, match_type) = match order {
                CallOrder::Exact | CallOrder::InOrder if !allows_others => (true, "EXACT"),
                CallOrder::Exact | CallOrder::InOrder => (true, "IN_ORDER"),
                CallOrder::AnyOrder | CallOrder::Goals => (false, "ANY_ORDER"),
            };
            metric.options.insert("matchType".to_owned(), match_type.into());
            metric.options.insert("orderSensitive".to_owned(), ordered.into());
            metric.options.insert("subsetMatching".to_owned(), allows_others.into());
            let TrajectoryConfig { order, count, .. } = *check.config();
            if *check.config() != (TrajectoryConfig { order, count, ..TrajectoryConfig::default() }) {
                warn("its other options are left out: names and arguments are compared strictly");
            }
            Some(metric)
        }
        MetricConfig::Rouge(config) => {
            if **config != RougeConfig::default() {
                warn("it is written as ROUGE-1, without its options");
            }
            Some(DatasetMetric::new(entry.label(), MeasureKind::ResponseMatch, threshold(0.8, warn)))
        }
        _ => None,
    }
}

fn case_of(job: &Job, case: &Case, warnings: &mut Vec<String>) -> DatasetCase {
    let mut warn = |is: bool, what: &str| {
        if is {
            warnings.push(format!("case {}: {what}", case.id));
        }
    };
    warn(!case.assertions.is_empty(), "its assertions are eval-job's own");
    warn(!case.setups.is_empty(), "its setups of the graph are eval-job's own");
    warn(case.conditions.len() > 1, "other systems hold it in one condition only");
    warn(case.opening.is_empty() && job.greetings.len() > 1, "only the first greeting is written");
    warn(
        case.seeds.iter().any(|seed| matches!(seed, Seed::Text(_))),
        "texts that prime the agent's memory are left out",
    );
    let messages = case.seeds.iter().filter_map(|seed| match seed {
        Seed::Conversation(messages) => Some(messages),
        Seed::Text(_) => None,
    });
    let context = messages.flatten().map(said_before);
    let mut expected = Vec::new();
    let user = match &case.user {
        User::Lines(lines) => CaseUser::Lines(lines_of(job, case, lines, &mut expected)),
        User::Persona => CaseUser::Scenario(Box::new(scenario_of(job, case))),
    };
    for (turn, expectation) in &expected {
        warn(!expectation.keywords.is_empty(), &format!("the keywords of turn {turn} are left out"));
        let is_more = expectation.goals.is_some() || !expectation.messages.is_empty() || expectation.state.is_some();
        warn(is_more, &format!("goals and state of turn {turn} are left out"));
    }
    let mut raised = DatasetCase {
        id: case.id.clone(),
        description: case.description.clone(),
        tags: case.tags.clone(),
        user,
        session: CaseSession {
            app: Some(case.session.chatbot.clone().unwrap_or_else(|| job.target.chatbot.clone())),
            user: Some(case.session.user.clone().unwrap_or_else(|| job.target.user.clone())),
            state: case.session.state.clone(),
            context: context.collect(),
            ..CaseSession::default()
        },
        expected_runner: case.reference.is_some(),
        context_files: case.context.iter().map(context_file).collect(),
        ..DatasetCase::default()
    };
    if let Some(expected) = &case.expected {
        raised.rubrics.clone_from(&expected.rubrics);
        raised.expected.state = match &expected.state {
            Some(Value::Object(state)) => Some(state.clone()),
            other => {
                warn(other.is_some(), "an expected state that is no mapping is left out");
                None
            }
        };
        raised.expected.goals = goals_of(expected);
        warn(
            expected.reply.is_some() || !expected.keywords.is_empty(),
            "the reply that all of it must come to is left out",
        );
    }
    raised
}

fn context_file(text: &ContextText) -> ContextFile {
    ContextFile { name: text.name.clone(), text: text.text.clone() }
}

fn lines_of<'a>(
    job: &Job,
    case: &'a Case,
    lines: &'a [Line],
    expected: &mut Vec<(usize, &'a Expectation)>,
) -> Vec<UserLine> {
    let said = first_messages(job, case).into_iter().map(|say| UserLine { say, ..UserLine::default() });
    let line = |(line, turn): (&'a Line, usize)| {
        let mut said = raised_line(line);
        if let Some(expectation) = line.expected.as_deref() {
            said.expected = LineExpectation {
                reply: expectation.reply.clone(),
                calls: expectation.calls.as_deref().map(|calls| calls.iter().map(call_of).collect()),
                rubrics: expectation.rubrics.clone(),
                ..LineExpectation::default()
            };
            expected.push((turn, expectation));
        }
        said
    };
    said.chain(lines.iter().zip(1..).map(line)).collect()
}

fn said_before(message: &Message) -> ContextMessage {
    ContextMessage {
        role: message.role.as_str().to_owned(),
        content: message.content.clone(),
        ..ContextMessage::default()
    }
}

/// A fixed message with what is said for others in its turn.
fn raised_line(line: &Line) -> UserLine {
    let [mocks, expected_runner_mocks] = [&line.mocks, &line.reference_mocks].map(|mocks| {
        let raised = mocks.iter().map(|mock| {
            let tree = |paths: &[String]| (!paths.is_empty()).then(|| tree_of(paths));
            let arguments = mock.args.as_ref().map(|args| {
                let rules = [
                    ("expected", Some(args.clone())),
                    ("onlyTree", tree(&mock.only_paths)),
                    ("ignoreTree", tree(&mock.ignore_paths)),
                    ("numberTolerance", mock.number_tolerance.map(Value::from)),
                ];
                rules.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
            });
            ToolMock { tool: mock.tool.clone(), arguments, result: mock.result.clone(), prompt: mock.prompt.clone() }
        });
        raised.collect()
    });
    let context = line.before.iter().map(said_before).collect();
    UserLine { say: line.say.clone(), context, mocks, expected_runner_mocks, ..UserLine::default() }
}

/// Paths such as `address.city` as a tree, of which each leaf is true. A path above another one stands for both.
fn tree_of(paths: &[String]) -> Value {
    let mut tree = Value::Object(Map::new());
    for path in paths {
        let mut place = &mut tree;
        for key in path.split('.') {
            if place.is_boolean() {
                break;
            }
            place = &mut place[key];
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
        }
        *place = Value::Bool(true);
    }
    tree
}

/// The user's messages before its lines, or before the persona speaks.
fn first_messages(job: &Job, case: &Case) -> Vec<String> {
    if case.opening.is_empty() { job.greetings.first().cloned().into_iter().collect() } else { case.opening.0.clone() }
}

/// The persona as a simulated user: its plan and its tasks, and what it knows.
fn scenario_of(job: &Job, case: &Case) -> Scenario {
    let mut plan: Vec<String> = case.plan.clone().into_iter().collect();
    plan.extend(case.tasks.iter().map(|task| task.task.clone()));
    if !case.facts.is_empty() {
        plan.push(format!("What you know, and tell only when you are asked: {}", case.facts.join("; ")));
    }
    let mut said = first_messages(job, case).into_iter();
    Scenario {
        starting_prompt: said.next(),
        prompts: said.collect(),
        plan: plan.join("\n"),
        style: case.traits.clone(),
        persona: case.persona.as_deref().map(ScenarioPersona::from),
        // Messages of both sides are counted here.
        max_turns: Some((case.max_turns.unwrap_or(job.max_turns) / 2).max(1)),
        ..Scenario::default()
    }
}

fn call_of(call: &ExpectedCall) -> DatasetCall {
    let rule = |(path, rule): (&String, &Rule)| (path.clone(), serde_json::to_value(rule).unwrap_or_default());
    DatasetCall {
        id: None,
        tool: call.tool.clone(),
        args: call.args.clone(),
        result: call.result.clone(),
        rules: call.rules.iter().map(rule).collect(),
        is_parallel: false,
    }
}

/// The expectations of a whole conversation, as goals; calls without a graph come one after the other.
fn goals_of(expected: &Expectation) -> Option<DatasetGoals> {
    let mut goals = DatasetGoals::default();
    let mut named: Map<String, Value> = Map::new();
    for call in expected.calls.iter().flatten() {
        let times = named.get(call.label()).and_then(Value::as_u64).unwrap_or_default() + 1;
        named.insert(call.label().to_owned(), times.into());
        let name = if times > 1 { format!("{}-{times}", call.label()) } else { call.label().to_owned() };
        goals.nodes.push(Goal { name, kind: GoalKind::ToolCall(call_of(call)), extra: Map::new() });
    }
    for message in &expected.messages {
        let kind =
            GoalKind::Text { response: message.reply.clone(), keywords: message.keywords.clone(), is_summary: false };
        goals.nodes.push(Goal { name: message.name.clone(), kind, extra: Map::new() });
    }
    goals.edges = match &expected.goals {
        Some(graph) => {
            graph.iter().flat_map(|(from, to)| to.iter().map(move |to| (from.clone(), to.clone()))).collect()
        }
        None => {
            let names = || goals.nodes.iter().map(|goal| goal.name.clone());
            names().zip(names().skip(1)).collect()
        }
    };
    (!goals.nodes.is_empty()).then_some(goals)
}
