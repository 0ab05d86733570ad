//! Paths as somebody types them.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Value, json};

use super::super::lost::read_back;
use super::super::{DiskFiles, Files, Kind, LowerOptions, OpenOptions, Recordings, System, lower, open, write};
use super::*;

/// Files of a test.
struct Held(BTreeMap<PathBuf, String>);

impl Held {
    fn new(files: &[(&str, &str)]) -> Held {
        Held(files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect())
    }
}

impl Files for Held {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let below = self.0.keys().filter_map(|path| {
            let rest = path.strip_prefix(folder).ok()?;
            Some(folder.join(rest.components().next()?))
        });
        let mut paths: Vec<PathBuf> = below.collect();
        paths.dedup();
        Ok(paths)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        !self.is_file(path) && self.0.keys().any(|file| file.starts_with(path))
    }
}

fn opened(typed: &str, files: &dyn Files) -> Vec<Dataset> {
    open(typed, &OpenOptions::default(), files).unwrap_or_else(|problems| panic!("{}", render_problems(&problems)))
}

fn failed(typed: &str, files: &dyn Files) -> String {
    render_problems(&open(typed, &OpenOptions::default(), files).unwrap_err())
}

fn on_disk(path: &str) -> String {
    folder().join(path).display().to_string()
}

#[test]
fn a_folder_of_adk_is_read_with_its_criteria() {
    let datasets = opened(&on_disk("adk/legacy_list"), &DiskFiles);
    assert_eq!(datasets.len(), 9);
    let dice = datasets.iter().find(|dataset| dataset.name.contains("roll_die")).unwrap();
    assert_eq!(dice.metrics[1].threshold, Some(0.5), "of the test_config.json beside it");
    let events = datasets.iter().find(|dataset| dataset.name.contains("eval_data")).unwrap();
    assert_eq!(events.metrics[1].threshold, Some(0.5));
    let simple = datasets.iter().find(|dataset| dataset.name.ends_with("agent/simple_test.test.json")).unwrap();
    assert_eq!(simple.metrics[1].name, "tool_call_count_v1", "no response_match_score there");
}

#[test]
fn an_eval_set_of_trpc_is_found_by_base_app_and_id() {
    let path = on_disk("trpc/local/data/math-eval-app/math-basic");
    for typed in [path.clone(), format!("{path}.evalset.json")] {
        let dataset = &opened(&typed, &DiskFiles)[0];
        assert_eq!((dataset.name.as_str(), dataset.metrics.len()), ("math-basic", 1));
    }
    let all = opened(&on_disk("trpc"), &DiskFiles);
    assert!(all.len() >= 18 && all.iter().all(|dataset| dataset.kind == Kind::TrpcEvalSet), "{}", all.len());
    let shared = opened(&on_disk("trpc/promptiter/tooldesc/data/promptiter-flight-tool-app"), &DiskFiles);
    assert!(shared.iter().all(|dataset| dataset.metrics.len() == 2));
    assert!(warnings(&shared[0])[0].contains("the only such file beside it"), "{:?}", warnings(&shared[0]));
}

#[test]
fn cases_are_picked_behind_a_colon() {
    let path = on_disk("trpc/_seed_era/local/data/math-eval-app/math-basic.evalset.json");
    let picked = opened(&format!("{path}:calc_multiply"), &DiskFiles);
    assert_eq!(picked[0].cases.len(), 1);
    assert!(failed(&format!("{path}:calc_add,calc_multipl"), &DiskFiles).contains("did you mean `calc_multiply`?"));
}

