#!/bin/sh
# Installs the independent counterparts that the ignored tests need: `sh tests/counterparts/install.sh`.
# Wants Node 20 or newer with npm, and nothing else. A second run with the same lock file and the same `trim.mjs` does nothing.
set -eu
cd "$(dirname "$0")"

stamp=node_modules/.installed-from
if cat package-lock.json prism/trim.mjs | cmp -s - "$stamp" && [ -d payloads/node_modules ]; then
    echo "counterparts: up to date"
    exit 0
fi

npm ci
(cd payloads && npm ci)
node prism/trim.mjs node_modules/@octokit/openapi/generated/api.github.com.json node_modules/github.json
# The whole package is 385 MB; the trimmed description is all that is used of it.
rm -rf node_modules/@octokit/openapi
cat package-lock.json prism/trim.mjs > "$stamp"
echo "counterparts: installed"
