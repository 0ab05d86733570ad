//! Refuses jobs that cannot work.

use std::fmt::Display;

use super::{Environment, user_tools};
use crate::agent::{Ability, SettingError};
use crate::evidence::Condition;
use crate::graph::embedded::{certain_problem, compile_problem};
use crate::graph::neo4j::{Neo4jConfig, check as check_database};
use crate::graph::{CypherProblem, GraphConfig, StatementProblem, assertion_problem};
use crate::job::{Assertion, Job, JobPart, JobPlace, Line, StatementPlace, TimingOn, User};
use crate::metric::{MetricEntry, MetricKind, looks_at_calls};
use crate::score::Weight;
use crate::text::Position;

/// A reason why a job cannot work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Where in the job, if it is about a part of it.
    pub place: Option<JobPlace>,
    /// The problem, in a sentence.
    pub what: String,
    /// A suggestion.
    pub help: String,
}

const CORRECT_IT: &str = "correct it in the job file";

impl Refusal {
    /// A reason that is about the job as a whole, or about what is around it.
    pub fn new(what: impl Into<String>, help: impl Into<String>) -> Refusal {
        Refusal { place: None, what: what.into(), help: help.into() }
    }

    /// A value in the job, by the path of its keys.
    pub(super) fn for_key(key: &str, problem: impl Display, help: impl Into<String>) -> Refusal {
        Refusal { place: Some(JobPlace::key(key)), ..Refusal::new(format!("{key}: {problem}"), help) }
    }

    /// A setting of `target`, or of the part that has the same settings.
    pub(super) fn for_setting(error: &SettingError, part: &str) -> Refusal {
        let key = format!("{part}{}", error.key().trim_start_matches("target"));
        let mut refusal = Refusal::for_key(&key, error.problem(), CORRECT_IT);
        if let Some(place) = &mut refusal.place {
            place.within = error.position();
        }
        refusal
    }

    /// A statement that can't run.
    fn for_statement(place: StatementPlace, problem: &StatementProblem, help: &str) -> Refusal {
        let what = format!("{place} can't run: {}", problem.message);
        let place = JobPlace { part: JobPart::Statement(place), within: problem.at };
        Refusal { place: Some(place), ..Refusal::new(what, help) }
    }
}

/// The parameters that every statement is given.
const PARAMETERS: [&str; 4] = ["user", "sessionId", "trial", "model"];

/// The prefix with which a predicate of `graph.watch.where` is a statement that can be checked.
const WATCHED: &str = "MATCH (n) WHERE (";

/// A position in the statement that a predicate is checked in, as one in the predicate.
fn in_predicate(at: Position) -> Option<Position> {
    let column = if at.line == 1 { at.column.checked_sub(WATCHED.len())? } else { at.column };
    Some(Position { column, ..at })
}

/// The assertions that are checked in a condition only in which their case is never held.
fn refusals_of_conditions(job: &Job, refusals: &mut Vec<Refusal>) {
    for case in &job.cases {
        let never = |assertion: &&Assertion| !case.conditions.iter().any(|condition| assertion.applies_in(*condition));
        for assertion in case.assertions.iter().filter(never) {
            let (label, when) = (assertion.label(), assertion.when.map_or("", Condition::label));
            refusals.push(Refusal::new(
                format!("the assertion `{label}` is checked {when} only, and case `{}` is never run so", case.id),
                "leave `when` out, give the case facts, or name the condition in `conditions`",
            ));
        }
    }
}

/// The variable of the agent's key.
const AGENT_KEY: &str = "EVAL_JOB_AGENT_API_KEY";

/// A warning where the agent's key is set and the transport does not send it.
pub(super) fn unsent_key(job: &Job, surroundings: &Environment) -> Option<String> {
    let transport = &job.target.transport;
    let is_set = surroundings.variables.secret(AGENT_KEY).is_some_and(|key| !key.expose().is_empty());
    (transport.templates_api_key() == Some(false) && is_set).then(|| {
        let key = transport.key();
        format!("{AGENT_KEY} is set, and target.{key} sends it nowhere: say {{{{ apiKey }}}} in one of its headers")
    })
}

