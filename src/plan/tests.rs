//! Concurrency and refusals of each kind of isolation.

use super::*;
use crate::job::{PromptRole, TemplateCheck, TemplateProblem, UserPersona, load};

struct AllTemplates;

impl TemplateCheck for AllTemplates {
    fn problem(&self, _: &str, _: PromptRole) -> Option<TemplateProblem> {
        None
    }
}

const STARTED: &str = "target: {user: u, chatbot: c, start: {command: ./agent}}\n";
const RUNNING: &str = "target: {user: u, chatbot: c}\n";
const DEMO: &str = "target: {user: u, chatbot: c, demo: {}}\n";
const NEO4J: &str = "graph: {neo4j: {}}\n";

fn job(target: &str, more: &str) -> Job {
    let rest =
        "evaluator: {script: [x]}\nscorer: {model: scripted}\nfacts: []\ntasks: [{task: t, acceptanceCriteria: a}]\n";
    load("jobs/job.yml", &format!("{target}{rest}{more}"), &AllTemplates)
        .unwrap_or_else(|problems| panic!("{problems:?}"))
}

pub(super) fn plan(target: &str, more: &str) -> Result<Plan, Vec<String>> {
    Plan::new(job(target, more), Overrides::default(), Environment::default())
        .map_err(|refusals| refusals.into_iter().map(|refusal| refusal.what).collect())
}

/// The isolation of the conversations with and without facts, and the number of lanes.
fn settled(target: &str, more: &str) -> (Isolation, usize) {
    let plan = plan(target, &format!("conditions: [withoutFacts, withFacts]\n{more}"))
        .unwrap_or_else(|refusals| panic!("{target}{more}{refusals:?}"));
    (plan.isolation, plan.lane_count())
}

#[test]
fn without_a_word_trials_are_as_far_apart_as_costs_nothing() {
    use Isolation::{Database, Process, Shared};
    let cypher = "assertions: [{cypher: RETURN 1, expected: 1}]\n";
    assert_eq!(settled(DEMO, ""), (Database, 2));
    assert_eq!(settled(STARTED, cypher), (Process, 2));
    assert_eq!(settled(RUNNING, cypher), (Shared, 1));
    assert_eq!(settled(RUNNING, ""), (Shared, 1));
    assert_eq!(settled(DEMO, NEO4J), (Shared, 1));
    assert_eq!(settled(STARTED, NEO4J), (Shared, 1));
}

#[test]
fn what_is_shared_makes_one_lane() {
    use Isolation::{Database, Process, Shared, User};
    for (target, more, expected) in [
        (DEMO, "isolation: shared", (Shared, 1)),
        (STARTED, "isolation: shared", (Shared, 1)),
        (RUNNING, "isolation: user", (User, 2)),
        (STARTED, "isolation: user", (User, 2)),
        (DEMO, "isolation: user", (User, 2)),
        (DEMO, "isolation: process", (Database, 2)),
        (DEMO, "graph: {neo4j: {}}\nisolation: database", (Database, 2)),
        (STARTED, "graph: {neo4j: {}}\nisolation: database", (Database, 2)),
        (STARTED, "isolation: database", (Database, 2)),
        // A process each, and one database.
        (STARTED, "graph: {neo4j: {}}\nisolation: process", (Process, 1)),
        // One port for all.
        (STARTED, "graph: {embedded: {bolt: 7687}}", (Process, 1)),
        (STARTED, "graph: {embedded: {bolt: auto}}", (Process, 2)),
        (STARTED, "graph: {embedded: {bolt: 7687}}\nisolation: user", (User, 2)),
    ] {
        assert_eq!(settled(target, more), expected, "{target}{more}");
    }
    let fixed = "target: {user: u, chatbot: c, start: {command: ./agent, ready: {port: 8081}}}\n";
    assert_eq!(settled(fixed, ""), (Process, 1));
}

