//! What the assistant can do, a file a skill. Each reads the book, says something, and lists what is to be written.

pub(super) mod contacts;
pub(super) mod courtesy;
pub(super) mod knowledge;
pub(super) mod reminders;
pub(super) mod trivia;

/// `a`, `a and b`, `a, b and c`.
fn enumerate(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `1 reminder`, `2 reminders`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
