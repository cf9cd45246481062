//! A value that an encoding cannot hold is reported with its row, column and reason; values that no row has are
//! ignored.

#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::unwrap_used)]

use brc_compress::Compressor;
use brc_core::{
    Batch, Column, Data, Dictionary, Error, Integers, Result, Run, Schema, UnsupportedReason, UnsupportedValue,
};
use brc_encodings::{CreateOptions, ENCODINGS, Encoding, by_name, writer};

/// Strings that some encodings cannot hold.
const STRANGE: [&[u8]; 6] = [b"", b"a;b", b"a\nb", b"a\0b", b"a\r", b"a\xffb"];

/// Encodes batches as one part.
fn encode(encoding: &dyn Encoding, schema: &str, batches: &[&[Column<'_>]]) -> Result<()> {
    let options = CreateOptions::new(Compressor::none());
    let mut encoder = writer(encoding, &Schema::parse(schema).unwrap(), &options)?.encoder();
    for columns in batches {
        let rows = match columns[0].data {
            Data::Codes { codes, .. } => codes.len(),
            Data::Runs { runs, .. } => runs.iter().map(|run| run.rows as usize).sum(),
            Data::Integers(values) => values.len(),
            Data::Bytes(_) | Data::Floats(_) => unreachable!("nothing of that here"),
        };
        encoder.batch(&Batch { rows, columns })?;
    }
    encoder.finish().map(drop)
}

#[track_caller]
fn refused(outcome: Result<()>) -> UnsupportedValue {
    match outcome {
        Err(Error::UnsupportedValue(unsupported_value)) => *unsupported_value,
        other => panic!("{other:?}"),
    }
}

/// The encodings of arbitrary tables.
fn encodings() -> impl Iterator<Item = &'static dyn Encoding> {
    ENCODINGS.iter().copied().filter(|encoding| encoding.supports(&Schema::one_brc()).is_ok())
}

fn dictionary(values: &[&[u8]]) -> Dictionary {
    values.iter().collect()
}

#[test]
fn encodings_hold_the_strings_that_they_declare() {
    for encoding in encodings() {
        let faults: Vec<_> = STRANGE
            .map(|value| {
                let dictionary = dictionary(&[value]);
                let column = Column::codes(&[0], &dictionary);
                match encode(encoding, "s:string", &[&[column]]) {
                    Ok(()) => None,
                    error => Some(refused(error).fault),
                }
            })
            .into();
        let [empty, delimiter, line_feed, nul, carriage_return, utf8] = &faults[..] else { panic!("six strings") };
        let expected = match encoding.name() {
            "csv" => [None, None, None, Some(UnsupportedReason::NulByte), None, None],
            "json" | "parquet" | "arrow" | "avro" => [None, None, None, None, None, Some(UnsupportedReason::NotUtf8)],
            _ => [const { None }; 6],
        };
        let found = [empty, delimiter, line_feed, nul, carriage_return, utf8].map(Clone::clone);
        assert_eq!(found, expected, "{}", encoding.name());
        assert_eq!(encoding.holds_any_bytes(), faults.iter().all(Option::is_none), "{}", encoding.name());
    }
}

#[test]
fn unused_strings_are_ignored() {
    let mut dictionary = dictionary(&STRANGE);
    let code = dictionary.push(b"good");
    let codes = [code; 3];
    let codes = [Column::codes(&codes, &dictionary)];
    let runs = [Run { code, rows: 5 }];
    let runs = [Column::runs(&runs, &dictionary)];
    for encoding in encodings() {
        encode(encoding, "s:string", &[&codes, &runs, &codes]).unwrap();
    }
}

#[test]
fn the_first_row_is_reported_in_any_column() {
    for (name, bad) in [("csv", b"a\0b"), ("json", b"a\xffb"), ("parquet", b"a\xffb"), ("arrow", b"a\xffb")] {
        let encoding = by_name(name).unwrap();
        let dictionary = dictionary(&[b"good", bad]);
        let codes = |codes| Column::codes(codes, &dictionary);
        let values = Column::integers(Integers::I16(&[1; 6]));
        let shown = bad.escape_ascii().to_string();
        let check = |batch: &[Column<'_>], row: u64, column: &str| {
            let good = [codes(&[0; 6]), values, codes(&[0; 6])];
            let found = refused(encode(encoding, "a:string,n:int,b:string", &[&good, batch]));
            assert_eq!((found.row, found.encoding), (6 + row, name));
            assert_eq!(found.value, Some((column.to_owned(), shown.clone())));
        };
        check(&[codes(&[0, 0, 0, 0, 1, 1]), values, codes(&[0, 0, 1, 0, 0, 1])], 3, "b");
        check(&[codes(&[0, 1, 0, 0, 1, 1]), values, codes(&[0, 0, 1, 0, 0, 1])], 2, "a");
        check(&[codes(&[0, 0, 0, 0, 0, 1]), values, codes(&[0, 0, 0, 0, 0, 1])], 6, "a");
        let runs = [Run { code: 0, rows: 4 }, Run { code: 1, rows: 1 }, Run { code: 0, rows: 1 }];
        let runs = Column::runs(&runs, &dictionary);
        check(&[codes(&[0; 6]), values, runs], 5, "b");
        check(&[runs, values, codes(&[0, 0, 0, 0, 0, 1])], 5, "a");
    }
}

#[test]
fn an_overlong_line_is_reported_before_later_errors() {
    let half = vec![b'x'; 8 << 20];
    let dictionary = dictionary(&[b"a", &half, &half[1..], b"a\n\xff"]);
    let codes = |codes| Column::codes(codes, &dictionary);
    for (name, around) in [("json", br#"{"a":"","b":""}"#.len())] {
        let encoding = by_name(name).unwrap();
        let found = refused(encode(encoding, "a:string,b:string", &[&[codes(&[0, 1, 3]), codes(&[0, 1, 0])]]));
        assert_eq!(
            (found.row, found.value, found.fault),
            (2, None, UnsupportedReason::LineTooLong(16 << 20)),
            "{name}"
        );
        let found = refused(encode(encoding, "a:string,b:string", &[&[codes(&[0, 3, 1]), codes(&[0, 0, 1])]]));
        assert_eq!((found.row, found.value.unwrap().0.as_str()), (2, "a"), "{name}");
        // The maximum length of a line, and one byte more.
        for (more, is_good) in [(0, true), (1, false)] {
            let rest = vec![b'y'; (8 << 20) - around + more];
            let rest = self::dictionary(&[b"a", &rest]);
            let rest = Column::codes(&[0, 1, 0], &rest);
            let outcome = encode(encoding, "a:string,b:string", &[&[codes(&[0, 1, 0]), rest]]);
            assert_eq!(outcome.is_ok(), is_good, "{name} {more}");
        }
    }
}

#[test]
fn rows_that_do_not_fit_a_frame_are_reported() {
    let long = vec![b'x'; 64 << 20];
    let dictionary = dictionary(&[b"a", &long]);
    let codes: Vec<u32> = (0..600).map(|row| u32::from(row == 300)).collect();
    let column = [Column::codes(&codes, &dictionary)];
    for encoding in ENCODINGS.iter().filter(|encoding| encoding.may_lack_header()) {
        let found = refused(encode(*encoding, "s:string", &[&column]));
        let UnsupportedReason::FrameTooLong { rows, most } = found.fault else { panic!("{found:?}") };
        let position = (found.encoding, found.row, rows, most);
        assert_eq!(position, (encoding.name(), 301, 300, 64 << 20), "{found}");
    }
}
