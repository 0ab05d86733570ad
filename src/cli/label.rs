//! `eval-job label [RUN]`: a person's verdicts, each before they see the judge's.

use std::collections::{BTreeSet, HashMap};
use std::io::BufRead;

use sha2::{Digest, Sha256};

use super::args::{LabelArgs, runs_dir_flag};
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use super::stored::StoredCases;
use super::team;
use crate::calibration::{judged_card, judged_parts, part_key};
use crate::job::{Case, Job};
use crate::metric::MetricKind;
use crate::plan::Refusal;
use crate::record::{LABEL_VERSION, Label, LabelVerdict, Overview, TrialRecord};
use crate::report::{self, count, plain, two_decimals};
use crate::score::{Dimension, Item};
use crate::store::folder::{JournalFile, RunsFolder};
use crate::store::{Store, StoredRun};

/// How many questions are read from the run at once.
const CHUNK: usize = 20;

/// Whether a judge gives the scores of a metric of this name.
pub(super) fn is_judged(metric: &str) -> bool {
    MetricKind::ALL.iter().any(|kind| kind.as_str() == metric && kind.asks_judge())
}

/// Something to ask: the trial's number, the dimension, and the place among its judged parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct LabelItem {
    trial: u32,
    metric: String,
    place: usize,
}

/// Asks a person about what the judge of a run decided, in an order that is drawn by lot.
pub(super) fn label(args: &LabelArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    team::bring(&[args.run.as_deref()], &args.runs.runs_dir, context, printer)?;
    let mut run =
        RunsFolder::at(&args.runs.runs_dir).open(args.run.as_deref())?.with_redactor(context.redactor().clone());
    if args.by.trim().is_empty() || args.by.chars().any(char::is_control) {
        return Err(CliError::Unprepared(Refusal::new("--by needs a name on one line", "--by Ann")));
    }
    let known = run.labels()?;
    let own: Vec<&Label> = known.iter().filter(|label| label.by == args.by).collect();
    let (mut all, mut metrics, mut done) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let overview = run.read(|_, trial| {
        for dimension in judged(trial) {
            metrics.insert(dimension.name.clone());
            let parts = judged_parts(dimension);
            for (place, (item, _)) in parts.iter().enumerate() {
                let asked = LabelItem { trial: trial.trial.number, metric: dimension.name.clone(), place };
                let (key, turn) = (part_key(&parts, place), item.and_then(|item| item.turn));
                if own.iter().any(|it| it.is_about(trial.trial.number, &dimension.name, key.as_deref(), turn)) {
                    done.insert(asked.clone());
                }
                all.push(asked);
            }
        }
    })?;
    if metrics.is_empty() {
        return Err(CliError::NothingJudged);
    }
    if let Some(metric) = args.metric.as_ref().filter(|metric| !metrics.contains(*metric)) {
        return Err(CliError::NotJudged { metric: metric.clone(), judged: metrics.into_iter().collect() });
    }
    for note in run.note.iter().chain(&run.damaged_labels) {
        printer.note(&format!("note: {note}"));
    }
    // In the same order for everybody and every time, so that people are asked the same and can go on.
    all.sort();
    fastrand::Rng::with_seed(seed(&overview.summary.id)).shuffle(&mut all);
    let is_selected = |asked: &LabelItem| args.metric.as_ref().is_none_or(|metric| *metric == asked.metric);
    let done_of_these = done.iter().filter(|asked| is_selected(asked)).count();
    all.retain(|asked| is_selected(asked) && !done.contains(asked));
    all.truncate(args.sample.map_or(usize::MAX, |sample| sample as usize));
    let by = plain(&args.by);
    if all.is_empty() {
        printer.note(&format!("{by} has labelled all {}", count(done_of_these, "part")));
        return Ok(0);
    }
    let earlier = if done_of_these > 0 { format!(", beside {done_of_these} from before") } else { String::new() };
    printer.note(&format!(
        "{} for {by}{earlier}. Each answer is kept at once; whatever you stop at, they are a random part of all",
        count(all.len(), "question")
    ));
    let cases = run.job.as_ref().and_then(|job| Job::restored(job).ok()).map(|job| StoredCases::new(&job));
    let asking = LabelPrompt {
        by: &args.by,
        context,
        printer,
        run: &run,
        overview: &overview,
        cases: cases.unwrap_or_default(),
    };
    let answered = asking.ask(&all)?;
    let way = format!("eval-job calibrate {}{}", overview.summary.id, runs_dir_flag(&args.runs.runs_dir));
    printer.note(&format!("{} kept; what they say of the judge: {way}", count(answered, "answer")));
    Ok(0)
}

