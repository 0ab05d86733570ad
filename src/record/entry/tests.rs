use super::*;

#[test]
fn an_entry_is_read_wherever_its_kind_stands() {
    let entry = Entry::UserSaid { trial: 3, turn: 1, text: "Hi".to_owned(), farewell: None, used_ms: None };
    for json in [
        r#"{"kind":"userSaid","trial":3,"turn":1,"text":"Hi","n":1,"crc":"0"}"#,
        r#"{"text":"Hi","trial":3,"n":1,"kind":"userSaid","turn":1,"new":{"a":[1]}}"#,
    ] {
        assert_eq!(serde_json::from_str::<Entry>(json).unwrap(), entry, "{json}");
    }
    assert_eq!(serde_json::from_value::<Entry>(serde_json::to_value(&entry).unwrap()).unwrap(), entry);
}

#[test]
fn a_line_that_is_no_entry_says_why() {
    for (json, why) in [
        (r#"{"trial":3}"#, "missing field `kind`"),
        ("{}", "missing field `kind`"),
        (r#"{"kind":"userSang","trial":3}"#, "unknown variant `userSang`"),
        (r#"{"trial":3,"kind":"userSang"}"#, "unknown variant `userSang`"),
        (r#"{"kind":"userSaid","trial":3}"#, "missing field `turn`"),
        (r#"{"trial":3,"kind":"userSaid"}"#, "missing field `turn`"),
        (r#"{"kind":"userSaid","trial":"3"}"#, "invalid type: string \"3\", expected u32"),
        (r#"["userSaid"]"#, "an object with `kind`"),
    ] {
        let error = serde_json::from_str::<Entry>(json).unwrap_err().to_string();
        assert!(error.contains(why), "{json}: {error}");
    }
}