#[test]
fn a_setup_that_would_undo_a_neighbour_never_runs_beside_one() {
    let wipe = "setups: [{cypher: MATCH (n) DETACH DELETE n}]\n";
    for isolation in ["shared", "user", "database", "process"] {
        for target in [DEMO, STARTED, RUNNING] {
            for graph in ["", NEO4J] {
                let more = format!("{wipe}{graph}isolation: {isolation}\n");
                let Ok(plan) = plan(target, &more) else { continue };
                let own_graph = match plan.isolation {
                    Isolation::Database => true,
                    Isolation::Process => matches!(plan.graph, Some(GraphConfig::Embedded(_))),
                    Isolation::Shared | Isolation::User => false,
                };
                assert!(own_graph || plan.lane_count() == 1, "{target}{more}");
            }
        }
    }
}

#[test]
fn cypher_that_looks_at_all_users_is_refused_statement_by_statement() {
    let more = "isolation: user\nsetups:\n  - cypher: 'MERGE (:User {id: $user}); MATCH (n) DELETE n'\n  \
                - cypher: CREATE INDEX x FOR (u:User) ON (u.id)\nassertions:\n  - {expression: 'true'}\n  \
                - {cypher: MATCH (r:Reminder) RETURN count(r), expected: 1}\n  - {cypher: RETURN $user, expected: u}\n";
    let refused = plan(RUNNING, more).unwrap_err();
    let of = |place: &str, statement: &str| {
        format!("{place} would look at all users of a graph that conversations share: {statement}")
    };
    assert_eq!(refused, [of("setup 1", "MATCH (n) DELETE n"), of("assertion 2", "MATCH (r:Reminder) RETURN count(r)")]);
}

#[test]
fn a_user_of_its_own_is_one_that_the_agent_gets() {
    let cypher = "isolation: user\nassertions: [{cypher: 'MATCH (u:User {id: $user}) RETURN count(u)', expected: 1}]\n";
    let target = |more: &str| format!("target: {{user: u, chatbot: c, {more}}}\n");
    let http = |say: &str| target(&format!("http: {{say: {{url: 'http://h/say', reply: $.a, {say}}}}}"));
    let socket = |say: &str| target(&format!("websocket: {{url: 'ws://h', say: {{{say}}}}}"));
    let mute = "text: '{{ message }}'";
    for target in [http(&format!("body: {{{mute}}}")), socket(mute), target("openai: {}"), target("responses: {}")] {
        let refused = plan(&target, cypher).map(|plan| plan.isolation).unwrap_err();
        assert!(refused.len() == 1 && refused[0].starts_with("isolation: user gives each"), "{target}: {refused:?}");
        assert_eq!(settled(&target, "isolation: user").0, Isolation::User, "nothing is looked for by its user");
    }
    let fields = "text: '{{ message }}', by: '{{ user }}'";
    let header = format!("headers: {{X-User: '{{{{ user }}}}'}}, body: {{{mute}}}");
    for target in
        [http(&format!("body: {{{fields}}}")), http(&header), socket(fields), target("command: {command: sh}")]
    {
        assert_eq!(settled(&target, cypher).0, Isolation::User, "{target}");
    }
}

#[test]
fn an_agents_key_in_a_template_must_be_set_and_one_that_is_set_must_be_in_a_template() {
    let target = |more: &str| format!("target: {{user: u, chatbot: c, {more}}}\n");
    let http = |headers: &str| {
        target(&format!("http: {{say: {{url: 'http://h', reply: $.a, body: '{{{{ message }}}}', {headers}}}}}"))
    };
    let header = "headers: {Authorization: 'Bearer {{ apiKey }}'}";
    let refused = plan(&http(header), "").unwrap_err();
    assert!(refused.len() == 1 && refused[0].contains("EVAL_JOB_AGENT_API_KEY, and that is not set"), "{refused:?}");
    let with_key = |target: &str| {
        let variables = [("EVAL_JOB_AGENT_API_KEY", "sk-1")].into_iter().collect();
        let environment = Environment { variables, ..Environment::default() };
        Plan::new(job(target, ""), Overrides::default(), environment).unwrap().warnings
    };
    let is_reported = |target: &str| with_key(target).iter().any(|warning| warning.contains("sends it nowhere"));
    let socket = |more: &str| target(&format!("websocket: {{url: 'ws://h', {more}}}"));
    assert!(is_reported(&http("")) && is_reported(&socket("say: '{{ message }}'")));
    assert!(!is_reported(&http(header)) && !is_reported(&socket(header)) && !is_reported(&target("openai: {}")));
}

