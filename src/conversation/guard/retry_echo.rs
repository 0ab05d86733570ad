//! A turn that repeats the request to try again instead of obeying it: a weak persona takes our words for the assistant's.

use super::scene::Scene;
use super::words::plain;

/// How the request begins.
pub const RETRY_OPENING: &str = "That could not be used";
/// How it ends.
const RETRY_END: &str = "Reply again.";
/// The subjects with which models paraphrase the retry instruction.
const SUBJECTS: [&str; 6] = ["that", "it", "this", "the message", "my message", "the reply"];

/// The request to the persona for another message, with what was wrong with its last one.
pub fn retry_request(why: &str) -> String {
    format!("{RETRY_OPENING}: {}. {RETRY_END}", why.trim_end_matches('.'))
}

/// The words of the request with which the turn begins. A user may say of a thing of his that it could not be used: where
/// the case has such a thing or the assistant asked, only the request's whole form is an echo.
pub(super) fn retry_echo<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let (opening, end) = (plain(RETRY_OPENING), plain(RETRY_END));
    let refused = opening.strip_prefix(SUBJECTS[0])?;
    let turn = scene.text().plain().trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = SUBJECTS.iter().find_map(|subject| turn.strip_prefix(subject)?.strip_prefix(refused))?;
    let of_case = scene.tasks.iter().chain(scene.facts).chain(scene.messages.iter().map(|(_, text)| text));
    let is_of_case = of_case.flat_map(|text| text.words()).any(|word| USES.contains(&word));
    let is_whole_form = rest.starts_with(':') || rest.contains(end.trim_end_matches('.'));
    let is_bare = !rest.chars().any(char::is_alphanumeric) || rest.starts_with(',');
    (is_whole_form || is_bare && !is_of_case && !scene.agent_asks()).then(|| &turn[..turn.len() - rest.len()])
}

/// Words of conversations about something that can be used.
const USES: [&str; 9] = ["use", "used", "uses", "usable", "using", "work", "works", "redeem", "redeemed"];

#[cfg(test)]
mod tests {
    use super::super::{GuardInput, check};
    use super::retry_request;
    use crate::evidence::{Guard, Message, Role};

    fn is_leak(turn: &str, task: &str, agent: &str) -> bool {
        let transcript = [Message::new(Role::User, "Hello"), Message::new(Role::Assistant, agent)];
        let input = GuardInput {
            has_facts: true,
            tasks: &[task],
            facts: &[],
            signoff: "So long",
            transcript: &transcript,
            turn,
            ..GuardInput::default()
        };
        check(&input).iter().any(|finding| finding.guard == Guard::ReasoningLeak)
    }

    const TASK: &str = "Book a train to Lyon";
    const REPLY: &str = "I can book trains.";

    #[test]
    fn a_turn_that_repeats_the_request_to_try_again_is_a_leak() {
        let request = retry_request("it speaks as the assistant.");
        assert_eq!(request, "That could not be used: it speaks as the assistant. Reply again.");
        for turn in [
            request.as_str(),
            "It could not be used.",
            "\"That could not be used\"",
            "That could not be used, I need a train.",
            "The message could not be used. Reply again.",
        ] {
            assert!(is_leak(turn, TASK, REPLY), "{turn}");
        }
        assert!(is_leak(&request, TASK, "Where do you want to go?"));
    }

    #[test]
    fn a_user_whose_thing_could_not_be_used_may_say_so() {
        let voucher = "Get a new code for the voucher that doesn't work";
        assert!(!is_leak("It could not be used.", voucher, "I can help with vouchers."));
        assert!(!is_leak("It could not be used, so I want another one.", TASK, "What is the matter with your ticket?"));
        assert!(!is_leak("It could not be used at the machine in Paris.", TASK, REPLY));
        assert!(!is_leak("My ticket could not be used.", TASK, REPLY));
    }
}
