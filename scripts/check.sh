#!/usr/bin/env bash
# Checks that are no tests: modules tidy, generated files current, every
# configuration accepted. Prints what is wrong and exits 1.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0

echo "go.mod and go.sum are tidy"
go mod tidy -diff

echo "generated files are current"
before=$(git status --porcelain)
make --no-print-directory -s generate
after=$(git status --porcelain)
if [ "$before" != "$after" ]; then
  echo "make generate changes files; commit what it writes:" >&2
  diff <(echo "$before") <(echo "$after") >&2 || true
  exit 1
fi

echo "tests that documents name are there"
for t in $(grep -ohE '`(Test|Fuzz|Benchmark)[A-Za-z0-9]+`' docs/*.md | tr -d '`' | sort -u); do
  grep -rqE "^func $t\(" --include='*_test.go' . || { echo "docs/ names $t, and there is no such test" >&2; exit 1; }
done

echo "every Collector configuration is accepted"
for f in $(grep -lE '^service:' config/*.yaml deploy/compose/*.yaml); do
  echo "  $f"
  bin/collector validate --config "$f"
done

echo "alert rules fire when they should"
if ! command -v promtool >/dev/null || ! command -v prometheus >/dev/null; then
  echo "  promtool is missing: installing Debian's prometheus"
  apt-get update -qq && apt-get install -y -qq prometheus >/dev/null
fi
promtool check rules deploy/prometheus/soakgate.rules.yaml
promtool test rules deploy/prometheus/soakgate.rules.test.yaml

echo "every query of the dashboards gives what its panel draws"
(cd tools/dsquery && go mod tidy -diff && go vet ./... && go test -timeout 20m ./...)

echo "compose files, release configuration and workflows are what their tools take"
.cache/tools/deploy compose deploy/compose/compose.yaml
.cache/tools/deploy release .goreleaser.yaml
.cache/tools/actionlint -shellcheck= -pyflakes= .github/workflows/*.yml

echo "the chart keeps its promises"
scripts/chart.sh check
