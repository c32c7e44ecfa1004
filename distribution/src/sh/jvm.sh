# shellcheck shell=sh
# Starts Varve's JVM. The launcher of a clone (./varve) and the programs of a release (bin/) read this file.
#
# The reading program sets `home`, the folder of the clone or the release; `executable`, its own path; and, before it
# starts a JVM, `java`. It defines class_path, which prints the class path of a module. It may set `runs`, the folder
# for the results of experiments; the default is runs/ in `home`.
runs=

fail() { # STATUS MESSAGE...
    status=$1
    shift
    printf 'varve: %s\n' "$@" >&2
    exit "$status"
}

# ---- run ----------------------------------------------------------------------------------------------------------
# Filters one line of the JVM's standard error: the warning about the incubating vector module, which no option
# silences. The JVM starts with a pipe as standard error; the reader at its other end drops that line. The JVM inherits
# the original standard error as descriptor 8. io.varve.server.system.StandardError restores it before other code runs,
# and the reader ends. If the JVM cannot start, its messages arrive through the pipe.
leave_incubator_line_out() { # sets error, the descriptor of the original; empty if no pipe can be made
    error=
    pipe=${TMPDIR:-/tmp}/varve-stderr-$$$in_training # a training run in the background has the same $$
    mkfifo -m 600 "$pipe" 2>/dev/null || return 0
    (pass_on <"$pipe" >&2 &) # orphaned, so that no process has to wait for it
    exec 8>&2 2>"$pipe"
    rm -f "$pipe"
    error=8
}

pass_on() { # copies the lines of standard input, except the warning
    trap '' INT TERM HUP # it ends when the pipe is closed
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
            'WARNING: Using incubator modules: jdk.incubator.vector') exec cat ;;
        esac
        printf '%s\n' "$line"
    done
}

in_training=   # a suffix for a training run's files; empty otherwise
in_background= # the command that starts a JVM with low priority; empty otherwise

# Replaces the shell with the JVM, so that the JVM receives the signals and its exit status is the shell's.
java_exec() { # MODULE JVM-OPTIONS... MAIN ARGUMENTS...
    module=$1
    shift
    class_path=$(class_path "$module") && [ -n "$class_path" ] || {
        echo "$0: there is no class path of $module in $home" >&2
        exit 1
    }
    # VARVE_JAVA_OPTS is a list of words, like JAVA_OPTS elsewhere.
    set -f # the shell must not expand the stars in them
    # shellcheck disable=SC2086
    set -- ${VARVE_JAVA_OPTS:-} -cp "$class_path" "$@"
    leave_incubator_line_out
    # shellcheck disable=SC2086
    exec $in_background "$java" --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED \
        -XX:+UseCompactObjectHeaders -Dvarve.home="$home" -Dvarve.executable="$executable" ${runs:+"-Dvarve.runs=$runs"} \
        ${error:+-Dvarve.stderr=$error} "$@"
}

# ---- memory -------------------------------------------------------------------------------------------------------
unlimited=9223372036854775807
limits_root=${VARVE_LIMITS_ROOT:-} # the folder with /proc and /sys; only tests set it

# Lowers memory_limit to the number in each file. Ignores missing files and files without a number, such as `max`.
at_most() { # FILE...
    for file in "$@"; do
        [ -r "$file" ] && IFS= read -r number <"$file" || continue
        case $number in
            '' | *[!0-9]* | ????????????????????*) continue ;;
        esac
        [ "$number" -ge "$memory_limit" ] || memory_limit=$number
    done
}

# The minimum of the machine's memory and the limits of this process's cgroup and its ancestors. In a container, the
# cgroup of /proc/self/cgroup may be outside of the mounted hierarchy. Then it is the root of the mount.
find_memory_limit() { # sets memory_limit, bytes; unlimited if the system reports no limit
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

own_group() { # VERSION: prints the path of this process's memory cgroup
    while IFS=: read -r number controllers path; do
        case $1,$number,,$controllers, in
            2,0,,,) echo "$path" ;;
            1,*,memory,*) echo "$path" ;;
        esac
    done <"$limits_root/proc/self/cgroup"
}

