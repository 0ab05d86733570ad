//! The files that a job names. Templates beside it, or in `--prompts DIR`, take precedence over the embedded ones.

use std::cell::RefCell;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::context_files;
use crate::job::{
    ContextFileError, ContextText, PromptRole, TemplateCheck, TemplatePlace, TemplateProblem, UserPersona,
};
use crate::prompt::{self, PromptError, PromptPlace, Templates};

/// The templates that a job can name, read from files when it does.
pub(super) struct PromptFiles {
    /// The job's.
    folder: PathBuf,
    /// The folders of templates; the first has precedence.
    folders: Vec<PathBuf>,
    templates: RefCell<Templates>,
    /// What is wrong with those that were checked, by their uses.
    checked: RefCell<Vec<(String, PromptRole, Option<TemplateProblem>)>>,
}

/// A template file can't be read.
#[derive(Debug, thiserror::Error)]
#[error("the template {} can't be read: {source}", path.display())]
struct UnreadableTemplate {
    path: PathBuf,
    source: std::io::Error,
}

impl PromptFiles {
    /// The templates for the job at this path: `--prompts DIR` first, then `prompts/` beside the job.
    pub(super) fn for_job(job: &Path, prompts: Option<&Path>) -> PromptFiles {
        let folder = job.parent().unwrap_or(Path::new("")).to_path_buf();
        let folders = prompts.map(Path::to_path_buf).into_iter().chain([folder.join("prompts")]).collect();
        PromptFiles { folder, folders, templates: RefCell::new(Templates::embedded()), checked: RefCell::default() }
    }

    /// The templates that the job names, with the embedded ones.
    pub(super) fn into_templates(self) -> Templates {
        self.templates.into_inner()
    }

    /// The same of what was named so far.
    pub(super) fn templates(&self) -> Templates {
        self.templates.borrow().clone()
    }

    /// What is wrong with a template that was not checked before.
    fn new_problem(&self, name: &str, kind: PromptRole) -> Option<TemplateProblem> {
        if !Path::new(name).components().all(|part| matches!(part, Component::Normal(_))) {
            let message = format!(
                "`{name}` is not a template's name: it is a path below the prompts folder, such as eval/socrates"
            );
            return Some(message.into());
        }
        match self.read(name) {
            Some(Ok((path, text))) => {
                let file = path.display().to_string();
                self.templates.replace_with(|templates| templates.clone().with_file(name, text, file));
            }
            Some(Err(error)) => return Some(error.to_string().into()),
            None => {}
        }
        let kind = match kind {
            PromptRole::Persona => prompt::TemplateKind::Persona,
            PromptRole::PersonaWithPlan => prompt::TemplateKind::PersonaWithPlan,
            PromptRole::Judge => prompt::TemplateKind::Judge,
        };
        let PromptError { message, place } = self.templates.borrow().check(name, kind)?;
        let place = place.map(|PromptPlace { file, line, column, width, source_line }| TemplatePlace {
            file,
            line,
            column,
            width,
            source_line,
        });
        Some(TemplateProblem { message, place })
    }

    /// The first file of this name, if there is one, and its text.
    fn read(&self, name: &str) -> Option<Result<(PathBuf, String), UnreadableTemplate>> {
        let file = format!("{name}.jinja");
        self.folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file()).map(|path| {
            match fs::read_to_string(&path) {
                Ok(text) => Ok((path, text)),
                Err(source) => Err(UnreadableTemplate { path, source }),
            }
        })
    }
}

impl TemplateCheck for PromptFiles {
    fn context(&self, path: &str) -> Result<Vec<ContextText>, ContextFileError> {
        context_files::read(&self.folder, path)
    }

    fn persona(&self, name: &str) -> Result<UserPersona, TemplateProblem> {
        let is_name = !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let of_one = |folder: &PathBuf| folder.join("personas").join(format!("{name}.yml"));
        match self.folders.iter().map(of_one).find(|path| is_name && path.is_file()) {
            None => UserPersona::shipped(name),
            Some(path) => match fs::read_to_string(&path) {
                Ok(text) => UserPersona::read(name, &path.display().to_string(), &text),
                Err(source) => Err(format!("the persona {} can't be read: {source}", path.display()).into()),
            },
        }
    }

    fn problem(&self, name: &str, kind: PromptRole) -> Option<TemplateProblem> {
        let known = self.checked.borrow().iter().find(|(known, role, _)| known == name && *role == kind).cloned();
        if let Some((.., problem)) = known {
            return problem;
        }
        let problem = self.new_problem(name, kind);
        self.checked.borrow_mut().push((name.to_owned(), kind, problem.clone()));
        problem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_that_was_checked_before_has_the_same_problem() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("prompts/eval/own.jinja");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "{{ singoff }}").unwrap();
        let files = PromptFiles::for_job(&folder.path().join("job.yml"), None);
        let problem = files.problem("eval/own", PromptRole::Persona);
        assert!(problem.as_ref().is_some_and(|it| it.message.contains("singoff")), "{problem:?}");
        fs::remove_file(&file).unwrap();
        assert_eq!(files.problem("eval/own", PromptRole::Persona), problem, "it is not read again");
        let as_judge = files.problem("eval/own", PromptRole::Judge);
        assert_ne!(as_judge, problem, "another use is another matter");
        assert_eq!(files.problem("eval/score", PromptRole::Judge), None);
    }
}
