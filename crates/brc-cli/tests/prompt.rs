//! Tests of the prompt of `brc query`, on a pseudo-terminal.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Place;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The time limit for each step.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A run on its own pseudo-terminal.
struct Terminal {
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    /// The output that was not yet matched.
    printed: String,
    child: Child,
}

impl Terminal {
    fn run(place: &Place, arguments: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        tcsetwinsize(&terminal, Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let end = OpenOptions::new().read(true).write(true).open(name).unwrap();
        let mut command = place.command_of(arguments);
        command.env("TERM", "xterm").env("XDG_STATE_HOME", place.path("state"));
        command.stdin(end.try_clone().unwrap()).stdout(end.try_clone().unwrap()).stderr(end);
        let child = command.spawn().unwrap();
        let keyboard = File::from(terminal);
        let mut output = keyboard.try_clone().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 1024];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { keyboard, screen, printed: String::new(), child }
    }

    fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for a text; removes and returns the output up to it.
    fn shows(&mut self, text: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some(at) = self.printed.find(text) {
                let rest = self.printed.split_off(at + text.len());
                return std::mem::replace(&mut self.printed, rest);
            }
            let left = TIMEOUT.checked_sub(start.elapsed());
            match left.and_then(|left| self.screen.recv_timeout(left).ok()) {
                Some(bytes) => self.printed.push_str(&String::from_utf8_lossy(&bytes).replace("\r\n", "\n")),
                None => {
                    self.child.kill().unwrap();
                    panic!("no {text:?} in {:?}", self.printed);
                }
            }
        }
    }

    /// Sends SIGINT, as a controlling terminal does on Ctrl-C.
    fn interrupted(&mut self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Waits for the end; returns the exit code.
    fn ends(mut self) -> Option<i32> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            if start.elapsed() > TIMEOUT {
                self.child.kill().unwrap();
                panic!("it does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

const SALES: &str = "city,day,price\nOslo,mon,12.50\nOslo,tue,10.50\nBergen,mon,11.50\n";

#[test]
fn statements_and_commands_are_typed() {
    let place = Place::new();
    place.write("sales.csv", SALES);
    place.write("other.csv", "x\n77\n");
    let mut terminal = Terminal::run(&place, &["query", "sales.csv"]);
    terminal.shows("\\q ends");
    terminal.shows("brc> ");
    terminal.types("select city, count(*) as n\r");
    terminal.types("group by city;\r");
    terminal.shows(" city     n\n────────────\n Bergen   1\n Oslo     2\n");
    terminal.shows("brc> ");
    terminal.types("select nothing;\r");
    terminal.shows("brc: unknown column 'nothing' (columns: city, day, price)");
    terminal.shows("brc> ");
    terminal.types("select max(price) from 'other.csv';\r");
    terminal.shows("unknown table 'other.csv' (tables: sales)");
    terminal.shows("brc> ");
    terminal.types(".mode csv\r");
    terminal.shows("brc> ");
    terminal.types("select max(price) as p; select min(price) as p from sales;\r");
    terminal.shows("p\n12.50\np\n10.50\n");
    terminal.shows("brc> ");
    terminal.types(".timer on\r");
    terminal.shows("brc> ");
    terminal.types("\\d\r");
    terminal.shows("price   decimal(18,2)   null\n");
    terminal.shows("time 0.");
    terminal.shows("brc> ");
    terminal.types(".mode sql\r");
    terminal.shows("unknown format 'sql' (formats: 1brc, table, vertical, csv, tsv, json, json-array, markdown)");
    terminal.shows("brc> ");
    terminal.types("\\x\r");
    terminal.shows("unknown command '\\x'; \\? lists them");
    terminal.shows("brc> ");
    terminal.types(".help\r");
    terminal.shows("Ctrl-C discards the line");
    terminal.shows("brc> ");
    // A discarded line is not run, and Tab completes a column.
    terminal.types("select 'dropped\x03");
    terminal.shows("brc> ");
    terminal.types("select max(pri\t) as m;\r");
    terminal.shows("m\n12.50\n");
    terminal.shows("brc> ");
    terminal.types("\\q\r");
    assert_eq!(terminal.ends(), Some(0));

    let history = String::from_utf8(place.read("state/brc/history")).unwrap();
    assert!(history.contains("select nothing;\n") && history.contains("max(price) as m;"), "{history}");
    assert!(!history.contains("dropped"), "{history}");
    let mode = |name: &str| std::fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("state/brc"), mode("state/brc/history")), (0o700, 0o600));

    // The history of one run is available in the next.
    let mut terminal = Terminal::run(&place, &["query", "sales.csv"]);
    terminal.shows("brc> ");
    terminal.types("\x1b[A\x1b[A\r");
    terminal.shows(" m\n───────\n 12.50\n");
    terminal.shows("brc> ");
    terminal.types("\x04");
    assert_eq!(terminal.ends(), Some(0));
}

#[test]
fn a_prompt_opens_without_a_query() {
    let place = Place::new();
    place.write("sales.csv", SALES);
    place.write("small.txt", "Oslo;1.0\nBergen;2.0\n");
    // The table of the challenge has a default query.
    let mut terminal = Terminal::run(&place, &["query", "small.txt"]);
    terminal.shows("{Bergen=2.0/2.0/2.0, Oslo=1.0/1.0/1.0}\n");
    assert_eq!(terminal.ends(), Some(0));
    let mut terminal = Terminal::run(&place, &["query", "-i", "small.txt"]);
    terminal.shows("brc> ");
    terminal.types("exit\r");
    assert_eq!(terminal.ends(), Some(0));
    let mut terminal = Terminal::run(&place, &["query"]);
    terminal.shows("brc> ");
    terminal.types("from 'sales.csv' select max(price) as m;\r");
    terminal.shows(" m\n───────\n 12.50\n");
    terminal.shows("brc> ");
    terminal.types("select 1;\r");
    terminal.shows("no file is given");
    terminal.shows("brc> ");
    terminal.types("\x04");
    assert_eq!(terminal.ends(), Some(0));

    for (arguments, shown) in [
        (&["query", "sales.csv", "select 1 as one limit 1"][..], " one\n"),
        (&["query", "sales.csv", "--by", "city"], "{Bergen=11.50/"),
        (&["query", "sales.csv", "--format", "csv"], "no single column to group by"),
        (&["query", "none.csv"], "none.csv"),
        (&["query", "-i", "sales.csv", "select 1"], "--interactive takes its queries from the terminal"),
    ] {
        let mut terminal = Terminal::run(&place, arguments);
        let printed = terminal.shows(shown);
        assert!(!printed.contains("brc> "), "{printed}");
        terminal.ends();
    }
    place.run("query sales.csv").fails_with(2, "no single column to group by");
    place.run("query -i sales.csv").fails_with(2, "--interactive needs a terminal");
}

/// Ctrl-C ends the current statement, and the prompt continues.
#[test]
fn ctrl_c_ends_a_statement_and_not_the_run() {
    if common::ignores(Signal::INT.as_raw()) {
        // Undo the ignored signal if this test runs in the background.
        return;
    }
    let place = Place::new();
    place.write("sales.csv", SALES);
    assert_eq!(place.shell("mkfifo endless.csv").code, Some(0));
    let mut terminal = Terminal::run(&place, &["query"]);
    terminal.shows("brc> ");
    // An endless table.
    let fifo = place.path("endless.csv");
    let writer = std::thread::spawn(move || {
        let mut pipe = OpenOptions::new().write(true).open(fifo).unwrap();
        let rows = "city,n\n".to_owned() + &"Oslo,1\n".repeat(10_000);
        while pipe.write_all(rows.as_bytes()).is_ok() {}
    });
    terminal.types("from 'endless.csv' select n, count(*) group by n;\r");
    terminal.shows(" rows, ");
    terminal.interrupted();
    terminal.shows("brc: interrupted");
    terminal.shows("brc> ");
    writer.join().unwrap();
    terminal.types("from 'sales.csv' select max(price) as m;\r");
    terminal.shows(" m\n───────\n 12.50\n");
    terminal.shows("brc> ");
    terminal.types("\\q\r");
    assert_eq!(terminal.ends(), Some(0));
    // Without a prompt, Ctrl-C ends the run.
    let fifo = place.path("endless.csv");
    let writer = std::thread::spawn(move || {
        let mut pipe = OpenOptions::new().write(true).open(fifo).unwrap();
        while pipe.write_all(&b"Oslo,1\n".repeat(10_000)).is_ok() {}
    });
    let mut terminal = Terminal::run(&place, &["query", "endless.csv", "select count(*)"]);
    terminal.shows(" rows, ");
    terminal.interrupted();
    assert_eq!(terminal.ends(), None);
    writer.join().unwrap();
}
