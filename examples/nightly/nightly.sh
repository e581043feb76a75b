#!/bin/sh
# Publishes one delivery of the data with a project that was negotiated before: sh nightly.sh PROJECT DELIVERY RELEASES
#
# Ends as incrowd does: 0 published, 1 the request cannot be met, 2 an error or the project's guard. A release that is there
# is never replaced.
set -eu

if [ $# -ne 3 ]; then
    echo "usage: sh nightly.sh PROJECT DELIVERY RELEASES" >&2
    exit 2
fi
project=$1
delivery=$2
releases=$3
incrowd=${INCROWD:-incrowd}

mkdir -p "$releases"
release="$releases/$(basename "${delivery%.*}").release.csv"

status=0
"$incrowd" publish "$project" --data "$delivery" ${LEVELS:+--levels "$LEVELS"} -o "$release" || status=$?
if [ "$status" -ne 0 ]; then
    echo "nothing was published of $delivery (status $status)" >&2
    exit "$status"
fi
# Once more from the file alone, as whoever receives it would.
exec "$incrowd" verify "$release"
