//! What holds for all files.

use proptest::prelude::*;
use serde_json::Value;

use super::super::{DiskFiles, OpenOptions, load_recorded, open, recognise};
use super::*;
use crate::dataset::DatasetCase;

/// All of the systems' own files.
fn files() -> Vec<(String, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![folder()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                found.push((path.display().to_string(), text));
            }
        }
    }
    found.sort();
    found
}

/// What a reader makes of a text, without the places.
fn cases(name: &str, text: &str) -> Option<Vec<DatasetCase>> {
    let without_place = |case: DatasetCase| DatasetCase { line: 0, ..case };
    Some(load(name, text, &Beside::default()).ok()?.cases.into_iter().map(without_place).collect())
}

#[test]
fn a_file_that_is_written_again_says_the_same() {
    let mut count = 0;
    for (name, text) in files() {
        let Ok(document) = serde_json::from_str::<Value>(&text) else { continue };
        let Some(read) = cases(&name, &text) else { continue };
        assert_eq!(cases(&name, &document.to_string()).as_ref(), Some(&read), "{name}");
        let commented = format!("// a comment\n{text} /* and another */");
        assert_eq!(cases(&name, &commented).as_ref(), Some(&read), "{name}");
        let stored = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<Vec<DatasetCase>>(&stored).unwrap(), read, "{name}");
        count += 1;
    }
    assert!(count > 60, "{count}");
}

#[test]
fn examples_of_the_documents_are_read() {
    let set = load("f", &text("documents/adk-evalset.json"), &Beside::default());
    let set = set.unwrap_or_else(|problems| panic!("{}", render_problems(&problems)));
    assert_eq!(set.cases.len(), 2);
    assert_eq!(lines(&set.cases[1])[1].expected.calls.as_ref().unwrap().len(), 3);
    assert_eq!(lines(&set.cases[1])[1].expected.intermediate[0].author, "data_processing_agent");
    let warned = warnings(&set).join("\n");
    assert!(
        warned.contains("1:1: a comment: JSON has none") && warned.contains("a comma before a closing bracket"),
        "{warned}"
    );
    let file = loaded(&text("documents/adk-test-file.json"), &Beside::default());
    assert_eq!(lines(&file.cases[0])[0].say, "Turn off device_2 in the Bedroom.");
    assert_eq!(loaded(&text("documents/watsonx-dataset.json"), &Beside::default()).cases.len(), 1);
    let math = opened_with_metrics();
    assert_eq!((math.cases.len(), math.metrics[0].options["orderSensitive"].clone()), (1, true.into()));
    let result = load_recorded("f", &text("documents/trpc-math.evalset_result.json")).unwrap();
    assert_eq!(result.conversations.len(), 1);
}

fn opened_with_metrics() -> Dataset {
    let path = folder().join("documents/trpc-math.evalset.json").display().to_string();
    open(&path, &OpenOptions::default(), &DiskFiles)
        .unwrap_or_else(|problems| panic!("{}", render_problems(&problems)))
        .remove(0)
}

/// Reads a text in every way; whatever is wrong can be shown.
fn read_in_every_way(text: &str) {
    let show = |problems: &crate::job::Problems| assert!(!render_problems(problems).is_empty());
    let _ = recognise("f.json", text).inspect_err(show);
    let _ = load("f.json", text, &Beside::default()).inspect_err(show);
    let _ = load("f.json", r#"[{"query": "a"}]"#, &with_config(text)).inspect_err(show);
    let _ = load("f.json", r#"{"evalSetId": "s"}"#, &with_config(text)).inspect_err(show);
    let _ = load_recorded("f.json", text).inspect_err(show);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A value somewhere in a file is another: a number, a list, null.
    #[test]
    fn no_value_breaks_a_reader(choice in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), with in 0..6usize) {
        let files = files();
        let (_, text) = &files[choice.index(files.len())];
        if let Ok(mut document) = serde_json::from_str::<Value>(text) {
            let count = values(&mut document, &mut |_| ());
            let mut left = at.index(count);
            let other = [Value::Null, 7.into(), "x".into(), Value::Array(vec!["y".into()]), serde_json::json!({"k": 1}), true.into()];
            values(&mut document, &mut |value| {
                if left == 0 {
                    *value = other[with].clone();
                }
                left = left.wrapping_sub(1);
            });
            read_in_every_way(&document.to_string());
        }
    }
}

/// Visits every value of a document; how many there are.
fn values(document: &mut Value, visit: &mut dyn FnMut(&mut Value)) -> usize {
    let below: usize = match document {
        Value::Array(items) => items.iter_mut().map(|item| values(item, visit)).sum(),
        Value::Object(map) => map.values_mut().map(|item| values(item, visit)).sum(),
        _ => 0,
    };
    visit(document);
    below + 1
}
