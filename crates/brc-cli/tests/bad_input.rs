//! Tests of bad input: messages name the error and its position, the exit code its kind, and no partial file is left.

#![allow(clippy::unwrap_used)]

mod common;

use brc_compress::by_extension;
use common::Place;
use std::io::{ErrorKind, Write};
use std::process::Stdio;

/// A bad second row, and the message after `line 2, byte 9`.
const BAD_ROWS: &[(&[u8], &str)] = &[
    (b"Hamburg", ", column 'station': missing delimiter ';'"),
    (b"Hamburg;1.0;2.0", ": more columns than the schema has"),
    (b";1.0", ", column 'station': empty name"),
    (b"Ham\0burg;1.0", ", column 'station': NUL byte in a name"),
    (b"Hamburg;", ", column 'temperature': empty number"),
    (b"Hamburg;1.", ", column 'temperature': malformed number '1.'"),
    (b"Hamburg;5.", ", column 'temperature': malformed number '5.'"),
    (b"Hamburg;--1.0", ", column 'temperature': malformed number '--1.0'"),
    (b"Hamburg;+1.0", ", column 'temperature': malformed number '+1.0'"),
    (b"Hamburg;1e5", ", column 'temperature': malformed number '1e5'"),
    (b"Hamburg;nan", ", column 'temperature': malformed number 'nan'"),
    (b"Hamburg; 1.0", ", column 'temperature': malformed number ' 1.0'"),
    (b"Hamburg;1.0 ", ", column 'temperature': malformed number '1.0 '"),
    (b"Hamburg;1,0", ", column 'temperature': malformed number '1,0'"),
    (b"Hamburg;1.23", ", column 'temperature': '1.23' has more than 1 decimal"),
    (b"Hamburg;922337203685477580.8", ", column 'temperature': number '922337203685477580.8' does not fit 64 bits"),
];

fn around(row: &[u8]) -> Vec<u8> {
    [b"Abha;1.0\n", row, b"\nBonn;2.0\n"].concat()
}

const SCHEMA: &str = "--schema station:string,temperature:decimal(1)";

#[test]
fn a_bad_row_stops_the_run_and_is_located() {
    for (row, fault) in BAD_ROWS {
        let place = Place::new();
        place.write("t.csv", around(row));
        let message = format!("brc: t.csv: line 2, byte 9{fault}");
        place.run(&format!("convert t.csv t.buren {SCHEMA}")).fails(3, &message);
        place.run(&format!("query t.csv {SCHEMA}")).fails(3, &message);
        assert_eq!(place.names(), ["t.csv"]);
        let piped = place.pipe(&format!("convert - t.buren --from csv {SCHEMA}"), &around(row));
        piped.fails(3, &message.replace("t.csv", "-"));
        assert_eq!(place.names(), ["t.csv"]);
    }
}

#[test]
fn rejected_rows_are_kept_and_counted() {
    let place = Place::new();
    let mut text = Vec::new();
    let mut expected = b"line\tbyte\tcolumn\treason\trow\n".to_vec();
    for (index, (row, fault)) in BAD_ROWS.iter().enumerate() {
        let (column, reason) = match fault.strip_prefix(", column '") {
            Some(rest) => rest.split_once("': ").unwrap(),
            None => ("", fault.strip_prefix(": ").unwrap()),
        };
        text.extend_from_slice(b"Abha;1.0\n");
        expected.extend_from_slice(format!("{}\t{}\t{column}\t{reason}\t", 2 * index + 2, text.len()).as_bytes());
        expected.extend_from_slice(row);
        expected.push(b'\n');
        text.extend_from_slice(row);
        text.push(b'\n');
    }
    place.write("t.csv", &text);
    for threads in [1, 2, 7] {
        let outcome =
            place.run(&format!("convert t.csv t.buren {SCHEMA} --rejects bad.tsv --force --threads {threads}"));
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(outcome.stderr.starts_with("16 rows written, 16 rejected; "), "{}", outcome.stderr);
        assert_eq!(String::from_utf8_lossy(&place.read("bad.tsv")), String::from_utf8_lossy(&expected));
    }
    assert_eq!(place.run("query t.buren").text(), "{Abha=1.0/1.0/1.0}\n");
    assert_eq!(place.names(), ["bad.tsv", "t.buren", "t.csv"]);
}

