use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use chrono::TimeDelta;

use super::*;
use crate::evidence::{Message, Role, Usage};
use crate::llm::{LlmError, LlmRole, UsageMeter};
use crate::secret::Secret;

/// A judge who answers with how often it was asked.
#[derive(Default)]
struct Counting {
    asked: AtomicU32,
    notes: Vec<String>,
}

#[async_trait]
impl Llm for Counting {
    fn name(&self) -> &str {
        "openai/judge"
    }

    fn address(&self) -> Option<String> {
        Some("https://judge.example/v1".to_owned())
    }

    fn request_digest(&self, request: &LlmRequest) -> Option<String> {
        Some(format!("{:0>64}", request.messages[0].content.len()))
    }

    async fn complete_metered(&self, _: &LlmRequest, _: &UsageMeter) -> Result<LlmReply, LlmError> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let usage = Usage::from_counts(Some(100), Some(5));
        let notes = self.notes.clone();
        Ok(LlmReply { text: format!("reply {number}"), usage, notes, tokens: Vec::new(), is_cached: false })
    }
}

fn request(words: &str) -> LlmRequest {
    LlmRequest {
        role: LlmRole::Judge,
        messages: vec![Message::new(Role::User, words)],
        temperature: 0.0,
        schema: None,
        sample: 1,
        conversation_seed: None,
    }
}

fn day(number: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(number)
}

fn cache(folder: &tempfile::TempDir, number: i64) -> Cache {
    let redactor = Redactor::new([&Secret::new("sk-canary-Zq8vKp2mXc7VhT5kW")]);
    Cache::at(CacheFolder::beside(folder.path()), Clock::fixed(day(number)), redactor)
}

/// Asks, and keeps what comes.
async fn ask(judge: &Counting, cache: &Cache, words: &str) -> LlmReply {
    let meter = UsageMeter::default();
    let reply = CachedJudge::new(judge, cache).complete_metered(&request(words), &meter).await.unwrap();
    cache.keep(judge, &request(words), &reply).await;
    reply
}

#[tokio::test]
async fn a_later_run_takes_what_an_earlier_one_kept_and_never_its_own() {
    let (folder, judge) = (tempfile::tempdir().unwrap(), Counting::default());
    let first = cache(&folder, 1);
    assert_eq!(ask(&judge, &first, "a").await.text, "reply 1");
    assert_eq!(ask(&judge, &first, "a").await.text, "reply 2", "the same run");
    let second = cache(&folder, 2);
    let kept = ask(&judge, &second, "a").await;
    assert_eq!((kept.text.as_str(), kept.is_cached, kept.usage), ("reply 2", true, Usage::default()));
    assert_eq!(ask(&judge, &second, "other").await.text, "reply 3");
    assert_eq!(ask(&judge, &Cache::OFF, "a").await.text, "reply 4");
    // A hit is not kept anew: it would never grow old.
    assert_eq!(CacheFolder::beside(folder.path()).list().unwrap().rows[0].oldest, day(1));
    assert!(first.troubles().is_empty() && second.troubles().is_empty());
}

#[tokio::test]
async fn a_reply_at_another_temperature_or_with_a_secret_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let notes = vec!["the model refuses a temperature; it was left out".to_owned()];
    let judge = Counting { notes, ..Counting::default() };
    ask(&judge, &cache(&folder, 1), "a").await;
    let reply = LlmReply {
        text: "it says sk-canary-Zq8vKp2mXc7VhT5kW".to_owned(),
        ..ask(&Counting::default(), &Cache::OFF, "a").await
    };
    cache(&folder, 1).keep(&judge, &request("a"), &reply).await;
    assert_eq!(CacheFolder::beside(folder.path()).list().unwrap(), CacheListing::default());
}

#[tokio::test]
async fn an_entry_that_is_damaged_anywhere_is_reported_and_asked_again_and_replaced() {
    let (folder, judge) = (tempfile::tempdir().unwrap(), Counting::default());
    ask(&judge, &cache(&folder, 1), "a").await;
    let path = CacheFolder::beside(folder.path()).path_of(&judge.request_digest(&request("a")).unwrap());
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let later = cache(&folder, 2);
        assert!(later.kept(&judge, &request("a")).await.is_none(), "{length}");
        assert_eq!(later.troubles().len(), 1, "{length}");
    }
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        fs::write(&path, &changed).unwrap();
        assert!(cache(&folder, 2).kept(&judge, &request("a")).await.is_none(), "{place}");
    }
    let later = cache(&folder, 2);
    assert_eq!(ask(&judge, &later, "a").await.text, "reply 2");
    let message = later.troubles().concat();
    assert!(message.contains("is damaged: it is not what was written") && message.contains(".ndjson"), "{message}");
    assert!(ask(&judge, &cache(&folder, 3), "a").await.is_cached);
    // A whole entry under another's name is none of its own.
    let other = path.with_file_name(format!("{:0>64}.ndjson", 5));
    fs::copy(&path, other).unwrap();
    assert!(!ask(&judge, &cache(&folder, 3), "other").await.is_cached);
}

