//! Measures the cost of parsing every column of a text: CPU time of one thread, minimum of five runs. The columns are
//! discarded.
//!
//! ```text
//! cargo run --release -p brc-text --example parse_floor -- table.csv
//! ```
//!
//! `types known` is a pass with the final types. `inferred` starts with the types of the first rows, as `brc convert`
//! does, and parses again what does not fit. Neither includes reading the file.

#![forbid(unsafe_code)]

use brc_core::{Column, RowFault};
use brc_kernels::structure::{LineEnd, Syntax};
use brc_text::GivenForms;
use brc_text::infer::Seen;
use brc_text::rows::Piece;
use brc_text::typed::{BadRow, ColumnType, NullTokens, Output, Ragged, TableParser, TextFormat};
use rustix::time::{ClockId, clock_gettime};
use std::convert::Infallible;
use std::error::Error;

const RUNS: usize = 5;
const SPLIT: usize = 2 << 20;
const FIRST: usize = 64 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("parse_floor FILE")?;
    let bytes = std::fs::read(&path)?;
    let header = memchr::memchr(b'\n', &bytes).ok_or("a header and rows")?;
    let names: Vec<_> = bytes[..header].split(|&byte| byte == b',').map(String::from_utf8_lossy).collect();
    let format = TextFormat {
        syntax: Syntax::new(b',', LineEnd::Lf)?.with_quote(b'"')?,
        nulls: NullTokens::new([""]),
        infer_nulls: true,
        trim: false,
        ragged: Ragged::Error,
        max_row: 16 << 20,
        should_be_utf8: true,
        checks_unread: true,
        names: None,
        header: None,
    };
    let splits = splits(&bytes[header + 1..]);
    let unknown =
        vec![ColumnType::Inferred { seen: Seen::NOTHING, exact: false, given: GivenForms::default() }; names.len()];
    let first = infer(&format, unknown, &[&splits[0][..line_before(splits[0], FIRST)]]);
    let all = infer(&format, first.clone(), &splits);
    let scan = best(|| drop(parse(&format, &all, &[], &splits)));
    let rows = parse(&format, &all, &[0], &splits).1;
    for (index, name) in names.iter().enumerate() {
        let time = best(|| drop(parse(&format, &all, &[index], &splits)));
        println!("{name:<20} {:<20} {:>6.1} ns a row", all[index].logical_type(), (time - scan) * 1e9 / rows as f64);
    }
    let projection: Vec<_> = (0..names.len()).collect();
    let report = |what, seconds: f64| println!("{what:<20} {:>6.3} GB/s", bytes.len() as f64 / seconds / 1e9);
    report("rows", scan);
    report("types known", best(|| drop(parse(&format, &all, &projection, &splits))));
    report("inferred", best(|| drop(infer(&format, first.clone(), &splits))));
    Ok(())
}

/// Splits a text at line ends, of which none may be inside quotes.
fn splits(mut text: &[u8]) -> Vec<&[u8]> {
    let mut splits = Vec::new();
    while !text.is_empty() {
        let (split, rest) = text.split_at(line_before(text, SPLIT));
        splits.push(split);
        text = rest;
    }
    splits
}

fn line_before(text: &[u8], most: usize) -> usize {
    let most = most.min(text.len());
    memchr::memrchr(b'\n', &text[..most]).map_or(text.len(), |at| at + 1)
}

fn best(mut run: impl FnMut()) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let time = |_| {
        let start = now();
        run();
        now() - start
    };
    (0..RUNS).map(time).fold(f64::INFINITY, f64::min)
}

/// Parses everything. Returns what the values require, and the number of rows.
fn parse(
    format: &TextFormat,
    columns: &[ColumnType],
    projection: &[usize],
    splits: &[&[u8]],
) -> (Vec<Option<Seen>>, usize) {
    let mut parser = TableParser::new(format.clone(), columns, projection);
    let mut rows = Counter::default();
    for text in splits {
        let Ok(_) = parser.parse(Piece { text, skip: false, last: false }, &mut rows);
    }
    (parser.seen(), rows.0)
}

/// Parses each split until the types fit its values.
fn infer(format: &TextFormat, mut columns: Vec<ColumnType>, splits: &[&[u8]]) -> Vec<ColumnType> {
    let projection: Vec<_> = (0..columns.len()).collect();
    let mut parser = TableParser::new(format.clone(), &columns, &projection);
    for text in splits {
        loop {
            parser.start(&columns);
            let Ok(_) = parser.parse(Piece { text, skip: false, last: false }, &mut Counter::default());
            for (column, more) in columns.iter_mut().zip(parser.seen()) {
                if let (ColumnType::Inferred { seen, .. }, Some(more)) = (column, more) {
                    *seen = seen.join(more);
                }
            }
            if !parser.misfits() {
                break;
            }
        }
    }
    columns
}

#[derive(Default)]
struct Counter(usize);

impl Output for Counter {
    type Error = Infallible;

    fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<(), Infallible> {
        std::hint::black_box(columns);
        self.0 += rows;
        Ok(())
    }

    fn keeps(&self, _: &RowFault) -> bool {
        true
    }

    fn keep(&mut self, _: &BadRow<'_>) {}

    fn refuse(&mut self, _: BadRow<'_>) -> Infallible {
        unreachable!("bad rows are kept")
    }
}
