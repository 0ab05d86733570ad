//! The fifteen questions of the Red Hat quickstart: what each asks, in steps of our own words.

use serde_json::{Value, json};

use super::judges::judging;
use crate::dataset::DatasetMetric;
use crate::dataset::counterpart::NoCounterpart;

/// The agent of the quickstart.
const ROLE: &str = "An IT self-service assistant of a company: it helps employees with requests to IT, such as a laptop refresh, \
    politely and professionally, follows the company's policies, and hands over to others what it is not there for.";

/// Text of a user's message that ends a flow: whatever comes after it is no part of what is judged.
const END: &str = "DONEDONEDONE";

/// The name, what is scored, and in which steps.
const QUESTIONS: [(&str, &str, &[&str]); 12] = [
    (
        "Information Gathering",
        "The assistant gathers the information that the request needs.",
        &[
            "List what the assistant has to know before it can fulfil the user's request.",
            "Find where it asked for each, or had it from the user or its tools already.",
            "Take points off for what was needed and never asked, and for asking again what it had been given.",
        ],
    ),
    (
        "Policy Compliance",
        "What the assistant says and offers keeps to the policies in the context.",
        &[
            "Find the policies in the context that bear on the request: who is eligible, when, and for what.",
            "Compare each statement and each decision of the assistant with them.",
            "Any decision against a policy, or any rule that the policies don't have, is a serious fault.",
        ],
    ),
    (
        "Option Presentation",
        "The assistant presents the user's options clearly and completely.",
        &[
            "Find where the user had a choice.",
            "Check that the options were listed before the choice, each with what the user needs to choose.",
            "A conversation in which there was nothing to choose has full points.",
        ],
    ),
    (
        "Process Completion",
        "The assistant brings the user's request to its end.",
        &[
            "Name the steps that the request has from its beginning to its end.",
            "Check that the assistant went through them in a sensible order and reached the end, such as a ticket that was made, \
             or explained why it could not.",
        ],
    ),
    (
        "User Experience",
        "The conversation is clear, polite and helpful for the user.",
        &[
            "Look at tone, clarity and length of the assistant's messages.",
            "Take points off for confusion, repetition, needless questions and jargon that is not explained.",
        ],
    ),
    (
        "Flow termination",
        "The conversation ends properly.",
        &[
            "Look at how the conversation ends: with the request done, a ticket number, a polite close, or a hand-over.",
            "An end in the middle of a step, or a loop, has no points.",
        ],
    ),
    (
        "Ticket number validation",
        "A ticket number that the assistant names is complete and in the form of the service desk.",
        &[
            "Find each ticket number that the assistant names.",
            "Check that it is a whole number of a ticket, such as REQ and digits, and the same wherever it is named.",
            "Where a ticket was said to be made, its number must be named. Where none was to be made, full points.",
        ],
    ),
    (
        "Correct eligibility validation",
        "The assistant decides rightly whether the user is eligible.",
        &[
            "Find in the context the rule of eligibility, such as the age that a laptop must have.",
            "Find the data about the user's equipment in the conversation.",
            "Work out whether the user is eligible, and compare with what the assistant said. A user who is not eligible may still be \
             helped where the assistant says so and the user confirms.",
        ],
    ),
    (
        "No errors reported by agent",
        "The assistant reports no error of its own systems.",
        &[
            "Look for messages in which the assistant says that a tool, a service or it itself failed, or that it could not \
             get at data or create a ticket.",
            "Any such message has no points; a conversation without one has full points.",
        ],
    ),
    (
        "Correct laptop options for user location",
        "The laptops that the assistant offers are those of the user's location, all of them, with their details.",
        &[
            "Find the user's location in the conversation, and in the context the laptops that are offered there.",
            "Compare the list that the assistant presented with them: none may be absent, and none may be of another location.",
            "Compare the details of each laptop with the context: models, processors, memory, storage, prices.",
            "Where no list was to be presented, full points.",
        ],
    ),
    (
        "Confirmation Before Ticket Creation",
        "The assistant makes a ticket only after the user confirmed.",
        &[
            "Find where a ticket was made.",
            "Check that before it the assistant asked whether to go on, and that the user agreed.",
            "Where no ticket was made, full points.",
        ],
    ),
    (
        "Return to Router After Task Completion",
        "Once a task is done, the user is handed back to the assistant that routes requests.",
        &[
            "Find where the task was done or given up.",
            "Check that the next message offers help with other requests, as the routing assistant does, and does not go on with the \
             finished task.",
            "Where the conversation ends with the task, full points.",
        ],
    ),
];

