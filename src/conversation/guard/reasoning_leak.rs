//! A turn that shows what is behind it: reasoning, stage directions, markup, template text, that the user is played.

use std::sync::OnceLock;

use regex::Regex;

use super::goals::accounts;
use super::phrases::{List, META, PHRASES, Words};
use super::planned::{planned, speaks_of_user};
use super::retry_echo::retry_echo;
use super::scene::Scene;
use super::task_read_out::read_out;
use super::text_view::TextView;
use super::tool_named::names_tool;
use super::turn_mark::{names_writer, numbered_goal, turn_mark};
use super::{Fault, fault};

/// Forms that nobody types in a chat: characters of which each has one, its pattern, and what it is.
const FORMS: [(&str, &str, &str); 12] = [
    (
        "<",
        r"(?i)</?(think|thinking|thought|reasoning|analysis|scratchpad|reflection|inner_?monologue|message|reply|response|output|user|assistant|system|agent-reply|persona|task|tasks|fact|facts|signoff|final|answer|plan|traits?)( [^<>]{0,60})?/?>",
        "a tag",
    ),
    ("<", r"(?i)</[\p{L}_-]{1,20}>|<(br|hr|p|div|ul|ol|li|html|body|strong|em|h[1-6]|b|i)\s*/?>", "markup"),
    ("<[", r"<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|<(start|end)_of_turn>|</?s>", "a mark of the model"),
    (
        ":：",
        r"(?im)^\s*[*#_\[(]*\s*(user|human|assistant|system|agent|persona|customer|client|bot|ai|chatbot|nutzer|benutzer|assistent|utilisateur|client|usuario|cliente|asistente|utente|assistente|usuário|gebruiker|użytkownik|asystent|пользователь|клиент|ассистент|агент|kullanıcı|asistan|ユーザー|アシスタント|用户|助手|客服|사용자|어시스턴트|상담원|المستخدم|المساعد|उपयोगकर्ता|सहायक|ผู้ใช้|ผู้ช่วย)\s*(\([^)]{0,20}\))?\s*[*_\])]*\s*[:：]",
        "a role before the message",
    ),
    (
        "[(<【（",
        r"(?i)^\s*[\[(<【（]\s*(user|human|assistant|persona|customer|client|nutzer|utilisateur|usuario|utente|gebruiker|ユーザー|顧客|お客様|用户|客户|사용자|고객|المستخدم|пользователь|użytkownik)( turn| message| reply)?( ?\d+)?\s*[\])>】）]",
        "a role before the message",
    ),
    (
        ">",
        r"(?i)^\s*(user|human|me|customer|caller|client|persona|nutzer|kunde|utilisateur|usuario|usuário|cliente|utente|gebruiker|użytkownik|пользователь|kullanıcı|ユーザー|用户|사용자)\s*>+\s",
        "a role before the message",
    ),
    ("{%$", r"\{\{[^{}]{0,60}\}\}|\{%|\$\{[a-zA-Z_.]+\}|%[a-z_]{3,}%|\{[a-z_]{2,25}\}", "template text"),
    (
        "[<",
        r"(?i)[\[<(](insert|your|my|user'?s?|enter|full|first|last|ph(?:one)|email|date|name|address|order|customer|account|company|city|placeholder|ihr|ihre|dein|votre|nom|su|tu|nombre|nome|seu|uw|naam|imi[eę]|ваше?|имя|名前|氏名|姓名|您的|이름|الاسم|नाम|ชื่อ)( ?[\p{L}\p{M}_/ -]{0,30})[\]>]",
        "template text",
    ),
    (
        "_=",
        r"\b[A-Z]{2,}(_[A-Z]{2,})+\b|\b(?i:achieved|complete|finished|satisfied|success)\s*=\s*(?i:true|false)\b",
        "a mark of the model",
    ),
    ("`", r"(?m)^\s*```|```", "a code fence"),
    (
        "#*-•1",
        r"(?m)^\s{0,3}#{1,6} \S|\s#{2,6} \S|\*\*[^*\n]{1,80}\*\*|^\s*---+\s*$|(?s:^\s*[-*•] \S.*\n\s*[-*•] \S)|(?s:^\s*1[.)] \S.*\n\s*2[.)] \S)",
        "markdown",
    ),
    (
        ":=",
        r#"(?s)^\s*[\[{]\s*["'“][\p{L}\w]+["'”]\s*:|["'“](message|done|reason|role|content|thought|reasoning|response|text|reply|intent)["'”]\s*:|"[\p{L}_]+"\s*:\s*("[^"]*"|true|false|null|\d+)\s*[,}]|(?i)\bdone\s*[:=]\s*(true|false)\b"#,
        "JSON",
    ),
];

