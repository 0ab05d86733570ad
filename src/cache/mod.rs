//! Judges' replies at temperature 0, kept for later runs: what was asked before is not asked, and not paid for, again.
//!
//! In: a request to a judge. Out: the reply that the same model at the same address gave to the very same request, if one is kept.
//! [`CachedJudge`] stands where the run asks; [`Cache::keep`] gets each usable reply. [`CacheFolder`] is for
//! those who look after what is kept.
//!
//! Invariants: only replies that could be used are kept, and none in which a secret is found; a run takes nothing that was kept since
//! it began, so that neither its own conversations share a verdict nor chance decides which do; an entry appears whole or not at
//! all, with any number of writers; a damaged one is reported and asked again; a cache that can't be written costs no verdict.

mod entry;
mod folder;
mod judge;

pub use folder::{CacheFolder, CacheListing, CacheRow, PruneRules, Pruned};
pub use judge::CachedJudge;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use crate::clock::Clock;
use crate::llm::{Llm, LlmReply, LlmRequest};
use crate::secret::Redactor;
use entry::{CacheEntry, CacheEntryError, KeptReply};

/// How many damaged entries are named.
const NAMED: usize = 3;

/// The verdicts of earlier runs, and where this run keeps its own; or neither.
#[derive(Clone, Default)]
pub struct Cache(Option<Arc<OpenCache>>);

struct OpenCache {
    folder: CacheFolder,
    clock: Clock,
    /// Entries from after this time are not used.
    opened_at: DateTime<Utc>,
    redactor: Redactor,
    troubles: Mutex<Troubles>,
}

/// The trouble with the cache itself.
#[derive(Default)]
struct Troubles {
    damaged: Vec<(PathBuf, CacheEntryError)>,
    unwritten: usize,
    /// The first of them.
    why_unwritten: Option<String>,
}

impl Cache {
    /// A cache that neither keeps replies nor returns any.
    pub const OFF: Cache = Cache(None);

    /// The cache of this folder, which need not exist yet.
    pub fn at(folder: CacheFolder, clock: Clock, redactor: Redactor) -> Cache {
        let (opened_at, troubles) = (clock.wall(), Mutex::default());
        Cache(Some(Arc::new(OpenCache { folder, clock, opened_at, redactor, troubles })))
    }

    /// The reply that was kept for a request to a model, if there is one that may be used.
    async fn kept(&self, llm: &dyn Llm, request: &LlmRequest) -> Option<LlmReply> {
        let open = self.0.clone()?;
        let key = llm.request_digest(request)?;
        // A folder may be on another machine.
        tokio::task::spawn_blocking(move || open.kept(&key)).await.ok().flatten()
    }

    /// Keeps a reply that could be used, unless it comes from the cache itself, the model answered at a temperature of its own, or
    /// it has a secret in it.
    pub async fn keep(&self, llm: &dyn Llm, request: &LlmRequest, reply: &LlmReply) {
        let Some(open) = self.0.clone() else { return };
        if reply.is_cached || !reply.was_at_temperature() {
            return;
        }
        let Some(key) = llm.request_digest(request) else { return };
        let has_secret = |text: &str| open.redactor.redact(text) != text;
        let kept = KeptReply { text: reply.text.clone(), notes: reply.notes.clone(), tokens: reply.tokens.clone() };
        if has_secret(&kept.text) || kept.tokens.iter().any(|token| has_secret(&token.text)) {
            return;
        }
        let entry = CacheEntry {
            version: entry::VERSION,
            key,
            at: open.clock.wall(),
            model: llm.name().to_owned(),
            address: open.redactor.redact(&llm.address().unwrap_or_default()).into_owned(),
            usage: reply.usage,
            reply: kept,
        };
        // It is written also where its caller stops waiting.
        drop(tokio::task::spawn_blocking(move || open.write(&entry)).await);
    }

    /// The trouble with the cache itself, a sentence each: no verdict is lost by it.
    pub fn troubles(&self) -> Vec<String> {
        let Some(open) = &self.0 else { return Vec::new() };
        let troubles = open.troubles();
        let mut sentences = Vec::new();
        for (path, why) in troubles.damaged.iter().take(NAMED) {
            sentences.push(format!("the judge was asked again: the cache's {} {why}", path.display()));
        }
        if troubles.damaged.len() > NAMED {
            let more = troubles.damaged.len() - NAMED;
            sentences.push(match more {
                1 => "1 more entry of the cache can't be used, and was asked again".to_owned(),
                more => format!("{more} more entries of the cache can't be used, and were asked again"),
            });
        }
        if let Some(why) = &troubles.why_unwritten {
            let (count, path) = (troubles.unwritten, open.folder.path().display());
            let verdicts = if count == 1 { "a verdict" } else { &format!("{count} verdicts") };
            let try_ = "free or allow the folder, or leave the cache out with --no-cache";
            sentences.push(format!("{verdicts} could not be kept in the cache {path}: {why}; {try_}"));
        }
        sentences
    }
}

impl OpenCache {
    fn kept(&self, key: &str) -> Option<LlmReply> {
        match self.folder.read(key) {
            Ok(Some(entry)) if entry.at < self.opened_at => Some(entry.reply.into_reply()),
            Ok(_) => None,
            Err(why) => {
                self.troubles().damaged.push((self.folder.path_of(key), why));
                None
            }
        }
    }

    fn write(&self, entry: &CacheEntry) {
        if let Err(error) = self.folder.write(entry) {
            let mut troubles = self.troubles();
            troubles.unwritten += 1;
            troubles.why_unwritten.get_or_insert_with(|| error.to_string());
        }
    }

    fn troubles(&self) -> MutexGuard<'_, Troubles> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
