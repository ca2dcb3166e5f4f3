#!/usr/bin/env bash
# What the stages of the Dockerfile run, so that it can be tried without Docker.
#
#   scripts/image.sh build OS ARCH VERSION OUT    the collector's part of the image, below OUT
#   scripts/image.sh engine ARCH OUT              the engine's part
#   scripts/image.sh try                          both, then run in a root of glibc alone
#
# `try` wants Debian (it takes glibc from its archive), root (for chroot) and curl.
set -euo pipefail
cd "$(dirname "$0")/.."

build() {
  local os=$1 arch=$2 version=$3 out=$4
  mkdir -p "$out/usr/local/bin" "$out/etc/soakgate" "$out/var/lib/soakgate"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$version" \
    -o "$out/usr/local/bin/collector" ./cmd/collector
  cp config/production.yaml config/local.yaml config/kafka.yaml "$out/etc/soakgate/"
}

engine() {
  local arch=$1 out=$2
  SOAKGATE_ENGINE_PLATFORM=Linux/$arch scripts/engine.sh
  mkdir -p "$out/usr/local/lib"
  cp .cache/chdb/*/libchdb.so "$out/usr/local/lib/libchdb.so"
  # One that was fetched before, for another system, is left as it is.
  local machine
  machine=$(od -An -tx1 -j18 -N1 "$out/usr/local/lib/libchdb.so" | tr -d ' ')
  [[ $arch/$machine == amd64/3e || $arch/$machine == arm64/b7 ]] || {
    echo "image: the engine in .cache is not for $arch (ELF machine 0x$machine)" >&2
    exit 1
  }
}

# run ROOT COMMAND...: as the image's user, seeing the root alone.
run() {
  local root=$1
  shift
  env -i PATH=/usr/local/bin "${image_env[@]}" "$(command -v chroot)" --userspec=65532:65532 "$root" "$@"
}

try() {
  local work pid port='' arch=$(go env GOARCH)
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder as it is now
  trap "rm -rf '$work'" EXIT
  for other in amd64 arm64; do
    build linux $other try "$work/$other"
    file "$work/$other/usr/local/bin/collector" | sed 's/^[^:]*: //; s/, Go BuildID.*//'
  done
  root=$work/$arch
  engine "$arch" "$root"
  (cd "$work" && apt-get download -q libc6 >/dev/null 2>&1)
  dpkg-deb -x "$work"/libc6_*.deb "$root"
  # Of the unpacked package the loader's usual places, which are links on merged systems.
  for lib in lib lib64; do
    if [[ ! -e $root/$lib && -d $root/usr/$lib ]]; then ln -s "usr/$lib" "$root/$lib"; fi
  done
  mkdir -p "$root/tmp" "$root/proc" "$root/dev"
  chmod 1777 "$root/tmp"
  chown 65532:65532 "$root/var/lib/soakgate"

  image_env=()
  run "$root" collector --version
  run "$root" collector components >/dev/null
  port=$((20000 + RANDOM % 20000))
  image_env=(SOAKGATE_CHDB_LIBRARY=/usr/local/lib/libchdb.so SOAKGATE_DATA=/var/lib/soakgate
    SOAKGATE_OTLP_GRPC=127.0.0.1:$port SOAKGATE_OTLP_HTTP=127.0.0.1:$((port + 1))
    SOAKGATE_CLICKHOUSE_LISTEN=127.0.0.1:$((port + 2)) SOAKGATE_METRICS_PORT=$((port + 3)))
  run "$root" collector --config /etc/soakgate/local.yaml >"$work/log" 2>&1 &
  pid=$!
  # shellcheck disable=SC2064 # the process and folder as they are now
  trap "kill $pid 2>/dev/null; wait $pid 2>/dev/null; rm -rf '$work'" EXIT
  for _ in $(seq 120); do
    run "$root" collector health "http://127.0.0.1:$((port + 3))/metrics" >/dev/null 2>&1 && break
    kill -0 $pid 2>/dev/null || { cat "$work/log" >&2; echo "image: the collector ended" >&2; exit 1; }
    sleep 0.5
  done
  run "$root" collector health "http://127.0.0.1:$((port + 3))/metrics" "tcp://127.0.0.1:$port" "tcp://127.0.0.1:$((port + 1))"
  run "$root" collector ship --endpoint "127.0.0.1:$port" --scenario twins --records 500 --dsn "http://127.0.0.1:$((port + 2))/soakgate" | tail -n 3
  find "$root" -newer "$work/log" -type f -not -path "$root/var/lib/soakgate/*" -not -path "$root/tmp/*" -print -quit | grep . &&
    { echo "image: writes outside of its volume" >&2; exit 1; }
  echo "image: runs with glibc alone, as user 65532"
}

case "${1:-}" in
  build | engine | try) "$@" ;;
  *)
    echo "image: say build, engine or try" >&2
    exit 2
    ;;
esac
