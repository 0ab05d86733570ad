//! The agent's data about a user, and the actions on them. Plain data.

use chrono::{DateTime, FixedOffset};
use chrono_tz::Tz;
use serde_json::{Value, json};

/// The agent's data about one user.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct UserData {
    pub(super) time_zone: Option<Tz>,
    pub(super) reminders: Vec<Reminder>,
}

/// A reminder as the graph holds it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reminder {
    pub(super) title: String,
    /// ISO 8601 with an offset; empty for a reminder without a date that a job's setup created.
    pub(super) at: String,
    pub(super) time_zone: Option<Tz>,
}

impl Reminder {
    pub(super) fn new(title: String, at: DateTime<Tz>) -> Reminder {
        Reminder { title, at: at.to_rfc3339(), time_zone: Some(at.timezone()) }
    }

    pub(super) fn moment(&self) -> Option<DateTime<FixedOffset>> {
        DateTime::parse_from_rfc3339(&self.at).ok()
    }

    fn to_json(&self) -> Value {
        json!({"title": self.title, "at": self.at, "timeZone": self.time_zone.map(|zone| zone.name())})
    }
}

/// A call of one of the agent's functions.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReminderAction {
    Create(Reminder),
    Reschedule { before: Reminder, after: Reminder },
    Cancel(Reminder),
    List { titles: Vec<String> },
    RememberTimeZone(Tz),
}

impl ReminderAction {
    /// The functions: name, description and arguments.
    pub(super) const FUNCTIONS: [(&str, &str, &[&str]); 5] = [
        ("createReminder", "Creates a reminder", &["title", "at", "timeZone"]),
        ("rescheduleReminder", "Moves a reminder to another moment", &["title", "at", "timeZone"]),
        ("cancelReminder", "Removes a reminder", &["title"]),
        ("listReminders", "Lists the reminders", &[]),
        ("rememberTimeZone", "Remembers the user's time zone", &["timeZone"]),
    ];

    pub(super) fn function(&self) -> &'static str {
        let index = match self {
            ReminderAction::Create(_) => 0,
            ReminderAction::Reschedule { .. } => 1,
            ReminderAction::Cancel(_) => 2,
            ReminderAction::List { .. } => 3,
            ReminderAction::RememberTimeZone(_) => 4,
        };
        ReminderAction::FUNCTIONS[index].0
    }

    pub(super) fn arguments(&self) -> Value {
        match self {
            ReminderAction::Create(reminder) | ReminderAction::Reschedule { after: reminder, .. } => reminder.to_json(),
            ReminderAction::Cancel(reminder) => json!({"title": reminder.title}),
            ReminderAction::List { .. } => json!({}),
            ReminderAction::RememberTimeZone(zone) => json!({"timeZone": zone.name()}),
        }
    }

    /// The function's result.
    pub(super) fn output(&self) -> Value {
        match self {
            ReminderAction::List { titles } => json!(titles),
            _ => json!("ok"),
        }
    }
}

impl UserData {
    pub(super) fn apply(&mut self, action: &ReminderAction) {
        match action {
            ReminderAction::Create(reminder) => self.reminders.push(reminder.clone()),
            ReminderAction::Reschedule { before, after } => {
                self.reminders
                    .iter_mut()
                    .filter(|reminder| *reminder == before)
                    .for_each(|found| *found = after.clone());
            }
            ReminderAction::Cancel(gone) => self.reminders.retain(|reminder| reminder != gone),
            ReminderAction::List { .. } => {}
            ReminderAction::RememberTimeZone(zone) => self.time_zone = Some(*zone),
        }
    }

    /// The reminder with the most title words in common with the description; at least half of either must be in common.
    pub(super) fn find(&self, description: &str) -> Option<&Reminder> {
        let wanted = title_words(description);
        let mut best: Option<(usize, &Reminder)> = None;
        for reminder in &self.reminders {
            let title = title_words(&reminder.title);
            let shared = title.iter().filter(|word| wanted.contains(word)).count();
            let enough = shared > 0 && shared * 2 >= title.len().min(wanted.len());
            if enough && best.is_none_or(|(most, _)| shared > most) {
                best = Some((shared, reminder));
            }
        }
        best.map(|(_, reminder)| reminder)
    }
}

/// The words of a title in lower case, without those that any title may have.
fn title_words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !matches!(*word, "" | "the" | "a" | "an" | "my" | "to" | "of" | "for" | "s" | "reminder"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests;
