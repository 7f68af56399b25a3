//! What a person can do on the page. Each really happens on the forge, and reaches the worker as a signed webhook.

use super::forge::{Edit, Forge, MIA};
use crate::desk::Failure;

/// The buttons: where a form leads, and what is written on it.
pub(super) const BUTTONS: [(&str, &str); 3] =
    [("approve", "Approve as maintainer"), ("push", "Push another commit"), ("rescore", "Comment /rescore")];

/// Does it.
pub(super) async fn press(forge: &Forge, number: u64, button: &str) -> Result<(), Failure> {
    match button {
        "approve" => forge.approve(number, MIA).await,
        "rescore" => forge.comment(number, MIA, "/rescore").await,
        "push" => push(forge, number).await,
        other => Err(Failure::Usage(format!("there is no button {other}"))),
    }
}

/// One more commit by the author of the pull request: a comment in the product.
async fn push(forge: &Forge, number: u64) -> Result<(), Failure> {
    const PATH: &str = "src/till/money.py";
    let pull = forge.state().pulls.get(&number).cloned();
    let pull = pull.ok_or_else(|| Failure::Usage(format!("there is no pull request {number}")))?;
    let mut bytes = forge.store().file(&pull.head, PATH)?;
    bytes.extend(b"\n# Rounded as agreed with the shop.\n");
    forge.push(number, (pull.author, "Say why it is rounded so"), &[Edit::Write { path: PATH.to_owned(), bytes }]).await
}
