//! HTML: one file with everything in it, for a browser without a network and without scripts.
//!
//! Invariants: all texts pass through [`plain`](super::plain) and are escaped by the templates; the page forbids scripts and
//! anything from elsewhere by its own policy (CSP), so that a text that were markup would still do nothing; it reads from top
//! to bottom without sight, colours or a mouse.

mod chart;
mod run;
mod settings;
mod tokens;
mod style;
mod trial;

use std::collections::BTreeMap;
use std::io::Write;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;

use super::format::{DocumentResult, WrittenRun};
use super::jobs::verdict_counts;
use super::{count, plain};
use crate::record::DocumentError;
use run::{Gathering, JobView, RunView};
use trial::TrialView;

/// Conversations have so much room in the page: those that lost something all of it, all others a part.
const ROOM: usize = 24 << 20;
const ROOM_OF_OTHERS: usize = 8 << 20;
/// Lines of conversations without their words have so much: after that they are counted.
const ROOM_OF_LINES: usize = 40 << 20;

/// Writes a page about these runs.
pub(super) fn write<E>(runs: &[WrittenRun<'_, E>], to: &mut dyn Write) -> DocumentResult<E> {
    let page = PageTemplates::new();
    let mut put = |text: String| to.write_all(text.as_bytes()).map_err(DocumentError::Write);
    let jobs: Vec<JobView> = runs.iter().map(|run| JobView::new(run.overview)).collect();
    let head = PageHead { title: title(runs), digest: style::digest(), style: style::STYLE, runs: &jobs };
    put(page.render("head.html", &head)?)?;
    for (run, number) in runs.iter().zip(1..) {
        write_run(&page, run, number, runs.len() > 1, &mut put)?;
    }
    put("</main>\n<footer><p>Written by eval-job. This file loads nothing from anywhere.</p></footer>\n</body>\n</html>\n".to_owned())?;
    to.flush().map_err(DocumentError::Write)
}

fn write_run<E>(
    page: &PageTemplates,
    run: &WrittenRun<'_, E>,
    number: usize,
    is_one_of_several: bool,
    put: &mut impl FnMut(String) -> DocumentResult<E>,
) -> DocumentResult<E> {
    // Once for what stands above the conversations, once for themselves.
    let mut gathering = Gathering::default();
    for trial in (run.trials)() {
        gathering.add(&trial.map_err(DocumentError::Read)?, run.overview, number);
    }
    put(page.render("run.html", &RunView::new(run.overview, gathering, number, is_one_of_several))?)?;
    // In the order of their first conversations; a conversation is a text of its own, for a longer one would be copied to grow.
    let mut cases: Vec<(String, Vec<Box<str>>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut room = SpaceBudget::default();
    for trial in (run.trials)() {
        let trial = (run.with_prompts)(trial.map_err(DocumentError::Read)?);
        let mut view = TrialView::new(&trial, run.overview, number);
        let mut text = page.render("trial.html", &view)?;
        if !room.has_for(&text, view.has_lost) {
            view.leave_out(&run.overview.summary.id);
            text = page.render("trial.html", &view)?;
            if !room.has_for_line(&text) {
                continue;
            }
        }
        let place = *places.entry(trial.trial.case.clone()).or_insert(cases.len());
        if place == cases.len() {
            cases.push((plain(&trial.trial.case), Vec::new()));
        }
        cases[place].1.push(text.into_boxed_str());
    }
    for (place, (name, trials)) in cases.into_iter().enumerate() {
        put(page.render("case.html", &CaseView { anchor: format!("r{number}-c{place}"), name })?)?;
        for trial in trials {
            put(trial.into_string())?;
        }
        put("</section>\n".to_owned())?;
    }
    if room.not_listed > 0 {
        let words = count(room.not_listed, "conversation");
        put(format!("<p class=\"card\">{words} more have no room in this page: they are in the record.</p>\n"))?;
    }
    put(page.render("run-end.html", &settings::RunSettings::new(run.overview, is_one_of_several))?)
}

/// The room that is left for conversations.
struct SpaceBudget {
    all: usize,
    others: usize,
    lines: usize,
    not_listed: usize,
}

impl Default for SpaceBudget {
    fn default() -> SpaceBudget {
        SpaceBudget { all: ROOM, others: ROOM_OF_OTHERS, lines: ROOM_OF_LINES, not_listed: 0 }
    }
}

impl SpaceBudget {
    fn has_for(&mut self, text: &str, has_lost: bool) -> bool {
        let room = if has_lost { &mut self.all } else { &mut self.others };
        let has_room = text.len() <= *room;
        *room = room.saturating_sub(if has_room { text.len() } else { 0 });
        has_room
    }

    fn has_for_line(&mut self, text: &str) -> bool {
        let has_room = text.len() <= self.lines;
        self.lines = self.lines.saturating_sub(text.len());
        self.not_listed += usize::from(!has_room);
        has_room
    }
}

/// The head of the page.
#[derive(Serialize)]
struct PageHead<'a> {
    title: String,
    digest: String,
    style: &'a str,
    runs: &'a [JobView],
}

/// The beginning of a case, whose conversations follow.
#[derive(Serialize)]
struct CaseView {
    anchor: String,
    name: String,
}

fn title<E>(runs: &[WrittenRun<'_, E>]) -> String {
    if let [only] = runs {
        let summary = &only.overview.summary;
        return format!("{}: {}", plain(&summary.provenance.job), summary.verdict_label());
    }
    let counts = verdict_counts(runs.iter().map(|run| &run.overview.summary));
    counts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

/// The templates of the page.
struct PageTemplates(Environment<'static>);

impl PageTemplates {
    fn new() -> PageTemplates {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        for (name, text) in [
            ("head.html", include_str!("head.html")),
            ("chart.html", include_str!("chart.html")),
            ("run.html", include_str!("run.html")),
            ("case.html", include_str!("case.html")),
            ("trial.html", include_str!("trial.html")),
            ("run-end.html", include_str!("run-end.html")),
        ] {
            // They are tested; one that is not there can't be rendered, and says so.
            let _ = environment.add_template(name, text);
        }
        PageTemplates(environment)
    }

    fn render<E>(&self, name: &str, view: &impl Serialize) -> Result<String, DocumentError<E>> {
        let rendered = self.0.get_template(name).and_then(|template| template.render(Value::from(Serde(view))));
        rendered.map_err(|error| DocumentError::Write(std::io::Error::other(format!("{error:#}"))))
    }
}

#[cfg(test)]
mod tests;
