#!/usr/bin/env python3
"""Measures what evidence-gate sees, beside the public tamper detectors, and writes docs/accuracy.md.

    cargo build --release
    python3 benches/accuracy/accuracy.py [--gate PROGRAM] [--check] [--history CLONE ...]

Every case becomes a git repository with two commits, and every tool is asked about the same two. The tools are installed
from the package index into a virtual environment below target/. `--check` writes nothing and fails where docs/accuracy.md
says something else. `--history` reads the last 200 changes of clones and prints what a policy would have said of them; it goes
to standard output, since the clones are yours.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import venv
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = json.loads((ROOT / "tests/cases/markers.json").read_text())
POLICY = 'schema = 1\n[classes]\nproduct = ["src/**"]\n'
# What a team would write that starts with the built-in sets.
LIVED_IN = 'schema = 1\nadded_tests = "record"\n[classes]\nallowed = ["docs/**", "*.md", "*.rst", "*.txt", "LICENSE*"]\n'
# Rules that say where a change is, and nothing of what it does to a test.
BY_PATH = {
    "added-test", "attributes-edited", "build-edited", "generated-file", "mode-or-type-change", "sandbox-unavailable",
    "test-config-edited", "test-extended", "test-rewritten", "unclassified-path", "unobserved-lines",
}
# What ai-code-guardrails says of tests and checks.
GUARDS = {"test-integrity", "suppression", "selfmod"}
PEERS = ["checkwash", "tampercheck", "ai-code-guardrails", "arma-veto"]


def run(command, cwd, stdin=None):
    """Runs a program without the user's git configuration, and returns what it said."""
    clean = {
        "PATH": os.environ["PATH"], "HOME": str(cwd), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com", "PYTHONUTF8": "1",
    }
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, env=clean, check=False)


def must(command, cwd, stdin=None):
    """Runs a program that has to succeed."""
    done = run(command, cwd, stdin)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed in {cwd}:\n{done.stderr.decode(errors='replace')}")
    return done.stdout


def fill(folder, tree):
    """Makes the folder hold exactly these files."""
    for old in sorted(folder.rglob("*"), reverse=True):
        if ".git" not in old.relative_to(folder).parts:
            old.rmdir() if old.is_dir() and not old.is_symlink() else old.unlink()
    for path, text in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def commit(folder):
    must(["git", "add", "-A", "-f"], folder)
    must(["git", "commit", "-qm", "change", "--allow-empty"], folder)


def repository(folder, base, head):
    """A repository whose branches `main` and `pr` hold the two trees; `head` is a tree or a patch."""
    folder.mkdir(parents=True)
    must(["git", "init", "-q", "-b", "main"], folder)
    if isinstance(base, pathlib.Path):
        must(["cp", "-R", f"{base}/.", str(folder)], folder)
    else:
        fill(folder, base)
    commit(folder)
    must(["git", "checkout", "-q", "-b", "pr"], folder)
    if isinstance(head, pathlib.Path):
        must(["git", "apply", "--index", str(head)], folder)
    else:
        fill(folder, head)
    commit(folder)


def attacks():
    """The changes of corpus/classics that need neither a coverage map nor a property."""
    for folder in sorted((ROOT / "corpus/classics").iterdir()):
        if not (folder / "expected.json").exists() or (folder / "coverage_by_test.json").exists():
            continue
        expected = json.loads((folder / "expected.json").read_text())
        yield {"id": folder.name, "base": folder / "base", "head": folder / "patch.diff", "expected": expected,
               "bad": not expected["control"], "gap": expected.get("known_gap", False)}


def markers():
    """The cases of the marker catalogue: a failing test that stood plain, and is hidden."""
    for file in sorted((ROOT / "tests/vectors/markers").glob("*.json")):
        if file.stem == "catalogue":
            continue
        for case in json.loads(file.read_text()):
            name = f"{file.stem}/{case['marker']}"
            head = {"tests/a.test.js": case["code"]} if "code" in case else {}
            for path, text in case.get("files", {}).items():
                if path != "R.java":
                    head[CASES["places"].get(path, path)] = text
            told = [c for c in CASES["configured"] if c["case"] == name]
            if file.stem.endswith("-config") and not told:
                continue  # the vectors do not say what the runner was told
            head.update({c["path"]: c["text"] for c in told})
            base = dict(CASES["plain"][file.stem])
            for known in CASES["against_base"]:
                if known["case"] == name:
                    base = {path: text.replace(known["hidden"], known["honest"]) for path, text in head.items()}
            if base == head:
                continue  # a control that is the plain test itself
            yield {"id": name, "base": base, "head": head, "bad": case["hides_a_failing_test"]}


