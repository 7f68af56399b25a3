#!/usr/bin/env python3
"""Proves the cases of the corpus with the real frameworks: the base is red, and the changed tree is green.

    python3 corpus/prove.py [--write] [CASE ...]

`sh corpus/install.sh` installs what is needed. A case whose framework is not on this machine is counted as not run. `--write` notes
in each expected.json what was seen.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RUNNERS = HERE / "runners"


def run(command, folder):
    """The exit code, as 0 or 1; None where the program is not there or did not end."""
    bins = [RUNNERS / "node_modules/.bin", RUNNERS / "python/bin"]
    path = os.pathsep.join([*map(str, bins), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "CI": "1", "GOFLAGS": "-mod=mod", "GOCACHE": "/tmp/go-cache", "PYTHONDONTWRITEBYTECODE": "1",
           "CARGO_TARGET_DIR": str(folder / "target")}
    try:
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return None, "it did not end in 300 s"
    said = (done.stdout + done.stderr).decode(errors="replace")
    return (None if done.returncode == 127 else min(done.returncode, 1)), said


def prove(case):
    """What both trees ended with, and what they said."""
    expected = json.loads((case / "expected.json").read_text())
    command = expected.get("proof", {}).get("cmd")
    if not command:
        return None
    codes, said = [], []
    for patched in (False, True):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch) / "fee"
            shutil.copytree(case / "base", folder)
            subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
            if patched:
                subprocess.run(["git", "apply", str(case / "patch.diff")], cwd=folder, check=True)
            if (RUNNERS / "node_modules").exists() and (folder / "package.json").exists():
                (folder / "node_modules").symlink_to(RUNNERS / "node_modules")
            code, text = run(command, folder)
            codes.append(code)
            said.append(text)
    return codes, said


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--write", action="store_true")
    ask.add_argument("cases", nargs="*", type=pathlib.Path)
    asked = ask.parse_args()
    cases = asked.cases or sorted(path.parent for path in HERE.rglob("expected.json"))
    counts = {"proved": 0, "not run": 0, "without a command": 0, "otherwise": 0}
    for case in map(pathlib.Path.resolve, cases):
        proved = prove(case)
        name = case.relative_to(HERE) if case.is_relative_to(HERE) else case
        if proved is None:
            counts["without a command"] += 1
            continue
        file = case / "expected.json"
        expected = json.loads(file.read_text())
        (base, patched), said = proved
        wanted = [expected["proof"]["base_rc"], expected["proof"]["patched_rc"]]
        if None in (base, patched):
            counts["not run"] += 1
            print(f"not run: {name}: {said[0].strip()[-120:]}")
            continue
        good = [base, patched] == wanted
        counts["proved" if good else "otherwise"] += 1
        if not good:
            print(f"OTHERWISE: {name}: {[base, patched]} in place of {wanted}\n{said[1].strip()[-600:]}")
        if asked.write:
            expected["proof"]["seen"] = good
            file.write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["otherwise"] else 0


if __name__ == "__main__":
    sys.exit(main())
