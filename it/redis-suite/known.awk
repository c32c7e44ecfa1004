#!/usr/bin/awk -f
# Prints the tests of a unit that known-differences.txt lists: -v unit=UNIT -v kinds='differs skip'
# A line has the kind, a space, and the name of the test.
/^ +(differs|skip|newer) [^:]+: / && index(" " kinds " ", " " $1 " ") {
    text = $0
    sub(/^ +[a-z]+ /, "", text)
    colon = index(text, ": ")
    if (substr(text, 1, colon - 1) == unit) {
        print $1, substr(text, colon + 2)
    }
}
