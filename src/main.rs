//! The command line. Every subcommand is one line into the room that does it.
#![expect(clippy::print_stderr, reason = "the one place that tells a person why a command failed")]

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use evidence_gate::desk::{
    self, AuditArgs, CompletionsArgs, CorpusCommand, CoverageCommand, DemoArgs, DoctorArgs, FreezeCommand, InitArgs,
    KeysCommand, LockCommand, PolicyCommand, QueueCommand, ReplayArgs, ReportArgs, SandboxCommand, SchemaCommand,
    ScoreArgs, SetupArgs, SimulateArgs, VerifyArgs,
};
use evidence_gate::roles::{self, RoleArgs, WorkArgs};
use evidence_gate::words::Verdict;

/// A pull request may change the product. It may not change the evidence that decides whether the product still works.
#[derive(Parser)]
#[command(name = "evidence-gate", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show everything on this machine: a small forge, eight pull requests, receiver, worker, and a page to play on.
    ///
    /// Needs no account and no network. Ctrl-C ends it and leaves nothing behind.
    Demo(DemoArgs),
    /// Write a first policy for a repository, and show what it would have said of the last changes. Overwrites nothing.
    Init(InitArgs),
    /// Judge a change of a repository on this machine.
    ///
    /// Exits with 0 for review, 1 for reject, 2 for unscored, 3 for hold; with 64 and up when the command itself failed.
    Score(ScoreArgs),
    /// Show a record in another format, without judging again.
    Report(ReportArgs),
    /// Judge the commits of a record once more, and show what comes out otherwise.
    ///
    /// Exits with 0 when the record and its replay are the same apart from times, with 1 when they differ.
    Replay(ReplayArgs),
    /// Show what a policy would have said of the changes that were merged already.
    ///
    /// Exits with 0 whatever the verdicts, since a simulation gates nothing; with 64 and up when the command itself failed.
    Simulate(SimulateArgs),
    /// Check a signed record against keys that you trust, without asking whoever made it.
    ///
    /// Exits with 0 when it holds, with 1 when it is refused, and says why.
    Verify(VerifyArgs),
    /// List and rotate the keys that records are signed with.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Check and explain a policy.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Write the fixture lock, or hold the working copy against it.
    #[command(subcommand)]
    Lock(LockCommand),
    /// List, check, sign, add and price known flaky failures.
    #[command(subcommand)]
    Freeze(FreezeCommand),
    /// Try what the sandbox promises on this machine.
    #[command(subcommand)]
    Sandbox(SandboxCommand),
    /// Make coverage maps of what tools write, and look into them.
    #[command(subcommand)]
    Coverage(CoverageCommand),
    /// Judge attacks whose answer is known, and honest changes that look alike.
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// Print the JSON Schema of a document that this program reads or writes.
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// Start the receiver, the worker and, with `[web]`, the pages as processes of their own, each with its own secrets.
    Serve(RoleArgs),
    /// Receive webhooks: verify each and store it. Holds webhook secrets and no key.
    Receive(RoleArgs),
    /// Judge what was received and publish the answers. Holds the App's key and opens no port.
    Work(WorkArgs),
    /// Show pages for people: an evaluation, a repository, the queue. Reads the store and holds its own sign-in secret alone.
    Web(RoleArgs),
    /// Register the GitHub App with one click: a page on this machine sends you to GitHub and takes key and secret back.
    Setup(SetupArgs),
    /// Look for whatever keeps a verdict from being made, from being seen, or from counting.
    ///
    /// Exits with 0 when nothing is at fault (warnings are told, and are no fault), with 1 when something is.
    Doctor(DoctorArgs),
    /// Show what waits and what failed for good, or try a failed job again.
    #[command(subcommand)]
    Queue(QueueCommand),
    /// Show who had what decided, asked for or was refused, and when; verify the chain of signed records.
    Audit(AuditArgs),
    /// Print what a shell needs to complete this command line, or the manual page.
    Completions(CompletionsArgs),
}

/// An exit code, and what to tell a person besides.
type Ended = Result<u8, (String, u8)>;

fn main() -> ExitCode {
    let code = match Cli::try_parse() {
        Ok(cli) => run(cli.command).unwrap_or_else(|(text, code)| {
            eprintln!("evidence-gate: {text}");
            code
        }),
        Err(error) => {
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Where standard output or error are closed there is nobody to tell.
            let _told = error.print();
            if asked { 0 } else { 64 }
        }
    };
    ExitCode::from(code)
}

fn run(command: Command) -> Ended {
    match command {
        Command::Demo(args) => desk::demo(&args, roles::now).map_err(desk_failed),
        Command::Setup(args) => desk::setup(&args).map(|()| 0).map_err(desk_failed),
        Command::Doctor(args) => desk::doctor(&args, roles::now).map_err(desk_failed),
        Command::Init(args) => desk::init(&args, roles::now).map_err(desk_failed),
        Command::Score(args) => desk::score(&args, roles::now).map(Verdict::exit_code).map_err(desk_failed),
        Command::Report(args) => desk::report(&args).map(|()| 0).map_err(desk_failed),
        Command::Replay(args) => desk::replay(&args, roles::now).map_err(desk_failed),
        Command::Simulate(args) => desk::simulate(&args, roles::now).map_err(desk_failed),
        Command::Verify(args) => desk::verify(&args).map_err(desk_failed),
        Command::Keys(command) => desk::keys(&command, roles::now).map(|()| 0).map_err(desk_failed),
        Command::Policy(command) => desk::policy(&command, roles::now).map_err(desk_failed),
        Command::Lock(command) => desk::lock(&command).map_err(desk_failed),
        Command::Freeze(command) => desk::freeze(&command, roles::now).map_err(desk_failed),
        Command::Sandbox(command) => desk::sandbox(&command).map_err(desk_failed),
        Command::Coverage(command) => desk::coverage(&command, roles::now).map(|()| 0).map_err(desk_failed),
        Command::Corpus(command) => desk::corpus(&command, roles::now).map_err(desk_failed),
        Command::Schema(command) => desk::schema(command).map(|()| 0).map_err(desk_failed),
        Command::Queue(command) => desk::queue(&command, roles::now).map(|()| 0).map_err(desk_failed),
        Command::Audit(args) => desk::audit(&args).map_err(desk_failed),
        Command::Completions(args) => desk::completions(&args, Cli::command()).map(|()| 0).map_err(desk_failed),
        Command::Serve(args) => roles::run_serve(&args).map(|()| 0).map_err(role_failed),
        Command::Receive(args) => roles::run_receive(&args).map(|()| 0).map_err(role_failed),
        Command::Web(args) => roles::run_web(&args).map(|()| 0).map_err(role_failed),
        Command::Work(args) => roles::run_work(&args).map(|()| 0).map_err(role_failed),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err takes")]
fn desk_failed(failure: desk::Failure) -> (String, u8) {
    (failure.to_string(), failure.exit_code())
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err takes")]
fn role_failed(error: roles::RoleError) -> (String, u8) {
    (error.to_string(), error.exit_code())
}
