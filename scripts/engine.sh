#!/usr/bin/env bash
# Installs the ClickHouse engine (libchdb) that the embedded store runs on:
# .cache/chdb/VERSION/libchdb.so, taken from its npm package. Does nothing when
# it is there. Safe to run several times at once: each run works in a folder of
# its own, and the finished file is moved into place in one step.
set -euo pipefail

version=26.7.3-stable.1
# Of the package for linux-x64. For the other systems npm checks the tarball
# against the checksum that the registry gives.
sha512_linux_x64='XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw=='
bytes_linux_x64=177817999
# The tarball twice (npm's cache and the file), then the tarball and the library.
need_mib=900
# No byte for this long means that the download is stuck.
stall_seconds=60

folder=${BASH_SOURCE[0]%/*}/../.cache/chdb
target=$folder/$version/libchdb.so

fail() {
  printf '\nengine: %s\n' "$1" >&2
  exit 1
}

if [[ -n ${SOAKGATE_CHDB_LIBRARY:-} ]]; then
  [[ -f $SOAKGATE_CHDB_LIBRARY ]] || fail "SOAKGATE_CHDB_LIBRARY names $SOAKGATE_CHDB_LIBRARY, and there is no such file; correct it or unset it."
  exit 0
fi
[[ -f $target ]] && exit 0

# Another system than this one is for images that are built for it.
case "${SOAKGATE_ENGINE_PLATFORM:-$(uname -s)/$(uname -m)}" in
  Linux/x86_64 | Linux/amd64) platform=linux-x64-gnu total=$bytes_linux_x64 sha512=$sha512_linux_x64 ;;
  Linux/aarch64 | Linux/arm64) platform=linux-arm64-gnu total=0 sha512= ;;
  Darwin/x86_64) platform=darwin-x64 total=0 sha512= ;;
  Darwin/arm64) platform=darwin-arm64 total=0 sha512= ;;
  *) fail "there is no ClickHouse engine for $(uname -s) on $(uname -m); point the collector at a ClickHouse server instead." ;;
esac
package=@chdb/lib-$platform

command -v npm >/dev/null 2>&1 || fail "npm is not installed; install Node.js with npm, or set SOAKGATE_CHDB_LIBRARY to a copy of libchdb.so $version."
command -v node >/dev/null 2>&1 || fail "node is not installed; install Node.js with npm, or set SOAKGATE_CHDB_LIBRARY to a copy of libchdb.so $version."

mkdir -p "$folder" 2>/dev/null || fail "the folder $folder cannot be made; check who may write there."
folder=$(cd "$folder" && pwd)
target=$folder/$version/libchdb.so

free_mib=$(($(df -Pk "$folder" | awk 'NR == 2 { print $4 }') / 1024))
((free_mib >= need_mib)) || fail "the disk of $folder has $free_mib MiB free, and installing the engine needs $need_mib MiB."

# What a killed run left behind.
find "$folder" -maxdepth 1 -name 'work.*' -mmin +1440 -exec rm -rf {} + 2>/dev/null || true

work=$(mktemp -d "$folder/work.XXXXXX") || fail "the folder $folder is not writable; check who may write there."
npm_pid=
cleanup() {
  if [[ -n $npm_pid ]]; then
    kill "$npm_pid" 2>/dev/null || true
    wait "$npm_pid" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# received prints how many bytes npm has written so far.
received() {
  local kib
  kib=$(du -sk "$work/cache" 2>/dev/null | awk '{ print $1 }') || kib=0
  echo $((${kib:-0} * 1024))
}

# show prints the progress: every second on a terminal, every ten without one.
show() {
  local mib=$(($1 / 1048576)) text
  if ((total > 0)); then
    local all=$((total / 1048576))
    text="engine: fetching $package $version: $((mib > all ? all : mib)) / $all MiB"
  else
    text="engine: fetching $package $version: $mib MiB so far"
  fi
  if [[ -t 2 ]]; then
    printf '\r%s' "$text" >&2
  elif (($2 % 10 == 0)); then
    printf '%s\n' "$text" >&2
  fi
}

(
  cd "$work"
  exec npm pack "$package@$version" --cache "$work/cache" --pack-destination "$work" --silent --ignore-scripts \
    --no-audit --no-fund --no-update-notifier --loglevel error \
    --fetch-retries 2 --fetch-retry-mintimeout 1000 --fetch-retry-maxtimeout 5000 --fetch-timeout 1800000
) >"$work/out" 2>"$work/err" </dev/null &
npm_pid=$!

seconds=0 last=-1 still=0
while kill -0 "$npm_pid" 2>/dev/null; do
  now=$(received)
  show "$now" "$seconds"
  if ((now == last && (total == 0 || now < total))); then still=$((still + 1)); else still=0; fi
  ((still < stall_seconds)) || fail "nothing came from the npm registry for $stall_seconds s; check the network, and npm's registry and proxy settings."
  last=$now seconds=$((seconds + 1))
  sleep 1
done
status=0
wait "$npm_pid" || status=$?
npm_pid=
[[ -t 2 ]] && printf '\n' >&2
if ((status != 0)); then
  reason=$(cat "$work/err" "$work/out" "$work"/cache/_logs/*.log 2>/dev/null |
    grep -oE '(ENOSPC|EACCES|E404|E401|E403|ETARGET|EINTEGRITY|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|ERR_SOCKET_TIMEOUT|CERT_[A-Z_]+|SELF_SIGNED[A-Z_]*|UNABLE_TO[A-Z_]*)' | tail -n 1 || true)
  case $reason in
    ENOSPC) fail "the disk of $folder filled up while fetching the engine; it needs $need_mib MiB." ;;
    E404 | ETARGET) fail "the npm registry has no $package $version; if the registry is a mirror, let it fetch that package." ;;
    EINTEGRITY) fail "the tarball of $package $version does not match the registry's checksum; nothing was installed." ;;
    *) fail "npm could not fetch $package $version (${reason:-exit status $status}); check the network, and npm's registry and proxy settings." ;;
  esac
fi

tarballs=("$work"/*.tgz)
tarball=${tarballs[0]}
[[ -f $tarball ]] || fail "npm fetched $package $version and left no tarball; nothing was installed."
rm -rf "$work/cache"

if [[ -n $sha512 ]]; then
  found=$(node -e '
    const hash = require("crypto").createHash("sha512");
    require("fs").createReadStream(process.argv[1]).on("data", (d) => hash.update(d)).on("end", () => console.log(hash.digest("base64")));
  ' "$tarball")
  [[ $found == "$sha512" ]] || fail "the tarball of $package $version has the SHA-512 $found, not the expected $sha512; nothing was installed."
else
  echo "engine: no checksum is pinned for $package; npm has checked the tarball against the registry's." >&2
fi

tar -xzf "$tarball" -C "$work" package/libchdb.so || fail "the engine could not be unpacked in $folder; it needs $need_mib MiB of free disk."
mkdir -p "$folder/$version"
mv -f "$work/package/libchdb.so" "$target" || fail "the engine could not be moved to $target; check who may write there."
echo "engine: $target" >&2
