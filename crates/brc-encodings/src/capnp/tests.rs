use super::packing::WORD;
use super::*;
use crate::delivery::Delivery;
use crate::frames::{DecodeError, Framed};
use crate::rows::RowBuffer;
use crate::table_capnp::{column, rows};
use crate::{CreateOptions, Encoding, Input, OpenOptions};
use ::capnp::message::ReaderOptions;
use ::capnp::serialize_packed;
use brc_compress::Compressor;
use brc_core::{Batch, ScanOptions, Sink};
use brc_testing::{Cell, Collector, Typed, collect_rows};
use proptest::prelude::*;
use std::io::{Cursor, Write};
use std::path::PathBuf;

static ENCODINGS: [Framed; 2] = [Framed(&CAPNP), Framed(&CAPNP_PACKED)];

type Row = Vec<Cell>;

/// Delivers rows to a sink, in one batch.
fn give(schema: &Schema, rows: &[Row], sink: &mut dyn Sink) {
    let delivery = brc_testing::Delivery { batch_rows: usize::MAX, ..brc_testing::Delivery::default() };
    Typed::of_rows(schema.clone(), rows).give(0..rows.len(), delivery, sink).unwrap();
}

/// A file of these rows, in parts of `part` rows.
fn written(encoding: &Framed, schema: &Schema, rows: &[Row], part: usize, compression: &str) -> Vec<u8> {
    let compression = brc_compress::by_name(compression).unwrap();
    let compression = Compressor { compression, level: Compressor::none().level };
    let options = CreateOptions::new(compression);
    let mut writer = crate::writer(encoding, schema, &options).unwrap();
    let mut bytes = writer.start();
    let mut encoder = writer.encoder();
    for rows in rows.chunks(part) {
        give(schema, rows, encoder.as_mut());
        let mut part = encoder.finish().unwrap();
        writer.append(&mut part).unwrap();
        bytes.extend_from_slice(&part.bytes);
    }
    bytes.extend(writer.finish().unwrap());
    bytes
}

fn file(bytes: &[u8]) -> brc_core::Result<Input> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Input::from_file(PathBuf::from("test"), file)
}

fn stream(bytes: &[u8]) -> brc_core::Result<Input> {
    Input::from_stream(PathBuf::from("-"), Box::new(Cursor::new(bytes.to_vec())))
}

/// All rows of the projection in order.
fn read(
    encoding: &Framed,
    input: brc_core::Result<Input>,
    schema: Option<&Schema>,
    projection: Option<&[usize]>,
) -> Outcome {
    let input = input.map_err(|error| error.to_string())?;
    let options = OpenOptions { schema: schema.cloned(), row_group_bytes: Some(1000), ..OpenOptions::default() };
    let table = encoding.open(input, &options).map_err(|error| error.to_string())?;
    let mut options = ScanOptions::everything(table.schema());
    options.projection = projection.map_or(options.projection, <[usize]>::to_vec);
    collect_rows(table.as_ref(), &options, 1).map_err(|error| error.to_string())
}

type Outcome = Result<Vec<Row>, String>;

fn text(text: impl AsRef<[u8]>) -> Cell {
    text.as_ref().into()
}

fn three_columns() -> Schema {
    Schema::parse("name:string not null,small:decimal(1) not null,large:int not null").unwrap()
}

/// Rows with unusual names and numbers.
fn rows_of_all_kinds() -> Vec<Row> {
    let names: [&[u8]; 7] = [b"Abha", b"", b"a\0b\0", b"\xff\xfe\n", &[b'x'; 100], "S\u{e3}o Paulo".as_bytes(), b"\0"];
    let numbers = [0, -1, i64::MAX, i64::MIN, 127, -128, 40_000];
    let row = |(name, number): (&&[u8], &i64)| vec![text(name), (number % 100).into(), (*number).into()];
    names.iter().cycle().zip(numbers.iter()).map(row).collect()
}

