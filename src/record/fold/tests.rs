use chrono::DateTime;

use super::*;
use crate::evidence::{Condition, Ending, Judgement, Observed, TrialId, Turn, Usage};
use crate::money::{Amount, Cost, Dollars, Price};
use crate::record::{Asker, FORMAT_VERSION, LaterEntries, ModelCall, Provenance, Spender, Verdict};
use crate::score::Outcome;

const AT: DateTime<chrono::Utc> = DateTime::UNIX_EPOCH;

fn begun(trials: u32) -> Entry {
    let trial = |number| TrialId {
        number,
        case: "c".to_owned(),
        model: "m".to_owned(),
        condition: Condition::WithFacts,
        repeat: number,
    };
    let provenance = Provenance { models: vec!["m".to_owned()], ..Provenance::default() };
    Entry::RunStarted {
        version: FORMAT_VERSION,
        id: "a".to_owned(),
        at: AT,
        provenance: Box::new(provenance),
        job: None,
        templates: BTreeMap::new(),
        trials: (1..=trials).map(trial).collect(),
    }
}

/// A conversation of one turn, for which the judge and the agent take ten tokens each.
fn held(trial: u32, reply: &str) -> Vec<Entry> {
    let usage = Usage::from_counts(Some(9), Some(1));
    let call = ModelCall { at: AT, asker: Asker::Judge, model: "j".to_owned(), usage };
    let turn = Turn { usage: Some(usage), ..Turn::answered(1, "hi", reply) };
    vec![
        Entry::TrialStarted { trial, at: AT, case: None },
        Entry::SessionOpened { trial, session_id: "s".to_owned(), user: "u".to_owned() },
        Entry::UserSaid { trial, turn: 1, text: "hi".to_owned(), farewell: None, used_ms: None },
        Entry::TurnFinished { trial, turn, resume_point: None },
        Entry::ModelAsked { trial, number: None, call, set_aside: None },
    ]
}

fn over(trial: u32, outcome: Outcome) -> Entry {
    Entry::TrialFinished { trial, at: AT, outcome, scorecard: None }
}

fn resumed() -> Entry {
    Entry::RunResumed {
        at: AT,
        stopped_at: Some(AT),
        may_lack_turns: false,
        tool_version: "0.1.0".to_owned(),
        cost_limit: None,
        token_limit: Some(7),
        time_limit: None,
        prices: BTreeMap::new(),
        prices_dated: String::new(),
    }
}

fn tokens_aside(run: &Overview) -> u64 {
    run.set_aside.amount(&BTreeMap::new(), &BTreeMap::new()).tokens
}

fn broken() -> Outcome {
    Outcome::Broken { error: "the graph is down".to_owned() }
}

fn folded(entries: Vec<Entry>) -> (Vec<TrialRecord>, Overview) {
    let mut fold = Fold::begin(begun(2)).unwrap().with_later(LaterEntries::from_entries(&entries));
    let mut trials: Vec<TrialRecord> =
        entries.into_iter().filter_map(|entry| fold.take(entry)).map(|(_, trial)| trial).collect();
    let overview = fold.end(|_, trial| trials.push(trial));
    (trials, overview)
}

fn reply(trial: &TrialRecord) -> Option<&str> {
    trial.evidence.as_ref()?.transcript.turns.last()?.agent.as_deref()
}

/// The tokens of the agent and of the judge.
fn spent(run: &Overview) -> [Option<u64>; 2] {
    [Spender::Agent, Spender::Judge].map(|spender| {
        let row = run.spending.iter().find(|row| row.spender == spender)?;
        assert_eq!(row.cost, Cost::Unknown);
        row.usage?.input_tokens
    })
}

