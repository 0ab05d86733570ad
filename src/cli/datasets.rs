//! Other systems' evaluation files on the command line: as jobs that are run at once, or written as job files.

use std::path::Path;
use std::str::FromStr;

use serde_json::{Map, Value};

use super::args::{DataArgs, ReadingArgs};
use super::context::Context;
use super::error::CliError;
use super::jobs::{self, Loaded};
use super::planning::LoadArgs;
use super::prompts::PromptFiles;
use crate::agent::Ability;
use crate::dataset::{self, DiskFiles, LowerOptions, OpenOptions, Purpose, System};
use crate::job;
use crate::plan::Refusal;
use crate::report::plain;
use crate::secret::Secret;
use crate::text::nearest;

/// How the agent is reached that the cases of a data file are run with: `adk=http://localhost:8000`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TargetArg {
    key: &'static str,
    address: Option<String>,
    /// The app or agent there, instead of the one that the file names.
    app: Option<String>,
    /// The working folder of a command that was typed, where it is run at once.
    folder: Option<String>,
}

/// The transports that need no more than an address, the key of that, and the key of an app's or agent's name.
const TRANSPORTS: [(&str, &str, &str); 9] = [
    ("adk", "baseUrl", "app"),
    ("trpc", "baseUrl", "app"),
    ("watsonx", "baseUrl", "agent"),
    ("a2a", "baseUrl", ""),
    ("embabel", "baseUrl", ""),
    ("openai", "baseUrl", ""),
    ("responses", "baseUrl", ""),
    ("command", "command", ""),
    ("demo", "", ""),
];

/// A target that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct TargetError(String);

impl FromStr for TargetArg {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<TargetArg, TargetError> {
        let (name, rest) = text.split_once('=').map_or((text, None), |(name, rest)| (name, Some(rest)));
        // `adk,app=NAME`: the app at the default address.
        let (name, rest) = match name.split_once(',') {
            Some((name, _)) => (name, text.split_once(',').map(|(_, rest)| format!(",{rest}"))),
            None => (name, rest.map(str::to_owned)),
        };
        let names = || TRANSPORTS.iter().map(|(key, ..)| *key);
        let Some((key, of_address, of_app)) = TRANSPORTS.iter().find(|(key, ..)| *key == name.trim()) else {
            let near = nearest(name, names()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let known = names().collect::<Vec<_>>().join(", ");
            let what = format!(
                "there is no target `{name}` that an address is enough for: {known}{near}; for another one, import the file \
                 and write its target into the job"
            );
            return Err(TargetError(what));
        };
        let (address, app) = match rest.as_deref().filter(|_| *key != "command") {
            None => (rest.as_deref(), None),
            Some(rest) => with_app(key, of_app, rest)?,
        };
        match address.map(str::trim) {
            Some("") if app.is_none() => Err(TargetError(format!("`{key}=` has no address behind it"))),
            Some(_) if of_address.is_empty() => Err(TargetError(format!("`{key}` takes no address"))),
            Some(address) if *of_address == "baseUrl" && !is_http(address) => {
                Err(TargetError(format!("an address begins with http:// or https://, as in {key}=http://{address}")))
            }
            None if *of_address == "command" => Err(TargetError("write command=PROGRAM".to_owned())),
            address => {
                let address = address.filter(|address| !address.is_empty()).map(str::to_owned);
                Ok(TargetArg { key, address, app: app.map(str::to_owned), folder: None })
            }
        }
    }
}

/// Whether an address says how it is reached; a template of the environment is read later.
fn is_http(address: &str) -> bool {
    let is_scheme = |scheme: &str| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    address.is_empty() || address.contains("${") || is_scheme("http://") || is_scheme("https://")
}

/// The address, and the name behind `,app=` or `,agent=`.
fn with_app<'a>(key: &str, of_app: &str, rest: &'a str) -> Result<(Option<&'a str>, Option<&'a str>), TargetError> {
    let found = ["app", "agent"].iter().find_map(|word| {
        let at = rest.find(&format!(",{word}="))?;
        Some((*word, &rest[..at], rest[at + word.len() + 2..].trim()))
    });
    match found {
        None => Ok((Some(rest), None)),
        Some(_) if of_app.is_empty() => Err(TargetError(format!("`{key}` has no app to name: write {key}=ADDRESS"))),
        Some((word, ..)) if word != of_app => Err(TargetError(format!("write {key}=ADDRESS,{of_app}=NAME"))),
        Some((word, _, "")) => Err(TargetError(format!("`{word}=` has no name behind it"))),
        Some((_, address, name)) => Ok((Some(address), Some(name))),
    }
}

