//! A mark before a message that says which of a conversation's it is: "[Turn 1]". Who plays a user from a transcript writes it.

use std::sync::LazyLock;

use regex::Regex;

use super::scene::Scene;
use crate::text::is_of_word;

/// Words for a message or a turn, in brackets or before a colon, with a number.
static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "turn|message|msg|utterance|round|exchange|user|runde|nachricht|äußerung|beitrag|tour|échange|turno|ronda|mensaje|\
                 messaggio|battuta|mensagem|rodada|fala|beurt|bericht|ronde|tura|wiadomość|kolejka|ход|сообщение|реплика|раунд|\
                 tur|mesaj|ターン|メッセージ|発言|回合|轮次|消息|턴|메시지|رسالة|دور|संदेश|बारी|ข้อความ";
    let number = r"(?:\#|no\.?|nr\.?)?\s*[0-9]{1,3}";
    Regex::new(&format!(
        r"(?ix)
        ^[\s*\#_]* [\[(<【（] \s* (?P<bracketed>{words}) \s* {number} [^\])>】）\n]{{0,20}} [\])>】）]
        | ^[\s*\#_]* (?P<named>{words}) \s* {number} \s* (?:[\[(][^\])\n]{{0,20}}[\])])? [\s*_]* [:：]
        | ^[\s*\#_]* [\[(<【（]? \s* (?P<counted>第 \s* [0-9一二三四五六七八九十]+ \s* (?:轮|輪|回合|ターン|句)) \s* [\])>】）:：]
        "
    ))
    .ok()
});

const GOALS: &str = "goal|task|objective|ziel|aufgabe|objectif|tâche|objetivo|tarea|obiettivo|compito|tarefa|doel|taak|cel|\
                     zadanie|цель|задача|görev|目标|任务|タスク|目標|목표|과제";

/// A goal or task by its number, as the persona's instructions have it, and what became of it.
static GOAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = GOALS;
    let done = "achieved|accomplished|completed?|done|finished|fulfilled|erreicht|erledigt|erfüllt|atteinte?|accomplie?|\
                terminée?|logrado|completad[ao]|cumplid[ao]|raggiunto|completato|alcançado|concluíd[ao]|bereikt|voltooid|\
                osiągnięty|wykonane|достигнута|выполнена|完成|達成|완료";
    Regex::new(&format!(
        r"(?i)\b(?P<goal>{words})\s*\#?[0-9]{{1,2}}\s*(?:[:：]|(?:is|was|has been|ist|est|está|è|is)?\s*(?:{done})\b)"
    ))
    .ok()
});

/// Whether a turn may begin with a mark: few words stand before its first figure. To make the pattern takes as long as a thousand turns.
fn may_be_marked(raw: &str) -> bool {
    let Some(figure) = raw.find(|c: char| c.is_ascii_digit()) else { return raw.contains('第') };
    raw.contains('第')
        || raw[..figure].split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty()).count() <= MOST_BEFORE_FIGURE
}

/// The most words before the figure of a mark: "turn no.", and in scripts whose vowel signs divide words some more.
const MOST_BEFORE_FIGURE: usize = 6;

/// Whether a word for a goal stands before a figure.
fn may_number_goal(raw: &str) -> bool {
    raw.char_indices().filter(|(_, c)| c.is_ascii_digit()).any(|(at, _)| {
        let before = raw[..at].trim_end_matches(|c: char| c.is_whitespace() || c == '#');
        if !before.ends_with(char::is_alphabetic) {
            return false;
        }
        let word: String = before.chars().rev().take(LONGEST_GOAL).collect::<Vec<_>>().into_iter().rev().collect();
        let word = word.to_lowercase();
        GOALS.split('|').any(|goal| word.ends_with(goal))
    })
}

/// The letters of the longest word for a goal, and one more.
const LONGEST_GOAL: usize = 10;

/// A goal that the turn names by its number, where the case and the conversation know of none.
pub(super) fn numbered_goal<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    // A cheap test that rules most turns out.
    if !may_number_goal(&turn.raw) {
        return None;
    }
    let found = GOAL.as_ref()?.captures(&turn.raw)?;
    let word = found.name("goal")?.as_str().to_lowercase();
    let said = scene.messages.iter().map(|(_, text)| text);
    let mut of_case = scene.tasks.iter().chain(scene.facts).chain(scene.background).chain(said);
    let is_of_case = of_case.any(|text| text.raw.to_lowercase().contains(&word));
    found.get(0).filter(|_| !is_of_case).map(|mark| &turn.raw[mark.range()])
}

/// Words for the one who writes before a colon, which also stand in lists and forms.
const WRITERS: [&str; 13] =
    ["me", "caller", "kunde", "kundin", "anrufer", "ich", "moi", "yo", "io", "ik", "я", "私", "我"];

/// The bytes of the longest of them.
const LONGEST_WRITER: usize = 7;

/// The word for the writer with which the turn begins, as a line of a script does. It is none in a list, and where a word of the case
/// or of the agent's last message is answered.
pub(super) fn names_writer<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let (before, rest) = turn.raw.split_once([':', '：'])?;
    let is_mark = |c: char| c.is_whitespace() || "*#_[]()".contains(c);
    let name = before.trim_start_matches(is_mark).split('(').next()?.trim_end_matches(is_mark);
    // A cheap test that rules most turns out.
    if name.len() > LONGEST_WRITER {
        return None;
    }
    let lower = name.to_lowercase();
    let word = WRITERS.iter().find(|word| lower == **word)?;
    let mut of_case = scene.tasks.iter().chain(scene.facts).chain(scene.background).chain(scene.last_agent());
    let is_of_case = of_case.any(|text| {
        let is_unspaced = word.starts_with(crate::text::is_unspaced);
        text.words().any(|it| it == *word) || is_unspaced && text.plain().contains(word)
    });
    turn.raw.strip_suffix(rest).filter(|_| !is_of_case && !is_listed(rest, name))
}