#[test]
fn a_trial_that_was_cut_off_is_the_one_that_is_held_again_and_both_are_paid() {
    let entries = [
        held(1, "first"),
        vec![over(1, Outcome::Graded)],
        held(2, "cut off"),
        vec![Entry::UserSaid { trial: 2, turn: 2, text: "more".to_owned(), farewell: None, used_ms: None }],
        vec![resumed(), Entry::TrialRestarted { trial: 2, at: AT }],
        held(2, "again"),
        vec![over(2, Outcome::Graded), Entry::RunFinished { at: AT, interrupted: false }],
    ];
    let (trials, run) = folded(entries.concat());
    assert_eq!(trials.iter().map(reply).collect::<Vec<_>>(), [Some("first"), Some("again")]);
    let [replaced] = trials[1].replaced.as_slice() else { panic!("{:?}", trials[1].replaced) };
    assert_eq!((&replaced.outcome, replaced.pending.as_deref()), (&None, Some("more")));
    assert_eq!(spent(&run), [Some(27), Some(27)]);
    let agent = run.spending.iter().find(|row| row.spender == Spender::Agent).unwrap();
    assert_eq!(agent.calls, 4, "the message that was on its way was paid, too");
    assert_eq!((run.begun, run.turns, run.unfinished()), (2, 2, 0));
    assert_eq!(run.summary.resumed_at, [AT]);
    assert_eq!(run.summary.provenance.token_limit, Some(7));
}

#[test]
fn of_a_trial_that_broke_and_is_held_again_only_the_newer_one_counts() {
    let entries = [
        held(1, "broke"),
        vec![over(1, broken())],
        held(2, "second"),
        vec![over(2, Outcome::Graded), Entry::RunFinished { at: AT, interrupted: false }],
        vec![resumed(), Entry::TrialRestarted { trial: 1, at: AT }],
        held(1, "again"),
        vec![over(1, Outcome::Graded), Entry::RunFinished { at: AT, interrupted: false }],
    ];
    let (trials, run) = folded(entries.concat());
    assert_eq!(trials.iter().map(reply).collect::<Vec<_>>(), [Some("second"), Some("again")]);
    assert_eq!(trials[1].replaced[0].outcome, Some(broken()));
    assert_eq!((spent(&run), run.begun, run.groups[0].planned), ([Some(27), Some(27)], 2, 2));
}

#[test]
fn what_was_spent_before_has_the_prices_by_which_the_run_went_on() {
    let price = Price { input: 1.0, cached_input: None, output: 1.0, long_context: None };
    let went_on = |dated: &str, price| {
        let mut went_on = resumed();
        if let Entry::RunResumed { prices, prices_dated, .. } = &mut went_on {
            prices.insert("j".to_owned(), price);
            *prices_dated = dated.to_owned();
        }
        went_on
    };
    let entries = [
        held(1, "first"),
        vec![over(1, Outcome::Graded), went_on("yesterday", Price { input: 7.0, ..price }), went_on("today", price)],
        held(2, "second"),
        vec![over(2, Outcome::Graded), Entry::RunFinished { at: AT, interrupted: false }],
    ];
    let (_, run) = folded(entries.concat());
    let judge = run.spending.iter().find(|row| row.spender == Spender::Judge).unwrap();
    assert_eq!(judge.cost, Cost::Exactly(Dollars::new(0.000_02).unwrap()));
    assert_eq!(run.summary.provenance.prices_dated, "today");
}

#[test]
fn answers_are_in_the_order_of_the_questions_whenever_they_came() {
    let call = |model: &str, input| ModelCall {
        at: AT,
        asker: Asker::Judge,
        model: model.to_owned(),
        usage: Usage::from_counts(Some(input), Some(1)),
    };
    let asked =
        |model: &str, input| Entry::ModelAsked { trial: 1, number: None, call: call(model, input), set_aside: None };
    let judged = |question: &str, place| {
        let judgement = Judgement {
            question: question.to_owned(),
            judge: "j".to_owned(),
            sample: 1,
            reply: Observed::Seen("fine".to_owned()),
            rejected: Vec::new(),
            alternatives: Vec::new(),
            usage: Usage::default(),
            is_cached: false,
            notes: Vec::new(),
        };
        Entry::Judged { trial: 1, question: None, judgement, place }
    };
    let mut entries = held(1, "once");
    entries.truncate(4);
    let of_persona = Entry::ModelAsked {
        trial: 1,
        number: None,
        call: ModelCall { asker: Asker::Persona, ..call("z", 1) },
        set_aside: None,
    };
    entries.extend([of_persona, asked("b", 3), judged("third", Some(2)), asked("a", 9), judged("first", Some(0))]);
    entries.extend([asked("b", 2), judged("second", Some(1)), judged("fourth", None), over(1, Outcome::Graded)]);
    let (trials, _) = folded(entries);
    let trial = trials.iter().find(|it| it.trial.number == 1).unwrap();
    let order: Vec<&str> = trial.judgements.iter().map(|it| it.question.as_str()).collect();
    assert_eq!(order, ["first", "second", "third", "fourth"]);
    let calls: Vec<(&str, Option<u64>)> =
        trial.calls.iter().map(|it| (it.model.as_str(), it.usage.input_tokens)).collect();
    assert_eq!(calls, [("z", Some(1)), ("a", Some(9)), ("b", Some(2)), ("b", Some(3))]);
}

