//! The controller against servers that enforce limits, in simulated time: how much of what is allowed gets used, and how much
//! is refused. Counts, never the wall clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::server::{Counting, Reporting, SimulatedLimit};
use crate::limiter::controller::{AdmissionDecision, Controller, InFlight};
use crate::limiter::{BackoffPolicy, RateLimitHeaders};

struct Scenario {
    counting: Counting,
    reporting: Reporting,
    requests: f64,
    tokens: f64,
    callers: usize,
    seconds_each: (f64, f64),
    tokens_each: (f64, f64),
}

/// The result from the tenth minute on, over an hour.
#[derive(Debug)]
struct SimulationResult {
    refused: f64,
    used: f64,
    times_exhausted: u64,
}

struct SimulatedReply {
    refused: bool,
    request: InFlight,
    tokens: f64,
    headers: RateLimitHeaders,
    asked: Option<f64>,
}

const WARM: f64 = 600.0;
const END: f64 = WARM + 3600.0;

fn simulate(scenario: &Scenario) -> SimulationResult {
    let mut controller = Controller::new(BackoffPolicy::MODEL, 7);
    let mut rng = fastrand::Rng::with_seed(11);
    let mut requests = SimulatedLimit::new(scenario.counting, scenario.requests);
    let mut tokens = SimulatedLimit::new(scenario.counting, scenario.tokens);
    let mut waiting: VecDeque<f64> = VecDeque::new();
    let mut replies: BinaryHeap<(Reverse<u64>, usize)> = BinaryHeap::new();
    let mut in_flight: Vec<Option<SimulatedReply>> = Vec::new();
    let between = |rng: &mut fastrand::Rng, (low, high): (f64, f64)| low + (high - low) * rng.f64();
    for _ in 0..scenario.callers {
        waiting.push_back(between(&mut rng, scenario.tokens_each));
    }
    let (mut now, mut sent, mut refused, mut used_requests, mut used_tokens) = (0.0_f64, 0, 0, 0.0, 0.0);
    while now < END {
        let mut next = f64::INFINITY;
        while let Some(cost) = waiting.front().copied() {
            match controller.request(now, 100.0) {
                AdmissionDecision::Send(request) => {
                    waiting.pop_front();
                    requests.move_to(now);
                    tokens.move_to(now);
                    let fits = requests.left() >= 1.0 && tokens.left() >= cost;
                    let asked =
                        requests.wait(now, 1.0).max(if tokens.left() < cost { tokens.wait(now, cost) } else { 0.0 });
                    if fits {
                        requests.take(now, 1.0);
                        tokens.take(now, cost);
                    }
                    if now >= WARM {
                        sent += 1;
                        refused += usize::from(!fits);
                        used_requests += if fits { 1.0 } else { 0.0 };
                        used_tokens += if fits { cost } else { 0.0 };
                    }
                    let seconds = if fits { between(&mut rng, scenario.seconds_each) } else { 0.1 };
                    let headers = match scenario.reporting {
                        Reporting::Headers => {
                            RateLimitHeaders { requests: Some(requests.window(now)), tokens: Some(tokens.window(now)) }
                        }
                        _ => RateLimitHeaders::default(),
                    };
                    let asked = (scenario.reporting != Reporting::Nothing).then_some(asked.ceil());
                    in_flight.push(Some(SimulatedReply { refused: !fits, request, tokens: cost, headers, asked }));
                    replies.push((Reverse(((now + seconds) * 1e6) as u64), in_flight.len() - 1));
                }
                // A timer rings up to 2 ms late.
                AdmissionDecision::WaitUntil(moment) => {
                    next = moment + 0.002 * rng.f64();
                    break;
                }
                AdmissionDecision::WaitForReply => break,
            }
        }
        let first_reply = replies.peek().map_or(f64::INFINITY, |(Reverse(at), _)| *at as f64 / 1e6);
        assert!(next.min(first_reply).is_finite(), "nothing will ever happen again");
        now = next.min(first_reply).max(now);
        if first_reply <= now {
            let (_, index) = replies.pop().unwrap();
            let SimulatedReply { refused, request, tokens, headers, asked } = in_flight[index].take().unwrap();
            if refused {
                controller.refused(now, request, asked, &headers);
                waiting.push_back(tokens);
            } else {
                controller.accepted(now, request, Some(tokens), &headers);
                waiting.push_back(between(&mut rng, scenario.tokens_each));
            }
        }
    }
    let minutes = (END - WARM) / 60.0;
    let used = (used_requests / minutes / scenario.requests).max(used_tokens / minutes / scenario.tokens);
    SimulationResult { refused: refused as f64 / sent as f64, used, times_exhausted: controller.times_exhausted() }
}

#[expect(clippy::print_stdout, reason = "the figures, for `--nocapture`")]
fn print(what: &str) {
    println!("{what}");
}

