//! Measures the cost of finding the structure of a text, on one core, in seconds per GB (10^9 bytes), minimum of nine
//! runs.
//!
//! ```text
//! cargo run --release -p brc-text --example structure_floor -- table.csv [COLUMNS]
//! ```
//!
//! `read` is the floor: the file is read into a buffer and discarded. All other results include it.

#![forbid(unsafe_code)]

use brc_kernels::cpu::Level;
use brc_kernels::structure::{Cursor, LineEnd, State, Syntax, Transition, scan};
use brc_text::rows::{Chain, Cut, Piece, RowOptions, RowScanner};
use memchr::memchr_iter;
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::time::Instant;

const RUNS: usize = 9;
const CHUNK: usize = 512 << 10;
const WINDOW: usize = 32 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("structure_floor FILE [COLUMNS]")?;
    let columns = arguments.next().map_or(Ok(16), |columns| columns.parse())?;
    let syntax = Syntax::new(b',', LineEnd::Lf)?.with_quote(b'"')?;
    println!("{:<9} {:<22} {:>7}  found", "level", "what", "s a GB");
    measure(&path, "", "read", |chunk, _| (0, chunk.len()))?;
    measure(&path, "", "count line ends", |chunk, _| (memchr_iter(b'\n', chunk).count(), chunk.len()))?;
    for level in Level::available() {
        let mut ends = Vec::new();
        let mut state = State::RowStart;
        measure(&path, level.name(), "offsets of all fields", |chunk, first| {
            state = if first { State::RowStart } else { state };
            let (mut cursor, mut found) = (Cursor { state, ..Cursor::START }, 0);
            while cursor.at < chunk.len() {
                ends.clear();
                let to = chunk.len().min(cursor.at + WINDOW);
                // Malformed rows are ignored.
                let _ = scan(level, &syntax, chunk, &mut cursor, to, &mut ends);
                found += ends.len();
            }
            state = cursor.state;
            (found, chunk.len())
        })?;
        measure(&path, level.name(), "both start states", |chunk, first| {
            state = if first { State::RowStart } else { state };
            state = Transition::new(level, &syntax, chunk).state(state);
            (usize::from(state.is_inside_quotes()), chunk.len())
        })?;
        measure_rows(&path, level, &syntax, columns)?;
    }
    Ok(())
}

/// Cuts chunks with transitions for both start states, and scans the rows of the table in them.
fn measure_rows(path: &str, level: Level, syntax: &Syntax, columns: usize) -> Result<(), Box<dyn Error>> {
    let mut scanner = RowScanner::new(level, syntax.clone(), RowOptions::new(columns));
    let mut chain = Chain::new(RowOptions::MAX_ROW);
    let mut left = 0;
    measure(path, level.name(), "both, then rows", |text, first| {
        if first {
            (chain, left) = (Chain::new(RowOptions::MAX_ROW), 0);
        }
        // The remainder of the previous chunk has been scanned already.
        let new = &text[left..];
        let Cut::Rows(bytes) = chain.advance(&Transition::new(level, syntax, new), new.len()) else {
            left = text.len();
            return (0, 0);
        };
        let used = left + bytes;
        left = text.len() - used;
        let mut rows = 0;
        let piece = Piece { text: &text[..used], skip: false, last: false };
        let Ok(_) = scanner.scan(piece, |batch| {
            rows += batch.len();
            Ok::<_, std::convert::Infallible>(())
        });
        (rows, used)
    })
}

/// Reads the file chunk by chunk. `work` is passed whether a chunk is the first one, and returns the number of findings
/// and of bytes consumed; the remainder is prepended to the next chunk.
fn measure(
    path: &str,
    level: &str,
    what: &str,
    mut work: impl FnMut(&[u8], bool) -> (usize, usize),
) -> Result<(), Box<dyn Error>> {
    let mut buffer = vec![0; 2 * CHUNK];
    let (mut best, mut found, mut bytes) = (f64::INFINITY, 0, 0);
    for _ in 0..RUNS {
        let mut file = File::open(path)?;
        let start = Instant::now();
        let mut left = 0;
        (found, bytes) = (0, 0);
        loop {
            if left > CHUNK {
                return Err("a row is too long to be measured".into());
            }
            let length = file.read(&mut buffer[left..left + CHUNK])?;
            if length == 0 {
                break;
            }
            let (more, used) = work(&buffer[..left + length], bytes == 0);
            buffer.copy_within(used..left + length, 0);
            left = left + length - used;
            found += more;
            bytes += length;
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{level:<9} {what:<22} {:>7.3}  {found}", best * 1e9 / bytes as f64);
    Ok(())
}
