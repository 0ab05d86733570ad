use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::clock::Clock;
use crate::limiter::target::Settings;
use crate::limiter::{AfterRefusal, BackoffPolicy, ConversationLimiter, Refusals, TargetLimiter};

const QUICK: BackoffPolicy = BackoffPolicy { first: 0.002, longest: 0.01, ..BackoffPolicy::AGENT };

const PATIENCE: Duration = Duration::from_millis(50);

fn limiter(policy: BackoffPolicy) -> TargetLimiter {
    TargetLimiter::with(Settings {
        clock: Clock::system(),
        rng_seed: 1,
        policy,
        patience_together: PATIENCE,
        patience_alone: PATIENCE,
        on_wait: None,
    })
}

#[tokio::test]
async fn a_lone_conversation_finds_the_agent_at_fault_after_some_patience() {
    let limiter = limiter(QUICK);
    let conversation = limiter.open_conversation();
    let mut afters = Vec::new();
    while afters.last() != Some(&AfterRefusal::AgentFailed) {
        let permit = conversation.acquire().await.unwrap();
        afters.push(conversation.refused(permit, None).unwrap());
    }
    assert!(afters.len() >= 4 && afters.len() <= 20, "{afters:?}");
    assert!(afters[..afters.len() - 1].iter().all(|after| *after == AfterRefusal::Retry), "{afters:?}");
    assert_eq!(conversation.refusals(), None);
}

#[tokio::test]
async fn a_refusal_while_others_are_open_is_nobodys_failure_and_is_counted() {
    let limiter = limiter(QUICK);
    let (one, other) = (limiter.open_conversation(), limiter.open_conversation());
    let (first, second) = (one.acquire().await.unwrap(), other.acquire().await.unwrap());
    assert_eq!(one.refused(first, None), Some(AfterRefusal::Retry));
    other.answered(second);
    assert_eq!(one.refusals(), Some(Refusals { requests: 1, conversations: 2 }));
    assert_eq!(other.refusals(), None);
    drop(other);
    let again = one.acquire().await.unwrap();
    assert_eq!(one.refused(again, None), Some(AfterRefusal::Retry));
}

#[tokio::test]
async fn an_agent_that_refuses_several_for_ever_has_not_failed_nor_for_the_one_that_is_left_alone() {
    let limiter = limiter(QUICK);
    let (one, other) = (limiter.open_conversation(), limiter.open_conversation());
    // In the queue, or after a refusal: it gives up, and the agent has never failed.
    let refused = async |conversation: &ConversationLimiter| loop {
        let Ok(permit) = conversation.acquire().await else { return };
        match conversation.refused(permit, None).unwrap() {
            AfterRefusal::Retry => {}
            AfterRefusal::GiveUp => return,
            after => panic!("{after:?}"),
        }
    };
    tokio::join!(refused(&one), refused(&other));
    drop(other);
    let permit = one.acquire().await.unwrap();
    assert_eq!(one.refused(permit, None), Some(AfterRefusal::GiveUp));
}

#[tokio::test]
async fn a_conversation_with_an_agent_of_its_own_is_alone() {
    let limiter = limiter(QUICK);
    let (one, other) = (limiter.open_separate_conversation(), limiter.open_separate_conversation());
    let first = one.acquire().await.unwrap();
    assert_eq!(one.refused(first, None), Some(AfterRefusal::Retry));
    // The other conversation's agent has not answered.
    assert!(other.acquire().await.unwrap().is_some());
    assert_eq!(other.take_waited_ms(), 0.0);
}

#[tokio::test]
async fn only_what_was_waited_while_others_were_open_is_waited_for_them() {
    const SLOW: BackoffPolicy = BackoffPolicy { first: 0.2, longest: 0.2, ..BackoffPolicy::AGENT };
    let limiter = limiter(SLOW);
    let (one, other) = (limiter.open_conversation(), limiter.open_conversation());
    let permit = one.acquire().await.unwrap();
    assert_eq!(one.refused(permit, None), Some(AfterRefusal::Retry));
    let mut waiting = Box::pin(one.acquire());
    assert!(futures_util::poll!(&mut waiting).is_pending());
    tokio::time::sleep(Duration::from_millis(40)).await;
    drop(other);
    drop(waiting.await);
    let waited = one.take_waited_ms();
    assert!((30.0..180.0).contains(&waited), "{waited} ms");
    assert_eq!(one.take_waited_ms(), 0.0);
}

