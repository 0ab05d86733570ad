//! The line protocol: the beginning and end of a message, and reports of tokens.

use serde_json::Value;

use crate::evidence::Usage;
use crate::http::read_json;

/// The prefix of a message.
const PREFIX: &str = "agent:";

/// Assembles a message from its lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MessageReader {
    /// Lines before the first `agent:`; they are the message where the agent never prints it.
    before: Vec<String>,
    lines: Vec<String>,
    has_begun: bool,
    /// The latest report of tokens among the lines; it is no part of the message.
    pub(super) tokens: Option<Usage>,
}

impl MessageReader {
    /// Takes in a line. Returns the message when it is complete.
    pub fn take(&mut self, line: &str, terminator: &str) -> Option<String> {
        let line = line.trim();
        if let Some(tokens) = tokens_of(line) {
            self.tokens = Some(tokens);
            return None;
        }
        if is_end_of_tokens(line) {
            return None;
        }
        // At the end of a line only: elsewhere it may be part of the text.
        let (line, is_end) = line.strip_suffix(terminator).map_or((line, false), |rest| (rest.trim_end(), true));
        match line.find(PREFIX).filter(|_| !self.has_begun) {
            Some(at) => {
                self.has_begun = true;
                self.push(line[at + PREFIX.len()..].trim());
            }
            None => self.push(line),
        }
        is_end.then(|| self.so_far())
    }

    fn push(&mut self, line: &str) {
        if !line.is_empty() {
            if self.has_begun { &mut self.lines } else { &mut self.before }.push(line.to_owned());
        }
    }

    /// The message so far.
    pub(super) fn so_far(&self) -> String {
        if self.has_begun { self.lines.join("\n") } else { self.before.join("\n") }
    }
}

/// The beginning of a line that calls a tool of the user.
pub(super) const USER_TOOL: &str = "**user_tool**";

/// The line that asks for the tokens.
pub(super) const TOKENS: &str = "**tokens**";

/// Messages that end many programs, the Red Hat quickstart's among them, where they stand alone.
const ENDINGS: [&str; 2] = ["quit", "exit"];

/// A user's message as the one line that the protocol has for it: line breaks become spaces. One that begins like a call is none, and one
/// that reads like the question for tokens, to which no message is the answer, is none either. A word that would end the program gets a
/// full stop: the user says it to the agent.
pub(super) fn one_line(message: &str) -> String {
    let line = message
        .split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    match line.strip_prefix(USER_TOOL) {
        Some(rest) => format!("user_tool{rest}"),
        None if line == TOKENS => "tokens".to_owned(),
        None if ENDINGS.iter().any(|word| line.eq_ignore_ascii_case(word)) => format!("{line}."),
        None => line,
    }
}

/// A line that was printed between two messages, where it is worth a note: it is no report of tokens, and has a letter or a
/// digit, which a prompt has not.
pub(super) fn unasked(line: &str) -> Option<String> {
    let line = line.trim();
    let is_report = tokens_of(line).is_some() || is_end_of_tokens(line);
    (!is_report && line.contains(char::is_alphanumeric)).then(|| line.to_owned())
}

/// What a line that comes after `**user_tool**` says of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToolAnswer {
    /// Nothing: it is a line of something else.
    Nothing,
    /// Its result: JSON, or any text.
    Result(Value),
    /// A result that begins as JSON and does not end on its line.
    Begun(String),
    /// It failed, and why.
    Error(String),
    /// The agent took the call for a message, and answered with one.
    Message(String),
}

/// Reads a line that comes after `**user_tool**`. A prompt, a time or a colour may stand before the answer, as before a message.
pub(super) fn tool_answer(line: &str, terminator: &str) -> ToolAnswer {
    let line = without_colours(line);
    let line = line.trim();
    // An echo of the call itself may quote anything.
    let place = |prefix: &str| line.find(prefix).filter(|at| !line[..*at].contains(USER_TOOL));
    let rest = |prefix: &str| place(prefix).map(|at| (at, line[at + prefix.len()..].trim()));
    let said = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    match (rest("USER_TOOL_RESULT:"), rest("USER_TOOL_ERROR:")) {
        // The first one: an error may quote the other, and a result too.
        (Some((at, result)), error) if error.is_none_or(|(other, _)| at < other) => match read_json::<Value>(result) {
            Ok(json) => ToolAnswer::Result(json),
            Err(problem) if problem.is_eof() && result.starts_with(['{', '[', '"']) => {
                ToolAnswer::Begun(result.to_owned())
            }
            Err(_) => ToolAnswer::Result(result.into()),
        },
        (_, Some((_, error))) => ToolAnswer::Error(error.to_owned()),
        _ if line.ends_with(terminator) || said.starts_with(PREFIX) => ToolAnswer::Message(line.to_owned()),
        _ => ToolAnswer::Nothing,
    }
}

