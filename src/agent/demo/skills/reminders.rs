//! Reminders. Whatever places one in time needs the user's time zone: it is asked for once, and where nobody knows it UTC is
//! assumed, in so many words.

use chrono::{DateTime, NaiveDate};
use chrono_tz::Tz;
use serde_json::{Value, json};

use super::super::dialogue::{Pending, Talk};
use super::super::notebook::{Change, Reminder};
use super::super::understand::Request;
use super::super::zone;
use super::{counted, enumerate};

/// Creates or moves a reminder, as soon as the time zone is known.
pub(in super::super) fn place(talk: &mut Talk<'_>, request: Request) {
    if let Request::MoveReminder { described, .. } = &request
        && talk.book.reminder(described).is_none()
    {
        return not_found(talk, described);
    }
    match known_zone(talk, &request) {
        Some(zone) => place_in(talk, &request, zone, ""),
        None if talk.mind.zone_unknown => {
            place_in(talk, &request, Tz::UTC, "As I don't know your time zone, I'm assuming UTC. ")
        }
        None => {
            talk.say("Sure. Which time zone are you in?");
            talk.mind.pending = Some(Pending::TimeZone { request });
        }
    }
}

/// The answer to the question for the time zone.
pub(in super::super) fn resume(talk: &mut Talk<'_>, request: Request, message: &str) {
    match zone::find(message) {
        Some(zone) => {
            talk.change("rememberTimeZone", json!({"timeZone": zone.name()}), Change::TimeZone(zone));
            place_in(talk, &request, zone, "Thank you, I'll remember your time zone. ");
        }
        None => {
            talk.mind.zone_unknown = true;
            let assumption = "As I don't know your time zone, I'm assuming UTC; tell me if that is wrong. ";
            place_in(talk, &request, Tz::UTC, assumption);
        }
    }
}

fn known_zone(talk: &Talk<'_>, request: &Request) -> Option<Tz> {
    let own = match request {
        Request::MoveReminder { described, .. } => talk.book.reminder(described).and_then(|found| found.time_zone),
        _ => None,
    };
    talk.book.time_zone.or(own).or_else(|| zone::find(talk.book.home.as_deref()?))
}

fn place_in(talk: &mut Talk<'_>, request: &Request, zone: Tz, preface: &str) {
    let (when, moved) = match request {
        Request::AddReminder { when, .. } => (when, None),
        Request::MoveReminder { when, described } => (when, talk.book.reminder(described).cloned()),
        _ => return,
    };
    let now = talk.now.with_timezone(&zone);
    let mut when = *when;
    if let Some(before) = moved.as_ref().and_then(|moved| moved.at) {
        // What is not said anew stays as it was.
        let before = before.with_timezone(&zone);
        when.time = when.time.or(Some(before.time()));
        if when.day.is_none() {
            when.day = super::super::when::Day::of(before.date_naive());
        }
    }
    let Some(moment) = when.moment(now) else {
        return talk.say("I'm sorry, I can't find that day in the calendar.");
    };
    let guess = if when.time.is_none() { " You didn't say at what time, so I took 9:00." } else { "" };
    let place = format!("{} ({})", spoken(moment, now.date_naive()), zone.name());
    let at = json!(moment.to_rfc3339());
    match (moved, request) {
        (Some(before), _) => {
            let after = Reminder::new(before.title.clone(), moment);
            talk.say(format!("{preface}I've moved the reminder \"{}\" to {place}.{guess}", before.title));
            let arguments = json!({"title": before.title, "at": at, "timeZone": zone.name()});
            talk.change("rescheduleReminder", arguments, Change::MoveReminder(before, after));
        }
        (None, Request::AddReminder { title, .. }) => {
            let what = title.as_ref().map_or("a reminder".to_owned(), |title| format!("the reminder \"{title}\""));
            talk.say(format!("{preface}I've created {what} for {place}.{guess}"));
            let title = title.clone().unwrap_or_else(|| "Reminder".to_owned());
            let arguments = json!({"title": title, "at": at, "timeZone": zone.name()});
            talk.change("createReminder", arguments, Change::AddReminder(Reminder::new(title, moment)));
        }
        _ => {}
    }
}

pub(in super::super) fn cancel(talk: &mut Talk<'_>, described: &str) {
    match talk.book.reminder(described).cloned() {
        Some(found) => {
            talk.say(format!("I've cancelled the reminder \"{}\".", found.title));
            talk.change("cancelReminder", json!({"title": found.title}), Change::CancelReminder(found));
        }
        None => not_found(talk, described),
    }
}

pub(in super::super) fn tell_when(talk: &mut Talk<'_>, described: &str) {
    match talk.book.reminder(described).cloned() {
        Some(found) => {
            talk.look_up("findReminder", json!({"title": described.trim()}), json!(found.title));
            talk.say(format!("{}.", line(&found, talk)));
        }
        None => not_found(talk, described),
    }
}

pub(in super::super) fn list(talk: &mut Talk<'_>) {
    let reminders = talk.book.reminders.clone();
    let titles: Vec<&str> = reminders.iter().map(|reminder| reminder.title.as_str()).collect();
    talk.look_up("listReminders", json!({}), json!(titles));
    if reminders.is_empty() {
        return talk.say("You have no reminders.");
    }
    let lines: Vec<String> = reminders.iter().map(|reminder| line(reminder, talk)).collect();
    talk.say(format!("You have {}: {}.", counted(reminders.len(), "reminder"), enumerate(&lines)));
}

pub(in super::super) fn count(talk: &mut Talk<'_>) {
    let count = talk.book.reminders.len();
    talk.look_up("listReminders", json!({}), Value::from(count));
    talk.say(format!("You have {}.", counted(count, "reminder")));
}

fn not_found(talk: &mut Talk<'_>, described: &str) {
    let described = described.split_whitespace().filter(|word| !word.eq_ignore_ascii_case("the")).collect::<Vec<_>>();
    talk.say(format!("I'm sorry, I can't find a reminder for \"{}\".", described.join(" ")));
}

fn line(reminder: &Reminder, talk: &Talk<'_>) -> String {
    let zone = talk.book.time_zone.or(reminder.time_zone).unwrap_or(Tz::UTC);
    let today = talk.now.with_timezone(&zone).date_naive();
    match reminder.at {
        Some(at) => {
            format!("\"{}\" is set for {} ({})", reminder.title, spoken(at.with_timezone(&zone), today), zone.name())
        }
        None => format!("\"{}\" has no date yet", reminder.title),
    }
}

/// `tomorrow, Saturday 21 November 2026, at 9:00`.
fn spoken(moment: DateTime<Tz>, today: NaiveDate) -> String {
    let near = match (moment.date_naive() - today).num_days() {
        0 => "today, ",
        1 => "tomorrow, ",
        _ => "",
    };
    let comma = if near.is_empty() { "" } else { "," };
    format!("{near}{}{comma} at {}", moment.format("%A %-d %B %Y"), moment.format("%-H:%M"))
}
