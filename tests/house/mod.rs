//! The house itself: who may import whom, whose words may stand where, and how functions and types are written.

mod imports;
mod signatures;
mod type_names;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

/// The crate's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a folder with this ending, sorted.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A file's code without its inline tests and comments.
pub fn code(path: &Path) -> String {
    without_tests(&fs::read_to_string(path).unwrap())
}

/// Tests in a file of their own may be named above the imports; those within a file come last.
fn without_tests(text: &str) -> String {
    let mut code = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            match lines.peek().copied().unwrap_or_default() {
                next if next.starts_with("mod ") && next.ends_with(';') => drop(lines.next()),
                next if next.starts_with("mod ") => break,
                _ => {}
            }
        } else if !line.trim_start().starts_with("//") {
            code.push(line);
        }
    }
    code.join("\n")
}

#[test]
fn imports_below_the_name_of_a_test_file_are_code() {
    let text = "mod a;\n#[cfg(test)]\nmod tests;\n// no\nuse crate::b;\n#[cfg(test)]\nmod more {\nuse crate::c;\n}\n";
    assert_eq!(without_tests(text), "mod a;\nuse crate::b;");
}
