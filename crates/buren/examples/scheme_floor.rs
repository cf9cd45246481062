//! Measures size and speed of integer schemes: bytes and nanoseconds per value of realistic columns, on one core.
//!
//! ```text
//! cargo run --release -p buren --example scheme_floor
//! ```
//!
//! Each chunk is decoded in batches into one buffer that stays in the first-level cache, as in a scan; the time is the
//! minimum of several rounds. The columns are synthetic, with the distributions of TPC-H's `lineitem` and h2o's `g1`.

#![forbid(unsafe_code)]

use buren::integers::{BLOCK_ROWS, Block, Chunk, Decodable, Plan, wide};
use buren::{Malformed, floats};
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 1 << 20;
const BATCH: usize = 2048;
const ROUNDS: usize = 9;

fn main() -> Result<(), Malformed> {
    println!("{:<16} {:<12} {:>8} {:>8} {:>8} {:>8} {:>8}", "", "", "bytes", "ns", "", "", "ns");
    println!(
        "{:<16} {:<12} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "column", "scheme", "a value", "to i64", "to i32", "to i16", "encode"
    );
    for (name, scheme, values, reference) in columns() {
        measure(name, scheme, &values, &reference)?;
    }
    measure_floats("decimals", &random(11).map(|random| (random % 100_000_000) as f64 / 1e6).collect::<Vec<_>>())?;
    measure_floats("computed", &random(12).map(|random| (random as f64).sqrt()).collect::<Vec<_>>())?;
    measure_wide("decimal(38)", &random(13).map(|random| i128::from(random) * 1_000_003).collect::<Vec<_>>())
}

type Column = (&'static str, Option<&'static str>, Vec<i64>, Vec<i64>);

/// Columns, each with the scheme to measure if it is not the chosen one.
fn columns() -> Vec<Column> {
    let chosen = |name, values| (name, None, values, Vec::new());
    let forced = |name, scheme, values| (name, Some(scheme), values, Vec::new());
    let below = |seed, limit: u64| random(seed).map(move |random| (random % limit) as i64).collect::<Vec<_>>();
    let prices = |seed| random(seed).map(|random| ((random % 50 + 1) * (90_000 + (random >> 32) % 110_000)) as i64);
    let dates = below(5, 2526);
    let later = |seed, low: i64, days: u64| -> Vec<i64> {
        dates.iter().zip(random(seed)).map(|(date, random)| date + low + (random % days) as i64).collect()
    };
    let far = random(9).map(|random| (random % 1000) as i64 + if random >> 32 & 127 == 0 { 1 << 40 } else { 0 });
    let distinct: Vec<_> = random(1).take(100).map(|random| random as i64).collect();
    vec![
        chosen("constant", vec![7; ROWS]),
        chosen("row number", (0..ROWS as i64).collect()),
        chosen("bool", below(1, 2)),
        chosen("linenumber", below(2, 7)),
        chosen("partkey", below(3, 400_000)),
        chosen("suppkey", below(4, 20_000)),
        chosen("extendedprice", prices(6).collect()),
        chosen("quantity", below(7, 50).iter().map(|quantity| 100 * quantity).collect()),
        chosen("shipdate", dates.clone()),
        ("commitdate", None, later(8, -121, 243), dates.clone()),
        ("receiptdate", None, later(9, 1, 30), dates.clone()),
        chosen("one in 128 far", far.collect()),
        chosen("100 distinct", random(10).map(|random| distinct[random as usize % 100]).collect()),
        chosen("orderkey", order_keys()),
        forced("orderkey", "run-length", order_keys()),
        forced("orderkey", "packed", order_keys()),
        chosen("runs of 50", dates.iter().step_by(50).flat_map(|&date| [date; 50]).take(ROWS).collect()),
        forced("shipdate", "plain", dates),
        chosen("random", random(14).map(|random| random as i64).collect()),
    ]
}

/// Sorted keys, eight of every 32, each repeated one to seven times.
fn order_keys() -> Vec<i64> {
    let key = |order: usize| (order / 8 * 32 + order % 8) as i64;
    random(15)
        .enumerate()
        .flat_map(|(order, random)| std::iter::repeat_n(key(order), random as usize % 7 + 1))
        .take(ROWS)
        .collect()
}

/// Deterministic pseudo-random numbers.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..ROWS).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 3
    })
}

fn measure(name: &str, scheme: Option<&str>, values: &[i64], reference: &[i64]) -> Result<(), Malformed> {
    let choose = || match scheme {
        Some(scheme) => Plan::with_scheme(scheme, values, reference),
        None => Some(Plan::choose(values, reference)),
    };
    let Some(plan) = choose() else { return Ok(()) };
    let (mut parameters, mut blocks) = (Vec::new(), Vec::new());
    let encoding = minimum(|| {
        let Some(plan) = choose() else { return Ok(()) };
        (parameters, blocks) = encode(&plan, values, reference);
        Ok(())
    })?;
    let chunk = Chunk::open(plan.scheme_id(), &parameters)?;
    let size = parameters.len() + blocks.iter().map(Vec::len).sum::<usize>();
    let (min, max) = (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0));
    let narrow = |bits: u32| min >= i64::MIN >> (64 - bits) && max <= i64::MAX >> (64 - bits);
    let wide = Some(decoding(&chunk, &blocks, values, reference, |value| value)?);
    let i32 = match narrow(32) {
        true => Some(decoding(&chunk, &blocks, values, reference, |value| value as i32)?),
        false => None,
    };
    let i16 = match narrow(16) {
        true => Some(decoding(&chunk, &blocks, values, reference, |value| value as i16)?),
        false => None,
    };
    print(name, plan.scheme(), size, [wide, i32, i16, Some(encoding)]);
    Ok(())
}

