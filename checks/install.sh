#!/bin/sh
# Installs packages of the system where that can be done: sh checks/install.sh PACKAGE…
#
# Ends with 1 where it cannot: no apt-get, or nobody may use it. Whoever asked says then what is left out.
set -eu
echo "installing with the system's packages: $*"
if ! command -v apt-get > /dev/null; then
    echo "there is no apt-get here: install them as your system does (macOS: brew install …)"
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "only root may install them: sudo apt-get install $*"
    exit 1
fi
{ apt-get update -qq && apt-get install -y --no-install-recommends "$@"; } > /dev/null || {
    echo "apt-get could not install them"
    exit 1
}
