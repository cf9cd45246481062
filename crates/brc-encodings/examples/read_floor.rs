//! The cost of reading alone: several threads read a file, each into its buffer, and do nothing with it.
//!
//! ```text
//! cargo run --release -p brc-encodings --example read_floor -- FILE [THREADS]
//! ```
//!
//! No program that reads the file this way can be faster. `scripts/bench.py` compares query times with it.

#![forbid(unsafe_code)]

use std::env;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

/// The number of bytes read at once: they stay in the L2 cache.
const BUFFER: usize = 256 << 10;

fn main() -> io::Result<()> {
    let usage = || io::Error::new(io::ErrorKind::InvalidInput, "usage: read_floor FILE [THREADS]");
    let mut arguments = env::args().skip(1);
    let file = File::open(arguments.next().ok_or_else(usage)?)?;
    let threads = match arguments.next() {
        Some(threads) => threads.parse().map_err(|_| usage())?,
        None => thread::available_parallelism()?.get(),
    };
    println!("{}", read_all(&file, threads)?);
    Ok(())
}

/// Reads the whole file; returns its length.
fn read_all(file: &File, threads: usize) -> io::Result<u64> {
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(|| read_pieces(file, &next))).collect();
        workers.into_iter().map(|worker| worker.join().map_err(|_| io::Error::other("a thread failed"))?).sum()
    })
}

/// Reads pieces of a file, always the next one that no thread has taken, until none is left.
fn read_pieces(file: &File, next: &AtomicU64) -> io::Result<u64> {
    let mut buffer = vec![0; BUFFER];
    let mut bytes = 0;
    loop {
        let start = next.fetch_add(BUFFER as u64, Relaxed);
        let read = read_piece(file, &mut buffer, start)?;
        bytes += read as u64;
        if read < BUFFER {
            return Ok(bytes);
        }
    }
}

/// Fills the buffer from an offset on, as far as the file goes.
fn read_piece(file: &File, buffer: &mut [u8], start: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], start + filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}
