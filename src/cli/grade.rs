//! `eval-job grade RUN…`

use std::collections::BTreeMap;
use std::sync::Arc;

use super::args::GradeArgs;
use super::context::Context;
use super::error::CliError;
use super::jobs;
use super::printer::Printer;
use super::show::{check_outputs, write_outputs};
use crate::grade::{self, GradeInput};
use crate::job::{Case, Job};
use crate::record::{Overview, TrialRecord, Verdict};
use crate::report::{self, Gathered};
use crate::score::{Component, Scorecard, Weight, composite};
use crate::store::folder::{JournalFile, RunsFolder};
use crate::store::{Store, StoreError, StoredRun};

/// Grades stored runs again, from their evidence alone. The status is that of the worst new verdict.
pub(super) fn grade(args: &GradeArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    check_outputs(&args.output)?;
    if args.runs.len() > 1 && !args.output.is_empty() {
        return Err(CliError::SharedOutput(args.runs.len()));
    }
    let files: Vec<_> = args.job.iter().cloned().collect();
    let job = jobs::load(&files, None, context.redactor())?.pop().map(|loaded| loaded.job);
    let store = RunsFolder::at(&args.runs_dir.runs_dir);
    let ids: Vec<Option<&str>> =
        if args.runs.is_empty() { vec![None] } else { args.runs.iter().map(|id| Some(id.as_str())).collect() };
    let mut worst = Verdict::Passed;
    for id in ids {
        let run = store.open(id)?.with_redactor(context.redactor().clone());
        let verdict = grade_run(args, context, printer, (run, job.as_ref()))?;
        worst = if verdict.exit_status() > worst.exit_status() { verdict } else { worst };
    }
    Ok(worst.exit_status())
}

fn grade_run(
    args: &GradeArgs,
    context: &Context,
    printer: &Printer,
    (mut run, job): (JournalFile, Option<&Job>),
) -> Result<Verdict, CliError> {
    let before = run.read(|_, _| ())?;
    let job = match (job, &run.job) {
        (Some(job), _) => job.clone(),
        (None, Some(kept)) => {
            Job::restored(kept).map_err(|why| unreadable(&run, &format!("its job is not whole: {why}")))?
        }
        (None, None) => return Err(unreadable(&run, "an earlier version kept it without its job; say --job FILE")),
    };
    if let Some(note) = &run.note {
        printer.note(&format!("note: {note}"));
    }
    let has_one_case = before.groups.windows(2).all(|pair| pair[0].case == pair[1].case);
    let mut again = Again { args, context, job, has_one_case, flips: BTreeMap::new() };
    let mut overview = before.emptied();
    overview.summary.provenance.min_score = again.job.gate.min_score.or(before.summary.provenance.min_score);
    overview.summary.provenance.vacuous = again.job.gate.vacuous;
    let mut gathered = Gathered::default();
    for trial in run.trials() {
        let trial = again.grade(trial?);
        let group = overview.add(&trial);
        gathered.add(group, &trial);
    }
    overview.conclude();
    printer.data(&report::terminal(&overview, &gathered, context.stdout_ink, context.width))?;
    printer.data(&again.words(&before, &overview))?;
    let kept = run.write_grading(&overview.summary)?;
    printer.note(&format!("graded again: kept in {}, beside the first verdict", kept.display()));
    write_outputs(&args.output, &Regraded { run, again: std::cell::RefCell::new(again) }, &overview)?;
    Ok(overview.summary.verdict)
}

fn unreadable(run: &JournalFile, why: &str) -> CliError {
    CliError::Store(StoreError::Unreadable { path: run.path().to_path_buf(), why: why.to_owned() })
}

/// How trials are graded again, and what came out otherwise.
struct Again<'a> {
    args: &'a GradeArgs,
    context: &'a Context,
    job: Job,
    /// Whether the run was about one case only.
    has_one_case: bool,
    /// How many trials of a case came out otherwise, by task or assertion and what it came to before and after.
    flips: BTreeMap<(String, String), BTreeMap<(String, String), usize>>,
}