#[test]
fn a_persona_that_failed_stays_to_blame_when_its_trial_is_held_again() {
    let invalid = Outcome::PersonaInvalid { error: "it leaked a fact".to_owned() };
    let entries = [
        held(1, "spoilt"),
        vec![over(1, invalid), resumed(), Entry::TrialRestarted { trial: 1, at: AT }],
        held(1, "again"),
        vec![over(1, Outcome::Graded)],
    ];
    let (trials, run) = folded(entries.concat());
    assert_eq!((trials[0].discarded.len(), trials[0].replaced.len()), (1, 0));
    assert_eq!((run.validity.held, run.validity.invalid), (2, 1));
}

#[test]
fn what_was_used_and_when_it_stopped_is_known_of_what_goes_on() {
    let at = |second: i64| DateTime::from_timestamp(second, 0).unwrap();
    let said = |turn: u32, used_ms: f64| Entry::UserSaid {
        trial: 1,
        turn,
        text: "hi".to_owned(),
        farewell: None,
        used_ms: Some(used_ms),
    };
    let answered = |turn: u32, spent_ms: f64| Entry::TurnFinished {
        trial: 1,
        turn: Turn { spent_ms: Some(spent_ms), ..Turn::answered(turn, "hi", "yes") },
        resume_point: Some(Box::new(turn.into())),
    };
    let opened = || {
        let opened = Entry::SessionOpened { trial: 1, session_id: "s".to_owned(), user: "u".to_owned() };
        vec![Entry::TrialStarted { trial: 1, at: at(10), case: None }, opened]
    };
    let mut entries = opened();
    entries.extend([said(1, 1_000.0), answered(1, 4_000.0)]);
    let cut_off = |entries: &[Entry]| folded(entries.to_vec()).0.into_iter().find(|it| it.trial.number == 1).unwrap();
    assert_eq!(cut_off(&entries).used_so_far(), [5_000.0, 4_000.0]);
    entries.push(said(2, 7_000.0));
    let left = cut_off(&entries);
    // What was waited for is not known.
    assert_eq!((left.used_so_far(), left.resume_points.len()), ([7_000.0, 4_000.0], 1));
    let Entry::RunResumed { tool_version, .. } = resumed() else { panic!() };
    entries.push(Entry::RunResumed {
        at: at(3_700),
        stopped_at: Some(at(100)),
        may_lack_turns: true,
        tool_version,
        cost_limit: None,
        token_limit: None,
        time_limit: None,
        prices: BTreeMap::new(),
        prices_dated: String::new(),
    });
    assert!(cut_off(&entries).may_lack_turns, "the run was cut off again before it went on");
    entries.push(Entry::TrialContinued { trial: 1, at: at(3_720), stopped_at: Some(at(100)), was_over: false });
    assert!(cut_off(&entries).may_lack_turns);
    entries.extend([said(2, 7_000.0), answered(2, 1_000.0)]);
    assert!(!cut_off(&entries).may_lack_turns, "the turn says it");
    entries.push(Entry::TrialFinished { trial: 1, at: at(3_730), outcome: Outcome::Graded, scorecard: None });
    entries.push(Entry::RunFinished { at: at(3_800), interrupted: false });
    let (trials, run) = folded(entries.clone());
    let seconds = |took: Option<std::time::Duration>| took.map(|it| it.as_secs());
    assert_eq!((run.summary.idle_ms, seconds(run.summary.took())), (3_600_000, Some(200)));
    assert_eq!(seconds(trials[0].took()), Some(100), "from 10 to 100 and from 3720 to 3730");
    // Held again from its setups, what came before counts for nothing.
    entries.truncate(entries.len() - 2);
    entries.push(Entry::TrialRestarted { trial: 1, at: at(4_000) });
    entries.extend(opened());
    let again = cut_off(&entries);
    assert_eq!((again.used_so_far(), again.resume_points.len()), ([0.0, 0.0], 0));
}

