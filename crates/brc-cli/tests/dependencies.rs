//! Tests the dependency rules of the workspace: which crates may depend on each other, which libraries belong where,
//! and where code may be unsafe.
//!
//! Dependencies are read from the manifests, so that those for other platforms and for tests count too.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates that each crate may depend on, directly or indirectly; all but `brc-core` also [`TESTING`].
const MAY_REACH: &[(&str, &[&str])] = &[
    ("brc-core", &[]),
    (TESTING, &["brc-core"]),
    ("brc-kernels", &["brc-core"]),
    ("brc-compress", &["brc-core", "brc-kernels"]),
    ("buren", &["brc-core", "brc-kernels", "brc-compress"]),
    ("brc-text", &["brc-core", "brc-kernels", "brc-compress"]),
    ("brc-store", &["brc-core"]),
    ("brc-encodings", &["brc-core", "brc-kernels", "brc-compress", "buren", "brc-text", "brc-store"]),
    ("brc-arrow", &["brc-core"]),
    ("brc-query", &["brc-core", "brc-kernels"]),
    (
        "brc-compare",
        &["brc-core", "brc-kernels", "brc-compress", "buren", "brc-text", "brc-store", "brc-encodings", "brc-query"],
    ),
    (
        "brc-cli",
        &[
            "brc-core",
            "brc-kernels",
            "brc-compress",
            "buren",
            "brc-text",
            "brc-store",
            "brc-encodings",
            "brc-query",
            "brc-compare",
        ],
    ),
];

/// Libraries (including names that continue with `-` or `_`) that only some crates may use.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("capnp", &["buren", "brc-encodings"]),
    ("object_store", &["brc-store"]),
    ("tokio", &["brc-store"]),
    ("serde_json", &["brc-encodings"]),
    ("arrow", &["brc-arrow", "brc-encodings"]),
    ("calamine", &["brc-encodings"]),
    ("parquet", &["brc-encodings"]),
    ("prost", &["brc-encodings"]),
    ("protobuf", &["brc-encodings"]),
    ("rmp", &["brc-encodings"]),
    ("ciborium", &["brc-encodings"]),
    ("bincode", &["brc-encodings", "brc-query"]),
    // Time zones: the only library that applies the IANA rules after the last listed transition.
    ("jiff", &["brc-query"]),
    ("anyhow", &["brc-cli"]),
    ("clap", &["brc-cli"]),
];

/// The crate that only tests use.
const TESTING: &str = "brc-testing";

/// The only crate with unsafe code.
const UNSAFE: &str = "brc-kernels";

/// Crates with their own workspace, and the only file of each that may have unsafe code, if any.
const OWN_WORKSPACES: &[(&str, Option<&str>)] =
    &[("brc-datafusion", None), ("brc-python", Some("src/capsule.rs")), ("brc-timely", None)];

/// The direct dependencies of each crate.
type Dependencies = BTreeMap<String, BTreeSet<String>>;

/// The dependencies of every kind in a manifest.
///
/// Renamed dependencies and tables in unsupported syntax would be missed, so they are violations.
fn dependencies(manifest: &str) -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(section) = line.strip_prefix('[') {
            inside = section.trim_end_matches(']').ends_with("dependencies");
            if !inside && section.contains("dependencies") {
                return Err(format!("write {line} as one line of its table"));
            }
        } else if inside {
            if line.contains("package") {
                return Err(format!("'{line}' renames a dependency"));
            }
            let name = line.split(['.', '=', ' ']).next().unwrap_or(line);
            names.insert(name.trim_matches('"').to_owned());
        } else if line.contains("dependencies") && line.contains('=') {
            return Err(format!("write '{line}' as a table"));
        }
    }
    Ok(names)
}

/// All crates that a crate depends on, directly or indirectly.
fn reached<'a>(all: &'a Dependencies, from: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        for next in all.get(name).into_iter().flatten() {
            if reached.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    reached
}

fn may_reach(name: &str, allowed: &[&str], other: &str) -> bool {
    allowed.contains(&other) || other == TESTING && name != "brc-core"
}

fn violations(all: &Dependencies) -> Vec<String> {
    let mut violations = Vec::new();
    for (name, direct) in all {
        let Some((_, allowed)) = MAY_REACH.iter().find(|(known, _)| known == name) else {
            violations.push(format!("{name} has no place among the crates: say in MAY_REACH what it may reach"));
            continue;
        };
        let siblings = reached(all, name).into_iter().filter(|other| all.contains_key(*other));
        violations.extend(
            siblings
                .filter(|other| !may_reach(name, allowed, other))
                .map(|other| format!("{name} must not reach {other}")),
        );
        for (library, users) in ONLY_IN {
            let is_it = |other: &&String| {
                other.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
            };
            if !users.contains(&name.as_str()) {
                violations.extend(direct.iter().filter(is_it).map(|other| format!("{name} must not use {other}")));
            }
        }
    }
    violations
}

/// Why a file of a crate other than [`UNSAFE`] may have unsafe code. In crate roots, forbidding unsafe code is required
/// and covers their modules; tests and examples are roots of their own and just must not contain any.
fn unsafety(is_root: bool, code: &str) -> Option<&'static str> {
    if code.lines().any(|line| line == "#![forbid(unsafe_code)]") {
        return None;
    }
    let is_unsafe =
        |line: &str| !line.trim_start().starts_with("//") && line.split(is_no_word).any(|word| word == "unsafe");
    if is_root { Some("does not forbid unsafe code") } else { code.lines().any(is_unsafe).then_some("has unsafe code") }
}

