#!/bin/sh
# Measures the receiver beside its peers. Needs Rust, Node 20 and a C++ compiler. Takes about five minutes.
set -eu
cd "$(dirname "$0")/../.."
(cd benches/receiver/peers && npm ci --no-audit --no-fund --loglevel=error)
exec cargo bench --bench receiver
