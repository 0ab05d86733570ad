use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::Clock;
use crate::limiter::{BackoffPolicy, Limiters, OnWait, RateLimitHeaders, RateLimiter, WaitReason};
use crate::secret::Secret;

const QUICK: BackoffPolicy =
    BackoffPolicy { first: 0.001, factor: 2.0, longest: 0.01, retry_after_cap: 0.01, ..BackoffPolicy::MODEL };

#[tokio::test]
async fn endless_refusals_end_for_all_who_wait_and_never_multiply_requests() {
    let limiter = RateLimiter::new(Clock::system(), QUICK, 1, None);
    let sent = AtomicUsize::new(0);
    let call = async || {
        let waiter = limiter.waiter();
        while let Ok(permit) = limiter.acquire(waiter, 100.0).await {
            sent.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            permit.refused(None, &RateLimitHeaders::default());
        }
    };
    futures_util::future::join_all((0..50).map(|_| call())).await;
    let sent = sent.into_inner();
    assert!((5..=20).contains(&sent), "{sent} requests of 50 callers");
}

#[tokio::test]
async fn whoever_leaves_the_queue_holds_nobody_up() {
    let slow =
        BackoffPolicy { first: 3600.0, factor: 1.0, longest: 3600.0, retry_after_cap: 3600.0, ..BackoffPolicy::MODEL };
    let limiter = RateLimiter::new(Clock::system(), slow, 1, None);
    let waiter = limiter.waiter();
    let other = limiter.acquire(waiter, 1.0).await.unwrap();
    let permit = limiter.acquire(waiter, 1.0).await.unwrap();
    permit.refused(None, &RateLimitHeaders::default());
    let mut waiting = Box::pin(limiter.acquire(waiter, 1.0));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    let mut second = Box::pin(limiter.acquire(waiter, 1.0));
    assert!(futures_util::poll!(&mut second).is_pending());
    drop(waiting);
    assert!(futures_util::poll!(&mut second).is_pending(), "the pause is everybody's");
    drop(other);
    drop(second);
    assert!(limiter.first.try_lock().is_ok());
}

#[tokio::test]
async fn the_first_of_the_queue_reports_once_how_long_it_waits() {
    let waits: Arc<Mutex<Vec<u64>>> = Arc::default();
    let noted = waits.clone();
    let on_wait: Arc<OnWait> = Arc::new(move |_, wait| noted.lock().unwrap().push(wait.as_secs()));
    let limiter = RateLimiter::new(Clock::system(), BackoffPolicy::MODEL, 1, Some((WaitReason::Model, on_wait)));
    let waiter = limiter.waiter();
    let permit = limiter.acquire(waiter, 1.0).await.unwrap();
    permit.refused(Some(Duration::from_secs(30)), &RateLimitHeaders::default());
    for _ in 0..3 {
        let mut waiting = Box::pin(limiter.acquire(waiter, 1.0));
        assert!(futures_util::poll!(&mut waiting).is_pending());
    }
    let waits = waits.lock().unwrap().clone();
    assert!(waits.len() == 1 && (29..=34).contains(&waits[0]), "{waits:?}");
}

#[test]
fn an_endpoint_with_one_key_has_one_limiter() {
    let limiters = Limiters::new(Clock::system(), 1, None);
    let (one, two) = (Secret::new("one"), Secret::new("two"));
    let limiter = limiters.limiter("http://h/v1", Some(&one));
    assert!(Arc::ptr_eq(&limiter, &limiters.limiter("http://h/v1/", Some(&one))));
    assert!(!Arc::ptr_eq(&limiter, &limiters.limiter("http://h/v1", Some(&two))));
    assert!(!Arc::ptr_eq(&limiter, &limiters.limiter("http://other/v1", Some(&one))));
}