#[tokio::test]
async fn what_a_newer_version_kept_is_left_alone_and_asked() {
    let (folder, judge) = (tempfile::tempdir().unwrap(), Counting::default());
    ask(&judge, &cache(&folder, 1), "a").await;
    let store = CacheFolder::beside(folder.path());
    let entry = store.read(&judge.request_digest(&request("a")).unwrap()).unwrap().unwrap();
    store.write(&CacheEntry { version: entry::VERSION + 1, ..entry }).unwrap();
    let later = cache(&folder, 2);
    assert!(later.kept(&judge, &request("a")).await.is_none() && later.troubles().is_empty());
    let pruned = store.prune(&PruneRules { most_bytes: Some(0), ..PruneRules::default() }, day(3)).unwrap();
    assert_eq!(pruned, Pruned::default());
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_or_read_costs_no_verdict() {
    let (folder, judge) = (tempfile::tempdir().unwrap(), Counting::default());
    fs::write(folder.path().join("cache"), "a file").unwrap();
    let cache = cache(&folder, 1);
    assert_eq!(ask(&judge, &cache, "a").await.text, "reply 1");
    assert_eq!(ask(&judge, &cache, "b").await.text, "reply 2");
    let message = cache.troubles();
    let last = message.last().unwrap();
    assert!(last.contains("2 verdicts could not be kept in the cache") && last.contains("--no-cache"), "{message:?}");
}

#[tokio::test]
async fn many_writers_leave_whole_entries_and_nothing_else() {
    let (folder, judge) = (tempfile::tempdir().unwrap(), Arc::new(Counting::default()));
    let writers = (0..8).map(|_| {
        let (cache, judge) = (cache(&folder, 1), Arc::clone(&judge));
        tokio::spawn(async move {
            for _ in 0..10 {
                ask(&judge, &cache, "a").await;
            }
            cache.troubles()
        })
    });
    for writer in futures_util::future::join_all(writers).await {
        assert_eq!(writer.unwrap(), [""; 0]);
    }
    let listing = CacheFolder::beside(folder.path()).list().unwrap();
    assert_eq!((listing.rows[0].replies, listing.damaged.len()), (1, 0));
    let files = fs::read_dir(folder.path().join("cache/00")).unwrap().count();
    assert_eq!(files, 1);
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_kept_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, judge) = (tempfile::tempdir().unwrap(), Counting::default());
    ask(&judge, &cache(&folder, 1), "a").await;
    let file = CacheFolder::beside(folder.path()).path_of(&judge.request_digest(&request("a")).unwrap());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&folder.path().join("cache"))), (0o600, 0o700));
}

#[tokio::test]
async fn pruning_removes_by_age_model_and_size_and_what_is_damaged() {
    let (folder, judge) = (tempfile::tempdir().unwrap(), Counting::default());
    for (number, words) in [(1, "a"), (2, "bb"), (3, "ccc"), (4, "dddd")] {
        ask(&judge, &cache(&folder, number), words).await;
    }
    let store = CacheFolder::beside(folder.path());
    let row = store.list().unwrap().rows.remove(0);
    assert_eq!((row.replies, row.oldest, row.newest, row.usage.total_tokens()), (4, day(1), day(4), Some(420)));
    assert_eq!(store.prune(&PruneRules::default(), day(5)).unwrap(), Pruned { left: 4, ..Pruned::default() });
    let by_age = PruneRules { before: Some(day(2)), ..PruneRules::default() };
    let pruned = store.prune(&by_age, day(5)).unwrap();
    assert_eq!((pruned.replies, pruned.left, pruned.bytes > 100), (1, 3, true));
    // Several conditions narrow one another.
    let of_both = PruneRules { before: Some(day(9)), model: Some("nobody".to_owned()), ..PruneRules::default() };
    assert_eq!(store.prune(&of_both, day(5)).unwrap().replies, 0);
    let by_size = PruneRules { most_bytes: Some(row.bytes / 4 * 2 + 8), ..PruneRules::default() };
    assert_eq!(store.prune(&by_size, day(5)).unwrap().left, 2);
    assert_eq!(store.list().unwrap().rows[0].oldest, day(3), "the oldest goes first");
    fs::write(store.path_of("00ff"), "not an entry").unwrap();
    fs::write(folder.path().join("cache/00/.abc.partial"), "half").unwrap();
    assert_eq!(store.list().unwrap().damaged.len(), 1);
    let of_another = PruneRules { model: Some("gpt-5".to_owned()), ..PruneRules::default() };
    // The clock of the test is that of 1970: the unfinished file is of the future, and may still be written.
    let pruned = store.prune(&of_another, day(5)).unwrap();
    assert_eq!((pruned.replies, pruned.damaged, pruned.left), (0, 1, 2));
    let long_after = crate::clock::Clock::system().wall() + TimeDelta::hours(2);
    assert_eq!(store.prune(&of_another, long_after).unwrap().damaged, 1);
    for model in ["openai/judge", "judge"] {
        let by_model = PruneRules { model: Some(model.to_owned()), ..PruneRules::default() };
        assert_eq!(store.prune(&by_model, day(5)).unwrap().left, 0);
    }
    assert_eq!(store.list().unwrap(), CacheListing::default());
}

#[test]
fn a_folder_that_is_not_there_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = CacheFolder::beside(&folder.path().join("nowhere"));
    assert_eq!(store.list().unwrap(), CacheListing::default());
    assert_eq!(store.prune(&PruneRules::default(), day(1)).unwrap(), Pruned::default());
}
