//! Patterns of names, as shells write them.

/// A pattern: `*` stands for any characters and `?` for one; some patterns have sets, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern(Vec<Sign>);

/// One sign of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sign {
    Any,
    One,
    Is(char),
    In { ranges: Vec<(char, char)>, is_not: bool },
}

impl NamePattern {
    /// A pattern in which nothing but `*` and `?` stands for something else.
    pub fn new(pattern: &str) -> NamePattern {
        NamePattern(pattern.chars().map(sign).collect())
    }

    /// A pattern that has sets, too: `[abc]`, `[a-c]`, `[!a]`, as Python's `fnmatch` reads them.
    pub fn with_sets(pattern: &str) -> NamePattern {
        let letters: Vec<char> = pattern.chars().collect();
        let (mut signs, mut at) = (Vec::new(), 0);
        while let Some(letter) = letters.get(at) {
            // A bracket that closes at once is a member of the set.
            let first = at + 2 + usize::from(letters.get(at + 1) == Some(&'!'));
            let end = letters.iter().skip(first).position(|it| *it == ']').map(|it| first + it);
            match end.filter(|_| *letter == '[').map(|end| (end, &letters[at + 1..end])) {
                Some((end, set)) => {
                    signs.push(set_of(set));
                    at = end + 1;
                }
                None => {
                    signs.push(sign(*letter));
                    at += 1;
                }
            }
        }
        NamePattern(signs)
    }

    /// Whether a text is what the pattern says. It takes at most the product of both lengths.
    pub fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut at, mut read, mut last_star) = (0, 0, None);
        while read < text.len() {
            match self.0.get(at) {
                Some(Sign::Any) => {
                    last_star = Some((at, read));
                    at += 1;
                }
                Some(sign) if sign.is(text[read]) => (at, read) = (at + 1, read + 1),
                _ => {
                    // The last star stands for one character more.
                    let Some((star, from)) = last_star else { return false };
                    last_star = Some((star, from + 1));
                    (at, read) = (star + 1, from + 1);
                }
            }
        }
        self.0[at..].iter().all(|sign| *sign == Sign::Any)
    }
}

impl Sign {
    fn is(&self, letter: char) -> bool {
        match self {
            Sign::Any => false,
            Sign::One => true,
            Sign::Is(own) => *own == letter,
            Sign::In { ranges, is_not } => ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter)) != *is_not,
        }
    }
}

fn sign(letter: char) -> Sign {
    match letter {
        '*' => Sign::Any,
        '?' => Sign::One,
        letter => Sign::Is(letter),
    }
}

fn set_of(set: &[char]) -> Sign {
    let (is_not, mut set) = match set {
        ['!', set @ ..] => (true, set),
        set => (false, set),
    };
    let mut ranges = Vec::new();
    loop {
        set = match set {
            [] => return Sign::In { ranges, is_not },
            [from, '-', to, rest @ ..] => {
                ranges.push((*from, *to));
                rest
            }
            [one, rest @ ..] => {
                ranges.push((*one, *one));
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sets_are_read_as_fnmatch_reads_them() {
        for (pattern, name, holds) in [
            ("*.json", "a.json", true),
            ("*.json", "a.yml", false),
            ("data_?.json", "data_1.json", true),
            ("data_[0-9a]*", "data_7.json", true),
            ("data_[!0-9]*", "data_7.json", false),
            ("data_[!0-9]*", "data_x", true),
            ("[ab", "[ab", true),
            ("a*b*c", "a1b2c", true),
            ("", "a", false),
            ("case_?.json", "case_12.json", false),
            ("case_[0-3].json", "case_2.json", true),
            ("case_[!0-3].json", "case_2.json", false),
            ("[]a]x", "]x", true),
            ("[!]a]x", "bx", true),
            ("[!]a]x", "]x", false),
            ("[a", "[a", true),
            ("[", "[", true),
            ("[a-]", "-", true),
            ("*[ab]*", "xxbxx", true),
            ("[c-a]", "b", false),
        ] {
            assert_eq!(NamePattern::with_sets(pattern).matches(name), holds, "{pattern} {name}");
        }
        assert!(NamePattern::new("[a]*").matches("[a]b"));
    }

    #[test]
    fn many_stars_take_no_longer() {
        let pattern = format!("{}b", "a*".repeat(200));
        assert!(!NamePattern::with_sets(&pattern).matches(&"a".repeat(5_000)));
    }

    proptest! {
        #[test]
        fn a_text_with_stars_and_question_marks_in_it_matches_itself(text in "[a-c]{0,8}", at in 0_usize..8) {
            let at = at.min(text.len());
            prop_assert!(NamePattern::new(&text).matches(&text));
            let open = format!("{}*{}", &text[..at], &text[at..]);
            prop_assert!(NamePattern::with_sets(&open).matches(&text));
            let longer = format!("{text}?");
            prop_assert!(!NamePattern::with_sets(&longer).matches(&text));
        }
    }
}