#[test]
fn the_fixed_bytes_are_what_the_library_writes() {
    let mut message = Builder::new_default();
    message.init_root::<entry::Builder<'_>>().set_start(());
    let bytes = serialize::write_message_to_words(&message);
    assert_eq!(START[8..32], bytes[8..]);
    assert_eq!(START.len(), 8 + 5 * WORD);
    let mut unpacked = [0; 48];
    packing::unpack(&mut &PACKED_START[..], &mut unpacked).unwrap();
    assert_eq!((&unpacked[..32], &unpacked[32..]), (&START[..32], &b"\x89brc's cpack\r\n\x1a\n"[..]));

    let header = FrameHeader { length: 0x0102_0304, rows: 7, checksum: 0xA0B0_C0D0 };
    let mut message = Builder::new_default();
    let mut frame = message.init_root::<entry::Builder<'_>>().init_frame();
    frame.set_mark(u64::from_le_bytes(*b"brcframe"));
    frame.set_length(header.length);
    frame.set_rows(header.rows);
    frame.set_checksum(header.checksum);
    frame.set_own(header.own_checksum());
    let mut bytes = Vec::new();
    CAPNP.frame_header(&header, &mut bytes);
    assert_eq!(bytes, serialize::write_message_to_words(&message));
    assert_eq!((bytes.len(), CAPNP.read_frame_header(&bytes)), (CAPNP.frame_header_bytes(), Some(header)));
    let mut packed = Vec::new();
    CAPNP_PACKED.frame_header(&header, &mut packed);
    let mut unpacked = vec![0; bytes.len()];
    packing::unpack(&mut &packed[..], &mut unpacked).unwrap();
    assert_eq!(unpacked, bytes);
    assert_eq!(
        (packed.len(), CAPNP_PACKED.read_frame_header(&packed)),
        (CAPNP_PACKED.frame_header_bytes(), Some(header))
    );
    assert_eq!(CAPNP.frame_header_bytes() % WORD, 0);
}

#[test]
fn rows_of_all_kinds_round_trip() {
    let (schema, rows) = (three_columns(), rows_of_all_kinds());
    for encoding in &ENCODINGS {
        for (part, compression) in [(1, "none"), (3, "zstd"), (100, "lz4"), (100, "none")] {
            let bytes = written(encoding, &schema, &rows, part, compression);
            assert_eq!(read(encoding, file(&bytes), None, None), Ok(rows.clone()));
            assert_eq!(read(encoding, stream(&bytes), Some(&schema), None), Ok(rows.clone()));
            let swapped: Vec<Row> = rows.iter().map(|row| vec![row[2].clone(), row[0].clone()]).collect();
            assert_eq!(read(encoding, file(&bytes), None, Some(&[2, 0])), Ok(swapped));
            assert_eq!(read(encoding, stream(&bytes), None, Some(&[])), Ok(vec![Vec::new(); rows.len()]));
        }
        assert_eq!(read(encoding, file(&written(encoding, &schema, &[], 1, "none")), None, None), Ok(Vec::new()));
    }
}

#[test]
fn many_frames_with_many_names_round_trip() {
    let schema = Schema::one_brc();
    let row = |row: i64| vec![format!("name {}", row * row % 10_007).into(), (row % 1999 - 999).into()];
    let rows: Vec<Row> = (0..150_000).map(row).collect();
    for encoding in &ENCODINGS {
        let bytes = written(encoding, &schema, &rows, rows.len(), "none");
        assert_eq!(read(encoding, file(&bytes), None, None).unwrap(), rows);
        assert_eq!(read(encoding, stream(&bytes), None, None).unwrap(), rows);
    }
}

/// Damage of files is tested for all encodings together.
#[test]
fn damage_of_streams_is_an_error_or_harmless() {
    let (schema, rows) = (three_columns(), rows_of_all_kinds());
    for encoding in &ENCODINGS {
        for compression in ["none", "lz4"] {
            let sound = written(encoding, &schema, &rows[..4], 2, compression);
            for at in 0..sound.len() {
                let mut flipped = sound.clone();
                flipped[at] ^= 1 << (at % 8);
                for damaged in [&flipped[..], &sound[..at]] {
                    if let Ok(read) = read(encoding, stream(damaged), None, None) {
                        assert_eq!(read, rows[..4], "byte {at}");
                    }
                }
            }
        }
    }
}

