#!/bin/sh
# Small containers: servers under two loads in memory cgroups of 128, 256 and 512 MiB, compared with Redis.
#
# Usage: experiments/containers.sh [NAME=LAUNCHER]... >containers.csv
#   NAME=LAUNCHER: a launcher of Varve and its name in the table. This folder's launcher always runs, as `varve`.
#   Redis is the redis-server on PATH. redis-benchmark generates the load, outside of the cgroup.
#   JAVA_HOME should be a copy of a JDK that no other process uses. Otherwise pages of its files are charged to the
#   other process, unlike in a container. The script drops the page cache before each row.
#
# It needs root, the memory controller of cgroup v1 and Redis's programs. Figures of a row:
#   peak_mb   memory.max_usage_in_bytes: all that is charged to the cgroup, page cache (jars, the start cache) included
#   anon_mb   the maximum of memory.stat's rss, read ten times a second: without page cache
#   killed    number of processes that the kernel killed for lack of memory (memory.oom_control)
#   errors    error replies (INFO errorstats), or `lost` if the generator lost its connections
set -eu

home=$(cd "$(dirname "$0")/.." && pwd -P)
base=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
port=${PORT:-21390}
work=$(mktemp -d)
group=
server=
sampler=

clean_up() {
    [ -z "$sampler" ] || kill "$sampler" 2>/dev/null || true
    [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    [ -z "$group" ] || rmdir "$group" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

[ -w "$base/cgroup.procs" ] && [ -r "$base/memory.limit_in_bytes" ] || {
    echo "containers.sh: $base is not a writable memory cgroup (v1)" >&2
    exit 1
}

forget() { # COMMAND...: drops the files that the command will map from the page cache
    for file in "$(dirname "$1")"/target/launcher/*.jar "$(dirname "$1")/target/launcher/server.aot" \
        "${JAVA_HOME:-/nonexistent}"/lib/modules "${JAVA_HOME:-/nonexistent}"/lib/*.so "${JAVA_HOME:-/nonexistent}"/lib/server/*.so \
        "$(command -v redis-server)"; do
        [ ! -f "$file" ] || dd if="$file" iflag=nocache count=0 2>/dev/null
    done
}

start() { # LIMIT-MB COMMAND...; in a group of its own; sets server
    group=$base/containers-$$
    mkdir "$group"
    echo "$(($1 << 20))" >"$group/memory.limit_in_bytes"
    shift
    forget "$@"
    sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$group" "$@" >"$work/server.log" 2>&1 &
    server=$!
    (
        most=0
        while kill -0 "$server" 2>/dev/null; do
            now=$(sed -n 's/^rss //p' "$group/memory.stat" 2>/dev/null) || now=
            if [ "${now:-0}" -gt "$most" ]; then
                most=$now
                echo "$most" >"$work/anon"
            fi
            sleep 0.1
        done
    ) &
    sampler=$!
}

ready() { # waits at most half a minute
    tries=0
    while [ "$tries" -lt 300 ] && kill -0 "$server" 2>/dev/null; do
        if [ "$(redis-cli -p "$port" ping 2>/dev/null)" = PONG ]; then
            return
        fi
        tries=$((tries + 1))
        sleep 0.1
    done
    return 1
}

mb() { # BYTES
    echo "$((($1 + 524288) >> 20))"
}

row() { # LIMIT-MB LOAD SERVER BENCHMARK-OPTIONS... -- COMMAND...
    limit=$1
    load=$2
    name=$3
    shift 3
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    echo 0 >"$work/anon"
    start "$limit" "$@"
    maxmemory=
    errors=
    rates=,
    survived=no
    if ready; then
        maxmemory=$(redis-cli -p "$port" config get maxmemory | tail -n 1)
        # shellcheck disable=SC2086
        timeout "${SECONDS_A_LOAD:-120}" redis-benchmark -p "$port" $options -t set,get --csv >"$work/load.csv" 2>"$work/load.err" || errors=lost
        rates=$(awk -F'"' '/^"SET"/ {s=$4} /^"GET"/ {g=$4} END {printf "%.0f,%.0f", s, g}' "$work/load.csv")
        if [ "$(timeout 20 redis-cli -p "$port" ping 2>/dev/null)" = PONG ]; then
            survived=yes
            told=$(redis-cli -p "$port" info errorstats | tr -d '\r' | sed -n 's/^errorstat_\(.*\):count=/\1=/p' | tr '\n' ' ')
            errors=${errors:+$errors }${told:-0}
        fi
    else
        errors="does not start: $(grep '^varve: ' "$work/server.log" | head -n 1)"
    fi
    kill "$server" 2>/dev/null || true
    [ "$errors" != lost ] || kill -9 "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    wait "$sampler" 2>/dev/null || true
    killed=$(sed -n 's/^oom_kill //p' "$group/memory.oom_control")
    peak=$(cat "$group/memory.max_usage_in_bytes")
    echo "$limit,$load,$name,${maxmemory:+$(mb "$maxmemory")},$survived,$killed,$(mb "$peak"),$(mb "$(cat "$work/anon")"),$(echo "${errors:-0}" | tr ',' ';'),$rates"
    rmdir "$group"
    group=
    server=
    sampler=
}

varves() { # LIMIT-MB LOAD MAXMEMORY OPTIONS...; MAXMEMORY may be `default`
    limit_mb=$1
    load_name=$2
    asked=$3
    shift 3
    set -- "$@" --
    settings="--port $port --bind 127.0.0.1 --maxmemory-policy allkeys-lru"
    [ "$asked" = default ] || settings="$settings --maxmemory $asked"
    # shellcheck disable=SC2086
    row "$limit_mb" "$load_name" varve "$@" "$home/varve" serve $settings
    for launcher in $launchers; do
        # shellcheck disable=SC2086
        row "$limit_mb" "$load_name" "${launcher%%=*}" "$@" "${launcher#*=}" serve $settings
    done
    [ "$asked" != default ] || asked=$((limit_mb / 2))mb # Redis has no default
    row "$limit_mb" "$load_name" redis "$@" redis-server --port "$port" --save '' --maxmemory "$asked" --maxmemory-policy allkeys-lru
}

launchers=$*
"$home/varve" experiments >/dev/null # builds now: a build needs more memory than a small container has
export VARVE_NO_BUILD=1
echo limit_mb,load,server,maxmemory_mb,survived,killed,peak_mb,anon_mb,errors,set_per_second,get_per_second
for mb in ${LIMITS:-128 256 512}; do
    varves "$mb" "200 clients of 20 kB" default -c 200 -d 20000 -r 100000 -n "${LARGE_REQUESTS:-200000}"
    case $mb in
        128) limits="64mb 44mb" ;; # the first is more than the JVM leaves free
        256) limits=128mb ;;
        *) limits=400mb ;;
    esac
    for given in $limits; do
        varves "$mb" "20 clients of 1 kB; pipeline 32" "$given" -c 20 -d 1000 -P 32 -r 1000000 -n "${SMALL_REQUESTS:-2000000}"
    done
done