# Lowers memory_limit to the limits of a cgroup and of its ancestors.
at_most_in_groups() { # MOUNT GROUP VERSION
    group=$2
    while :; do
        case $3 in
            2) at_most "$1$group/memory.max" "$1$group/memory.high" ;;
            1)
                at_most "$1$group/memory.limit_in_bytes"
                [ ! -r "$1$group/memory.stat" ] || while read -r name number; do # with unmounted ancestors
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

between() { # MIN NUMBER MAX: prints the number, clamped to the bounds
    if [ "$2" -lt "$1" ]; then echo "$1"; elif [ "$2" -gt "$3" ]; then echo "$3"; else echo "$2"; fi
}

# Sizes the JVM. The server's heap does not grow with the number of keys: the JVM takes at most 256 MB beside maxmemory.
# Of these, 96 MB are heap, 64 MB Netty's direct buffers, 48 MB compiled code, and 48 MB class metadata and native
# allocations of the JVM.
#
# If the memory limit is below 1 GiB, the parts shrink with it, and further options save memory:
#   MemLimit                bounds the compiler's memory for one method, which peaks while the server warms up
#   TieredStopAtLevel       below 192 MiB: no optimizing compiler
#
# io.varve.server.config.MemoryPlan reads the sizes from the JVM and computes the maximum of maxmemory.
size_jvm() { # sets heap, direct, code (MB) and small_jvm, the options for small memory
    find_memory_limit
    mb=$((memory_limit / 1048576))
    small_jvm=
    heap=96 direct=64 code=48
    [ "$mb" -lt 1024 ] || return 0
    heap=$(between 32 $((mb / 8)) 96)
    direct=$(between 8 $((mb / 16)) 64)
    small_jvm="-XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=50"
    if [ "$mb" -lt 192 ]; then
        code=12
        small_jvm="$small_jvm -XX:TieredStopAtLevel=1 -XX:CICompilerCount=1"
    else
        code=$(between 24 $((mb / 16)) 48)
        small_jvm="$small_jvm -XX:CICompilerCount=2 -XX:CompileCommand=MemLimit,*.*,8m~stop"
    fi
    export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
}

# Options that need a reason:
#   Xms                      The first heap of 32 MB kept 8 MB resident that nothing used after the start (decision 10).
#   ArchiveRelocationMode    Maps the start cache at its preferred address: otherwise 20 MB of it become private pages.
#   SweeperThreshold         The JIT's output during warm-up must not trigger a full collection, which takes some 20 ms.
#                            With this threshold a collection starts when the code cache is 90 % full.
#   TrimNativeHeapInterval   Without it, the C library keeps 10 MB or more that the JIT's threads freed (decision 14).
#   MaxInlineLevel           The path from a connection's batch to a byte of an item has more than the 15 nested calls
#                            that C2 inlines by default (decision 30).
#   UseCondCardMark          Storing a reference does not write a card that is marked already: its cache line belongs to
#                            objects of all event loops (decision 41).
#   lowMemory                Netty's pools work with a larger heap as they do with the heap of 96 MB: buffers of more
#                            than 16 KB are not pooled, and threads have no pools of their own. Otherwise the pools keep
#                            40 MB after one large reply, which is all that they may hold.
#   CompileCommand           Compiles each command's handler separately. Otherwise the first inlined handler uses up
#                            C2's inlining budget (decision 34).
serve_from() { # MODULE JVM-OPTIONS... MAIN ARGUMENTS...
    size_jvm
    [ "$memory_limit" = $unlimited ] || small_jvm="$small_jvm -Dvarve.memory.limit=$memory_limit"
    VARVE_JAVA_OPTS="-XX:CompileCommand=quiet -XX:CompileCommand=dontinline,*Commands.*(Lio/varve/server/command/CommandContext;)V \
-XX:CompileCommand=dontinline,*Command.*(Lio/varve/server/command/CommandContext;)V \
-Xms8m -Xmx${heap}m -XX:MaxDirectMemorySize=${direct}m -XX:MaxMetaspaceSize=96m -XX:ReservedCodeCacheSize=${code}m $small_jvm \
-XX:SweeperThreshold=100 -XX:MaxInlineLevel=30 -XX:TrimNativeHeapInterval=2000 -XX:+UseSerialGC -XX:+UseCondCardMark -XX:+ExitOnOutOfMemoryError -XX:-UsePerfData \
-XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 -Dio.netty.leakDetection.level=disabled -Dio.netty.allocator.lowMemory=true \
-Xlog:disable -Xlog:all=error:stderr ${VARVE_JAVA_OPTS:-}"
    java_exec "$@"
}

