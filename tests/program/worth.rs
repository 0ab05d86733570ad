//! An agent whose replies are worth what its model can do, and a job that looks at nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{eval_job, words};
use crate::servers::http::{Reply, Server};

/// So many cases the job has.
pub const CASES: u32 = 30;

/// The agent, and the folder with the job.
pub struct Desk {
    pub folder: tempfile::TempDir,
    agent: Server,
    skills: Arc<Mutex<Vec<(&'static str, f64)>>>,
}

impl Desk {
    /// `skills`: what each model's replies are worth on average.
    pub fn new(skills: &[(&'static str, f64)]) -> Desk {
        let skills = Arc::new(Mutex::new(skills.to_vec()));
        let known = skills.clone();
        // How often each model was asked in each case: what chance adds is the same, whoever is asked first.
        let asked_before = Arc::new(Mutex::new(BTreeMap::<(u32, u32), u32>::new()));
        let agent = Server::start(move |request| {
            let asked = request.json();
            let known = known.lock().unwrap().clone();
            let model = known.iter().position(|(model, _)| asked["model"] == *model);
            let skill = model.map_or(0.5, |model| known[model].1);
            let case: u32 = asked["say"].as_str().unwrap().parse().unwrap();
            let model = model.map_or(9, |model| u32::try_from(model).unwrap());
            let nth = {
                let mut asked_before = asked_before.lock().unwrap();
                let nth = asked_before.entry((model, case)).or_default();
                *nth += 1;
                *nth
            };
            let mut chance =
                fastrand::Rng::with_seed((u64::from(model) * 1000 + u64::from(case)) * 1000 + u64::from(nth));
            // Neighbouring numbers begin with draws that are alike.
            let wobble = (0..8).map(|_| chance.f64()).last().unwrap_or_default() * 0.2 - 0.1;
            let worth = skill + (f64::from(case) / f64::from(CASES) - 0.5) * 0.4 + wobble;
            Reply::Json(200, json!({"reply": format!("{:.4}", worth.clamp(0.0, 1.0))}))
        });
        let desk = Desk { folder: tempfile::tempdir().unwrap(), agent, skills };
        desk.write("job.yml", &desk.job(CASES));
        desk
    }

    /// From now on a model's replies are worth this on average.
    pub fn becomes(&self, model: &str, skill: f64) {
        let mut skills = self.skills.lock().unwrap();
        skills.iter_mut().filter(|(known, _)| *known == model).for_each(|(_, known)| *known = skill);
    }

    pub fn job(&self, cases: u32) -> String {
        let cases: String = (0..cases).map(|case| format!("  - {{id: c{case}, script: ['{case}']}}\n")).collect();
        format!(
            "name: Worth\ntarget:\n  user: u\n  chatbot: c\n  http:\n    say:\n      url: {}/say\n      \
             body: {{say: '{{{{ message }}}}', model: '{{{{ model }}}}'}}\n      reply: $.reply\n\
             greetings: []\nmetrics: [{{name: worth, rhai: parse_float(reply)}}]\ncases:\n{cases}",
            self.agent.address
        )
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub fn typed(&self, line: &str) -> (i32, String) {
        let output = eval_job(self.folder.path()).args(line.split(' ')).output().unwrap();
        (output.status.code().unwrap(), words(&output))
    }

    /// Holds the job and returns the run's id.
    pub fn night(&self, flags: &str) -> String {
        let (status, told) = self.typed(&format!("run job.yml --no-progress --rng-seed 5 {flags}"));
        assert_eq!(status, 0, "{told}");
        let listed: Value = serde_json::from_str(&self.typed("list --json").1).unwrap();
        listed.as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned()
    }

    pub fn compared(&self, runs: &str) -> (i32, Value) {
        let output = eval_job(self.folder.path()).args(["compare", "--json"]).args(runs.split(' ')).output().unwrap();
        (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap_or_default())
    }
}
