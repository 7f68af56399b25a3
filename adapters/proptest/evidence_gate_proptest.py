"""Runs one proptest test as a property of evidence-gate.

    python3 -I evidence_gate_proptest.py --manifest properties/fee/Cargo.toml [--test TARGET] NAME

NAME is an ordinary test in a `proptest!` block; nothing in it knows of this program. The package of the manifest lies in the oracle
root, with a Cargo.lock and its dependencies (`cargo vendor`, or a registry folder among `sandbox.toolchains`), since nothing can be
fetched; it takes the product by `path = "/repo"`, which is where REPO_ROOT always is. Draws follow PROPERTY_SEED (from 0 on), trials are
PROPERTY_TRIALS unless the test names a number of cases of its own, and hits are the cases that `prop_assume!` let through.

Only the mode `trials` is served: keep no samples and no known-bad inputs for such a property.
"""

import argparse
import json
import os
import re
import subprocess
import sys

INPUT = "proptest: Next test input: "
PASSED = "proptest: Test case passed"
SHRINKING = "proptest: Starting shrinking"
FAILED = re.compile(r"Test failed: (.*)\.\nminimal failing input: (.*?)\n\tsuccesses: ", re.DOTALL)


def _arguments():
    parser = argparse.ArgumentParser(description="Runs one proptest test as a property of evidence-gate.")
    parser.add_argument("--manifest", required=True, help="the Cargo.toml of the package that holds the test")
    parser.add_argument("--test", help="the target, a file below tests/ without its ending; by default every target is looked through")
    parser.add_argument("name", help="the test's whole name")
    return parser.parse_args()


def _cargo(arguments):
    command = ["cargo", "test", "--quiet", "--locked", "--offline", "--manifest-path", arguments.manifest]
    return command + (["--test", arguments.test] if arguments.test else ["--tests"])


def _environment():
    seed = int(os.environ["PROPERTY_SEED"])
    if seed < 0:
        raise SystemExit(f"proptest draws from seeds from 0 on, and the policy asks for {seed}")
    own = {
        "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", "/tmp/target"),
        "CARGO_HOME": os.environ.get("CARGO_HOME", "/tmp/cargo"),
        "PROPTEST_CASES": os.environ["PROPERTY_TRIALS"],
        "PROPTEST_RNG_SEED": str(seed),
        "PROPTEST_VERBOSE": "2",
    }
    return {**os.environ, **own}


def _counted(said):
    """Cases that were tried and that met the precondition, before a failing one was made smaller."""
    drawn = said.split(SHRINKING)[0]
    return drawn.count(PASSED)


def _told(said, asked):
    passed = _counted(said)
    line = {"property_id": os.environ["PROPERTY_ID"], "seed": int(os.environ["PROPERTY_SEED"])}
    failed = FAILED.search(said)
    if failed:
        tried = passed + 1
        message, smallest = failed.group(1), failed.group(2)
        told = {"trials": tried, "hits": tried, "counterexample": smallest, "exc_type": "TestCaseError", "message": message}
    elif passed == 0 and "Too many global rejects" in said:
        told = {"trials": asked, "hits": 0, "counterexample": None, "exc_type": None, "message": None}
    else:
        told = {"trials": passed, "hits": passed, "counterexample": None, "exc_type": None, "message": None}
    return {**line, **told}


def _end(line):
    with open(os.environ["TRIAL_LOG"], "w", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


def main():
    arguments = _arguments()
    if os.environ["PROPERTY_MODE"] != "trials":
        raise SystemExit("the adapter for proptest serves the mode `trials` only: keep no samples and no known-bad inputs for it")
    environment = _environment()
    command = _cargo(arguments)
    built = subprocess.run([*command, "--no-run"], env=environment, stdin=subprocess.DEVNULL, check=False)
    if built.returncode != 0:
        raise SystemExit("the property and the product do not build together")
    asked = [*command, "--", "--exact", arguments.name, "--nocapture", "--test-threads=1"]
    run = subprocess.run(asked, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    said = (run.stdout + run.stderr).decode("utf-8", "replace")
    if INPUT not in said:
        sys.stderr.write(said[-4000:])
        raise SystemExit(f"there is no proptest test `{arguments.name}` here, or it ended before its first case")
    told = _told(said, int(os.environ["PROPERTY_TRIALS"]))
    if told["counterexample"] is None and run.returncode != 0 and told["hits"] > 0:
        sys.stderr.write(said[-4000:])
        raise SystemExit(f"the test ended with {run.returncode} after {told['hits']} cases")
    _end(told)


main()
