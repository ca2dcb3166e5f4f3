#!/usr/bin/env bash
# Runs collectors under one load on this machine and prints one table.
#
#   ./run.sh [-r ROUNDS] [-n RECORDS] [-R RATE] [-o FOLDER] [-p] TARGET...
#
# -n is records a run (1,000,000), -R records a second offered (0: as fast as
# possible). `make bench-build` builds what it runs.
#
# TARGET is a file targets/TARGET.env, a shell snippet that sets
#   CMD           command line, run in this folder with $WORK (scratch folder of
#                 the run) and $CH (http://127.0.0.1:PORT, ClickHouse) set
#   OTLP          host:port that the load goes to (and that shows it is ready)
#   COUNT_SQL     query that gives the number of records that arrived; empty:
#                 nothing is stored, no ClickHouse is started
#   KINDS_SQL     optional, query that gives valid envelopes, success events and
#                 the rest, as they arrived: compared with what was acknowledged
#   PPROF         optional, host:port of net/http/pprof (for -p)
#   LOADGEN_ARGS  optional, e.g. -http, -c 64, -structured
#   RECORDS       optional, records in a run in place of -n
# Rounds are interleaved: every target once, then every target again. A run in
# which other processes used more than 20% of a core is repeated, twice at most;
# the table leaves such runs out where the target has a quiet one.
# -p takes a 5 s CPU profile of each collector in the first round.
# Results: FOLDER/runs.tsv (one line a run), FOLDER/*.log, FOLDER/*.json.
set -euo pipefail
cd "$(dirname "$0")"
rounds=3 records=1000000 rate=0 out=out/$(date +%H%M%S) prof=
while getopts r:n:R:o:p f; do
  case $f in r) rounds=$OPTARG ;; n) records=$OPTARG ;; R) rate=$OPTARG ;; o) out=$OPTARG ;; p) prof=1 ;; *) exit 2 ;; esac
