//! Texts as names of files.

use std::collections::HashSet;

/// The most characters of a file's name, without its ending.
const LONGEST: usize = 100;

/// A text as a file's name: one that leads nowhere else, on any system. What has no letter or digit in it is `case`.
pub fn file_name(text: &str) -> String {
    let harmless = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let letters: String = text.chars().map(harmless).collect();
    let mut name = String::new();
    for c in letters.trim_matches(['.', '_']).chars().take(LONGEST) {
        // A dot may end a name's base in the readers' eyes, two of them lead upwards, and underscores are only gaps.
        if !(matches!(c, '_' | '.') && name.ends_with(c)) {
            name.push(c);
        }
    }
    let name = name.trim_end_matches(['.', '_']).to_owned();
    let base = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let port =
        |name: &str| base.strip_prefix(name).is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit());
    let is_device = ["con", "prn", "aux", "nul"].contains(&base.as_str()) || port("com") || port("lpt");
    match name.chars().any(char::is_alphanumeric) {
        false => "case".to_owned(),
        true if is_device => format!("case-{name}"),
        true => name,
    }
}

/// Names of files in one folder, of which no two are the same, whatever the case of their letters.
#[derive(Debug, Default)]
pub struct FileNames(HashSet<String>);

impl FileNames {
    /// The text as a file's name that no earlier one had: with a number behind it, where one had.
    pub fn take(&mut self, text: &str) -> String {
        let base = file_name(text);
        let (mut name, mut copies) = (base.clone(), 1);
        while !self.0.insert(name.to_lowercase()) {
            copies += 1;
            name = format!("{base}-{copies}");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_is_a_harmless_file_name() {
        for (id, name) in [
            ("refund", "refund"),
            ("../../etc/passwd", "etc_passwd"),
            ("a/b\\c:d", "a_b_c_d"),
            ("=2+3", "2_3"),
            ("..", "case"),
            ("\u{202e}\u{0}\n", "case"),
            ("CON", "case-CON"),
            ("com1.txt", "case-com1.txt"),
            ("提醒", "提醒"),
            ("a . b", "a_._b"),
            ("case [small, with facts]", "case_small_with_facts"),
        ] {
            assert_eq!(file_name(id), name, "{id:?}");
        }
    }

    #[test]
    fn no_two_names_are_the_same_also_where_letters_have_no_case() {
        let mut names = FileNames::default();
        let taken = ["a", "A", "a-2", "a/", "b"].map(|text| names.take(text));
        assert_eq!(taken, ["a", "A-2", "a-2-2", "a-3", "b"]);
    }

    proptest! {
        #[test]
        fn no_id_leads_out_of_the_folder(id in any::<String>()) {
            let name = file_name(&id);
            prop_assert!(!name.is_empty() && name.chars().count() <= LONGEST + "case-".len());
            prop_assert!(!name.starts_with('.') && !name.ends_with('.') && !name.contains(".."));
            prop_assert!(name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)), "{}", name);
        }
    }
}
