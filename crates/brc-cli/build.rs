//! Links `brc` so that it starts quickly, where that is known to work: small questions take less time than a program of this
//! size usually takes to start.
//!
//! - To a fixed address. A program that may lie anywhere has its tables of addresses filled in at every start: for this one some
//!   37,000 words on 150 pages, each of which is copied for it, which took a fifth of the time of a small question. The price: the
//!   program's own code and tables lie at the same addresses in every run. Its libraries, heap and stacks do not.
//! - With the compiler's own library for panics in it. As a library of its own it is one more file to open and to map at every
//!   start, and then asks the processor what it can, which takes a virtual one long.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    let [system, environment, architecture] = ["OS", "ENV", "ARCH"].map(target);
    if system == "linux" && environment == "gnu" && matches!(architecture.as_str(), "x86_64" | "aarch64") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        if linker_has("libgcc_eh.a") {
            println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        }
    }
}

/// Whether the compiler that links, which is not always that of GCC, has that library.
fn linker_has(library: &str) -> bool {
    let linker = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let asked = std::process::Command::new(linker).arg(format!("-print-file-name={library}")).output();
    // Without one, it is the name that was given.
    asked.is_ok_and(|told| std::path::Path::new(String::from_utf8_lossy(&told.stdout).trim()).is_absolute())
}
