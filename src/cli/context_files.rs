//! Texts for judges from files and folders.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::job::{ContextFileError, ContextText};

/// The endings of the files that are read of a folder.
const ENDINGS: [&str; 3] = ["txt", "md", "json"];

/// The most files that are read, and the most bytes of all of them together: judges are shown 400,000 characters at most.
const MOST_FILES: usize = 1_000;
const MOST_BYTES: u64 = 4 << 20;

/// The text of a file, or the texts of a folder and those below it in the order of their paths. Each is named by its path from
/// the job's folder.
///
/// # Errors
/// It can't be read, or is of no use to a judge.
pub(super) fn read(folder: &Path, path: &str) -> Result<Vec<ContextText>, ContextFileError> {
    let root = folder.join(path);
    let path = || path.to_owned();
    let mut files = Vec::new();
    if root.is_dir() {
        find(&root, &mut files).map_err(|source| ContextFileError::Folder { path: path(), source })?;
        files.sort();
        if files.is_empty() {
            return Err(ContextFileError::EmptyFolder { path: path() });
        }
        if files.len() > MOST_FILES {
            return Err(ContextFileError::TooManyFiles { path: path(), most: MOST_FILES });
        }
    } else {
        files.push(root);
    }
    let mut left = MOST_BYTES;
    let text = |file: PathBuf| {
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string().replace('\\', "/");
        let text = match text(&file, left) {
            Ok(text) if text.len() as u64 > left => {
                return Err(ContextFileError::TooLong { path: path(), most_bytes: MOST_BYTES });
            }
            Ok(text) => text,
            Err(source) => return Err(ContextFileError::File { path: name, source }),
        };
        left -= text.len() as u64;
        Ok(ContextText { name, text })
    };
    files.into_iter().map(text).collect()
}

/// The files of a folder and of those below it; hidden ones and links to folders are passed over.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") || files.len() > MOST_FILES {
            continue;
        }
        if entry.file_type()?.is_dir() {
            find(&path, files)?;
        } else if path.is_file()
            && path.extension().is_some_and(|it| ENDINGS.iter().any(|ending| it.eq_ignore_ascii_case(ending)))
        {
            files.push(path);
        }
    }
    Ok(())
}

fn text(file: &Path, most: u64) -> std::io::Result<String> {
    let invalid = |what: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_owned());
    if fs::metadata(file)?.is_file() {
        let mut bytes = Vec::new();
        fs::File::open(file)?.take(most + 1).read_to_end(&mut bytes)?;
        let text = String::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8 text; save the file as UTF-8"))?;
        match text.strip_prefix('\u{feff}').unwrap_or(&text).trim() {
            "" => Err(invalid("it is empty")),
            text => Ok(text.to_owned()),
        }
    } else {
        Err(invalid("it is no file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[ContextText]) -> Vec<(&str, &str)> {
        texts.iter().map(|it| (it.name.as_str(), it.text.as_str())).collect()
    }

    #[test]
    fn a_file_is_one_text_and_a_folder_those_of_all_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("policies/returns.md", "\u{feff}Within 30 days.\n");
        write("policies/eu/returns.TXT", "Within 14 days.");
        write("policies/.hidden.md", "no");
        write("policies/picture.png", "no");
        write("menu.json", "{\"soup\": 5}");
        let read = |path: &str| read(folder.path(), path);
        assert_eq!(names(&read("menu.json").unwrap()), [("menu.json", "{\"soup\": 5}")]);
        assert_eq!(
            names(&read("policies").unwrap()),
            [("policies/eu/returns.TXT", "Within 14 days."), ("policies/returns.md", "Within 30 days.")]
        );
        write("empty.md", " \n");
        write("none/picture.png", "no");
        fs::write(folder.path().join("latin.txt"), b"caf\xe9").unwrap();
        fs::File::create(folder.path().join("large.txt")).unwrap().set_len(5 << 20).unwrap();
        for (path, part) in [
            ("empty.md", "empty.md can't be read: it is empty"),
            ("none", "the folder none has no .txt, .md or .json file"),
            ("latin.txt", "it is not UTF-8 text"),
            ("large.txt", "more than 4 MB of text"),
            ("missing.md", "missing.md can't be read"),
        ] {
            let error = read(path).unwrap_err().to_string();
            assert!(error.contains(part), "{path}: {error}");
        }
    }
}
