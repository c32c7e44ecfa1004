# shellcheck shell=sh
# How Varve's JVM is started: shared by the launcher of a clone (./varve) and by the programs of a release (bin/).
#
# The program that reads this file sets `home`, the folder that it belongs to; `executable`, its own path; and `java`,
# before a JVM starts. It defines class_path, which prints the class path of a module. It may set `runs`, the folder for
# the results of experiments; the default is runs/ in `home`.
runs=

fail() { # STATUS MESSAGE...
    status=$1
    shift
    printf 'varve: %s\n' "$@" >&2
    exit "$status"
}

# ---- run ----------------------------------------------------------------------------------------------------------
# The JVM warns on standard error that the module of vectors is an incubator's, and no option silences it. So it starts with a pipe
# there, whose other end leaves that line out, and gets the real one as descriptor 8. io.varve.server.system.StandardError puts that
# back before anything else runs, and the pipe ends. What the JVM says where it cannot start comes through the pipe.
leave_incubator_line_out() { # sets error, the real one's descriptor; empty where there can be no pipe
    error=
    pipe=${TMPDIR:-/tmp}/varve-stderr-$$
    mkfifo -m 600 "$pipe" 2>/dev/null || return 0
    (pass_on <"$pipe" >&2 &) # a child of nobody's who would have to wait for it
    exec 8>&2 2>"$pipe"
    rm -f "$pipe"
    error=8
}

pass_on() {
    trap '' INT TERM HUP # ends with the pipe
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
            'WARNING: Using incubator modules: jdk.incubator.vector') exec cat ;;
        esac
        printf '%s\n' "$line"
    done
}

java_exec() { # MODULE JVM-OPTIONS... MAIN ARGUMENTS...; `exec`, so that signals reach the JVM and its status is ours
    module=$1
    shift
    class_path=$(class_path "$module") && [ -n "$class_path" ] || {
        echo "$0: there is no class path of $module in $home" >&2
        exit 1
    }
    # VARVE_JAVA_OPTS is a list of words, as JAVA_OPTS is everywhere.
    set -f # their stars are the JVM's to read
    # shellcheck disable=SC2086
    set -- ${VARVE_JAVA_OPTS:-} -cp "$class_path" "$@"
    leave_incubator_line_out
    exec "$java" --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED \
        -XX:+UseCompactObjectHeaders -Dvarve.home="$home" -Dvarve.executable="$executable" ${runs:+"-Dvarve.runs=$runs"} \
        ${error:+-Dvarve.stderr=$error} "$@"
}

# ---- memory -------------------------------------------------------------------------------------------------------
unlimited=9223372036854775807
limits_root=${VARVE_LIMITS_ROOT:-} # what /proc and /sys are looked for in: a test's folder

at_most() { # FILE...: lowers memory_limit to the number in each that has one; `max` and files that are not there are none
    for file in "$@"; do
        [ -r "$file" ] && IFS= read -r number <"$file" || continue
        case $number in
            '' | *[!0-9]* | ????????????????????*) continue ;;
        esac
        [ "$number" -ge "$memory_limit" ] || memory_limit=$number
    done
}

# The memory of the machine, and what the cgroups of this process allow: the least of its own and all above it. What a container's
# /proc/self/cgroup names may lie outside of what is mounted: then the mount's root is its own.
find_memory_limit() { # sets memory_limit, in bytes; unlimited where the system does not say
    memory_limit=$unlimited
    if [ -r "$limits_root/proc/meminfo" ]; then
        while read -r name number _; do
            [ "$name" != MemTotal: ] || memory_limit=$((number * 1024))
        done <"$limits_root/proc/meminfo"
    fi
    [ -r "$limits_root/proc/self/cgroup" ] && [ -r "$limits_root/proc/self/mountinfo" ] || return 0
    while read -r _ _ _ root mount rest; do
        case $rest in
            *" - cgroup2 "*) version=2 ;;
            *" - cgroup "*[\ ,]memory | *" - cgroup "*[\ ,]memory,*) version=1 ;;
            *) continue ;;
        esac
        group=$(own_group $version)
        root=${root%/}
        case $group in
            "$root"/?*) group=${group#"$root"} ;;
            *) group= ;;
        esac
        at_most_in_groups "$limits_root$mount" "$group" $version
    done <"$limits_root/proc/self/mountinfo"
}

own_group() { # VERSION: prints the path of this process's group among those with a limit of memory
    while IFS=: read -r number controllers path; do
        case $1,$number,,$controllers, in
            2,0,,,) echo "$path" ;;
            1,*,memory,*) echo "$path" ;;
        esac
    done <"$limits_root/proc/self/cgroup"
}