#[test]
fn a_conversation_that_a_limit_left_unjudged_is_judged_and_not_held_again() {
    let judgement = |question: &str, reply| Judgement {
        question: question.to_owned(),
        judge: "j".to_owned(),
        sample: 1,
        reply,
        rejected: Vec::new(),
        alternatives: Vec::new(),
        usage: Usage::default(),
        is_cached: false,
        notes: Vec::new(),
    };
    let judged = |question: &str, reply| Entry::Judged {
        trial: 1,
        question: None,
        judgement: judgement(question, reply),
        place: None,
    };
    let limit = || "the judge was not asked: limits.tokens (9) is used up: 9 are spent".to_owned();
    let mut ended = Entry::conversation_cut_off(1, Usage::default());
    if let Entry::ConversationEnded { ending, .. } = &mut ended {
        *ending = Ending::MaxTurns;
    }
    let mut entries = held(1, "once");
    entries.extend([
        ended,
        judged("a", Observed::Seen("fine".to_owned())),
        judged("b", Observed::Failed(limit())),
        over(1, Outcome::Broken { error: limit() }),
    ]);
    let (trials, _) = folded(entries.clone());
    assert!(trials[0].was_left_unjudged());
    entries.extend([
        resumed(),
        Entry::TrialContinued { trial: 1, at: AT, stopped_at: None, was_over: true },
        judged("b", Observed::Seen("fine, too".to_owned())),
        over(1, Outcome::Graded),
    ]);
    let (trials, run) = folded(entries);
    let trial = trials.iter().find(|it| it.trial.number == 1).unwrap();
    let asked: Vec<&str> = trial.judgements.iter().map(|it| it.question.as_str()).collect();
    assert_eq!((asked, &trial.outcome, reply(trial)), (vec!["a", "b"], &Some(Outcome::Graded), Some("once")));
    assert_eq!((trials.len(), run.stopped_by_limit, trial.replaced.len()), (2, 0, 0));
}

#[test]
fn what_was_set_aside_for_requests_that_nobody_answered_is_kept_however_often_a_trial_is_held() {
    let set_aside = Some(Amount { tokens: 40, ..Amount::default() });
    let mut entries = held(1, "once");
    for entry in &mut entries {
        if let Entry::ModelAsked { set_aside: kept, .. } = entry {
            *kept = set_aside;
        }
    }
    entries.extend([resumed(), Entry::TrialRestarted { trial: 1, at: AT }]);
    entries.extend(held(1, "again"));
    entries.extend([over(1, Outcome::Graded)]);
    assert_eq!(tokens_aside(&folded(entries).1), 40);
}

#[test]
fn a_request_that_nothing_more_was_heard_of_counts_as_what_it_can_have_cost() {
    let of = |calls: u64| match calls {
        0 => Usage::default(),
        calls => (1..calls).fold(Usage::from_counts(None, None), |sum, _| sum.plus(Usage::from_counts(None, None))),
    };
    let call = |calls| ModelCall { at: AT, asker: Asker::Judge, model: "j".to_owned(), usage: of(calls) };
    let set_aside = |tokens| Amount { tokens, ..Amount::default() };
    let asking = |number, calls, tokens| Entry::ModelAsking {
        trial: 1,
        number,
        call: call(calls),
        set_aside: set_aside(tokens),
    };
    let asked =
        |number, calls| Entry::ModelAsked { trial: 1, number: Some(number), call: call(calls), set_aside: None };
    let of = |entries: Vec<Entry>| {
        let (trials, run) = folded([held(1, "once"), entries].concat());
        let unknown: u64 = trials[0].calls.iter().map(|call| call.usage.unreported_calls).sum();
        (unknown, trials[0].calls.len(), tokens_aside(&run))
    };
    assert_eq!(of(vec![asking(1, 1, 40)]), (1, 2, 40));
    assert_eq!(of(vec![asking(1, 1, 40), asked(1, 0)]), (0, 1, 0), "it was refused");
    assert_eq!(of(vec![asking(1, 1, 40), asking(1, 2, 90)]), (2, 2, 90), "a second try");
    assert_eq!(of(vec![asking(1, 1, 40), asking(2, 1, 50), asked(1, 1)]), (2, 3, 50), "two at once");
    let again = |entry: Entry| vec![asking(1, 1, 40), resumed(), entry, asking(1, 1, 30), asked(1, 1)];
    let continued = Entry::TrialContinued { trial: 1, at: AT, stopped_at: None, was_over: false };
    assert_eq!(of(again(continued)), (2, 3, 40), "the numbers of another process are others");
    assert_eq!(of(again(Entry::TrialRestarted { trial: 1, at: AT })), (2, 3, 40));
    assert_eq!(of(vec![asking(1, 1, 40), over(1, Outcome::Graded)]), (1, 2, 40));
}