fn encode(plan: &Plan, values: &[i64], reference: &[i64]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut parameters = Vec::new();
    plan.encode_parameters(&mut parameters);
    let blocks = (0..values.len().div_ceil(BLOCK_ROWS)).map(|number| {
        let mut block = Vec::new();
        plan.encode_block(number, values, reference, &mut block);
        block
    });
    let blocks = blocks.collect();
    (parameters, blocks)
}

/// The decoding time in nanoseconds per value. First checks that decoding restores the values.
fn decoding<T: Decodable>(
    chunk: &Chunk,
    blocks: &[Vec<u8>],
    values: &[i64],
    reference: &[i64],
    cut: impl Fn(i64) -> T,
) -> Result<f64, Malformed> {
    let reference: Vec<_> = reference.iter().map(|&value| cut(value)).collect();
    let mut out = [T::default(); BATCH];
    let mut decode = |check: bool| {
        for (number, bytes) in blocks.iter().enumerate() {
            let start = number * BLOCK_ROWS;
            let block = Block { bytes, rows: BLOCK_ROWS.min(values.len() - start), start: start as u64 };
            for first in (0..block.rows).step_by(BATCH) {
                let out = &mut out[..BATCH.min(block.rows - first)];
                let rows = start + first..start + first + out.len();
                // The reference column is in the cache, because a scan has just decoded it.
                let of_reference = if check { rows.clone() } else { 0..out.len() };
                chunk.decode(&block, first, reference.get(of_reference).unwrap_or_default(), out)?;
                assert!(!check || out.iter().zip(&values[rows]).all(|(out, value)| *out == cut(*value)));
                black_box(out);
            }
        }
        Ok(())
    };
    decode(true)?;
    minimum(|| decode(false))
}

fn measure_floats(name: &str, values: &[f64]) -> Result<(), Malformed> {
    let (mut parameters, mut blocks) = (Vec::new(), Vec::new());
    let encoding = minimum(|| {
        let plan = floats::Plan::choose(values);
        (parameters, blocks) = (Vec::new(), vec![Vec::new(); ROWS / BLOCK_ROWS]);
        plan.encode_parameters(&mut parameters);
        blocks.iter_mut().enumerate().for_each(|(number, block)| plan.encode_block(number, block));
        Ok(())
    })?;
    let chunk = floats::Chunk::open(&parameters)?;
    let mut out = vec![0.0; BATCH];
    let decoding = minimum(|| decode_all(&blocks, |block, first| chunk.decode(block, first, black_box(&mut out))))?;
    let size = parameters.len() + blocks.iter().map(Vec::len).sum::<usize>();
    print(name, chunk.scheme(), size, [Some(decoding), None, None, Some(encoding)]);
    Ok(())
}

fn measure_wide(name: &str, values: &[i128]) -> Result<(), Malformed> {
    let plan = wide::Plan::choose(values);
    let (mut parameters, mut blocks) = (Vec::new(), vec![Vec::new(); ROWS / BLOCK_ROWS]);
    plan.encode_parameters(&mut parameters);
    blocks.iter_mut().enumerate().for_each(|(number, block)| plan.encode_block(number, block));
    let chunk = wide::Chunk::open(&parameters)?;
    let mut out = vec![0; BATCH];
    let decoding = minimum(|| decode_all(&blocks, |block, first| chunk.decode(block, first, black_box(&mut out))))?;
    let size = parameters.len() + blocks.iter().map(Vec::len).sum::<usize>();
    print(name, plan.limbs().0.scheme(), size, [Some(decoding), None, None, None]);
    Ok(())
}

fn decode_all(
    blocks: &[Vec<u8>],
    mut decode: impl FnMut(&Block<'_>, usize) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    for (number, bytes) in blocks.iter().enumerate() {
        let block = Block { bytes, rows: BLOCK_ROWS, start: (number * BLOCK_ROWS) as u64 };
        (0..BLOCK_ROWS).step_by(BATCH).try_for_each(|first| decode(&block, first))?;
    }
    Ok(())
}

/// The time of the fastest round in nanoseconds per value.
fn minimum(mut run: impl FnMut() -> Result<(), Malformed>) -> Result<f64, Malformed> {
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run()?;
        fastest = fastest.min(start.elapsed().as_secs_f64() * 1e9 / ROWS as f64);
    }
    Ok(fastest)
}

fn print(name: &str, scheme: &str, size: usize, times: [Option<f64>; 4]) {
    print!("{name:<16} {scheme:<12} {:>8.3}", size as f64 / ROWS as f64);
    times.iter().for_each(|time| print!(" {:>8}", time.map_or(String::new(), |time| format!("{time:.2}"))));
    println!();
}
