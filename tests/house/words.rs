//! Whose words may stand where: the program knows nothing of the jobs that come with it.

use std::collections::{BTreeMap, BTreeSet};

use super::{code, files, root};

fn words_of(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| word.chars().count() >= 4).map(str::to_lowercase).collect()
}

#[test]
fn the_program_knows_nothing_of_the_example_jobs() {
    let source = root().join("src");
    let mut telling: BTreeMap<String, String> = BTreeMap::new();
    // Conversations are told in everybody's words.
    let is_job = |path: &std::path::PathBuf| !path.components().any(|part| part.as_os_str() == "known");
    for job in files(&root().join("data/eval"), "yml").into_iter().filter(is_job) {
        for word in telling_words(&std::fs::read_to_string(&job).unwrap()) {
            telling.insert(word, job.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    assert!(telling.len() >= 40, "too few telling words were found: {telling:?}");
    let mut wrong = Vec::new();
    for file in files(&source, "rs") {
        let path = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        if path.starts_with("src/agent/demo/") || path.ends_with("/tests.rs") || path.contains("/tests/") {
            continue;
        }
        for word in words_of(&code(&file)) {
            if let Some(job) = telling.get(&word) {
                wrong.push(format!("{path}: `{word}` is a word of {job}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The words that are a job's own: those of its values, without what is common.
fn telling_words(yaml: &str) -> BTreeSet<String> {
    // Words of English, of Cypher and of the trade that jobs and program both use. A job's own nouns, names and values
    // have no place in that file.
    let common = words_of(include_str!("common_words.txt"));
    let mut words = BTreeSet::new();
    for line in yaml.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let value = line.split_once(": ").map_or(line, |(_, value)| value);
        words.extend(words_of(value));
    }
    words.retain(|word| !common.contains(word));
    words
}