at_most_in_groups() { # MOUNT GROUP VERSION
    group=$2
    while :; do
        case $3 in
            2) at_most "$1$group/memory.max" "$1$group/memory.high" ;;
            1)
                at_most "$1$group/memory.limit_in_bytes"
                [ ! -r "$1$group/memory.stat" ] || while read -r name number; do # of groups above what is mounted, too
                    if [ "$name" = hierarchical_memory_limit ] && [ "$number" -lt "$memory_limit" ]; then
                        memory_limit=$number
                    fi
                done <"$1$group/memory.stat"
                ;;
        esac
        case $group in
            */*) group=${group%/*} ;;
            *) return 0 ;;
        esac
    done
}

between() { # LEAST NUMBER MOST: prints the number, or the bound that it is beyond
    if [ "$2" -lt "$1" ]; then echo "$1"; elif [ "$2" -gt "$3" ]; then echo "$3"; else echo "$2"; fi
}

# The server's heap does not grow with its keys. What the JVM takes beside maxmemory stays under 256 MB:
# heap 96, Netty's direct buffers 64, compiled code 48, and 48 for class metadata and what the JVM allocates itself.
# Where there is less than 1 GiB the parts follow it, and the JVM does with less: the compiler's memory for a method is bounded
# (it peaks while the server warms up), the start cache is mapped where it asks to be, so that its pages need no copies, and below
# 192 MiB there is no optimizing compiler. io.varve.server.config.MemoryPlan adds up what came of it and tells what is left for maxmemory.
size_jvm() { # sets heap, first_heap, direct, code (MB) and small_jvm, its options
    find_memory_limit
    mb=$((memory_limit / 1048576))
    small_jvm=
    heap=96 first_heap=32 direct=64 code=48
    [ "$mb" -lt 1024 ] || return 0
    heap=$(between 32 $((mb / 8)) 96)
    first_heap=$((heap / 4))
    direct=$(between 8 $((mb / 16)) 64)
    small_jvm="-XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=50 -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0"
    if [ "$mb" -lt 192 ]; then
        code=12
        small_jvm="$small_jvm -XX:TieredStopAtLevel=1 -XX:CICompilerCount=1"
    else
        code=$(between 24 $((mb / 16)) 48)
        small_jvm="$small_jvm -XX:CICompilerCount=2 -XX:CompileCommand=MemLimit,*.*,8m~stop"
    fi
    export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
}

# SweeperThreshold: what the JIT compiles while it
# warms up is to cause no full collection (some 20 ms); one comes when nine tenths of the code's room are used.
# TrimNativeHeapInterval: what the JIT's threads gave back stays with the C library otherwise, 10 MB and more (decision 14).
# MaxInlineLevel: from a connection's batch to a byte of an item it is more than the 15 calls that C2 inlines (decision 30).
# CompileCommand: each command's handler is compiled for itself, or what C2 may inline in all is used up by the first of them (decision 34).
serve_from() { # MODULE JVM-OPTIONS... MAIN ARGUMENTS...
    size_jvm
    [ "$memory_limit" = $unlimited ] || small_jvm="$small_jvm -Dvarve.memory.limit=$memory_limit"
    VARVE_JAVA_OPTS="-XX:CompileCommand=quiet -XX:CompileCommand=dontinline,*Commands.*(Lio/varve/server/command/CommandContext;)V \
-Xms${first_heap}m -Xmx${heap}m -XX:MaxDirectMemorySize=${direct}m -XX:MaxMetaspaceSize=48m -XX:ReservedCodeCacheSize=${code}m $small_jvm \
-XX:SweeperThreshold=100 -XX:MaxInlineLevel=30 -XX:TrimNativeHeapInterval=2000 -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError -XX:-UsePerfData -Dio.netty.leakDetection.level=disabled \
-Xlog:disable -Xlog:all=error:stderr ${VARVE_JAVA_OPTS:-}"
    java_exec "$@"
}
# ---- start cache --------------------------------------------------------------------------------------------------
# A cache of the classes that a trial start loads and links (JEP 483 and 514). The JVM refuses one of another JVM, of other
# class files or under options that it does not fit (another collector). It says nothing and starts without.
serve() { # MODULE CACHE ARGUMENTS...; CACHE may be missing
    serve_module=$1 cache=$2
    shift 2
    if [ -f "$cache" ] && takes_start_cache; then
        serve_from "$serve_module" "-XX:AOTCache=$cache" '-Xlog:aot*=off,cds*=off:stderr' io.varve.server.Main "$@"
    fi
    serve_from "$serve_module" io.varve.server.Main "$@"
}

takes_start_cache() { # The JVM takes options from all three. If it is given two caches, it does not start.
    case "${VARVE_JAVA_OPTS:-} ${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-}" in
        *AOT* | *Share* | *share*) return 1 ;;
    esac
}

# Starts the server, ends it when it listens, and waits until the JVM has written the cache. The server's class path must
# consist of jars, because the JVM caches classes of nothing else.
train_start_cache() { # MODULE CACHE LOG
    (VARVE_JAVA_OPTS='' serve_from "$1" "-XX:AOTCacheOutput=$2" io.varve.server.Main \
        --port 0 --bind 127.0.0.1 --maxmemory 64mb) >"$3" 2>&1 9>&- & # the lock of a build is not the server's to hold
    trial=$!
    trap 'kill -9 "$trial" 2>/dev/null; exit 130' INT TERM HUP
    asked=
    tries=0
    while kill -0 "$trial" 2>/dev/null; do
        if [ -z "$asked" ] && grep -q 'Ready to accept connections' "$3"; then
            asked=yes
            kill "$trial"
        fi
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || kill -9 "$trial" # half a minute
        sleep 0.1 2>/dev/null || sleep 1
    done
    trap - INT TERM HUP
    wait "$trial"
}
