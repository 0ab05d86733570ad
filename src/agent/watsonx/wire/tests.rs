//! On exchanges transcribed from what IBM's evaluation framework (`ibm-watsonx-orchestrate-evaluation-framework` 1.6.9,
//! `agentops/runtime_adapter/wxo_runtime_adapter.py`, `wxo_v2_runtime_adapter.py` and `wxo_v2_wire.py`) reads of each API.

use serde_json::json;

use super::completions::{CompletionTurn, RequestExtras};
use super::runs::{PartialRun, find_answer};
use super::*;
use crate::evidence::{Event, EventKind, ToolCall};

fn run(events: &[Value]) -> PartialRun {
    let mut run = PartialRun::default();
    for event in events {
        run.take(event);
    }
    run
}

fn event(name: &str, data: Value) -> Value {
    let mut data = data;
    data["thread_id"] = "t1".into();
    json!({"id": "e", "event": name, "data": data})
}

fn steps(details: Value) -> Value {
    event("run.step.delta", json!({"delta": {"role": "assistant", "step_details": details}}))
}

fn kinds(events: &[Event]) -> Vec<EventKind> {
    events.iter().map(|event| event.kind.clone()).collect()
}

fn call(name: &str, args: Value) -> EventKind {
    EventKind::FunctionCall(ToolCall { function: name.to_owned(), args: args.into() })
}

#[test]
fn a_run_tells_calls_results_and_messages_in_order() {
    let run = run(&[
        event("run.started", json!({"run_id": "r1"})),
        steps(
            json!([{"type": "tool_calls", "tool_calls": [{"id": "c1", "name": "get_leave", "args": {"who": "ann"}}]}]),
        ),
        // The same call again, alone.
        steps(json!([{"type": "tool_call", "id": "c1", "name": "get_leave", "args": {"who": "ann"}}])),
        steps(
            json!([{"type": "tool_response", "name": "get_leave", "content": "{\"days\": 12}", "tool_call_id": "c1"}]),
        ),
        steps(
            json!([{"type": "tool_calls", "tool_calls": [{"id": "c2", "name": "transfer_to_hr_agent", "args": {}}]}]),
        ),
        steps(json!([{"type": "tool_response", "name": "hr_agent", "content": "ok", "tool_call_id": "c2"}])),
        event("message.started", json!({})),
        event(
            "message.delta",
            json!({"delta": {"role": "assistant", "content": [{"response_type": "text", "text": "You have"}]}}),
        ),
        event("message.created", json!({"message": {"content": []}})),
        event(
            "message.created",
            json!({"message": {"role": "assistant", "content": [{"response_type": "text", "text": "You have 12 days."}]}}),
        ),
        event("run.completed", json!({})),
        event("done", json!({})),
    ]);
    assert!(run.is_over && run.failure.is_none());
    assert_eq!(run.thread.as_deref(), Some("t1"));
    let content = run.finish();
    assert_eq!(content.text(), "You have 12 days.");
    let routing = json!({"type": "tool_response", "name": "hr_agent", "content": "ok", "tool_call_id": "c2"});
    assert_eq!(
        kinds(&content.events),
        [
            call("get_leave", json!({"who": "ann"})),
            EventKind::FunctionResponse { output: json!({"days": 12}).into() },
            call("transfer_to_hr_agent", json!({})),
            EventKind::Other { data: json!({"routing": routing}) },
        ]
    );
}

#[test]
fn pieces_count_where_no_message_was_whole() {
    let piece =
        |text: &str| event("message.delta", json!({"delta": {"content": [{"response_type": "text", "text": text}]}}));
    let run = run(&[piece("Hel"), piece("lo"), event("done", json!({}))]);
    assert_eq!(run.finish().text(), "Hello");
}

#[test]
fn what_a_run_reports_as_its_failure_is_one() {
    for (event, failure) in [
        (event("run.failed", json!({"last_error": {"message": "no model"}})), "no model"),
        (event("error", json!({"message": "busy"})), "busy"),
        (json!({"detail": "Not authenticated"}), "Not authenticated"),
    ] {
        assert_eq!(run(&[event]).failure.as_deref(), Some(failure));
    }
}

