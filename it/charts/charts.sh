#!/usr/bin/env bash
# Compares the boxes of all texts of each chart in Chromium: no two overlap, and none leaves its chart.
#
#   charts.sh [FOLDER...]     folders with charts as SVG files; the test's charts without a folder
#   charts.sh report.html     the charts of a report
#
# It exits with 0 if no text overlaps; with 1 and a line for each overlap if one does; and with 0 and a message if
# Chromium is missing. The test's charts are drawn anew by Maven from fixed data.
#
# CHROMIUM   the browser; chromium or google-chrome of the machine without it
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
home=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

browser=${CHROMIUM:-$(command -v chromium || command -v google-chrome || true)}
[ -n "$browser" ] || { echo "charts: skipped: no Chromium"; exit 0; }

if [ $# -eq 0 ]; then
    rm -rf "$home/experiments/target/charts-test"
    (cd "$home" && mvn -B -q test -pl experiments -am -Dsurefire.failIfNoSpecifiedTests=false -Dtest=ChartTextTest)
    set -- "$home/experiments/target/charts-test"
fi

# A page with all charts, each in a box of its own, and the comparison below them.
page() { # FOLDER...
    cat "$here/head.html"
    local folder file
    for folder in "$@"; do
        for file in "$folder"/*.svg; do
            [ -e "$file" ] || { echo "charts: no SVG file in $folder" >&2; return 1; }
            printf '<figure data-name="%s">\n' "$(basename "$file" .svg)"
            cat "$file"
            printf '</figure>\n'
        done
    done
    cat "$here/tail.html"
}

if [ -f "$1" ]; then
    cat "$1" "$here/tail.html" >"$work/charts.html"
else
    page "$@" >"$work/charts.html"
fi
"$browser" --headless --no-sandbox --disable-gpu --window-size=1280,2000 --user-data-dir="$work/profile" --dump-dom "file://$work/charts.html" \
    >"$work/dom.html" 2>"$work/browser.err" || { cat "$work/browser.err" >&2; exit 1; }
sed -n '/<pre id="result">/,/<\/pre>/p' "$work/dom.html" | sed 's/<[^>]*>//g; /^$/d' >"$work/result"
cat "$work/result"
tail -n 1 "$work/result" | grep -q ' charts, 0 problems$'
