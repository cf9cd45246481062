use super::*;
use crate::text::testing::{self, Outcome, file, same, stream};
use crate::text::{BadRow, LONGEST_LINE};
use brc_core::table::ColumnSummary;
use brc_core::{Batch, Progress, ScanOptions, Scanned, Sink, Split, Statistics, Summary, Worker, scan};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;

fn parse(line: &[u8]) -> std::result::Result<Vec<String>, BadRow> {
    let mut values = Vec::new();
    row::parse(line, &Schema::one_brc(), b';', &mut values)?;
    let text = |value: &Value<'_>| match value {
        Value::Text(text) => text.escape_ascii().to_string(),
        Value::Number(number) => number.to_string(),
    };
    Ok(values.iter().map(text).collect())
}

fn read(input: Input, options: &OpenOptions, threads: usize) -> Outcome {
    testing::read(&Csv, input, options, threads)
}

/// Collects the aggregated rows of a scan.
#[derive(Default)]
struct AggregatedRows {
    names: BTreeMap<String, Statistics>,
    rows: u64,
}

impl Worker for AggregatedRows {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.rows += scanned.rows;
        Ok(())
    }
}

impl Sink for AggregatedRows {
    fn batch(&mut self, _: &Batch<'_>) -> Result<()> {
        unreachable!("single rows are not requested")
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        let [ColumnSummary::Codes { codes, dictionary }, ColumnSummary::Numbers(numbers)] = summary.columns else {
            unreachable!("names and numbers")
        };
        for (set, (&code, &rows)) in codes.iter().zip(summary.rows).enumerate() {
            let name = dictionary.get(code).escape_ascii().to_string();
            self.names.entry(name).or_default().merge(&numbers.get(set, rows));
        }
        Ok(())
    }
}

/// Scans with aggregated rows, and compares with single rows.
fn check_added_up(input: Input, options: &OpenOptions, threads: usize, expected: &Outcome) {
    let table = Csv.open(input, options).unwrap();
    let added = ScanOptions { sums: true, ..ScanOptions::everything(table.schema()) };
    let found = scan(table.as_ref(), &added, threads, &Progress::default(), AggregatedRows::default);
    let (Ok(workers), Ok((rows, _))) = (&found, expected) else {
        assert!(found.is_err() && expected.is_err());
        return;
    };
    let (mut names, mut expected) = (BTreeMap::<_, Statistics>::new(), BTreeMap::<_, Statistics>::new());
    for (name, statistics) in workers.iter().flat_map(|worker| &worker.names) {
        names.entry(name).or_default().merge(statistics);
    }
    for row in rows {
        expected.entry(&row[0]).or_default().add(row[1].parse().unwrap());
    }
    assert_eq!(names, expected);
    assert_eq!(workers.iter().map(|worker| worker.rows).sum::<u64>(), rows.len() as u64);
}

fn oracle(text: &[u8], keep_rejects: bool) -> Outcome {
    testing::oracle(text, keep_rejects, parse)
}

fn options(split_bytes: u64, keep_rejects: bool) -> OpenOptions {
    testing::options(&Schema::one_brc(), split_bytes, keep_rejects)
}

fn sweep(text: &[u8], keep_rejects: bool, sizes: impl Iterator<Item = u64>) {
    let sizes: Vec<u64> = sizes.collect();
    testing::sweep(&Csv, &Schema::one_brc(), parse, text, keep_rejects, sizes.iter().copied());
    let expected = oracle(text, keep_rejects);
    for size in sizes {
        check_added_up(file(text), &options(size, keep_rejects), 2, &expected);
    }
}

const TEXTS: &[&[u8]] = &[
    b"",
    b"a;1.0",
    b"a;1.0\n",
    b"Abha;-12.3\nS\xc3\xa3o Paulo;25.0\nA;0.1\nlonger than sixteen bytes;99.9\nAbha;-0.0\n",
    b"Abha;-12.3\r\nOslo;25.0\r\nOslo;2.5",
    b"a;123456.7\nb;-922337203685477580.8\nc;7\n\xff\xfe;3276.8\n",
    b"a;1.0\n\nb;2.0\n",
    b"a;1.0\nb\nc;3.0\n;4.0\ne;5.0\nf;6.66",
    b"a\r;1.0\na;1.0\r",
    b"\n\n\n",
];

#[test]
fn rows_do_not_depend_on_split_bounds() {
    for text in TEXTS {
        for keep_rejects in [false, true] {
            sweep(text, keep_rejects, 1..=text.len() as u64 + 2);
        }
    }
}

#[test]
fn rows_do_not_depend_on_portion_bounds() {
    // Longer than the portions in which files are read, so that rows of all lengths cross their bounds.
    for length in [1usize, 9, 16, 40] {
        let mut text = Vec::new();
        for row in 0..(700_000 / (length + 6)) {
            writeln!(text, "{:0length$};{}.{}", row % 1000, row % 100, row % 10).unwrap();
        }
        for cut in 0..3 {
            let expected = oracle(&text[cut * 3..], true);
            same(read(file(&text[cut * 3..]), &options(1 << 30, true), 1), &expected, "file");
            same(read(stream(&text[cut * 3..], 100_000), &options(300_000, true), 3), &expected, "stream");
        }
    }
}

