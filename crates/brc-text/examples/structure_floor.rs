//! What finding the structure of a text costs, on one core, in seconds a GB (10^9 bytes), minimum of nine runs.
//!
//! ```text
//! cargo run --release -p brc-text --example structure_floor -- table.csv [COLUMNS]
//! ```
//!
//! `read` is the floor: the file is read into a buffer, and nothing is done with it. Everything else includes it.

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
    measure(&path, "", "read", |_, _| 0)?;
    measure(&path, "", "count line ends", |chunk, _| memchr_iter(b'\n', chunk).count())?;
    for level in Level::available() {
        let mut ends = Vec::new();
        let mut state = State::RowStart;
        measure(&path, level.name(), "offsets of all fields", |chunk, first| {
            state = if first { State::RowStart } else { state };
            let (mut cursor, mut found) = (Cursor { state, ..Cursor::START }, 0);
            while cursor.at < chunk.len() {
                ends.clear();
                let to = chunk.len().min(cursor.at + WINDOW);
                // A malformed row is left out.
                let _ = scan(level, &syntax, chunk, &mut cursor, to, &mut ends);
                found += ends.len();
            }
            state = cursor.state;
            found
        })?;
        measure(&path, level.name(), "both start states", |chunk, first| {
            state = if first { State::RowStart } else { state };
            state = Transition::new(level, &syntax, chunk).state(state);
            usize::from(state.is_inside_quotes())
        })?;
        measure_rows(&path, level, &syntax, columns)?;
    }
    Ok(())
}

/// Cuts chunks by both start states, and takes the rows of the table out of them.
fn measure_rows(path: &str, level: Level, syntax: &Syntax, columns: usize) -> Result<(), Box<dyn Error>> {
    let mut scanner = RowScanner::new(level, syntax.clone(), RowOptions::new(columns));
    let mut chain = Chain::new(RowOptions::MAX_ROW);
    let mut pending = Vec::new();
    measure(path, level.name(), "both, then rows", |chunk, first| {
        if first {
            pending.clear();
            chain = Chain::new(RowOptions::MAX_ROW);
        }
        let cut = chain.advance(&Transition::new(level, syntax, chunk), chunk.len());
        let Cut::Rows(bytes) = cut else {
            pending.extend_from_slice(chunk);
            return 0;
        };
        // The row that lies across chunks is put together, so that the rest need not be copied.
        let mut rows = 0;
        let end = memchr_iter(b'\n', chunk).map(|place| place + 1).find(|&end| end <= bytes).unwrap_or(bytes);
        pending.extend_from_slice(&chunk[..end]);
        for text in [&pending, &chunk[end..bytes]] {
            let piece = Piece { text, skip: false, last: false };
            let Ok(_) = scanner.scan(piece, |batch| {
                rows += batch.len();
                Ok::<_, std::convert::Infallible>(())
            });
        }
        pending.clear();
        pending.extend_from_slice(&chunk[bytes..]);
        rows
    })
}

/// Runs through the file, chunk by chunk; `work` is also told whether a chunk is the first one.
fn measure(
    path: &str,
    level: &str,
    what: &str,
    mut work: impl FnMut(&[u8], bool) -> usize,
) -> Result<(), Box<dyn Error>> {
    let mut buffer = vec![0; CHUNK];
    let (mut best, mut found, mut bytes) = (f64::INFINITY, 0, 0);
    for _ in 0..RUNS {
        let mut file = File::open(path)?;
        let start = Instant::now();
        (found, bytes) = (0, 0);
        loop {
            let length = file.read(&mut buffer)?;
            if length == 0 {
                break;
            }
            found += work(&buffer[..length], bytes == 0);
            bytes += length;
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{level:<9} {what:<22} {:>7.3}  {found}", best * 1e9 / bytes as f64);
    Ok(())
}
