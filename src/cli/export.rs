//! `eval-job export [RUN|FILE]`

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::args::ExportArgs;
use super::context::Context;
use super::datasets::reading_warning;
use super::error::{CliError, FileArgument, file_in_place_of};
use super::jobs;
use super::outputs::{self, OutputRun, no_folder, output_at};
use super::printer::Printer;
use super::stored::StoredPrompts;
use super::team;
use super::whole_file;
use crate::dataset::{self, Dataset, DiskFiles, OpenOptions, System, WrittenDataset};
use crate::plan::Refusal;
use crate::report::{Format, plain, terminal_json};
use crate::store::StoredRun;
use crate::store::folder::RunsFolder;
use crate::text::FileNames;

/// Writes a stored run, or cases, in another system's format.
pub(super) fn export(args: &ExportArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    match args.what.as_deref().filter(|what| means_cases(what)) {
        Some(file) => export_cases(file, args, context, printer),
        None => export_run(args, context, printer),
    }
}

/// Whether this is a file or folder with cases, rather than a run.
fn means_cases(what: &str) -> bool {
    let file = what.rsplit_once(':').map_or(what, |(file, _)| if Path::new(what).exists() { what } else { file });
    let path = Path::new(file);
    let is_run = path.join("journal.ndjson").is_file();
    let endings = [".json", ".jsonc", ".yml", ".yaml", ".csv", ".tsv"];
    !is_run && (path.exists() || endings.iter().any(|ending| file.to_lowercase().ends_with(ending)))
}

fn export_run(args: &ExportArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let format = args.format;
    let file = match &args.output {
        Some(path) if path != Path::new("-") => {
            make_parent(path)?;
            Some(output_at(path.clone(), format)?)
        }
        _ if format.is_folder() => return Err(no_folder(format)),
        _ => None,
    };
    team::bring(&[args.what.as_deref()], &args.runs.runs_dir, context, printer)?;
    let mut run = RunsFolder::at(&args.runs.runs_dir)
        .open_unattended(args.what.as_deref())?
        .with_redactor(context.redactor().clone());
    let overview = run.read(|_, _| ())?;
    if let Some(note) = &run.note {
        printer.note(&format!("note: {note}"));
    }
    let prompts = StoredPrompts::from_run(&run, context.clock);
    let runs = [OutputRun { run: &run, prompts: &prompts, overview: &overview }];
    match (&file, &args.output) {
        (Some(file), Some(path)) => {
            outputs::write(std::slice::from_ref(file), &runs)?;
            printer.note(&format!("wrote {}", path.display()));
            if let Some(table) = outputs::table(format, &runs, context.screen(false))? {
                printer.data(&table)?;
            }
        }
        _ => outputs::print(format, &runs, Printed { printer, bytes: Vec::new() })?,
    }
    Ok(0)
}

/// Prints a document while it is made, some lines at a time.
pub(super) struct Printed<'a> {
    pub(super) printer: &'a Printer,
    pub(super) bytes: Vec<u8>,
}

impl Write for Printed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        const AT_ONCE: usize = 1 << 16;
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > AT_ONCE && bytes.ends_with(b"\n") {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        let printed = self.printer.data(&terminal_json(&String::from_utf8_lossy(&bytes)));
        printed.map_err(|error| match error {
            CliError::Stdout(source) => source,
            other => io::Error::other(format!("{other:?}")),
        })
    }
}

/// The system whose files a format is.
fn system(format: Format) -> Result<System, CliError> {
    match format {
        Format::Adk => Ok(System::Adk),
        Format::Trpc => Ok(System::Trpc),
        Format::Watsonx => Ok(System::Watsonx),
        Format::Redhat => Ok(System::Redhat),
        other => Err(CliError::Unprepared(Refusal::new(
            format!("cases can't be written as {}: that is a format of runs", other.name()),
            "--format adk, trpc, watsonx or redhat",
        ))),
    }
}

fn export_cases(file: &str, args: &ExportArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let system = system(args.format)?;
    let (datasets, mut warnings) = datasets(file, args, context)?;
    let mut written: Vec<WrittenDataset> = datasets.iter().map(|dataset| dataset::write(dataset, system)).collect();
    if has_clash(&written) {
        let folders = datasets.iter().map(|dataset| dataset.name.as_str());
        part(&mut written, folders);
    }
    match &args.output {
        None => print_cases(&written, printer)?,
        Some(path) => write_cases(path, &written, printer)?,
    }
    warnings.extend(written.into_iter().flat_map(|set| set.warnings));
    for warning in warnings {
        printer.note(&format!("warning · {}", plain(&warning)));
    }
    Ok(0)
}

/// Whether two sets would write different texts to one file.
fn has_clash(written: &[WrittenDataset]) -> bool {
    let mut known = HashMap::new();
    let files = written.iter().flat_map(|set| &set.files);
    files.into_iter().any(|file| *known.entry(file.name.to_lowercase()).or_insert(&file.text) != &file.text)
}

