#!/bin/sh
# How do I begin with my own table? init guesses a project, you correct it, profile and negotiate use it.
# Run from the repository's root, after `make build`: sh examples/own_table.sh
set -eu
incrowd=${INCROWD:-target/release/incrowd}
run() { printf '\n$ incrowd %s\n\n' "$*"; "$incrowd" "$@"; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A made-up table stands in for yours.
"$incrowd" --quiet demo "$folder/hospital" > "$folder/demo.txt"
cp "$folder/hospital/discharges.csv" "$folder/discharges.csv"

echo "Suggest roles and hierarchies, each with its reason:"
run init "$folder/discharges.csv" -o "$folder/study"

echo
echo "What it wrote about two of the columns:"
grep -A 6 '^\[attributes.postcode\]' "$folder/study/incrowd.toml"
grep -A 6 'attributes.length_of_stay\]' "$folder/study/incrowd.toml"

echo
echo "Correct what is wrong. Here: occupation gets the hierarchy that init could not know."
mkdir "$folder/study/hierarchies"
cp "$folder/hospital/hierarchies/occupation.csv" "$folder/study/hierarchies/"
awk '{ print } /^\[attributes.occupation\]/ { here = 1 }
  here && /^role/ { print "hierarchy = \"hierarchies/occupation.csv\""; here = 0 }' \
  "$folder/study/incrowd.toml" > "$folder/study/corrected.toml"
mv "$folder/study/corrected.toml" "$folder/study/incrowd.toml"
run hierarchy show occupation "$folder/study" --depth 2

echo
echo "Then ask, for instance that occupations stay in their groups:"
run negotiate "$folder/study" --k 5 --max-suppressed 2% --max-level occupation=1
