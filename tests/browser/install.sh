#!/bin/sh
# Installs what looks at the pages: `sh tests/browser/install.sh`. Wants Node 20 or newer with npm, and a Debian that has `chromium`.
set -eu
cd "$(dirname "$0")"

if ! command -v chromium >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null
fi
stamp=node_modules/.installed-from
if cmp -s package-lock.json "$stamp"; then
    echo "browser: up to date"
    exit 0
fi
npm ci --no-audit --no-fund
cp package-lock.json "$stamp"
echo "browser: installed"
