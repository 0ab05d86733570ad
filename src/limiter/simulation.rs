//! The gate against servers that enforce limits, in simulated time: how much of what is allowed gets used, and how much is
//! refused. Counts, never the wall clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::gate::{Concerns, Gate, Pauses, Ticket, Verdict};
use super::{Allowance, Told};

/// How the server counts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Counts {
    /// A bucket that is refilled all the time.
    Bucket,
    /// By the minute of the clock.
    Window,
    /// By the last 60 seconds.
    Sliding,
}

/// What the server says of its limits.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    Nothing,
    RetryAfter,
    Headers,
}

struct Meter {
    counts: Counts,
    limit: f64,
    /// Bucket: what is left. Window: what was used.
    level: f64,
    at: f64,
    log: VecDeque<(f64, f64)>,
}

impl Meter {
    fn new(counts: Counts, limit: f64) -> Meter {
        let level = if counts == Counts::Bucket { limit } else { 0.0 };
        Meter { counts, limit, level, at: 0.0, log: VecDeque::new() }
    }

    fn move_to(&mut self, now: f64) {
        match self.counts {
            Counts::Bucket => self.level = (self.level + (now - self.at) * self.limit / 60.0).min(self.limit),
            Counts::Window if (now / 60.0).floor() > (self.at / 60.0).floor() => self.level = 0.0,
            Counts::Window => {}
            Counts::Sliding => {
                let over = self.log.iter().take_while(|(moment, _)| *moment <= now - 60.0).count();
                self.level -= self.log.drain(..over).map(|(_, units)| units).sum::<f64>();
            }
        }
        self.at = now;
    }

    fn left(&self) -> f64 {
        if self.counts == Counts::Bucket { self.level } else { self.limit - self.level }
    }

    fn take(&mut self, now: f64, units: f64) {
        match self.counts {
            Counts::Bucket => self.level -= units,
            Counts::Window => self.level += units,
            Counts::Sliding => {
                self.level += units;
                self.log.push_back((now, units));
            }
        }
        self.move_to(now);
    }

    /// Seconds until so much is there.
    fn wait(&self, now: f64, units: f64) -> f64 {
        match self.counts {
            Counts::Bucket => (units - self.level) * 60.0 / self.limit,
            Counts::Window => 60.0 - now % 60.0,
            Counts::Sliding => self.log.front().map_or(0.0, |(moment, _)| moment + 60.0 - now),
        }
    }

    fn allowance(&self, now: f64) -> Allowance {
        let seconds = match self.counts {
            Counts::Bucket => (self.limit - self.level) * 60.0 / self.limit,
            Counts::Window => 60.0 - now % 60.0,
            Counts::Sliding => self.log.back().map_or(60.0, |(moment, _)| moment + 60.0 - now),
        };
        Allowance { limit: Some(self.limit), remaining: self.left().floor().max(0.0), seconds: seconds.max(0.05) }
    }
}

struct Scene {
    counts: Counts,
    says: Says,
    requests: f64,
    tokens: f64,
    callers: usize,
    seconds_each: (f64, f64),
    tokens_each: (f64, f64),
}

/// What was seen after ten minutes, for an hour.
#[derive(Debug)]
struct Seen {
    refused: f64,
    used: f64,
    storms: u64,
}

struct Reply {
    refused: bool,
    ticket: Ticket,
    tokens: f64,
    told: Told,
    asked: Option<f64>,
}

const WARM: f64 = 600.0;
const END: f64 = WARM + 3600.0;

fn play(scene: &Scene) -> Seen {
    let mut gate = Gate::new(Pauses::MODEL, 7);
    let mut chance = fastrand::Rng::with_seed(11);
    let mut requests = Meter::new(scene.counts, scene.requests);
    let mut tokens = Meter::new(scene.counts, scene.tokens);
    let mut waiting: VecDeque<f64> = VecDeque::new();
    let mut replies: BinaryHeap<(Reverse<u64>, usize)> = BinaryHeap::new();
    let mut on_their_way: Vec<Option<Reply>> = Vec::new();
    let between = |chance: &mut fastrand::Rng, (low, high): (f64, f64)| low + (high - low) * chance.f64();
    for _ in 0..scene.callers {
        waiting.push_back(between(&mut chance, scene.tokens_each));
    }
    let (mut now, mut sent, mut refused, mut used_requests, mut used_tokens) = (0.0_f64, 0, 0, 0.0, 0.0);
    while now < END {
        let mut next = f64::INFINITY;
        while let Some(cost) = waiting.front().copied() {
            match gate.ask(now, 100.0) {
                Verdict::Go(ticket) => {
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
                    let seconds = if fits { between(&mut chance, scene.seconds_each) } else { 0.1 };
                    let told = match scene.says {
                        Says::Headers => {
                            Told { requests: Some(requests.allowance(now)), tokens: Some(tokens.allowance(now)) }
                        }
                        _ => Told::default(),
                    };
                    let asked = (scene.says != Says::Nothing).then_some(asked.ceil());
                    on_their_way.push(Some(Reply { refused: !fits, ticket, tokens: cost, told, asked }));
                    replies.push((Reverse(((now + seconds) * 1e6) as u64), on_their_way.len() - 1));
                }
                // A timer rings up to 2 ms late.
                Verdict::At(moment) => {
                    next = moment + 0.002 * chance.f64();
                    break;
                }
                Verdict::AfterAReply => break,
            }
        }
        let first_reply = replies.peek().map_or(f64::INFINITY, |(Reverse(at), _)| *at as f64 / 1e6);
        assert!(next.min(first_reply).is_finite(), "nothing will ever happen again");
        now = next.min(first_reply).max(now);
        if first_reply <= now {
            let (_, index) = replies.pop().unwrap();
            let Reply { refused, ticket, tokens, told, asked } = on_their_way[index].take().unwrap();
            if refused {
                gate.refused(now, ticket, Concerns::Unknown, asked, &told);
                waiting.push_back(tokens);
            } else {
                gate.accepted(now, ticket, Some(tokens), &told);
                waiting.push_back(between(&mut chance, scene.tokens_each));
            }
        }
    }
    let minutes = (END - WARM) / 60.0;
    let used = (used_requests / minutes / scene.requests).max(used_tokens / minutes / scene.tokens);
    Seen { refused: refused as f64 / sent as f64, used, storms: gate.storms() }
}

