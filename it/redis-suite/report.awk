#!/usr/bin/awk -f
# Reads the listed tests of a unit, as known.awk prints them, and the output of the suite. Prints the unit's line of the
# table, and appends to the file `problems` what differs from the list.
# -v unit=UNIT -v seconds=N -v problems=FILE LISTED LOG
function problem(text) { print unit ": " text >>problems }

FILENAME == ARGV[1] {
    kind = $1
    kinds[substr($0, length(kind) + 2)] = kind
    next
}

/^\[ok\]: / {
    name = substr($0, 7)
    sub(/ \([0-9]+ ms\)$/, "", name)
    passed++
    passes[name] = 1
    next
}
/^\[err\]: / {
    name = substr($0, 8)
    at = match(name, / in tests\/unit\/[^ ]*\.tcl/)
    name = at == 0 ? "outside of a test: " name : substr(name, 1, at - 1)
    fails[name] = 1
    if (name in kinds && kinds[name] == "differs") {
        differs++
    } else {
        failed++
        problem("failed: " name)
    }
    next
}
/^\[skip\]: / {
    name = substr($0, 9)
    seen[name] = 1
    differs++
    next
}
/^\[ignore\]: / { excluded++; next }
/^\[exception\]: / || /^\[TIMEOUT\]/ { problem($0); failed++; next }
/\(IN PROGRESS\)/ { problem($0); next }
/^ *The End$/ { ended = 1 }

END {
    if (!ended) {
        problem("it did not run to its end")
        failed++
    }
    for (name in kinds) {
        if (kinds[name] == "differs" && !(name in fails)) {
            problem((name in passes ? "listed, but passes: " : "listed, but did not run: ") name)
        } else if (kinds[name] != "differs" && !(name in seen)) {
            problem("listed, but not found: " name)
        }
    }
    printf "%-24s %7d %7d %8d %9d %8d\n", unit, passed, failed, differs, excluded, seconds
}
