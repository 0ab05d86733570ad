//! Verdicts as blocks of lines: `ID:`, `Property:`, `Rationale:`, `Verdict:`, as ADK and trpc-agent-go ask their judges for them.

use super::Support;
use crate::score::Score;
use crate::text::folded;

/// One block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// Its `ID:`, where there is one.
    pub id: Option<String>,
    /// Its `Property:` or `Sentence:`: the item, as the judge repeats it.
    pub property: Option<String>,
    /// Its `Rationale:` or `Reason:`.
    pub reason: String,
    /// Its `Label:`, where there is one.
    pub label: Option<String>,
    /// Its `Verdict:`.
    pub verdict: Option<String>,
}

/// A line that names a part of a block.
const KEYS: [(&str, BlockPart); 8] = [
    ("id", BlockPart::Id),
    ("property", BlockPart::Property),
    ("sentence", BlockPart::Property),
    ("evidence", BlockPart::Evidence),
    ("rationale", BlockPart::Reason),
    ("reason", BlockPart::Reason),
    ("label", BlockPart::Label),
    ("verdict", BlockPart::Verdict),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockPart {
    Id,
    Property,
    Evidence,
    Reason,
    Label,
    Verdict,
}

/// The blocks of a text, in order. A line that begins with a key begins that part, other lines go on with the part before; a
/// part that a block has already begins the next block, but for a second decision.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut all: Vec<Block> = Vec::new();
    let mut current: Option<(Block, BlockPart)> = None;
    for line in text.lines() {
        let Some((part, value)) = keyed(line) else {
            if let Some((block, part)) = &mut current {
                block.go_on(*part, line.trim());
            }
            continue;
        };
        let block = match current.take() {
            // A second decision begins no block: the judge says it again, or contradicts itself.
            Some((mut block, _)) if block.has(part) && matches!(part, BlockPart::Verdict | BlockPart::Label) => {
                block.decide_again(part, value);
                current = Some((block, part));
                continue;
            }
            Some((block, _)) if block.has(part) || part == BlockPart::Id => {
                all.push(block);
                Block::default()
            }
            Some((block, _)) => block,
            None => Block::default(),
        };
        let mut block = block;
        block.set(part, value);
        current = Some((block, part));
    }
    all.extend(current.map(|(block, _)| block));
    all
}

fn keyed(line: &str) -> Option<(BlockPart, &str)> {
    let line = line.trim_start_matches([' ', '\t', '-', '*', '•']);
    let (key, value) = line.split_once(':')?;
    let key = key.trim_matches([' ', '*', '_']).to_lowercase();
    let part = KEYS.iter().find(|(name, _)| *name == key)?.1;
    Some((part, value.trim_start_matches("**").trim()))
}

impl Block {
    fn has(&self, part: BlockPart) -> bool {
        match part {
            BlockPart::Id => self.id.is_some(),
            BlockPart::Property => self.property.is_some(),
            // Nobody reads it.
            BlockPart::Evidence => false,
            BlockPart::Reason => !self.reason.is_empty(),
            BlockPart::Label => self.label.is_some(),
            BlockPart::Verdict => self.verdict.is_some(),
        }
    }

    fn set(&mut self, part: BlockPart, value: &str) {
        let value = value.to_owned();
        match part {
            BlockPart::Id => self.id = Some(value),
            BlockPart::Property => self.property = Some(value),
            BlockPart::Evidence => {}
            BlockPart::Reason => self.reason = value,
            BlockPart::Label => self.label = Some(value),
            BlockPart::Verdict => self.verdict = Some(value),
        }
    }

    /// Takes in a second decision: one that differs makes the decision none.
    fn decide_again(&mut self, part: BlockPart, value: &str) {
        let decided = if part == BlockPart::Label { &mut self.label } else { &mut self.verdict };
        let word = |text: &str| folded(text.trim_matches(|c: char| !c.is_alphanumeric()));
        if let Some(first) = decided.as_mut().filter(|first| word(first) != word(value)) {
            *first = format!("{first}, then {value}");
        }
    }

