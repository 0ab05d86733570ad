//! Calls of the user's own tools, between two messages.

use super::LiveConversation;
use crate::conversation::WantedTool;
use crate::evidence::UserToolCall;
use crate::record::Entry;
use crate::run::managed::ended;
use crate::run::persona_driver::PersonaDriver;
use crate::run::sink::Durability;
use crate::run::trial::TrialAbort;

impl LiveConversation<'_, '_> {
    /// Calls a tool that the persona wants to use, and lets it know the result. Both are in the journal before it is asked again. Where
    /// the call fails or has no end, nothing can be said about the agent: it is what the conversation is held in that is broken.
    pub(super) async fn use_tool(
        &mut self,
        persona: &mut PersonaDriver<'_>,
        wanted: WantedTool,
    ) -> Result<(), TrialAbort> {
        let (engine, trial) = (self.env.engine, self.env.trial.id.number);
        let turn = self.conversation.turn_number();
        let WantedTool { name, arguments } = wanted;
        let mut call = UserToolCall { turn, name, arguments, result: None, changes: Vec::new() };
        self.tool_calls += 1;
        let began = self.partner.limit.elapsed_ms();
        self.watch.before_tool(turn, self.tool_calls).await?;
        self.partner.limit.pause(self.partner.limit.elapsed_ms() - began);
        engine.sink.append(Entry::UserToolCalled { trial, call: call.clone() })?;
        engine.sink.kept(Durability::Process).await?;
        let (mut process_end, partner) = (None, &mut self.partner);
        let called = tokio::select! {
            biased;
            called = partner.limit.within(partner.session.call_user_tool(&call)) => called,
            how = ended(partner.lifeline.as_mut()) => {
                process_end = Some(format!("the agent's process ended ({how})"));
                None
            }
        };
        let note = format!("process ended in call {} of a tool", self.tool_calls);
        let process_end = self.partner.noted(turn, &note, process_end);
        let failed = |why: &str| TrialAbort::broken(format!("the user's tool `{}` failed: {why}", call.name));
        match (called, process_end) {
            (Some(Ok(result)), _) => call.result = Some(result),
            (Some(Err(error)), _) => return Err(failed(&error.message)),
            (None, Some(how)) => return Err(failed(&how)),
            (None, None) => return Err(failed(&self.partner.limit.ran_out_while("its result was being waited for"))),
        }
        let answered = self.partner.limit.elapsed_ms();
        call.changes = self.watch.after_tool(turn, self.tool_calls).await;
        self.partner.limit.pause(self.partner.limit.elapsed_ms() - answered);
        engine.sink.append(Entry::UserToolCalled { trial, call: call.clone() })?;
        engine.sink.kept(Durability::Process).await?;
        persona.tool_answered(call);
        Ok(())
    }
}
