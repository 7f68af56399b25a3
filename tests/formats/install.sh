#!/bin/sh
# Installs the published schema that an ignored test of formats needs: `sh tests/formats/install.sh`.
# Wants Node 20 or newer with npm. A second run with the same lock file does nothing.
set -eu
cd "$(dirname "$0")"

stamp=node_modules/.installed-from
if cmp -s package-lock.json "$stamp"; then
    echo "formats: up to date"
    exit 0
fi

npm ci --ignore-scripts --no-audit --no-fund
cp package-lock.json "$stamp"
echo "formats: installed"