    fn go_on(&mut self, part: BlockPart, line: &str) {
        let text = match part {
            BlockPart::Id | BlockPart::Evidence | BlockPart::Label | BlockPart::Verdict => return,
            BlockPart::Property => self.property.get_or_insert_default(),
            BlockPart::Reason => &mut self.reason,
        };
        if !line.is_empty() {
            text.push('\n');
            text.push_str(line);
        }
    }

    /// Whether it says what it is about, why, and how it decides.
    pub fn is_whole(&self) -> bool {
        let is_about = self.property.is_some() || self.id.is_some();
        is_about && !self.reason.is_empty() && (self.verdict.is_some() || self.label.is_some())
    }

    /// 1 for a verdict with "yes" in it, 0 for one with "no"; `None` for any other.
    pub fn score(&self) -> Option<Score> {
        let verdict = self.verdict.as_deref()?.to_lowercase();
        let has = |word: &str| verdict.split(|c: char| !c.is_alphanumeric()).any(|own| own == word);
        match (has("yes"), has("no")) {
            (true, _) => Some(Score::ONE),
            (_, true) => Some(Score::ZERO),
            _ => None,
        }
    }

    /// Its label; `None` where it has none, or an unknown one.
    pub fn support(&self) -> Option<Support> {
        self.label.as_deref().and_then(Support::parse)
    }

    /// The place of its item among these, which have an id and a text: by its id, else by the text, whatever signs surround it. An item
    /// of a turn, `polite@1`, may go without the turn where it is the only one of that name.
    pub fn item<'a>(&self, items: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Option<usize> {
        let id = self.id.as_deref().map(str::trim);
        let by_id = id.and_then(|id| items.clone().position(|(own, _)| own == id));
        let without_turn = || {
            let is_it = |own: &str| own.rsplit_once('@').is_some_and(|(name, _)| Some(name) == id);
            let mut places = items.clone().zip(0..).filter(|((own, _), _)| is_it(own)).map(|(_, place)| place);
            places.next().filter(|_| places.next().is_none())
        };
        by_id.or_else(without_turn).or_else(|| {
            let property = plain(self.property.as_deref()?);
            items.clone().position(|(_, text)| plain(text) == property)
        })
    }
}

/// Whether a reply is valid, and why, as `is_the_agent_response_valid` says so, in JSON or in lines: what ADK and trpc-agent-go ask
/// their judges for. `None` where nothing of the kind is said.
pub fn validity(text: &str) -> Option<(bool, String)> {
    let json = text.find('{').zip(text.rfind('}')).filter(|(from, to)| from < to);
    let json = json.and_then(|(from, to)| serde_json::from_str::<serde_json::Value>(&text[from..=to]).ok());
    let value = |key: &str| {
        if let Some(json) = &json {
            // What stands in a text of it is no key.
            let value = json.get(key)?;
            let first = value.as_array().map_or(Some(value), |list| list.first())?;
            let text = first.as_str().map_or_else(|| first.to_string(), str::to_owned);
            return Some(text.trim().to_lowercase());
        }
        let (_, rest) = text.split_once(key)?;
        let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ':' | '*' | '['));
        let end = rest.find(['\n', '"', '}', ']']).unwrap_or(rest.len());
        Some(rest[..end].trim().trim_end_matches(['.', ',', '*', '`']).to_lowercase())
    };
    let (label, is_inverted) = match value("is_the_agent_response_valid") {
        Some(label) => (label, false),
        None => (value("is_the_agent_response_invalid")?, true),
    };
    if is_inverted {
        // What is the value of `invalid`: only these say so.
        return match label.as_str() {
            "invalid" | "true" | "yes" => Some((false, value("reasoning").unwrap_or_default())),
            "valid" | "false" | "no" => Some((true, value("reasoning").unwrap_or_default())),
            other if other == "almost" || other.starts_with("partially") => {
                Some((true, value("reasoning").unwrap_or_default()))
            }
            _ => None,
        };
    }
    let is_valid = match label.as_str() {
        "valid" | "true" | "yes" => true,
        "invalid" | "false" | "no" | "almost" => false,
        other if other.starts_with("partially") => false,
        _ => return None,
    };
    Some((is_valid, value("reasoning").unwrap_or_default()))
}

