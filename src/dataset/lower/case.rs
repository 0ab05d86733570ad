//! One case of a dataset as one of a job.

use serde_json::{Map, Value, json};

use super::context::{self, before_turn, earlier_messages, has_context, said_before};
use super::warnings::Warnings;
use super::{LowerOptions, filled};
use crate::dataset::{
    CaseUser, DatasetCall, DatasetCase, JudgedScope, NO_TEXT, Scenario, ScenarioDriver, ScenarioPersona, ToolMock,
    UserLine,
};
use crate::job::{SeparateExpectations, UserPersona};
use crate::metric::Rubric;
use crate::metric::trajectory::{ASSERTIONS, Expectation, ExpectedCall};

/// The most messages of a simulated user where its file has no limit.
const NO_LIMIT: u32 = 100;

/// How many messages, of both sides, a case may need.
pub(super) fn most_messages(case: &DatasetCase) -> u32 {
    match &case.user {
        // The agent may speak first, and all lines are sent.
        CaseUser::Lines(lines) => u32::try_from(lines.len()).unwrap_or(u32::MAX).saturating_mul(2).saturating_add(1),
        CaseUser::Scenario(scenario) => scenario.max_turns.unwrap_or(NO_LIMIT).saturating_mul(2).max(2),
    }
}

/// The parts of a job that hold for all its cases.
#[derive(Clone, Copy)]
pub(super) struct JobDefaults {
    /// How many messages a conversation may have.
    pub(super) max_turns: u32,
    /// Whether all have the same texts for judges.
    pub(super) shares_context: bool,
    /// Whether a turn that names no calls expects none.
    pub(super) absent_calls_are_none: bool,
    /// Whether a metric asks a judge.
    pub(super) asks_judge: bool,
    /// Whether an empty expected reply is an expectation: only the originals take it for one, but where a text must be the same.
    pub(super) takes_empty_replies: bool,
}

/// A case of a job's document, and beside it what it expects.
pub(super) struct LoweredCase {
    /// The case; `null` stands in the places of its expectations.
    pub(super) value: Value,
    /// The expectations.
    pub(super) expected: SeparateExpectations,
}

/// The case as it stands in a job that says this for all of them. The calls that its lines expect are taken out of it.
pub(super) fn lower_case(
    case: &mut DatasetCase,
    id: String,
    of_all: JobDefaults,
    options: &LowerOptions,
    warnings: &mut Warnings,
) -> LoweredCase {
    let calls = expected_calls(case);
    let (case, mut apart) = (&*case, SeparateExpectations::default());
    let mut warn = |what: &str| warnings.about_case(&case.id, what);
    let mut lowered = Map::new();
    lowered.insert("id".to_owned(), id.into());
    if let Some(description) = case.description.as_deref().and_then(filled) {
        lowered.insert("description".to_owned(), description.into());
    }
    if !case.tags.is_empty() {
        lowered.insert("tags".to_owned(), json!(case.tags));
    }
    let mut rubrics = case.rubrics.clone();
    rubrics.extend(case.checks.iter().zip(1..).map(|(check, number)| Rubric {
        id: format!("check {number}"),
        text: check.check.clone(),
        description: (check.scope == JudgedScope::Response).then(|| "of each reply".to_owned()),
        rubric_type: Some(check.kind.clone()),
        metric: Some(ASSERTIONS.to_owned()),
        weight: None,
    }));
    match &case.user {
        CaseUser::Lines(lines) => {
            let expects_none = of_all.absent_calls_are_none && case.expects_by_turn();
            let (has_reference, takes_empty_replies) = (case.expected_runner, of_all.takes_empty_replies);
            let of_case = CaseDefaults { options, expects_none, has_reference, takes_empty_replies };
            let mut script = Vec::new();
            for ((at, line), calls) in lines.iter().enumerate().zip(calls) {
                let expected = Expectation { calls, ..line.expected.to_expectation() };
                let (mut own, expected) = lower_line(line, expected, of_case, &mut warn);
                apart.lines.push(expected);
                context::put_before(&mut own, before_turn(case, at, options, &mut warn));
                script.push(own);
            }
            lowered.insert("script".to_owned(), script.into());
        }
        CaseUser::Scenario(scenario) => {
            if most_messages(case) != of_all.max_turns {
                lowered.insert("maxTurns".to_owned(), most_messages(case).into());
            }
            lower_scenario(scenario, &mut lowered, &mut rubrics, &mut warn);
        }
    }
    let mut expected = case.expected.to_expectation();
    for goal in &expected.unseen {
        warn(&format!(
            "the goal {goal} is neither a tool call nor a message: whether it is reached is not known, so the journey's success is missing"
        ));
    }
    expected.rubrics = rubrics;
    if expected != Expectation::default() {
        lowered.insert("expected".to_owned(), Value::Null);
        apart.whole = Some(expected);
    }
    lower_session(case, options, &mut lowered, &mut warn);
    let mut texts = if of_all.shares_context { Vec::new() } else { case.context_files.clone() };
    texts.extend(said_before(case).filter(|_| of_all.asks_judge));
    if !texts.is_empty() {
        lowered.insert("context".to_owned(), json!(texts));
    }
    let leads = matches!(&case.user, CaseUser::Scenario(scenario) if scenario.driver == ScenarioDriver::Expected);
    let wants_reference = case.expected_runner || leads;
    if wants_reference && options.reference.is_some() {
        lowered.insert("reference".to_owned(), if leads { "leads" } else { "follows" }.into());
    }
    let not_done = [
        (case.session.id.is_some(), "the id of its session is not kept: each conversation gets one of its own"),
        (
            case.recorded.is_some() && !options.is_recorded,
            "what was recorded is not scored: the agent is asked instead; `eval-job grade --dataset FILE` scores it",
        ),
        (
            wants_reference && options.reference.is_none() && !options.is_recorded,
            "its expected side comes from a second agent: name it with --expected-target; what the file expects counts",
        ),
        (
            lowered.contains_key("reference") && !options.reference_takes_history && has_context(case),
            "its context messages are not sent to the second agent: a conversation with it begins empty",
        ),
        (!case.uploads.is_empty(), "its files are not offered to the agent"),
    ];
    not_done.into_iter().filter(|(is, _)| *is).for_each(|(_, what)| warn(what));
    LoweredCase { value: Value::Object(lowered), expected: apart }
}

