#!/bin/sh
# Installs the property libraries that the ignored tests of the adapters need: `sh tests/adapters/install.sh`.
# Wants Node 20 or newer with npm, Python 3.10 or newer with pip, and cargo. A second run with the same lists does nothing.
set -eu
cd "$(dirname "$0")"

stamp=node_modules/.installed-from
if cat package-lock.json requirements.txt proptest/Cargo.lock | cmp -s - "$stamp"; then
    echo "adapters: up to date"
    exit 0
fi

npm ci --no-audit --no-fund
rm -rf python
python3 -m pip install --quiet --disable-pip-version-check --no-compile --target python --requirement requirements.txt
cargo fetch --quiet --locked --manifest-path proptest/Cargo.toml
cat package-lock.json requirements.txt proptest/Cargo.lock > "$stamp"
echo "adapters: installed"
