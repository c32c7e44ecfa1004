#!/usr/bin/env bash
# Runs redis-py, go-redis and ioredis against a cluster while a primary is killed, starts again, and a member is added
# and receives its share of the slots. Prints for each client how many commands failed.
#
#   cluster-clients.sh varve     a cluster of Varve with one controller
#   cluster-clients.sh redis     the same events in a Redis Cluster, with redis-server and redis-cli from PATH
#
# PYTHON names a Python other than python3. It needs go and npm, too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kind=${1:-varve}
work=$(mktemp -d)
stop=$work/stop
first=${FIRST_PORT:-7400}
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

begun=0 # when the clients began, in SECONDS
say() { echo "cluster-clients: second $((SECONDS - begun)): $*"; }
pid_of() { cat "$work/$1.pid"; }

start_member() { # PORT
    mkdir -p "$work/$1"
    if [ "$kind" = varve ]; then
        VARVE_NO_BUILD=1 "$here/../../../varve" serve --port "$1" --dir "$work/$1" --cluster-enabled yes \
            --cluster-controllers "127.0.0.1:$((first + 10))" --maxmemory 64mb --save '' >>"$work/$1.log" 2>&1 &
    else
        redis-server --port "$1" --dir "$work/$1" --cluster-enabled yes --cluster-node-timeout 1000 --save '' \
            --maxmemory 64mb >>"$work/$1.log" 2>&1 &
    fi
    echo $! >"$work/$1.pid"
}

await_ok() { # PORT
    for _ in $(seq 600); do
        [[ $(redis-cli -p "$1" cluster info 2>/dev/null) == *cluster_state:ok* ]] && return
        sleep 0.1
    done
    say "member $1 is not ready: $(tail -3 "$work/$1.log")" >&2
    exit 1
}

await_ping() { # PORT
    for _ in $(seq 600); do
        [ "$(redis-cli -p "$1" ping 2>/dev/null)" = PONG ] && return
        sleep 0.1
    done
    exit 1
}

"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check 'redis>=5.1'
npm install --silent --no-fund --no-audit --prefix "$work/npm" ioredis
cp -r "$here/go" "$work/go"
(cd "$work/go" && go mod init cluster >/dev/null 2>&1 && go get github.com/redis/go-redis/v9 >/dev/null 2>&1 &&
    go build -o "$work/go-client" .)

ports=$(seq "$first" $((first + 5)))
addresses=$(for port in $ports; do printf '127.0.0.1:%s ' "$port"; done)
if [ "$kind" = varve ]; then
    "$here/../../../varve" version >/dev/null
    "$here/../../../varve" cluster --help >/dev/null # builds, if that is necessary
    VARVE_NO_BUILD=1 "$here/../../../varve" controller --port $((first + 10)) --dir "$work/controller" \
        >"$work/controller.log" 2>&1 &
fi
for port in $ports; do start_member "$port"; done
for port in $ports; do await_ping "$port"; done
cluster() { VARVE_NO_BUILD=1 "$here/../../../varve" cluster "$1" --controllers "127.0.0.1:$((first + 10))" "${@:2}"; }
if [ "$kind" = varve ]; then
    # shellcheck disable=SC2086
    cluster create --wait 60 --replicas 1 $addresses
else
    # shellcheck disable=SC2086
    redis-cli --cluster create $addresses --cluster-replicas 1 --cluster-yes >/dev/null
fi
for port in $ports; do await_ok "$port"; done

begun=$SECONDS
"$work/venv/bin/python" "$here/redis_py_cluster.py" "$first" "$stop" &
clients=$!
"$work/go-client" "$first" "$stop" &
clients="$clients $!"
NODE_PATH="$work/npm/node_modules" node "$here/ioredis_cluster.js" "$first" "$stop" &
clients="$clients $!"
sleep 5
say "kill -9 for the primary $first"
kill -9 "$(pid_of "$first")"
sleep 8
say "it starts again"
start_member "$first"
await_ok "$first"
sleep 3
new=$((first + 6))
say "member $new receives its share of the slots"
start_member "$new"
await_ping "$new"
begin=$(date +%s)
if [ "$kind" = varve ]; then
    cluster add --wait 60 "127.0.0.1:$new"
    cluster rebalance | tail -1
else
    redis-cli --cluster add-node "127.0.0.1:$new" "127.0.0.1:$((first + 1))" >/dev/null
    sleep 3
    redis-cli --cluster rebalance "127.0.0.1:$((first + 1))" --cluster-use-empty-masters >/dev/null
fi
say "moved in $(($(date +%s) - begin)) s"
sleep 3
touch "$stop"
# shellcheck disable=SC2086
wait $clients
