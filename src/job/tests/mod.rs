//! The loader from outside: texts in, jobs or rendered problems out.

use super::*;

mod good;

/// Templates that are all there.
struct AllTemplates;

impl TemplateCheck for AllTemplates {
    fn problem(&self, _: &str, _: TemplateKind) -> Option<String> {
        None
    }
}

/// What an author sees of this text.
fn rendered(text: &str) -> String {
    match load("job.yml", text, &AllTemplates) {
        Ok(_) => "no problems".to_owned(),
        Err(problems) => render_problems(&problems),
    }
}
