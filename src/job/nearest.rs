//! "did you mean".

/// The candidate that a misspelled key most likely stands for, if one is near enough.
///
/// Case, `_` and `-` do not count. Near is one slip (Damerau-Levenshtein) for every three letters, or the start of the
/// candidate from four letters on, so that nonsense gets no suggestion.
pub(super) fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(text, &mut candidates.into_iter())
}

/// The same for any iterator, so that it is compiled once.
fn nearest_of<'a>(text: &str, candidates: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let text = plain(text);
    candidates
        .filter_map(|candidate| {
            let other = plain(candidate);
            let slips = strsim::damerau_levenshtein(&text, &other);
            let starts_it = text.chars().count() >= 4 && other.starts_with(&text);
            let allowed = (text.chars().count() / 3).max(1);
            (slips <= allowed || starts_it).then_some((slips, candidate))
        })
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
}

fn plain(text: &str) -> String {
    text.chars()
        .filter(|character| !matches!(character, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .take(64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood_and_nonsense_is_not() {
        let keys = ["type", "task", "acceptanceCriteria", "maxTurns", "temperature"];
        let cases = [
            ("acceptanceCritera", Some("acceptanceCriteria")),
            ("max_turns", Some("maxTurns")),
            ("MaxTurn", Some("maxTurns")),
            ("tsak", Some("task")),
            ("temp", Some("temperature")),
            ("acceptance", Some("acceptanceCriteria")),
            ("colour", None),
            ("x", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(nearest(text, keys), expected, "{text}");
        }
    }
}
