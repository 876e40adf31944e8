//! Build script: places the functions of a search side by side in release builds.
//!
//! `startup.ld` says which, and why. The library needs none of this, nor do other systems: where the linker is not one
//! of the two that this was tried with (LLD, which Rust brings, and GNU's), functions stay where they are.
#![forbid(unsafe_code)]

use std::env;
use std::path::Path;

const ORDER: &str = "src/bin/treepie/startup.ld";

fn main() {
    println!("cargo::rerun-if-changed={ORDER}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is_linux && is("PROFILE", "release") && is_default_linker() {
        let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        let order = Path::new(&root).join(ORDER);
        println!("cargo::rustc-link-arg-bin=treepie=-Wl,-T,{}", order.display());
    }
}

/// Whether nobody chose another linker, which may read no linker scripts.
fn is_default_linker() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_chosen =
        ["linker", "link-arg", "link-self-contained"].iter().any(|it| flags.contains(it));
    !is_chosen && env::var("RUSTC_LINKER").is_err()
}
