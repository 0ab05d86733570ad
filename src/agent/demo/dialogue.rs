//! One turn of the dialogue, pure: the agent's text, its actions, and the request that waits for an answer.
//!
//! To place a reminder in time the agent needs the user's time zone. It asks once, and where the user does not know it assumes
//! UTC and says so.

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

use super::reminders::{Reminder, ReminderAction, UserData};
use super::requests::{self, UserRequest};
use super::time_zone;
use super::when::Day;

/// The state of a session between two messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DialogueState {
    /// The request that waits for the user's time zone.
    waiting: Option<UserRequest>,
    /// The user does not know its time zone: it is not asked again.
    time_zone_unknown: bool,
}

/// The agent's answer to a message, and the calls that go with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DialogueReply {
    pub(super) text: String,
    pub(super) actions: Vec<ReminderAction>,
}

/// Answers a message, with the user's data.
pub(super) fn answer(data: UserData, now: DateTime<Utc>, state: &mut DialogueState, message: &str) -> DialogueReply {
    let waiting = state.waiting.take();
    let mut turn = DialogueTurn { data, now, state, sentences: Vec::new(), actions: Vec::new() };
    let mut requests = requests::read(message);
    if let Some(request) = waiting {
        turn.resume(request, message);
        requests.retain(|request| !matches!(request, UserRequest::RememberTimeZone(_) | UserRequest::Thanks));
    }
    for request in requests {
        turn.handle(request);
    }
    if turn.sentences.is_empty() {
        turn.say("I'm sorry, I didn't understand that. I can create, list, move and cancel reminders.");
    }
    DialogueReply { text: turn.sentences.join(" "), actions: turn.actions }
}

/// A turn under way.
struct DialogueTurn<'a> {
    data: UserData,
    now: DateTime<Utc>,
    state: &'a mut DialogueState,
    sentences: Vec<String>,
    actions: Vec<ReminderAction>,
}