#[test]
fn conversations_of_redhat_are_one_dataset_with_their_context() {
    for path in ["redhat/conversations_config", "redhat/conversations_config/conversations"] {
        let datasets = opened(&on_disk(path), &DiskFiles);
        assert_eq!((datasets.len(), datasets[0].cases.len()), (1, 4), "{path}");
    }
    let flow = r#"{"metadata": {"authoritative_user_id": "a"}, "conversation": [{"role": "user", "content": "a"}]}"#;
    let files = Held::new(&[
        ("e/conversations_config/authoritative_user_ids", "b@c.d\n"),
        ("e/conversations_config/conversations/one.json", flow),
        ("e/conversations_config/default_context/policy.txt", "policy"),
        ("e/conversations_config/default_context/mock_data.py", "USERS = []"),
        ("e/conversations_config/default_context/scan.pdf", "%PDF\0"),
        ("e/conversations_config/default_context/.gitkeep", ""),
        ("e/conversations_config/default_context/old/policy.txt", "no"),
        ("e/conversations_config/conversation_context/one/own.json", r#"{"context": ["x", {"y": 1}]}"#),
        ("e/conversations_config/conversation_context/two/other.txt", "no"),
        ("e/results/conversation_results/one.json", &flow.replace("]", r#", {"role": "assistant", "content": "b"}]"#)),
    ]);
    let datasets = opened("e", &files);
    let texts: Vec<&str> = datasets[0].cases[0].context_files.iter().map(|file| file.text.as_str()).collect();
    assert_eq!((datasets[0].cases.len(), texts), (1, vec!["USERS = []", "policy", "x", "{\n  \"y\": 1\n}"]));
    let context_warnings = |datasets: &[Dataset]| {
        let warnings = datasets[0].warnings.iter().map(|it| format!("{}: {}", it.file, it.message));
        warnings.filter(|it| it.contains("context/")).collect::<Vec<String>>()
    };
    assert!(warnings(&datasets[0])[0].contains("not among the `authoritative_user_ids`"));
    let expected = [
        "default_context/mock_data.py: judges are shown this file as it is; the original leaves it out",
        "default_context/old: folders within a folder of context are not looked into",
        "default_context/scan.pdf: this file is no text in UTF-8: judges are not shown it",
    ];
    let found = context_warnings(&datasets);
    assert_eq!(found.len(), 3, "{found:?}");
    expected.iter().zip(&found).for_each(|(part, found)| assert!(found.contains(part), "{found}"));
    assert_eq!(opened("e/results/conversation_results/one.json", &files)[0].cases[0].context_files.len(), 4);
    let strict = OpenOptions { strict: true, ..OpenOptions::default() };
    let datasets = open("e", &strict, &files).unwrap();
    assert_eq!(datasets[0].cases[0].context_files.len(), 3);
    assert!(
        context_warnings(&datasets)[0].contains("judges are not shown this file"),
        "{:?}",
        context_warnings(&datasets)
    );
}

#[test]
fn what_lies_beside_several_conversations_is_told_once() {
    let flow = r#"{"metadata": {"authoritative_user_id": "a"}, "conversation": [{"role": "user", "content": "a"}]}"#;
    let files = Held::new(&[("f/one.json", flow), ("f/two.json", flow), ("f/default_context/data.csv", "a,b")]);
    let datasets = opened("f", &files);
    assert_eq!((datasets[0].cases.len(), datasets[0].warnings.len()), (2, 1), "{:?}", datasets[0].warnings);
}

#[test]
fn the_users_of_redhats_conversations_may_stand_in_their_folder_and_in_a_json_list() {
    let flow =
        r#"{"metadata": {"authoritative_user_id": "a@x.org"}, "conversation": [{"role": "user", "content": "a"}]}"#;
    let goldens = r#"{"scenario": "a", "expected_outcome": "b"}"#;
    for ids in ["b@c.d\na@x.org\n", r#"["b@c.d", "a@x.org"]"#] {
        let files = Held::new(&[("f/authoritative_user_ids", ids), ("f/one.json", flow), ("f/two.json", goldens)]);
        let datasets = opened("f", &files);
        let users: Vec<Option<&str>> = datasets[0].cases.iter().map(|case| case.session.user.as_deref()).collect();
        assert_eq!(users, [Some("a@x.org"), Some("b@c.d")], "{ids}");
        assert_eq!(warnings(&datasets[0]), Vec::<String>::new(), "{ids}");
        let stranger = Held::new(&[("f/authoritative_user_ids", "b@c.d"), ("f/one.json", flow)]);
        assert!(warnings(&opened("f", &stranger)[0])[0].contains("not among the `authoritative_user_ids`"));
    }
}

const CASE: &str = r#"{"story": "s", "agent": "a", "goals": {}, "goal_details": [], "tags": ["t"]}"#;

#[test]
fn what_a_configuration_of_watsonx_would_do_and_is_not_done_is_told() {
    let config = "test_paths: data\nenable_manual_user_input: true\ntrace_sources: [x]\nis_strict: false\ncustom_metrics_config: {paths: [m]}\nllm_user_config: {personas: [adversarial], model_id: m}\noutput_dir: o\n";
    let files = Held::new(&[("w/config.yml", config), ("w/data/a.json", CASE)]);
    let warned = warnings(&opened("w/config.yml", &files)[0]).join("\n");
    for name in ["enable_manual_user_input", "trace_sources", "custom_metrics_config", "model_id"] {
        assert!(warned.contains(name), "{name}: {warned}");
    }
    assert!(!warned.contains("is_strict") && !warned.contains("output_dir"), "{warned}");
}

#[test]
fn test_paths_of_watsonx_may_be_patterns() {
    let config = "test_paths: [\"data/a*.json\", \"*/c.json\"]\n";
    let files = Held::new(&[
        ("w/config.yml", config),
        ("w/data/a1.json", CASE),
        ("w/data/a2.json", CASE),
        ("w/data/b.json", CASE),
        ("w/data/c.json", CASE),
    ]);
    let ids = |set: &Dataset| set.cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&opened("w/config.yml", &files)[0]), ["a1", "a2", "c"]);
    let none = Held::new(&[("w/config.yml", "test_paths: \"data/x*.json\"\n"), ("w/data/a.json", CASE)]);
    assert!(failed("w/config.yml", &none).contains("there is nothing of that name"));
}

#[test]
fn attacks_of_watsonx_are_not_joined_with_other_cases() {
    let attack = CASE.replace("\"tags\"", r#""attack_data": {"attack_category": "on_policy"}, "tags""#);
    let files = Held::new(&[
        ("w/config.yml", "test_paths: data\n"),
        ("w/data/a.json", CASE),
        ("w/data/b.json", &attack),
        ("w/attacks.yml", "test_paths: data/b.json\n"),
    ]);
    let refused = failed("w/config.yml", &files);
    assert!(refused.contains("w/data/b.json") && refused.contains("measured by other metrics than cases"), "{refused}");
    let both = opened("w/data", &files);
    let names: Vec<(&str, usize)> = both.iter().map(|it| (it.name.as_str(), it.cases.len())).collect();
    assert_eq!(names, [("data", 1), ("data attacks 1", 1)]);
    let alone = opened("w/attacks.yml", &files);
    assert_eq!(alone[0].metrics.len(), 1);
    assert_eq!(alone[0].metrics[0].name, "AttackResisted");
}

#[test]
fn a_configuration_of_watsonx_names_its_cases() {
    let summary = |with: &str| {
        format!(
            r#"{{"story": "s", "goals": {{"summarize": []}}, "goal_details": [{{"type": "text", "name": "summarize", {with}}}]}}"#
        )
    };
    let config = "test_paths: data, more/x.json\nmax_user_turns: 7\nn_runs: 3\nllm_user_config:\n  user_response_style:\n  - short\nauth_config:\n  url: http://h\n  token: secret1\nmetrics: [JourneySuccessMetric, Nonsense]\n";
    let files = Held::new(&[
        ("w/config.yml", config),
        ("w/data/a.json", CASE),
        ("w/data/my_agent.json", r#"{"spec_version": "v1"}"#),
        ("w/data/deep/b.json", CASE),
        ("w/more/x.json", &summary(r#""response": "r""#)),
        ("w/tags.yml", "test_paths: [data]\ntags: [u]\n"),
        ("w/none.yml", "test_paths: [nothing]\n"),
        ("w/wrong.yml", "test_paths: [data]\nn_runs: many\nllm_user_config:\n  style: x\n"),
        ("w/mixed.yml", "test_paths: [more/x.json, v2.json]\n"),
        ("w/v2.json", &summary(r#""summary": "r""#)),
        ("w/itself.yml", "test_paths: [itself.yml, data]\n"),
        ("w/deep.yml", "test_paths: [data]\nenable_recursive_search: true\n"),
    ]);
    let dataset = &opened("w/config.yml", &files)[0];
    let ids: Vec<&str> = dataset.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!((ids, dataset.runs, dataset.kind), (vec!["a", "x"], Some(3), Kind::WatsonxConfig));
    let user = scenario(&dataset.cases[0]);
    assert_eq!((user.max_turns, user.style.as_slice()), (Some(7), &["short".to_owned()][..]));
    let metrics: Vec<&str> = dataset.metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(metrics, ["JourneySuccessMetric", "TextMatch"], "texts are measured where goals have some");
    assert!(!format!("{dataset:?}").contains("secret1"));
    let warned = warnings(dataset).join("\n");
    assert!(
        warned.contains("9:10: auth_config.token: a token stands in the file")
            && warned.contains("no metric `Nonsense`"),
        "{warned}"
    );
    assert_eq!(opened("w/deep.yml", &files)[0].cases.len(), 2);
    let itself = warnings(&opened("w/itself.yml", &files)[0]);
    assert!(itself[0].contains("a config.yml of watsonx Orchestrate; it is left out"), "{itself:?}");
    assert!(failed("w/tags.yml", &files).contains("no case is left to run"));
    assert!(failed("w/none.yml", &files).contains("names nothing, but there is nothing of that name"));
    let wrong = failed("w/wrong.yml", &files);
    assert!(
        wrong.contains("w/wrong.yml:2:9: n_runs: a number is expected")
            && wrong.contains("4:3: llm_user_config: unknown key `style`"),
        "{wrong}"
    );
    assert!(failed("w/mixed.yml", &files).contains("has a `summary` here, but in w/more/x.json it has none"));
    let folder = opened("w/data", &files);
    assert_eq!((folder.len(), folder[0].name.as_str(), folder[0].cases.len()), (1, "data", 1));
}

#[test]
fn an_empty_configuration_beside_a_test_is_no_test() {
    let files = Held::new(&[("f/a.test.json", r#"[{"query": "a"}]"#), ("f/test_config.json", "{}")]);
    let datasets = opened("f", &files);
    let warnings: Vec<&str> = datasets[0].warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(warnings, ["there are no `criteria`: nothing is measured"]);
}

#[test]
fn what_is_not_there_is_told() {
    let files = Held::new(&[
        ("f/notes.json", "{}"),
        ("f/broken.test.json", "{"),
        ("g/x.txt", ""),
        ("h/result.json", r#"{"eval_set_result_id": "a"}"#),
    ]);
    assert!(failed("nowhere.json", &files).contains("there is no such file and no such folder"));
    assert!(
        failed("f", &files).contains("f/broken.test.json:1:1: this bracket is not closed"),
        "a broken test is not left out"
    );
    assert!(failed("g", &files).contains("no file in this folder holds cases"));
    assert!(failed("h", &files).contains("no file in this folder holds cases"));
    assert!(failed("h/result.json", &files).contains("eval-job grade --dataset"));
}

#[test]
fn a_file_of_a_folder_that_is_refused_leaves_nothing_among_the_recordings() {
    let talk = |id: &str| {
        let said = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": id}]);
        json!({"id": id, "messages": said}).to_string()
    };
    let redhat = |said: Value| json!({"metadata": {"authoritative_user_id": "u"}, "conversation": said}).to_string();
    let both = redhat(json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]));
    let one_side = redhat(json!([{"role": "user", "content": "Hi"}]));
    let log = [talk("a"), talk("b")].join("\n");
    let open = |first: &str| {
        let files = Held::new(&[("rec/0.jsonl", first), ("rec/1.jsonl", &log)]);
        Recordings::open(Path::new("rec"), &files).map(|recordings| {
            let said =
                |at: usize| recordings.conversation(at, &files).unwrap().unwrap().turns[0].agent.clone().unwrap();
            (0..recordings.keys.len()).map(|at| format!("{} {}", recordings.keys[at].id, said(at))).collect::<Vec<_>>()
        })
    };
    assert_eq!(open(&format!("{one_side}\n{one_side}")).unwrap(), ["a a", "b b"]);
    let refused = render_problems(&open(&format!("{both}\n{one_side}")).unwrap_err());
    assert!(refused.contains("rec/0.jsonl:"), "what is recorded is not left out without a word: {refused}");
}

#[test]
fn personas_of_a_config_are_those_of_the_job_and_are_written_back() {
    let case = r#"{"agent": "hr", "story": "You want time off.", "starting_sentence": "Hello", "goals": {"get": []},
        "goal_details": [{"type": "tool_call", "name": "get", "tool_name": "get_id", "args": null}]}"#;
    let config = "test_paths: one.json\nn_runs: 2\nllm_user_config:\n  user_response_style: [Be brief]\n  \
                  personas: [cooperative, adversarial]\n";
    let held = Held::new(&[("one.json", case), ("config.yml", config)]);
    let dataset = opened("config.yml", &held).remove(0);
    let names = |dataset: &Dataset| dataset.personas.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&dataset), ["cooperative", "adversarial"]);
    assert!(!warnings(&dataset).iter().any(|it| it.contains("persona")), "{:?}", warnings(&dataset));
    let lowered = |options: LowerOptions| lower(&dataset, &options);
    let target = || ("watsonx".to_owned(), serde_json::Map::new());
    let job = lowered(LowerOptions { target: target(), ..LowerOptions::default() }).document;
    assert_eq!(job["evaluator"]["personas"], json!(["cooperative", "adversarial"]));
    let strict = lowered(LowerOptions { target: target(), strict: true, ..LowerOptions::default() });
    assert_eq!(strict.document["evaluator"].get("personas"), None);
    assert!(strict.warnings.iter().any(|it| it.starts_with("its personas are not played")), "{:?}", strict.warnings);
    let recorded = lowered(LowerOptions { target: target(), is_recorded: true, ..LowerOptions::default() });
    assert_eq!(recorded.document["evaluator"].get("personas"), None);

    let written = write(&dataset, System::Watsonx);
    let back = read_back(&written).unwrap();
    assert_eq!((names(&back), back.runs), (names(&dataset), Some(2)));
    assert_eq!(scenario(&back.cases[0]).style, ["Be brief"]);
    assert!(!written.warnings.iter().any(|it| it.contains("styles") || it.contains("runs")), "{:?}", written.warnings);
    // ADK names a persona in each case.
    let of_adk = read_back(&write(&dataset, System::Adk)).unwrap();
    let held: Vec<(&str, &str)> = of_adk
        .cases
        .iter()
        .map(|case| (case.id.as_str(), scenario(case).persona.as_ref().map_or("", |it| it.id.as_str())))
        .collect();
    assert_eq!(held, [("one@cooperative", "cooperative"), ("one@adversarial", "adversarial")]);
}
