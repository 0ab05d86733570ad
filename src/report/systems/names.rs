//! The names of cases in other systems' results, and of their files.

use std::collections::{HashMap, HashSet};

use crate::evidence::{Condition, TrialId};
use crate::record::Overview;
use crate::text::{FileNames, file_name};

/// The names of the cases of some runs. Other systems know neither models nor conditions: a case that is run with several
/// of them is several cases there.
#[derive(Debug, Default)]
pub(in crate::report) struct ResultNames {
    names: HashMap<(String, String, String, Condition), CaseName>,
}

/// The names of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::report) struct CaseName {
    /// The case's id, with its model and its condition where there are several.
    pub(in crate::report) id: String,
    /// The same as a file's name; no two cases have the same, whatever the case of its letters.
    pub(in crate::report) file: String,
}

impl ResultNames {
    /// The names of the cases of these runs.
    pub(in crate::report) fn new<'a>(runs: impl IntoIterator<Item = &'a Overview> + Clone) -> ResultNames {
        let groups = || runs.clone().into_iter().flat_map(|run| run.groups.iter().map(move |group| (run, group)));
        let (models, conditions) =
            groups().fold((HashSet::new(), HashSet::new()), |(mut models, mut conditions), it| {
                models.insert(it.1.model.as_str());
                conditions.insert(it.1.condition);
                (models, conditions)
            });
        let several_runs = runs.clone().into_iter().count() > 1;
        let (mut names, mut files) = (HashMap::new(), FileNames::default());
        for (run, group) in groups() {
            let mut beside = Vec::new();
            if several_runs {
                beside.push(format!("{} {}", run.summary.provenance.job, run.summary.id));
            }
            if models.len() > 1 {
                beside.push(group.model.clone());
            }
            if conditions.len() > 1 {
                beside.push(group.condition.label().to_owned());
            }
            let beside = if beside.is_empty() { String::new() } else { format!(" [{}]", beside.join(", ")) };
            let id = format!("{}{beside}", group.case);
            let file = files.take(&id);
            let key = (run.summary.id.clone(), group.case.clone(), group.model.clone(), group.condition);
            names.insert(key, CaseName { id, file });
        }
        ResultNames { names }
    }

    /// The names of a trial's case.
    pub(in crate::report) fn case_name(&self, run: &Overview, trial: &TrialId) -> CaseName {
        let key = (run.summary.id.clone(), trial.case.clone(), trial.model.clone(), trial.condition);
        self.names.get(&key).cloned().unwrap_or_else(|| CaseName { id: trial.key(), file: file_name(&trial.key()) })
    }
}