#[test]
fn an_invalid_header_and_a_message_that_is_never_sent_are_refused() {
    let target = |more: &str| format!("target: {{user: u, chatbot: c, {more}}}\n");
    let headers = "headers: {'bad header': x}";
    let say = "say: {url: 'http://h', reply: $.a, body: '{{ message }}'";
    for (more, part) in [
        (format!("http: {{{say}, {headers}}}}}"), "target.http.say.headers: `bad header` has a name that no header"),
        (format!("websocket: {{url: 'ws://h', {headers}}}"), "target.websocket.headers: `bad header` has a name"),
        (format!("adk: {{{headers}}}"), "target.adk.headers: `bad header` has a name that no header can have"),
        ("a2a: {headers: {X-Key: \"a\\nb\"}}".to_owned(), "target.a2a.headers: `X-Key` holds a character"),
        ("http: {say: {url: 'http://h', reply: $.a, body: hello}}".to_owned(), "target.http.say: nothing in it says"),
        (
            "http: {say: {url: 'http://h', reply: $.a, body: '{% if false %}{{ message }}{% endif %}'}}".to_owned(),
            "target.http.say: nothing in it says",
        ),
        (
            "http: {say: {url: 'http://h', reply: $.a, body: '{{ message | length }}'}}".to_owned(),
            "target.http.say: nothing",
        ),
        ("websocket: {url: 'ws://h', say: '{{ message[:0] }}'}".to_owned(), "target.websocket.say: nothing in it says"),
        ("websocket: {url: 'ws://h', say: hello}".to_owned(), "target.websocket.say: nothing in it says {{ message }}"),
    ] {
        let refused = plan(&target(&more), "").map(|plan| plan.isolation).unwrap_err();
        assert!(refused.len() == 1 && refused[0].starts_with(part), "{more}: {refused:?}");
    }
    let history = "http: {say: {url: 'http://h', reply: $.a, body: {all: '{{ history }}'}}}";
    assert!(plan(&target(history), "").is_ok());
}

#[test]
fn what_can_not_be_kept_apart_is_refused() {
    let fixed = "target: {user: u, chatbot: c, embabel: {baseUrl: 'http://localhost:1'}, start: {command: ./agent}}\n";
    for (target, more, part) in [
        (RUNNING, "isolation: process", "isolation: process needs an agent that eval-job starts"),
        (RUNNING, "isolation: database", "can't be passed to an agent that is running already"),
        (RUNNING, "graph: {neo4j: {}}\nisolation: database", "can't be passed to an agent that is running already"),
        (STARTED, "graph: {neo4j: {database: movies}}\nisolation: database", "graph.neo4j.database names one for all"),
        (fixed, "", "several agents would be started at once"),
        (fixed, "isolation: database", "several agents would be started at once"),
        (DEMO, "graph: {embedded: {bolt: auto}}", "graph.embedded.bolt is a door"),
        (
            RUNNING,
            "graph: {embedded: {}}\nassertions: [{cypher: RETURN 1, expected: 1}]",
            "that its agent can't write to",
        ),
    ] {
        let refused = plan(target, &format!("conditions: [withoutFacts, withFacts]\n{more}")).unwrap_err();
        assert!(refused.len() == 1 && refused[0].contains(part), "{target}{more}: {refused:?}");
    }
    assert_eq!(settled(fixed, "isolation: shared").1, 1);
    assert_eq!(settled(fixed, "graph: {neo4j: {}}\nisolation: process").1, 1, "one after the other");
}