/// Words of tasks and questions to which code is an answer.
const CODE: [&str; 20] = [
    "json",
    "html",
    "xml",
    "markdown",
    "template",
    "python",
    "javascript",
    "css",
    "yaml",
    "sql",
    "markup",
    "tag",
    "tags",
    "api",
    "error",
    "log",
    "config",
    "regex",
    "script",
    "code",
];
/// Keys of the persona's reply form, which no code of a user has.
const OWN: [&str; 6] = ["\"message\"", "\"done\"", "\"reason\"", "\"thought\"", "<think", "</"];

/// Each made when a text first has one of its characters: to make them takes as long as thousands of turns.
static PATTERNS: [OnceLock<Option<Regex>>; FORMS.len()] = [const { OnceLock::new() }; FORMS.len()];

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let wants_code =
        || scene.tasks.iter().chain(scene.last_agent()).any(|text| text.words().any(|word| CODE.contains(&word)));
    let ascii = turn.raw.bytes().filter(u8::is_ascii).fold(0u128, |all, byte| all | 1 << byte);
    let has = |c: char| if c.is_ascii() { ascii >> u32::from(c) & 1 == 1 } else { turn.raw.contains(c) };
    let forms = FORMS.iter().zip(&PATTERNS).filter(|((marks, ..), _)| marks.chars().any(has)).filter_map(
        |((_, pattern, name), made)| {
            Some((made.get_or_init(|| Regex::new(pattern).ok()).as_ref()?.find(&turn.raw)?, name))
        },
    );
    for (found, name) in forms {
        let is_said = scene.messages.iter().any(|(_, text)| text.raw.contains(found.as_str()));
        // A user may send code, but never the form of the persona's own reply.
        let is_code = wants_code() && !OWN.iter().any(|part| turn.plain().contains(part));
        if !is_code && (!is_said || found.start() == 0) {
            return fault(format!("it contains {name}; write only what the user says, in plain words"), found.as_str());
        }
    }
    if let Some(word) = names_writer(scene) {
        return fault("it contains a role before the message; write only what the user says, in plain words", word);
    }
    if let Some(mark) = turn_mark(scene) {
        return fault("it numbers the messages; write only what the user says", mark);
    }
    if let Some(words) = retry_echo(scene) {
        return fault("it repeats the request to reply again; write only what the user says", words);
    }
    if let Some(direction) = stage_direction(turn) {
        return fault("it describes what the user does; write only what the user says", direction);
    }
    if let Some(remark) = aside(scene) {
        return fault("it comments on the conversation; write only what the user says", remark);
    }
    if let Some(words) = meta(scene) {
        return fault("it speaks of the conversation as one that is played; write only what the user says", words);
    }
    if let Some(task) = read_out(scene) {
        return fault("it reads out a task as it was given; ask for it in the user's own words", task);
    }
    if let Some(tool) = names_tool(scene) {
        return fault("it speaks of a tool, as no user does; call it, or say what was done or seen", tool);
    }
    if let Some(sentence) = speaks_of_user(scene) {
        return fault("it speaks of the user as of somebody else; write only what the user says", sentence);
    }
    if let Some(sentence) = planned(scene) {
        return fault("it says what it is to say next; write only what the user says", sentence);
    }
    if let Some(account) = accounts(scene) {
        return fault("it keeps account of its goals; write only what the user says", account);
    }
    if let Some(goal) = numbered_goal(scene) {
        return fault("it speaks of a goal by its number; write only what the user says", goal);
    }
    if let Some(fact) =
        scene.facts.iter().map(|fact| fact.plain().trim_end_matches('.')).find(|fact| is_read_out(turn, fact))
    {
        return fault("it speaks of the user as of somebody else; write only what the user says", fact);
    }
    let is_of_case = |words: &str| {
        scene.tasks.iter().chain(scene.facts).any(|text| text.plain().contains(words))
            || scene.last_agent().is_some_and(|agent| agent.plain().contains(words))
    };
    let hit = turn.hits_in(List::Simulated).find(|hit| {
        let words = &turn.plain()[hit.start..hit.end];
        !turn.is_quoted(hit.start) && !is_of_case(words)
    })?;
    fault("it shows instructions or reasoning; write only what the user says", turn.shown(hit))
}

