//! The scripted persona: one task after the other, an answer to what the agent asks, then goodbye.

use serde_json::json;

use super::fact::Fact;
use super::speech::wording;
use super::tag::{self, MissingTag};
use super::words::{asks, sentences};
use crate::evidence::{Message, Role};

/// The number of answers after which it leaves a task, so that an agent that keeps asking does not block the conversation.
const MAX_ANSWERS: usize = 4;

/// The persona's next message, as the JSON that its prompt asks for.
pub(super) fn reply(messages: &[Message]) -> Result<String, MissingTag> {
    let (instructions, lines): (Vec<&Message>, Vec<&Message>) =
        messages.iter().partition(|message| message.role == Role::System);
    let instructions = instructions.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n");
    // A plan without tasks is its one task.
    let plan = tag::last(&instructions, "plan");
    let tasks = match tag::last(&instructions, "tasks") {
        Ok(tasks) => tag::all(tasks.inner, "task"),
        Err(missing) => vec![plan.map_err(|_| missing)?],
    };
    let facts = tag::all(tag::last(&instructions, "facts")?.inner, "fact");
    let wordings: Vec<String> = tasks.iter().map(|task| wording(&task.text())).collect();
    let facts: Vec<Fact> = facts.iter().map(|fact| Fact::new(&fact.text())).collect();

    let (brought_up, since) = progress(&wordings, &lines);
    let answer = (brought_up > 0).then(|| answer(&facts, &lines[since..])).flatten();
    let (message, done) = match (answer, wordings.get(brought_up)) {
        (Some(answer), _) => (answer, false),
        (None, Some(wording)) if brought_up == 0 => (wording.clone(), false),
        (None, Some(wording)) => (format!("All right. {wording}"), false),
        (None, None) => ("That was everything. Thank you, and goodbye!".to_owned(), true),
    };
    Ok(json!({"message": message, "done": done}).to_string())
}

/// How many tasks the persona has brought up, and the line that brought up the last of them.
fn progress(wordings: &[String], lines: &[&Message]) -> (usize, usize) {
    let (mut brought_up, mut since) = (0, 0);
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.role == Role::Assistant) {
        if wordings.get(brought_up).is_some_and(|wording| line.content.ends_with(wording.as_str())) {
            brought_up += 1;
            since = at;
        }
    }
    (brought_up, since)
}

/// The answer to the questions of the last reply that were not asked before; `lines` are those of the task at hand.
fn answer(facts: &[Fact], lines: &[&Message]) -> Option<String> {
    let own_lines = lines.iter().filter(|line| line.role == Role::Assistant).count();
    let mut replies = lines.iter().filter(|line| line.role != Role::Assistant).map(|line| questions(line));
    let asked = replies.next_back()?;
    let earlier: Vec<String> = replies.flatten().collect();
    let new: Vec<&String> = asked.iter().filter(|question| !earlier.contains(question)).collect();
    if new.is_empty() || own_lines > MAX_ANSWERS {
        return None;
    }
    let mut answers: Vec<String> = Vec::new();
    for question in new {
        let fact = facts.iter().find(|fact| fact.is_asked_for_by(question)).map(Fact::in_first_person);
        let answer = fact.or_else(|| wants_consent(question).then(|| "Yes, please.".to_owned()));
        answers.extend(answer.filter(|answer| !answers.contains(answer)));
    }
    if answers.is_empty() {
        answers.push("I'm afraid I don't know that. Please go on as best you can.".to_owned());
    }
    Some(answers.join(" "))
}

/// The questions of a reply, without polite phrases such as `Anything else?`.
fn questions(reply: &Message) -> Vec<String> {
    let text = tag::last(&reply.content, "agent-reply").map_or_else(|_| reply.content.clone(), |reply| reply.text());
    let is_polite = |sentence: &str| {
        let lower = sentence.to_lowercase();
        POLITE.iter().any(|phrase| lower.contains(phrase))
    };
    sentences(&text).into_iter().filter(|sentence| asks(sentence) && !is_polite(sentence)).collect()
}

const POLITE: &[&str] = &["else", "help you", "assist you", "do for you", "how are you", "any other"];

fn wants_consent(question: &str) -> bool {
    let lower = question.to_lowercase();
    CONSENT.iter().any(|phrase| lower.contains(phrase))
}

const CONSENT: &[&str] =
    &["shall i", "should i", "want me to", "like me to", "is that right", "correct?", "may i", "ok?"];

#[cfg(test)]
mod tests;
