//! Greetings, thanks, and owning up to not understanding.

use super::super::dialogue::Talk;

pub(in super::super) fn greet(talk: &mut Talk<'_>) {
    let name = talk.book.name.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
    talk.say(format!("Hello{name}! I look after your reminders and contacts. How can I help you?"));
}

pub(in super::super) fn welcome(talk: &mut Talk<'_>) {
    talk.say("You're welcome! Is there anything else I can do for you?");
}

pub(in super::super) fn part(talk: &mut Talk<'_>) {
    talk.say("You're welcome. Goodbye!");
}

pub(in super::super) fn puzzle(talk: &mut Talk<'_>) {
    talk.say(
        "I'm sorry, I didn't understand that. I can look after reminders and contacts, and remember what you tell me.",
    );
}
