//! How streams are heard: timed, to their end or to where they break.

use serde_json::Value;

use crate::http::{BODY_CAP, HttpFault, HttpFaultKind, HttpReply, HttpStream, Pieces};

/// What an event of a stream brought.
pub(super) struct Step {
    pub(super) has_words: bool,
    /// Nothing that counts comes after it.
    pub(super) is_last: bool,
}

/// How a stream came in, in milliseconds from the request's last byte.
pub(super) struct Heard {
    pub(super) first_ms: Option<f64>,
    pub(super) last_ms: f64,
    /// Whether anything came.
    pub(super) began: bool,
    /// Why it broke off.
    pub(super) fault: Option<HttpFault>,
}

/// Hears a stream to its end, or until it breaks.
pub(super) async fn hear(stream: HttpStream, pieces: Pieces, mut take: impl FnMut(&Value) -> Step + Send) -> Heard {
    let mut heard = Heard { first_ms: None, last_ms: 0.0, began: false, fault: None };
    if stream.head.is_page() {
        heard.fault = Some(match stream.whole(BODY_CAP).await {
            Ok((reply, _)) => reply.unreadable("answered a web page instead of a stream"),
            Err(fault) => fault,
        });
        return heard;
    }
    if let Err(fault) = heard.follow(stream, pieces, &mut take).await {
        heard.fault = Some(fault);
    }
    heard
}

impl Heard {
    async fn follow(
        &mut self,
        mut stream: HttpStream,
        mut pieces: Pieces,
        take: &mut (impl FnMut(&Value) -> Step + Send),
    ) -> Result<(), HttpFault> {
        loop {
            let chunk = stream.chunk().await;
            self.last_ms = stream.elapsed_ms();
            // Bytes that can't be read have come all the same.
            self.began |= chunk.as_ref().is_err_and(|fault| fault.kind == HttpFaultKind::Useless);
            let Some(chunk) = chunk? else {
                let rest: Vec<String> = pieces.finish().into_iter().collect();
                return self.take(&rest, &stream.head, take).map(|_| ());
            };
            self.began = true;
            let too_long = || stream.head.amiss("an event of the stream is longer than 64 MiB; reading stopped there");
            let events = pieces.push(&chunk).ok_or_else(too_long)?;
            if self.take(&events, &stream.head, take)? {
                return Ok(());
            }
        }
    }

    /// Takes events; whether the last that counts is among them.
    fn take(
        &mut self,
        events: &[String],
        head: &HttpReply,
        take: &mut impl FnMut(&Value) -> Step,
    ) -> Result<bool, HttpFault> {
        for data in events.iter().filter(|data| !matches!(data.trim(), "" | "[DONE]")) {
            let event: Value = head.event_json(data)?;
            let step = take(&event);
            self.first_ms = self.first_ms.or(step.has_words.then_some(self.last_ms));
            if step.is_last {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
