//! Warnings of what a job does not do that its file asks for: each once, with the cases that it is about.

/// The most cases that a warning names.
const NAMED: usize = 3;

/// Collects warnings.
#[derive(Default)]
pub(super) struct Warnings {
    /// Each with its cases; none where it is about the whole file.
    sentences: Vec<(String, Vec<String>)>,
    /// Why metrics can't be computed, and whether the run rests on them, each with those metrics.
    metrics: Vec<(String, bool, Vec<String>)>,
}

impl Warnings {
    /// A warning about the whole file.
    pub(super) fn about_file(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.sentences.iter().any(|(known, cases)| *known == what && cases.is_empty()) {
            self.sentences.push((what, Vec::new()));
        }
    }

    /// A warning about a case.
    pub(super) fn about_case(&mut self, case: &str, what: &str) {
        match self.sentences.iter_mut().find(|(known, cases)| known == what && !cases.is_empty()) {
            Some((_, cases)) if cases.iter().any(|known| known == case) => {}
            Some((_, cases)) => cases.push(case.to_owned()),
            None => self.sentences.push((what.to_owned(), vec![case.to_owned()])),
        }
    }

    /// That a metric can't be computed, and whether the run rests on it.
    pub(super) fn about_metric(&mut self, metric: &str, why: &str, decides: bool) {
        match self.metrics.iter_mut().find(|(known, as_well, _)| known == why && *as_well == decides) {
            Some((.., metrics)) => metrics.push(metric.to_owned()),
            None => self.metrics.push((why.to_owned(), decides, vec![metric.to_owned()])),
        }
    }

    /// Each in a sentence that begins with its cases.
    pub(super) fn into_sentences(self) -> Vec<String> {
        let of_metric = |(why, decides, metrics): (String, bool, Vec<String>)| {
            let noun = if metrics.len() == 1 { "metric" } else { "metrics" };
            let so = if decides { "so that the run is incomplete" } else { "which decides nothing here" };
            format!("{noun} {}: {why}; missing, {so}", metrics.join(", "))
        };
        let sentence = |(what, cases): (String, Vec<String>)| match cases.as_slice() {
            [] => what,
            [only] => format!("case {only}: {what}"),
            [all @ .., last] if cases.len() <= NAMED => format!("cases {} and {last}: {what}", all.join(", ")),
            many => format!("cases {} and {} more: {what}", many[..NAMED].join(", "), many.len() - NAMED),
        };
        self.sentences.into_iter().map(sentence).chain(self.metrics.into_iter().map(of_metric)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_comes_once_with_its_cases() {
        let mut warnings = Warnings::default();
        for case in ["a", "b", "b", "c", "d", "e"] {
            warnings.about_case(case, "no");
        }
        warnings.about_case("a", "neither");
        warnings.about_case("b", "neither");
        warnings.about_file("all");
        warnings.about_file("all");
        assert_eq!(warnings.into_sentences(), ["cases a, b, c and 2 more: no", "cases a and b: neither", "all"]);
    }

    #[test]
    fn a_metric_that_can_t_be_computed_makes_a_run_incomplete_only_where_it_decides() {
        let mut warnings = Warnings::default();
        for (metric, decides) in [("a", true), ("b", false), ("c", true)] {
            warnings.about_metric(metric, "no", decides);
        }
        let sentences = [
            "metrics a, c: no; missing, so that the run is incomplete",
            "metric b: no; missing, which decides nothing here",
        ];
        assert_eq!(warnings.into_sentences(), sentences);
    }
}