/// Whether what stands behind the first word and its colon goes on with other words and their colons.
fn is_listed(rest: &str, first: &str) -> bool {
    rest.split(['\n', ',', ';', '，', '、', '；']).skip(1).any(|part| {
        part.split_once([':', '：']).is_some_and(|(word, value)| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            let is_label = !word.is_empty() && word.split_whitespace().count() <= MOST_OF_LABEL;
            is_label && word != first && value.chars().any(is_of_word)
        })
    })
}

/// The most words before the colon of a line of a form.
const MOST_OF_LABEL: usize = 2;

/// The mark before the turn, where neither a task nor the assistant speaks of such turns, as in a game.
pub(super) fn turn_mark<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    // A cheap test that rules most turns out.
    if !may_be_marked(&turn.raw) {
        return None;
    }
    let found = MARK.as_ref()?.captures(&turn.raw)?;
    let word = ["bracketed", "named", "counted"].iter().find_map(|name| found.name(name))?.as_str().to_lowercase();
    let mut of_case = scene.tasks.iter().chain(scene.agents());
    let is_of_case = of_case.any(|text| text.raw.to_lowercase().contains(&word));
    found.get(0).filter(|_| !is_of_case).map(|mark| &turn.raw[mark.range()])
}

#[cfg(test)]
mod tests {
    use crate::conversation::guard::{GuardInput, check};
    use crate::evidence::{Guard, Message, Role};

    fn is_found(task: &str, turn: &str) -> bool {
        let found = check(&GuardInput {
            has_facts: false,
            tasks: &[task],
            facts: &[],
            signoff: "So Long",
            transcript: &[],
            turn,
            ..GuardInput::default()
        });
        found.iter().any(|finding| finding.guard == Guard::ReasoningLeak)
    }

    #[test]
    fn who_numbers_the_messages_is_no_user() {
        for turn in [
            "[Turn 1] I need a new laptop.",
            "Turn 1: I need a new laptop.",
            "**Turn 3 (User):** I need a new laptop.",
            "(Message 2) I need a new laptop.",
            "[Runde 1] Ich möchte einen neuen Laptop.",
            "[Tour 1] Je voudrais un ordinateur.",
            "【ターン1】ノートパソコンが欲しいです。",
            "[第1轮] 我想买一台笔记本。",
            "Me: I need a new laptop.",
            "Kunde: Ich möchte einen neuen Laptop.",
            "USER> I need a new laptop.",
        ] {
            assert!(is_found("Order a new laptop", turn), "{turn}");
        }
    }

    #[test]
    fn a_list_or_a_form_is_no_script() {
        let after = |agent: &str, turn: &str| {
            let transcript = [Message::new(Role::User, "I want to order."), Message::new(Role::Assistant, agent)];
            let found = check(&GuardInput {
                has_facts: false,
                tasks: &["Order two seats"],
                facts: &["The Kundin is Mrs. Meier"],
                signoff: "So Long",
                transcript: &transcript,
                turn,
                ..GuardInput::default()
            });
            found.iter().any(|finding| finding.guard == Guard::ReasoningLeak)
        };
        for (agent, turn) in [
            ("Who would like which seat?", "Anna: aisle\nMe: window"),
            ("Who would like which seat?", "Me: window\nAnna: aisle"),
            ("Who would like which seat?", "Me: window, Anna: aisle"),
            ("Bitte Kunde und Bestellnummer.", "Kunde: Meier\nBestellung: 4711"),
            ("Bitte Kunde und Bestellnummer.", "Kunde: Meier"),
            ("Wer bestellt?", "Kundin: Meier"),
            ("Wer bestellt?", "Anrufer: Meier\nBestellung: 4711"),
        ] {
            assert!(!after(agent, turn), "{agent} {turn}");
        }
        for turn in [
            "Me: the window seat",
            "**Caller:** the window seat, please.",
            "Ich: am Fenster",
            "我：靠窗",
            "Me (user): the window",
        ] {
            assert!(after("Which seat?", turn), "{turn}");
        }
        assert!(after("Which seat?", "Me: the window\nAgent: It is booked."));
    }

    #[test]
    fn what_the_case_or_the_conversation_numbers_may_be_numbered() {
        let said = [Message::new(Role::User, "Task 3 is on my list."), Message::new(Role::Assistant, "I see.")];
        let is_found = |facts: &[&str], background: &[&str], transcript: &[Message]| {
            let turn = "Task 12 is finished.";
            let tasks = ["Have the project closed"];
            let input = GuardInput {
                has_facts: true,
                tasks: &tasks,
                facts,
                background,
                signoff: "So Long",
                transcript,
                turn,
                ..GuardInput::default()
            };
            check(&input).iter().any(|finding| finding.guard == Guard::ReasoningLeak)
        };
        assert!(is_found(&[], &[], &[]));
        assert!(!is_found(&["Task 12 is finished"], &[], &[]));
        assert!(!is_found(&[], &["You have twelve tasks at work."], &[]));
        assert!(!is_found(&[], &[], &said));
    }

    #[test]
    fn a_move_in_a_game_and_a_step_are_no_marks() {
        for turn in ["Turn 2: I take the red card.", "[Turn 2] I take the red card."] {
            assert!(!is_found("Play one turn of the card game", turn), "{turn}");
        }
        for turn in ["Step 1 is done, now what?", "My turn: I take the red card.", "In turn 3: what do I do?"] {
            assert!(!is_found("Order a new laptop", turn), "{turn}");
        }
    }
}
