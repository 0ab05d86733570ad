use super::*;

fn with(text: &str) -> Templates {
    Templates::embedded().with_file("own", text, "own")
}

/// The problem's message, if the template has one.
fn problem(text: &str, kind: TemplateKind) -> Option<String> {
    with(text).check("own", kind).map(|problem| problem.to_string())
}

#[test]
fn the_embedded_templates_can_be_used() {
    assert_eq!(Templates::embedded().check("eval/socrates", TemplateKind::Persona), None);
    assert_eq!(Templates::embedded().check("eval/score", TemplateKind::Judge), None);
}

#[test]
fn a_missing_template_names_those_there_are_and_where_ones_own_would_lie() {
    assert_eq!(
        Templates::embedded().check("eval/socrate", TemplateKind::Persona).unwrap().to_string(),
        "There is no template `eval/socrate`. Did you mean `eval/socrates`? There are `eval/score` and `eval/socrates`; one of your own is the file `prompts/eval/socrate.jinja` beside the job file, or `eval/socrate.jinja` in the folder of `--prompts`."
    );
    assert!(!Templates::embedded().check("zebra", TemplateKind::Persona).unwrap().message.contains("mean"));
}

#[test]
fn an_unknown_variable_is_named_with_a_guess() {
    assert_eq!(
        problem("{{ voice }} {{ singoff }}", TemplateKind::Persona).unwrap(),
        "own:1:16: The template `own` uses the variable `singoff`, which it is not given. Did you mean `signoff`? It is given: name, voice, signoff, tasks, facts, plan, traits, allowed."
    );
}

#[test]
fn variables_of_the_other_kind_are_unknown() {
    let problem = Templates::embedded().check("eval/score", TemplateKind::Persona).unwrap().message;
    assert!(problem.contains("`needs_quotes`"), "{problem}");
}

#[test]
fn functions_of_the_language_are_not_variables() {
    let text = "{% for i in range(2) %}{{ i }}{% endfor %}{% for t in tasks %}{{ t.task }}{% endfor %}";
    assert_eq!(with(text).check("own", TemplateKind::Persona), None);
}

#[test]
fn a_syntax_error_has_its_place_in_its_file() {
    let templates = Templates::embedded().with_file("own", "fine\n  ä{% for task in %}", "prompts/own.jinja");
    let problem = templates.check("own", TemplateKind::Persona).unwrap();
    let place = problem.place.clone().unwrap();
    assert_eq!((place.line, place.source_line.as_str()), (2, "  ä{% for task in %}"));
    assert!(
        problem.to_string().starts_with("prompts/own.jinja:2:19: The template `own` can't be used: syntax error"),
        "{problem}"
    );
}

#[test]
fn an_error_while_it_is_filled_in_has_its_place() {
    for (text, place) in [
        ("ok\n  {{ name.first.second }}", "own:2:10: "),
        ("ok\n\n{{ name|shout }}", "own:3:9: "),
        ("{{ tasks }}\n{% for i in range(99999) %}\n  {% for j in range(99999) %}{% endfor %}{% endfor %}", "own:3:"),
        ("\n{{ 'a' * 10**9 }}", "own:2:4: "),
    ] {
        let problem = problem(text, TemplateKind::Persona).unwrap();
        assert!(problem.starts_with(place), "{text}: {problem}");
    }
}

#[test]
fn a_template_that_reads_a_long_text_again_and_again_is_stopped_in_time() {
    let values = minijinja::context! { transcript => "ä".repeat(4 << 20) };
    for text in [
        "{% for i in range(99999) %}{% if transcript|length == i %}x{% endif %}{% endfor %}",
        "{{ range(99999)|select('in', range(99999))|list|length }}",
        "{{ ([transcript] * 100000)|map('length')|list|length }}",
    ] {
        let since = crate::clock::thread_time();
        let error = with(text).render("own", values.clone()).unwrap_err();
        assert!(error.message.contains("5 s"), "{text}: {error}");
        let worked = crate::clock::thread_time().zip(since).map(|(now, since)| now - since);
        assert!(worked.is_none_or(|worked| worked.as_secs() < 20), "{text}: {worked:?}");
    }
}

#[test]
fn a_wide_format_is_refused() {
    for text in [
        "{{ '%1000000000d'|format(1) }}",
        "{{ '%.1000000000f'|format(1.5) }}",
        "{{ ('%(a)900000d' * 100)|format({'a': 1}) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ (['a' * 1000000] * 100)|map('replace', 'a', 'bbbbbbbbbbbbbbbb')|list|length }}",
    ] {
        assert!(problem(text, TemplateKind::Persona).is_some(), "{text}");
    }
    assert_eq!(problem("{{ '%5d'|format(1) }}{{ name }}", TemplateKind::Persona), None);
}

