#!/usr/bin/env bash
# Runs libraries that applications use, each with its own features, against a fresh server, and prints a table.
#
#   applications.sh [varve|redis] [LIBRARY...]    without a library, all of them
#
#   varve     Varve, as `./varve serve` starts it
#   redis     the redis-server on PATH, to compare with
#
# It installs the libraries in the versions that requirements.txt, node/package.json and go/go.mod name in a temporary
# folder. It exits with 1 if a feature fails, with 0 if all pass. Where Python, Node or Go is missing, it says which
# libraries it skips for that; with APPLICATIONS_REQUIRE_ALL=1 it fails instead.
#
# VARVE_SERVE              the command that starts Varve, in place of `./varve serve`. Arguments follow it.
# APPLICATIONS_LOGS        a folder that keeps the output of each program and of the server
# APPLICATIONS_SECONDS     the time limit of a program; 240 without it
# PYTHON                   a Python other than python3
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kind=${1:-varve}
[ $# -eq 0 ] || shift
work=$(mktemp -d)
logs=${APPLICATIONS_LOGS:-$work/logs}
limit=${APPLICATIONS_SECONDS:-240}
server=

stop_server() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; }
    server=
}
trap 'stop_server; chmod -R u+w "$work"; rm -rf "$work"' EXIT # Go's modules are read-only
trap 'exit 130' INT TERM HUP

fail() { # MESSAGE
    echo "applications: $*" >&2
    exit 1
}

# Library, runtime, package, program.
libraries="redis-py       python  redis                           redis_py_lock.py
django-redis   python  django-redis                    django_redis_cache.py
celery         python  celery                          celery_app.py
dramatiq       python  dramatiq                        dramatiq_app.py
rq             python  rq                              rq_app.py
huey           python  huey                            huey_app.py
cashews        python  cashews                         cashews_app.py
bullmq         node    bullmq                          bullmq_app.js
bull           node    bull                            bull_app.js
asynq          go      github.com/hibiken/asynq        asynq
redsync        go      github.com/go-redsync/redsync/v4  redsync"

# ---- libraries ----------------------------------------------------------------------------------------------------
install_python() {
    "${PYTHON:-python3}" -m venv "$work/venv" &&
        "$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
}

install_node() {
    cp -r "$here/node" "$work/node" && npm ci --silent --no-fund --no-audit --prefix "$work/node"
}

install_go() {
    cp -r "$here/go" "$work/go" && mkdir "$work/bin" &&
        (cd "$work/go" && GOFLAGS=-mod=readonly go build -o "$work/bin/" ./asynq ./redsync)
}

is_present() { # RUNTIME
    case $1 in
        python) "${PYTHON:-python3}" -c 'import venv, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ;;
        node) command -v node >/dev/null && command -v npm >/dev/null ;;
        go) command -v go >/dev/null ;;
    esac
}

version_of() { # RUNTIME PACKAGE
    case $1 in
        python) sed -n "s/^$2\(\[.*\]\)\{0,1\}==//p" "$here/requirements.txt" ;;
        node) sed -n "s/^ *\"$2\": \"\(.*\)\".*/\1/p" "$here/node/package.json" ;;
        go) sed -n "s#^\s$2 v##p" "$here/go/go.mod" ;;
    esac
}

run_program() { # RUNTIME PROGRAM
    local bounded=(timeout --kill-after=30 "$limit")
    case $1 in
        python) (cd "$here/python" && PYTHONDONTWRITEBYTECODE=1 "${bounded[@]}" "$work/venv/bin/python" "$2" "$port") ;;
        node) (cd "$work/node" && "${bounded[@]}" node "$2" "$port") ;;
        go) "${bounded[@]}" "$work/bin/$2" "$port" ;;
    esac
}

# ---- server -------------------------------------------------------------------------------------------------------
start_server() { # sets server and port
    mkdir "$work/data"
    local log=$logs/server.log settings=(--dir "$work/data" --maxmemory 256mb --maxmemory-policy noeviction --save '')
    for _ in $(seq 10); do
        port=$((20000 + RANDOM % 10000))
        case $kind in
            # shellcheck disable=SC2086
            varve) ${VARVE_SERVE:-"$here/../../varve" serve} --port "$port" "${settings[@]}" >"$log" 2>&1 & ;;
            redis) redis-server --port "$port" "${settings[@]}" >"$log" 2>&1 & ;;
            *) fail "unknown server $kind: expected varve or redis" ;;
        esac
        server=$!
        for _ in $(seq 6000); do
            ! grep -q 'Ready to accept connections' "$log" || return 0
            kill -0 "$server" 2>/dev/null || break
            sleep 0.1
        done
        stop_server
        grep -qi 'in use' "$log" || break # of another port, perhaps
    done
    tail -20 "$log" >&2
    fail "the server did not start"
}

# ---- main ---------------------------------------------------------------------------------------------------------
[ $# -eq 0 ] || libraries=$(for library in "$@"; do
    grep "^$library " <<<"$libraries" || fail "unknown library $library: expected one of$(
        printf ' %s' $(awk '{ print $1 }' <<<"$libraries"))"
done)
mkdir -p "$logs"
logs=$(cd "$logs" && pwd)
status=0
missing=
for runtime in $(awk '!seen[$2]++ { print $2 }' <<<"$libraries"); do
    if is_present "$runtime"; then
        "install_$runtime" >"$logs/install-$runtime.log" 2>&1 || {
            tail -20 "$logs/install-$runtime.log" >&2
            fail "cannot install the libraries of $runtime"
        }
    else
        missing="$missing $runtime"
    fi
done
start_server
: >"$work/table"
while read -r library runtime package program; do
    if [[ " $missing " == *" $runtime "* ]]; then
        echo "$library - skipped: no $runtime" >>"$work/table"
        continue
    fi
    echo "$library $(version_of "$runtime" "$package"):"
    begin=$SECONDS
    ended=0
    run_program "$runtime" "$program" >"$logs/$library.out" 2>"$logs/$library.err" </dev/null || ended=$?
    sed -n -E 's/^(ok|FAIL) /  &/p' "$logs/$library.out"
    passed=$(grep -c '^ok ' "$logs/$library.out" || true)
    failed=$(grep -c '^FAIL ' "$logs/$library.out" || true)
    if [ "$ended" != 0 ] || [ "$passed" = 0 ]; then
        status=1
        case $ended.$failed in
            1.[1-9]*) ;;
            124.* | 137.*) echo "  FAIL the program: it took longer than $limit s" && failed=$((failed + 1)) ;;
            *) echo "  FAIL the program: its exit status is $ended" && failed=$((failed + 1)) ;;
        esac
        sed 's/^/    | /' "$logs/$library.err" | tail -15
    fi
    echo "$library $(version_of "$runtime" "$package") $passed $failed $((SECONDS - begin))" >>"$work/table"
done <<<"$libraries"

echo
printf '%-14s %-10s %7s %7s %8s\n' library version passed failed seconds
while read -r library version passed failed seconds; do
    case $version in
        -) printf '%-14s %s\n' "$library" "$passed $failed $seconds" ;;
        *) printf '%-14s %-10s %7s %7s %8s\n' "$library" "$version" "$passed" "$failed" "$seconds" ;;
    esac
done <"$work/table"
if [ -n "$missing" ]; then
    echo "applications: skipped for want of a runtime:$missing"
    [ "${APPLICATIONS_REQUIRE_ALL:-0}" != 1 ] || status=1
fi
exit $status