/// Everything about this job that cannot work in these surroundings.
pub(super) fn refusals(
    job: &Job,
    models: &[String],
    graph: Option<&GraphConfig>,
    surroundings: &Environment,
) -> Vec<Refusal> {
    let mut refusals = Vec::new();

    if let Some(GraphConfig::Neo4j(config)) = graph {
        let (address, name, help) = match (&config.uri, &surroundings.neo4j_uri) {
            (Some(own), _) => (own.as_str(), "graph.neo4j.uri", "correct it in the job file"),
            (None, Some(other)) => (other.as_str(), "NEO_URI", "correct it in the environment"),
            (None, None) => (Neo4jConfig::DEFAULT_URI, "", ""),
        };
        if let Err(problem) = check_database(address) {
            refusals.push(Refusal::for_key(name, problem, help));
        }
    }
    let transport = &job.target.transport;
    let is_unset = surroundings.variables.secret(AGENT_KEY).is_none_or(|key| key.expose().trim().is_empty())
        && !surroundings.is_replayed;
    if transport.templates_api_key() == Some(true) && is_unset {
        refusals.push(Refusal::for_key(
            &format!("target.{}", transport.key()),
            format!("a template says {{{{ apiKey }}}}, which is {AGENT_KEY}, and that is not set"),
            "set it in the environment or in .env",
        ));
    }
    let needs_calls = job.assertions().any(|assertion| assertion.check.needs_function_calls());
    let scripts_calls = job.metrics.iter().any(|it| it.kind() == MetricKind::Rhai && looks_at_calls(&it.metric));
    let compares_calls = job.metrics.iter().any(|metric| metric.kind() == MetricKind::Trajectory);
    let state_use = job.cases.iter().find_map(|case| job.state_use(case));
    let needs_state = job.assertions().any(|assertion| assertion.check.needs_object_context());
    let needs = [
        (
            needs_state,
            Ability::ShowsState,
            "an assertion looks at `objectContext`",
            "look at the graph or at `evaluation` instead",
        ),
        (
            state_use.is_some(),
            Ability::ShowsState,
            state_use.unwrap_or_default(),
            "leave the metric out, or expect tool calls and replies instead; adk, embabel and http (with `state`) show it",
        ),
        (
            scripts_calls,
            Ability::ReportsTools,
            "the script of a metric looks at `toolCalls`",
            transport.how_to_report_calls(),
        ),
        (
            compares_calls,
            Ability::ReportsTools,
            "the metric trajectory compares tool calls",
            transport.how_to_report_calls(),
        ),
        (
            needs_calls,
            Ability::ReportsTools,
            "an assertion looks at `evaluation.functionCalls`",
            transport.how_to_report_calls(),
        ),
        (
            job.timing.on == TimingOn::FirstToken,
            Ability::Streams,
            "timing.on is firstToken",
            "say timing: {on: complete}",
        ),
        (
            job.cases.iter().any(|case| !case.session.state.is_empty()),
            Ability::TakesState,
            "a case has `session.state`",
            transport.how_to_take_state(),
        ),
        (
            job.cases.iter().any(|case| case.mocks().next().is_some()),
            Ability::MocksTools,
            "a line of a script has `mocks`",
            "target.openai and target.responses can; give the agent itself mocked tools",
        ),
        (
            job.cases.iter().any(|case| case.lines().iter().any(|line| !line.before.is_empty())),
            Ability::TakesHistory,
            "a line of a script has messages `before` it",
            "target.openai and target.responses can; take `before` away, or tell it in the line itself",
        ),
        (
            !job.persona.tools.is_empty(),
            Ability::OffersUserTools,
            "the user has tools (evaluator.tools)",
            "target.http can with `userTools`, target.command with `userTools: true`; or leave `evaluator.tools` out",
        ),
        (models.len() > 1, Ability::ChoosesModel, "--model names several models", transport.how_to_choose_model()),
    ];
    for (needed, ability, why, help) in needs {
        if needed && !job.target.transport.can(ability) {
            refusals.push(Refusal::new(
                format!("{why}, and target.{} can't {}", transport.key(), ability.as_phrase()),
                help,
            ));
        }
    }
    refusals.extend(user_tools::refusals(job));
    let has_mocks = |line: &Line| !line.reference_mocks.is_empty();
    let wants_mocks =
        job.cases.iter().any(|case| matches!(&case.user, User::Lines(lines) if lines.iter().any(has_mocks)));
    let reference = job.reference.as_ref().map(|target| &target.transport);
    if wants_mocks && reference.is_none() {
        let what = "a line of a script has `referenceMocks`, and the job has no reference agent that could take them";
        refusals.push(Refusal::new(what, "name one under `reference`, or take `referenceMocks` away"));
    }
    if let Some(reference) = reference.filter(|it| wants_mocks && !it.can(Ability::MocksTools)) {
        let what = format!(
            "a line of a script has `referenceMocks`, and reference.{} can't {}",
            reference.key(),
            Ability::MocksTools.as_phrase()
        );
        refusals
            .push(Refusal::new(what, "reference.openai and reference.responses can; or take `referenceMocks` away"));
    }
    if let Some(known) = transport.models() {
        for model in models.iter().filter(|model| !known.contains(&model.as_str())) {
            refusals.push(Refusal::new(
                format!("the {} agent has no model `{model}`", transport.key()),
                format!("its models are {}: choose with --model", known.join(" and ")),
            ));
        }
    }
    refusals.extend(transport.check().iter().map(|error| Refusal::for_setting(error, "target")));
    if let Some(reference) = &job.reference {
        refusals.extend(reference.transport.check().iter().map(|error| Refusal::for_setting(error, "reference")));
        let key = reference.transport.key();
        if reference.start.is_some() || reference.transport.hosting().is_in_process() {
            let (key, problem) = (format!("reference.{key}"), "eval-job starts no reference agent");
            refusals.push(Refusal::for_key(&key, problem, "start it yourself, and name its address"));
        }
        let is_compared = job.cases.iter().any(|case| case.reference.is_some()) && compares_calls;
        if is_compared && !reference.transport.can(Ability::ReportsTools) {
            let why = "the metric trajectory compares tool calls, and";
            refusals.push(Refusal::new(
                format!("{why} reference.{key} can't report function calls"),
                reference.transport.how_to_report_calls(),
            ));
        }
    }
    if let Some(key) = transport.needs_base_url().filter(|_| job.target.start.is_none()) {
        refusals.push(Refusal::for_key(
            key,
            "{{ baseUrl }} is where an agent listens that eval-job starts, and there is no target.start",
            "write the address itself, like http://localhost:8080; or say how the agent is started: target: {start: {command: \
             …}}",
        ));
    }
    let is_apart = !transport.hosting().is_in_process() && job.target.start.is_none();
    if matches!(graph, Some(GraphConfig::Embedded(_))) && is_apart && job.uses_graph() {
        refusals.push(Refusal::new(
            "the job's Cypher would look at an embedded graph that its agent can't write to".to_owned(),
            "name the agent's own database: graph: {neo4j: {uri: …}}; or say how the agent is started (target.start): it is \
             then told where the graph is; or serve one to it: eval-job graph serve",
        ));
    }
    if matches!(graph, Some(GraphConfig::Embedded(_))) {
        let problem = |(place, cypher)| Some((place, compile_problem(cypher, &PARAMETERS)?));
        for (place, problem) in job.statements().filter_map(problem) {
            let help = "correct it in the job file; or name a Neo4j: graph: {neo4j: {uri: …}}";
            refusals.push(Refusal::for_statement(place, &problem, help));
        }
    }
    if let Some(GraphConfig::Neo4j(_)) = graph {
        let problem = |(place, cypher)| Some((place, certain_problem(cypher, &PARAMETERS)?));
        for (place, problem) in job.statements().filter_map(problem) {
            refusals.push(Refusal::for_statement(place, &problem, CORRECT_IT));
        }
    }
    let predicate = job.graph.watch.predicate.as_deref().filter(|_| graph.is_some());
    let watched = predicate.map(|predicate| format!("{WATCHED}{predicate}\n) RETURN n"));
    let problem = watched.and_then(|cypher| match (assertion_problem(&cypher), graph) {
        (Some(CypherProblem { line, column, message, help }), _) => {
            let message = help.map_or(message.clone(), |help| format!("{message}; {help}"));
            Some(StatementProblem { at: Some(Position { line, column }), message })
        }
        (None, Some(GraphConfig::Neo4j(_))) => certain_problem(&cypher, &PARAMETERS),
        (None, _) => compile_problem(&cypher, &PARAMETERS),
    });
    if let Some(problem) = problem {
        let place = JobPlace { within: problem.at.and_then(in_predicate), ..JobPlace::key("graph.watch.where") };
        let what = format!("graph.watch.where can't run: {}", problem.message);
        let refusal = Refusal::new(what, "write a condition on n, like n.user = $user");
        refusals.push(Refusal { place: Some(place), ..refusal });
    }
    refusals_of_conditions(job, &mut refusals);
    if !job.graph.watch.is_on() && job.assertions().any(|assertion| assertion.check.needs_changes()) {
        refusals.push(Refusal::new(
            "an assertion looks at what has changed in the graph, but graph.watch.maxNodes is 0: nothing is watched"
                .to_owned(),
            "leave maxNodes out, or raise it",
        ));
    }
    let mut labels = std::collections::BTreeSet::new();
    for label in job.metrics.iter().map(MetricEntry::label).filter(|label| !labels.insert(*label)) {
        refusals.push(Refusal::new(
            format!("two of the job's metrics are called `{label}`"),
            "give one of them a name of its own: {tasks: {}, name: strict tasks}",
        ));
    }
    let counts = |metric: &MetricEntry| metric.weight(&job.weights) > Weight::ZERO;
    if !job.metrics.iter().any(counts) {
        refusals.push(Refusal::new(
            "none of the job's metrics counts: no conversation would have a score".to_owned(),
            "give one a weight above 0: weights: {tasks: 2}",
        ));
    }
    let mut seen = std::collections::BTreeSet::new();
    for model in models.iter().filter(|model| !seen.insert(model.as_str())) {
        refusals.push(Refusal::new(format!("the model `{model}` is named twice"), "name each model once in --model"));
    }
    refusals
}
