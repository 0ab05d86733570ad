//! The problem with a message of the persona, as rules and the reviewer find it.

use super::PersonaDriver;
use super::tools::tool_views;
use crate::conversation::{PersonaReply, guard};
use crate::evidence::{Condition, Ending, Guard, GuardFinding, Message, Transcript};
use crate::job::{Case, Job, Persona};
use crate::prompt::UserMessageView;
use crate::run::trial::TrialAbort;
use crate::text::{DenseText, cut, visible};

/// The fewest words of a message that is one of the template's.
const LEAST_OF_TEMPLATE: usize = 5;

/// The most characters that are shown of what makes a message faulty.
const MOST_EVIDENCE: usize = 120;

impl PersonaDriver<'_> {
    /// Whether a message is none of the user's, but the one that shows the form of a reply, or words of the template.
    pub(super) fn is_of_instructions(&self, message: &str) -> bool {
        is_example(&self.dense_instructions, message) || is_of_template(&self.dense_template, message)
    }

    /// The problem with a message that can be read. The reviewer is asked about those with which nothing else is wrong.
    pub(super) async fn all_faults_of(
        &mut self,
        transcript: &Transcript,
        reply: &PersonaReply,
        is_begun: bool,
    ) -> Result<Vec<GuardFinding>, TrialAbort> {
        let mut findings = self.faults_of(transcript, reply);
        let is_sent = findings.is_empty() && (!reply.done || is_begun);
        if let Some(review) = self.review.as_mut().filter(|_| is_sent && self.is_guarded) {
            let (job, case) = (&self.engine.plan.job, &self.trial.case);
            let traits = case.user_traits();
            let tasks: Vec<&str> = case.tasks.iter().map(|task| task.task.as_str()).collect();
            let facts: Vec<&str> = case.facts.iter().map(String::as_str).collect();
            let style = case.user_style().unwrap_or(&job.persona.voice);
            let of_case = case.plan.iter().chain(&traits).chain(&case.opening.0).map(String::as_str);
            let faults: Vec<Guard> = Guard::ALL.into_iter().filter(|guard| !is_allowed(job, case, *guard)).collect();
            let view = UserMessageView {
                tasks: &tasks,
                facts: &facts,
                knows_facts: self.trial.id.condition == Condition::WithFacts,
                background: &[style].into_iter().chain(of_case).collect::<Vec<_>>(),
                signoff: self.signoff,
                faults: &faults,
                tools: &tool_views(&job.persona.tools),
                tool_calls: self.tool_calls.all(),
                transcript,
                message: written(reply, self.signoff),
                is_done: reply.done,
            };
            findings.extend(review.fault_of(&view, &self.last_failure).await?);
        }
        Ok(findings)
    }

    /// Why a conversation that has ended says nothing of the agent: its user spoke of none of its tasks, or, where there was no room for
    /// another message, of something else in the end, with a task left.
    pub(in crate::run) fn missed_tasks(&self, transcript: &Transcript, ending: &Ending) -> Option<String> {
        if !self.is_guarded || is_allowed(&self.engine.plan.job, &self.trial.case, Guard::EarlyEnd) {
            return None;
        }
        if self.is_off_task(transcript) {
            return Some("in the whole conversation it spoke of none of its tasks".to_owned());
        }
        let stalled = || self.with_guard_input(transcript, &PersonaReply::default(), guard::stalled_task);
        let task = matches!(ending, Ending::MaxTurns).then(stalled)??;
        Some(format!("it spoke of something else until there was no room for more, and never raised task {}", task + 1))
    }

    fn is_off_task(&self, transcript: &Transcript) -> bool {
        let (job, case) = (&self.engine.plan.job, &self.trial.case);
        let given = job.greetings.iter().chain(&case.opening.0);
        let given: Vec<&str> = given.map(String::as_str).collect();
        let traits = case.user_traits();
        let subjects =
            case.tasks.iter().map(|task| &task.task).chain(&case.facts).chain(case.plan.iter()).chain(&traits);
        let users = transcript.turns.iter().map(|turn| turn.user.as_str()).filter(|user| !given.contains(user));
        let agents = transcript.turns.iter().filter_map(|turn| turn.agent.as_deref());
        guard::is_off_task(
            &subjects.map(String::as_str).collect::<Vec<_>>(),
            &users.filter(|user| !user.is_empty()).collect::<Vec<_>>(),
            &agents.collect::<Vec<_>>(),
        )
    }

    /// The findings of the rules on a message that can be read.
    fn faults_of(&mut self, transcript: &Transcript, reply: &PersonaReply) -> Vec<GuardFinding> {
        if !self.is_guarded {
            return Vec::new();
        }
        let mut known = std::mem::take(&mut self.known_texts);
        let findings = self.with_guard_input(transcript, reply, |input| guard::faults(input, &mut known));
        self.known_texts = known;
        let (job, case) = (&self.engine.plan.job, &self.trial.case);
        findings.into_iter().filter(|finding| !is_allowed(job, case, finding.guard)).collect()
    }

    /// Looks with the guards at a reply of the persona.
    fn with_guard_input<T>(
        &self,
        transcript: &Transcript,
        reply: &PersonaReply,
        look: impl FnOnce(&guard::GuardInput<'_>) -> T,
    ) -> T {
        let (job, case) = (&self.engine.plan.job, &self.trial.case);
        let tasks: Vec<&str> = case.tasks.iter().map(|task| task.task.as_str()).collect();
        let facts: Vec<&str> = case.facts.iter().map(String::as_str).collect();
        // What a template of the user's own says besides is known from the instructions alone.
        let own = (job.persona.prompt != Persona::PROMPT).then_some(&self.request.messages[0].content);
        let traits = case.user_traits();
        let character = [job.persona.name.as_str(), &job.persona.voice].into_iter().chain(case.user_style());
        let seen = self.tool_calls.known_texts();
        let tools: Vec<&str> = job.persona.tools.iter().map(|tool| tool.name.as_str()).collect();
        let of_case = case.plan.iter().chain(&traits).chain(&case.opening.0).chain(own).chain(&seen);
        let background: Vec<&str> = character.chain(of_case.map(String::as_str)).collect();
        let messages: Vec<Message> = transcript.messages().collect();
        look(&guard::GuardInput {
            has_facts: self.trial.id.condition == Condition::WithFacts,
            has_acted: !seen.is_empty(),
            tools: &tools,
            tasks: &tasks,
            facts: &facts,
            background: &background,
            signoff: self.signoff,
            transcript: &messages,
            turn: written(reply, self.signoff),
            is_done: reply.done,
        })
    }
}