done
limit=25s
[ "$rate" = 0 ] || limit=$((records / rate + 30))s
shift $((OPTIND - 1))
mkdir -p "$out"
scratch=${SCRATCH:-${TMPDIR:-/tmp}/soakgate-bench} chport=${CHPORT:-18130}
export CH=http://127.0.0.1:$chport
library=$(echo ../.cache/chdb/*/libchdb.so)
for b in ../bin/collector ../bin/loadgen ../bin/otelcol-peer "${SOAKGATE_CHDB_LIBRARY:=$library}"; do
  [ -e "$b" ] || { echo "bench/run.sh: $b is missing; \`make bench-build\` builds all that is needed" >&2; exit 1; }
done

now() { date +%s%N; }
sql() { curl -sS --fail-with-body -m 20 "$CH/" --data-binary "$1"; }
# CPU seconds (user+sys) of a process, and its peak RSS in MiB.
cpu() { awk -v hz="$(getconf CLK_TCK)" '{sub(/^.*\) /, ""); printf "%.2f", ($12 + $13) / hz}' "/proc/$1/stat"; }
rss() { awk '/VmHWM/ {printf "%d", $2 / 1024}' "/proc/$1/status"; }
# Busy CPU seconds of the whole machine since it started.
busy() { awk -v hz="$(getconf CLK_TCK)" '/^cpu / {printf "%.2f", ($2 + $3 + $4 + $7 + $8 + $9) / hz}' /proc/stat; }
quiet() { # waits, at most 3 minutes, until others use less than 10% of a core
  local a b
  for _ in $(seq 90); do
    a=$(busy); sleep 1; b=$(busy)
    if awk -v a="$a" -v b="$b" 'BEGIN {exit !(b - a < 0.1)}'; then return; fi
    sleep 1
  done
  echo "the machine is not quiet: the rates of the next run are too low" >&2
}
open() { (exec 3<>"/dev/tcp/${1%:*}/${1#*:}") 2>/dev/null; }
ready() { for _ in $(seq 100); do open "$1" && return; sleep 0.1; done; echo "nothing listens on $1" >&2; return 1; }
pids=()
stop() { # ends processes that this script started
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
  for p in "${pids[@]}"; do
    for _ in $(seq 50); do kill -0 "$p" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$p" 2>/dev/null || true
    wait "$p" 2>/dev/null || true
  done
  pids=()
}
trap stop EXIT

one() { # round target
  local round=$1 name=$2 CMD= OTLP= COUNT_SQL= KINDS_SQL= PPROF= LOADGEN_ARGS= RECORDS=
  . "targets/$name.env"
  local log=$out/$name.$round n=${RECORDS:-$records} ch= pid lg arrived=- bytes=- chcpu=- chrss=- landed=-
  export WORK=$scratch OTLP
  quiet
  rm -rf "$WORK" && mkdir -p "$WORK"
  if [ -n "$COUNT_SQL" ]; then
    ../bin/collector clickhouse --path "$WORK/ch" --listen "127.0.0.1:$chport" --library "$SOAKGATE_CHDB_LIBRARY" >"$log.ch.log" 2>&1 &
    ch=$!; pids+=("$ch"); ready "127.0.0.1:$chport"
  fi
  # shellcheck disable=SC2086
  bash -c "exec $CMD" >"$log.log" 2>&1 &
  pid=$!; pids+=("$pid"); ready "$OTLP"; sleep 0.5
  local c0 h0=0 b0 t0; b0=$(busy); t0=$(now); c0=$(cpu "$pid"); [ -z "$ch" ] || h0=$(cpu "$ch")
  if [ -n "$prof" ] && [ "$round" = 1 ] && [ -n "$PPROF" ]; then
    (sleep 1.5; curl -sS -m 20 -o "$out/$name.pprof" "http://$PPROF/debug/pprof/profile?seconds=5") &
  fi
  # shellcheck disable=SC2086
  ../bin/loadgen -addr "$OTLP" -total-records "$n" -rate "$rate" -duration "$limit" $LOADGEN_ARGS >"$log.json" 2>"$log.load.log" || true
  local acked end last=-1 still=0 t; end=$(now)
  lg() { jq -r "$1" "$log.json"; }
  acked=$(lg .acked_records)
  if [ -n "$COUNT_SQL" ]; then
    # Wait until every acknowledged record has arrived, or nothing has for a minute: a seal is one step.
    while :; do
      t=$(now); arrived=$(sql "$COUNT_SQL" || echo 0)
      if [ "$arrived" != "$last" ]; then last=$arrived; end=$t; still=0; else still=$((still + 1)); fi
      if [ "$arrived" -ge "$acked" ] || [ "$still" -gt 240 ]; then break; fi
      sleep 0.25
    done
    if [ -n "$KINDS_SQL" ]; then
      [ "$(sql "$KINDS_SQL")" = "$(lg '.acked | [.errors, .success, .invalid] | @tsv')" ] ||
        { echo "$name: the counts of kinds differ from what was acknowledged: $(sql "$KINDS_SQL")" >&2; exit 1; }
    fi
    landed=$(awk -v n="$arrived" -v e="$end" -v s="$(lg .started_unix_ns)" 'BEGIN {printf "%.0f", n / ((e - s) / 1e9)}')
    bytes=$(sql "SELECT round(sum(bytes_on_disk) / $arrived, 1) FROM system.parts WHERE active AND database NOT IN ('system', 'INFORMATION_SCHEMA')")
    chcpu=$(awk -v a="$h0" -v b="$(cpu "$ch")" -v n="$acked" 'BEGIN {printf "%.2f", (b - a) / n * 1e6}'); chrss=$(rss "$ch")
  fi
  local ccpu lcpu; ccpu=$(awk -v a="$c0" -v b="$(cpu "$pid")" -v n="$acked" 'BEGIN {printf "%.2f", (b - a) / n * 1e6}')
  lcpu=$(lg '.loadgen_cpu_seconds / .acked_records * 1e6 * 100 | round / 100')
  local crss other; crss=$(rss "$pid")
  # CPU that none of the three used, in percent of one core (the harness's own
  # polling is about 5).
  other=$(awk -v b="$b0" -v e="$(busy)" -v s="$t0" -v t="$(now)" -v k="$(awk -v a="$ccpu" -v b="${chcpu/-/0}" -v n="$acked" 'BEGIN {print (a + b) * n / 1e6}')" -v l="$(lg .loadgen_cpu_seconds)" \
    'BEGIN {printf "%.0f", (e - b - k - l) / ((t - s) / 1e9) * 100}')
  printf '%s\t' "$name" "$round" "$acked" "$(lg '.records_per_second | round')" "$landed" "$ccpu" "$crss" "$arrived" \
    "$(lg .p50_ms)" "$(lg .p99_ms)" "$(lg .failed_requests)" "$bytes" "$chcpu" "$chrss" >>"$out/runs.tsv"
  printf '%s\t%s\n' "$lcpu" "$other" >>"$out/runs.tsv"
  tail -1 "$out/runs.tsv" >&2
  stop
}

[ $# -gt 0 ] || [ "$rounds" = 0 ] || { echo "targets: $(cd targets && ls ./*.env | sed 's|./||; s|.env||' | tr '\n' ' ')" >&2; exit 2; }
[ "$rounds" = 0 ] || : >"$out/runs.tsv" # -r 0: print the table of an earlier run again
for round in $(seq "$rounds"); do
  for target in "$@"; do
    for _ in 1 2 3; do
      one "$round" "$target"
      if [ "$(tail -1 "$out/runs.tsv" | cut -f16)" -le 20 ]; then break; fi
    done
  done
done

# Medians over the rounds (the number in the middle; the lower of the two in
# the middle when even), and the range of the end-to-end rate.
awk -F'\t' '
function med(name, col,   i, j, n, v, t) {
  n = 0
  for (i = 1; i <= rows; i++) if (cell[i, 1] == name) v[++n] = cell[i, col]
  if (v[1] == "-") return "-"
  for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (v[j] + 0 < v[i] + 0) { t = v[i]; v[i] = v[j]; v[j] = t }
  lo = v[1]; hi = v[n]
  return v[int((n + 1) / 2)]
}
NR == FNR { if (!known[$1]++) order[++names] = $1; if ($16 <= 20) quiet[$1]++; next }
quiet[$1] && $16 > 20 { next }
{ rows++; for (i = 1; i <= NF; i++) cell[rows, i] = $i; seen[$1]++ }
END {
  print "| target | runs | accepted rec/s | landed rec/s (range) | collector CPU s/M | peak RSS MiB | acked | arrived | p50 ms | p99 ms | failed req | disk B/rec | ClickHouse CPU s/M | ClickHouse RSS MiB | loadgen CPU s/M | CPU of others % |"
  print "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
  for (k = 1; k <= names; k++) {
    n = order[k]
    l = med(n, 5); if (l != "-") l = l " (" lo "-" hi ")"
    printf "| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", n, seen[n], med(n, 4), l, med(n, 6), med(n, 7), med(n, 3), med(n, 8), med(n, 9), med(n, 10), med(n, 11), med(n, 12), med(n, 13), med(n, 14), med(n, 15), med(n, 16)
  }
}' "$out/runs.tsv" "$out/runs.tsv" | tee "$out/table.md"