#[test]
fn lines_of_rejects_are_right_after_many_splits() {
    let place = Place::new();
    let mut text = String::new();
    for line in 1..=60_000 {
        text.push_str(if line % 10_000 == 0 { "oops\n" } else { "Abha;1.0\n" });
    }
    place.write("t.csv", &text);
    place.run("convert t.csv t.buren --rejects bad.tsv --row-group 64k --threads 4").ok();
    let rejects = String::from_utf8(place.read("bad.tsv")).unwrap();
    let lines: Vec<&str> = rejects.lines().skip(1).map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(lines, ["10000", "20000", "30000", "40000", "50000", "60000"]);
    place
        .run("convert t.csv u.buren --row-group 64k --threads 4")
        .fails(3, "brc: t.csv: line 10000, byte 89991, column 'station': missing delimiter ';'");
}

#[test]
fn too_many_rejects_fail_and_leave_only_the_rejects_file() {
    let place = Place::new();
    place.write("t.csv", "Abha;1.0\nx\ny\n");
    let outcome = place.run("convert t.csv t.buren --rejects bad.tsv --max-rejects 1");
    outcome.fails(3, "brc: t.csv: line 3, byte 11: more rejected rows than the limit of 1");
    assert_eq!(place.names(), ["bad.tsv", "t.csv"]);
    assert_eq!(place.read("bad.tsv").split(|&byte| byte == b'\n').count(), 4, "a header, two rows, and the end");
    place.run("convert t.csv t.buren --rejects bad.tsv --max-rejects 2 --force").ok();
    place.run("convert t.csv u.buren --max-rejects 2").fails_with(2, "--rejects");
    place.run("convert t.csv u.buren --rejects u.buren").fails_with(2, "is also the output");
    place.run("convert t.csv u.buren --rejects ./t.csv --force").fails_with(2, "same file");
    place.run("convert t.csv u.buren --rejects bad.tsv").fails_with(2, "already exists");
    assert_eq!(place.names(), ["bad.tsv", "t.buren", "t.csv"]);
}

