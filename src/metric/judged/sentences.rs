//! The sentences of replies, each an item for the judge.

use super::{JudgeItem, JudgeItems};
use crate::evidence::Turn;
use crate::score::{Component, Item, Weight, weighted_mean};
use crate::text::sentences;

/// The most sentences that are asked about in one question.
const MOST_SENTENCES: usize = 200;

/// An item for each sentence of the replies, with its turn.
pub(in crate::metric) fn sentence_items(turns: &[&Turn]) -> JudgeItems {
    let of_turn = |turn: &&Turn| {
        let number = turn.number;
        let lines = turn.agent.as_deref().unwrap_or_default().lines();
        let sentences = lines.flat_map(sentences).flat_map(pieces).filter(|it| it.chars().any(char::is_alphanumeric));
        let item =
            move |(sentence, at): (&str, usize)| JudgeItem::new(format!("{number}.{at}"), sentence, Some(number));
        sentences.zip(1..).map(item).collect::<Vec<_>>()
    };
    let items: Vec<JudgeItem> = turns.iter().flat_map(of_turn).collect();
    match items.len() {
        0 => JudgeItems::Nothing(Component::not_applicable("no reply has a sentence")),
        count if count > MOST_SENTENCES => JudgeItems::Nothing(Component::missing(format!(
            "the replies have {count} sentences; at most {MOST_SENTENCES} are judged"
        ))),
        _ => JudgeItems::Given(items),
    }
}

/// The mean of the replies, each being the mean of its sentences.
pub(in crate::metric) fn mean_over_replies(items: &[&Item]) -> Component {
    let mean =
        |items: &[&Item]| weighted_mean(items.iter().map(|item| (item.weight, item.label.as_str(), &item.component)));
    let of_reply = |reply: &[&Item]| (format!("the reply of turn {}", reply[0].turn.unwrap_or_default()), mean(reply));
    let replies: Vec<(String, Component)> = items.chunk_by(|a, b| a.turn == b.turn).map(of_reply).collect();
    weighted_mean(replies.iter().map(|(label, component)| (Weight::ONE, label.as_str(), component)))
}

/// The longest text, in characters, that is judged as one sentence: of a longer one some part is always supported.
const LONGEST: usize = 400;

/// A sentence as it is; one that goes on and on in pieces that end with a clause, or at least with a word.
fn pieces(sentence: &str) -> Vec<&str> {
    let (mut all, mut rest) = (Vec::new(), sentence);
    while let Some((end, _)) = rest.char_indices().nth(LONGEST) {
        let of_sign = |sign: &str| rest[..end].rfind(sign).filter(|at| *at >= end / 3).map(|at| at + sign.len());
        let end = ["; ", "；", ", ", "，", "、", " "].into_iter().find_map(of_sign).unwrap_or(end);
        all.push(rest[..end].trim());
        rest = &rest[end..];
    }
    all.push(rest.trim());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_without_an_end_is_judged_in_pieces() {
        assert_eq!(pieces("It opens at nine, on Sundays at ten."), ["It opens at nine, on Sundays at ten."]);
        let long = vec!["the desk opens at nine and closes at five"; 40].join(", ");
        let all = pieces(&long);
        assert!(all.len() > 3 && all.iter().all(|piece| piece.chars().count() <= LONGEST), "{all:?}");
        assert!(all[..all.len() - 1].iter().all(|piece| piece.ends_with(',')), "{all:?}");
        assert_eq!(all.join(" "), long, "nothing is lost");
        let unspaced = "ä".repeat(1000);
        assert_eq!(pieces(&unspaced).concat(), unspaced);
        assert_eq!(pieces(&unspaced).len(), 3, "letters count, not bytes");
        assert_eq!(pieces(&"ก".repeat(400)).len(), 1);
    }
}
