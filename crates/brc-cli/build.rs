//! Sets linker options that shorten the start-up of `brc`, on targets where they are known to work: a small query takes
//! less time than a program of this size usually takes to start.
//!
//! - Fixed load address (no PIE). A position-independent executable relocates its address tables at every start: about
//!   37,000 words on 150 pages, each of which is copied on write, which took a fifth of the time of a small query. The
//!   price: the program's own code and data have the same addresses in every run. Libraries, heap and stacks are still
//!   randomised.
//! - Statically linked unwinder. As a shared library it is one more file to open and map at every start, and it then
//!   queries the CPU features, which is slow on virtual machines.

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

/// Whether the linking compiler, which is not always GCC, has the library.
fn linker_has(library: &str) -> bool {
    let linker = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let output = std::process::Command::new(linker).arg(format!("-print-file-name={library}")).output();
    // Without the library, the output is the bare name.
    output.is_ok_and(|found| std::path::Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_absolute())
}
