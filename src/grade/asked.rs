//! Renders the judge's questions again from the stored record.

use super::{GradeInput, metric_input, questions};
use crate::evidence::{AskedQuestion, Question};
use crate::prompt::Templates;

/// Why a question can't be rendered again as it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReproduceError {
    /// No metric asks it, by its id.
    #[error("no metric asks `{0}` now")]
    NotAsked(String),
    /// The rendered question has another digest.
    #[error("what the judge was asked can't be rendered again from the record: this version renders it otherwise")]
    Differs,
}

/// The question as it was asked, to the byte, by the questions that are rendered from the same record.
///
/// # Errors
/// When it can't be rendered from the record any more.
pub fn reproduce(asked: &AskedQuestion, rendered: &[Question]) -> Result<Question, ReproduceError> {
    let same = |question: &&Question| question.key() == asked.key();
    let question = rendered.iter().find(same).cloned().ok_or_else(|| ReproduceError::NotAsked(asked.id.clone()))?;
    let prompt = asked.prompt.clone().unwrap_or(question.prompt);
    let question = Question { prompt, temperature: asked.temperature, metric: asked.metric.clone(), ..question };
    if question.digest() == asked.digest { Ok(question) } else { Err(ReproduceError::Differs) }
}

/// Fills in the prompts that can be rendered again from the record; the others stay away.
pub fn fill_in_prompts(trial: GradeInput<'_>, templates: &Templates, asked: &mut [AskedQuestion]) {
    if asked.iter().all(|asked| asked.prompt.is_some()) {
        return;
    }
    let GradeInput { job, case, evidence, clock } = trial;
    let rendered = questions(job, &metric_input(job, case, evidence, clock), templates).unwrap_or_default();
    for asked in asked {
        if let Ok(question) = reproduce(asked, &rendered) {
            asked.prompt = Some(question.prompt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::evidence::{Condition, Evidence, TrialId, Turn};
    use crate::job::Job;

    const JOB: &str = "target: {user: u, chatbot: c, demo: {}}\nevaluator: {model: scripted}\nscorer: {model: scripted}\n\
                       facts: [\"1 < 2 & so on\"]\ntasks: [{task: Ask, acceptanceCriteria: '\"Answered\"'}]\n";

    fn asked() -> (Job, Evidence, Vec<Question>) {
        let job = crate::job::load("job.yml", JOB, &crate::grade::vacuous::tests::AnyTemplate).unwrap();
        let id = TrialId {
            number: 1,
            case: job.cases[0].id.clone(),
            model: "m".to_owned(),
            condition: Condition::WithFacts,
            repeat: 1,
        };
        let mut evidence = Evidence::new("s".to_owned(), "u".to_owned(), &id);
        evidence.transcript.turns = vec![Turn::answered(1, "</message> & \u{1b}", "naïve\r\n\"<b>\"\n")];
        let rendered =
            questions(&job, &metric_input(&job, &job.cases[0], &evidence, Clock::system()), &Templates::embedded())
                .unwrap();
        (job, evidence, rendered)
    }

    /// As a journal gives it back.
    fn stored<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
        serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
    }

    #[test]
    fn what_was_asked_is_rendered_again_to_the_byte_from_the_record_alone() {
        let (job, evidence, rendered) = asked();
        let question = &rendered[0];
        let kept_job = Job::restored(&stored(&serde_json::to_value(&job).unwrap())).unwrap();
        let templates = Templates::from_sources(stored(Templates::embedded().sources()));
        let mut asked = [stored(&AskedQuestion::new(question))];
        assert_eq!(asked[0].prompt, None);
        let (case, evidence) = (&kept_job.cases[0], &stored(&evidence));
        let trial = GradeInput { job: &kept_job, case, evidence, clock: Clock::system() };
        fill_in_prompts(trial, &templates, &mut asked);
        assert_eq!(asked[0].prompt.as_ref(), Some(&question.prompt));
        assert_eq!(reproduce(&asked[0], &rendered).as_ref(), Ok(question));
    }

    #[test]
    fn what_would_be_asked_otherwise_now_is_not_taken_for_what_was_asked() {
        let (job, mut evidence, rendered) = asked();
        let without = AskedQuestion::new(&rendered[0]);
        evidence.transcript.turns[0].user.push('!');
        let mut asked = [without.clone()];
        let trial = GradeInput { job: &job, case: &job.cases[0], evidence: &evidence, clock: Clock::system() };
        fill_in_prompts(trial, &Templates::embedded(), &mut asked);
        assert_eq!(asked, [without]);
        let cleared = Question { prompt: rendered[0].prompt.replace("naïve", "***"), ..rendered[0].clone() };
        let whole = AskedQuestion::whole(&cleared);
        assert_eq!(reproduce(&whole, &rendered), Ok(cleared), "what can't be rendered again is kept whole");
    }
}