#[test]
fn rows_do_not_depend_on_threads() {
    let mut text = Vec::new();
    for row in 0..20_000 {
        writeln!(text, "station {};{}.5{}", row % 300, row % 80, if row % 1009 == 1008 { "x" } else { "" }).unwrap();
    }
    for keep_rejects in [false, true] {
        let expected = oracle(&text, keep_rejects);
        for threads in 1..=16 {
            same(read(file(&text), &options(10_000, keep_rejects), threads), &expected, "file");
            same(read(stream(&text, 5000), &options(10_000, keep_rejects), threads), &expected, "stream");
        }
    }
}

#[test]
fn an_overlong_line_is_one_malformed_row() {
    for length in [LONGEST_LINE - 4, LONGEST_LINE, LONGEST_LINE + 1] {
        for end in ["\n", "\nb;2.0\n", ""] {
            let text = [b"a;1.0\n".as_slice(), &vec![b'x'; length], b";1.0", end.as_bytes()].concat();
            let good = length + 4 <= LONGEST_LINE;
            for size in [1 << 20, 1 << 30] {
                let outcomes =
                    [read(file(&text), &options(size, true), 2), read(stream(&text, 1 << 17), &options(size, true), 2)];
                for (rows, rejects) in outcomes.map(|outcome| outcome.unwrap()) {
                    assert_eq!(rows.len(), 1 + usize::from(good) + usize::from(end.len() > 1));
                    let positions: Vec<_> = rejects.iter().map(|(line, byte, _)| (*line, *byte)).collect();
                    assert_eq!(positions, if good { vec![] } else { vec![(2, 6)] });
                    assert!(rejects.iter().all(|(_, _, text)| text.len() == LONGEST_LINE + 1));
                }
                let error = read(file(&text), &options(size, false), 2);
                assert_eq!(error.is_err(), !good);
            }
        }
    }
}

/// A carriage return at the end of a cut-off row may make the rest look valid. A portion without a line feed says
/// nothing about the rows before it, however many there are.
#[test]
fn all_rows_of_a_slow_stream_are_read() {
    let mut text = b"Abha;1.0\n".repeat(150_000);
    for row in 0..20 {
        text.extend([vec![b'x'; 70_000], format!(";{row}.5\n").into_bytes()].concat());
    }
    text.extend(b"Hamburg;2.0\n".repeat(100));
    let expected = oracle(&text, false);
    for portion in [20_000, 65_536] {
        for split_bytes in [4 << 20, 64 << 20] {
            let context = format!("{portion} bytes at once, splits of {split_bytes}");
            same(read(stream(&text, portion), &options(split_bytes, false), 1), &expected, &context);
        }
    }
}

#[test]
fn a_cut_off_row_is_never_valid() {
    for length in [LONGEST_LINE - 5, LONGEST_LINE - 4, LONGEST_LINE - 3, LONGEST_LINE] {
        for rest in ["", "\r", "\r\r"] {
            let text = [b"a;1.0\n".as_slice(), &vec![b'x'; length], b";1.0", rest.as_bytes(), b"\nb;2.0\n"].concat();
            let expected = oracle(&text, false);
            same(read(file(&text), &options(1 << 20, false), 1), &expected, "file");
            same(read(stream(&text, 1 << 17), &options(1 << 20, false), 1), &expected, "stream");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text(
        text in prop::collection::vec(prop::sample::select(b"ab;;;-.019\n\n\r\0\xff".to_vec()), 0..200),
        size in 1u64..100,
        keep_rejects: bool,
    ) {
        sweep(&text, keep_rejects, size..size + 1);
    }

    #[test]
    fn mostly_valid_text(
        rows in prop::collection::vec(("[a-e]{1,20}", -2000i64..2000, 0u8..40), 0..300),
        size in 1u64..3000,
        keep_rejects: bool,
    ) {
        let mut text = Vec::new();
        for (name, tenths, odd) in rows {
            let sign = if tenths < 0 { "-" } else { "" };
            let end = match odd { 0 => "0", 1 => "\r", 2 => ";", _ => "" };
            writeln!(text, "{name};{sign}{}.{}{end}", tenths.abs() / 10, tenths.abs() % 10).unwrap();
        }
        sweep(&text, keep_rejects, size..size + 1);
    }
}

#[test]
fn text_is_distinguished_from_binary() {
    let sniff = |bytes: &[u8]| Csv.sniff(bytes);
    let good = b"Abha;1.0\n".repeat(50);
    let controls: Vec<u8> = (1..32).filter(|byte| *byte != b'\n').collect();
    // Names may hold any bytes but NUL; a few NULs are malformed rows.
    assert!(sniff(&good) && sniff(&controls) && sniff(b"\xff\xfe;1.0\n"));
    assert!(sniff(&[&good[..], b"A\0;1.0\n"].concat()));
    // With other control bytes around it, NUL is no accident.
    assert!(!sniff(&[&b"\xfa\n"[..], &controls[..], b"\0", &[b'x'; 200]].concat()));
    assert!(!sniff(b"A\0;1.0\n"));
}