def ask_gate(gate, folder, policy):
    """The gate's verdict: (stopped, named, verdict, rules)."""
    done = run([gate, "score", "--repo", ".", "--base", "main", "--head", "pr", "--policy", policy, "--format", "json"], folder)
    if done.returncode not in (0, 1, 2, 3):
        sys.exit(f"score failed in {folder}: {done.stderr.decode(errors='replace')}")
    record = json.loads(done.stdout)
    rules = {f["rule"] for f in record["findings"] if f["verdict"] != "review"}
    return record["verdict"] != "review", bool(rules - BY_PATH), record["verdict"], {f["rule"] for f in record["findings"]}


def ask_peer(peer, tools, folder):
    """Whether a detector stops the change with its defaults, and whether it names anything at all."""
    program = str(tools / "bin" / peer)
    if peer == "checkwash":
        done = run([program, "check", "main..pr", "--format", "json"], folder)
        named = bool(json.loads(done.stdout or b"{}").get("findings"))
    elif peer == "tampercheck":
        done = run([program, "--from", "main", "--to", "pr", "--json"], folder)
        said = json.loads(done.stdout or b"[]")
        named = bool(said.get("findings") if isinstance(said, dict) else said)
    elif peer == "ai-code-guardrails":
        # Its other guards ask for design documents, declared dependencies and small changes: not what is compared here.
        done = run([program, "check", "--base", "main", "--head", "pr", "--format", "json", "--feature", "x"], folder)
        failed = {g["guard"] for g in json.loads(done.stdout)["guards"] if g["status"] in ("FAIL", "WARN")}
        return bool(failed & GUARDS), bool(failed & GUARDS)
    else:
        done = run([program], folder, must(["git", "diff", "main", "pr"], folder))
        named = done.returncode != 0
    if done.returncode not in (0, 1):
        sys.exit(f"{peer} failed in {folder}: {done.stderr.decode(errors='replace')[-500:]}")
    return done.returncode == 1, named


def measure(gate, tools, work):
    """Every case with what every tool said of it."""
    rows = []
    for kind, cases in [("attacks", attacks()), ("markers", markers())]:
        for number, case in enumerate(cases):
            folder = work / kind / str(number)
            repository(folder, case["base"], case["head"])
            policy = work / "policy.toml"
            extra = (case.get("expected") or {}).get("policy")
            policy.write_text(POLICY if not extra else f"schema = 1\n{extra}\n[classes]\nproduct = [\"src/**\"]\n")
            stopped, named, verdict, rules = ask_gate(gate, folder, policy)
            said = {"evidence-gate": (stopped, named)}
            said.update({peer: ask_peer(peer, tools, folder) for peer in PEERS})
            rows.append({**case, "kind": kind, "said": said, "verdict": verdict, "rules": rules})
    return rows


def share(rows, tool, which):
    return f"{sum(row['said'][tool][which] for row in rows)}"


def right(row):
    """Whether an attack got a verdict and the rules that are expected of us."""
    expected = row["expected"]
    return row["verdict"] in [expected["verdict"], *expected["also_acceptable"]] and set(expected["rules"]) <= row["rules"]


def table(rows, which):
    groups = [
        ("attacks", "attacks", [r for r in rows if r["kind"] == "attacks" and r["bad"] and not r["gap"]]),
        ("attacks", "attacks that no static check can see", [r for r in rows if r["kind"] == "attacks" and r["bad"] and r["gap"]]),
        ("attacks", "honest changes", [r for r in rows if r["kind"] == "attacks" and not r["bad"]]),
        ("markers", "a failing test hidden", [r for r in rows if r["kind"] == "markers" and r["bad"]]),
        ("markers", "looks like it, and the run still fails", [r for r in rows if r["kind"] == "markers" and not r["bad"]]),
    ]
    tools = ["evidence-gate", *PEERS]
    lines = ["| cases | number | " + " | ".join(tools) + " |", "|---|---:|" + "---:|" * len(tools)]
    for _, name, group in groups:
        lines.append(f"| {name} | {len(group)} | " + " | ".join(share(group, tool, which) for tool in tools) + " |")
    return lines