#[test]
fn what_the_transport_can_not_do_is_refused_by_the_configuration_that_it_has() {
    let calls = "assertions: [{expression: 'evaluation.functionCalls.any(|it| it.function == \"f\")'}]";
    let models = Overrides { models: vec!["a".to_owned(), "b".to_owned()], ..Overrides::default() };
    let refused = |transport: &str, more: &str, wanted: &Overrides| {
        let target = format!("target: {{user: u, chatbot: c, {transport}}}\n");
        let refusals = Plan::new(job(&target, more), wanted.clone(), Environment::default());
        refusals.err().into_iter().flatten().map(|refusal| refusal.what).collect::<Vec<_>>().join("; ")
    };
    let http = |say: &str| format!("http: {{say: {{url: 'http://h', reply: $.reply, {say}}}}}");
    for (transport, reports, chooses) in [
        ("embabel: {}".to_owned(), true, true),
        ("openai: {}".to_owned(), true, true),
        ("adk: {app: a}".to_owned(), true, false),
        ("trpc: {app: a}".to_owned(), true, false),
        ("a2a: {}".to_owned(), true, false),
        ("command: {command: ./agent}".to_owned(), false, false),
        ("command: {command: ./agent, args: [--model, model]}".to_owned(), false, false),
        ("command: {command: ./agent, args: ['--model={model}']}".to_owned(), false, true),
        (http("body: {text: '{{ message }}', model: fixed}"), false, false),
        (http("body: {text: 'a model of {{ message }}'}"), false, false),
        (http("body: {text: '{{ message }}', 'the {{ model }}': 1}"), false, false),
        (http("body: {text: '{# {{ model }} #}{{ message }}'}"), false, false),
        (http("body: {a: [{m: '{{ model|upper }}'}]}, events: $.events"), true, true),
        (http("headers: {X-Model: '{{model}}'}"), false, true),
        (http("headers: {X-Model: model-1}"), false, false),
        ("http: {say: {url: 'http://h/models/{{ message }}', reply: $}}".to_owned(), false, false),
        ("http: {say: {url: 'http://h/{% if model %}{{ model }}{% endif %}', reply: $}}".to_owned(), false, true),
        (
            "http: {say: {url: 'http://h', reply: $}, state: {url: 'http://h/{{ model }}', functions: $.f}}".to_owned(),
            false,
            false,
        ),
        ("websocket: {url: 'ws://models.h/'}".to_owned(), false, false),
        ("websocket: {url: 'ws://h', open: ['{{ model }}'], reply: {delta: $.d, events: $.e}}".to_owned(), true, true),
    ] {
        let is_reported = refused(&transport, calls, &Overrides::default()).contains("can't report function calls");
        assert_eq!(is_reported, !reports, "{transport}");
        assert_eq!(refused(&transport, "", &models).contains("can't choose the model"), !chooses, "{transport}");
    }
}

#[test]
fn what_would_be_watched_is_checked_before_anything_is_paid() {
    for predicate in ["n.user == $user", "n.user = $usr"] {
        for graph in ["", ", neo4j: {}"] {
            let refused = plan(DEMO, &format!("graph: {{watch: {{where: '{predicate}'}}{graph}}}\n"));
            assert!(refused.is_err_and(|it| it[0].starts_with("graph.watch.where can't run: ")), "{predicate}{graph}");
        }
    }
    assert!(plan(DEMO, "graph: {watch: {where: n.user = $user}}\n").is_ok());
}

#[test]
fn what_is_never_held_is_reported_or_refused() {
    let when = "assertions: [{expression: 'true', when: withFacts}]\n";
    let refused = plan(DEMO, when).unwrap_err();
    assert!(refused[0].starts_with("the assertion `true` is checked with facts only"), "{refused:?}");
    assert!(plan(DEMO, &format!("{when}conditions: [withoutFacts, withFacts]\n")).is_ok());
    let cases = "cases: [{id: a}, {id: b, facts: [f]}]\n";
    let wanted = Overrides { conditions: vec![Condition::WithFacts], ..Overrides::default() };
    let plan = Plan::new(job(DEMO, cases), wanted, Environment::default()).unwrap();
    assert_eq!(plan.warnings, ["case `a` is left out: it is held without facts only"]);
    assert_eq!(plan.trials().len(), 1);
}

