#!/bin/sh
# What can be negotiated? Three requests on ten records, small enough to check each answer by hand.
# Run from the repository's root, after `make build`: sh examples/ten_records.sh
set -eu
incrowd=${INCROWD:-target/release/incrowd}
run() { printf '\n$ incrowd %s\n\n' "$*"; "$incrowd" "$@"; }

echo "The table, and what its project file says about it:"
cat examples/ten_records/philosophers.csv
run count examples/ten_records
run hierarchy show work_class examples/ten_records

echo
echo "1. Three alike, nobody lost, within the levels of the project file: yes (Figure 2.2 of the thesis)."
run negotiate examples/ten_records

echo
echo "2. Four alike: not within these levels. Three offers, and exit status 1 (Figures 2.3 and 2.4)."
run negotiate examples/ten_records --k 4 || echo "exit status $?"

echo
echo "3. Three alike, with three different hours per week among them: yes, the groups of 1. have that already."
run negotiate examples/ten_records --k 3 --l 3