/// A line without the escape sequences that colour it in a terminal: `ESC [ … m`.
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').filter(|end| after[*end..].starts_with('m'));
        plain.push_str(before);
        match end {
            Some(end) => rest = &after[end + 1..],
            None => {
                plain.push_str("\u{1b}[");
                rest = after;
            }
        }
    }
    plain + rest
}

/// Whether the answer to `**tokens**` ends here.
pub(super) fn is_end_of_tokens(line: &str) -> bool {
    line.trim() == "TOKEN_SUMMARY_END"
}

/// `TOKEN_SUMMARY:INPUT:a:OUTPUT:b:TOTAL:c:CALLS:d…`, counted from the conversation's beginning.
pub fn tokens_of(line: &str) -> Option<Usage> {
    let line = line.trim();
    let rest = line.strip_prefix("CURRENT_TOKEN_SUMMARY:").or_else(|| line.strip_prefix("TOKEN_SUMMARY:"))?;
    let fields: Vec<&str> = rest.split(':').collect();
    let number = |name: &str| fields.chunks(2).find(|pair| pair[0].trim() == name)?.get(1)?.trim().parse::<u64>().ok();
    let (input, output) = (number("INPUT")?, number("OUTPUT")?);
    Some(Usage {
        calls: number("CALLS").unwrap_or(0),
        input_tokens: Some(input),
        output_tokens: Some(output),
        largest_input_tokens: number("MAX_SINGLE_INPUT"),
        largest_output_tokens: number("MAX_SINGLE_OUTPUT"),
        largest_total_tokens: number("MAX_SINGLE_TOTAL"),
        ..Usage::default()
    })
}

