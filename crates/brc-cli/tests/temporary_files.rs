//! Tests of where temporary files are written, and of what a run says if they cannot be.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

/// A text with a header, and copies of it that need random access.
fn with_tables() -> Place {
    let place = Place::new();
    let rows: String = (0..40_000).map(|row| format!("{row},name {}\n", row % 1000)).collect();
    place.write("t.csv", format!("id,name\n{rows}"));
    for file in ["t.buren", "t.parquet", "t.arrow"] {
        place.run(&format!("convert t.csv {file}")).ok();
    }
    place.shell("mkdir spill; gzip -k t.parquet").ok();
    place
}

/// Commands that have the option, with a file in the place of FILE.
const COMMANDS: [&str; 8] = [
    "query FILE 'select count(*), sum(id)'",
    "count FILE",
    "cat FILE",
    "head FILE",
    "tail FILE",
    "sort FILE --by name",
    "summarize FILE",
    "convert FILE - --to json",
];

#[test]
fn copies_of_inputs_are_written_to_temp_dir() {
    let place = with_tables();
    for command in COMMANDS {
        for file in ["t.buren", "t.parquet", "t.arrow"] {
            let command = command.replace("FILE", "-");
            place.shell(&format!("cat {file} | TMPDIR=/no/such $BRC {command} --temp-dir spill")).ok();
        }
        let command = command.replace("FILE", "t.parquet.gz");
        place.shell(&format!("TMPDIR=/no/such exec $BRC {command} --temp-dir spill")).ok();
        place.shell(&format!("TMPDIR=/no/such exec $BRC {command}")).fails(
            1,
            "brc: /no/such: cannot make a temporary file in: No such file or directory (os error 2)\n\
             brc: --temp-dir sets the directory for temporary files",
        );
    }
    assert!(std::fs::read_dir(place.path("spill")).unwrap().next().is_none());
}

#[test]
fn other_commands_name_the_environment_variable() {
    let place = with_tables();
    let hint = "brc: TMPDIR sets the directory for temporary files";
    let message = "brc: /no/such: cannot make a temporary file in: No such file or directory (os error 2)";
    for command in ["schema", "inspect"] {
        place
            .shell(&format!("cat t.parquet | TMPDIR=/no/such $BRC {command} -"))
            .fails(1, &format!("{message}\n{hint}"));
    }
    let message = "brc: /no/such: cannot make a directory in: No such file or directory (os error 2)";
    place.shell("TMPDIR=/no/such exec $BRC compare t.csv").fails(1, &format!("{message}\n{hint}"));
    let redirected = place.shell("TMPDIR=/no/such exec $BRC query - --agg 'count(*)' --by '' < t.buren");
    assert!(!redirected.ok().is_empty(), "a file that is redirected is no pipe");
    place.shell("TMPDIR= exec $BRC query - --agg 'count(*)' --by '' < t.buren").ok();
}

#[test]
fn a_full_directory_is_not_blamed_on_the_input_or_the_output() {
    let place = with_tables();
    let full = "brc: spill: cannot write a temporary file: File too large (os error 27)\n\
                brc: --temp-dir sets the directory for temporary files";
    let limited = |script: &str| place.shell(&format!("trap '' XFSZ; ulimit -f 4; {script}"));
    // A text with inferred types is copied from a pipe, in case it has to be read again.
    for command in COMMANDS.into_iter().filter(|command| !command.starts_with("head")) {
        for file in ["t.csv", "t.parquet"] {
            let command = command.replace("FILE", "-");
            limited(&format!("cat {file} | $BRC {command} --temp-dir spill")).fails(1, full);
        }
    }
    limited("exec $BRC summarize t.csv --temp-dir spill").fails(1, full);
    // The rows of a text with inferred types are held back until the types are known.
    let converted = limited("$BRC convert t.csv - --to json --temp-dir spill > /dev/null");
    converted.fails(1, full);
    limited("cat t.parquet | TMPDIR=spill $BRC verify -")
        .fails_with(1, "brc: spill: cannot write a temporary file: File too large (os error 27)\nbrc: TMPDIR sets");
    assert!(std::fs::read_dir(place.path("spill")).unwrap().next().is_none());
}
