#!/usr/bin/env bash
# Renders every dashboard from live queries in headless Chromium, in both themes,
# into the folder given (default .cache/pictures). It starts a collector on the
# embedded ClickHouse, ships a fleet to it, and lets Prometheus scrape it. Exits 1
# on a failed query, an unknown panel type, or a panel that shows nothing.
# Needs node, chromium and prometheus (Debian: nodejs npm chromium prometheus).
# SETTLE is for how many seconds live traffic is watched before the pictures. What the
# verdict was in the weeks before is judged from the fleet's events and put into
# Prometheus, which would have scraped it.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-.cache/pictures}")
settle=${SETTLE:-720}

for program in node npm prometheus promtool "${CHROMIUM:-chromium}"; do
  command -v "$program" >/dev/null || { echo "pictures need $program" >&2; exit 1; }
done

dir=$(mktemp -d)
pids=()
stop() {
  kill "${pids[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$dir"
}
trap stop EXIT

free() { # a port that nothing listens on
  node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'
}
otlp=127.0.0.1:$(free) metrics=$(free) prometheus=127.0.0.1:$(free)
clickhouse=127.0.0.1:$(free)
export SOAKGATE_OTLP_GRPC=$otlp SOAKGATE_OTLP_HTTP=127.0.0.1:$(free) SOAKGATE_CLICKHOUSE_LISTEN=$clickhouse
export SOAKGATE_METRICS_PORT=$metrics SOAKGATE_DATA=$dir/data SOAKGATE_DSN=http://$clickhouse/soakgate

echo "build"
(cd tools/dsquery && CGO_ENABLED=0 go build -o "$dir/dsserver" ./cmd/dsserver)
(cd tools/render && { [ -d node_modules ] || npm ci --ignore-scripts --legacy-peer-deps --no-audit --no-fund; } &&
  npx vite build --logLevel error --outDir "$dir/page")
mkdir -p "$dir/page/dashboards" "$dir/page/public/build/img"
cp dashboards/*.json "$dir/page/dashboards/"
cp -r tools/render/node_modules/@grafana/ui/dist/public/img/icons "$dir/page/public/build/img/"

echo "start"
bin/collector --config config/local.yaml --set exporters.soakgate.soak.interval=10s \
  --set exporters.soakgate.soak.policy=config/demo-policy.yaml >"$dir/collector.log" 2>&1 &
pids+=($!)
cat >"$dir/prometheus.yaml" <<Y
global: {scrape_interval: 5s}
scrape_configs: [{job_name: soakgate, static_configs: [{targets: ['127.0.0.1:$metrics']}]}]
Y
prometheus --config.file="$dir/prometheus.yaml" --storage.tsdb.path="$dir/tsdb" --storage.tsdb.retention.time=60d --web.listen-address="$prometheus" >"$dir/prometheus.log" 2>&1 &
pids+=($!)
for _ in $(seq 120); do
  bin/collector migrate status >/dev/null 2>&1 && break
  sleep 0.5
done

echo "ship"
bin/collector ship --scenario demo --endpoint "$otlp" >/dev/null
bin/collector ship --scenario fleet --days 6 --endpoint "$otlp" >/dev/null
bin/collector complaint add --server amazon_ads_mcp --kind parsing --ref SUP-1042 --note "a client fails on an unknown member of _meta" --by oncall >/dev/null
for server in amazon_sp_mcp amazon_ads_mcp; do
  bin/collector complaint review --server "$server" --by oncall >/dev/null
done
bin/collector ship --scenario twins --rate 4 --batch 20 --endpoint "$otlp" >"$dir/ship.log" 2>&1 &
pids+=($!)
settled=$((SECONDS + settle))

echo "judge the two weeks before"
step=$((12 * 3600)) now=$(date +%s)
for at in $(seq $((now - 31 * step)) $step $((now - step))); do
  bin/collector soak --policy config/demo-policy.yaml --all-events --as-of "$(date -u -d "@$at" +%FT%TZ)" --metrics "$dir/verdict" >/dev/null || [ $? -ge 3 ]
  # Prometheus forgets a sample after five minutes.
  awk -v from="$at" -v to=$((at + step)) '!/^#/ { for (t = from; t < to; t += 240) print $0, t }' "$dir/verdict"
done >"$dir/history"
echo "# EOF" >>"$dir/history"
promtool tsdb create-blocks-from openmetrics --quiet "$dir/history" "$dir/tsdb"
while [ $SECONDS -lt $settled ]; do sleep 1; done

echo "draw"
"$dir/dsserver" -listen 127.0.0.1:0 -dsn "$SOAKGATE_DSN" -prometheus "http://$prometheus" -dir "$dir/page" >"$dir/url" 2>"$dir/dsserver.log" &
pids+=($!)
for _ in $(seq 50); do
  [ -s "$dir/url" ] && break
  sleep 0.1
done
names=$(cd dashboards && ls ./*.json | xargs -n1 basename -s .json)
# shellcheck disable=SC2086 # one word a dashboard
node tools/render/shoot.mjs "$(head -1 "$dir/url")" "$out" $names
