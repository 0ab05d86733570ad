//! Ordinals in words, and Roman numerals: "im vierten Stock" is the 4th floor.

/// The number of an ordinal in words, or of a Roman numeral: somebody may write it in figures.
pub(super) fn ordinal(word: &str) -> Option<f64> {
    let place = ORDINALS.iter().find_map(|list| list.iter().position(|stem| is_ordinal(word, stem)))?;
    Some(place as f64 + 1.0)
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
    use super::ordinal;

    #[test]
    fn ordinals_of_several_languages_are_numbers() {
        for (word, number) in
            [("third", 3.0), ("vierten", 4.0), ("deuxieme", 2.0), ("quinta", 5.0), ("ii", 2.0), ("drugiej", 2.0)]
        {
            assert_eq!(ordinal(word), Some(number), "{word}");
        }
        for word in ["i", "non", "thirdly", "quartet", "x", ""] {
            assert_eq!(ordinal(word), None, "{word}");
        }
    }
}