#[test]
fn what_earlier_conversations_leave_with_the_agent_is_reported() {
    let looks = |check: &str| format!("assertions: [{{{check}}}]");
    let warnings = |more: &str| plan(RUNNING, more).unwrap().warnings;
    let state = looks("expression: objectContext.resources.size == 1");
    assert!(warnings(&state).iter().any(|it| it.contains("share the agent's state")), "{:?}", warnings(&state));
    assert_eq!(warnings(&format!("{state}\nisolation: user")), Vec::<String>::new());
    assert_eq!(
        warnings(&looks("expression: objectContext.resources.size == 1, holdsBefore: true")),
        Vec::<String>::new()
    );
    assert_eq!(warnings(&looks("expression: evaluation.done")), Vec::<String>::new());
    let named = "assertions: [{name: a, expression: evaluation.done}, {name: a, expression: '!evaluation.done'}]";
    assert_eq!(warnings(named).len(), 1);
    assert!(warnings(named)[0].contains("two assertions have the name `a`: assertion 2 is kept as `a#"));
}

#[test]
fn trials_are_made_when_they_are_asked_for_the_first_round_before_the_second() {
    let more = "conditions: [withoutFacts, withFacts]\ncases: [{id: a}, {id: b}]\n";
    let wanted = Overrides { repeat: Some(u32::MAX / 4), ..Overrides::default() };
    let plan = Plan::new(job(DEMO, more), wanted, Environment::default()).unwrap();
    let name = |trial: Trial| (trial.id.number, trial.id.case, trial.id.condition, trial.id.repeat);
    let first: Vec<_> = plan.trials().take(5).map(name).collect();
    let (without, with) = (Condition::WithoutFacts, Condition::WithFacts);
    let [a, b] = ["a", "b"].map(ToOwned::to_owned);
    let expected = [
        (1, a.clone(), without, 1),
        (2, a.clone(), with, 1),
        (3, b.clone(), without, 1),
        (4, b, with, 1),
        (5, a, without, 2),
    ];
    assert_eq!(first, expected);
    // A billion of them would not fit in memory.
    assert_eq!((plan.trials().len(), plan.lane_count()), (4_294_967_292, 4_294_967_292));
    assert_eq!(plan.lanes().nth(6).unwrap().next().unwrap().id.number, 7);
}

/// The plan of a job with this `scorer` and these metrics, in this environment.
fn judged(scorer: &str, metrics: &str, variables: &[(&str, &str)]) -> Plan {
    let text = format!("{RUNNING}evaluator: {{script: [x]}}\nscorer: {scorer}\nfacts: []\nmetrics: {metrics}\n");
    let job = load("jobs/job.yml", &text, &AllTemplates).unwrap_or_else(|problems| panic!("{problems:?}"));
    let variables = [("OPENAI_API_KEY", "k")].iter().chain(variables).copied().collect();
    let environment = Environment { variables, ..Environment::default() };
    Plan::new(job, Overrides::default(), environment).unwrap_or_else(|refusals| panic!("{refusals:?}"))
}

#[test]
fn samples_at_temperature_0_are_reported_wherever_their_number_stands() {
    let warning = |scorer: &str, metrics: &str| judged(scorer, metrics, &[]).warnings.join("; ");
    let rubric = "{rubrics: [{id: a, text: A holds.}]";
    let once = format!("[{{rubric: {rubric}}}}}]");
    let often = format!("[{{rubric: {rubric}, judging: {{samples: 5}}}}}}]");
    assert_eq!(warning("{model: openai/j}", &once), "");
    assert!(warning("{model: openai/j, samples: 3}", &once).starts_with("the judge is asked 3 times at temperature 0"));
    let message = warning("{model: openai/j}", &often);
    assert!(message.starts_with("for rubric the judge is asked 5 times at temperature 0"), "{message}");
    assert!(message.contains("or judging: {samples: 1} there"), "{message}");
    assert_eq!(warning("{model: openai/j, temperature: 0.7}", &often), "");
}