impl TargetArg {
    fn settings(&self) -> Map<String, Value> {
        let row = TRANSPORTS.iter().find(|(key, ..)| *key == self.key);
        let (of_address, of_app) = row.map_or(("", ""), |(_, address, app)| (address, app));
        let parts = [(of_address, &self.address), (of_app, &self.app)];
        let cwd = ("cwd", &self.folder);
        parts
            .into_iter()
            .chain([cwd])
            .filter_map(|(key, text)| Some((key.to_owned(), text.as_deref()?.into())))
            .collect()
    }

    /// The same, with a command as it is meant where it is typed: relative to the current folder, and run there. In a job file it is
    /// relative to that file.
    fn resolved_here(&self) -> TargetArg {
        let absolute = |path: &str| std::path::absolute(path).ok().map(|path| path.to_string_lossy().into_owned());
        if self.key != "command" {
            return self.clone();
        }
        let is_path = |address: &&String| address.contains('/');
        let program = self.address.as_ref().filter(is_path).and_then(|address| absolute(address));
        TargetArg { address: program.or_else(|| self.address.clone()), folder: absolute("."), ..self.clone() }
    }

    /// Its keys in a job, and whether it reports calls of tools.
    pub(super) fn job_target(&self, chatbot: &str) -> (Value, bool) {
        let document = serde_json::json!({ "user": "test-user", "chatbot": chatbot, self.key: self.settings() });
        let target: Option<job::Target> = serde_json::from_value(document.clone()).ok();
        (document, target.is_some_and(|target| target.transport.can(Ability::ReportsTools)))
    }

    /// How datasets become jobs for it.
    pub(super) fn lowering(&self, strict: bool) -> LowerOptions {
        let target = serde_json::json!({ "user": "u", "chatbot": "c", self.key: self.settings() });
        let target: Option<job::Target> = serde_json::from_value(target).ok();
        let can = |ability| target.as_ref().is_some_and(|target| target.transport.can(ability));
        LowerOptions {
            target: (self.key.to_owned(), self.settings()),
            strict,
            takes_history: can(Ability::TakesHistory),
            mocks_tools: can(Ability::MocksTools),
            mocks_reference: false,
            reference_takes_history: false,
            reference: None,
            tells_difference: false,
            is_recorded: false,
            is_part: false,
        }
    }
}

/// A data file as a job file, and what it does not do.
pub(super) struct Imported {
    /// The file's own name, and what it is.
    pub(super) name: String,
    /// The job file.
    pub(super) text: String,
    /// What the text says.
    pub(super) document: Value,
    /// Its limits.
    pub(super) warnings: Vec<String>,
}

/// The files beside a data file, as they were named.
pub(super) fn options(args: &ReadingArgs) -> OpenOptions {
    OpenOptions {
        config: args.config_file_path.clone(),
        session: args.session_file.clone(),
        metric_set: args.metric_set.into(),
        generate: None,
        any_value: [&args.any_value, &args.reserved_keyword]
            .into_iter()
            .flatten()
            .find(|word| !word.is_empty())
            .cloned(),
        strict: args.dialect_strict,
    }
}