/// Takes out the calls that are expected, line by line.
fn expected_calls(case: &mut DatasetCase) -> Vec<Option<Vec<ExpectedCall>>> {
    let CaseUser::Lines(lines) = &mut case.user else { return Vec::new() };
    let of_line = |line: &mut UserLine| {
        let calls = line.expected.calls.take()?;
        Some(calls.into_iter().map(DatasetCall::into_expected).collect())
    };
    lines.iter_mut().map(of_line).collect()
}

fn lower_session(
    case: &DatasetCase,
    options: &LowerOptions,
    lowered: &mut Map<String, Value>,
    warn: &mut impl FnMut(&str),
) {
    let mut state = case.session.state.clone();
    state.extend(case.session.variables.clone());
    let mut session = Map::new();
    for (key, text) in [("user", &case.session.user), ("chatbot", &case.session.app)] {
        session.extend(text.as_ref().map(|text| (key.to_owned(), Value::from(text.as_str()))));
    }
    if !state.is_empty() {
        session.insert("state".to_owned(), Value::Object(state));
    }
    if !session.is_empty() {
        lowered.insert("session".to_owned(), Value::Object(session));
    }
    let messages = earlier_messages(&case.session.context, options, warn);
    if !messages.is_empty() {
        lowered.insert("seeds".to_owned(), json!([{ "conversation": messages }]));
    }
}

/// The parts of a case that hold for each of its lines.
#[derive(Clone, Copy)]
struct CaseDefaults<'a> {
    options: &'a LowerOptions,
    expects_none: bool,
    /// Whether a second agent makes what is expected.
    has_reference: bool,
    takes_empty_replies: bool,
}

