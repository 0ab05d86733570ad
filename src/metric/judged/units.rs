//! Units of interaction, as DeepEval counts them: what the user said, with all replies to it.

use crate::evidence::Role;

/// The messages of each unit, by their places. A unit ends where the user speaks after the assistant; replies before the first message
/// of the user belong to the first unit; one without a reply at its end is none.
pub fn units(roles: &[Role]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut unit: Vec<usize> = Vec::new();
    let has_user = |unit: &[usize]| unit.iter().any(|at| roles[*at] == Role::User);
    for (at, role) in roles.iter().enumerate() {
        let is_after_reply = unit.last().is_some_and(|last| roles[*last] == Role::Assistant);
        if *role == Role::User && is_after_reply && has_user(&unit) {
            all.push(std::mem::take(&mut unit));
        }
        unit.push(at);
    }
    let is_answered = unit.last().is_some_and(|last| roles[*last] == Role::Assistant);
    if is_answered && has_user(&unit) {
        all.push(unit);
    }
    all
}

/// For each of so many units those that belong to its window: itself and those before it, at most `size` together.
pub fn windows(units: usize, size: usize) -> Vec<std::ops::RangeInclusive<usize>> {
    (0..units).map(|last| (last + 1).saturating_sub(size.max(1))..=last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_at_its_unit() {
        assert_eq!(windows(3, 2), [0..=0, 0..=1, 1..=2]);
        assert_eq!(windows(2, 0), [0..=0, 1..=1]);
        assert!(windows(0, 3).is_empty());
    }

    #[test]
    fn the_last_unit_needs_a_reply() {
        use Role::{Assistant, User};
        assert_eq!(units(&[Assistant, User, Assistant, User]), [[0, 1, 2]]);
        assert_eq!(units(&[User, Assistant, User, User]), [[0, 1]]);
        assert!(units(&[]).is_empty());
    }
}
