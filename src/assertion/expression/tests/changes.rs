//! Changes as scripts see them.

use super::*;

fn changes() -> Evidence {
    use crate::evidence::{Change, ChangeTime, Entity, Node, Relationship, Temporal, TemporalKind, Value};
    let node = |label: &str, phone: Option<&str>| Node {
        id: "1".into(),
        labels: vec![label.into()],
        properties: phone.map(|phone| ("phone".to_owned(), Value::from(phone))).into_iter().collect(),
    };
    let at = |turn, late| ChangeTime { turn, late };
    let day = Value::Temporal(Temporal { kind: TemporalKind::Date, text: "2026-03-01".into() });
    let relationship = Relationship {
        id: "7".into(),
        kind: "HAS".into(),
        start: "1".into(),
        end: "2".into(),
        properties: [("on".to_owned(), day)].into(),
    };
    let joined = Entity::Relationship { relationship, from: node("User", None), to: node("Contact", Some("2")) };
    let changes = vec![
        Change::Created { when: at(2, false), entity: Entity::Node(node("Contact", Some("1"))) },
        Change::Created { when: at(2, false), entity: joined },
        Change::Changed {
            when: at(3, false),
            before: Box::new(Entity::Node(node("Contact", Some("1")))),
            after: Box::new(Entity::Node(node("Contact", Some("2")))),
        },
        Change::Deleted { when: at(3, true), entity: Entity::Node(node("Note", None)) },
    ];
    Evidence { changes: Some(Observed::Seen(changes)), ..evidence() }
}

#[test]
fn a_script_sees_what_has_changed() {
    for script in [
        "changes.all.size == 4 && changes.created.size == 2 && changes.changed.size == 1 && changes.deleted.size == 1",
        r#"changes.created.filter(|c| c.what == "node").all(|c| c.labels.contains("Contact") && c.turn == 2)"#,
        r#"changes.created.find(|c| c.what == "relationship").type == "HAS""#,
        r#"changes.created[1].from.labels == ["User"] && changes.created[1].to.properties.phone == "2""#,
        r#"changes.created[1].properties.on == "2026-03-01""#,
        "changes.created[0].before == () && changes.created[0].type == () && changes.created[0].from == ()",
        r#"changes.changed.first().before.phone == "1" && changes.changed.first().properties.phone == "2""#,
        r#"changes.changed[0].changedProperties == ["phone"]"#,
        "changes.deleted[0].late && changes.all.count(|it| it.late) == 1",
        r#"changes.all.map(|c| c.kind) == ["created", "created", "changed", "deleted"]"#,
        r#"let changes = 1; changes == 1"#,
    ] {
        assert_eq!(compile_problem(script), None, "{script}");
        let component = evaluate(&ExpressionCheck::new(script), "j", &changes(), long());
        assert_eq!(component.score(), Some(Score::ONE), "{script}: {component:?}");
    }
}

#[test]
fn names_of_changes_are_checked() {
    for (script, message) in [
        ("changes.create.size == 1", "`changes` has no `create`"),
        ("changes.created.any(|c| c.label == \"A\")", "a change has no `label`"),
        ("changes.created[0].from.name == 1", "the end of a relationship has no `name`"),
        ("chages.all.size == 0", "there is no variable `chages`"),
    ] {
        let problem = compile_problem(script).unwrap_or_else(|| panic!("{script}"));
        assert_eq!(problem.message, message);
    }
}

#[test]
fn changes_that_were_not_watched_are_missing() {
    let uses = ExpressionCheck::new("changes.all.size == 0");
    let unwatched = evaluate(&uses, "j", &evidence(), long());
    assert_eq!((unwatched.is_missing(), unwatched.why()), (true, "the graph was not watched"));
    let failed = Evidence { changes: Some(Observed::Failed("too large".into())), ..evidence() };
    assert_eq!(evaluate(&uses, "j", &failed, long()).why(), "the graph could not be watched: too large");
    // Properties of other things may have that name.
    for script in ["objectContext.context.changes == ()", "evaluation.done", "`changes` == \"changes\""] {
        assert!(!ExpressionCheck::new(script).uses_changes(), "{script}");
        let component = evaluate(&ExpressionCheck::new(script), "j", &failed, long());
        assert!(!component.is_missing(), "{script}: {component:?}");
    }
    for script in ["changes.all.size == 0", "`${changes.all.size}` == \"0\"", "[1].all(|x| changes.all.size == 0)"] {
        assert!(ExpressionCheck::new(script).uses_changes(), "{script}");
    }
}