/// A line, and what is expected of the turn.
fn lower_line(
    line: &UserLine,
    mut expected: Expectation,
    of_case: CaseDefaults<'_>,
    warn: &mut impl FnMut(&str),
) -> (Value, Option<Expectation>) {
    let CaseDefaults { options, expects_none, has_reference, takes_empty_replies } = of_case;
    let key = &options.target.0;
    let is_asked = !options.is_recorded;
    let own_mocks = if options.mocks_tools && is_asked { mocks(&line.mocks, warn) } else { Vec::new() };
    if !line.mocks.is_empty() && !options.mocks_tools && is_asked {
        warn(&format!(
            "its answers for tools are not given: behind `{key}` the agent calls its own; `openai` and `responses` take them"
        ));
    }
    let of_reference = has_reference && options.reference.is_some();
    let reference_mocks = match of_reference && options.mocks_reference {
        true => mocks(&line.expected_runner_mocks, warn),
        false => Vec::new(),
    };
    if of_reference && !options.mocks_reference && !line.expected_runner_mocks.is_empty() {
        warn(
            "the second agent's answers for tools are not given: it calls its own; `openai` and `responses` take them",
        );
    }
    if !line.attachments.is_empty() && is_asked {
        warn("parts of a message that are no text are not sent");
    }
    expected.reply = expected.reply.filter(|reply| takes_empty_replies || !reply.is_empty());
    expected.calls = expected.calls.or(expects_none.then(Vec::new));
    // Nobody has to send what was recorded.
    let is_shown_only = options.is_recorded && line.say.is_empty() && !line.attachments.is_empty();
    let say = if is_shown_only { NO_TEXT } else { &line.say };
    let mut lowered = json!({ "say": say });
    let expected = Some(expected).filter(|expected| *expected != Expectation::default());
    if expected.is_some() {
        lowered["expected"] = Value::Null;
    }
    for (key, mocks) in [("mocks", own_mocks), ("referenceMocks", reference_mocks)] {
        if !mocks.is_empty() {
            lowered[key] = mocks.into();
        }
    }
    let is_alone = lowered.as_object().is_some_and(|line| line.len() == 1);
    (if is_alone { Value::from(say) } else { lowered }, expected)
}

/// The results of tools in a turn.
fn mocks(mocks: &[ToolMock], warn: &mut impl FnMut(&str)) -> Vec<Value> {
    let mut lowered = Vec::new();
    for mock in mocks {
        let rule = |name: &str| mock.arguments.as_ref().and_then(|rules| rules.get(name)).filter(|it| !it.is_null());
        let tool = &mock.tool;
        let mut own = match (&mock.result, &mock.prompt) {
            (Some(result), _) => json!({ "tool": tool, "result": result }),
            (None, prompt) => json!({ "tool": tool, "prompt": prompt }),
        };
        own.as_object_mut().into_iter().for_each(|own| {
            own.extend(rule("expected").map(|args| ("args".to_owned(), args.clone())));
            own.extend(rule("numberTolerance").map(|most| ("numberTolerance".to_owned(), most.clone())));
        });
        let trees = [("onlyTree", "onlyPaths"), ("ignoreTree", "ignorePaths")];
        let trees = trees.into_iter().filter_map(|(tree, paths)| Some((rule(tree)?, paths)));
        let mut can_be_said = true;
        for (tree, key) in trees {
            let mut paths = Vec::new();
            can_be_said &= leaves(tree, "", &mut paths);
            own[key] = paths.into();
        }
        match can_be_said {
            true => lowered.push(own),
            false => warn(&format!("the answer for `{tool}` by arguments with a dot in their names is not given")),
        }
    }
    lowered
}

/// Collects the paths to what a tree selects; whether paths can say it.
fn leaves(tree: &Value, path: &str, paths: &mut Vec<String>) -> bool {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let Some(keys) = tree.as_object() else { return true };
    keys.iter().all(|(key, part)| match part {
        Value::Bool(false) => true,
        _ if key.contains('.') => false,
        Value::Bool(true) => {
            paths.push(below(key));
            true
        }
        part => leaves(part, &below(key), paths),
    })
}

/// The built-in persona that is meant, where a scenario's is one of them unchanged.
fn shipped(persona: &ScenarioPersona) -> Option<UserPersona> {
    let shipped = UserPersona::shipped(&persona.id.to_lowercase()).ok()?;
    let same = ScenarioPersona { id: persona.id.clone(), ..ScenarioPersona::from(&shipped) };
    (same == *persona).then_some(shipped)
}

