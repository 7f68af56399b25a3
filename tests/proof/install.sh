#!/bin/sh
# Installs the independent library that an ignored test lets verify our signed records: `sh tests/proof/install.sh`.
# Wants Python 3.10 or newer with venv and pip. A second run with the same list does nothing.
set -eu
cd "$(dirname "$0")"

if cmp -s requirements.txt venv/.installed-from; then
    echo "proof: up to date"
    exit 0
fi

rm -rf venv
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
cp requirements.txt venv/.installed-from
echo "proof: installed"
