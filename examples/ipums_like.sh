#!/bin/sh
# What do the thesis' experiments on its second data set look like? That extract of IPUMS cannot be had, so that a table of
# its shape stands in: 600,000 records of age, birthplace, education and gender with hierarchies of as many levels (200
# schemes), and an occupation. It is generated, the same on every machine, and no census data: numbers are not the thesis'.
# Run from the repository's root, after `make build`: sh examples/ipums_like.sh [FOLDER [RECORDS]]
set -eu
incrowd=${INCROWD:-target/release/incrowd}
folder=${1:-target/ipums_like}
records=${2:-600000}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cp examples/ipums_like/requests.csv "$folder/"
cp examples/adult/hierarchies/education.csv "$folder/"
sed 's|\.\./adult/hierarchies/||' examples/ipums_like/incrowd.toml > "$folder/incrowd.toml"

# Places of birth: 51 states in nine divisions, and 60 countries in nine regions of the world.
awk 'BEGIN {
  for (i = 1; i <= 51; i++) printf "State %d;Division %d;United States;*\n", i, (i - 1) % 9 + 1
  for (i = 1; i <= 60; i++) printf "Country %d;World region %d;Abroad;*\n", i, (i - 1) % 9 + 1
}' > "$folder/birthplace.csv"

# Few places, degrees and occupations are frequent, many are rare; who is older has other degrees, and these other work.
cut -d ';' -f 1 "$folder/education.csv" | awk -v records="$records" '
  function chance() { seed = (seed * 69069 + 1) % 4294967296; return seed / 4294967296 }
  function rank(n) { return int(exp(chance() * log(n + 1))) }
  { degree[NR] = $0 }
  END {
    seed = 2010
    print "age,birthplace,education,gender,occupation"
    for (i = 0; i < records; i++) {
      age = int(90 * (1 - sqrt(1 - chance() * 0.98)))
      place = chance() < 0.88 ? "State " rank(51) : "Country " rank(60)
      d = rank(NR); if (age < 20 && chance() < 0.8) d = NR
      occupation = chance() < 0.3 ? rank(380) : 1 + (d * 23 + rank(40)) % 380
      print age "," place "," degree[d] "," (chance() < 0.51 ? "female" : "male") "," occupation
    }
  }' > "$folder/ipums_like.csv"

run() { printf '\n$ incrowd %s\n\n' "$*"; "$incrowd" "$@"; }
cd "$folder"
case $incrowd in /*) ;; *) incrowd=$OLDPWD/$incrowd ;; esac
echo "Suppression by height, for the values of k and l of the thesis (Tables 3.19 to 3.22):"
run study suppression --sets 4 --k 3,10,50,100,150 --l 3,6,9 --csv
echo
echo "The requests of its Table 4.6, from the whole lattice, from parts of it and on demand:"
run study requests --requests requests.csv --partial 5% --estimator lambda