/// Rewrites all messages of a file, as other programs do: with small segments, and without unreferenced words.
fn rewritten(encoding: &Framed, bytes: &[u8], form: Form) -> Vec<u8> {
    let (mut rest, mut out) = (bytes, Vec::new());
    let mut messages = Messages::default();
    let from = if encoding.name() == "capnp" { Form::Plain } else { Form::Packed };
    while !rest.is_empty() {
        let message = messages.next(from, &mut rest).unwrap();
        let mut copy = Builder::new(HeapAllocator::new().first_segment_words(16));
        copy.set_root(message.get_root::<entry::Reader<'_>>().unwrap()).unwrap();
        write(&copy, form, &mut out);
    }
    out
}

#[test]
fn rewritten_files_are_read() {
    let (schema, rows) = (three_columns(), rows_of_all_kinds());
    for from in &ENCODINGS {
        let ours = written(from, &schema, &rows, 3, "none");
        for (to, form) in [(&ENCODINGS[0], Form::Plain), (&ENCODINGS[1], Form::Packed)] {
            let bytes = rewritten(from, &ours, form);
            assert!(!to.sniff(&bytes));
            assert_eq!(read(to, file(&bytes), None, None), Ok(rows.clone()));
            assert_eq!(read(to, stream(&bytes), Some(&schema), None), Ok(rows.clone()));
            let cut_off = read(to, file(&bytes[..bytes.len() - 9]), None, None).unwrap_err();
            assert!(cut_off.contains("the data ends within a row"), "{cut_off}");
        }
    }
}

/// A message with a column of text and one of numbers.
fn message(build: impl FnOnce(rows::Builder<'_>)) -> Vec<u8> {
    let mut message = Builder::new_default();
    build(message.init_root::<entry::Builder<'_>>().init_rows());
    serialize::write_message_to_words(&message)
}

/// Text with these codes, and 8-bit numbers.
fn two_columns(mut rows: rows::Builder<'_>, count: u32, codes: &[u32], numbers: u32) {
    rows.set_rows(count);
    let mut columns = rows.init_columns(2);
    let mut column = columns.reborrow().get(0).init_text();
    let mut dictionary = column.reborrow().init_dictionary(2);
    dictionary.set(0, "a");
    dictionary.set(1, "b");
    let mut list = column.init_wide_codes(codes.len() as u32);
    (0..).zip(codes).for_each(|(at, &code)| list.set(at, code));
    let mut list = columns.get(1).init_int8(numbers);
    (0..numbers).for_each(|at| list.set(at, -1));
}

fn decode(form: Form, bytes: &[u8]) -> Outcome {
    let schema = Schema::one_brc();
    let options = ScanOptions::everything(&schema);
    let mut found = Collector::new(2);
    let mut delivery = Delivery::new(&options, &mut found);
    let decoded = decoder::ColumnsDecoder::new(form, &schema, &[0, 1]).decode(bytes, &mut delivery);
    match decoded {
        Ok(rows) => assert_eq!(rows as usize, found.rows),
        Err(DecodeError::Malformed(malformed)) => return Err(malformed.reason),
        Err(error) => panic!("{error:?}"),
    }
    Ok(found.into_rows())
}

#[test]
fn messages_are_checked() {
    let row = |name: &str| vec![text(name), Cell::from(-1)];
    let sound = message(|rows| two_columns(rows, 3, &[1, 0, 1], 3));
    assert_eq!(decode(Form::Plain, &sound), Ok(vec![row("b"), row("a"), row("b")]));
    let no_columns = message(|mut rows| rows.set_rows(u32::MAX));
    let swapped = message(|mut rows| {
        rows.set_rows(1);
        let mut columns = rows.init_columns(2);
        columns.reborrow().get(0).init_int64(1);
        columns.get(1).init_int64(1);
    });
    let narrow = message(|mut rows| {
        rows.set_rows(1);
        let mut column = rows.init_columns(2).get(0).init_text();
        column.reborrow().init_dictionary(0);
        column.init_codes(1);
    });
    for (bytes, reason) in [
        (message(|rows| two_columns(rows, 3, &[1, 2, 1], 3)), "code 2, but the dictionary has 2 strings"),
        (message(|rows| two_columns(rows, 3, &[1, 1], 3)), "column 0 has 2 values for 3 rows"),
        (message(|rows| two_columns(rows, 3, &[1, 1, 1], 4)), "column 1 has 4 values for 3 rows"),
        (no_columns, "0 columns where 2 should be"),
        (swapped, "column 0: holds numbers where text should be"),
        (narrow, "column 1: holds text where numbers should be"),
        (vec![1, 0, 0, 0, 1, 0, 0, 0], "the bytes end within a message"),
        (vec![0xff; 64], "a message of 4294967296 segments is too much"),
        (vec![0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], "a message of 4294967295 words is too long"),
    ] {
        let error = decode(Form::Plain, &bytes).unwrap_err();
        assert!(error.contains(reason), "{error}, not {reason}");
    }
    // A word of zeros, and 255 more.
    let bomb = [&[0x10, 0xff, 0, 0xff][..], &[0; 1000]].concat();
    assert!(decode(Form::Packed, &bomb).unwrap_err().contains("packed words do not end where a segment does"));
}

#[test]
fn messages_at_any_address_are_read() {
    let sound = message(|rows| two_columns(rows, 3, &[1, 0, 1], 3));
    let expected = decode(Form::Plain, &sound).unwrap();
    for shift in 0..WORD {
        let shifted = [&vec![0; shift][..], &sound].concat();
        assert_eq!(decode(Form::Plain, &shifted[shift..]), Ok(expected.clone()));
    }
}

#[test]
fn lists_are_as_narrow_as_their_numbers() {
    let schema = Schema::parse("n:int").unwrap();
    for (number, width) in [
        (127, 1),
        (-128, 1),
        (128, 2),
        (-129, 2),
        (32_767, 2),
        (-32_769, 4),
        (1 << 31, 8),
        (-1 << 31, 4),
        (i64::MIN, 8),
        (i64::MAX, 8),
    ] {
        let mut encoder = CAPNP.encoder(&schema);
        give(&schema, &vec![vec![number.into()]; 64], &mut Encode(encoder.as_mut()));
        let expected = encoder.pending();
        let mut out = RowBuffer::default();
        encoder.finish(&mut out);
        let out = out.take();
        // The table, six words of structure and three of the column precede the list.
        assert_eq!(out.len(), (1 + 6 + 3) * WORD + 64 * width, "{number}");
        assert_eq!(out.len(), WORD + expected);
        let message = serialize::read_message(&out[..], ReaderOptions::new()).unwrap();
        let Ok(entry::Rows(Ok(rows))) = message.get_root::<entry::Reader<'_>>().unwrap().which() else { panic!() };
        let found = match rows.get_columns().unwrap().get(0).which().unwrap() {
            column::Int8(_) => 1,
            column::Int16(_) => 2,
            column::Int32(_) => 4,
            column::Int64(_) => 8,
            _ => 0,
        };
        assert_eq!(found, width, "{number}");
    }
}

/// An encoder of frames as a sink.
struct Encode<'a>(&'a mut dyn FrameEncoder);

impl Sink for Encode<'_> {
    fn batch(&mut self, batch: &Batch<'_>) -> brc_core::Result<()> {
        self.0.push(batch, 0..batch.rows, 0, usize::MAX, &mut RowBuffer::default()).map(drop)
    }
}

#[test]
fn messages_are_one_segment_of_the_calculated_length() {
    let schema = three_columns();
    let mut encoder = CAPNP.encoder(&schema);
    for rows in 1..=rows_of_all_kinds().len() {
        give(&schema, &rows_of_all_kinds()[..rows], &mut Encode(encoder.as_mut()));
        let expected = encoder.pending();
        let mut out = RowBuffer::default();
        encoder.finish(&mut out);
        let out = out.take();
        assert_eq!((&out[..4], out.len()), (&[0; 4][..], WORD + expected));
        encoder = CAPNP.encoder(&schema);
    }
}

proptest! {
    #[test]
    fn any_message_is_decoded_or_rejected(at in 0usize..400, byte: u8, more: Vec<u8>) {
        let mut bytes = message(|rows| two_columns(rows, 3, &[1, 0, 1], 3));
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = decode(Form::Plain, &bytes);
        let _ = decode(Form::Plain, &more);
        let _ = decode(Form::Packed, &more);
        let mut message = Builder::new_default();
        message.initn_root::<::capnp::data::Builder<'_>>(more.len() as u32).copy_from_slice(&more);
        let mut packed = Vec::new();
        serialize_packed::write_message(&mut packed, &message).unwrap();
        let _ = decode(Form::Packed, &packed);
    }
}

/// Files of version 1 stay readable. `capnp convert binary:json schemas/table.capnp Entry` prints their content.
#[test]
fn files_of_version_1_are_read() {
    let files: [&[u8]; 2] =
        [include_bytes!("../../tests/fixtures/rows.capnp"), include_bytes!("../../tests/fixtures/rows.cpacked")];
    for (encoding, bytes) in ENCODINGS.iter().zip(files) {
        assert_eq!(read(encoding, file(bytes), None, None), Ok(rows_of_all_kinds()));
        assert_eq!(written(encoding, &three_columns(), &rows_of_all_kinds(), 4, "none"), bytes);
    }
}