/// Gives each set a folder of its own: a set's metrics are looked for beside it.
fn part<'a>(written: &mut [WrittenDataset], names: impl Iterator<Item = &'a str>) {
    let mut folders = FileNames::default();
    for (set, name) in written.iter_mut().zip(names) {
        let folder = folders.take(name);
        set.files.iter_mut().for_each(|file| file.name = format!("{folder}/{}", file.name));
    }
}

/// The cases of a job file, or of another system's file or folder.
fn datasets(file: &str, args: &ExportArgs, context: &Context) -> Result<(Vec<Dataset>, Vec<String>), CliError> {
    let path = Path::new(file);
    if super::job_files::is_yaml(path) && path.is_file() {
        let text = fs::read_to_string(path).unwrap_or_default();
        if dataset::recognise(file, &text).is_err() {
            let argument = FileArgument::job("eval-job export");
            let loaded = jobs::load(&[path.to_path_buf()], argument, None, context.redactor())?;
            let sets = loaded.iter().map(|loaded| dataset::from_job(&loaded.job)).collect::<Vec<_>>();
            let (sets, warnings): (Vec<Dataset>, Vec<Vec<String>>) = sets.into_iter().unzip();
            return Ok((sets, warnings.concat()));
        }
    }
    let options = OpenOptions {
        config: args.config_file_path.clone(),
        session: args.session_file.clone(),
        any_value: args.any_value.clone().filter(|word| !word.is_empty()),
        ..OpenOptions::default()
    };
    let datasets =
        dataset::open(file, &options, &DiskFiles).map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
    let of_reading = |set: &Dataset| set.warnings.iter().map(reading_warning).collect::<Vec<_>>();
    let warnings = datasets.iter().flat_map(of_reading).collect();
    Ok((datasets, warnings))
}

/// Prints a single file with cases; other files are mentioned.
fn print_cases(written: &[WrittenDataset], printer: &Printer) -> Result<(), CliError> {
    let [WrittenDataset { files, .. }] = written else {
        return Err(several(written.iter().map(|set| set.files.len()).sum()));
    };
    let cases: Vec<_> = files.iter().filter(|file| !file.is_companion).collect();
    let [file] = cases.as_slice() else { return Err(several(cases.len())) };
    printer.data(&terminal_json(&file.text))?;
    for companion in files.iter().filter(|file| file.is_companion) {
        printer.note(&format!("note: {} stands beside it: say -o FOLDER to have both", companion.name));
    }
    Ok(())
}

fn several(count: usize) -> CliError {
    CliError::Unprepared(Refusal::new(
        format!("these cases are {count} files, which can't be printed"),
        "a folder with -o FOLDER",
    ))
}

/// Writes the files: into a folder, or where the path has an ending the one file with cases there and what stands beside it
/// into its folder.
fn write_cases(path: &Path, written: &[WrittenDataset], printer: &Printer) -> Result<(), CliError> {
    let count = written.iter().flat_map(|set| &set.files).filter(|file| !file.is_companion).count();
    let is_file = path.extension().is_some_and(|ending| ending == "json") && !path.is_dir();
    if is_file && count != 1 {
        return Err(several(count));
    }
    let folder = if is_file { path.parent().map(Path::to_path_buf).unwrap_or_default() } else { path.to_path_buf() };
    if !is_file && path.exists() && !path.is_dir() {
        return Err(CliError::Unprepared(Refusal::new(
            format!("{} can't be written: it is a file, not a folder", path.display()),
            "another path with -o PATH",
        )));
    }
    for file in written.iter().flat_map(|set| &set.files) {
        // It names the files with cases as a folder has them.
        if is_file && file.is_companion && file.name.ends_with(".yml") {
            printer.note(&format!("note: {} is left out: say -o FOLDER to have it", file.name));
            continue;
        }
        let path = if is_file && !file.is_companion { path.to_path_buf() } else { folder.join(&file.name) };
        make_parent(&path)?;
        whole_file::write(&path, file.text.as_bytes()).map_err(|source| unwritable(&path, source))?;
        printer.note(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// Makes the folder that a file is written into, where there is none.
fn make_parent(path: &Path) -> Result<(), CliError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    // A file in its place has a message of its own.
    match folder.filter(|folder| file_in_place_of(folder).is_none()) {
        Some(folder) => fs::create_dir_all(folder).map_err(|source| unwritable(path, source)),
        None => Ok(()),
    }
}

fn unwritable(path: &Path, source: io::Error) -> CliError {
    let help = match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        Some(folder) => format!("mkdir -p {}, or another path with -o PATH", folder.display()),
        None => "another path with -o PATH".to_owned(),
    };
    CliError::Unwritable { path: PathBuf::from(path), source, help: Some(help) }
}