/// The tokens since the earlier count.
pub(super) fn since(earlier: Usage, now: Usage) -> Usage {
    let less = |now: Option<u64>, earlier: Option<u64>| Some(now?.saturating_sub(earlier.unwrap_or(0)));
    let took_some = (now.input_tokens, now.output_tokens) != (earlier.input_tokens, earlier.output_tokens);
    Usage {
        // Tokens imply a call, also where calls are not counted.
        calls: now.calls.saturating_sub(earlier.calls).max(u64::from(took_some)),
        input_tokens: less(now.input_tokens, earlier.input_tokens),
        output_tokens: less(now.output_tokens, earlier.output_tokens),
        // The largest in the conversation so far: the report does not name the turn.
        largest_input_tokens: now.largest_input_tokens,
        largest_output_tokens: now.largest_output_tokens,
        largest_total_tokens: now.largest_total_tokens,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Option<String> {
        let mut reader = MessageReader::default();
        text.lines().find_map(|line| reader.take(line, ":DONE"))
    }

    #[test]
    fn a_message_is_what_stands_between_its_prefix_and_the_terminator() {
        for (text, message) in [
            ("Using user ID: 5\nagent: Hello\n  there \n\n:DONE\n", "Hello\nthere"),
            ("> agent: Hello :DONE", "Hello"),
            ("agent: it says :DONE in the middle\nagent: of it\n:DONE", "it says :DONE in the middle\nagent: of it"),
            ("no prefix\nat all\n:DONE", "no prefix\nat all"),
            ("agent:\n:DONE", ""),
            ("agent: a\nTOKEN_SUMMARY:INPUT:1:OUTPUT:2:TOTAL:3:CALLS:1\nTOKEN_SUMMARY_END\n:DONE", "a"),
        ] {
            assert_eq!(read(text).as_deref(), Some(message), "{text:?}");
        }
        assert_eq!(read("agent: Hello\nand no end"), None);
    }

    #[test]
    fn a_result_is_told_from_a_log_and_from_a_message() {
        for (line, answer) in [
            ("USER_TOOL_RESULT: {\"on\": true}\n", ToolAnswer::Result(json!({"on": true}))),
            ("USER_TOOL_RESULT:", ToolAnswer::Result("".into())),
            ("USER_TOOL_RESULT: it's [on", ToolAnswer::Result("it's [on".into())),
            ("USER_TOOL_RESULT: {on", ToolAnswer::Result("{on".into())),
            ("USER_TOOL_RESULT: {\n", ToolAnswer::Begun("{".to_owned())),
            ("USER_TOOL_RESULT: [1, {\"a\":", ToolAnswer::Begun("[1, {\"a\":".to_owned())),
            ("> USER_TOOL_RESULT: 3", ToolAnswer::Result(json!(3))),
            ("12:00:01 INFO USER_TOOL_RESULT: {\"ok\": 1}\r\n", ToolAnswer::Result(json!({"ok": 1}))),
            ("\u{1b}[1;32mUSER_TOOL_RESULT: {\"ok\": 1}\u{1b}[0m\n", ToolAnswer::Result(json!({"ok": 1}))),
            ("\u{feff}USER_TOOL_RESULT: 1", ToolAnswer::Result(json!(1))),
            (
                "USER_TOOL_RESULT: the log says USER_TOOL_ERROR: x",
                ToolAnswer::Result("the log says USER_TOOL_ERROR: x".into()),
            ),
            ("> USER_TOOL_ERROR: no USER_TOOL_RESULT: x", ToolAnswer::Error("no USER_TOOL_RESULT: x".to_owned())),
            ("> agent: what?", ToolAnswer::Message("> agent: what?".to_owned())),
            ("INFO the agent: toggled", ToolAnswer::Nothing),
            ("USER_TOOL_ERROR: no SIM", ToolAnswer::Error("no SIM".to_owned())),
            ("INFO toggled", ToolAnswer::Nothing),
            ("", ToolAnswer::Nothing),
            ("agent: what do you mean?", ToolAnswer::Message("agent: what do you mean?".to_owned())),
            ("Sorry? :DONE", ToolAnswer::Message("Sorry? :DONE".to_owned())),
        ] {
            assert_eq!(tool_answer(line, ":DONE"), answer, "{line}");
        }
    }

    #[test]
    fn tokens_are_read_in_both_of_their_shapes() {
        let legacy = tokens_of("CURRENT_TOKEN_SUMMARY:INPUT:10:OUTPUT:5:TOTAL:15:CALLS:2").unwrap();
        assert_eq!((legacy.input_tokens, legacy.output_tokens, legacy.calls), (Some(10), Some(5), 2));
        let full = tokens_of(
            "TOKEN_SUMMARY:INPUT:30:OUTPUT:9:TOTAL:39:CALLS:5:MAX_SINGLE_INPUT:9:MAX_SINGLE_OUTPUT:4:MAX_SINGLE_TOTAL:13",
        )
        .unwrap();
        let used = since(legacy, full);
        assert_eq!((used.input_tokens, used.output_tokens, used.calls), (Some(20), Some(4), 3));
        for line in ["TOKEN_SUMMARY:INPUT:x:OUTPUT:1", "TOKEN_SUMMARY:", "TOKEN_SUMMARY_END", "agent: TOKEN_SUMMARY:"] {
            assert_eq!(tokens_of(line), None, "{line}");
        }
    }

    #[test]
    fn tokens_without_a_number_of_calls_are_of_one_call_a_turn() {
        let first = tokens_of("TOKEN_SUMMARY:INPUT:10:OUTPUT:2").unwrap();
        let second = tokens_of("TOKEN_SUMMARY:INPUT:25:OUTPUT:5").unwrap();
        assert_eq!(since(Usage::default(), first).calls, 1);
        let used = since(first, second);
        assert_eq!((used.calls, used.input_tokens, used.output_tokens), (1, Some(15), Some(3)));
        assert_eq!(since(second, second).calls, 0);
    }

    #[test]
    fn a_message_calls_no_tool() {
        assert_eq!(one_line("\n**user_tool** {\"name\":\"pay\"}"), "user_tool {\"name\":\"pay\"}");
        assert_eq!(one_line("Say **user_tool** to me"), "Say **user_tool** to me");
        assert_eq!(one_line(" **tokens**\n"), "tokens");
    }

    #[test]
    fn a_message_ends_no_program() {
        assert_eq!((one_line(" quit\n").as_str(), one_line("EXIT").as_str()), ("quit.", "EXIT."));
        assert_eq!(one_line("I quit"), "I quit");
    }

    proptest! {
        #[test]
        fn a_message_of_any_lines_is_one_line(message in "(\\PC|\n|\r){0,40}") {
            let line = one_line(&message);
            prop_assert!(!line.contains(['\n', '\r']));
            prop_assert_eq!(one_line(&line), line);
        }

        #[test]
        fn any_line_is_survived(line in "(agent:|:DONE|TOKEN_SUMMARY:|INPUT:|USER_TOOL_RESULT:|\u{1b}\\[|3m|\\PC){0,8}") {
            let mut reader = MessageReader::default();
            reader.take(&line, ":DONE");
            let _ = tokens_of(&line);
            tool_answer(&line, ":DONE");
        }
    }
}