fn is_no_word(character: char) -> bool {
    !character.is_alphanumeric() && character != '_'
}

fn crates() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let all = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    all.filter(|path| !OWN_WORKSPACES.iter().any(|(own, _)| name_of(path) == *own)).collect()
}

fn name_of(directory: &Path) -> String {
    directory.file_name().unwrap().to_str().unwrap().to_owned()
}

fn source_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            source_files(&entry, files);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
}

#[test]
fn crates_depend_on_each_other_one_way() {
    let mut all = Dependencies::new();
    for directory in crates() {
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        let name = name_of(&directory);
        assert!(manifest.contains(&format!("\nname = \"{name}\"\n")), "{name} has the name of its directory");
        all.insert(name, dependencies(&manifest).unwrap());
    }
    assert_eq!(all.len(), MAY_REACH.len(), "{:?}", all.keys());
    assert_eq!(violations(&all), Vec::<String>::new());
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    dependencies(&fs::read_to_string(workspace).unwrap()).unwrap();
}

#[test]
fn only_kernels_have_unsafe_code() {
    for directory in crates().into_iter().filter(|directory| name_of(directory) != UNSAFE) {
        let mut files = Vec::new();
        source_files(&directory, &mut files);
        assert!(!files.is_empty());
        for file in files {
            let is_root = ["src/lib.rs", "src/main.rs"].iter().any(|root| file == directory.join(root));
            let problem = unsafety(is_root, &fs::read_to_string(&file).unwrap());
            assert_eq!(problem, None, "{}", file.display());
        }
    }
}

#[test]
fn only_python_capsules_also_have_unsafe_code() {
    for (own, allowed) in OWN_WORKSPACES {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(own);
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        assert!(manifest.lines().any(|line| line == "[workspace]"));
        let mut files = Vec::new();
        source_files(&directory.join("src"), &mut files);
        for file in files {
            let code = fs::read_to_string(&file).unwrap().replace("#![deny(unsafe_code)]", "");
            let may_be_unsafe = allowed.is_some_and(|allowed| file == directory.join(allowed));
            assert_eq!(unsafety(false, &code).is_some(), may_be_unsafe, "{}", file.display());
        }
    }
}

/// Tests of the rules: each one must be able to fail.
mod broken {
    use super::*;

    fn all(changed: &str, more: &[&str]) -> Dependencies {
        let mut all: Dependencies = MAY_REACH.iter().map(|(name, _)| ((*name).to_owned(), BTreeSet::new())).collect();
        let extra = more.iter().map(|&name| name.to_owned());
        all.entry(changed.to_owned()).or_default().extend(extra);
        all
    }

    #[test]
    fn every_forbidden_edge_is_found() {
        for (from, allowed) in MAY_REACH {
            for (to, _) in MAY_REACH.iter().filter(|(to, _)| to != from) {
                let found = violations(&all(from, &[to]));
                assert_eq!(found.is_empty(), may_reach(from, allowed, to), "{from} -> {to}: {found:?}");
            }
        }
    }

    #[test]
    fn an_indirect_dependency_is_found() {
        let mut around = all("brc-kernels", &["brc-compress"]);
        around.insert("brc-query".into(), ["brc-kernels".to_owned()].into());
        assert!(violations(&around).contains(&"brc-query must not reach brc-compress".to_owned()));
    }

    #[test]
    fn misplaced_libraries_are_found() {
        for (library, users) in ONLY_IN {
            for (name, _) in MAY_REACH {
                for library in [(*library).to_owned(), format!("{library}-x"), format!("{library}_x")] {
                    assert_eq!(violations(&all(name, &[&library])).is_empty(), users.contains(name));
                }
            }
        }
        assert_eq!(violations(&all("brc-core", &["arrowhead"])), Vec::<String>::new());
    }

    #[test]
    fn a_new_crate_needs_a_rule() {
        assert_eq!(violations(&all("brc-new", &[])).len(), 1);
    }

    #[test]
    fn manifests_are_read_in_every_form() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\n# no\na.workspace = true\nb = \"1\"\n\
                        [target.'cfg(unix)'.dev-dependencies]\n\"c\" = { version = \"1\" }\n[lints]\nd.e = true\n";
        assert_eq!(dependencies(manifest).unwrap(), ["a", "b", "c"].map(str::to_owned).into());
        assert!(dependencies("[dependencies]\na = { package = \"b\" }\n").is_err());
        assert!(dependencies("[dependencies.a]\nversion = \"1\"\n").is_err());
        assert!(dependencies("dependencies.a = \"1\"\n").is_err());
    }

    #[test]
    fn unsafe_code_is_found() {
        const FORBIDS: &str = "//! Why.\n\n#![forbid(unsafe_code)]\n";
        assert_eq!(unsafety(true, FORBIDS), None);
        assert_eq!(unsafety(false, FORBIDS), None);
        assert_eq!(unsafety(false, "// an unsafe thought\nlet unsafe_name = 1;"), None);
        assert!(unsafety(true, "// #![forbid(unsafe_code)]\n").is_some());
        assert!(unsafety(false, "fn f() { unsafe { g() } }").is_some());
        assert!(unsafety(false, "pub unsafe fn f() {}").is_some());
    }
}