impl DialogueTurn<'_> {
    fn say(&mut self, sentence: impl Into<String>) {
        self.sentences.push(sentence.into());
    }

    fn act(&mut self, action: ReminderAction) {
        self.data.apply(&action);
        self.actions.push(action);
    }

    fn handle(&mut self, request: UserRequest) {
        match request {
            UserRequest::Create { .. } | UserRequest::Reschedule { .. } => self.schedule(request),
            UserRequest::Cancel { description } => self.cancel(&description),
            UserRequest::List => self.list(),
            UserRequest::RememberTimeZone(zone) => {
                self.act(ReminderAction::RememberTimeZone(zone));
                self.say(format!("Thank you, I'll remember that your time zone is {}.", zone.name()));
            }
            UserRequest::Greeting => self.say("Hello! I look after your reminders. How can I help you?"),
            UserRequest::Thanks => self.say("You're welcome! Is there anything else I can do for you?"),
            UserRequest::Goodbye => self.say("You're welcome. Goodbye!"),
        }
    }

    /// Creates or moves a reminder as soon as the time zone is known, or known to be unknown.
    fn schedule(&mut self, request: UserRequest) {
        if let UserRequest::Reschedule { description, .. } = &request
            && self.data.find(description).is_none()
        {
            return self.not_found(description);
        }
        match self.data.time_zone {
            Some(zone) => self.schedule_in(&request, zone),
            None if self.state.time_zone_unknown => {
                self.say("As I don't know your time zone, I'm assuming UTC.");
                self.schedule_in(&request, Tz::UTC);
            }
            None => {
                self.say("Sure. Which time zone are you in?");
                self.state.waiting = Some(request);
            }
        }
    }

    /// Resumes the request that waited for the time zone, which the message should name.
    fn resume(&mut self, request: UserRequest, message: &str) {
        let zone = time_zone::find(&requests::words(message));
        match zone {
            Some(zone) => {
                self.act(ReminderAction::RememberTimeZone(zone));
                self.say("Thank you, I'll remember your time zone.");
            }
            None => {
                self.state.time_zone_unknown = true;
                self.say("As I don't know your time zone, I'm assuming UTC; tell me if that is wrong.");
            }
        }
        self.schedule_in(&request, zone.unwrap_or(Tz::UTC));
    }

    fn schedule_in(&mut self, request: &UserRequest, zone: Tz) {
        let now = self.now.with_timezone(&zone);
        let (mut when, title, before) = match request {
            UserRequest::Create { title, when } => (*when, title.clone(), None),
            UserRequest::Reschedule { description, when } => (*when, None, self.data.find(description).cloned()),
            _ => return,
        };
        // Day and time that are not given stay as they were.
        if let Some(old) = before.as_ref().and_then(Reminder::moment).map(|old| old.with_timezone(&zone)) {
            when.day = when.day.or(Some(Day::Date(old.date_naive())));
            when.time = when.time.or(Some(old.time()));
        }
        let Some(moment) = when.moment(now) else {
            return self.say("I'm sorry, I can't find that day in the calendar.");
        };
        let place = format!("{} ({})", describe_moment(moment, now.date_naive()), zone.name());
        let guess = if when.time.is_none() { " You didn't say at what time, so I took 9:00." } else { "" };
        match before {
            Some(before) => {
                self.say(format!("I've moved the reminder \"{}\" to {place}.{guess}", before.title));
                let after = Reminder::new(before.title.clone(), moment);
                self.act(ReminderAction::Reschedule { before, after });
            }
            None => {
                let what = title.as_ref().map_or("a reminder".to_owned(), |title| format!("the reminder \"{title}\""));
                self.say(format!("I've created {what} for {place}.{guess}"));
                let title = title.unwrap_or_else(|| "Reminder".to_owned());
                self.act(ReminderAction::Create(Reminder::new(title, moment)));
            }
        }
    }

    fn cancel(&mut self, description: &str) {
        match self.data.find(description).cloned() {
            Some(reminder) => {
                self.say(format!("I've cancelled the reminder \"{}\".", reminder.title));
                self.act(ReminderAction::Cancel(reminder));
            }
            None => self.not_found(description),
        }
    }

    fn list(&mut self) {
        let reminders = &self.data.reminders;
        let lines: Vec<String> = reminders.iter().map(|reminder| self.describe(reminder)).collect();
        let titles = reminders.iter().map(|reminder| reminder.title.clone()).collect();
        self.say(match lines.as_slice() {
            [] => "You have no reminders.".to_owned(),
            [only] => format!("You have 1 reminder: {only}."),
            [first @ .., last] => format!("You have {} reminders: {} and {last}.", lines.len(), first.join(", ")),
        });
        self.act(ReminderAction::List { titles });
    }

    fn describe(&self, reminder: &Reminder) -> String {
        let zone = self.data.time_zone.or(reminder.time_zone).unwrap_or(Tz::UTC);
        let today = self.now.with_timezone(&zone).date_naive();
        match reminder.moment() {
            Some(at) => {
                let at = describe_moment(at.with_timezone(&zone), today);
                format!("\"{}\" is set for {at} ({})", reminder.title, zone.name())
            }
            None => format!("\"{}\" has no date yet", reminder.title),
        }
    }

    fn not_found(&mut self, description: &str) {
        self.say(format!("I'm sorry, I can't find a reminder for \"{description}\"."));
    }
}

/// `tomorrow, Saturday 21 November 2026, at 9:00`.
fn describe_moment(moment: DateTime<Tz>, today: NaiveDate) -> String {
    let date = moment.format("%A %-d %B %Y");
    let day = match (moment.date_naive() - today).num_days() {
        0 => format!("today, {date},"),
        1 => format!("tomorrow, {date},"),
        _ => date.to_string(),
    };
    format!("{day} at {}", moment.format("%-H:%M"))
}

#[cfg(test)]
mod tests;