#[test]
fn widgets_are_text_that_a_person_can_read() {
    let options = json!({"response_type": "option", "title": "Which city?", "options": [
        {"label": "Rome", "value": {"input": {"text": "Rome, please"}}}, {"label": "Oslo", "value": {"input": {"text": "Oslo"}}}]});
    let form = json!({"response_type": "form", "title": "Leave", "description": "Tell us when.",
        "fields": [{"name": "from", "label": "First day"}, {"name": "to"}]});
    let search = json!({"response_type": "conversational_search", "text": "Twelve days.", "citations_title": "Sources",
        "citations": [{"title": "Handbook", "text": "12 days", "body": "…", "range_start": 0, "range_end": 6, "search_result_idx": 0}],
        "search_results": [{"title": "Handbook", "body": "…"}]});
    let mut content = TurnContent::default();
    content.take_content(&json!([options, form, search]));
    assert_eq!(
        content.text(),
        "Which city?\n- Rome\n- Oslo\n\nLeave\nTell us when.\n- First day\n- to\n\nTwelve days."
    );
    let kept = [options, form, search].map(|data| EventKind::Other { data });
    assert_eq!(kinds(&content.events), kept);
}

#[test]
fn a_thread_tells_the_answer_to_our_own_last_message_only() {
    let text = |role: &str, text: &str| json!({"role": role, "content": [{"response_type": "text", "text": text}]});
    let mut answer = text("assistant", "Done.");
    answer["step_history"] = json!([{"role": "assistant", "step_details": [
        {"type": "tool_calls", "tool_calls": [{"id": "c1", "name": "note", "args": {"thing": "tea"}}]},
        {"type": "tool_response", "name": "note", "content": "ok", "tool_call_id": "c1"}]}]);
    let earlier = [text("user", "yes"), text("assistant", "First.")];
    let both = json!([earlier[0], earlier[1], text("user", " yes"), answer]);
    let content = find_answer(&both, 2, "yes").unwrap();
    assert_eq!(content.text(), "Done.");
    assert_eq!(
        kinds(&content.events),
        [call("note", json!({"thing": "tea"})), EventKind::FunctionResponse { output: json!("ok").into() }]
    );
    assert_eq!(find_answer(&json!(earlier), 2, "yes"), None, "the same text in an earlier message");
    assert_eq!(find_answer(&json!(earlier), 1, "no"), None);
    assert_eq!(find_answer(&json!([text("user", "yes")]), 1, "yes"), None);
    assert_eq!(find_answer(&json!({}), 1, "yes"), None);
}

const THREAD: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn completed_frame() -> Value {
    json!({"object": "thread.message.completed", "thread_id": THREAD, "run_id": "r1", "trace_id": "x1",
        "data": {"message": {"role": "assistant", "_meta": {"w": 1},
            "content": [{"response_type": "text", "text": "You have 12 days."}],
            "step_details": [
                {"type": "tool_calls", "tool_calls": [{"id": "c1", "name": "get_leave", "args": {"who": "ann"}}]},
                {"type": "tool_response", "name": "get_leave", "content": "12", "tool_call_id": "c1"},
                {"type": "tool_response", "name": "lost", "content": "x", "tool_call_id": "c9"}]}},
        "choices": [{"message": {"role": "assistant", "content": "You have 12 days.", "reasoning_content": "hm"}}]})
}

#[test]
fn a_completed_turn_has_its_events_and_its_history() {
    let mut turn = CompletionTurn::default();
    assert!(!turn.take(&json!({"object": "thread.run.step.delta"})));
    assert!(turn.completed().is_none());
    assert!(turn.take(&json!({"object": "thread.message.delta", "choices": [{"delta": {"content": "You"}}]})));
    turn.take(&completed_frame());
    let completed = turn.completed().unwrap();
    assert_eq!(completed.content.text(), "You have 12 days.");
    assert_eq!(completed.content.events.len(), 3);
    assert_eq!(completed.content.events[0].kind, call("get_leave", json!({"who": "ann"})));
    assert_eq!(completed.thread.as_deref(), Some(THREAD));
    assert_eq!(completed.usage, None);
    assert_eq!(
        completed.history,
        [
            json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "get_leave", "args": {"who": "ann"}}]}),
            json!({"role": "tool", "content": "12", "name": "get_leave", "tool_call_id": "c1"}),
            json!({"role": "assistant", "content": [{"response_type": "text", "text": "You have 12 days."}],
                   "_meta": {"w": 1}, "reasoning_content": "hm"}),
        ]
    );
}

