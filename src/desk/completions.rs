//! `evidence-gate completions`: what a shell and `man` want to know of the command line, made from its definition.

use std::path::PathBuf;

use clap_complete::Shell;

use super::{Failure, out};

/// What is wanted, and where.
#[derive(Clone, Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell, or `man` for the manual page.
    #[arg(value_enum, value_name = "SHELL")]
    pub of: Completions,
    /// Write files into this folder under the names that are looked for, and for `man` a page for each subcommand too.
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// A shell, or `man`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Completions {
    /// GNU Bash.
    Bash,
    /// Elvish.
    Elvish,
    /// fish.
    Fish,
    /// PowerShell.
    Powershell,
    /// Z shell.
    Zsh,
    /// The manual page.
    Man,
}

/// Prints or writes it. `command` is the definition of the whole command line.
pub fn completions(args: &CompletionsArgs, mut command: clap::Command) -> Result<(), Failure> {
    let Some(shell) = args.of.shell() else { return manual(args, command) };
    if let Some(folder) = &args.output {
        let written = clap_complete::generate_to(shell, &mut command, "evidence-gate", folder);
        return written.map(drop).map_err(|source| Failure::write(folder.display(), source));
    }
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "evidence-gate", &mut text);
    out::print_bytes(&text)
}

fn manual(args: &CompletionsArgs, command: clap::Command) -> Result<(), Failure> {
    if let Some(folder) = &args.output {
        return clap_mangen::generate_to(command, folder).map_err(|source| Failure::write(folder.display(), source));
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(|source| Failure::write("standard output", source))?;
    out::print_bytes(&page)
}

impl Completions {
    /// The shell; `None` for the manual page.
    fn shell(self) -> Option<Shell> {
        match self {
            Self::Bash => Some(Shell::Bash),
            Self::Elvish => Some(Shell::Elvish),
            Self::Fish => Some(Shell::Fish),
            Self::Powershell => Some(Shell::PowerShell),
            Self::Zsh => Some(Shell::Zsh),
            Self::Man => None,
        }
    }
}
