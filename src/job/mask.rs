//! Keys and passwords of a job file, blotted out before a problem shows the line they stand in.

use super::Problem;
use super::source::Lines;

/// The keys whose values nobody may see.
const SECRET_KEYS: [&str; 2] = ["apiKey", "password"];

/// The mappings whose values nobody may see, whatever their keys are called: the environment of a started agent, and the
/// headers of a request.
const ENVIRONMENTS: [&str; 2] = ["env", "headers"];

/// Whether the line stands under a key `env`, by how far the lines before it are indented: the file need not be YAML.
pub(super) fn in_environment(lines: &Lines<'_>, line: usize) -> bool {
    let indent = |text: &str| text.len() - text.trim_start().len();
    let mut depth = indent(lines.line(line));
    for above in (1..line).rev() {
        let text = lines.line(above);
        if depth == 0 {
            break;
        }
        if !text.trim().is_empty() && indent(text) < depth {
            if ENVIRONMENTS.iter().any(|key| after_key(text, key).is_some()) {
                return true;
            }
            depth = indent(text);
        }
    }
    false
}

/// What stands behind a key and its colon, wherever in the line the key stands.
fn after_key<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.match_indices(key).find_map(|(start, _)| {
        let before = line[..start].trim_end_matches(['"', '\'']).chars().next_back();
        let rest = line[start + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        let is_key = before.is_none_or(|before| before.is_whitespace() || matches!(before, '{' | ',' | '-'));
        rest.strip_prefix(':').filter(|_| is_key)
    })
}

/// The values of an environment in a line: each by itself, so that words can be cleared of it, and all that is left.
fn environment(line: &str, within: bool) -> Vec<String> {
    let part = match ENVIRONMENTS.iter().find_map(|key| after_key(line, key)) {
        Some(rest) => rest,
        None if within => line,
        None => return Vec::new(),
    };
    let inner = part.trim().trim_start_matches('{').trim_end_matches('}');
    let mut found: Vec<String> = Vec::new();
    for entry in inner.split(',') {
        // Without a colon it is the rest of a value that has a comma or a line break in it.
        let value = entry.split_once(':').map_or(entry, |(_, value)| value).trim();
        let bare = value.trim_matches(['"', '\'']);
        // The key in `Bearer KEY`, wherever it is repeated without the word before it.
        let last = bare.rsplit_once(' ').map(|(_, last)| last.to_owned());
        found.extend([value.to_owned(), bare.to_owned()].into_iter().chain(last));
    }
    found
}

/// Blots the secrets out of a problem's line, and out of its words where they repeat them.
pub(super) fn mask(problem: &mut Problem, in_environment: bool) {
    for secret in secrets(&problem.source_line, in_environment) {
        let blot = |text: &str| text.replace(&secret, "***");
        let before: String = problem.source_line.chars().take(problem.column - 1).collect();
        problem.source_line = blot(&problem.source_line);
        let length = problem.source_line.chars().count().max(1);
        // A place within a secret is its last star.
        problem.column = (blot(&before).chars().count() + 1).min(length);
        problem.width = problem.width.min(length + 1 - problem.column);
        problem.message = blot(&problem.message);
        problem.help = problem.help.as_deref().map(blot);
    }
}

/// The values of secret keys in a line, and the user part of an address, longest first.
fn secrets(line: &str, in_environment: bool) -> Vec<String> {
    let mut found = environment(line, in_environment);
    for key in SECRET_KEYS {
        for (start, _) in line.match_indices(key) {
            let rest = line[start + key.len()..].trim_start_matches(['"', '\'']).trim_start();
            let Some(value) = rest.strip_prefix(':') else { continue };
            let value = value.trim_start();
            let value = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => &value[1..1 + quoted(&value[1..], quote)],
                // A list or a mapping has no business there, but may hold the secret.
                Some('[' | '{') => value.trim_end(),
                _ => value.split([',', '}', '#']).next().unwrap_or_default().trim_end(),
            };
            found.push(value.to_owned());
        }
    }
    for (start, _) in line.match_indices("://") {
        let rest = &line[start + 3..];
        let end = rest.find(['/', ' ', '"', '\'', ',', '}']).unwrap_or(rest.len());
        if let Some(at) = rest[..end].rfind('@') {
            found.push(rest[..at].to_owned());
        }
    }
    found.retain(|secret| !secret.is_empty());
    found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    found
}

