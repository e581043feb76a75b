//! Says where the page and the documents are that become part of the program: beside this folder in the repository, in
//! it where the crate was packed.

use std::path::Path;

fn main() {
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says it");
    for (name, folder) in [("INCROWD_WEB", "web"), ("INCROWD_DOCS", "docs")] {
        let packed = Path::new(&here).join(folder);
        let path = if packed.exists() { packed } else { Path::new(&here).join("..").join(folder) };
        println!("cargo::rustc-env={name}={}", path.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
}
