//! The cost of an encoding with its library alone, and with this crate.
//!
//! For each encoding of rows, a plain loop writes rows from memory with the encoding's library, and a second one
//! decodes them with borrowed strings and groups them in a hash map. The comparison is this crate with the same rows:
//! encoding with frames and checksums; decoding, and adding up by codes. One thread, medians, everything in one run.
//! Files are in the page cache, and reading them is not included. `capnp_floor` has faster loops for Cap'n Proto.
//!
//! ```sh
//! cargo run --release -p brc-encodings --example library_floor -- measurements.txt [ROWS] [ENCODING]
//! ```

#![forbid(unsafe_code)]

mod bare;
mod columns;
mod messages;
#[path = "../shared/mod.rs"]
mod shared;
#[allow(warnings, clippy::all, clippy::pedantic, clippy::unwrap_used)]
#[path = "../../src/capnp/table_capnp.rs"]
mod table_capnp;

use brc_core::{Error, Result};
use shared::adder::Adder;
use shared::rows::Rows;
use shared::{RUNS, medians, ours};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = || Error::Usage("library_floor FILE [ROWS] [ENCODING]".to_owned());
    let path = arguments.first().ok_or_else(usage)?;
    let max_rows = arguments.get(1).map_or(Ok(2_000_000), |rows| rows.parse()).map_err(|_| usage())?;
    let rows = Rows::load(Path::new(path), max_rows)?;
    let expected = rows.groups();
    println!("{} rows, {} names; ns per row, median of {RUNS}\n", rows.len(), expected.len());
    println!("{:<14} {:>8} {:>8} {:>7}   {:>8} {:>8} {:>7}", "", "encode", "ours", "", "decode", "ours", "");
    for bare in bare::LIBRARIES.iter().filter(|bare| arguments.get(2).is_none_or(|name| name == bare.name)) {
        let encoding = brc_encodings::by_name(bare.name).ok_or_else(usage)?;
        let pairs = rows.pairs();
        let mut bytes = Vec::new();
        (bare.encode)(&pairs, &mut bytes);
        let file = ours::file(encoding, &rows)?;
        let times = medians(rows.len(), || {
            let start = Instant::now();
            bytes.clear();
            (bare.encode)(&pairs, &mut bytes);
            let encode = start.elapsed();

            let our_encode = ours::encode(encoding, &rows)?;

            let start = Instant::now();
            let groups = (bare.decode)(&bytes);
            let decode = start.elapsed();
            check(groups.as_ref() == Some(&expected), bare.name)?;

            let mut adder = Adder::new();
            let our_decode = ours::decode(encoding, &file, &mut adder)?;
            check(adder.groups() == expected, bare.name)?;
            Ok([encode, our_encode, decode, our_decode])
        });
        let [encode, our_encode, decode, our_decode] = times?;
        let percent = |ours: f64, floor: f64| format!("{:+.0} %", (ours / floor - 1.0) * 100.0);
        println!(
            "{:<14} {encode:>8.1} {our_encode:>8.1} {:>7}   {decode:>8.1} {our_decode:>8.1} {:>7}",
            bare.name,
            percent(our_encode, encode),
            percent(our_decode, decode)
        );
    }
    Ok(())
}

fn check(holds: bool, name: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Usage(format!("{name}: the groups are not those of the rows"))) }
}
