#!/bin/sh
# Does it build elsewhere, as far as the compiler can tell? Windows and macOS are checked from Linux; nothing is linked.
#
#   rustup target add x86_64-pc-windows-gnu aarch64-apple-darwin
#   sudo apt-get install gcc-mingw-w64-x86-64
#   sh checks/platforms.sh
#
# zstd is C: for Windows a cross compiler makes it; for macOS a stand-in makes empty files, enough for a check.
set -eu
cd "$(dirname "$0")/.."

check() {
    echo "$1"
    CARGO_TARGET_DIR="target/platforms" cargo check --target "$1" -p incrowd -p incrowd-workbench
}

check x86_64-pc-windows-gnu

tools="$PWD/target/platforms/stand-in"
mkdir -p "$tools"
cat > "$tools/cc" <<'END'
#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done
END
cat > "$tools/ar" <<'END'
#!/bin/sh
for name; do case "$name" in *.a) : > "$name" ;; esac; done
END
chmod +x "$tools/cc" "$tools/ar"
export SDKROOT=/ CC_aarch64_apple_darwin="$tools/cc" AR_aarch64_apple_darwin="$tools/ar"
check aarch64-apple-darwin
