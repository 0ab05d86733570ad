//! Datasets as conversations of Red Hat's evaluations: a file a case, in which the user speaks, and where it was recorded the
//! agent too.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::dataset::System;
use crate::dataset::model::{CaseUser, Dataset, DatasetCase};
use crate::dataset::write::{WrittenDataset, extend};
use crate::text::{FileNames, file_name};

/// The user of a case that names none.
const USER: &str = "test_user_id";

/// Writes the cases, a file each, and the texts for the judge.
pub(in crate::dataset) fn write(dataset: &Dataset) -> WrittenDataset {
    let mut written = WrittenDataset::default();
    let is_own = dataset.kind.system() == System::Redhat;
    if !is_own && !dataset.metrics.is_empty() {
        written.warn("Red Hat's metrics are fixed in its code: those of these cases are not in its files");
    }
    let (mut names, mut known) = (FileNames::default(), BTreeSet::new());
    for case in &dataset.cases {
        let name = names.take(&case.id);
        if case.session.user.is_none() {
            written.warn(format!("case {}: Red Hat needs a user: {USER} stands for it", case.id));
        }
        written.add(format!("{name}.json"), &write_case(case, is_own));
        for file in &case.context_files {
            if known.insert((file.name.clone(), file.text.clone())) {
                written.add_beside(format!("context/{}", file_name(&file.name)), file.text.clone());
            }
        }
    }
    written
}

fn write_case(case: &DatasetCase, is_own: bool) -> Value {
    let message = |role: &str, content: &str| json!({ "role": role, "content": content });
    let user = |content: &str| message("user", content);
    let conversation: Vec<Value> = match (&case.recorded, &case.user) {
        (Some(turns), _) => turns
            .iter()
            .flat_map(|turn| {
                let user = (!turn.user.is_empty()).then(|| user(&turn.user));
                let before = turn.intermediate.iter().map(|it| message("assistant", &it.text));
                let reply = turn.reply.as_deref().map(|reply| message("assistant", reply));
                user.into_iter().chain(before).chain(reply).collect::<Vec<_>>()
            })
            .collect(),
        (None, CaseUser::Lines(lines)) => lines.iter().map(|line| user(&line.say)).collect(),
        (None, CaseUser::Scenario(scenario)) => {
            scenario.starting_prompt.iter().chain(&scenario.prompts).map(|text| user(text)).collect()
        }
    };
    let mut metadata = json!({
        "authoritative_user_id": case.session.user.as_deref().unwrap_or(USER),
        "description": case.description.as_deref().unwrap_or_default(),
    });
    if is_own {
        extend(&mut metadata, &case.extra, &[]);
    }
    json!({ "metadata": metadata, "conversation": conversation })
}
