#!/bin/sh
# Says that tests were left out, and why: sh checks/skipped.sh TESTS WHAT THEY NEED
#
# With NOTHING_SKIPPED set, as continuous integration has it, that is a failure.
echo
echo "SKIPPED: $1. Needed, and not to be had here: $2."
[ -z "${NOTHING_SKIPPED:-}" ]