#[test]
fn a_header_that_differs_from_the_schema_is_reported() {
    let place = Place::new();
    place.write("t.csv", "station;temperature\nAbha;1.0\n");
    place.run("query t.csv --schema s:string,t:decimal(1)").fails_with(3, "--header yes leaves it out");
    place.run("query t.csv --schema s:string,t:decimal(1) --header yes").ok();
    assert_eq!(place.run(&format!("query t.csv {SCHEMA}")).text(), "{Abha=1.0/1.0/1.0}\n");
    place.write("t.csv", "Abha;1.0\nBonn;warm\nBonn;2.0\n");
    let outcome = place.run("query t.csv");
    outcome.fails_with(3, "line 2");
    assert!(!outcome.stderr.contains("tail"));
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_name() {
    let place = Place::new();
    place.write("t.csv", "\u{feff}Abha;1.0\nAbha;2.0\n");
    assert_eq!(place.run("query t.csv").text(), "{Abha=1.0/1.5/2.0}\n");
}

#[test]
fn a_missing_directory_is_reported_without_the_temporary_file() {
    let place = Place::new();
    place.write("t.csv", "Abha;1.0\n");
    let outcome = place.run("convert t.csv none/t.buren");
    outcome.fails(1, "brc: none/t.buren: cannot create: No such file or directory (os error 2)");
}

#[test]
fn carriage_returns_and_a_missing_last_line_end_are_fine() {
    let place = Place::new();
    place.write("t.csv", "Abha;1.0\r\nBonn;-0.0\r\nAbha;2.0");
    let answer = "{Abha=1.0/1.5/2.0, Bonn=0.0/0.0/0.0}\n";
    assert_eq!(place.run("query t.csv").text(), answer);
    place.run("convert t.csv t.buren").ok();
    assert_eq!(place.run("query t.buren").text(), answer);
    place.run("convert t.buren back.csv").ok();
    assert_eq!(place.read("back.csv"), b"Abha;1.0\nBonn;0.0\nAbha;2.0\n");
}

/// Pipes a line of 1 GiB and then a good line to `brc`, whose address space is limited to 768 MiB.
fn one_long_line(place: &Place, arguments: &str) -> common::Outcome {
    let script = format!("ulimit -v 786432; exec $BRC {arguments}");
    let mut child = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(place.path(""))
        .env("BRC", env!("CARGO_BIN_EXE_brc"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let chunk = vec![b'x'; 1 << 20];
    let writer = std::thread::spawn(move || {
        stdin.write_all(b"Abha;1.0\n")?;
        for _ in 0..1024 {
            stdin.write_all(&chunk)?;
        }
        stdin.write_all(b"\nBonn;2.0\n")
    });
    let output = child.wait_with_output().unwrap();
    if let Err(error) = writer.join().unwrap() {
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
    common::Outcome {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn a_line_of_a_gibibyte_is_refused_in_bounded_memory() {
    let place = Place::new();
    let outcome = one_long_line(&place, "convert - t.buren --from csv --threads 2");
    outcome.fails_with(3, "-: line 2, byte 9: line longer than ");
    one_long_line(&place, "query - --from csv --threads 2").fails_with(3, "-: line 2, byte 9: line longer than ");
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn a_line_of_a_gibibyte_can_be_rejected_in_bounded_memory() {
    let place = Place::new();
    let outcome = one_long_line(&place, "convert - t.buren --from csv --threads 2 --rejects bad.tsv");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with("2 rows written, 1 rejected; "), "{}", outcome.stderr);
    assert!(place.read("bad.tsv").starts_with(b"line\tbyte\tcolumn\treason\trow\n2\t9\t\tline longer than "));
    assert_eq!(place.run("query t.buren").text(), "{Abha=1.0/1.0/1.0, Bonn=2.0/2.0/2.0}\n");
}

#[test]
fn sources_that_cannot_be_read_are_named() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder")).unwrap();
    for command in ["query", "inspect", "verify"] {
        place.run(&format!("{command} missing.txt")).fails_with(1, "missing.txt: cannot open: No such file");
    }
    for command in ["query", "inspect", "verify", "sniff", "compare"] {
        place.run(&format!("{command} folder")).fails_with(2, "folder: is a directory without files");
    }
    place.run("convert missing.txt t.buren").fails_with(1, "missing.txt: cannot open: No such file");
    place.run("convert folder t.buren").fails_with(2, "folder: is a directory without files");
    assert_eq!(place.names(), ["folder"]);
    let silent = place.shell("BRC_STORE_TIMEOUT=soon $BRC count http://localhost:1/t.csv");
    silent.fails(2, "brc: BRC_STORE_TIMEOUT: 'soon' is no number of seconds");
}

#[test]
fn targets_that_cannot_be_written_are_named() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder")).unwrap();
    place.write("t.txt", "Abha;1.0\n");
    place.run("convert t.txt folder --to buren --force").fails_with(1, "folder: cannot write: is a directory");
    place.run("convert t.txt no/such/t.buren").fails_with(1, "no/such/t.buren: cannot create: No such file");
    place.run("convert t.txt t").fails_with(2, "no known extension; name the encoding with --to ");
    place.run("convert t.txt -").fails_with(2, "no known extension; name the encoding with --to ");
    place.run("convert t.txt /dev/full --to buren").fails_with(1, "/dev/full: cannot write: No space left");
    place.run("generate /dev/full --rows 100k").fails_with(1, "/dev/full: cannot write: No space left");
    place.shell("$BRC query t.txt > /dev/full").fails_with(1, "-: cannot write: No space left");
    assert_eq!(place.names(), ["folder", "t.txt"]);
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let place = Place::new();
    place.run("generate t.txt --rows 100k").ok();
    place.write("old.csv", "old");
    // Files are limited to 100 blocks, whether or not the corresponding signal is ignored.
    for arguments in ["convert t.txt old.csv --force", "generate old.csv --rows 1M --force"] {
        place
            .shell(&format!("trap '' XFSZ; ulimit -f 100; exec $BRC {arguments}"))
            .fails_with(1, "old.csv: cannot write:");
        assert_eq!(place.read("old.csv"), b"old");
        assert_eq!(place.names(), ["old.csv", "t.txt"]);
    }
}

#[test]
fn a_kill_removes_the_temporary_file() {
    use std::os::unix::process::ExitStatusExt;
    // Scripts and nohup start processes with one signal ignored; the other signals still apply.
    let alone =
        [("HUP", 1), ("INT", 2), ("QUIT", 3), ("ABRT", 6), ("USR1", 10), ("USR2", 12), ("ALRM", 14), ("TERM", 15)];
    let alone = alone.into_iter().chain([("XCPU", 24), ("VTALRM", 26), ("PROF", 27)]).map(|(name, it)| ("", name, it));
    for (ignored, signal, number) in alone.chain([("INT", "TERM", 15), ("HUP", "TERM", 15)]) {
        if common::ignores(number) {
            // Undo the ignored signal if this test runs in the background.
            continue;
        }
        let place = Place::new();
        let trap = if ignored.is_empty() { String::new() } else { format!("trap '' {ignored}; ") };
        let mut shell = std::process::Command::new("sh");
        let script = format!("{trap}ulimit -c 0; exec \"$BRC\" convert - t.buren --from csv");
        shell.args(["-c", &script]).env("BRC", env!("CARGO_BIN_EXE_brc")).current_dir(place.path("."));
        let mut child = shell.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all("Abha;1.0\n".repeat(20_000).as_bytes()).unwrap();
        while place.names().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(place.names()[0].starts_with(".t.buren."));
        let id = child.id().to_string();
        let kill =
            |signal: &str| std::process::Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap();
        if !ignored.is_empty() {
            assert!(kill(ignored).success());
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(child.try_wait().unwrap().is_none(), "{ignored} is still ignored");
        }
        assert!(kill(signal).success());
        assert_eq!(child.wait().unwrap().signal(), Some(number));
        drop(stdin);
        assert_eq!(place.names(), [""; 0]);
    }
}

#[test]
fn without_permission_nothing_is_read_or_written() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.write("secret.txt", "Abha;1.0\n");
    std::fs::set_permissions(place.path("secret.txt"), std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(place.path("secret.txt")).is_ok() {
        // Root may read anything.
        return;
    }
    place.run("query secret.txt").fails_with(1, "secret.txt: cannot open: Permission denied");
    place.run("convert secret.txt t.buren").fails_with(1, "secret.txt: cannot open: Permission denied");
    std::fs::set_permissions(place.path(""), std::fs::Permissions::from_mode(0o555)).unwrap();
    let outcome = place.run("generate t.txt --rows 10");
    std::fs::set_permissions(place.path(""), std::fs::Permissions::from_mode(0o755)).unwrap();
    outcome.fails_with(1, "t.txt: cannot create: Permission denied");
}

#[test]
fn text_is_not_written_under_the_name_of_something_else() {
    let place = Place::new();
    place.write("t.csv", "a,b\n1,2\n");
    let commands = ["generate NAME --rows 10", "convert t.csv out.buren --rejects NAME"];
    for command in commands {
        let run = |name: &str| place.run(&command.replace("NAME", name));
        for (name, encoding) in [("q.buren", "buren"), ("x.parquet", "parquet"), ("x.JSON", "json"), ("x.ppm", "ppm")] {
            let csv = std::path::Path::new(name).with_extension("csv");
            let instead = format!("name it {0}, then brc convert {0} {name}", csv.display());
            let reason = format!("the extension means {encoding}, but the output would be text: {instead}");
            run(name).fails(2, &format!("brc: {name}: {reason}"));
        }
        for (name, format) in [("x.xlsx", "xlsx"), ("x.orc", "ORC")] {
            run(name)
                .fails_with(2, &format!("the extension means {format}, but the output would be text: name it x.csv"));
        }
        run("x.csv.gz").fails_with(2, "the extension means gzip, but the output would not be compressed");
    }
    assert_eq!(place.names(), ["t.csv"]);
    place.run("generate x.tsv --rows 10").ok();
    place.run("generate data.2024 --rows 10").ok();
}

#[test]
fn an_existing_target_needs_force_and_is_never_the_input() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\n");
    place.write("old.buren", "old");
    std::os::unix::fs::symlink("t.txt", place.path("link.csv")).unwrap();
    std::fs::hard_link(place.path("t.txt"), place.path("hard.csv")).unwrap();
    place.run("convert t.txt old.buren").fails(2, "brc: old.buren: already exists (--force replaces it)");
    place.write("old.txt", "old");
    place.run("generate old.txt --rows 1").fails(2, "brc: old.txt: already exists (--force replaces it)");
    assert_eq!((place.read("old.buren"), place.read("old.txt")), (b"old".to_vec(), b"old".to_vec()));
    for target in ["t.txt", "./t.txt", "link.csv", "hard.csv"] {
        let message = format!("brc: {target}: input and output are the same file");
        place.run(&format!("convert t.txt {target} --force")).fails(2, &message);
    }
    place.shell("$BRC convert - t.txt --force < t.txt").fails_with(2, "same file");
    place.shell("$BRC convert t.txt - --to csv >> t.txt").fails_with(2, "same file");
    assert_eq!(place.read("t.txt"), b"Abha;1.0\n");
    place.run("convert t.txt old.buren --force").ok();
    assert_eq!(place.run("query old.buren").text(), "{Abha=1.0/1.0/1.0}\n");
}

#[test]
fn damaged_buren_files_are_corrupt() {
    let place = Place::new();
    place.run("generate t.txt --rows 2k --stations 20").ok();
    place.run("convert t.txt t.buren").ok();
    let whole = place.read("t.buren");
    let answer = place.run("query t.buren --no-statistics").text();
    place.run("convert t.buren whole.csv").ok();
    let rows = place.read("whole.csv");
    for length in [0, 1, 7, 8, 15, 16, 100, whole.len() / 2, whole.len() - 1] {
        place.write("cut.buren", &whole[..length]);
        for command in ["query cut.buren", "verify cut.buren", "inspect cut.buren", "convert cut.buren x.csv"] {
            place.run(command).fails_with(4, "cut.buren: corrupt file: ");
        }
    }
    for step in 0..60 {
        let at = step * whole.len() / 60;
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        place.write("flipped.buren", &damaged);
        assert_eq!(place.run("verify flipped.buren").code, Some(4), "byte {at}");
        // Value counts are not needed to read rows.
        match place.run("convert flipped.buren x.csv").code {
            Some(0) => {
                assert!(place.read("x.csv") == rows, "byte {at}");
                std::fs::remove_file(place.path("x.csv")).unwrap();
            }
            code => assert!(code == Some(4) && !place.path("x.csv").exists(), "byte {at}"),
        }
        let outcome = place.run("query flipped.buren --no-statistics");
        assert!(outcome.code == Some(4) || outcome.text() == answer, "byte {at}");
    }
}

/// The compression named by the extension must match, whatever `--from` says of the content.
#[test]
fn a_file_that_is_not_compressed_as_its_name_says_is_corrupt() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\nBonn;2.0\n");
    for extension in ["sz", "lz4", "gz", "zz", "zst"] {
        let name = format!("t.csv.{extension}");
        place.run(&format!("convert t.txt {name} --force")).ok();
        let whole = place.read(&name);
        let mut flipped = whole.clone();
        flipped[0] ^= 0x10;
        let contents = [&b""[..], b"A", &whole[..1], &whole[..2], &whole[..4], &whole[..9], &flipped];
        for content in contents {
            place.write(&name, content);
            for command in ["query", "verify", "inspect", "convert"] {
                let target = if command == "convert" { "x.json" } else { "" };
                for from in ["", "--from csv", "--from json"] {
                    let outcome = place.run(&format!("{command} {name} {target} {from}"));
                    outcome.fails_with(4, &format!("{name}: corrupt file: "));
                }
            }
        }
        place.write(&name, "Abha;1.0\n");
        let promise = by_extension(extension).unwrap().name();
        let mismatch =
            format!("its extension says {promise}, but it looks like text; if it is not compressed, rename it");
        for command in ["query", "query --from csv", "verify", "inspect"] {
            place.run(&format!("{command} {name}")).fails_with(1, &mismatch);
        }
        place.write(&name, "");
        place.run(&format!("query {name} --from csv")).fails_with(4, &format!("{promise}, but the file is empty"));
    }
    for (extension, promise) in [("bz2", "bzip2"), ("xz", "xz"), ("zip", "zip"), ("7z", "7z"), ("br", "brotli")] {
        place.write(&format!("t.csv.{extension}"), "");
        let empty = format!("its extension says {promise}, but the file is empty");
        place.run(&format!("query t.csv.{extension} --from csv")).fails_with(4, &empty);
    }
    place.write("t.csv.bz2", "Abha;1.0\n");
    place.run("query t.csv.bz2").fails_with(1, "its extension says bzip2, but it looks like text");
    place.write("t.csv.bz2", b"BZg\0\0");
    place.run("query t.csv.bz2").fails_with(4, "its extension says bzip2, but its first bytes do not");
    assert!(!place.path("x.json").exists());
    // A pipe has no extension.
    place.pipe("query - --from csv", b"").fails_with(2, "no columns");
}

#[test]
fn cut_files_say_where_they_end() {
    let place = Place::new();
    place.run("generate t.txt --rows 100k").ok();
    place.shell("gzip -k t.txt && mv t.txt.gz foreign.gz").ok();
    let names = ["own.csv.gz", "own.csv.zz", "own.csv.zst", "own.csv.lz4", "own.csv.sz", "foreign.gz", "own.msgpack"];
    for name in names {
        if name.starts_with("own") {
            place.run(&format!("convert t.txt {name}")).ok();
        }
        let whole = place.read(name);
        for length in [whole.len() / 3, whole.len() / 2, whole.len() - 30] {
            place.write(name, &whole[..length]);
            let outcome = place.run(&format!("count {name}"));
            outcome.fails_with(4, &format!(": the file is cut off at byte {length}"));
            outcome.fails_with(4, &format!("brc: {name}: corrupt file: "));
        }
        // The length of a pipe is not known.
        let outcome = place.shell(&format!("head -c 50000 {name} | $BRC count -"));
        outcome.fails_with(4, ": the data is cut off");
    }
}

/// The two-byte zlib header and a few bytes of data identify a file only weakly.
#[test]
fn small_damaged_zlib_files_without_a_name_are_corrupt() {
    let place = Place::new();
    place.write("t.txt", "Hamburg;12.0\nAbha;-3.4\nBulawayo;8.9\n");
    place.run("convert t.txt own.zz --to csv").ok();
    let own = place.read("own.zz");
    // The output of Python's zlib.compress.
    let foreign = b"x\x9c\xf3H\xccM*-J\xb764\xd23\xe0rL\xcaH\xb4\xd65\xd63\xe1r*\xcdI,O\xac\xcc\xb7\xb6\xd0\xb3\xe4\x02\0\xc7\xf6\nh";
    let outcomes = |bytes: &[u8]| {
        place.write("t", bytes);
        [place.run("query t"), place.run("verify t --from csv"), place.pipe("query -", bytes)]
    };
    for (stream, least) in [(&own[..], 7), (foreign, 12)] {
        let sound = outcomes(stream);
        assert_eq!(sound[0].code, Some(0), "{}", sound[0].stderr);
        let cut = (least..stream.len()).step_by(3).map(|length| stream[..length].to_vec());
        let flipped = (least + 4..stream.len()).step_by(3).map(|at| {
            let mut bytes = stream.to_vec();
            bytes[at] ^= 1 << (at % 8);
            bytes
        });
        for bytes in cut.chain(flipped) {
            let got = outcomes(&bytes);
            for (outcome, sound) in got.iter().zip(&sound) {
                // Some bits are unused.
                let is_same =
                    bytes.len() == stream.len() && (outcome.code, &outcome.stdout) == (Some(0), &sound.stdout);
                assert!(is_same || outcome.code == Some(4), "{}: {outcome:?}", bytes.escape_ascii());
            }
        }
    }
}

#[test]
fn files_of_another_kind_or_version_are_reported() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\n");
    for (name, promise) in [("text.buren", "buren"), ("text.parquet", "parquet"), ("text.avro", "avro")] {
        place.write(name, "Abha;1.0\n");
        let reason =
            format!("{name}: its extension says {promise}, but it looks like csv (--from csv reads it as that)");
        place.run(&format!("query {name}")).fails(1, &format!("brc: {reason}"));
        assert_eq!(place.run(&format!("query {name} --from csv")).text(), "{Abha=1.0/1.0/1.0}\n");
    }
    place.write("elf.buren", b"\x7fELF\x02\x01\x01\0\0\0\0 and so on");
    place.run("query elf.buren").fails_with(4, "elf.buren: corrupt file: header: this is not a buren file");
    place.write("elf", b"\x7fELF\x02\x01\x01\0\0\0\0\0 and so on");
    place.run("query elf").fails_with(1, "elf: unrecognised file format");
    place.run("convert t.txt t.buren").ok();
    std::fs::copy(place.path("t.buren"), place.path("named.txt")).unwrap();
    place.run("query named.txt").fails_with(1, "named.txt: its extension says csv, but it looks like buren");
    std::fs::copy(place.path("t.buren"), place.path("named.parquet")).unwrap();
    place
        .run("query named.parquet")
        .fails_with(1, "named.parquet: its extension says parquet, but it looks like buren");
    let mut newer = place.read("t.buren");
    newer[8] = 2;
    newer.truncate(newer.len() - 4);
    place.write("newer.buren", newer);
    place.run("query newer.buren").fails_with(1, "buren format version 2; this build reads up to version 1");
}

#[test]
fn invalid_queries_are_usage_errors() {
    let place = Place::new();
    place.write("t.txt", "Abha;1.0\n");
    let ask = |arguments: &[&str]| place.run_of(&[&["query", "t.txt"], arguments].concat());
    ask(&["--where", "temprature > 1"]).fails_with(2, "did you mean 'temperature'");
    ask(&["--where", "temperature >"]).fails_with(2, "expected");
    ask(&["--agg", "medain(temperature)"]).fails_with(2, "did you mean 'median'");
    ask(&["--agg", "mean(station)"]).fails_with(2, "column of numbers");
    ask(&["--by", "city"]).fails_with(2, "city");
    ask(&["--order-by", "cuont()"]).fails_with(2, "did you mean 'count'");
    ask(&["select station, count(*)"]).fails_with(2, "neither in group by nor inside an aggregate");
    ask(&["select count(*)", "--limit", "1"]).fails_with(2, "cannot be combined with a SQL query");
    ask(&["--limit", "few"]).fails_with(2, "--limit");
    ask(&["--threads", "0"]).fails_with(2, "--threads");
    ask(&["--delimiter", "ab"]).fails_with(2, "one byte");
    ask(&["--delimiter", "."]).fails_with(2, "cannot be a delimiter");
    ask(&["--schema", "a:floating"]).fails_with(2, "unknown type 'floating'");
    place.run("generate x.txt --stations 414").fails_with(2, "1 to 413 stations");
    place.run("generate x.txt --stations 0").fails_with(2, "1 to 413 stations");
    place.run("generate x.txt --rows 1.5M").fails_with(2, "--rows");
    place.run("convert t.txt x.buren --row-group 1k").fails_with(2, "between 64k and 64M");
    place.run("convert t.txt x.buren --compression zip").fails_with(2, "snappy");
    place.run("convert t.txt x.buren --key nope").fails_with(2, "nope");
    assert_eq!(place.names(), ["t.txt"]);
}