/// Those of today's fifteen that the older generation left to DeepEval's own metrics.
const FIRST: [(&str, &str, &[&str]); 3] = [
    (
        "Turn Relevancy",
        "Each reply of the assistant is relevant to what the user said.",
        &[
            "Take the assistant's replies one by one, each with what the user had said by then.",
            "Take points off for each reply that passes over what the user said or is beside the point.",
        ],
    ),
    (
        "Role Adherence",
        "The assistant keeps to its role: an IT self-service assistant that helps employees of a company.",
        &[
            "Find out what such an assistant is there for, and how it speaks.",
            "Take points off for each reply in which it leaves that role.",
        ],
    ),
    (
        "Conversation Completeness",
        "The assistant met everything that the user wanted.",
        &[
            "List what the user wanted in the course of the conversation.",
            "Check for each whether the assistant met it, or said rightly why it could not.",
            "Take points off for what was left open.",
        ],
    ),
];

/// The metric of ours that a question means.
pub(super) fn options(metric: &DatasetMetric, strict: bool) -> Result<(&'static str, Value), NoCounterpart> {
    let mut judging = judging(1, strict);
    judging["until"] = END.into();
    // Each message of a conversation is a turn of DeepEval's, which its judges see.
    judging["intermediate"] = true.into();
    let name = metric.name.trim_end_matches(" [Conversational GEval]");
    // The questions of today's first three mean what the native metrics decide reply by reply, with evidence for each.
    let is_native = !strict || metric.evaluator != "ConversationalGEval";
    Ok(match name {
        name if !is_native && FIRST.iter().any(|(known, ..)| *known == name) => {
            let (_, criteria, steps) = FIRST.iter().find(|(known, ..)| *known == name).ok_or("it is not known")?;
            ("geval", json!({ "criteria": criteria, "steps": steps, "weighted": false, "judging": judging }))
        }
        "Turn Relevancy" => ("turnRelevancy", json!({ "judging": judging })),
        "Role Adherence" => ("roleAdherence", json!({ "role": ROLE, "judging": judging })),
        "Conversation Completeness" => ("completeness", json!({ "judging": judging })),
        name => {
            let (_, criteria, steps) =
                QUESTIONS.iter().find(|(known, ..)| *known == name).ok_or("no question of this name is known")?;
            // Six of them have the threshold 1, which no weighted score reaches.
            let mut options = json!({ "criteria": criteria, "steps": steps, "weighted": false, "judging": judging });
            if metric.options.get("retries").is_some() && strict {
                options["secondBelow"] = metric.threshold.into();
            }
            ("geval", options)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::DatasetMetric;
    use crate::dataset::redhat::metrics::{MetricSet, metrics};

    #[test]
    fn each_of_the_fifteen_is_asked() {
        let metrics: Vec<DatasetMetric> = metrics(MetricSet::default());
        let lowered: Vec<&str> = metrics.iter().map(|metric| options(metric, false).unwrap().0).collect();
        assert_eq!(lowered.len(), 15);
        assert_eq!(lowered.iter().filter(|key| **key == "geval").count(), 12);
        let strict = metrics.iter().filter(|metric| options(metric, true).unwrap().0 == "geval");
        assert_eq!(strict.count(), 15, "as the original asks today");
        let old = self::metrics(MetricSet::Quickstart13);
        assert_eq!(old.iter().filter(|metric| options(metric, true).unwrap().0 == "geval").count(), 10);
    }

    #[test]
    fn the_second_try_is_the_originals_alone() {
        let metrics = metrics(MetricSet::default());
        let of = |strict: bool| {
            let second =
                metrics.iter().filter_map(|metric| options(metric, strict).unwrap().1.get("secondBelow").cloned());
            second.collect::<Vec<_>>()
        };
        assert_eq!((of(false), of(true)), (vec![], vec![json!(1.0)]));
    }
}