fn check(counting: Counting, reporting: Reporting) {
    for (requests, tokens) in [(60.0, 1e9), (10.0, 1e9), (600.0, 1e9), (1e9, 60_000.0), (100.0, 100_000.0)] {
        for seconds_each in [(0.3, 0.6), (1.0, 8.0)] {
            let scenario = Scenario {
                counting,
                reporting,
                requests,
                tokens,
                callers: 120,
                seconds_each,
                tokens_each: (500.0, 1500.0),
            };
            let outcome = simulate(&scenario);
            let what =
                format!("{counting:?} {reporting:?} {requests}/min {tokens} tokens/min {seconds_each:?}: {outcome:?}");
            print(&what);
            // Ten requests a minute are little to learn from: there one more or less is a tenth.
            // And a server that does not even say when to come back costs some waiting in vain.
            let least = match reporting {
                _ if requests < 60.0 => 0.75,
                Reporting::Nothing | Reporting::RetryAfter => 0.85,
                Reporting::Headers => 0.9,
            };
            assert!(outcome.used >= least, "{what}");
            assert!(outcome.refused <= if requests < 60.0 { 0.035 } else { 0.02 }, "{what}");
            assert_eq!(outcome.times_exhausted, 0, "{what}");
        }
    }
}

#[test]
fn a_limit_in_the_headers_is_used_up_and_hardly_ever_met() {
    for counting in [Counting::Bucket, Counting::Window, Counting::Sliding] {
        check(counting, Reporting::Headers);
    }
}

#[test]
fn a_limit_that_says_only_when_to_come_back_is_learned() {
    for counting in [Counting::Bucket, Counting::Window, Counting::Sliding] {
        check(counting, Reporting::RetryAfter);
    }
}

#[test]
fn a_limit_that_says_nothing_is_learned() {
    for counting in [Counting::Bucket, Counting::Window, Counting::Sliding] {
        check(counting, Reporting::Nothing);
    }
}

/// A job of 20 requests, four at once, of 200 ms each; the server refuses some by their number, counted from 0: the
/// seconds that it took, and the requests.
fn job(refuses: impl Fn(usize) -> bool, asked: Option<f64>) -> (f64, usize) {
    let mut controller = Controller::new(BackoffPolicy::MODEL, 7);
    let (mut now, mut sent, mut to_do, mut done) = (0.0_f64, 0, 20, 0);
    let mut in_flight: Vec<(f64, bool, InFlight)> = Vec::new();
    while done < 20 {
        let mut next = f64::INFINITY;
        while to_do > 0 && in_flight.len() < 4 {
            match controller.request(now, 100.0) {
                AdmissionDecision::Send(request) => {
                    to_do -= 1;
                    let refused = refuses(sent);
                    in_flight.push((now + if refused { 0.01 } else { 0.2 }, refused, request));
                    sent += 1;
                }
                AdmissionDecision::WaitUntil(moment) => {
                    next = moment;
                    break;
                }
                AdmissionDecision::WaitForReply => break,
            }
        }
        let first = in_flight.iter().map(|(at, ..)| *at).enumerate().min_by(|one, other| one.1.total_cmp(&other.1));
        now = now.max(next.min(first.map_or(f64::INFINITY, |(_, at)| at)));
        assert!(now.is_finite(), "nothing will ever happen again");
        if let Some((index, _)) = first.filter(|(_, at)| *at <= now) {
            let (_, refused, request) = in_flight.remove(index);
            if refused {
                controller.refused(now, request, asked, &RateLimitHeaders::default());
                to_do += 1;
            } else {
                controller.accepted(now, request, None, &RateLimitHeaders::default());
                done += 1;
            }
        }
    }
    (now, sent)
}

#[test]
fn one_refusal_costs_the_wait_that_it_asks_for_and_not_much_more() {
    for nth in 0..20 {
        for (asked, most) in [(Some(1.0), 3.2), (Some(3.0), 5.2), (None, 3.2)] {
            let (seconds, sent) = job(|number| number == nth, asked);
            print(&format!("request {nth} refused, {asked:?}: {seconds:.1} s"));
            // Without a refusal it takes one second.
            assert!(seconds >= 1.0 + asked.unwrap_or(1.0) * 0.8 - 0.2 && seconds <= most, "{nth} {asked:?}: {seconds}");
            assert_eq!(sent, 21);
        }
    }
}

#[test]
fn a_server_that_refuses_every_second_request_is_bearable() {
    for (asked, most) in [(Some(1.0), 45.0), (None, 80.0)] {
        let (seconds, sent) = job(|number| number % 2 == 1, asked);
        print(&format!("every second request refused, {asked:?}: {seconds:.1} s"));
        assert!(seconds <= most, "{asked:?}: {seconds}");
        assert!(sent <= 41, "{sent}");
    }
}
