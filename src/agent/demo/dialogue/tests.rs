use chrono::TimeZone;

use super::*;

/// A conversation on Friday, 20 November 2026, 12:00 UTC.
#[derive(Default)]
struct TestDialogue {
    data: UserData,
    state: DialogueState,
}

impl TestDialogue {
    fn say(&mut self, message: &str) -> String {
        let now = Utc.with_ymd_and_hms(2026, 11, 20, 12, 0, 0).unwrap();
        let reply = answer(self.data.clone(), now, &mut self.state, message);
        reply.actions.iter().for_each(|action| self.data.apply(action));
        reply.text
    }
}

const ASK: &str = "Please create a reminder to feed the cat for tomorrow at 9am.";

#[test]
fn the_time_zone_is_asked_for_once_and_kept() {
    let mut talk = TestDialogue::default();
    assert_eq!(talk.say(ASK), "Sure. Which time zone are you in?");
    assert_eq!(
        talk.say("My timezone is Asia/Tokyo."),
        "Thank you, I'll remember your time zone. I've created the reminder \"Feed the cat\" for tomorrow, Saturday 21 November 2026, at 9:00 (Asia/Tokyo)."
    );
    assert_eq!(
        talk.say("Remind me to sleep today at 23:00"),
        "I've created the reminder \"Sleep\" for today, Friday 20 November 2026, at 23:00 (Asia/Tokyo)."
    );
}

#[test]
fn an_unknown_time_zone_is_assumed_in_so_many_words() {
    let mut talk = TestDialogue::default();
    talk.say(ASK);
    let reply = talk.say("I'm afraid I don't know that. Please go on as best you can.");
    assert!(
        reply.starts_with("As I don't know your time zone, I'm assuming UTC; tell me if that is wrong. I've"),
        "{reply}"
    );
    let reply = talk.say("Remind me to sleep at 23:00");
    assert!(reply.starts_with("As I don't know your time zone, I'm assuming UTC. I've created"), "{reply}");
}

#[test]
fn an_answer_may_hold_another_request() {
    let mut talk = TestDialogue::default();
    talk.say(ASK);
    let reply = talk.say("No idea. Which reminders do I have?");
    assert!(reply.contains("assuming UTC") && reply.contains("You have 1 reminder: \"Feed the cat\""), "{reply}");
}

#[test]
fn what_is_not_named_anew_stays_as_it_was() {
    let mut talk = TestDialogue::default();
    talk.say("My time zone is UTC. Remind me to feed the cat on 7 March 2031 at 8:30.");
    let moved = "I've moved the reminder \"Feed the cat\" to Saturday 8 March 2031 at 8:30 (UTC).";
    assert_eq!(talk.say("Move the cat to 8 March 2031."), moved);
    let moved = "I've moved the reminder \"Feed the cat\" to Saturday 8 March 2031 at 18:00 (UTC).";
    assert_eq!(talk.say("Reschedule feeding the cat to 6pm."), moved);
    assert_eq!(talk.say("Cancel the cat."), "I've cancelled the reminder \"Feed the cat\".");
    assert_eq!(talk.say("Which reminders do I have?"), "You have no reminders.");
}

#[test]
fn what_can_not_be_done_is_owned_up_to() {
    let mut talk = TestDialogue::default();
    assert_eq!(talk.say("Cancel the dog."), "I'm sorry, I can't find a reminder for \"the dog\".");
    assert_eq!(talk.say("Move the dog to Friday."), "I'm sorry, I can't find a reminder for \"the dog\".");
    assert!(talk.say("What is the meaning of it all?").starts_with("I'm sorry, I didn't understand that."));
    talk.say("My time zone is UTC.");
    assert!(talk.say("Remind me to rest on 7 March 2031").ends_with("You didn't say at what time, so I took 9:00."));
}
