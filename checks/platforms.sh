#!/bin/sh
# Does it build elsewhere, as far as the compiler can tell? Windows and macOS are checked from Linux; nothing is linked.
#
#   rustup target add x86_64-pc-windows-gnu aarch64-apple-darwin
#   sh checks/platforms.sh
#
# zstd is C: a stand-in for its compiler makes empty files, enough for a check. Where there is a cross compiler for
# Windows (apt-get install gcc-mingw-w64-x86-64), that one makes it.
set -eu
cd "$(dirname "$0")/.."

check() {
    if command -v rustup > /dev/null && ! rustup target list --installed | grep -qx "$1"; then
        echo "$1: not checked, the target is not installed; rustup target add $1" >&2
        exit 1
    fi
    echo "$1"
    CARGO_TARGET_DIR="target/platforms" cargo check --target "$1" -p incrowd -p incrowd-workbench
}

tools="$PWD/target/platforms/stand-in"
mkdir -p "$tools"
cat > "$tools/cc" <<'STAND_IN'
#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done
STAND_IN
cat > "$tools/ar" <<'STAND_IN'
#!/bin/sh
for name; do case "$name" in *.a) : > "$name" ;; esac; done
STAND_IN
chmod +x "$tools/cc" "$tools/ar"
if ! command -v x86_64-w64-mingw32-gcc > /dev/null; then
    export CC_x86_64_pc_windows_gnu="$tools/cc" AR_x86_64_pc_windows_gnu="$tools/ar"
fi
check x86_64-pc-windows-gnu
export SDKROOT=/ CC_aarch64_apple_darwin="$tools/cc" AR_aarch64_apple_darwin="$tools/ar"
check aarch64-apple-darwin
