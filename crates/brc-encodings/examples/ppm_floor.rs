//! The cost of reading an image as a table, and of only reading its bytes.
//!
//! ```text
//! cargo run --release -p brc-encodings --example ppm_floor -- raw|table FILE THREADS RUNS
//! ```
//!
//! Prints the size of the file in bytes, the processor's clock in GHz, measured before, and the nanoseconds of each
//! run. `scripts/bench-ppm.py` makes a table of the results.

#![forbid(unsafe_code)]

use brc_core::{Error, Progress, ReadAt, Result};
use brc_encodings::encoding::read_all;
use brc_encodings::{Input, OpenOptions, by_name};
use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// The number of bytes read at once without parsing: they stay in the L2 cache.
const PORTION: usize = 256 << 10;

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let usage = || Error::Usage("usage: ppm_floor raw|table FILE THREADS RUNS".to_owned());
    let [mode, path, threads, runs] = &arguments[..] else { return Err(usage()) };
    let (path, threads) = (Path::new(path), threads.parse().map_err(|_| usage())?);
    let runs: usize = runs.parse().map_err(|_| usage())?;
    let clock = gigahertz();
    let mut times = Vec::new();
    let mut bytes = 0;
    for _ in 0..runs {
        let start = Instant::now();
        bytes = match mode.as_str() {
            "raw" => raw(path, threads)?,
            "table" => {
                let table = by_name("ppm").ok_or_else(usage)?.open(Input::open(path)?, &OpenOptions::default())?;
                read_all(table.as_ref(), threads, &Progress::default())?.bytes
            }
            _ => return Err(usage()),
        };
        times.push(start.elapsed().as_nanos().to_string());
    }
    println!("{bytes} {clock:.3} {}", times.join(" "));
    Ok(())
}

/// Reads the whole file into one buffer per thread, and does nothing with it.
fn raw(path: &Path, threads: usize) -> Result<u64> {
    let file = File::open(path).map_err(Error::io(path, "open"))?;
    let next = AtomicU64::new(0);
    let work = || {
        let (mut buffer, mut bytes) = (vec![0; PORTION], 0);
        loop {
            let start = next.fetch_add(PORTION as u64, Relaxed);
            let read = file.read_full_at(&mut buffer, start).map_err(Error::io(path, "read"))?;
            bytes += black_box(&buffer[..read]).len() as u64;
            if read < PORTION {
                return Ok(bytes);
            }
        }
    };
    brc_core::workers::run_workers(threads, work).into_iter().sum()
}

/// The processor's clock in GHz: a dependent multiplication and addition takes four cycles on most processors.
fn gigahertz() -> f64 {
    const LINKS: u32 = 200_000;
    let chain = || {
        let start = Instant::now();
        let mut value = black_box(1u64);
        for _ in 0..LINKS {
            value = value.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(black_box(1));
        }
        black_box(value);
        start.elapsed().as_secs_f64()
    };
    let fastest = (0..50).map(|_| chain()).fold(f64::MAX, f64::min);
    f64::from(LINKS) * 4.0 / fastest / 1e9
}
