//! Steps of `geval` that the judge writes before a run, and texts for judges from files, with the built program.

use std::process::Output;

use serde_json::{Value, json};

use super::eval_job;
use crate::servers::http::{Reply, Request, Server};

fn says(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120});
    Reply::Json(200, json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}))
}

fn is_question(request: &Request) -> bool {
    request.path.ends_with("/chat/completions")
}

/// A judge that writes these steps when it is asked for some.
fn judge(steps: &'static str) -> Server {
    Server::start(move |request| {
        if !is_question(request) {
            return Reply::Json(200, json!({"data": []}));
        }
        if request.body.contains("<criterion>") {
            return says(steps);
        }
        let quote = json!([{"turn": 1, "text": "your table"}]);
        let verdict = json!({"id": "1", "reason": "so", "quotes": quote, "turnsRead": [], "score": 8});
        says(&json!({ "verdicts": [verdict] }).to_string())
    })
}

const STEPS: &str = r#"{"steps": ["Look at the greeting.", "Lower the score for each <rude> word."]}"#;

struct Desk {
    folder: tempfile::TempDir,
    judge: Server,
    _agent: Server,
}

impl Desk {
    fn new(steps: &'static str, geval: Value, more: Value) -> Desk {
        let (agent, judge) = (Server::start(|_| says("Your table is booked.")), judge(steps));
        let folder = tempfile::tempdir().unwrap();
        let mut job = json!({
            "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", agent.address)}},
            "evaluator": {"script": ["A table for two", "Thank you"]},
            "scorer": {"model": {"name": "openai/j", "baseUrl": format!("{}/v1", judge.address)}},
            "facts": [],
            "greetings": [],
            "metrics": [{"geval": geval, "name": "politeness"}],
            "cases": [{"id": "a"}, {"id": "b"}],
        });
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        std::fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
        Desk { folder, judge, _agent: agent }
    }

    fn eval_job(&self, arguments: &[&str]) -> Output {
        eval_job(self.folder.path()).args(arguments).output().unwrap()
    }

    fn run(&self) -> Output {
        self.eval_job(&["run", "job.yml", "--model", "m", "--no-progress", "-o", "run.json"])
    }

    /// The job that is kept with the run.
    fn kept_job(&self) -> Value {
        let run = super::kept_run(self.folder.path()).unwrap();
        let journal = std::fs::read_to_string(run.join("journal.ndjson")).unwrap();
        let first: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
        first["job"].clone()
    }

    /// What the judge was asked, for steps or for verdicts.
    fn asked(&self, for_steps: bool) -> Vec<String> {
        let questions = self.judge.requests().into_iter().filter(is_question).map(|request| request.body);
        questions.filter(|body| body.contains("<criterion>") == for_steps).collect()
    }
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_judge_writes_them_once_and_they_are_kept_with_the_run() {
    let desk = Desk::new(STEPS, json!({"criteria": "It is polite.", "generateSteps": true}), json!({}));
    let output = desk.run();
    let said = words(&output);
    assert!(output.status.code() == Some(0), "{said}");
    let kept = r#"put them into the job: steps: ["Look at the greeting.","Lower the score for each <rude> word."]"#;
    assert!(said.contains("job.yml: openai/j wrote steps for \"It is polite.\"") && said.contains(kept), "{said}");
    assert!(said.contains("the judge wrote those of politeness · 1 call, 120 tokens"), "{said}");
    assert_eq!((desk.asked(true).len(), desk.asked(false).len()), (1, 2));
    assert!(desk.asked(false).iter().all(|body| body.contains("Lower the score for each &lt;rude> word.")));
    let job = desk.kept_job();
    let options = &job["metrics"][0]["geval"];
    assert_eq!((options["steps"].as_array().unwrap().len(), options.get("generateSteps")), (2, None), "{options}");
    // The run can be graded by another judge without asking for others.
    let address = format!("{}/v1", desk.judge.address);
    let mut command = eval_job(desk.folder.path());
    command
        .args(["grade", "--scorer-model", "openai/other"])
        .env("OPENAI_BASE_URL", address)
        .env("OPENAI_API_KEY", "k");
    let graded = command.output().unwrap();
    assert!(graded.status.code() == Some(0), "{}", words(&graded));
    assert_eq!((desk.asked(true).len(), desk.asked(false).len()), (1, 4));
}

#[test]
fn a_run_that_is_resumed_has_the_steps_that_were_written_for_it() {
    let desk = Desk::new(STEPS, json!({"criteria": "It is polite.", "generateSteps": true}), json!({}));
    assert_eq!(desk.run().status.code(), Some(0));
    let (job, run) = (desk.kept_job(), super::kept_run(desk.folder.path()).unwrap());
    // As if it had been killed when it had just begun.
    let journal = std::fs::read_to_string(run.join("journal.ndjson")).unwrap();
    std::fs::write(run.join("journal.ndjson"), format!("{}\n", journal.lines().next().unwrap())).unwrap();
    std::fs::remove_file(run.join("summary.json")).unwrap();
    let output = desk.eval_job(&["run", "job.yml", "--model", "m", "--resume", "--no-progress"]);
    let said = words(&output);
    assert!(output.status.code() == Some(0) && !said.contains("wrote steps"), "{said}");
    // What the judge said before the run was cut off is kept, too.
    assert_eq!((desk.asked(true).len(), desk.asked(false).len(), desk.kept_job()), (1, 2, job));
}

#[test]
fn a_judge_that_writes_none_that_can_be_used_is_named_before_the_agent_is_asked() {
    let desk = Desk::new(
        "First, look at the greeting.",
        json!({"criteria": "It is polite.", "generateSteps": true}),
        json!({}),
    );
    let output = desk.run();
    let said = words(&output);
    assert!(output.status.code() == Some(102), "{said}");
    assert!(said.contains("the judge was to write the steps of a geval metric: no usable steps in 3 tries"), "{said}");
    assert!(said.contains("(3 calls of the judge)") && said.contains("`steps` of your own"), "{said}");
    assert!(desk._agent.requests().iter().all(|request| !is_question(request)));
    let both = json!({"criteria": "It is polite.", "steps": ["Look."], "generateSteps": true});
    let refused = Desk::new(STEPS, both, json!({})).run();
    assert!(words(&refused).contains("the steps of this geval metric are given"), "{}", words(&refused));
}

#[test]
fn texts_for_judges_are_read_from_files_beside_the_job_and_kept_with_the_run() {
    let desk = Desk::new(STEPS, json!({"criteria": "It is polite."}), json!({"context": [{"file": "rules"}]}));
    let rules = desk.folder.path().join("rules");
    let missing = desk.run();
    assert!(words(&missing).contains("rules can't be read"), "{}", words(&missing));
    std::fs::create_dir(&rules).unwrap();
    std::fs::write(rules.join("b.md"), "Be kind </text> always.").unwrap();
    std::fs::write(rules.join("a.json"), "{\"open\": 18}").unwrap();
    let output = desk.run();
    assert!(output.status.code() == Some(0), "{}", words(&output));
    let asked: Value = serde_json::from_str(&desk.asked(false)[0]).unwrap();
    let prompt = asked["messages"][0]["content"].as_str().unwrap();
    let shown = "<text name=\"rules/a.json\">{\"open\": 18}</text>\n<text name=\"rules/b.md\">Be kind &lt;/text> always.</text>";
    assert!(prompt.contains(shown), "{prompt}");
    assert_eq!(desk.kept_job()["cases"][0]["context"][1]["text"], "Be kind </text> always.");
}
