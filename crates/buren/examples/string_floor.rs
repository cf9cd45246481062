//! Measures string encoding: bytes per row, and nanoseconds per row to encode and decode, on synthetic columns.
//!
//! `cargo run --release -p buren --example string_floor`
//!
//! Runs on one core and takes the minimum of nine rounds for each block of 65,536 rows, decoded in batches of 2,048
//! rows. The bytes per row include the tokens.

#![allow(clippy::expect_used, reason = "what was just encoded is sound")]

#[path = "string_floor/columns.rs"]
mod columns;

use buren::strings::{
    Scratch, SortedBlock, StringBlock, StringBuffer, Strings, Tokenizer, Tokens, encode, encode_sorted, estimate,
    train_sorted,
};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const ROWS: usize = 1 << 20;
const ROWS_PER_BLOCK: usize = 1 << 16;
const BATCH: usize = 2048;
const REPEATS: usize = 9;

fn main() {
    println!(
        "{:<14} {:>7} {:>9} {:>7} {:>10} {:>10} {:>10}",
        "column", "raw", "scheme", "stored", "train ms", "encode ns", "decode ns"
    );
    for (name, column) in columns::all(ROWS) {
        measure(name, column.strings());
    }
    sorted_urls();
}

fn measure(name: &str, values: Strings<'_>) {
    let started = Instant::now();
    let estimate = estimate(values, None);
    let training = started.elapsed();
    let tokenizer = estimate.tokenizer.as_deref();
    let tokens = tokenizer.map(Tokenizer::tokens);
    let (mut scratch, mut out) = (Scratch::default(), StringBuffer::default());
    let (mut encoding, mut decoding) = (Duration::ZERO, Duration::ZERO);
    let mut stored = tokens.map_or(0, Tokens::stored_bytes);
    let mut scheme = "";
    for first in (0..values.len()).step_by(ROWS_PER_BLOCK) {
        let rows = values.slice(first..values.len().min(first + ROWS_PER_BLOCK));
        let mut block = Vec::new();
        encoding += fastest(3, || {
            block.clear();
            scheme = encode(rows, tokenizer, &mut block).scheme;
        });
        stored += block.len();
        let opened = StringBlock::open(&block, rows.len(), tokens).expect("a sound block");
        let mut decode = |look: &dyn Fn(Strings<'_>, Strings<'_>)| {
            for first in (0..rows.len()).step_by(BATCH) {
                let batch = first..rows.len().min(first + BATCH);
                opened.decode(batch.clone(), &mut scratch, &mut out).expect("a sound block");
                look(rows.slice(batch), out.strings());
            }
        };
        decode(&|rows, decoded| assert!(rows.iter().eq(decoded.iter()), "what was encoded"));
        decoding += fastest(REPEATS, || decode(&|_, _| ()));
    }
    let a_row = |time: Duration| time.as_nanos() as f64 / values.len() as f64;
    println!(
        "{name:<14} {:>7.2} {:>9} {:>7.3} {:>10.1} {:>10.1} {:>10.2}",
        values.total_bytes() as f64 / values.len() as f64,
        scheme,
        stored as f64 / values.len() as f64,
        training.as_secs_f64() * 1000.0,
        a_row(encoding),
        a_row(decoding),
    );
}

/// A dictionary of 975,000 URLs.
fn sorted_urls() {
    let mut random = columns::Random(3);
    let urls: BTreeSet<_> = (0..975_000).map(|_| columns::url(&mut random)).collect();
    let urls: StringBuffer = urls.iter().map(String::as_bytes).collect();
    let values = urls.strings();
    let tokenizer = train_sorted(values);
    let mut stored = [tokenizer.tokens().stored_bytes(), 0];
    let mut plain = 0;
    let mut decoding = Duration::ZERO;
    let mut one = Duration::ZERO;
    for first in (0..values.len()).step_by(ROWS_PER_BLOCK) {
        let rows = values.slice(first..values.len().min(first + ROWS_PER_BLOCK));
        plain += rows.total_bytes() + rows.len() * 6 / 8;
        for (stored, tokenizer) in stored.iter_mut().zip([Some(&tokenizer), None]) {
            let mut block = Vec::new();
            encode_sorted(rows, tokenizer, &mut block);
            *stored += block.len();
            let (mut scratch, mut out) = (Scratch::default(), StringBuffer::default());
            let block = SortedBlock::open(&block, rows.len(), tokenizer.map(Tokenizer::tokens)).expect("a sound block");
            let time = fastest(3, || block.decode(&mut scratch, &mut out).expect("a sound block"));
            assert!(out.strings().iter().eq(rows.iter()), "what was encoded");
            if tokenizer.is_some() {
                decoding += time;
                one += fastest(3, || {
                    for index in (0..rows.len()).step_by(655) {
                        assert_eq!(block.get(index, &mut scratch).expect("a sound block"), rows.get(index));
                    }
                });
            }
        }
    }
    let count = values.len() as f64;
    println!(
        "dictionary of {count} URLs: {:.1} MB; in plain blocks {:.1}",
        values.total_bytes() as f64 / 1e6,
        plain as f64 / 1e6
    );
    println!("  front-coded {:.2} MB; and as tokens {:.2} MB", stored[1] as f64 / 1e6, stored[0] as f64 / 1e6);
    println!(
        "  decode {:.1} ns a value; one value {:.0} ns",
        decoding.as_nanos() as f64 / count,
        one.as_nanos() as f64 / (count / 655.0)
    );
}

fn fastest(repeats: usize, mut run: impl FnMut()) -> Duration {
    let mut fastest = Duration::MAX;
    for _ in 0..repeats {
        let started = Instant::now();
        run();
        fastest = fastest.min(started.elapsed());
    }
    fastest
}