/// The dimensions of a trial that a judge scored.
fn judged(trial: &TrialRecord) -> impl Iterator<Item = &Dimension> {
    let dimensions = judged_card(trial).into_iter().flat_map(|card| &card.dimensions);
    dimensions.filter(|dimension| is_judged(dimension.metric()))
}

/// A number that is the run's own.
fn seed(id: &str) -> u64 {
    Sha256::digest(id.as_bytes()).iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

/// The state of asking a person.
struct LabelPrompt<'a> {
    by: &'a str,
    context: &'a Context,
    printer: &'a Printer,
    run: &'a JournalFile,
    overview: &'a Overview,
    cases: StoredCases,
}

/// A person's answer.
enum LabelAnswer {
    Verdict(LabelVerdict),
    Skip,
    Quit,
}

impl LabelPrompt<'_> {
    /// Asks one after the other; returns how many were answered.
    fn ask(&self, all: &[LabelItem]) -> Result<usize, CliError> {
        let mut answered = 0;
        let mut lines = std::io::stdin().lock().lines();
        for (chunk, first) in all.chunks(CHUNK).zip((0..).step_by(CHUNK)) {
            let numbers: BTreeSet<u32> = chunk.iter().map(|asked| asked.trial).collect();
            let mut trials: HashMap<u32, TrialRecord> = HashMap::new();
            for trial in self.run.trials() {
                let trial = trial?;
                if numbers.contains(&trial.trial.number) {
                    trials.insert(trial.trial.number, trial);
                }
            }
            for (asked, number) in chunk.iter().zip(first + 1..) {
                let Some(trial) = trials.get(&asked.trial) else { continue };
                let Some(dimension) = judged(trial).find(|dimension| dimension.name == asked.metric) else { continue };
                let parts = judged_parts(dimension);
                let Some(&(item, score)) = parts.get(asked.place) else { continue };
                self.show(trial, dimension, item, &format!("{number} of {}:", all.len()));
                let verdict = match self.answer(&mut lines) {
                    LabelAnswer::Verdict(verdict) => verdict,
                    LabelAnswer::Skip => continue,
                    LabelAnswer::Quit => return Ok(answered),
                };
                self.run.add_label(&Label {
                    version: LABEL_VERSION,
                    at: self.context.clock.wall(),
                    by: self.by.to_owned(),
                    trial: trial.trial.clone(),
                    metric: dimension.name.clone(),
                    item: part_key(&parts, asked.place),
                    turn: item.and_then(|item| item.turn),
                    verdict,
                })?;
                answered += 1;
                let passes = if dimension.pass_line().is_met(score) { "yes" } else { "no" };
                let why = item.map_or(&dimension.component, |item| &item.component).why();
                self.printer.sentences(&format!("the judge: {passes}, {} · {}", two_decimals(score.get()), plain(why)));
            }
        }
        Ok(answered)
    }

    /// Shows the conversation, and the question about it after its `place` among all.
    fn show(&self, trial: &TrialRecord, dimension: &Dimension, item: Option<&Item>, place: &str) {
        let ink = self.context.stderr_ink;
        self.printer.lines(
            &format!("\n{}", report::conversation(self.overview, trial, ink, report::PromptLength::Folded).trim_end()),
            3,
        );
        if let Some(case) = self.cases.case(trial) {
            for (heading, texts) in judge_knows(&case, trial) {
                self.printer.sentences(&format!("\n{}", ink.bold(heading)));
                texts.iter().for_each(|text| self.printer.lines(&format!("   {}", plain(text)), 3));
            }
        }
        let question = question(dimension, item, self.cases.case(trial).as_deref());
        self.printer.sentences(&format!("\n{} {question}", ink.bold(place)));
    }

    fn answer(&self, lines: &mut impl Iterator<Item = std::io::Result<String>>) -> LabelAnswer {
        loop {
            self.printer.note("[y]es  [n]o  [u]nclear  [s]kip  [q]uit");
            let Some(Ok(line)) = lines.next() else { return LabelAnswer::Quit };
            return match line.trim().to_lowercase().as_str() {
                "y" | "yes" => LabelAnswer::Verdict(LabelVerdict::Yes),
                "n" | "no" => LabelAnswer::Verdict(LabelVerdict::No),
                "u" | "unclear" => LabelAnswer::Verdict(LabelVerdict::Unclear),
                "s" | "skip" => LabelAnswer::Skip,
                "q" | "quit" => LabelAnswer::Quit,
                _ => continue,
            };
        }
    }
}

