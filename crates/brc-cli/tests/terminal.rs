//! Tests that no control characters of tables or file names reach a terminal.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::Command;

/// The output of a command on a terminal, from standard output and standard error.
fn on_terminal(place: &Place, arguments: &[&str]) -> String {
    shown(place.command_of(arguments), 0)
}

/// The output on a terminal of the given width.
fn shown(mut command: Command, width: u16) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    tcsetwinsize(&terminal, Winsize { ws_row: 24, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let end = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let mut child = command.stdout(end.try_clone().unwrap()).stderr(end).spawn().unwrap();
    // Dropping the command closes the last descriptors of that end of the terminal.
    drop(command);
    let mut printed = Vec::new();
    let mut buffer = [0; 1024];
    let mut terminal = File::from(terminal);
    // Linux reports an error when the other end is closed.
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
fn tables_are_coloured_on_a_terminal_only() {
    let place = Place::new();
    place.write("t.csv", "a,b\nx\x1b[2J,1\ny,\n");
    let coloured = "\x1b[1m a             b\x1b[0m\n";
    let coloured_null = "\x1b[2mnull\x1b[0m\n";
    let on_terminal = |arguments: &[&str], variable: Option<&str>| {
        let mut command = place.command_of(arguments);
        command.env("TERM", "xterm").env_remove("CLICOLOR");
        match variable {
            Some(name) => command.env(name, "1"),
            None => command.env_remove("NO_COLOR"),
        };
        // Wide enough that nothing is wrapped, as in a pipe.
        shown(command, 200)
    };
    for arguments in [&["head", "t.csv"][..], &["sniff", "t.csv"], &["query", "t.csv", "select * from t"]] {
        let text = on_terminal(arguments, None);
        assert!(text.contains(coloured) && text.contains(coloured_null), "{text:?}");
        // Escapes within the table stay escaped.
        assert!(text.contains("x\\x1b[2J") && !text.contains("\x1b[2J"), "{text:?}");
        let plain = text.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "");
        assert_eq!(on_terminal(arguments, Some("NO_COLOR")), plain);
        assert_eq!(on_terminal(&[arguments, &["--color", "never"]].concat(), None), plain);
        let piped = place.run_of(arguments).text();
        assert!(!piped.contains('\x1b'), "{piped:?}");
        let forced = place.run_of(&[arguments, &["--color", "always"]].concat()).text();
        assert_eq!(forced, text);
    }
    assert!(on_terminal(&["schema", "t.csv"], None).starts_with("\x1b[1m name"));
    assert!(place.shell("CLICOLOR_FORCE=1 $BRC head t.csv").text().contains(coloured));
    assert!(!place.shell("NO_COLOR=1 CLICOLOR_FORCE=1 $BRC head t.csv").text().contains('\x1b'));
}

#[test]
fn evidence_is_wrapped_between_words() {
    let place = Place::new();
    place.write("t.csv", "name,value\na,1\nb,2\n");
    let whole = place.run("sniff t.csv").text();
    let words: Vec<_> = whole.split_whitespace().filter(|word| !word.starts_with('─')).collect();
    for width in [40, 60, 100] {
        let text = shown(place.command("sniff t.csv"), width);
        let found: Vec<_> = text.split_whitespace().filter(|word| !word.starts_with('─')).collect();
        assert_eq!(found, words, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= width.into()), "{text}");
        assert!(width < 68 || text.contains(&format!("\n{}", " ".repeat(34))), "{text}");
    }
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
fn binary_output_is_refused_before_the_query_runs() {
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