/// Where the quoted text ends, in bytes: at its quote, but not at one that is escaped (`\"`, `''`), or with the line.
fn quoted(text: &str, quote: char) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '\\' && quote == '"' {
            characters.next();
        } else if character == quote && characters.next_if(|(_, next)| quote == '\'' && *next == quote).is_none() {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(line: &str, value: &str) -> Problem {
        let mut problem = Problem {
            file: "job.yml".to_owned(),
            line: 1,
            column: line.find(value).map_or(1, |at| line[..at].chars().count() + 1),
            width: value.chars().count(),
            source_line: line.to_owned(),
            message: format!("expected a string, found {value}"),
            expected: Vec::new(),
            help: Some(format!("put it in quotes: \"{value}\"")),
        };
        mask(&mut problem, false);
        problem
    }

    #[test]
    fn a_key_is_blotted_out_of_line_message_and_help() {
        for line in [
            "  apiKey: 12345678",
            "embabel: {apiKey: 12345678, path: x}",
            "'password' : 12345678 # mine",
            "\"apiKey\": \"12345678\"",
        ] {
            let problem = masked(line, "12345678");
            assert!(!format!("{problem:?}").contains("345"), "{problem:?}");
            assert!(problem.source_line.contains("***"), "{problem:?}");
            assert!(problem.column + problem.width <= problem.source_line.chars().count() + 1, "{problem:?}");
        }
    }

    #[test]
    fn no_part_of_a_key_is_left_in_the_line() {
        for line in [
            "embabel: {apiKey: \"a\\\"12345678\", path: x}",
            "embabel: {apiKey: 'a''12345678', path: x}",
            "apiKey: [a, 12345678]",
            "apiKey: \"a 12345678",
        ] {
            let problem = masked(line, "12345678");
            assert!(!problem.source_line.contains("345"), "{problem:?}");
            assert!(problem.column + problem.width <= problem.source_line.chars().count() + 1, "{problem:?}");
        }
    }

    #[test]
    fn the_user_part_of_an_address_is_blotted_out_and_the_caret_follows() {
        let problem = masked("  baseUrl: ftp://me:s3cret@host/path, wrng: 1", "wrng");
        assert_eq!(problem.source_line, "  baseUrl: ftp://***@host/path, wrng: 1");
        assert_eq!((problem.column, problem.width), (33, 4));
    }

    #[test]
    fn the_environment_of_an_agent_is_blotted_out() {
        let hidden = |text: &str| {
            let lines = Lines::new(text);
            let line = 1 + text[..text.find("345").unwrap()].matches('\n').count();
            let mut problem = masked("x: 1", "x");
            problem.source_line = lines.line(line).to_owned();
            problem.message = format!("`A`: expected a string, found the integer 12345 in {}", lines.line(line).trim());
            (problem.column, problem.width) = (1, 1);
            mask(&mut problem, in_environment(&lines, line));
            assert!(!format!("{problem:?}").contains("345"), "{text}: {problem:?}");
        };
        hidden("start:\n  env:\n    A: 12345\n");
        hidden("start:\n  env:\n    B: x\n\n    # words\n    A: \"12345\"\n");
        hidden("start:\n  env: {B: 1, A: 12345, C: 2}\n");
        hidden("start: {command: x, env: {A: 12345}}\n");
        hidden("start:\n  \"env\":\n    A: |\n      12345\n");
        hidden("start:\n  env: {\n    A: 12345\n  }\n");
        hidden("say:\n  headers:\n    Authorization: Bearer 12345\n");
        hidden("say: {headers: {X-Key: 12345}}\n");
        let lines = Lines::new("environment:\n  A: 12345\n");
        assert!(!in_environment(&lines, 2));
    }

    #[test]
    fn a_line_without_secrets_stays_as_it_is() {
        assert_eq!(masked("  passwordless: 5, apiKey:", "5").source_line, "  passwordless: 5, apiKey:");
    }
}
