//! What it costs to check a turn of the persona with all guards.

use std::time::{Duration, Instant};

use eval_job::conversation::guard::{GuardInput, KnownTexts, faults};
use eval_job::evidence::{Message, Role};

const TURNS: u32 = 5_000;

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
            let after = |messages: usize| GuardInput {
                has_facts: true,
                tasks: &tasks,
                facts: &facts,
                signoff: "So Long, and Thanks for All the Fish",
                transcript: &transcript[..messages],
                turn,
                ..GuardInput::default()
            };
            // As in a conversation: the texts up to the last turn are known from the turn before.
            let (before, now) = (after(transcript.len() - 2), after(transcript.len()));
            let mut known = KnownTexts::default();
            let (mut found, mut spent) = (0, Duration::ZERO);
            for _ in 0..TURNS {
                faults(&before, &mut known);
                let started = Instant::now();
                found += faults(std::hint::black_box(&now), &mut known).len();
                spent += started.elapsed();
            }
            let ms = spent.as_secs_f64() * 1e3 / f64::from(TURNS);
            println!(
                "guards   {name:<7} turn after {:>2} messages: {ms:.4} ms, {} findings",
                2 * pairs,
                found / TURNS as usize
            );
        }
    }
}
