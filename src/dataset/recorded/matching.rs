//! Which case a recorded conversation is about.

use std::borrow::Borrow;
use std::collections::HashMap;

use super::RecordingKey;

/// The keys by which a case is found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaseKey {
    /// Its ids: its own, and the one that its system knows.
    pub ids: Vec<String>,
    /// The id of its session, where the file says it.
    pub session: Option<String>,
}

/// Which case each recording is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching {
    /// The place of each recording's case; `None` where it is about none.
    pub case_of: Vec<Option<usize>>,
    /// Whether the pairing rests on the order alone, so that it may be wrong.
    pub by_order: bool,
}

/// Finds the case of each recording: the one with one of its ids, else the one with its session's id, else the one that is named like its
/// file. Where none is found in any of these ways, the only case has all recordings, and of as many cases as recordings each has the
/// one in its place.
pub fn match_cases(cases: &[CaseKey], recordings: &[impl Borrow<RecordingKey>]) -> Matching {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut by_session: HashMap<&str, usize> = HashMap::new();
    for (place, case) in cases.iter().enumerate() {
        for id in &case.ids {
            by_id.entry(id).or_insert(place);
        }
        if let Some(session) = &case.session {
            by_session.entry(session).or_insert(place);
        }
    }
    let case_of = |recording: &RecordingKey| {
        let session = recording.session.as_deref();
        let of_session = || session.and_then(|id| by_session.get(id).or_else(|| by_id.get(id)));
        // A trace's conversation is named by the id of its session.
        let of_id = || by_session.get(recording.id.as_str());
        let mut others = recording.other_ids.iter().map(String::as_str);
        let of_others = || others.find_map(|id| by_id.get(id).or_else(|| by_session.get(id)));
        let found = by_id.get(recording.id.as_str()).or_else(of_others).or_else(of_session).or_else(of_id);
        found.or_else(|| by_id.get(&*recording.file_stem)).copied()
    };
    let found: Vec<Option<usize>> = recordings.iter().map(|it| case_of(it.borrow())).collect();
    if found.iter().any(Option::is_some) || cases.is_empty() {
        return Matching { case_of: found, by_order: false };
    }
    match cases.len() {
        1 => Matching { case_of: vec![Some(0); recordings.len()], by_order: true },
        many if many == recordings.len() => Matching { case_of: (0..many).map(Some).collect(), by_order: true },
        _ => Matching { case_of: found, by_order: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(ids: &[&str], session: Option<&str>) -> CaseKey {
        CaseKey { ids: ids.iter().map(|id| (*id).to_owned()).collect(), session: session.map(str::to_owned) }
    }

    fn recording(id: &str, session: Option<&str>, file_stem: &str) -> RecordingKey {
        RecordingKey {
            model: None,
            id: id.to_owned(),
            other_ids: Vec::new(),
            session: session.map(str::to_owned),
            file_stem: file_stem.into(),
            file: std::path::Path::new("f").into(),
            line: 1,
        }
    }

    #[test]
    fn a_recording_is_about_the_case_with_its_id_then_of_its_session_then_of_its_files_name() {
        let cases = [case(&["a", "x/a"], None), case(&["b"], Some("s-1")), case(&["ć"], None)];
        let recordings = [
            recording("x/a", None, "f"),
            recording("?", Some("s-1"), "f"),
            recording("s-1", Some("s-1"), "a"),
            recording("?", Some("b"), "f"),
            recording("ć", Some("s-1"), "a"),
            recording("f-3", None, "ć"),
            recording("nobody", None, "f"),
            recording("a", None, "f"),
        ];
        let matching = match_cases(&cases, &recordings);
        assert_eq!(
            matching.case_of,
            [0, 1, 1, 1, 2, 2].map(Some).into_iter().chain([None, Some(0)]).collect::<Vec<_>>()
        );
        assert!(!matching.by_order);
    }

    #[test]
    fn an_id_that_no_case_has_leaves_the_other_ids_of_its_recording() {
        let cases = [case(&["5"], None), case(&["6"], None), case(&["c"], Some("s-1"))];
        let with = |id: &str, others: &[&str]| RecordingKey {
            other_ids: others.iter().map(|id| (*id).to_owned()).collect(),
            ..recording(id, None, "f")
        };
        let recordings = [with("chatcmpl-1", &["6"]), with("chatcmpl-2", &["x", "5"]), with("chatcmpl-3", &["s-1"])];
        let matching = match_cases(&cases, &recordings);
        assert_eq!(matching, Matching { case_of: vec![Some(1), Some(0), Some(2)], by_order: false });
    }

    #[test]
    fn the_order_is_the_last_resort() {
        let (two, three) = ([case(&["a"], None), case(&["b"], None)], recording("f-1", None, "f"));
        let by_order = match_cases(&two, &[three.clone(), recording("f-2", None, "f")]);
        assert_eq!(by_order, Matching { case_of: vec![Some(0), Some(1)], by_order: true });
        let too_few = match_cases(&two, std::slice::from_ref(&three));
        assert_eq!(too_few, Matching { case_of: vec![None], by_order: false });
        let one_is_known = match_cases(&two, &[three.clone(), recording("b", None, "f")]);
        assert_eq!(one_is_known, Matching { case_of: vec![None, Some(1)], by_order: false });
        let of_the_only_one = match_cases(&two[..1], &[three.clone(), three.clone(), three]);
        assert_eq!(of_the_only_one, Matching { case_of: vec![Some(0); 3], by_order: true });
    }
}
