#!/bin/sh
# Is this file safe, whoever made it? verify needs no project and no certificate, only names and numbers.
# Run from the repository's root, after `make build`: sh examples/verify_any_file.sh
set -eu
incrowd=${INCROWD:-target/release/incrowd}
run() { printf '\n$ incrowd %s\n\n' "$*"; "$incrowd" "$@"; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# As another program might write it: semicolons, and suppressed records left in the file as stars.
cat > "$folder/theirs.csv" <<'CSV'
zip;age;disease
130**;<30;heart disease
130**;<30;heart disease
130**;<30;viral infection
1485*;>=40;cancer
1485*;>=40;heart disease
1485*;>=40;viral infection
130**;3*;cancer
130**;3*;cancer
130**;3*;cancer
*;*;flu
CSV
cat "$folder/theirs.csv"

echo
echo "As it stands, the record of stars is a group of one:"
run verify "$folder/theirs.csv" --quasi-identifiers zip,age --k 3 || echo "exit status $?"

echo
echo "If such records count as suppressed, every group has three:"
run verify "$folder/theirs.csv" --quasi-identifiers zip,age --k 3 --suppressed-as absent

echo
echo "But one group of three shares a single disease: k-anonymity alone does not hide it, l-diversity asks for more:"
run verify "$folder/theirs.csv" --quasi-identifiers zip,age --sensitive disease --k 3 --l 2 --suppressed-as absent \
  || echo "exit status $?"
