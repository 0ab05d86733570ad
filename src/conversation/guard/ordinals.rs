//! Ordinals in words, and Roman numerals: "im vierten Stock" is the 4th floor.

use super::text_view::TextView;

/// Whether a text has the ordinal of a number from 1 to 10, in words or as a Roman numeral: somebody may write it in figures.
pub(super) fn has_ordinal(text: &TextView<'_>, number: f64) -> bool {
    let place = (number as usize).checked_sub(1).filter(|_| number.fract() == 0.0);
    let stems = place.map(|place| ORDINALS.map(|list| list.get(place).copied().unwrap_or("-")));
    stems.is_some_and(|stems| text.words().any(|word| stems.iter().any(|stem| is_ordinal(word, stem))))
}

fn is_ordinal(word: &str, stem: &str) -> bool {
    word.strip_prefix(stem).is_some_and(|ending| ENDINGS.contains(&ending))
}

const ENDINGS: [&str; 12] = ["", "e", "en", "er", "es", "em", "o", "a", "os", "as", "i", "ej"];

/// From the first to the tenth.
const ORDINALS: [[&str; 10]; 8] = [
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"],
    ["erst", "zweit", "dritt", "viert", "funft", "sechst", "siebt", "acht", "neunt", "zehnt"],
    [
        "premier",
        "deuxieme",
        "troisieme",
        "quatrieme",
        "cinquieme",
        "sixieme",
        "septieme",
        "huitieme",
        "neuvieme",
        "dixieme",
    ],
    ["primer", "segund", "tercer", "cuart", "quint", "sext", "septim", "octav", "noven", "decim"],
    ["prim", "second", "terz", "quart", "quint", "sest", "settim", "ottav", "-", "decim"],
    ["eerst", "tweed", "derd", "vierd", "vijfd", "zesd", "zevend", "achtst", "negend", "tiend"],
    ["pierwsz", "drugi", "trzeci", "czwart", "piat", "szost", "siodm", "osm", "dziewiat", "dziesiat"],
    ["-", "ii", "iii", "iv", "-", "vi", "vii", "viii", "ix", "-"],
];

#[cfg(test)]
mod tests {
    use super::super::text_view::TextView;
    use super::has_ordinal;

    #[test]
    fn ordinals_of_several_languages_are_numbers() {
        for (text, number) in [
            ("The third floor", 3.0),
            ("im vierten Stock", 4.0),
            ("le deuxième", 2.0),
            ("la quinta", 5.0),
            ("Statistics II", 2.0),
            ("w drugiej strefie", 2.0),
        ] {
            assert!(has_ordinal(&TextView::new(text), number), "{text}");
            assert!(!has_ordinal(&TextView::new(text), number + 1.0), "{text}");
        }
        for number in [0.0, -1.0, 0.5, 11.0, 1e300, 1.0, 9.0, 10.0] {
            assert!(!has_ordinal(&TextView::new("I am non X and V - not a quartet"), number), "{number}");
        }
    }
}
