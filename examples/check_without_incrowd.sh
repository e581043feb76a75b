#!/bin/sh
# Do I have to trust incrowd? No: the certificate's main claims can be checked with tools that every system has.
# Run from the repository's root, after `make build`: sh examples/check_without_incrowd.sh
set -eu
incrowd=${INCROWD:-target/release/incrowd}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$incrowd" publish examples/ten_records --k 3 --l 3 -o "$folder/release.csv"
certificate=$folder/release.csv.certificate.json

echo
echo "What the certificate says:"
grep -A 9 '"criteria"' "$certificate"
grep -E '"(n_records_[a-z]+|n_groups|smallest_group|fewest_distinct|order)"' "$certificate"

echo
echo "Is it about this file? Its SHA-256, as claimed and as found:"
tail -n 4 "$certificate" | grep sha256
if command -v sha256sum > /dev/null; then sha256sum "$folder/release.csv"; else shasum -a 256 "$folder/release.csv"; fi

# The quasi-identifiers are the first three columns here, the sensitive attribute is the fourth.
echo
echo "The groups and their sizes; the smallest is the k that was reached:"
tail -n +2 "$folder/release.csv" | cut -d, -f1-3 | sort | uniq -c | sort -n

echo
echo "Are the records in the order of what they say, so that nothing is left of the order of the input?"
tail -n +2 "$folder/release.csv" | LC_ALL=C sort -c -t, -k1,1 -k2,2 -k3,3 -k4,4 && echo "yes"

echo
echo "The different sensitive values of each group; the fewest are the l that was reached:"
tail -n +2 "$folder/release.csv" | sort -u | cut -d, -f1-3 | uniq -c | sort -n
