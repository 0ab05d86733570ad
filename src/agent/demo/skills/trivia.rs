//! A little general knowledge.

use super::super::dialogue::Talk;

pub(in super::super) fn capital(talk: &mut Talk<'_>, country: &str) {
    match CAPITALS.iter().find(|(known, _)| known.eq_ignore_ascii_case(country)) {
        Some((country, capital)) => talk.say(format!("The capital of {country} is {capital}.")),
        None => talk.say(format!("I'm sorry, I don't know the capital of {country}.")),
    }
}

pub(in super::super) fn sum(talk: &mut Talk<'_>, left: f64, operator: char, right: f64) {
    let (word, result) = match operator {
        '+' => ("plus", left + right),
        '-' => ("minus", left - right),
        '*' => ("times", left * right),
        _ if right == 0.0 => return talk.say("Nothing can be divided by zero."),
        _ => ("divided by", left / right),
    };
    let result = (result * 10_000.0).round() / 10_000.0;
    talk.say(format!("{left} {word} {right} is {result}."));
}

const CAPITALS: &[(&str, &str)] = &[
    ("Argentina", "Buenos Aires"),
    ("Australia", "Canberra"),
    ("Austria", "Vienna"),
    ("Belgium", "Brussels"),
    ("Brazil", "Brasília"),
    ("Canada", "Ottawa"),
    ("Denmark", "Copenhagen"),
    ("Egypt", "Cairo"),
    ("Finland", "Helsinki"),
    ("France", "Paris"),
    ("Germany", "Berlin"),
    ("Greece", "Athens"),
    ("India", "New Delhi"),
    ("Ireland", "Dublin"),
    ("Italy", "Rome"),
    ("Japan", "Tokyo"),
    ("Kenya", "Nairobi"),
    ("Mexico", "Mexico City"),
    ("Morocco", "Rabat"),
    ("New Zealand", "Wellington"),
    ("Norway", "Oslo"),
    ("Peru", "Lima"),
    ("Poland", "Warsaw"),
    ("Portugal", "Lisbon"),
    ("Spain", "Madrid"),
    ("Sweden", "Stockholm"),
    ("Switzerland", "Bern"),
];