/// A message as it would be read; done without a word is the sign-off alone.
fn written<'a>(reply: &'a PersonaReply, signoff: &'a str) -> &'a str {
    if reply.message.is_none() { signoff } else { &reply.written }
}

/// Whether a fault is part of what the persona plays.
pub(super) fn is_allowed(job: &Job, case: &Case, guard: Guard) -> bool {
    job.persona.allow.allows(guard) || case.allows(guard)
}

/// The findings, for the persona's model: a fact that it does not know is not named.
pub(super) fn for_persona(findings: &[GuardFinding], message: &str) -> String {
    let one = |finding: &GuardFinding| match finding.evidence.as_str() {
        evidence if !evidence.is_empty() && message.contains(evidence) => {
            format!("{} ({})", finding.why, cut(visible(evidence), MOST_EVIDENCE))
        }
        _ => finding.why.clone(),
    };
    findings.iter().map(one).collect::<Vec<_>>().join("; and ")
}

/// All that was found, for people.
pub(super) fn described(findings: &[GuardFinding]) -> String {
    let one = |finding: &GuardFinding| {
        let found_by = finding.found_by.as_ref().map(|by| format!(", found by {by}")).unwrap_or_default();
        let label = finding.guard.label();
        match finding.evidence.as_str() {
            "" => format!("{} ({label}{found_by})", finding.why),
            evidence => format!("{} ({label}{found_by}: {})", finding.why, cut(visible(evidence), MOST_EVIDENCE)),
        }
    };
    findings.iter().map(one).collect::<Vec<_>>().join("; and ")
}

/// Whether a message is the one by which the instructions show the form of a reply.
fn is_example(dense_instructions: &DenseText, message: &str) -> bool {
    let quoted = serde_json::to_string(message).unwrap_or_default();
    dense_instructions.contains(&format!("\"message\":{quoted}"))
}

/// Whether a message is a key of the reply's form, or stands in the template. Short ones do by chance.
fn is_of_template(dense_template: &DenseText, message: &str) -> bool {
    let message = message.trim_matches(|c: char| !c.is_alphanumeric());
    let is_key = ["message", "done", "reason"].contains(&message);
    is_key || message.split_whitespace().count() >= LEAST_OF_TEMPLATE && dense_template.contains(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_form_is_no_line_of_the_persona() {
        let instructions = "Say \"good morning\".\n{\"message\":  \"what you say to the assistant\", \"done\": false}";
        let instructions = &DenseText::new(instructions);
        assert!(is_example(instructions, "what you say to the assistant"));
        for message in ["good morning", "what you say", "Please book a train"] {
            assert!(!is_example(instructions, message), "{message}");
        }
    }

    #[test]
    fn words_of_the_template_are_no_line_of_the_persona() {
        let template = DenseText::new("# What you want from the chat\n\nSay that you don't know it.");
        for message in ["What you want from the chat", "## What you want\nfrom the chat", "reason", "\"done\""] {
            assert!(is_of_template(&template, message), "{message}");
        }
        for message in ["I don't know it", "don't know it", "What do you want from me?", "Done!", "For no reason"] {
            assert!(!is_of_template(&template, message), "{message}");
        }
    }
}