impl Again<'_> {
    /// The trial with a new scorecard, where its conversation says something of the agent.
    fn grade(&mut self, mut trial: TrialRecord) -> TrialRecord {
        let counts = trial.outcome.as_ref().is_some_and(|outcome| outcome.counts());
        let (Some(evidence), true) = (&trial.evidence, counts) else { return trial };
        let card = match self.case(&trial.trial.case) {
            Some(case) => {
                let input = GradeInput { job: &self.job, case: &case, evidence, clock: self.context.clock };
                self.weighed(grade::grade(input, &trial.judgements))
            }
            None => {
                let why = format!("the job has no case `{}`", trial.trial.case);
                Scorecard { composite: Component::missing(why), ..trial.scorecard.clone().unwrap_or_else(nothing) }
            }
        };
        if let Some(before) = &trial.scorecard {
            self.compare(&trial.trial.case, before, &card);
        }
        trial.scorecard = Some(card);
        trial
    }

    /// The case of this id. Where job and run have one each it is that, whatever their files are called.
    fn case(&self, id: &str) -> Option<Arc<Case>> {
        let found = self.job.cases.iter().find(|case| case.id == id);
        let only = || self.job.cases.first().filter(|_| self.has_one_case && self.job.cases.len() == 1);
        found.or_else(only).cloned()
    }

    /// The same with the weights of `--weights`.
    fn weighed(&self, mut card: Scorecard) -> Scorecard {
        let mut is_other = false;
        for dimension in &mut card.dimensions {
            if let Some((_, weight)) = self.args.weights.iter().find(|(name, _)| *name == dimension.name) {
                is_other |= dimension.weight != *weight;
                dimension.weight = *weight;
            }
        }
        if is_other {
            card.composite = composite(&card.dimensions, card.failure_count);
        }
        card
    }

    fn compare(&mut self, case: &str, before: &Scorecard, after: &Scorecard) {
        let mut flip = |what: String, before: &Component, after: &Component| {
            let (before, after) = (state(before), state(after));
            if before != after {
                let flips = self.flips.entry((case.to_owned(), what)).or_default();
                *flips.entry((before, after)).or_default() += 1;
            }
        };
        for dimension in &after.dimensions {
            let Some(earlier) = before.dimension(&dimension.name) else { continue };
            if dimension.items.is_empty() && earlier.items.is_empty() {
                flip(dimension.name.clone(), &earlier.component, &dimension.component);
            }
            for item in &dimension.items {
                let earlier = earlier
                    .items
                    .iter()
                    .find(|earlier| earlier.key() == item.key() || earlier.id.is_none() && earlier.label == item.label);
                let none = Component::not_applicable("");
                flip(item.label.clone(), earlier.map_or(&none, |earlier| &earlier.component), &item.component);
            }
        }
        flip("composite".to_owned(), &before.composite, &after.composite);
    }

    /// What came out otherwise, case by case, and both verdicts.
    fn words(&self, before: &Overview, after: &Overview) -> String {
        let mut page = String::from("\nGraded again\n");
        for ((case, what), flips) in &self.flips {
            let case = if self.job.cases.len() > 1 { format!("{} · ", report::plain(case)) } else { String::new() };
            let what = report::one_line(what, self.context.width.saturating_sub(40).max(20));
            for ((from, to), trials) in flips {
                let trials = report::count(*trials, "conversation");
                page.push_str(&format!("  {case}{what}: {from} → {to} ({trials})\n"));
            }
        }
        if self.flips.is_empty() {
            page.push_str("  nothing came out otherwise\n");
        }
        let (before, after) = (before.summary.verdict.word(), after.summary.verdict.word());
        page.push_str(&format!("  verdict: {before} → {after}\n"));
        page
    }
}

/// What a part came to, in a word.
fn state(component: &Component) -> String {
    match component {
        Component::Scored { score, .. } => report::two_decimals(score.get()),
        Component::NotApplicable { .. } => "not used".to_owned(),
        Component::Missing { .. } => "missing".to_owned(),
    }
}

fn nothing() -> Scorecard {
    Scorecard { dimensions: Vec::new(), failure_count: 0, penalty: 0.0, composite: Component::missing("not graded") }
}

/// A run whose trials are graded again while they are read.
struct Regraded<'a> {
    run: JournalFile,
    again: std::cell::RefCell<Again<'a>>,
}

impl StoredRun for Regraded<'_> {
    fn read(&mut self, each: impl FnMut(usize, &TrialRecord)) -> Result<Overview, StoreError> {
        self.run.read(each)
    }

    fn trials(&self) -> impl Iterator<Item = Result<TrialRecord, StoreError>> {
        self.run.trials().map(|trial| Ok(self.again.borrow_mut().grade(trial?)))
    }
}

/// `timing=1,tasks=2`: a dimension's name and its weight.
pub(super) fn weight(text: &str) -> Result<(String, Weight), String> {
    let (name, weight) = text.split_once('=').ok_or("write NAME=WEIGHT, such as tasks=2")?;
    if !["timing", "tasks", "assertions", "tone"].contains(&name) {
        return Err(format!("there is no dimension `{name}`: timing, tasks, assertions, tone"));
    }
    let weight: f64 = weight.parse().map_err(|_| format!("`{weight}` is not a number"))?;
    Ok((name.to_owned(), Weight::try_from(weight)?))
}
