//! The cost of writing alone: several threads write the same buffer repeatedly into one new file, unsynced.
//!
//! ```text
//! cargo run --release -p brc-encodings --example write_floor -- FILE BYTES [THREADS]
//! ```
//!
//! No program that writes as many bytes this way can be faster. `scripts/bench.py` compares `brc generate` with it.

#![forbid(unsafe_code)]

use std::env;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

/// The number of bytes written at once: they stay in the L2 cache.
const BUFFER: u64 = 256 << 10;

fn main() -> io::Result<()> {
    let usage = || io::Error::new(io::ErrorKind::InvalidInput, "usage: write_floor FILE BYTES [THREADS]");
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or_else(usage)?;
    let length = arguments.next().and_then(|bytes| bytes.parse().ok()).ok_or_else(usage)?;
    let threads = match arguments.next() {
        Some(threads) => threads.parse().map_err(|_| usage())?,
        None => thread::available_parallelism()?.get(),
    };
    let file = File::create_new(path)?;
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(|| write_pieces(&file, length, &next))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| io::Error::other("a thread failed"))?)
    })
}

/// Writes pieces of a file, always the next one that no thread has taken, until all are written.
fn write_pieces(file: &File, length: u64, next: &AtomicU64) -> io::Result<()> {
    let buffer = vec![b'x'; BUFFER as usize];
    loop {
        let start = next.fetch_add(BUFFER, Relaxed);
        if start >= length {
            return Ok(());
        }
        file.write_all_at(&buffer[..BUFFER.min(length - start) as usize], start)?;
    }
}
