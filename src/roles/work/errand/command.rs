//! A command in a comment: who may, what it asks for, and the answer (R72 to R79).

use serde_json::json;
use tracing::warn;

use super::permission::Leave;
use crate::event::{Cause, Command};
use crate::forge::{ForgeError, Pull, Reaction};
use crate::queue::ErrandLease;
use crate::report::{self, MARKER, Reply};
use crate::roles::work::failure::Failure;
use crate::roles::work::worker::Worker;
use crate::score::Record;
use crate::words::PullNumber;

impl Worker {
    /// Runs it once. It can ask for an evaluation and for a text; there is nothing here that could set a verdict (R76).
    pub(super) async fn obey(
        &self,
        lease: &ErrandLease,
        pull: PullNumber,
        comment: u64,
        command: &Command,
    ) -> Result<(), Failure> {
        let said = report::said(command);
        let Some(pull) = self.open_pull(lease, pull).await? else { return Ok(()) };
        let details = json!({ "comment": comment, "head": pull.head.to_string() });
        match self.leave(lease, &pull).await? {
            Leave::Granted => {}
            Leave::Refused(why) => {
                self.react(lease, comment, Reaction::ThumbsDown).await?;
                return Ok(self.note(lease, "refusal", Some(pull.number), &format!("{said}: {why}"), details).await?);
            }
            Leave::Silence(why) => {
                return Ok(self.note(lease, "refusal", Some(pull.number), &format!("{said}: {why}"), details).await?);
            }
        }
        let reaction = self.carry_out(lease, &pull, command).await?;
        self.react(lease, comment, reaction).await?;
        Ok(self.note(lease, "command", Some(pull.number), &said, details).await?)
    }

    async fn carry_out(&self, lease: &ErrandLease, pull: &Pull, command: &Command) -> Result<Reaction, Failure> {
        let repository = self.place(lease)?;
        match command {
            Command::Rescore { head: Some(named) } if *named != pull.head => {
                self.answer(lease, pull, Reply::Superseded { named, head: &pull.head }).await?;
                Ok(Reaction::Confused)
            }
            Command::Rescore { .. } => {
                let installation = lease.errand.installation;
                self.look_at(repository, installation, pull.number, Some(pull.head.clone()), Cause::Asked).await?;
                Ok(Reaction::Eyes)
            }
            Command::Explain => {
                let answer = self.queue.answer(repository, pull.number).await?;
                let record = answer.filter(|answer| answer.head == pull.head);
                let record: Option<Record> = record.and_then(|answer| serde_json::from_slice(&answer.record).ok());
                self.answer(lease, pull, Reply::Explain(record.as_ref())).await?;
                Ok(Reaction::ThumbsUp)
            }
            Command::Help => {
                self.answer(lease, pull, Reply::Help).await?;
                Ok(Reaction::ThumbsUp)
            }
            Command::Unknown { said, nearest } => {
                self.answer(lease, pull, Reply::Unknown { said, nearest: nearest.as_deref() }).await?;
                Ok(Reaction::Confused)
            }
        }
    }

    /// A reaction that the forge refuses for good is no reason to leave the command undone: the log says which permission is missing.
    async fn react(&self, lease: &ErrandLease, comment: u64, reaction: Reaction) -> Result<(), Failure> {
        let repository = self.place(lease)?;
        match self.surroundings.react(repository, lease.errand.installation, comment, reaction).await {
            Err(ForgeError::GiveUp { doing, why }) => {
                let told = format!("{doing}: {why}");
                warn!("{told}");
                self.say_once(lease, &told).await
            }
            Err(ForgeError::NotFound { .. }) => Ok(()),
            other => Ok(other?),
        }
    }

    /// Writes into the one comment of the pull request; makes it where there is none (R79).
    async fn answer(&self, lease: &ErrandLease, pull: &Pull, answer: Reply<'_>) -> Result<(), Failure> {
        let repository = self.place(lease)?;
        let installation = lease.errand.installation;
        let who = lease.errand.by.as_deref().unwrap_or("whoever asked");
        let text = report::reply(answer, who, &self.work().rules_url);
        let known = match self.queue.comment(repository, pull.number).await? {
            // The answer to an earlier try may have been lost on its way.
            None if lease.attempt > 1 => {
                self.surroundings.find_comment(repository, installation, pull.number, MARKER).await?
            }
            known => known,
        };
        if let Some(comment) = known {
            match self.surroundings.edit_comment(repository, installation, comment, &text).await {
                Err(ForgeError::NotFound { .. }) => {}
                edited => {
                    edited?;
                    return Ok(self.queue.commented(repository, pull.number, comment).await?);
                }
            }
        }
        let comment = self.surroundings.comment(repository, installation, pull.number, &text).await?;
        Ok(self.queue.commented(repository, pull.number, comment).await?)
    }
}