/// The datasets at a path, `FILE`, `FILE:case1,case2` or a folder.
pub(super) fn open(typed: &str, args: &ReadingArgs) -> Result<Vec<dataset::Dataset>, CliError> {
    dataset::open(typed, &options(args), &DiskFiles).map_err(|problems| CliError::InvalidJobs(vec![problems]))
}

/// Reads what stands at a path, `FILE`, `FILE:case1,case2` or a folder, as job files.
pub(super) fn import_all(
    typed: &str,
    target: &TargetArg,
    tells_difference: bool,
    args: &DataArgs,
) -> Result<Vec<Imported>, CliError> {
    let options = OpenOptions { generate: args.generate, ..options(&args.reading) };
    let datasets = dataset::open(typed, &options, &DiskFiles);
    let datasets = datasets.map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
    // What is only imported is written into a job file.
    let is_run = tells_difference;
    let here = |target: &TargetArg| if is_run { target.resolved_here() } else { target.clone() };
    let target = here(target);
    let expected_target = args.expected_target.as_ref().map(here);
    let reference = expected_target.as_ref().map(|other| (other.key.to_owned(), other.settings()));
    let of_reference = expected_target.as_ref().map(|other| other.lowering(false));
    let mocks_reference = of_reference.as_ref().is_some_and(|other| other.mocks_tools);
    let reference_takes_history = of_reference.is_some_and(|other| other.takes_history);
    let options = LowerOptions {
        reference,
        mocks_reference,
        reference_takes_history,
        tells_difference,
        ..target.lowering(args.reading.dialect_strict)
    };
    let import = |dataset: &dataset::Dataset| {
        refuse_empty(typed, dataset)?;
        let lowered = dataset::lower(dataset, &options);
        dataset::check_expected(typed, dataset, &lowered).map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
        let text = serde_saphyr::to_string(&lowered.document)
            .map_err(|error| CliError::Internal(format!("{typed} can't be written as a job: {error}")))?;
        let of_reading = dataset.warnings.iter().map(reading_warning);
        let unasked = options.reference.is_some()
            && !lowered.document["cases"]
                .as_array()
                .is_some_and(|cases| cases.iter().any(|case| case.get("reference").is_some()));
        let unasked = unasked.then(|| "no case asks for a second agent: nothing comes of --expected-target".to_owned());
        let unused = args.reading.without_effect(Some(dataset.kind.system()));
        let warnings = of_reading.chain(lowered.warnings).chain(unasked).chain(unused).collect();
        Ok(Imported {
            name: format!("{} ({})", dataset.name, dataset.kind.name()),
            text,
            document: lowered.document,
            warnings,
        })
    };
    datasets.iter().map(import).collect()
}

/// Refuses a dataset without cases.
pub(super) fn refuse_empty(typed: &str, dataset: &dataset::Dataset) -> Result<(), CliError> {
    if !dataset.cases.is_empty() {
        return Ok(());
    }
    let file = match Path::new(typed).is_dir() {
        true => format!("its file {}", plain(&dataset.name)),
        false => "this file".to_owned(),
    };
    let what = format!("{}: there are no cases in {file}: it is {}", plain(typed), dataset.kind.name());
    let help = "eval-job cases add FILE --from OTHER, or --from-trace RECORDED".to_owned();
    Err(CliError::Unprepared(Refusal::new(what, help)))
}

/// The target of a job that names none.
pub(super) const NOBODY: TargetArg = TargetArg { key: "embabel", address: None, app: None, folder: None };

