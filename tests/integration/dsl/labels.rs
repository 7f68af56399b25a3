//! Labels in stories.

use super::{Change, Gate, World};
use crate::fake_forge::{Happening, LabelEvent, WIDGETS};

impl Change {
    /// Who opened it.
    pub fn by(mut self, author: &'static str) -> Self {
        self.author = author;
        self
    }

    /// What its head branch is called.
    pub fn on_branch(mut self, branch: &'static str) -> Self {
        self.branch = Some(branch);
        self
    }
}

impl World {
    /// The pull request is opened with the label of the evidence lane, which its author set.
    pub fn labelled_pull(self, pull: Change) -> Self {
        let (number, author) = (pull.number, pull.author);
        let mut world = self.pull(pull);
        world.labels.push((author, number, "evidence-edit"));
        world
    }
}

impl Gate {
    /// Somebody sets a label.
    pub fn labels(&mut self, who: &str, number: u64, label: &str) -> Happening {
        self.change_pull(number, |pull| pull.labels.push(label.to_owned()));
        self.note_label(who, number, label, "labeled");
        Happening::Labeled(number, label.to_owned())
    }

    /// Somebody takes a label away.
    pub fn unlabels(&mut self, who: &str, number: u64, label: &str) -> Happening {
        self.change_pull(number, |pull| pull.labels.retain(|name| name != label));
        self.note_label(who, number, label, "unlabeled");
        Happening::Unlabeled(number, label.to_owned())
    }

    /// The pull request's branch is set to the head of another, which then share one commit.
    pub fn takes_head_of(&mut self, number: u64, other: u64) -> Happening {
        let (pull, head) = (self.pull(number), self.head(other));
        let repo = format!("{}/widgets", pull.head_owner);
        self.forge.store().set_ref(&repo, &format!("refs/heads/{}", pull.head_branch), &head);
        self.publish_head(number, &head);
        Happening::Pushed { pull: number, before: pull.head }
    }

    /// Whether the newest decisive review of somebody approves the present head.
    pub fn is_approved_by(&self, who: &str, number: u64) -> bool {
        let head = self.head(number);
        self.forge.state().approves(who, number, &head)
    }

    fn note_label(&self, who: &str, pull: u64, label: &str, event: &'static str) {
        let mut state = self.forge.state();
        state.note(format!("{who} {event} #{pull} {label}"));
        let (actor, label) = (who.to_owned(), label.to_owned());
        state.label_events.push(LabelEvent { repo: WIDGETS, pull, event, actor, label });
    }
}