/// A simulated user: the persona of the job plays it.
fn lower_scenario(
    scenario: &Scenario,
    lowered: &mut Map<String, Value>,
    rubrics: &mut Vec<Rubric>,
    warn: &mut impl FnMut(&str),
) {
    let first = scenario.starting_prompt.as_deref().and_then(filled);
    let opening: Vec<&str> = first.into_iter().chain(scenario.prompts.iter().filter_map(|it| filled(it))).collect();
    if !opening.is_empty() {
        lowered.insert("opening".to_owned(), if opening.len() == 1 { opening[0].into() } else { json!(opening) });
    }
    // Without a plan the user has nothing to go by but its first message.
    let plan = filled(&scenario.plan).unwrap_or("Get what your first message asks for.");
    match &scenario.expected_outcome {
        Some(outcome) => {
            lowered.insert("tasks".to_owned(), json!([{ "task": plan, "acceptanceCriteria": outcome }]));
        }
        None => drop(lowered.insert("plan".to_owned(), plan.into())),
    }
    let mut traits = scenario.style.clone();
    let shipped = scenario.persona.as_ref().and_then(shipped);
    if let Some(persona) = &shipped {
        lowered.insert("persona".to_owned(), persona.name.as_str().into());
    }
    if let Some(persona) = scenario.persona.as_ref().filter(|_| shipped.is_none()) {
        traits.extend(filled(&persona.description).map(str::to_owned));
        for behavior in &persona.behaviors {
            let said =
                [behavior.description.as_str()].into_iter().chain(behavior.instructions.iter().map(String::as_str));
            let said: Vec<&str> = said.filter_map(filled).collect();
            let name = &behavior.name;
            traits.push(if said.is_empty() { name.clone() } else { format!("{name}: {}", said.join(" ")) });
            rubrics.extend(behavior.violation_rubrics.iter().zip(1..).map(|(text, number)| Rubric {
                id: format!("{name} {number}"),
                text: text.clone(),
                description: Some("a sign that the simulated user behaves otherwise".to_owned()),
                metric: Some("per_turn_user_simulator_quality_v1".to_owned()),
                ..Rubric::default()
            }));
        }
    }
    let instructions = scenario.extra.get("customInstructions").and_then(Value::as_str).and_then(filled);
    let own_instructions = instructions.and_then(|text| own_instructions(text, scenario.stop_signal.as_deref()));
    traits.extend(own_instructions.clone());
    traits.retain(|line| filled(line).is_some());
    if !traits.is_empty() {
        lowered.insert("traits".to_owned(), json!(traits));
    }
    let has = |key: &str| scenario.extra.get(key).is_some_and(|value| !value.is_null());
    let not_done = [
        (first.is_none() && !scenario.prompts.is_empty(), "it has no first message: its fixed messages come first"),
        (scenario.max_turns.is_none(), "it has no limit there; here the user says 100 messages at most"),
        (
            own_instructions.is_some(),
            "its simulator's `custom_instructions` are one of the user's traits: where they contradict eval-job's own, on the form of its replies, those count",
        ),
        (
            instructions.is_some() && own_instructions.is_none(),
            "its simulator's `custom_instructions` are not used, as they are a template with more than placeholders: say it in `evaluator.voice` or `traits`",
        ),
        (has("model") || has("modelConfiguration"), "its simulator's model is not used: `evaluator.model` is"),
        (
            scenario.extra.get("includeFunctionCalls") == Some(&Value::Bool(true)),
            "its simulator's `include_function_calls` is not done: the user sees what the agent says, not what it calls",
        ),
    ];
    not_done.into_iter().filter(|(is, _)| *is).for_each(|(_, what)| warn(what));
}

/// The instructions of a simulator as one of the user's traits: in the places of what is shown elsewhere they name it. `None` where they are a
/// template with statements, or with placeholders that ADK does not have.
fn own_instructions(text: &str, stop_signal: Option<&str>) -> Option<String> {
    if text.contains("{%") {
        return None;
    }
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        let (placeholder, after) = behind.split_once("}}")?;
        let name = placeholder.split(['|', '.']).next().unwrap_or_default().trim();
        filled.push_str(before);
        filled.push_str(match name {
            "conversation_plan" => "(your part, as it is told above)",
            "conversation_history" => "(the chat so far)",
            "stop_signal" => stop_signal.unwrap_or("goodbye"),
            "persona" => "(the person that you are)",
            _ => return None,
        });
        rest = after;
    }
    filled.push_str(rest);
    Some(filled.trim().to_owned())
}
