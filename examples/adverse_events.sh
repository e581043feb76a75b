#!/bin/sh
# Are five records five people? Adverse events of a made-up trial: many records per subject, of drifting ages.
# Run from the repository's root, after `make build`: sh examples/adverse_events.sh [FOLDER, where table and releases stay]
set -eu
incrowd=${INCROWD:-target/release/incrowd}
run() { printf '\n$ incrowd %s\n\n' "$*"; "$incrowd" "$@"; }
if [ $# -gt 0 ]; then
  folder=$1
  mkdir -p "$folder"
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi

# The same bytes on every machine: the random numbers are those of Park and Miller (1988), and small enough for any awk.
awk '
function below(n) { state = (state * 16807) % 2147483647; return state % n }
BEGIN {
  state = 2026
  n_countries = split("DK NO SE", countries, " ")
  n_events = split("Headache Nausea Fatigue Dizziness Rash Cough Insomnia Back_pain Anxiety Fever", events, " ")
  split("mild mild mild moderate moderate severe", severities, " ")
  print "subject,age,sex,site,event,severity"
  for (subject = 1; subject <= 225; subject++) {
    age = 50 + below(20)
    age += below(20)
    sex = below(2) ? "female" : "male"
    # One draw per line: awks differ in the order in which they evaluate.
    site = countries[1 + below(n_countries)]
    site = site (1 + below(4))
    # Most have a few events, some have many; half of all subjects have a birthday on the way.
    n = 1 + below(6)
    if (below(4) == 0) n += below(20)
    birthday = below(2 * n)
    for (i = 0; i < n; i++) {
      event = events[1 + below(n_events)]
      sub("_", " ", event)
      print "S" (1000 + subject) "," (age + (i > birthday)) "," sex "," site "," event "," severities[1 + below(6)]
    }
  }
}' > "$folder/events.csv"
# Without the column that says whose record it is, records are all that can be counted.
mkdir -p "$folder/records"
cut -d , -f 2- "$folder/events.csv" > "$folder/records/events.csv"
awk '/^# Whose record/ { skip = 3 } skip-- > 0 { next } { print }' examples/adverse_events/incrowd.toml \
  > "$folder/records/incrowd.toml"
cp examples/adverse_events/incrowd.toml "$folder/incrowd.toml"

# Whom groups of five records, or of five people, are made of, counted without incrowd: ages in these steps, and so many
# characters of the site.
alone() {
  awk -F , -v unit="$1" -v step="$2" -v n_characters="$3" '
  NR > 1 {
    group = int($2 / step) "," $3 "," substr($4, 1, n_characters)
    n_records[group]++
    if (!((group, $1) in seen)) { seen[group, $1]; n_people[group]++; one_of[group] = $1 }
  }
  END {
    for (group in n_records) {
      if ((unit == "records" ? n_records[group] : n_people[group]) < 5) continue
      n_published += n_records[group]
      if (n_people[group] == 1) alone[one_of[group]]
    }
    for (subject in alone) n_alone++
    print n_published + 0 " records are published; " n_alone + 0 " subjects are alone in a group of their own records"
  }' "$folder/events.csv"
}

n_subjects=$(tail -n +2 "$folder/events.csv" | cut -d , -f 1 | sort -u | wc -l | tr -d ' ')
echo "$(($(wc -l < "$folder/events.csv") - 1)) records of $n_subjects subjects:"
head -n 4 "$folder/events.csv"

echo
echo "Five records alike, ages in steps of five, as if nobody had several:"
run publish "$folder/records" --k 5 --levels age=1 -o "$folder/records/release.csv" --force
run verify "$folder/records/release.csv"
echo
echo "The promise about records is kept. And the people?"
alone records 5 3

echo
echo "Five people alike: the project says whose record it is. At the same levels, little would be left:"
run publish "$folder" --levels age=1 -o "$folder/release.csv" --force || echo "exit status $?"
echo
echo "What it takes, where at most a tenth of the records may be lost:"
run negotiate "$folder"
run publish "$folder" -o "$folder/release.csv" --force
alone people 10 2

echo
echo "Nobody sees people in a release, so a plain check cannot judge them (exit status 2):"
run verify "$folder/release.csv" || echo "exit status $?"

echo
echo "Whoever has the table can:"
run verify "$folder/release.csv" --project "$folder"
