//! A terminal obeys control characters, so none that stand in a table or in a file's name may get there.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::Read;

/// What the command prints on a terminal, be it on standard output or on standard error.
fn on_terminal(place: &Place, arguments: &[&str]) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let end = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let mut command = place.command_of(arguments);
    let mut child = command.stdout(end.try_clone().unwrap()).stderr(end).spawn().unwrap();
    // With the command go the last descriptors of that end of the terminal.
    drop(command);
    let mut printed = Vec::new();
    let mut buffer = [0; 1024];
    let mut terminal = File::from(terminal);
    // The system reports an error when nobody has the other end any more.
    while let Ok(read @ 1..) = terminal.read(&mut buffer) {
        printed.extend_from_slice(&buffer[..read]);
    }
    child.wait().unwrap();
    String::from_utf8(printed).unwrap().replace("\r\n", "\n")
}

#[test]
fn names_are_escaped_on_a_terminal_only() {
    let place = Place::new();
    let text = b"\x1b[2Jred;1.0\nK\xf6ln;2.0\n";
    place.write("t.txt", text);
    for (format, bytes, shown) in [
        (
            "1brc",
            &b"{\x1b[2Jred=1.0/1.0/1.0, K\xf6ln=2.0/2.0/2.0}\n"[..],
            "{\\x1b[2Jred=1.0/1.0/1.0, K\\xf6ln=2.0/2.0/2.0}\n",
        ),
        ("csv", b"station,count()\n\x1b[2Jred,1\nK\xf6ln,1\n", "station,count()\n\\x1b[2Jred,1\nK\\xf6ln,1\n"),
    ] {
        let aggregates: &[&str] = if format == "csv" { &["--agg", "count()"] } else { &[] };
        let arguments = [&["query", "t.txt", "--format", format], aggregates].concat();
        assert_eq!(place.run_of(&arguments).ok(), bytes);
        assert!(on_terminal(&place, &arguments).ends_with(shown), "{shown}");
    }
    place.run("convert t.txt t.buren").ok();
    let inspected = on_terminal(&place, &["inspect", "t.buren"]);
    assert!(inspected.contains("\\x1b[2Jred") && !inspected.contains("\x1b[2Jred"), "{inspected}");
}

#[test]
fn messages_have_no_control_characters() {
    let place = Place::new();
    place.write("\x1b[2Jt.txt", "\x1b[1m;x\na;1\nb\nc;2\n");
    place.run_of(&["query", "\x1b[2Jt.txt"]).fails_with(3, "brc: \\x1b[2Jt.txt: line 3, ");
    place.run_of(&["query", "\x1b[2Jt.txt", "--by", "y"]).fails_with(2, "(columns: \\x1b[1m, x)");
    place.write("\x1b[2Jt.txt", "\x1b[1m;x\na;1\n");
    let outcome = place.run_of(&["query", "\x1b[2Jt.txt", "--explain", "--agg", "max(x)"]);
    assert!(outcome.stderr.contains("columns     \\x1b[1m:string,x:int64\n"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains('\x1b'));
    let answer = outcome.text();
    assert!(answer.starts_with(" \\x1b[1m   max(x)\n"), "{answer}");
}

#[test]
fn binary_data_is_refused_before_anything_is_asked() {
    let place = Place::new();
    place.write("t.csv", "a,b\nx,1\n");
    for arguments in
        [&["query", "t.csv", "--by", "a", "--agg", "sum(b)"][..], &["query", "t.csv", "select *"], &["head", "t.csv"]]
    {
        let arguments = [arguments, &["--format", "arrow"]].concat();
        let printed = on_terminal(&place, &arguments);
        assert!(printed.starts_with("brc: --format arrow writes binary data"), "{printed}");
        assert!(place.run_of(&arguments).ok().starts_with(b"\xff\xff\xff\xff"));
    }
}
