#!/usr/bin/env bash
# Runs the Tcl test suite of Redis against Varve, each unit against a fresh server, and prints a table of the units.
#
#   redis-suite.sh [UNIT...]     for example unit/type/list; without a unit, all that work with an external server
#
# It exits with 0 if exactly the tests fail that known-differences.txt lists for these units; with 1 if another test
# fails, or a listed one passes or does not exist any more; and with 0 and a message if the suite or tclsh is missing.
#
# REDIS_SUITE   the folder with Redis's sources, which has runtest. Without it, `apt-get source redis` brings them.
# VARVE_SERVE   the command that starts the server; `./varve serve` of this clone without it. Arguments follow it.
# SUITE_LOGS    a folder that keeps the output of each unit
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
logs=${SUITE_LOGS:-$work/logs}
known=$here/known-differences.txt
server=
drain=

stop_server() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; }
    [ -z "$drain" ] || { kill "$drain" 2>/dev/null && wait "$drain" 2>/dev/null || true; }
    server= drain=
}
trap 'stop_server; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

skip() { # MESSAGE
    echo "redis-suite: skipped: $*"
    exit 0
}

# Downloads the sources with the package sources of the machine (deb-src).
download_suite() {
    command -v apt-get >/dev/null && command -v dpkg-source >/dev/null || return 1
    mkdir -p "$work/source"
    (cd "$work/source" && apt-get -qq source redis) >"$work/apt.log" 2>&1 || return 1
    suite=$(dirname "$(find "$work/source" -name runtest -print -quit)")
    [ -x "$suite/runtest" ]
}

start_server() { # sets server and port
    rm -f "$work/out"
    mkfifo "$work/out"
    rm -rf "$work/data"
    mkdir -p "$work/data"
    # Redis 7.0 has no listpacks of members of sets, and some tests rely on its only thread.
    # shellcheck disable=SC2086
    ${VARVE_SERVE:-"$here/../../varve" serve} --port 0 --dir "$work/data" --databases 16 --maxmemory 1gb --save '' \
        --io-threads 1 --set-max-listpack-entries 0 --enable-debug-command yes --enable-protected-configs yes \
        >"$work/out" 2>"$logs/server.err" &
    server=$!
    exec 3<"$work/out"
    port=
    local line
    while IFS= read -r line <&3; do
        case $line in
            *port\ [0-9]*) port=${line##*port } port=${port%%[!0-9]*} ;;
            *Ready\ to\ accept\ connections*) break ;;
        esac
    done
    [ -n "$port" ] || { echo "redis-suite: the server did not start: $(cat "$logs/server.err")" >&2; exit 1; }
    cat <&3 >/dev/null & # drains the pipe, so that the server's writes do not block
    drain=$!
    exec 3<&-
}

command -v tclsh >/dev/null || skip "there is no tclsh"
suite=${REDIS_SUITE:-}
if [ -n "$suite" ]; then
    [ -x "$suite/runtest" ] || skip "$suite has no runtest"
else
    download_suite || skip "REDIS_SUITE is not set, and apt-get brings no sources of Redis"
fi
version=$(sed -n 's/^#define REDIS_VERSION "\(.*\)"/\1/p' "$suite/src/version.h")
[ "$version" = 7.0.15 ] || skip "the suite is of Redis $version, and the known differences are those of 7.0.15"
mkdir -p "$logs"
logs=$(cd "$logs" && pwd)

# A copy, because the suite writes to its folder.
mkdir "$work/suite"
cp -r "$suite/runtest" "$suite/tests" "$work/suite/"
cd "$work/suite"
units=("$@")
[ ${#units[@]} -gt 0 ] || mapfile -t units < <(./runtest --list-tests | grep '^unit/')

status=0
: >"$work/problems"
printf '%-24s %7s %7s %8s %9s %8s\n' unit passed failed differs excluded seconds
for unit in "${units[@]}"; do
    log=$logs/${unit//\//-}.log
    "$here/known.awk" -v unit="$unit" -v kinds='skip newer' "$known" | cut -d ' ' -f 2- >"$work/skip"
    if grep -qxF '*' "$work/skip"; then
        printf '%-24s %s\n' "$unit" "not run"
        continue
    fi
    begin=$SECONDS
    start_server
    # --durable goes on after an exception in a test. The base port differs from that of a suite that runs beside.
    TERM=dumb timeout --kill-after=10 "${SUITE_UNIT_SECONDS:-900}" ./runtest --host 127.0.0.1 --port "$port" \
        --baseport $((21111 + $$ % 60 * 100)) --single "$unit" --skipfile "$work/skip" --durable --timeout 300 \
        >"$log" 2>&1 </dev/null || true
    stop_server
    "$here/known.awk" -v unit="$unit" -v kinds='differs skip' "$known" >"$work/listed"
    "$here/report.awk" -v unit="$unit" -v seconds=$((SECONDS - begin)) -v problems="$work/problems" \
        "$work/listed" "$log"
done
if [ -s "$work/problems" ]; then
    echo
    cat "$work/problems"
    status=1
fi
exit $status