/// A text without case, without the signs of lists and of emphasis around it, with plain quotation marks and single spaces.
fn plain(text: &str) -> String {
    let folded: String = folded(text)
        .chars()
        .map(|c| match c {
            '“' | '”' => '"',
            '‘' | '’' => '\'',
            '‐'..='―' | '−' => '-',
            c => c,
        })
        .collect();
    let signs = |c: char| c.is_whitespace() || matches!(c, '*' | '-' | '>' | '#' | '`' | '•' | '_' | '"' | '\'');
    folded.trim_matches(signs).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_verdict_that_differs_leaves_none() {
        let verdict =
            |text: &str| blocks(text).into_iter().map(|block| block.verdict.unwrap_or_default()).collect::<Vec<_>>();
        assert_eq!(verdict("Property: A?\nRationale: r\nVerdict: yes\nVerdict: **Yes**"), ["yes"]);
        assert_eq!(verdict("Property: A?\nRationale: r\nVerdict: yes\nOn reflection:\nVerdict: no"), ["yes, then no"]);
        let two = "Property: A?\nRationale: r\nVerdict: yes\n\nProperty: B?\nRationale: r\nVerdict: no";
        assert_eq!(verdict(two), ["yes", "no"]);
    }

    #[test]
    fn a_part_that_is_there_already_begins_the_next_block() {
        let all = blocks(
            "ID: 1\nProperty: A?\nRationale: r\nand more\nVerdict: yes\nProperty: B?\nRationale: s\nVerdict: no",
        );
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].id.as_deref(), all[0].reason.as_str()), (Some("1"), "r\nand more"));
        assert_eq!((all[1].id.as_deref(), all[1].score()), (None, Some(Score::ZERO)));
        assert!(all.iter().all(Block::is_whole));
        assert!(!blocks("Property: A?\nRationale: r")[0].is_whole());
        assert!(blocks("nothing of the kind").is_empty());
    }

    #[test]
    fn what_is_quoted_as_evidence_is_no_part_of_the_property() {
        let all = blocks("ID: polite\nProperty: It is polite.\nEvidence: none\nand more\nRationale: so\nVerdict: yes");
        assert_eq!((all.len(), all[0].property.as_deref()), (1, Some("It is polite.")));
        let items = [("short@1", "It is short."), ("polite@1", "Is it polite?")];
        assert_eq!(all[0].item(items.into_iter()), Some(1));
        let of_two_turns = [("polite@1", "?"), ("polite@2", "?")];
        assert_eq!(all[0].item(of_two_turns.into_iter()), None, "nobody knows which turn is meant");
    }

    #[test]
    fn a_key_counts_only_at_the_beginning_of_a_line() {
        let all = blocks("Property: A?\nRationale: The session UUID: abc-123 was fine.\nVerdict: yes");
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].id, None);
    }

    #[test]
    fn a_key_of_json_is_not_found_in_its_texts() {
        let said = r#"{"reasoning": "it says \"is_the_agent_response_valid\": \"valid\"", "is_the_agent_response_valid": "invalid"}"#;
        assert!(!validity(said).unwrap().0);
        assert!(validity("is_the_agent_response_valid: [valid]\nreasoning: so").unwrap().0);
    }

    #[test]
    fn a_word_is_a_whole_one() {
        let verdict = |text: &str| Block { verdict: Some(text.to_owned()), ..Block::default() }.score();
        assert_eq!(verdict("unknown"), None);
        assert_eq!((verdict("**No**"), verdict("yes.")), (Some(Score::ZERO), Some(Score::ONE)));
    }
}
