#!/bin/sh
# Makes the binding known to the unpacked YCSB that contains this folder: bin/ycsb.sh reads bin/bindings.properties, and
# bin/ycsb has a list of its own. It may run again: an entry that is there stays.
set -eu

fail() {
    printf 'varve: %s\n' "$1" >&2
    exit 2
}

# The folder may be a link inside the YCSB: its path is the one by which it was called. CDPATH would print another one.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -L)
ycsb=$(dirname "$here")
list=$ycsb/bin/bindings.properties
script=$ycsb/bin/ycsb
[ -f "$list" ] || fail "$list: there is no such file; expected this folder inside an unpacked YCSB, beside bin and lib"
[ ! -f "$script" ] || grep -q '^DATABASES = {' "$script" \
    || fail "$script: expected a list that begins with 'DATABASES = {', as in YCSB 0.17.0; nothing was changed"
# Both would be on the class path, and either may be the one that runs.
set -- "$here"/lib/varve-ycsb-[0-9]*.jar
[ $# -eq 1 ] && [ -f "$1" ] \
    || fail "$here/lib: expected exactly one varve-ycsb-VERSION.jar: unpack the binding into an empty folder"

add() { # NAME CLASS
    grep -q "^$1:" "$list" || printf '%s:%s\n' "$1" "$2" >>"$list"
    if [ -f "$script" ] && ! grep -q "\"$1\"" "$script"; then
        awk -v entry="    \"$1\": \"$2\"," '{ print } /^DATABASES = \{/ { print entry }' "$script" >"$script.next"
        # The file's permissions stay.
        cat "$script.next" >"$script"
        rm "$script.next"
    fi
}

# A file that does not end with a newline would get the first entry on its last line.
[ -z "$(tail -c 1 "$list")" ] || printf '\n' >>"$list"
add varve io.varve.ycsb.VarveClient
add varve-aside io.varve.ycsb.CacheAsideClient
printf 'varve: %s knows the bindings varve and varve-aside\n' "$ycsb"