#[test]
fn a_template_without_an_end_is_reported() {
    let loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}{{ transcript }}";
    let recursion = "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}{{ transcript }}";
    let problem = problem(loops, TemplateKind::Judge).unwrap();
    assert!(problem.contains("takes more than 5000000 steps"), "{problem}");
    for text in [recursion, "{{ range(1000000000)|list }}", "{{ 'x' * 1000000000000 }}", "{% include 'own' %}"] {
        assert!(with(text).check("own", TemplateKind::Judge).is_some(), "{text}");
    }
}

#[test]
fn a_template_that_eats_memory_is_reported() {
    let unrolled = format!("{{% set x = 'aaaaaaaa' %}}{}{{{{ x }}}}", "{% set x = x ~ x %}".repeat(40));
    let list = format!("{{% set x = ['a'] %}}{}{{{{ x }}}}", "{% set x = [x, x] %}".repeat(40));
    let in_loop = |step: &str| {
        format!(
            "{{% set n = namespace(x='aaaaaaaa') %}}{{% for i in range(60) %}}{step}{{% endfor %}}{{{{ n.x }}}}{{{{ transcript }}}}"
        )
    };
    let captured = "{% set y %}{{ n.x }}{{ n.x }}{% endset %}{% set n.x = y %}";
    let long = "{% set n = namespace(l=[]) %}{% for i in range(100000) %}{% set n.l = n.l + ['x' * 100000] %}{% endfor %}{{ n.l|join }}";
    let nested = "{% set n = namespace(x=[]) %}{% for i in range(5000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}";
    for text in [
        unrolled,
        list,
        in_loop("{% set n.x = n.x ~ n.x %}"),
        in_loop("{% set n.x = n.x + n.x %}"),
        in_loop("{% set n.x = n.x * 8 %}"),
        in_loop("{% set n.x = n.x|replace('a', n.x) %}"),
        in_loop("{% set n.x = [n.x, n.x]|join(n.x) %}"),
        in_loop("{% set n.x = [n.x, n.x]|string %}"),
        in_loop("{% set n.x = {'a': n.x, 'b': n.x}|tojson %}"),
        in_loop("{% set n.x = n.x|list|chain(n.x|list) %}"),
        in_loop(captured),
        long.to_owned(),
        nested.to_owned(),
        "{{ ('x' * 10000000) ~ ('x' * 10000000)|indent(100000000) }}".to_owned(),
        "{{ 'a' * 10**9 }}".to_owned(),
        "{{ [1]|batch(1000000000, 'x') }}".to_owned(),
        "{% macro d(s, n) %}{% if n > 0 %}{{ d(s ~ s, n - 1) }}{% else %}{{ s }}{% endif %}{% endmacro %}{{ d('aaaaaaaa', 40) }}".to_owned(),
        "{% for i in range(90000) %}{% for j in range(5) %}{{ 'x' * 10000 }}{% endfor %}{% endfor %}".to_owned(),
    ] {
        let problem = problem(&text, TemplateKind::Judge);
        let is_reported = |problem: &String| problem.contains("makes too much") || problem.contains("too large") || problem.contains("recursion");
        assert!(problem.as_ref().is_some_and(is_reported), "{text}: {problem:?}");
    }
}

#[test]
fn a_long_transcript_is_no_reason_to_refuse_a_template() {
    let values = minijinja::context! { transcript => "a".repeat(40 << 20) };
    let templates = with("{% for task in range(100) %}{{ task }}{% endfor %}{{ transcript|trim }}");
    assert_eq!(templates.render("own", values).map(|text| text.len()), Ok((40 << 20) + 190));
}

#[test]
fn a_wrong_field_is_found_before_any_job_runs() {
    let text = "{% for task in tasks %}\n{{ task.critera }}{% endfor %}{{ transcript }}";
    let problem = problem(text, TemplateKind::Judge).unwrap();
    assert!(problem.starts_with("own:2:4: "), "{problem}");
    assert!(problem.contains("undefined"), "{problem}");
}

#[test]
fn an_unknown_filter_and_a_missing_include_are_found() {
    assert!(with("{{ name|shout }}").check("own", TemplateKind::Persona).unwrap().message.contains("shout"));
    assert!(with("{% include 'nowhere' %}").check("own", TemplateKind::Persona).unwrap().message.contains("nowhere"));
}

#[test]
fn a_template_may_include_an_embedded_one() {
    let text = "Speak French.\n{% include 'eval/socrates' %}";
    assert_eq!(with(text).check("own", TemplateKind::Persona), None);
}

#[test]
fn a_judge_that_would_not_see_the_conversation_is_refused() {
    let problem = problem("{% for task in tasks %}{{ task.task }}{% endfor %}", TemplateKind::Judge);
    assert_eq!(
        problem.unwrap(),
        "own:1:1: The template `own` never shows `transcript`: the judge would score a conversation that it can't see."
    );
}

#[test]
fn the_digest_is_that_of_the_text() {
    assert_eq!(with("abc").digest("own").unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(with("abc").digest("other"), None);
    assert_ne!(Templates::embedded().digest("eval/score"), Templates::embedded().digest("eval/socrates"));
}
