//! The kinds of thing that a fact is by its form: an address with an at sign, a number, a date.

use std::sync::LazyLock;

use super::phrases::PHRASES;
use super::text_view::TextView;

/// The kinds that are known by their form, and reasons, a bit each.
pub(super) struct Kinds {
    pub(super) email: u32,
    telephone: u32,
    pub(super) date: u32,
    pub(super) name: u32,
    code: u32,
    pub(super) address: u32,
    pub(super) quantity: u32,
    pub(super) reason: u32,
    pub(super) birth: u32,
    pub(super) device: u32,
    /// Those of which each user has one.
    pub(super) of_user: u32,
    /// Those by which a question says what is to be told.
    pub(super) asked: u32,
    /// Those that a fact must have where a question has them.
    pub(super) exact: u32,
    /// Numbers and addresses that are somebody's own.
    pub(super) own_number: u32,
}

/// Looked up once, by words of `phrases/kinds.txt` that no other kind has.
pub(super) static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    let kinds = |word: &'static str| TextView::new(word).kinds();
    let exact = ["surname", "clock", "postcode", "quantity", "email", "telephone", "birthdate"].map(kinds);
    let exact = exact.into_iter().fold(0, |all, kind| all | kind);
    Kinds {
        email: kinds("email"),
        telephone: kinds("telephone"),
        date: kinds("date"),
        name: kinds("surname"),
        code: kinds("serial"),
        address: kinds("postcode"),
        quantity: kinds("quantity"),
        reason: kinds("reason"),
        birth: kinds("birthdate"),
        device: kinds("laptop"),
        asked: ["serial", "vegan", "laptop", "profession", "nationality", "breed", "cash", "colour"]
            .into_iter()
            .fold(exact, |all, word| all | kinds(word)),
        exact,
        own_number: kinds("serial") | kinds("email") | kinds("telephone"),
        of_user: kinds("surname") | kinds("birthdate") | kinds("email") | kinds("telephone"),
    }
});

/// The kinds that what a fact says has by its form.
pub(super) fn by_shape(fact: &TextView<'_>) -> u32 {
    let digits = fact.digits().len();
    let is_digit = |c: char| c.is_ascii_digit();
    let joins = |joint: char| {
        fact.plain().match_indices(joint).any(|(at, mark)| {
            fact.plain()[..at].ends_with(is_digit) && fact.plain()[at + mark.len()..].starts_with(is_digit)
        })
    };
    let mut all = 0;
    if fact.raw.contains('@') {
        all |= KINDS.email;
    }
    if digits >= 7 {
        all |= KINDS.telephone;
    }
    if digits > 0 && (joins('-') || joins('/') || joins(':') || joins('.')) {
        all |= KINDS.date;
    }
    let is_date = |word: &str| PHRASES.months.contains_key(word) || PHRASES.weekdays.contains_key(word);
    // "May" is a month beside a figure.
    if fact.words().any(|word| (word.len() > 3 || digits > 0) && is_date(word)) {
        all |= KINDS.date;
    }
    if digits >= 3 {
        all |= KINDS.code;
    } else if digits > 0 && all == 0 {
        all |= KINDS.quantity;
    }
    all
}
