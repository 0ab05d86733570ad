//! `eval-job generate`: a job made from what is known of an agent, to be reviewed before it is used.

use std::collections::BTreeSet;
use std::path::Path;

use super::args::GenerateArgs;
use super::context::Context;
use super::coverage::tools_of;
use super::datasets::NOBODY;
use super::error::{CliError, FileArgument};
use super::import::write_job;
use super::jobs;
use super::planning::personas;
use super::printer::Printer;
use super::prompts::PromptFiles;
use crate::generate::{Draft, Stories, StoryCheck, UserGoal, drafts, goals_of_tools, job_document, read_stories};
use crate::job::{self, TemplateCheck};
use crate::plan::Refusal;
use crate::report::{count, plain};
use crate::tool_list::Tool;

/// The chatbot of a job where no story names one.
const CHATBOT: &str = "agent";

/// The source of the cases.
struct CaseSources {
    tools: Vec<Tool>,
    goals: Vec<UserGoal>,
    agents: Vec<String>,
}

/// Writes a job.
pub(super) fn generate(args: &GenerateArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let place = args.output.clone().unwrap_or_default();
    // An unknown persona is reported before anything is read.
    let named = personas(&args.persona, &place.display().to_string(), args.prompts.as_deref());
    let named = named.map_err(|refusals| CliError::Unprepared(whole(refusals)))?;
    let named: Vec<String> = named.into_iter().map(|persona| persona.name).collect();
    let sources = CaseSources::read(args, &place)?;
    let drafts = drafts(&sources.goals, &named, args.cases as usize);
    let (target, reports_calls) = args.target.as_ref().unwrap_or(&NOBODY).job_target(sources.chatbot());
    let name = place.file_stem().map_or_else(|| "Generated".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let document = job_document(&name, &target, &drafts, reports_calls);
    let text = serde_saphyr::to_string(&document)
        .map_err(|error| CliError::Internal(format!("the cases can't be written as a job: {error}")))?;
    let text = context.redactor().redact(&format!("{}{text}", comment(args))).into_owned();
    let files = PromptFiles::for_job(&place, args.prompts.as_deref());
    job::load(&place.display().to_string(), &text, &files).map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
    match &args.output {
        None => printer.data(&text)?,
        Some(path) => {
            write_job(path, &text, "what is generated")?;
            printer.note(&format!("wrote {} ({})", plain(&path.display().to_string()), count(drafts.len(), "case")));
        }
    }
    for note in notes(args, &sources, &drafts, reports_calls) {
        printer.note(&format!("note: {note}"));
    }
    Ok(0)
}

/// All that is wrong, in one.
fn whole(refusals: Vec<Refusal>) -> Refusal {
    let help = refusals.first().map_or_else(String::new, |first| first.help.clone());
    Refusal::new(refusals.into_iter().map(|refusal| refusal.what).collect::<Vec<_>>().join("; "), help)
}

impl CaseSources {
    fn read(args: &GenerateArgs, place: &Path) -> Result<CaseSources, CliError> {
        let mut tools: Vec<Tool> = Vec::new();
        for path in &args.tools {
            for tool in tools_of(path, "eval-job generate --tools")? {
                if !tools.iter().any(|known| known.name == tool.name) {
                    tools.push(tool);
                }
            }
        }
        let stories = match &args.stories {
            Some(path) => stories(path, &tools, args, place)?,
            None => Stories { goals: Vec::new(), agents: Vec::new() },
        };
        let goals = stories.goals.into_iter().chain(goals_of_tools(&tools)).collect();
        Ok(CaseSources { tools, goals, agents: stories.agents })
    }

    fn chatbot(&self) -> &str {
        self.agents.iter().find(|agent| !agent.is_empty()).map_or(CHATBOT, String::as_str)
    }
}

fn stories(path: &Path, tools: &[Tool], args: &GenerateArgs, place: &Path) -> Result<Stories, CliError> {
    let argument = FileArgument { before: "eval-job generate --stories", kind: "table of stories" };
    let unreadable = |source| CliError::Unreadable { path: path.to_path_buf(), source, argument };
    let text = jobs::text(path).map_err(unreadable)?;
    let files = PromptFiles::for_job(place, args.prompts.as_deref());
    let persona_problem = |name: &str| files.persona(name).err().map(|problem| problem.message);
    let check = StoryCheck { tools, persona_problem: &persona_problem };
    read_stories(&path.display().to_string(), &text, &check).map_err(|problems| CliError::InvalidJobs(vec![problems]))
}

/// The first lines of the job.
fn comment(args: &GenerateArgs) -> String {
    let files = args.tools.iter().chain(&args.stories).map(|path| path.display().to_string());
    let files = plain(&files.collect::<Vec<_>>().join(", ")).replace('\n', " ");
    format!(
        "# Generated from {files}: review it before you use it. Are these the wishes of your users, are the facts plausible, and\n\
         # is what is expected right? What stands there as an \"example\" is to be replaced.\n"
    )
}

/// Notes for the reviewer of the job.
fn notes(args: &GenerateArgs, sources: &CaseSources, drafts: &[Draft], reports_calls: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if drafts.len() < args.cases as usize {
        let differ =
            if drafts.len() == 1 { "there is no second case that differs" } else { "no more differ from each other" };
        notes.push(format!(
            "{} of {}: {differ}; more kinds of users (--persona) or more stories make more",
            count(drafts.len(), "case"),
            args.cases
        ));
    }
    let called: BTreeSet<&str> = drafts.iter().flat_map(Draft::calls).map(|call| call.tool.as_str()).collect();
    let left = sources.tools.iter().filter(|tool| !called.contains(tool.name.as_str())).count();
    if left > 0 {
        notes.push(format!("{} in no case; -n {} has them all", count(left, "tool"), sources.goals.len()));
    }
    if !called.is_empty() && !reports_calls {
        notes.push("this target does not report calls of tools: none are expected".to_owned());
    }
    if sources.agents.iter().filter(|agent| !agent.is_empty()).count() > 1 {
        let others = "a job talks with one agent: those that other stories name are left out";
        notes.push(format!("{others}; its chatbot is `{}`", plain(sources.chatbot())));
    }
    if args.target.is_none() {
        notes.push(
            "without --target nothing says where the agent is: write the job's `target` before it is run".to_owned(),
        );
    }
    notes
}
