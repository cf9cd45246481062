//! A folder of the crate imports only from folders before it in the list of stages in `src/lib.rs`, so that the crate
//! can be read from top to bottom and no circle of imports grows back.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The folders in the order of the list in the documentation of `lib.rs`: items such as "1. `values`: …".
fn stages() -> Vec<String> {
    let lib = fs::read_to_string(sources().join("lib.rs")).unwrap();
    let items = lib.lines().filter_map(|line| line.strip_prefix("//! ")?.split_once(". `"));
    let numbered = items.filter(|(number, _)| number.parse::<usize>().is_ok());
    numbered.filter_map(|(_, item)| Some(item.split_once('`')?.0.to_owned())).collect()
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The paths of all source files below a folder, as components relative to `src`.
fn files(folder: &Path) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let relative = path.strip_prefix(sources()).unwrap();
            found.push(relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect());
        }
    }
    found.sort();
    found
}

/// What a file at `path` names at the root of the crate: `crate::NAME`, `crate::{NAME, …}` and `super::…` that leaves
/// the file's folder. Comments and unit tests do not count.
fn imports(path: &[String], source: &str) -> Vec<String> {
    let source = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: Vec<&str> = source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let is_folder = path.last().is_some_and(|file| file == "mod.rs");
    let depth = path.len() - usize::from(is_folder);
    let mut found = Vec::new();
    for (root, supers) in [("crate::", 1), ("super::", depth)] {
        let to_root = root.repeat(supers);
        for (start, _) in code.match_indices(&to_root) {
            let before = code[..start].chars().next_back();
            if before.is_none_or(|before| !before.is_alphanumeric() && !matches!(before, '_' | ':' | '$')) {
                found.extend(first_names(&code[start + to_root.len()..]));
            }
        }
    }
    found
}

/// The first names of a path, or of the paths of a group in braces.
fn first_names(path: &str) -> Vec<String> {
    let name = |path: &str| path.trim_start().chars().take_while(|&it| it.is_alphanumeric() || it == '_').collect();
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut depth, mut starts) = (1, vec![0]);
    for (place, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => starts.push(place + 1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    let names = starts.into_iter().map(|start| name(&group[start..]));
    names.filter(|name: &String| !name.is_empty()).collect()
}

/// Why a file may not have such an import; `None` if it may.
fn complaint(stages: &[String], path: &[String], import: &str) -> Option<String> {
    let place = |name: &str| stages.iter().position(|stage| stage == name);
    let file = path.join("/");
    let own = place(path.first()?)?;
    match place(import) {
        Some(other) if other > own => Some(format!("{file} imports from '{import}', a later stage")),
        Some(_) => None,
        None => Some(format!("{file} imports '{import}' from the root of the crate, not from its folder")),
    }
}

#[test]
fn folders_import_only_from_earlier_stages() {
    let stages = stages();
    let mut complaints = Vec::new();
    for path in files(&sources()) {
        if path.len() > 1 && path[0] != "tests" {
            let source = fs::read_to_string(sources().join(path.join("/"))).unwrap();
            complaints.extend(imports(&path, &source).iter().filter_map(|import| complaint(&stages, &path, import)));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_folder_is_a_stage() {
    let folder = |path: &Vec<String>| (path.len() > 1 && path[0] != "tests").then(|| path[0].clone());
    let mut folders: Vec<String> = files(&sources()).iter().filter_map(folder).collect();
    folders.dedup();
    let mut listed = stages();
    listed.sort();
    assert_eq!(listed, folders);
    let is_loose = |path: &Vec<String>| path.len() == 1 && !matches!(path[0].as_str(), "lib.rs" | "tests.rs");
    assert!(!files(&sources()).iter().any(is_loose), "a file of no stage");
}

#[test]
fn wrong_imports_are_found() {
    let stages = ["values", "plan", "answer"].map(str::to_owned);
    let complaints = |path: &str, source: &str| {
        let path: Vec<String> = path.split('/').map(str::to_owned).collect();
        let all = imports(&path, source);
        all.iter().filter_map(|import| complaint(&stages, &path, import)).collect::<Vec<_>>()
    };
    let later = |file: &str, stage: &str| vec![format!("{file} imports from '{stage}', a later stage")];
    assert_eq!(complaints("plan/mod.rs", "use crate::answer::Answer;"), later("plan/mod.rs", "answer"));
    let group = "use crate::{\n    values::{cells, fault},\n    answer::Answer,\n};";
    assert_eq!(complaints("plan/mod.rs", group), later("plan/mod.rs", "answer"));
    assert_eq!(complaints("plan/mod.rs", "fn f() -> super::answer::Answer {}"), later("plan/mod.rs", "answer"));
    let escape = "use super::super::answer::{Answer, rows};";
    assert_eq!(complaints("plan/check.rs", escape), later("plan/check.rs", "answer"));
    assert_eq!(complaints("plan/check.rs", "use super::super::{values, answer};"), later("plan/check.rs", "answer"));
    assert_eq!(complaints("plan/check.rs", "use crate::Answer;").len(), 1);
    for fine in [
        "use crate::values::cells::Cells;",
        "use super::answer;",
        "// use crate::answer::Answer;",
        "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::answer::Answer;\n}",
    ] {
        assert!(complaints("plan/check.rs", fine).is_empty(), "{fine}");
    }
}
