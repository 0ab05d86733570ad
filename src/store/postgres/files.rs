//! The files of a run that are sent and fetched.

use crate::store::folder::{JOURNAL, SUMMARY};

/// Whether a file of a run's folder goes with the run: its journal and its summary, people's labels and other gradings.
pub(super) fn is_of_run(name: &str) -> bool {
    let is_grading = || {
        let number = name
            .strip_prefix("grade-")
            .and_then(|rest| rest.strip_suffix(".json").or_else(|| rest.strip_suffix(".ndjson")));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    name == JOURNAL || name == SUMMARY || name == "labels.ndjson" || is_grading()
}

/// Whether a name is that of a run's folder, and nothing that leads elsewhere.
pub(super) fn is_folder(name: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !name.is_empty() && name.len() <= 120 && name.chars().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_leads_elsewhere_is_a_file_or_a_folder_of_a_run() {
        for name in ["journal.ndjson", "summary.json", "labels.ndjson", "grade-1.json", "grade-12.ndjson"] {
            assert!(is_of_run(name), "{name}");
        }
        for name in
            ["", "unsent", "grade-.json", "grade-1.txt", "../journal.ndjson", "summary.json.partial", "grade-/x.json"]
        {
            assert!(!is_of_run(name), "{name}");
        }
        assert!(is_folder("20261120-214512-agent-k3f9qz"));
        for name in ["", "..", "a/b", "a\\b", ".x", "a b", &"x".repeat(121)] {
            assert!(!is_folder(name), "{name}");
        }
    }
}
