//! What it costs to check a turn of the persona with all guards.

use eval_job::conversation::guard::{GuardInput, check};
use eval_job::evidence::{Message, Role};

const TURNS: usize = 5_000;

/// Prints a line for a conversation of each length, with a turn that is all right and one that is not.
pub fn table() {
    let tasks = ["Book a table for two at the restaurant", "Ask whether parking is available", "Cancel the newsletter"];
    let facts =
        ["The user is allergic to peanuts", "The user's phone number is 555 0142 77", "The user is called Anna Keller"];
    for pairs in [2, 10] {
        let pair = |number: usize| {
            let user = format!("And what about seat number {number}, would that be a good one for the two of us?");
            let agent =
                "Certainly, that seat is free, and it is close to the stage. Shall I reserve it for the evening?";
            [Message::new(Role::User, user), Message::new(Role::Assistant, agent)]
        };
        let transcript: Vec<Message> = (1..=pairs).flat_map(pair).collect();
        for (name, turn) in [
            ("sound", "That sounds good. Could you tell me whether parking is available nearby in the evening?"),
            ("faulty", "Sure, my name is Robert Miller and I'm allergic to peanuts, call 0171 5556677 at 7 pm. Bye!"),
        ] {
            let input = GuardInput {
                has_facts: true,
                tasks: &tasks,
                facts: &facts,
                background: &[],
                signoff: "So Long, and Thanks for All the Fish",
                transcript: &transcript,
                turn,
                is_done: false,
            };
            let mut found = check(&input).len();
            let started = crate::cpu_ms();
            for _ in 0..TURNS {
                found += check(std::hint::black_box(&input)).len();
            }
            let ms = (crate::cpu_ms() - started) / TURNS as f64;
            println!(
                "guards   {name:<7} turn after {:>2} messages: {ms:.4} ms, {} findings",
                2 * pairs,
                found / (TURNS + 1)
            );
        }
    }
}
