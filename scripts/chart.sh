#!/usr/bin/env bash
# What the chart is made of and held by. Wants helm and helm-docs in .cache/tools,
# which make builds.
#
#   scripts/chart.sh files    write the copies and the README that are made from others
#   scripts/chart.sh golden   write the golden renderings; look at the difference
#   scripts/chart.sh check    lint, render, and judge everything
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
chart=deploy/helm/soakgate

# copy FOLDER FILE...: the folder holds these files and no others.
copy() {
  local folder=$1
  shift
  mkdir -p "$folder"
  find "$folder" -type f ! -name .gitkeep -delete
  if (($# > 0)); then cp -- "$@" "$folder/"; fi
  touch "$folder/.gitkeep"
}

case "${1:-}" in
  files)
    # Helm reads nothing outside of the chart.
    shopt -s nullglob
    copy $chart/files/dashboards dashboards/*.json
    rules=()
    for f in deploy/prometheus/*.yaml; do
      if grep -q '^groups:' "$f"; then rules+=("$f"); fi
    done
    copy $chart/files/rules "${rules[@]}"
    copy $chart/files/alerting deploy/grafana/alerting/*.yaml
    .cache/tools/helm-docs --chart-search-root deploy/helm --log-level warning
    ;;
  golden)
    (cd tools/kval && go test -count=1 -run '^TestGolden$' . -update >/dev/null)
    ;;
  check)
    (cd tools/kval && go vet . && go test -count=1 .)
    ;;
  *)
    echo "chart: say files, golden or check" >&2
    exit 2
    ;;
esac
