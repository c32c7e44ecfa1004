#!/usr/bin/env bash
# Tests redis-py's client-side caching with a private server and virtual environment. Exits with 0 if caching works.
# PYTHON names a Python other than python3.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check 'redis>=5.1'

mkfifo "$work/out"
"$here/../../varve" serve --port 0 --maxmemory 64mb >"$work/out" &
server=$!
exec 3<"$work/out"
port=
while IFS= read -r line <&3; do
    case $line in
        *port\ [0-9]*) port=${line##*port } ;;
        *Ready\ to\ accept\ connections*) break ;;
    esac
done
[ -n "$port" ] || { echo "redis-py-caching: the server did not start" >&2; exit 1; }
cat <&3 >/dev/null & # drains the pipe, so that the server's writes do not block
"$work/venv/bin/python" "$here/redis_py_caching.py" "${port%% *}"
