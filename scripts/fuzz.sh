#!/usr/bin/env bash
# Runs every fuzz target of the project for the time given, one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}
grep -rlE '^func Fuzz' --include='*_test.go' internal cmd schemas | while read -r file; do
  package=./$(dirname "$file")
  for target in $(grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | cut -d' ' -f2); do
    echo "$package $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel 2 "$package" </dev/null
  done
done
