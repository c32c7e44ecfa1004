# shellcheck shell=sh
# The verbs other than `serve`. The launcher of a clone (./varve) and bin/varve of a release read this file after
# jvm.sh. The reading program sets `program`, the name that usage() prints for it, and defines source_version.

usage() {
    cat <<END
Usage: $program VERB [ARGUMENTS]

  serve [FILE] [--NAME VALUE]...     start the server (FILE is in redis.conf syntax; every setting is also an option:
                                     serve --help lists them)
  proxy [FILE] [--NAME VALUE]...     start the proxy of a cluster or of several servers (proxy --help lists its settings)
  check-rdb FILE                     read a snapshot or another RDB file completely, without a server: what it has, and
                                     whether it is damaged
  check-log DIR [--repair]           read an append-only log in the same way; --repair writes a copy to DIR.repaired
                                     that ends before the damage
  controller [FILE] --port N --dir DIR [--peers ID@HOST:PORT,...]
                                     start a controller: one, three or five of them run a cluster (controller --help)
  cluster create|add|remove|status   operate a cluster through its controllers (cluster --help)
  run [EXPERIMENT] [OPTIONS]         run an experiment; without a name the default one, about a minute (run --help)
  experiments                        list the experiments, what each asks and how long each takes
  reproduce [NAME...] [OPTIONS]      regenerate the tables and figures of the papers (reproduce --list, --help)
  simulate [TRACE] [OPTIONS]         replacement policies on a trace, or on YCSB's requests (simulate --help)
  mrc [TRACE] [OPTIONS]              the miss-ratio curve of a trace, or of YCSB's requests (mrc --help)
  ycsb load|run [YCSB OPTIONS]       YCSB's client with Varve's binding on its class path
  jmh [REGEX] [JMH OPTIONS]          the microbenchmarks (jmh -h lists the options)
  jmh --compare A B                  two of their result files (made with -rf json -rff FILE) side by side
  jmh --probes [KEYS]                how many lines a lookup in the index reads, after so many random keys (10000000)
  help                               this text
  version                            the version, and the JDK in use

VARVE_JAVA_OPTS is appended to the JVM's options.
END
}

# ---- verbs --------------------------------------------------------------------------------------------------------
experiments() {
    VARVE_JAVA_OPTS="-Dvarve.source=$(source_version) -Xmx1g -XX:+UseSerialGC -Djava.awt.headless=true \
-Dlogback.configurationFile=io/varve/experiments/logback-quiet.xml -XX:-UsePerfData -Xlog:disable -Xlog:all=error:stderr ${VARVE_JAVA_OPTS:-}"
    java_exec experiments io.varve.experiments.Experiments "$@"
}

# Checks the arguments before YCSB starts: YCSB's own client exits with status 0 if they are wrong.
check_ycsb() { # load|run YCSB-OPTIONS...
    case ${1:-} in
        load | run) ycsb_phase=$1 ;;
        *) fail 2 "ycsb '${1:-}': expected 'ycsb load ...' and 'ycsb run ...'" ;;
    esac
    shift
    workload=
    binding="-db io.varve.ycsb.VarveClient"
    while [ $# -gt 0 ]; do
        option=$1
        shift
        case $option in
            -load | -t | -s) continue ;;
            -threads | -target | -db | -l | -P | -p) [ $# -gt 0 ] || fail 2 "ycsb $option: needs a value" ;;
            *) fail 2 "ycsb $option: there is no such option; expected -P FILE, -p NAME=VALUE, -threads N, -target N, -db CLASS, -l LABEL, -s" ;;
        esac
        case $option in
            -P) check_ycsb_file "$1" ;;
            -db) binding= ;;
            -p)
                case $1 in
                    workload=?*) workload=given ;;
                    ?*=*) ;;
                    *) fail 2 "ycsb -p $1: expected NAME=VALUE" ;;
                esac
                ;;
        esac
        shift
    done
    [ -n "$workload" ] || fail 2 "ycsb $ycsb_phase: no workload; expected -P FILE with one in it (such as workloads/a-quick.properties) or -p workload=CLASS"
}