# ---- start cache --------------------------------------------------------------------------------------------------
# The AOT cache holds the classes that a training run loads and links, and the profiles of its methods (JEP 483, 514
# and 515). The JVM silently starts without the cache if another JVM or other class files made it, or if the options do
# not match, such as another collector.
serve() { # MODULE CACHE ARGUMENTS...; the file CACHE may be missing
    serve_module=$1 cache=$2
    shift 2
    if [ -f "$cache" ] && takes_start_cache; then
        serve_from "$serve_module" "-XX:AOTCache=$cache" '-Xlog:aot*=off,cds*=off:stderr' io.varve.server.Main "$@"
    fi
    serve_from "$serve_module" io.varve.server.Main "$@"
}

# Whether no option of the user names a cache: with two caches the JVM does not start.
takes_start_cache() {
    case "${VARVE_JAVA_OPTS:-} ${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-}" in
        *AOT* | *Share* | *share*) return 1 ;;
    esac
}

max_training_tenths=3000 # five minutes: with low priority on a busy machine a training run takes long

# Runs a server under a workload over all families of commands, waits until the JVM has written the cache, and moves the
# cache into place. The server's class path must consist of jars: the JVM caches classes from jars only.
#
# Returns the status of the training run. A run whose workload failed still leaves a cache. A run that was killed, also
# because it took too long or because the file MARK was removed, leaves none.
train_start_cache() { # MODULE CACHE LOG [MARK]
    next=$2.next
    keys=$2.keys
    rm -rf "$next" "$next".* "$keys"
    mkdir "$keys" || return 1
    # Without keys, the run has no encrypted connections.
    "${java%/*}/keytool" -genkeypair -keystore "$keys/keys.p12" -storetype PKCS12 -storepass training -alias training \
        -keyalg EC -groupname secp256r1 -dname CN=training -validity 2 >"$3" 2>&1 9>&- || true
    # The JVM assembles the cache in memory of the size of the compressed class space, a part of the maximum metaspace.
    # The server must not inherit the build's lock.
    (in_training=-training VARVE_JAVA_OPTS='' && serve_from "$1" -XX:MaxMetaspaceSize=512m "-XX:AOTCacheOutput=$next" \
        io.varve.server.TrainingRun "$keys") \
        >>"$3" 2>&1 9>&- &
    training=$!
    [ -n "$in_background" ] || trap 'kill -9 "$training" 2>/dev/null; rm -rf "$keys"; exit 130' INT TERM HUP
    tenths=0
    while kill -0 "$training" 2>/dev/null; do
        tenths=$((tenths + 1))
        if [ "$tenths" -ge "$max_training_tenths" ] || { [ -n "${4:-}" ] && [ ! -f "$4" ]; }; then
            kill -9 "$training" 2>/dev/null || true
        fi
        sleep 0.1 2>/dev/null || {
            sleep 1
            tenths=$((tenths + 9))
        }
    done
    [ -n "$in_background" ] || trap - INT TERM HUP
    trained=0
    wait "$training" || trained=$?
    rm -rf "$keys"
    if [ "$trained" -lt 128 ] && [ -f "$next" ]; then
        mv "$next" "$2"
    else
        [ "$trained" -ne 0 ] || trained=1 # the JVM wrote no cache
    fi
    rm -rf "$next" "$next".*
    return "$trained"
}
