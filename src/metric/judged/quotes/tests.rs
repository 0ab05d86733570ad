use serde_json::json;

use super::*;
use crate::evidence::{Event, Turn};
use crate::metric::input::Example;

fn verdict(quotes: &[(Option<u32>, &str)], turns_read: &[u32]) -> ItemVerdict {
    ItemVerdict {
        id: "1".to_owned(),
        found: None,
        reason: "so".to_owned(),
        citations: Citations {
            quotes: quotes.iter().map(|(turn, text)| (*turn, (*text).to_owned())).collect(),
            turns_read: turns_read.to_vec(),
        },
        label: None,
        decision: Ok(Some(Score::ONE)),
    }
}

fn problem(quotes: &[(Option<u32>, &str)], turns_read: &[u32]) -> Option<String> {
    problem_by(EvidenceRule::Any, quotes, turns_read)
}

fn problem_by(rule: EvidenceRule, quotes: &[(Option<u32>, &str)], turns_read: &[u32]) -> Option<String> {
    let mut example = Example::new(0);
    let mut second = Turn::answered(
        2,
        "And the 2nd?",
        "It’s “ready” — at   10:30 <b>sharp</b>. Bring *42* €, AT&amp;T caf\u{e9}; your code is sk-17 and not sk-18. Zero\u{ad}width. 私は東京へ行く",
    );
    second.events = vec![
        Event::call("find", json!({"time": "10:30 tomorrow"}), json!(null)),
        Event::response(json!("a table is free at eight"), json!(null)),
    ];
    example.transcript.turns.push(second);
    let facts = ["The user was born in Rome".to_owned()];
    let input = MetricInput { facts: &facts, context: vec![("rules", "No refunds after 30 days.")], ..example.input() };
    Shown::new(&input, rule, &["find".to_owned()], BTreeSet::new()).problem(&verdict(quotes, turns_read), None)
}

#[test]
fn words_of_the_conversation_are_evidence() {
    for (turn, quote) in [
        (Some(1), "Hello"),
        (Some(1), "hi"),
        (Some(2), "it's \"ready\" - at 10:30"),
        (Some(2), "It’s “ready” … <b>sharp</b>. Bring"),
        (Some(2), "&lt;b>sharp&lt;/b>"),
        (Some(2), "&lt;b&gt;sharp&lt;/b&gt;"),
        (Some(2), "Bring 42 €, AT&amp;T cafe\u{301}"),
        (Some(2), "Bring **42** €, AT&T café"),
        (Some(2), "your code is *** and not ***."),
        (Some(2), "zero\u{200b}width"),
        (Some(2), "東京へ"),
        (Some(2), "42"),
        (None, "born in Rome"),
        (None, "no refunds"),
    ] {
        assert_eq!(problem(&[(turn, quote)], &[]), None, "{quote}");
    }
}

#[test]
fn other_words_are_no_evidence() {
    for (turn, quote) in [
        (Some(2), "Hello"),
        (Some(3), "ready"),
        (Some(2), "sharp … ready"),
        (Some(2), "i … r … s"),
        (Some(2), "***"),
        (Some(2), "your … not"),
        (Some(2), "your code is *** and sk-18 too"),
        (Some(2), "…"),
        (Some(2), ""),
        (None, "Hello"),
        (Some(1), "The agent booked it"),
    ] {
        let problem = problem(&[(turn, quote)], &[1, 2]).unwrap_or_else(|| panic!("{turn:?} {quote}"));
        assert!(problem.contains("which does not stand in"), "{problem}");
    }
}

#[test]
fn a_part_of_a_word_is_none_and_the_message_says_so() {
    for quote in ["eady", "30 <b>shar", "4", "eigh"] {
        let problem = problem(&[(Some(2), quote)], &[1, 2]).unwrap_or_else(|| panic!("{quote}"));
        assert!(
            problem.ends_with("which stands in turn 2 only as a part of other words: quote whole ones."),
            "{problem}"
        );
    }
}

#[test]
fn a_word_that_stands_anywhere_is_no_evidence_unless_it_is_the_whole_message() {
    for quote in ["at", "not", "… at …"] {
        let problem = problem(&[(Some(2), quote)], &[1, 2]);
        assert!(problem.is_some(), "{quote}");
    }
    let anywhere = problem(&[(Some(2), "at")], &[]).unwrap();
    assert!(anywhere.ends_with("which stands anywhere: quote more words."), "{anywhere}");
    assert_eq!(problem(&[(Some(1), "hi")], &[]), None, "the message is that short");
}

#[test]
fn what_comes_later_supports_nothing() {
    let mut example = Example::new(0);
    example.transcript.turns.push(Turn::answered(2, "So at ten o'clock?", "Yes."));
    let shown = Shown::new(&example.input(), EvidenceRule::NotTheAgents, &[], BTreeSet::new());
    let later = verdict(&[(Some(2), "at ten o'clock")], &[]);
    let of_turn = |turn| shown.problem(&later, Some(&JudgeItem::new("1", "x", Some(turn))));
    assert!(of_turn(1).unwrap().contains("a later turn"));
    assert_eq!(of_turn(2), None);
}