/// What the judge was shown beside the conversation: the facts, whether the user knew them, and the texts for judges.
fn judge_knows(case: &Case, trial: &TrialRecord) -> Vec<(&'static str, Vec<String>)> {
    let is_known = !case.facts_known(trial.trial.condition).is_empty();
    let facts = if is_known { "facts, which the user knew:" } else { "facts, which the user did not know:" };
    let turns = trial.evidence.iter().flat_map(|evidence| &evidence.transcript.turns);
    let of_turns = turns.flat_map(|turn| &turn.context).map(|it| (it.name.as_str(), it.text.as_str()));
    let mut texts: Vec<String> = Vec::new();
    for (name, text) in case.context.iter().map(|it| (it.name.as_str(), it.text.as_str())).chain(of_turns) {
        let shown = format!("{name}: {text}");
        if !texts.contains(&shown) {
            texts.push(shown);
        }
    }
    let known = [(facts, case.facts.clone()), ("context:", texts)];
    known.into_iter().filter(|(_, texts)| !texts.is_empty()).collect()
}

/// The question to a person about a part.
fn question(dimension: &Dimension, item: Option<&Item>, case: Option<&Case>) -> String {
    let label = item.map(|item| plain(&item.label)).unwrap_or_default();
    let turn = item.and_then(|item| item.turn).map(|turn| format!(" (turn {turn})")).unwrap_or_default();
    let name = plain(&dimension.name);
    match dimension.metric() {
        "tasks" => {
            let task =
                case.and_then(|case| case.tasks.iter().find(|task| task.task == item.map_or("", |it| &it.label)));
            let criteria = task.map(|task| format!("\ndone when: {}", plain(&task.acceptance_criteria)));
            format!("{label}{}\nwas it done well?", criteria.unwrap_or_default())
        }
        "tone" => "was the agent's tone good?".to_owned(),
        "turnRelevancy" => format!("{label}{turn}\nis it relevant?"),
        "simulatedUser" => format!("{label}{turn}\ndoes the user keep to their part?"),
        "roleAdherence" => format!("{label}{turn}\ndoes it keep to the agent's role?"),
        "completeness" => format!("what the user wanted: {label}\nwas it met?"),
        "hallucination" => {
            format!("\"{label}\"{turn}\nis it supported by the user's words, tool results, facts or context?")
        }
        "finalResponse" => format!("{label}{turn}\nis the reply as good?"),
        "geval" => format!("{name}: {label}\nis it met well enough to pass?"),
        _ => format!("{name}: {label}{turn}\ndoes it hold?"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{Condition, TrialId};

    #[test]
    fn a_person_sees_the_facts_that_the_judge_saw_and_whether_the_user_knew_them() {
        let job = json!({"name": "j", "target": {"user": "u", "chatbot": "c"}, "facts": ["It is Ann."],
                         "context": [{"name": "rules.md", "text": "No refunds."}],
                         "tasks": [{"task": "t", "acceptanceCriteria": "a"}]});
        let case = Job::restored(&job).unwrap().cases[0].clone();
        let shown = |condition| {
            let (case_id, model) = (case.id.clone(), "m".to_owned());
            let id = TrialId { number: 1, case: case_id, model, condition, repeat: 1 };
            judge_knows(&case, &TrialRecord::planned(id))
        };
        let context = ("context:", vec!["rules.md: No refunds.".to_owned()]);
        let facts = |heading| (heading, vec!["It is Ann.".to_owned()]);
        assert_eq!(shown(Condition::WithFacts), [facts("facts, which the user knew:"), context.clone()]);
        assert_eq!(shown(Condition::WithoutFacts), [facts("facts, which the user did not know:"), context]);
    }
}
