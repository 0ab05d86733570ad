use crate::limiter::controller::{AdmissionDecision, Controller, InFlight};
use crate::limiter::{BackoffPolicy, RateLimitHeaders, RateLimitWindow};

/// Sends when it may; the time goes on until then.
fn send(controller: &mut Controller, now: &mut f64) -> InFlight {
    loop {
        match controller.request(*now, 100.0) {
            AdmissionDecision::Send(request) => return request,
            AdmissionDecision::WaitUntil(moment) => *now = moment,
            AdmissionDecision::WaitForReply => panic!("nothing is in flight"),
        }
    }
}

#[test]
fn exhausted_three_times_in_a_row_it_makes_nobody_wait_until_something_is_accepted() {
    let mut controller = Controller::new(BackoffPolicy::MODEL, 1);
    let mut now = 0.0;
    while controller.times_exhausted() < 3 {
        assert!(!controller.fails_fast(now));
        let request = send(&mut controller, &mut now);
        controller.refused(now, request, Some(80.0), &RateLimitHeaders::default());
    }
    assert!(controller.fails_fast(now) && now < 700.0, "{now}");
    let request = send(&mut controller, &mut now);
    controller.accepted(now, request, None, &RateLimitHeaders::default());
    assert!(!controller.fails_fast(now));
}

#[test]
fn a_wait_of_years_is_not_believed() {
    let mut controller = Controller::new(BackoffPolicy::MODEL, 1);
    let mut now = 0.0;
    while controller.times_exhausted() < 1 {
        let request = send(&mut controller, &mut now);
        controller.refused(now, request, Some(99_999_999.0), &RateLimitHeaders::default());
    }
    assert!((81.0..90.0).contains(&now), "{now}");
}

#[test]
fn where_nothing_is_left_for_hours_one_is_sent_soon_all_the_same() {
    let mut controller = Controller::new(BackoffPolicy::MODEL, 1);
    let mut now = 0.0;
    let window = RateLimitWindow { limit: Some(1000.0), remaining: 0.0, seconds: 7200.0 };
    let request = send(&mut controller, &mut now);
    controller.accepted(now, request, None, &RateLimitHeaders { requests: Some(window), tokens: None });
    send(&mut controller, &mut now);
    assert!((80.0..=90.0).contains(&now), "{now}");
}

#[test]
fn refusals_of_what_was_sent_together_slow_down_once() {
    let mut controller = Controller::new(BackoffPolicy::MODEL, 1);
    let requests = [0; 3].map(|_| send(&mut controller, &mut 0.0));
    for request in requests {
        controller.refused(1.0, request, None, &RateLimitHeaders::default());
    }
    assert_eq!(controller.refusals, 1);
    assert!((2.0..2.2).contains(&controller.paused_until), "{}", controller.paused_until);
}
