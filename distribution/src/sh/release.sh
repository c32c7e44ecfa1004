# shellcheck shell=sh
# The common part of bin/varve-server and bin/varve of a release. The program that reads this file sets `home` and
# `executable`.
#
# VARVE_JAVA_OPTS is appended to the server's options of conf/jvm.options.
. "$home/lib/jvm.sh"

java=$home/runtime/bin/java

class_path() { # MODULE: prints the jars that lib/MODULE.classpath lists relative to the release's folder
    [ -r "$home/lib/$1.classpath" ] || return 1
    IFS= read -r jars <"$home/lib/$1.classpath"
    path=
    IFS=:
    for jar in $jars; do
        path=$path${path:+:}$home/$jar
    done
    unset IFS
    printf '%s\n' "$path"
}

read_jvm_options() { # prepends the lines of conf/jvm.options to VARVE_JAVA_OPTS
    [ -r "$home/conf/jvm.options" ] || return 0
    options=
    while read -r line || [ -n "$line" ]; do # `read` strips leading and trailing blanks
        case $line in
            '' | '#'*) ;;
            *[[:blank:]]*)
                echo "$home/conf/jvm.options: $line: an option must not contain a blank" >&2
                exit 2
                ;;
            *) options="$options $line" ;;
        esac
    done <"$home/conf/jvm.options"
    VARVE_JAVA_OPTS="$options ${VARVE_JAVA_OPTS:-}"
}

start_server() { # ARGUMENTS...
    read_jvm_options
    serve server "$home/lib/server.aot" "$@"
}