/// An agent that serves two at once, 20 conversations of 10 messages each: all are answered, few are refused.
#[tokio::test]
async fn the_number_of_requests_at_once_settles_where_an_agent_takes_them() {
    let limiter = limiter(QUICK);
    let (serving, refusals, served) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    let talk = async || {
        let conversation = limiter.open_conversation();
        let mut left = 10;
        while left > 0 {
            let permit = conversation.acquire().await.unwrap();
            if serving.fetch_add(1, Ordering::SeqCst) >= 2 {
                serving.fetch_sub(1, Ordering::SeqCst);
                refusals.fetch_add(1, Ordering::SeqCst);
                assert_eq!(conversation.refused(permit, None), Some(AfterRefusal::Retry));
                continue;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
            serving.fetch_sub(1, Ordering::SeqCst);
            served.fetch_add(1, Ordering::SeqCst);
            conversation.answered(permit);
            left -= 1;
        }
        // Whoever is done first leaves the others in company.
        conversation
    };
    let conversations = futures_util::future::join_all((0..20).map(|_| talk())).await;
    assert_eq!((conversations.len(), served.into_inner()), (20, 200));
    let refusals = refusals.into_inner();
    assert!(refusals <= 60, "{refusals}");
}

/// An agent that talks with one conversation at a time, 5 messages each: all 20 get their turn, however long the others take, and
/// few requests are refused.
#[tokio::test]
async fn conversations_take_turns_at_an_agent_that_serves_one_at_a_time() {
    let limiter = limiter(QUICK);
    let (serving, refusals) = (AtomicU32::new(0), AtomicU32::new(0));
    let talk = async |number: u32| {
        let conversation = limiter.open_conversation();
        let mut left = 5;
        while left > 0 {
            let permit = conversation.acquire().await.unwrap();
            // The agent notices within a moment.
            tokio::task::yield_now().await;
            let _ = serving.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst);
            if serving.load(Ordering::SeqCst) != number {
                refusals.fetch_add(1, Ordering::SeqCst);
                assert_eq!(conversation.refused(permit, None), Some(AfterRefusal::Retry));
                continue;
            }
            // Longer than a conversation waits for an agent that serves none.
            tokio::time::sleep(PATIENCE / 2).await;
            conversation.answered(permit);
            left -= 1;
        }
        serving.store(0, Ordering::SeqCst);
    };
    futures_util::future::join_all((1..=20).map(talk)).await;
    let refusals = refusals.into_inner();
    assert!(refusals < 1000, "{refusals}");
}

#[tokio::test]
async fn an_attempt_that_fails_otherwise_ends_the_wait_for_a_turn() {
    let limiter = limiter(QUICK);
    let (one, other) = (limiter.open_conversation(), limiter.open_conversation());
    let permit = one.acquire().await.unwrap();
    one.answered(permit);
    for _ in 0..3 {
        let permit = other.acquire().await.unwrap();
        assert_eq!(other.refused(permit, None), Some(AfterRefusal::Retry));
    }
    assert!(other.queued_ms() > 0.0, "it waits for its turn");
    // An error 500.
    drop(other.acquire().await.unwrap());
    let again = tokio::time::timeout(PATIENCE, other.acquire()).await;
    assert!(again.is_ok_and(|permit| permit.is_ok()));
}

#[tokio::test]
async fn an_agent_that_has_just_served_somebody_may_be_busy_with_others() {
    let limiter = limiter(QUICK);
    let (one, other) = (limiter.open_conversation(), limiter.open_conversation());
    let permit = one.acquire().await.unwrap();
    assert!(!one.others_are_served(), "it is the only one that asks");
    one.answered(permit);
    assert!(other.others_are_served());
    // Both are refused, one after the other: a limit by the second.
    for conversation in [&one, &other] {
        let permit = conversation.acquire().await.unwrap();
        conversation.refused(permit, None);
    }
    assert!(one.others_are_served() && other.others_are_served());
    drop(other);
    assert!(!one.others_are_served(), "it is alone");
}