def document(rows, versions):
    """The text of docs/accuracy.md."""
    ours = lambda row: row["said"]["evidence-gate"]
    better = [r for r in rows if r["bad"] and not ours(r)[1] and any(r["said"][p][1] for p in PEERS)]
    unseen = [r for r in rows if r["bad"] and not ours(r)[0]]
    false = [r for r in rows if not r["bad"] and r["kind"] == "attacks" and not right(r)]
    wrong = [r for r in rows if r["kind"] == "attacks" and r["bad"] and not right(r)]
    lines = [
        "# Accuracy", "",
        "Made by `benches/accuracy/accuracy.py`; do not edit by hand. Every case is a git repository with two commits, and every",
        "tool is asked about the same two, with its own defaults. The cases are `corpus/classics` (those that need no coverage map) and",
        "the marker catalogue in `tests/vectors/markers`, each of which was run against its real framework: a failing test stood plain,",
        "and the change hides it. They were gathered for this project, so they favour it; the detectors were not written for all of these",
        "languages. " + ", ".join(f"{name} {version}" for name, version in versions) + ".", "",
        "**Where a detector names something that evidence-gate only holds by path, or not at all:**", "",
    ]
    lines += [f"- `{r['id']}`: named by {', '.join(p for p in PEERS if r['said'][p][1])}; here `{r['verdict']}` by {', '.join(sorted(r['rules'] - {'unobserved-lines'})) or 'nothing'}"
              for r in better] or ["- nothing in these cases"]
    lines += ["", "**Hidden tests and attacks that get review here:**", ""]
    lines += [f"- `{r['id']}`" + (": " + CASES["not_seen"][r["id"]] if r["id"] in CASES["not_seen"] else "") +
              (": only a property on the trusted host sees it" if r.get("gap") else "") for r in unseen] or ["- none of these cases"]
    lines += ["", "**Attacks and honest changes that get another verdict or rule than they should:**", ""]
    lines += [f"- `{r['id']}`: {r['verdict']} by {', '.join(sorted(r['rules']))}" for r in wrong + false] or ["- none"]
    lines += ["", "## Stopped", "",
              "The gate says another verdict than review; a detector ends with exit code 1. A changed test file is at least a hold here, whatever",
              "stands in it, so this table says how safe a team is, and not how much a tool understands. Honest changes that are stopped: a hold is",
              "what DESIGN asks for where an added test is in the change.", ""]
    lines += table(rows, 0)
    lines += ["", "## Named", "",
              "The gate has a finding that says what was done to the test, not only where the change is; a detector has any finding, of any",
              "severity. Of ai-code-guardrails its guards `test-integrity`, `suppression` and `selfmod` count; the others ask for documents.", ""]
    lines += table(rows, 1)
    return "\n".join(lines) + "\n"


def history(gate, clones):
    """What the gate would have said of the last 200 first-parent changes of each clone."""
    for clone in clones:
        shas = must(["git", "rev-list", "--first-parent", "-n", "200", "HEAD"], clone).decode().split()
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as policy:
            policy.write(LIVED_IN)
            policy.flush()
            verdicts, deciding, rejected = Counter(), Counter(), []
            for sha in shas:
                if run(["git", "rev-parse", "-q", "--verify", f"{sha}^1"], clone).returncode != 0:
                    continue
                done = run([gate, "score", "--repo", ".", "--base", f"{sha}^1", "--head", sha, "--policy", policy.name,
                            "--format", "json"], clone)
                record = json.loads(done.stdout)
                verdict = record["verdict"]
                rules = {f["rule"] for f in record["findings"] if f["verdict"] == verdict and verdict != "review"}
                if verdict == "hold" and rules <= {"build-edited", "test-config-edited"}:
                    verdict = "hold, only for build or runner files"
                verdicts[verdict] += 1
                deciding.update(rules)
                if verdict == "reject" and rules != {"evidence-edited"}:
                    rejected.append((sha, record))
        total = sum(verdicts.values())
        print(f"\n## {clone}: {total} changes")
        for verdict, count in verdicts.most_common():
            print(f"  {verdict}: {count} ({100 * count / total:.1f} %)")
        print("  deciding rules:", ", ".join(f"{rule} {count}" for rule, count in deciding.most_common()))
        for sha, record in rejected:
            print(f"  REJECT {sha[:12]}")
            for finding in record["findings"]:
                if finding["verdict"] == "reject":
                    where = ", ".join(f"{p['path']}:{p.get('line') or ''}" for p in finding["locations"][:3])
                    print(f"    {finding['rule']}: {finding['message'][:160]} [{where}]")


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--gate", default=ROOT / "target/release/evidence-gate", type=pathlib.Path)
    ask.add_argument("--check", action="store_true")
    ask.add_argument("--history", nargs="*", default=[], type=pathlib.Path)
    asked = ask.parse_args()
    gate = asked.gate.resolve()
    if not gate.exists():
        sys.exit(f"{gate} is not there: build it with `cargo build --release`, or name another with --gate")
    if asked.history:
        return history(gate, [clone.resolve() for clone in asked.history])
    tools = ROOT / "target/accuracy-tools"
    if not (tools / "bin/checkwash").exists():
        venv.create(tools, with_pip=True)
        subprocess.run([tools / "bin/pip", "install", "-q", "-r", ROOT / "benches/accuracy/requirements.txt"], check=True)
    versions = [line.split("==") for line in (ROOT / "benches/accuracy/requirements.txt").read_text().split()]
    with tempfile.TemporaryDirectory() as work:
        text = document(measure(gate, tools, pathlib.Path(work)), versions)
    place = ROOT / "docs/accuracy.md"
    if asked.check:
        if not place.exists() or place.read_text() != text:
            sys.exit("docs/accuracy.md says something else: run benches/accuracy/accuracy.py and read the difference")
    else:
        place.write_text(text)
        print(f"wrote {place.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