#[test]
fn what_did_not_fit_is_known_until_the_run_goes_on_and_what_requests_set_aside_beyond_what_they_took() {
    let aside = |tokens| Amount { tokens, ..Amount::default() };
    let call = |usage| ModelCall { at: AT, asker: Asker::Judge, model: "j".to_owned(), usage };
    let asking = |number, tokens, usage: Usage| Entry::ModelAsking {
        trial: 1,
        number,
        call: call(usage.plus(Usage::from_counts(None, None))),
        set_aside: aside(tokens),
    };
    let asked = |number, usage, left: Option<u64>| Entry::ModelAsked {
        trial: 1,
        number: Some(number),
        call: call(usage),
        set_aside: left.map(aside),
    };
    let (used, none) = (|tokens| Usage::from_counts(Some(tokens), Some(1)), Usage::default());
    let limit = |wanted| Entry::LimitReached { at: AT, why: "limits.tokens".to_owned(), wanted };
    let of = |entries: Vec<Entry>| {
        let (trials, run) = folded([held(1, "once"), entries].concat());
        (run.refused.map(|it| it.tokens), trials[0].margins.largest(&BTreeMap::new()).tokens)
    };
    assert_eq!(of(vec![asking(1, 40, none), asked(1, used(9), None), limit(Some(aside(70)))]), (Some(70), 30));
    // Its first reply was blank, and paid; of the second request it is not known what it took.
    let twice = vec![asking(1, 40, none), asking(1, 50, used(9)), asked(1, used(9).plus(used(19)), None)];
    assert_eq!(of(twice), (None, 30));
    assert_eq!(of(vec![asking(1, 40, none), asked(1, Usage::from_counts(None, None), Some(40))]), (None, 0));
    let again = |end: Vec<Entry>| {
        let before = vec![asking(1, 40, none), asked(1, used(9), None), limit(Some(aside(70))), resumed()];
        of([before, vec![Entry::TrialRestarted { trial: 1, at: AT }], end].concat())
    };
    assert_eq!((again(vec![]), again(vec![limit(Some(aside(60)))])), ((None, 30), (Some(60), 30)));
    let old: Entry = serde_json::from_str(
        r#"{"kind":"limitReached","at":"2026-11-20T23:32:40Z","why":"limits.tokens (300) is less than one request can take (11429)"}"#,
    )
    .unwrap();
    assert_eq!(of(vec![old]), (None, 0), "an earlier version kept a sentence only: it is asked afresh");
}

#[test]
fn a_run_that_was_resumed_and_killed_has_not_ended() {
    let entries = [
        held(1, "broke"),
        vec![over(1, broken()), Entry::LimitReached { at: AT, why: "limits.tokens".to_owned(), wanted: None }],
        vec![Entry::RunFinished { at: AT, interrupted: true }, resumed(), Entry::TrialRestarted { trial: 1, at: AT }],
        held(1, "cut off"),
    ];
    let (trials, run) = folded(entries.concat());
    let summary = &run.summary;
    assert_eq!((summary.finished_at, summary.interrupted, &summary.limit_reached), (None, false, &None));
    assert_eq!((run.unfinished(), summary.verdict), (2, Verdict::Incomplete));
    assert_eq!(trials[0].tries_before(), (0, 2));
    assert!(trials[0].is_to_be_retried() && trials[0].was_begun() && !trials[1].was_begun());
}