# Sets workload if the file names one, and clears binding if the file names a binding.
check_ycsb_file() { # FILE
    [ -e "$1" ] || fail 2 "ycsb -P $1: there is no such file"
    [ ! -d "$1" ] || fail 2 "ycsb -P $1: it is a folder"
    [ -r "$1" ] || fail 2 "ycsb -P $1: permission denied"
    # A pipe can be read only once, so only YCSB reads it.
    if [ ! -f "$1" ] || grep -q '^[[:space:]]*workload[[:space:]]*[=:[:space:]][[:space:]]*[^=:[:space:]]' "$1"; then
        workload=given
    fi
    # An option on the command line would override the file's binding.
    if [ -f "$1" ] && grep -q '^[[:space:]]*db[[:space:]]*[=:[:space:]][[:space:]]*[^=:[:space:]]' "$1"; then
        binding=
    fi
}

ycsb() { # after check_ycsb
    case $1 in
        load) phase=-load ;;
        run) phase=-t ;;
    esac
    shift
    VARVE_JAVA_OPTS="-Xmx1g -Dlogback.configurationFile=io/varve/experiments/logback-quiet.xml -Xlog:disable \
-Xlog:all=error:stderr ${VARVE_JAVA_OPTS:-}"
    # shellcheck disable=SC2086
    java_exec ycsb io.varve.experiments.YcsbClient $phase $binding "$@"
}

jmh() {
    class_path jmh >/dev/null 2>&1 || fail 1 "the microbenchmarks are not built"
    VARVE_JAVA_OPTS="-Xlog:disable -Xlog:all=error:stderr ${VARVE_JAVA_OPTS:-}"
    java_exec jmh io.varve.jmh.Benchmarks "$@"
}

# The proxy keeps no data: its memory is the buffers of clients and members.
proxy() { # ARGUMENTS...
    VARVE_JAVA_OPTS="-Xms16m -Xmx256m -XX:MaxDirectMemorySize=512m -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError \
-XX:-UsePerfData --sun-misc-unsafe-memory-access=allow -Dio.netty.leakDetection.level=disabled -Xlog:disable \
-Xlog:all=error:stderr ${VARVE_JAVA_OPTS:-}"
    java_exec proxy io.varve.proxy.Main "$@"
}

# Checks files of data. A small heap suffices: the files are mapped.
check_files() { # check-rdb|check-log ARGUMENTS...
    VARVE_JAVA_OPTS="-Xmx128m -XX:+UseSerialGC -XX:-UsePerfData -Xlog:disable \
-Xlog:all=error:stderr ${VARVE_JAVA_OPTS:-}"
    java_exec server io.varve.server.check.FileCheck "$@"
}

# Runs a controller, or a command that speaks to the controllers. Both have a small heap: the state is some kilobytes.
control_plane() { # controller|cluster ARGUMENTS...
    case $1 in
        controller) main=io.varve.cluster.cli.ControllerMain ;;
        cluster) main=io.varve.cluster.cli.ClusterMain ;;
    esac
    shift
    VARVE_JAVA_OPTS="-Xmx128m -XX:+UseSerialGC -XX:-UsePerfData -XX:+ExitOnOutOfMemoryError \
--sun-misc-unsafe-memory-access=allow -Dlogback.configurationFile=io/varve/cluster/logback-controller.xml -Xlog:disable \
-Xlog:all=error:stderr ${VARVE_JAVA_OPTS:-}"
    java_exec experiments "$main" "$@"
}

known_verbs="serve, proxy, check-rdb, check-log, run, experiments, reproduce, simulate, mrc, ycsb, jmh, controller, cluster, help, version"

# Runs a verb other than serve and version.
run_verb() { # VERB ARGUMENTS...
    case $1 in
        proxy)
            shift
            proxy "$@"
            ;;
        check-rdb | check-log) check_files "$@" ;;
        controller | cluster) control_plane "$@" ;;
        run | experiments | reproduce | simulate | mrc) experiments "$@" ;;
        ycsb | jmh) "$@" ;;
    esac
}