/// A target for the cases of a data file, of the system that the file comes from; `None` where it holds no cases. Nobody is there.
pub(super) fn stand_in(path: &Path) -> Option<TargetArg> {
    let typed = path.to_string_lossy();
    let file = if path.is_file() { &*typed } else { typed.rsplit_once(':')?.0 };
    let text = jobs::text(Path::new(file)).ok()?;
    // Whatever else can be read as YAML may be a job.
    if file == "-" || !dataset::is_json(&text) {
        return None;
    }
    let kind = dataset::recognise(file, &text).ok().filter(|kind| kind.purpose() == Purpose::Cases)?;
    let key = match kind.system() {
        System::Adk => "adk",
        System::Trpc => "trpc",
        System::Watsonx => "watsonx",
        System::Redhat | System::Shared => NOBODY.key,
    };
    Some(TargetArg { key, ..NOBODY })
}

/// A warning about the text of a file: the place, what it is, and what to try.
pub(super) fn reading_warning(problem: &job::Problem) -> String {
    let place = match problem.line {
        0 | 1 => problem.file.clone(),
        line => format!("{}:{line}", problem.file),
    };
    let help = problem.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
    format!("{place}: {}{help}", problem.message)
}

/// The jobs that a data file means, and the warnings about them.
pub(super) fn load(
    typed: &Path,
    target: &TargetArg,
    args: LoadArgs<'_>,
    context: &Context,
) -> Result<(Vec<Loaded>, Vec<String>), CliError> {
    let file = typed.display().to_string();
    let (mut loaded, mut warnings) = (Vec::new(), Vec::new());
    for Imported { name: _, text, document, warnings: of_file } in import_all(&file, target, true, args.data)? {
        context.redactor().learn_all(job::secrets_of_document(&document).iter().map(Secret::expose));
        let templates = PromptFiles::for_job(typed, args.files.prompts.as_deref());
        let job = job::load_document(&file, &text, &document, &templates);
        let job = job.map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
        let named = |warning: String| if warning.contains(&*file) { warning } else { format!("{file}: {warning}") };
        warnings.extend(of_file.into_iter().map(named));
        loaded.push(Loaded { file: file.clone(), text, job, templates: templates.into_templates(), selection: None });
    }
    Ok((loaded, warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_transport_and_its_address() {
        let target: TargetArg = "adk=http://localhost:8000".parse().unwrap();
        assert_eq!(Value::Object(target.settings()), serde_json::json!({"baseUrl": "http://localhost:8000"}));
        let named = serde_json::json!({"baseUrl": "http://h:8000/a,b", "app": "hello_world"});
        let target: TargetArg = "adk=http://h:8000/a,b,app=hello_world".parse().unwrap();
        assert_eq!(Value::Object(target.settings()), named);
        let target: TargetArg = "watsonx,agent=hr agent".parse().unwrap();
        assert_eq!(Value::Object(target.settings()), serde_json::json!({"agent": "hr agent"}));
        assert_eq!("demo".parse::<TargetArg>().unwrap().settings(), Map::new());
        let target: TargetArg = "command=./chat.sh".parse().unwrap();
        let (here, typed) = (std::env::current_dir().unwrap(), serde_json::json!({"command": "./chat.sh"}));
        assert_eq!(Value::Object(target.settings()), typed, "a job file has it as it was typed");
        let run = target.resolved_here().settings();
        assert_eq!(Path::new(run["command"].as_str().unwrap()), here.join("chat.sh"));
        assert_eq!(Path::new(run["cwd"].as_str().unwrap()), here);
        for (wrong, said) in [
            ("adc=http://h", "did you mean `adk`?"),
            ("http=http://h", "import the file"),
            ("adk=", "no address"),
            ("demo=http://h", "takes no address"),
            ("adk=localhost:8000", "as in adk=http://localhost:8000"),
            ("command", "command=PROGRAM"),
            ("adk=http://h,agent=x", "write adk=ADDRESS,app=NAME"),
            ("adk=http://h,app=", "`app=` has no name"),
            ("openai=http://h,app=x", "has no app to name"),
        ] {
            let error = wrong.parse::<TargetArg>().unwrap_err().to_string();
            assert!(error.contains(said), "{wrong}: {error}");
        }
    }
}
