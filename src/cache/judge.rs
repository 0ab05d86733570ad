//! A judge who is not asked what it was asked before.

use async_trait::async_trait;

use super::Cache;
use crate::llm::{KeyAnswer, Llm, LlmError, LlmReply, LlmRequest, UsageMeter};

/// A judge whose kept replies go before it.
pub struct CachedJudge<'a> {
    judge: &'a dyn Llm,
    cache: &'a Cache,
}

impl<'a> CachedJudge<'a> {
    /// This judge, and what is kept of it.
    pub fn new(judge: &'a dyn Llm, cache: &'a Cache) -> CachedJudge<'a> {
        CachedJudge { judge, cache }
    }
}

#[async_trait]
impl Llm for CachedJudge<'_> {
    fn name(&self) -> &str {
        self.judge.name()
    }

    fn address(&self) -> Option<String> {
        self.judge.address()
    }

    fn request_digest(&self, request: &LlmRequest) -> Option<String> {
        self.judge.request_digest(request)
    }

    async fn check_key(&self) -> KeyAnswer {
        self.judge.check_key().await
    }

    async fn complete_metered(&self, request: &LlmRequest, meter: &UsageMeter) -> Result<LlmReply, LlmError> {
        match self.cache.kept(self.judge, request).await {
            Some(kept) => Ok(kept),
            None => self.judge.complete_metered(request, meter).await,
        }
    }
}