#[test]
fn a_model_for_all_of_ours_replaces_a_panel_too() {
    let metrics = "[{rubric: {rubrics: [{id: a, text: A holds.}]}}]";
    let names = |variables: &[(&str, &str)]| {
        let plan = judged("{model: [openai/a, openai/b]}", metrics, variables);
        plan.job.judges().map(|judge| judge.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["openai/a", "openai/b"]);
    assert_eq!(names(&[("MODEL_OVERRIDE", "openai/c")]), ["openai/c"]);
}

/// The cases of a plan, where the command line names these kinds of users.
fn cases_with(named: &[&str], more: &str) -> Result<Vec<String>, Vec<Refusal>> {
    let text =
        format!("{RUNNING}scorer: {{model: scripted}}\nfacts: []\ntasks: [{{task: t, acceptanceCriteria: a}}]\n{more}");
    let job = load("jobs/job.yml", &text, &AllTemplates).unwrap_or_else(|problems| panic!("{problems:?}"));
    let personas = named.iter().map(|name| UserPersona::shipped(name).unwrap()).collect();
    let variables = [("OPENAI_API_KEY", "k")].into_iter().collect();
    let environment = Environment { variables, ..Environment::default() };
    let plan = Plan::new(job, Overrides { personas, ..Overrides::default() }, environment);
    Ok(plan?.trials().map(|trial| trial.id.case).collect())
}

#[test]
fn each_case_of_the_persona_is_held_with_each_kind_of_user() {
    let cases = "cases: [{id: a}, {id: b, persona: novice}, {id: c, script: [x]}]\n";
    let of_job = format!("evaluator: {{personas: [terse, hostile]}}\n{cases}");
    assert_eq!(cases_with(&[], cases).unwrap(), ["a", "b", "c"]);
    assert_eq!(cases_with(&[], &of_job).unwrap(), ["a@terse", "a@hostile", "b", "c"]);
    assert_eq!(cases_with(&["expert"], &of_job).unwrap(), ["a@expert", "b@expert", "c"]);
    let refused = cases_with(&["expert"], "cases: [{id: c, script: [x]}]\n").unwrap_err();
    assert!(refused[0].what.starts_with("no case has a user who could be of another kind"), "{refused:?}");
}

#[test]
fn of_a_run_that_was_held_before_only_what_is_left_is_held() {
    let begun = || [(3, BegunTrial { attempt: 1, restart: 2, left: None })].into_iter().collect();
    let held = || ResumedTrials { finished: [1, 4].into_iter().collect(), begun: begun(), ..ResumedTrials::default() };
    for (target, lanes) in [(DEMO, 4), (RUNNING, 1)] {
        let job = job(target, "conditions: [withoutFacts, withFacts]\ncases: [{id: a}]\n");
        let wanted = Overrides { repeat: Some(3), ..Overrides::default() };
        let plan = Plan::new(job, wanted, Environment::default()).unwrap();
        let left: Vec<Vec<Trial>> = plan.lanes_after(held()).map(Iterator::collect).collect();
        assert_eq!(left.len(), lanes, "{target}");
        let left: Vec<_> = left.concat().into_iter().map(|it| (it.id.number, it.attempt, it.restart)).collect();
        assert_eq!(left, [(2, 0, None), (3, 1, Some(2)), (5, 0, None), (6, 0, None)]);
    }
}

#[test]
fn a_script_has_room_for_all_of_its_lines_unless_the_job_says_less() {
    let script = |more: &str| {
        let text = format!(
            "{RUNNING}facts: []\nmetrics: [timing]\naspirationalAverage: 9\n{more}cases: [{{id: long, script: [{}]}}]\n",
            "x, ".repeat(12)
        );
        load("job.yml", &text, &AllTemplates).unwrap_or_else(|problems| panic!("{problems:?}"))
    };
    let planned = |job: Job, max_turns| {
        let plan = Plan::new(job, Overrides { max_turns, ..Overrides::default() }, Environment::default()).unwrap();
        let cut = plan
            .warnings
            .iter()
            .any(|warning| warning.starts_with("maxTurns leaves no room for all lines of case `long`"));
        (plan.job.most_messages(&plan.job.cases[0]), cut)
    };
    assert_eq!(planned(script(""), None), (27, false));
    assert_eq!(planned(script("greetings: []\n"), None), (25, false));
    assert_eq!(planned(script("maxTurns: 12\n"), None), (12, true));
    assert_eq!(planned(script(""), Some(20)), (20, true));
    assert_eq!(planned(script(""), Some(26)), (26, false));
}
