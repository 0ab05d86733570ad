//! The nearest of several names to a misspelled one.

/// The known name that is nearest to a wrong one, if one is near.
pub fn nearest<'a>(wrong: &str, mut known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(wrong, &mut known)
}

/// The same for any iterator, so that it is compiled once.
fn nearest_of<'a>(wrong: &str, known: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = wrong.to_lowercase();
    known
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= (name.chars().count().max(wrong.chars().count()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