#[expect(clippy::print_stdout, reason = "the figures, for `--nocapture`")]
fn show(what: &str) {
    println!("{what}");
}

fn check(counts: Counts, says: Says) {
    for (requests, tokens) in [(60.0, 1e9), (10.0, 1e9), (600.0, 1e9), (1e9, 60_000.0), (100.0, 100_000.0)] {
        for seconds_each in [(0.3, 0.6), (1.0, 8.0)] {
            let scene =
                Scene { counts, says, requests, tokens, callers: 120, seconds_each, tokens_each: (500.0, 1500.0) };
            let seen = play(&scene);
            let what = format!("{counts:?} {says:?} {requests}/min {tokens} tokens/min {seconds_each:?}: {seen:?}");
            show(&what);
            // Ten requests a minute are little to learn from: there one more or less is a tenth.
            // And a server that does not even say when to come back costs some waiting in vain.
            let least = match says {
                _ if requests < 60.0 => 0.75,
                Says::Nothing => 0.85,
                Says::RetryAfter => 0.88,
                Says::Headers => 0.9,
            };
            assert!(seen.used >= least, "{what}");
            assert!(seen.refused <= if requests < 60.0 { 0.035 } else { 0.02 }, "{what}");
            assert_eq!(seen.storms, 0, "{what}");
        }
    }
}

#[test]
fn a_limit_in_the_headers_is_used_up_and_hardly_ever_met() {
    for counts in [Counts::Bucket, Counts::Window, Counts::Sliding] {
        check(counts, Says::Headers);
    }
}

#[test]
fn a_limit_that_says_only_when_to_come_back_is_learned() {
    for counts in [Counts::Bucket, Counts::Window, Counts::Sliding] {
        check(counts, Says::RetryAfter);
    }
}

#[test]
fn a_limit_that_says_nothing_is_learned() {
    for counts in [Counts::Bucket, Counts::Window, Counts::Sliding] {
        check(counts, Says::Nothing);
    }
}

/// A job of 20 requests, four at once, of 200 ms each, whose server refuses some by their number, counted from 0: the
/// seconds that it took, and the requests.
fn job(refuses: impl Fn(usize) -> bool, asked: Option<f64>) -> (f64, usize) {
    let mut gate = Gate::new(Pauses::MODEL, 7);
    let (mut now, mut sent, mut to_do, mut done) = (0.0_f64, 0, 20, 0);
    let mut on_their_way: Vec<(f64, bool, Ticket)> = Vec::new();
    while done < 20 {
        let mut next = f64::INFINITY;
        while to_do > 0 && on_their_way.len() < 4 {
            match gate.ask(now, 100.0) {
                Verdict::Go(ticket) => {
                    to_do -= 1;
                    let refused = refuses(sent);
                    on_their_way.push((now + if refused { 0.01 } else { 0.2 }, refused, ticket));
                    sent += 1;
                }
                Verdict::At(moment) => {
                    next = moment;
                    break;
                }
                Verdict::AfterAReply => break,
            }
        }
        let first = on_their_way.iter().map(|(at, ..)| *at).enumerate().min_by(|one, other| one.1.total_cmp(&other.1));
        now = now.max(next.min(first.map_or(f64::INFINITY, |(_, at)| at)));
        assert!(now.is_finite(), "nothing will ever happen again");
        if let Some((index, _)) = first.filter(|(_, at)| *at <= now) {
            let (_, refused, ticket) = on_their_way.remove(index);
            if refused {
                gate.refused(now, ticket, Concerns::Unknown, asked, &Told::default());
                to_do += 1;
            } else {
                gate.accepted(now, ticket, None, &Told::default());
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
            let (seconds, sent) = job(|request| request == nth, asked);
            show(&format!("request {nth} refused, {asked:?}: {seconds:.1} s"));
            // Without a refusal it takes one second.
            assert!(seconds >= 1.0 + asked.unwrap_or(1.0) * 0.8 - 0.2 && seconds <= most, "{nth} {asked:?}: {seconds}");
            assert_eq!(sent, 21);
        }
    }
}

#[test]
fn a_server_that_refuses_every_second_request_is_bearable() {
    for (asked, most) in [(Some(1.0), 45.0), (None, 80.0)] {
        let (seconds, sent) = job(|request| request % 2 == 1, asked);
        show(&format!("every second request refused, {asked:?}: {seconds:.1} s"));
        assert!(seconds <= most, "{asked:?}: {seconds}");
        assert!(sent <= 41, "{sent}");
    }
}
