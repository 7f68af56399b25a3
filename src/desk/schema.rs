//! `evidence-gate schema`: the published shapes.

use super::{Failure, out};

/// Which schema.
#[derive(Clone, Copy, Debug, clap::Subcommand)]
pub enum SchemaCommand {
    /// The record that `score --format json` prints and the bot keeps.
    Record,
    /// The in-toto statement that a signed record holds.
    Verdict,
    /// The policy file.
    Policy,
    /// The policy file in words, as a page of Markdown: every key with its type, its default and what it means.
    PolicyReference,
}

/// Prints it.
pub fn schema(command: SchemaCommand) -> Result<(), Failure> {
    let schema = match command {
        SchemaCommand::Record => crate::score::record_schema(),
        SchemaCommand::Verdict => crate::proof::statement_schema(),
        SchemaCommand::Policy => crate::policy::schema(),
        SchemaCommand::PolicyReference => return out::print(&crate::policy::reference()),
    };
    let text = serde_json::to_string_pretty(&schema).expect("a JSON value can always be printed");
    out::print(&format!("{text}\n"))
}
