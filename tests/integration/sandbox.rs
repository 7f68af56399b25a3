//! Programs that try to get out of the sandbox, in the real one. Where this machine cannot have one, every test here fails.

use std::path::PathBuf;
use std::time::Duration;

use evidence_gate::config;
use evidence_gate::sandbox::{self, Ended, Limits, Order, Outcome, Sandbox};

/// The sandbox that an operator gets who configures nothing.
fn default_sandbox() -> Box<dyn Sandbox> {
    sandbox::open(&config::Sandbox::default()).unwrap()
}

fn limits() -> Limits {
    Limits {
        wall: Duration::from_secs(20),
        memory: 256 << 20,
        processes: 64,
        file_size: 16 << 20,
        open_files: 128,
        output: 64 * 1024,
    }
}

fn order(command: &[&str]) -> Order {
    Order {
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        directory: PathBuf::from("/tmp"),
        mounts: Vec::new(),
        input: Vec::new(),
        log: false,
        limits: limits(),
    }
}

fn sh(script: &str) -> Order {
    order(&["sh", "-c", script])
}

fn python(script: &str) -> Order {
    order(&["/usr/bin/python3", "-I", "-c", script])
}

fn run(order: &Order) -> Outcome {
    default_sandbox().run(order).unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_program_gets_its_arguments_environment_input_and_log() {
    let mut order =
        sh("cat; echo \"$COLOUR $0 $1 $PWD\"; echo wrong >&2; echo line > /dev/fd/3; echo more >&3; exit 7");
    order.command.extend(["zero".to_owned(), "one two".to_owned()]);
    order.environment.push(("COLOUR".to_owned(), "blue".to_owned()));
    order.input = b"given\n".to_vec();
    order.log = true;
    let outcome = run(&order);
    assert_eq!(text(&outcome.stdout), "given\nblue zero one two /tmp\n");
    assert_eq!(text(&outcome.stderr), "wrong\n");
    assert_eq!(text(&outcome.log), "line\nmore\n");
    assert_eq!(outcome.ended, Ended::Exited(7));
}
