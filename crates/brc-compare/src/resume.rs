//! Decides whether the results of an earlier run can be continued.
//!
//! They can if the same program measured the same files on the same machine with the same options. The time limit is
//! not one of these options: a cell that exceeded it is measured again.

use super::results::{FileIdentity, Results, Settings, VERSION};
use brc_core::{Error, ReadAt, Result};
use brc_encodings::folders::{self, FoundFile};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs::{File, Metadata};
use std::hash::Hasher;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// How `found` was measured differently from `wanted`, as phrases that start with "with", "on", "by" or "before". Empty
/// if the results can be continued.
pub(crate) fn differences(found: &Results, wanted: &Results) -> Vec<String> {
    let mut differences = Vec::new();
    differences.extend(program(found, wanted));
    differences.extend(machine(found, wanted));
    differences.extend(options(&found.settings, &wanted.settings));
    differences.extend(tables(found, wanted));
    differences
}

fn program(found: &Results, wanted: &Results) -> Option<String> {
    let build = |results: &Results| {
        let environment = &results.environment;
        let commit = environment.commit.as_deref().unwrap_or("unknown");
        let profile = environment.profile.as_deref().unwrap_or("unknown");
        format!("brc {} ({profile} build of commit {commit})", environment.version)
    };
    let bytes = |results: &Results| (results.program.bytes, results.program.hash.clone());
    if found.version != VERSION {
        Some("by another version of brc".to_owned())
    } else if build(found) != build(wanted) {
        Some(format!("by {}, not {}", build(found), build(wanted)))
    } else if bytes(found) != bytes(wanted) {
        Some(format!("by another build of {}", build(wanted)))
    } else {
        None
    }
}

fn machine(found: &Results, wanted: &Results) -> Option<String> {
    let machine = |results: &Results| {
        let environment = &results.environment;
        let cpu = environment.cpu.as_deref().unwrap_or("an unknown CPU");
        let level = environment.cpu_level.as_deref().map(|level| format!(" ({level})")).unwrap_or_default();
        format!("{} processors of {cpu}{level} with {}", environment.processors, environment.system)
    };
    let (found, wanted) = (machine(found), machine(wanted));
    (found != wanted).then(|| format!("on {found}, not {wanted}"))
}

fn options(found: &Settings, wanted: &Settings) -> Vec<String> {
    let mut differences = Vec::new();
    let mut compare = |name: &str, found: &dyn Debug, wanted: &dyn Debug| {
        let (found, wanted) = (format!("{found:?}"), format!("{wanted:?}"));
        let plain = |value: &str| match value {
            "None" => "unset".to_owned(),
            value => value.trim_start_matches("Some(").trim_end_matches(')').trim_matches('"').to_owned(),
        };
        if found != wanted {
            differences.push(format!("with {name} {}, not {}", plain(&found), plain(&wanted)));
        }
    };
    let list = |names: &[String]| names.join(",");
    compare("--encodings", &list(&found.encodings), &list(&wanted.encodings));
    compare("--compressions", &list(&found.compressions), &list(&wanted.compressions));
    compare("--rows", &found.rows, &wanted.rows);
    compare("--runs", &found.runs, &wanted.runs);
    compare("--convert-runs", &found.convert_runs, &wanted.convert_runs);
    compare("--warmup", &found.warmup, &wanted.warmup);
    compare("--cold", &found.cold, &wanted.cold);
    compare("--threads", &found.threads, &wanted.threads);
    compare("--memory", &found.memory, &wanted.memory);
    let names: BTreeSet<&String> = found.reading.keys().chain(wanted.reading.keys()).collect();
    for name in names {
        compare(name, &found.reading.get(name), &wanted.reading.get(name));
    }
    differences
}

fn tables(found: &Results, wanted: &Results) -> Vec<String> {
    let queries = |results: &Results| {
        let named = |question: String| if question.is_empty() { "the default".to_owned() } else { question };
        let queries: Vec<_> = results.tables.iter().map(|table| named(table.question.to_string())).collect();
        queries.join(" and ")
    };
    // Each file is measured once for each query.
    let names = |results: &Results| {
        let mut names: Vec<_> = results.tables.iter().map(|it| results.name(it)).collect();
        names.dedup();
        names.join(" ")
    };
    if names(found) != names(wanted) {
        return vec![format!("with the input files {}, not {}", names(found), names(wanted))];
    }
    if queries(found) != queries(wanted) {
        return vec![format!("with the queries {}, not {}", queries(found), queries(wanted))];
    }
    let content = |input: &FileIdentity| (input.bytes, input.modified, input.hash.clone());
    let both = found.tables.iter().zip(&wanted.tables);
    let changed = both.filter(|(found, wanted)| content(&found.input) != content(&wanted.input));
    let mut changed: Vec<_> =
        changed.map(|(_, table)| format!("before the input file {} changed", wanted.name(table))).collect();
    changed.dedup();
    changed
}

impl FileIdentity {
    /// The identity of a file in its current state, or of all files in a directory; `name` is its path in results.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn of(path: &Path, name: &str) -> Result<Self> {
        let files = if path.is_dir() { folders::files_of(path)? } else { vec![FoundFile::named(path)] };
        let mut all = Self { path: name.to_owned(), bytes: 0, modified: 0, hash: String::new() };
        // The hash is the same in all processes of one build.
        let mut hash = std::hash::DefaultHasher::new();
        for FoundFile { path: file, .. } in &files {
            if files.len() > 1 {
                hash.write(file.as_os_str().as_encoded_bytes());
            }
            all.add(file, &mut hash)?;
        }
        Ok(Self { hash: format!("{:016x}", hash.finish()), ..all })
    }

    fn add(&mut self, path: &Path, hash: &mut impl Hasher) -> Result<()> {
        const PROBE: u64 = 1 << 20;
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        let metadata = file.metadata().map_err(Error::io(path, "open"))?;
        let bytes = metadata.len();
        let mut buffer = vec![0; PROBE.min(bytes) as usize];
        for offset in [0, bytes.saturating_sub(PROBE)] {
            let read = file.read_full_at(&mut buffer, offset).map_err(Error::io(path, "read"))?;
            hash.write(&buffer[..read]);
        }
        self.bytes += bytes;
        self.modified = self.modified.max(Self::modified(&metadata));
        Ok(())
    }

    /// The modification time of a file, in nanoseconds since 1970.
    pub(crate) fn modified(found: &Metadata) -> u64 {
        let since = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }
}
