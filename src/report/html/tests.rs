use super::*;

#[test]
fn the_policy_allows_the_pages_own_style_and_nothing_else() {
    assert!(style::digest().starts_with("sha256-") && style::digest().len() == 51);
    let head = include_str!("head.html");
    assert!(head.contains("default-src 'none'; style-src '{{ digest|safe }}'; base-uri 'none'; form-action 'none'"));
    // Anything that the policy by digest forbids would silently be missing.
    for template in ["head.html", "run.html", "case.html", "trial.html", "chart.html", "run-end.html"] {
        let path = format!("{}/src/report/html/{template}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        for forbidden in [" style=", "<script", "javascript:", " src=", "http:", "https:"] {
            assert!(!text.contains(forbidden), "{template}: {forbidden}");
        }
        let escapes_off = text.matches("|safe").count();
        let expected = match template {
            "head.html" => 2,
            _ => 0,
        };
        assert_eq!(escapes_off, expected, "{template}");
    }
    assert!(!style::STYLE.contains("url(") && !style::STYLE.contains("@import"));
}

/// How a colour of the style sheet is seen: its relative luminance.
fn luminance(hex: &str) -> f64 {
    let digits = hex.trim_start_matches('#');
    let channel = |place: usize| {
        let value = f64::from(u8::from_str_radix(&digits[place..place + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}

#[test]
fn texts_stand_out_from_what_is_behind_them_in_light_and_dark() {
    let (light, dark) = style::STYLE.split_once("@media (prefers-color-scheme: dark)").unwrap();
    for scheme in [light, dark] {
        let colour = |name: &str| {
            let (_, rest) = scheme.split_once(&format!("--{name}: ")).unwrap();
            luminance(rest.split(';').next().unwrap())
        };
        for (text, behind) in [
            ("ink", "page"),
            ("ink", "card"),
            ("ink", "user"),
            ("ink", "code"),
            ("soft", "page"),
            ("soft", "card"),
            ("soft", "user"),
            ("soft", "code"),
            ("good", "good-bg"),
            ("bad", "bad-bg"),
            ("unsure", "unsure-bg"),
            ("accent", "card"),
            ("accent", "page"),
        ] {
            let (a, b) = (colour(text), colour(behind));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= 4.5, "{text} on {behind}: {contrast:.2}");
        }
    }
}