/// Whether a fact about "the user" stands in the turn as it was written down.
fn is_read_out(turn: &TextView<'_>, fact: &str) -> bool {
    let speaks_of_user = |word: &str| PHRASES.meta[0].contains(word.trim_end_matches("'s"));
    fact.split_whitespace().take(2).any(speaks_of_user)
        && fact.split_whitespace().nth(LEAST_OF_FACT - 1).is_some()
        && turn.plain().contains(fact)
}

/// The fewest words of a fact that is read out.
const LEAST_OF_FACT: usize = 4;

/// Two words of which one says who plays along and the other what the conversation is made from, where the case has neither.
fn meta(scene: &Scene<'_>) -> Option<String> {
    let turn = scene.text();
    // A cheap test that rules most turns out.
    if turn.marks() & META == 0 && turn.plain().is_ascii() {
        return None;
    }
    let find = |words: &Words| {
        let spaced = turn.words().find(|word| words.contains(*word));
        let unspaced = || {
            let is_in = |word: &&str| word.starts_with(crate::text::is_unspaced) && turn.plain().contains(word);
            words.iter().copied().filter(|_| !turn.plain().is_ascii()).find(is_in)
        };
        let found = spaced.or_else(unspaced)?;
        let is_of_case = scene.messages.iter().any(|(_, text)| text.plain().contains(found));
        (!is_of_case).then(|| found.to_owned())
    };
    Some(format!("{} · {}", find(&PHRASES.meta[0])?, find(&PHRASES.meta[1])?))
}

/// A sentence between brackets that speaks of what the conversation is made from, where the case does not.
fn aside(scene: &Scene<'_>) -> Option<String> {
    let turn = scene.text();
    let is_aside = |remark: &&str| {
        let view = TextView::new(*remark);
        let Some(is_meta) = view.words().find(|word| PHRASES.meta[1].contains(*word)) else { return false };
        let mut of_case = scene.tasks.iter().chain(scene.facts).chain(scene.messages.iter().map(|(_, text)| text));
        let is_of_case = of_case.any(|text| text.plain().contains(is_meta));
        view.places().len() >= LEAST_OF_ASIDE && !view.asks() && !is_of_case
    };
    bracketed(turn.plain()).find(is_aside).map(str::to_owned)
}

/// The texts between brackets. A bracket that is not closed, as in `:(`, opens none.
pub(super) fn bracketed(plain: &str) -> impl Iterator<Item = &str> {
    plain.match_indices(['(', '[', '（', '【']).filter_map(|(at, bracket)| {
        let is_emoticon = plain[..at].ends_with([':', ';', '=', '-']);
        let (remark, _) = plain[at + bracket.len()..].split_once([')', ']', '）', '】'])?;
        (!is_emoticon).then_some(remark)
    })
}

/// The fewest words of a sentence between brackets.
const LEAST_OF_ASIDE: usize = 5;

/// Stage directions, between asterisks or brackets.
fn stage_direction(turn: &TextView<'_>) -> Option<String> {
    let plain = turn.plain();
    // A remark before all else, of somebody else than the one who writes.
    if let Some(rest) = plain.trim_start().strip_prefix(['(', '（', '['])
        && let Some(end) = rest.find([')', '）', ']'])
    {
        let (remark, after) = rest.split_at(end);
        let is_of_writer = PHRASES.has_first_person(remark) || remark.contains(['?', '？', '؟']);
        if !is_of_writer
            && remark.split_whitespace().count() >= 3
            && after.chars().any(crate::text::is_of_word)
            && remark.ends_with(['.', '!', '…', '。'])
        {
            return Some(remark.to_owned());
        }
    }
    let pairs = [('*', '*'), ('(', ')'), ('[', ']'), ('（', '）'), ('_', '_'), ('【', '】')];
    turn.hits_in(List::Stage).find_map(|hit| {
        let before = &plain[..hit.start];
        pairs.iter().find_map(|(opening, closing)| {
            let start = before.rfind(*opening)? + opening.len_utf8();
            let within = &before[start..];
            let end = plain[hit.end..].find(*closing)? + hit.end;
            let is_near =
                within.chars().count() <= 14 && plain[hit.end..end].chars().count() <= 60 && !within.contains(')');
            let is_pair = opening != closing || before.matches(*opening).count() % 2 == 1;
            (is_near && is_pair && !plain[start..end].contains(['.', '?'])).then(|| plain[start..end].to_owned())
        })
    })
}
