#!/bin/sh
# Installs what corpus/prove.py runs the cases with, where a package of the system is not enough: `sh corpus/runners/install.sh`.
# Go, PHP with PHPUnit, Ruby with minitest and RSpec, a JDK with JUnit 4, googletest and Rust come from the system:
# golang-go php-cli phpunit ruby ruby-minitest ruby-rspec default-jdk junit4 libgtest-dev.
set -eu
cd "$(dirname "$0")"

npm ci --no-audit --no-fund
rm -rf python
python3 -m venv python
python/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