#[test]
fn what_the_agent_says_supports_nothing_that_it_says() {
    let by = |quotes: &[(Option<u32>, &str)]| problem_by(EvidenceRule::NotTheAgents, quotes, &[1, 2]);
    assert!(by(&[(Some(2), "ready")]).unwrap().contains("the assistant's own words"));
    assert!(by(&[(Some(2), "10:30 tomorrow")]).unwrap().contains("the assistant's own words"), "its call");
    assert!(by(&[]).unwrap().contains("quotes nothing that the user said"));
    assert_eq!(by(&[(Some(2), "ready"), (None, "no refunds")]), None);
    assert_eq!(by(&[(Some(2), "and the 2nd")]), None);
    assert_eq!(by(&[(Some(2), "free at eight")]), None, "a tool's result");
}

#[test]
fn what_was_retrieved_is_what_the_named_tools_returned() {
    let by = |quotes: &[(Option<u32>, &str)]| problem_by(EvidenceRule::Retrieved, quotes, &[1, 2]);
    assert_eq!(by(&[(Some(2), "free at eight")]), None);
    for quotes in [&[(Some(2), "ready")][..], &[(Some(2), "10:30 tomorrow")], &[(None, "no refunds")], &[]] {
        assert!(by(quotes).unwrap().contains("quotes nothing that was retrieved"), "{quotes:?}");
    }
}

#[test]
fn a_reply_is_as_good_as_another_by_its_own_words() {
    let by = |quotes: &[(Option<u32>, &str)]| problem_by(EvidenceRule::TheReply, quotes, &[1, 2]);
    assert_eq!(by(&[(Some(2), "ready")]), None);
    for quotes in [&[(None, "no refunds")][..], &[(Some(2), "and the 2nd")], &[]] {
        assert!(by(quotes).unwrap().contains("quotes nothing of the reply"));
    }
    let mut example = Example::new(0);
    example.transcript.turns.push(Turn::answered(2, "And?", "It is ready."));
    let item = JudgeItem::new("1", "x", Some(1));
    let shown = Shown::new(&example.input(), EvidenceRule::TheReply, &[], BTreeSet::new());
    assert!(shown.problem(&verdict(&[(Some(2), "ready")], &[]), Some(&item)).is_some(), "of another turn");
    assert_eq!(shown.problem(&verdict(&[(Some(1), "Hello")], &[]), Some(&item)), None);
    let no = ItemVerdict { decision: Ok(Some(Score::ZERO)), ..verdict(&[], &[1, 2]) };
    assert_eq!(shown.problem(&no, Some(&item)), None, "a no may rest on what is absent");
}

#[test]
fn what_does_not_apply_rests_on_what_was_read_up_to_its_turn() {
    let mut example = Example::new(0);
    example.transcript.turns.push(Turn::answered(2, "And?", "It is ready."));
    let shown = Shown::new(&example.input(), EvidenceRule::Any, &[], BTreeSet::from([2]));
    let inapplicable = |quotes: &[(Option<u32>, &str)], read: &[u32], turn: Option<u32>| {
        let verdict = ItemVerdict { decision: Ok(None), ..verdict(quotes, read) };
        shown.problem(&verdict, Some(&JudgeItem::new("1", "x", turn)))
    };
    assert!(inapplicable(&[], &[], Some(1)).unwrap().contains("names no turns"));
    assert!(inapplicable(&[], &[1], None).unwrap().ends_with("`turnsRead` lacks turn 2."));
    assert_eq!(inapplicable(&[], &[1], Some(1)), None);
    assert!(inapplicable(&[], &[1, 2], Some(2)).unwrap().contains("turn 2, which is too long"));
    assert!(inapplicable(&[(Some(2), "it was never said")], &[], Some(2)).unwrap().contains("does not stand"));
    assert_eq!(inapplicable(&[(Some(2), "it is ready")], &[], Some(2)), None);
    let stated = ItemVerdict { decision: Ok(None), label: Some(Support::NotApplicable), ..verdict(&[], &[]) };
    assert_eq!(shown.problem(&stated, None), None, "a sentence that states nothing shows it by itself");
}

#[test]
fn what_is_absent_rests_on_all_turns() {
    assert_eq!(problem(&[], &[2, 1]), None);
    assert!(problem(&[], &[1]).unwrap().ends_with("`turnsRead` lacks turn 2."));
    assert!(problem(&[], &[]).unwrap().contains("names no turns"));
}

#[test]
fn references_are_read_as_often_as_they_were_escaped_up_to_three_times() {
    let read = |text: &str| super::matching::resolved(text.to_owned());
    assert_eq!(read("a &lt;b&gt; &amp; &#39;c&#x27; &quot;d&#34;&nbsp;e"), "a <b> & 'c' \"d\" e");
    assert_eq!(read("&amp;lt; &amp;amp;lt;"), "< <");
    assert_eq!(read("&amp;amp;amp;lt;"), "&lt;");
    assert_eq!(read("R&D, &unknown; & &lt &"), "R&D, &unknown; & &lt &");
    assert_eq!(read("ü&amp;ß"), "ü&ß");
}