#[test]
fn a_picker_without_text_shows_its_choices_and_an_error_frame_is_a_failure() {
    let mut frame = completed_frame();
    frame["data"]["message"]["content"] = json!([{"response_type": "date"}]);
    frame["thread_id"] = "new".into();
    let mut turn = CompletionTurn::default();
    turn.take(&frame);
    let completed = turn.completed().unwrap();
    assert_eq!(completed.content.text(), "You have 12 days.");
    assert_eq!(completed.thread, None, "a server that says `new` again keeps no threads");
    turn.take(&json!({"object": "error", "choices": [{"delta": {"content": "tool crashed"}}]}));
    assert_eq!(turn.failure.as_deref(), Some("tool crashed"));
}

#[test]
fn requests_hold_what_the_job_says_and_nothing_empty() {
    let (none, some) = (serde_json::Map::new(), json!({"a": 1}).as_object().unwrap().clone());
    assert_eq!(
        runs::request("id", None, "Hi", &none),
        json!({"message": {"role": "user", "content": "Hi"}, "agent_id": "id"})
    );
    let body = runs::request("id", Some("t"), "Hi", &some);
    assert_eq!((&body["thread_id"], &body["context"]), (&json!("t"), &json!({"a": 1})));
    let beside = RequestExtras { context: &none, context_variables: &some, additional_parameters: &none };
    let body = completions::request(&[json!({"role": "user", "content": "Hi"})], None, beside);
    assert_eq!(
        body,
        json!({"stream": true, "messages": [{"role": "user", "content": "Hi"}], "context_variables": {"a": 1}})
    );
}

#[test]
fn an_agent_is_found_by_name_or_id_and_others_are_named() {
    let agents = json!([{"id": "1", "name": "hr"}, {"id": "2", "name": "1"}]);
    assert_eq!(agent_id(&agents, "hr"), Some(Ok("1".to_owned())));
    assert_eq!(agent_id(&agents, "1"), Some(Ok("2".to_owned())), "names come first");
    assert_eq!(agent_id(&agents, "2"), Some(Ok("2".to_owned())));
    assert_eq!(agent_id(&agents, "sales"), Some(Err(vec!["hr".to_owned(), "1".to_owned()])));
    assert_eq!(agent_id(&json!({}), "hr"), None);
    let id = uuid_of("0123456789abcdef0123456789abcdef");
    assert!(is_uuid(&id), "{id}");
    assert!(!is_uuid("new") && !is_uuid("01234567-89ab-cdef-0123-456789abcdeg"));
}

#[test]
fn json_of_another_shape_is_neither_a_run_nor_a_turn() {
    let mut turn = CompletionTurn::default();
    turn.take(&json!({"answer": "hi"}));
    assert_eq!((run(&[json!({"answer": "hi"})]).is_other, turn.is_other), (Some(true), Some(true)));
    turn.take(&completed_frame());
    assert_eq!((run(&[event("done", json!({}))]).is_other, turn.is_other), (Some(false), Some(false)));
}

#[test]
fn a_call_that_came_alone_first_keeps_that_it_came_with_another() {
    let call = |id: &str| json!({"id": id, "name": "note", "args": {}});
    let alone = |id: &str| json!({"type": "tool_call", "id": id, "name": "note", "args": {}});
    let list = json!({"type": "tool_calls", "tool_calls": [call("a"), call("b")]});
    for steps in [vec![alone("a"), alone("b"), list.clone()], vec![list, alone("a"), alone("b")]] {
        let mut content = TurnContent::default();
        content.take_steps(&steps);
        assert_eq!(
            content.events.iter().map(|event| event.is_parallel).collect::<Vec<_>>(),
            [false, true],
            "{steps:?}"
        );
    }
}
