#!/bin/sh
# Makes a small repository with a policy, lets a change come that bends its own evidence, and asks evidence-gate about it.
#
# usage: examples/first-verdict.sh [NAME]
#
# NAME is a folder of corpus/classics (default: 12-fixture-edit, where a fixture is changed so that a wrong result looks right).
# EVIDENCE_GATE names a built program; without it, cargo builds one. Needs git and, without EVIDENCE_GATE, Rust and a C compiler.
set -eu

home=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
name=${1:-12-fixture-edit}
attack=$home/corpus/classics/$name
if [ ! -d "$attack/base" ]; then
    echo "first-verdict: there is no case '$name' in corpus/classics" >&2
    exit 64
fi

# Nothing of the user's own git configuration takes part.
GIT_CONFIG_GLOBAL=/dev/null
GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=example GIT_AUTHOR_EMAIL=example@example.invalid
GIT_COMMITTER_NAME=example GIT_COMMITTER_EMAIL=example@example.invalid
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL

if [ -z "${EVIDENCE_GATE:-}" ]; then
    echo "building evidence-gate (some minutes the first time)" >&2
    cargo build --quiet --manifest-path "$home/Cargo.toml"
    EVIDENCE_GATE=${CARGO_TARGET_DIR:-$home/target}/debug/evidence-gate
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
repo=$work/tariff
git init --quiet "$repo"
git -C "$repo" symbolic-ref HEAD refs/heads/main

cp -R "$attack/base/." "$repo"
cat > "$repo/.evidence-gate.toml" <<'POLICY'
schema = 1

[classes]
extends = ["python"]
product = ["src/**"]
POLICY
git -C "$repo" add --all --force
git -C "$repo" commit --quiet --message "The product, its tests and its policy"

git -C "$repo" checkout --quiet -b proposal
git -C "$repo" apply --index "$attack/patch.diff"
git -C "$repo" commit --quiet --allow-empty --message "Make the failing check pass"

git -C "$repo" --no-pager diff --stat main proposal
echo

status=0
"$EVIDENCE_GATE" score --repo "$repo" --base main --head proposal || status=$?

echo
case $status in
    0 | 1 | 2 | 3) echo "score exited with $status (0 review, 1 reject, 2 unscored, 3 hold)" ;;
    *) echo "first-verdict: score failed with exit code $status" >&2; exit "$status" ;;
esac
