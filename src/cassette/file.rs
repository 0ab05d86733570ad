//! The files of a recording: their names, and that only the user can read them.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::evidence::TrialId;
use crate::text::file_name;

/// The common part of all trials.
pub(super) const RUN: &str = "run.jsonl";

/// The most characters of each part of a name.
const LONGEST_PART: usize = 24;

/// The name of a trial's file: readable, harmless and another one for each trial, whatever its case is called.
pub(super) fn trial_file(trial: &TrialId) -> String {
    let part = |text: &str| file_name(text).chars().take(LONGEST_PART).collect::<String>();
    let digest = Sha256::digest(trial.key());
    let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let (case, model, condition) = (part(&trial.case), part(&trial.model), trial.condition.as_str());
    format!("{case}.{model}.{condition}.{}.{digest}.jsonl", trial.repeat)
}

/// Makes a folder that is the user's alone, unless it is there.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes to set"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Makes a file that is the user's alone.
pub(super) fn create(path: &Path) -> io::Result<File> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes to set"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.append(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Condition;

    #[test]
    fn the_file_of_a_trial_is_harmless_and_its_own() {
        let trial = |case: &str, repeat| TrialId {
            number: 1,
            case: case.to_owned(),
            model: "openai/gpt-4.1".to_owned(),
            condition: Condition::WithFacts,
            repeat,
        };
        let name = trial_file(&trial("../../etc/passwd", 2));
        assert!(name.starts_with("etc_passwd.openai_gpt-4.1.withFacts.2.") && name.ends_with(".jsonl"), "{name}");
        assert_ne!(trial_file(&trial("a/b", 1)), trial_file(&trial("a_b", 1)));
        assert_ne!(trial_file(&trial("A", 1)).to_lowercase(), trial_file(&trial("a", 1)).to_lowercase());
        assert!(trial_file(&trial(&"x".repeat(5000), 1)).len() < 120);
    }
}
