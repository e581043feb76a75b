#!/bin/sh
# How do I publish, and how does anyone check it? Publishes an offer, verifies it, then breaks it and sees it refused.
# Run from the repository's root, after `make build`: sh examples/publish_and_verify.sh
set -eu
incrowd=${INCROWD:-target/release/incrowd}
run() { printf '\n$ incrowd %s\n\n' "$*"; "$incrowd" "$@"; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

echo "Four alike is more than the levels of the project allow, so publish answers no and writes nothing:"
run publish examples/ten_records --k 4 -o "$folder/release.csv" || echo "exit status $?"
echo
echo "Files written so far: $(ls "$folder" | wc -l)"

echo
echo "With --offer height, the lowest scheme that needs no lost record is published:"
run publish examples/ten_records --k 4 --offer height -o "$folder/release.csv"
cat "$folder/release.csv"

echo
echo "Anyone who has the file and its certificate can check them:"
run verify "$folder/release.csv"

echo
echo "Now change one cell, and check again:"
sed -i.bak '2s/27-36/27-35/' "$folder/release.csv"
run verify "$folder/release.csv" || echo "exit status $?"
