use super::*;
use crate::encoding::{CreateOptions, Encoding, OpenOptions};
use crate::input::Input;
use crate::{ENCODINGS, Output, OutputOptions, RejectLog, bincode, capnp, cbor, convert, msgpack, protobuf, writer};
use brc_compress::Compressor;
use brc_core::{Part, Progress, ScanOptions, Scanned, Sink, Split, Table, Worker, scan};
use brc_testing::{Cell, Delivery, Typed, collect_rows};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::path::PathBuf;

static LAYOUTS: &[&dyn Layout] =
    &[&capnp::CAPNP, &capnp::CAPNP_PACKED, &protobuf::Protobuf, &bincode::Bincode, &msgpack::MsgPack, &cbor::Cbor];

#[test]
fn all_layouts_are_tested() {
    let framed = ENCODINGS.iter().filter(|encoding| encoding.may_lack_header()).map(|encoding| encoding.name());
    assert!(framed.eq(LAYOUTS.iter().map(|layout| layout.name())));
}

type Row = Vec<Cell>;

/// Rows and their columns.
#[derive(Debug, Clone)]
struct Rows {
    schema: Schema,
    rows: Vec<Row>,
}

impl Rows {
    fn new(schema: &str, rows: Vec<Row>) -> Self {
        Self { schema: Schema::parse(schema).unwrap(), rows }
    }

    /// The three pieces of a file: header, rows and end.
    fn pieces(&self, layout: &'static dyn Layout, step: usize) -> (Vec<u8>, Part, Vec<u8>) {
        let options = CreateOptions::new(Compressor::none());
        let mut writer = writer(&Framed(layout), &self.schema, &options).unwrap();
        let start = writer.start();
        let mut encoder = writer.encoder();
        let delivery = Delivery { batch_rows: step, is_uniform: true, ..Delivery::default() };
        Typed::of_rows(self.schema.clone(), &self.rows).give(0..self.rows.len(), delivery, encoder.as_mut()).unwrap();
        let mut part = encoder.finish().unwrap();
        writer.append(&mut part).unwrap();
        (start, part, writer.finish().unwrap())
    }

    fn file(&self, layout: &'static dyn Layout) -> Vec<u8> {
        let (start, part, end) = self.pieces(layout, 1000);
        [start, part.bytes, end].concat()
    }

    /// The rows without header and frames, as another program would write them.
    fn foreign(&self, layout: &'static dyn Layout) -> Vec<u8> {
        let mut rows = Vec::new();
        let (_, part, _) = self.pieces(layout, 1000);
        let mut rest = part.bytes.as_slice();
        while !rest.is_empty() {
            let (head, after) = rest.split_at(layout.frame_header_bytes());
            let (frame, after) = after.split_at(layout.read_frame_header(head).unwrap().length as usize);
            rows.extend_from_slice(frame);
            rest = after;
        }
        rows
    }
}

/// Names and numbers whose encodings nearly all differ in form.
fn odd_rows() -> Rows {
    let mut names: Vec<Vec<u8>> =
        [0, 1, 15, 16, 17, 23, 24, 31, 32, 33, 55, 56, 100, 127, 128, 255, 256, 65_535, 65_536]
            .map(|length| (0..length).map(|at| b'a' + (at % 26) as u8).collect())
            .to_vec();
    names.extend([&b"\0"[..], b"\n", b"a\nb", b"\xff\xfe", "S\u{e3}o Paulo".as_bytes()].map(<[u8]>::to_vec));
    let powers = (0..63).flat_map(|bit| [(1 << bit) - 1, 1 << bit, -(1 << bit), -(1 << bit) - 1]);
    let numbers = powers.chain([i64::MAX, i64::MIN, i64::MIN + 1, 2047, 2048, -2048, -2049]);
    let row = |(index, number): (usize, i64)| {
        let name = names[index % names.len()].clone();
        vec![Cell::Bytes(name), number.into(), (-(number / 2)).into(), "x".into()]
    };
    Rows::new("name:string,a:int,b:decimal(2),c:string", numbers.enumerate().map(row).collect())
}

fn many_keys() -> Rows {
    let row = |row: usize| {
        let key = row * 7919 % 10_000;
        vec![format!("{key:0width$}", width = 1 + key % 100).into(), (row as i64 % 1999 - 999).into()]
    };
    Rows::new("station:string,temperature:decimal(1)", (0..25_000).map(row).collect())
}

/// So many columns that neither the start of a row nor a field number fits one byte.
fn wide_rows() -> Rows {
    let name = |column: usize| format!("c{column}:{}", if column.is_multiple_of(3) { "string" } else { "int" });
    let schema = (0..40).map(name).collect::<Vec<_>>().join(",");
    let value = |row: usize, column: usize| match column % 3 {
        0 => Cell::Bytes(vec![b'v'; (row + column) % 9]),
        _ => ((row * column) as i64).into(),
    };
    Rows::new(&schema, (0..700).map(|row| (0..40).map(|column| value(row, column)).collect()).collect())
}

fn small() -> Rows {
    let row = |(name, number): (&str, i64)| vec![Cell::from(name), Cell::from(number)];
    let rows = [("Abha", -230), ("Abidjan", 0), ("", 599), ("Abha", 7), ("a name that is longer than a key", 1 << 40)];
    Rows::new("station:string,temperature:decimal(1)", rows.map(row).to_vec())
}

/// A reader that returns a few bytes at a time, as a pipe may.
struct SlowReader(Vec<u8>, usize, usize);

impl Read for SlowReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let rest = &self.0[self.1..];
        let count = self.2.min(rest.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.1 += count;
        Ok(count)
    }
}

fn name() -> PathBuf {
    PathBuf::from("table")
}

fn file(bytes: &[u8]) -> Result<Input> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Input::from_file(name(), file)
}

fn stream(bytes: &[u8], portion: usize) -> Result<Input> {
    Input::from_stream(name(), Box::new(SlowReader(bytes.to_vec(), 0, portion)))
}

fn open(
    layout: &'static dyn Layout,
    input: Result<Input>,
    schema: Option<&Schema>,
    split: u64,
) -> Result<Box<dyn Table>> {
    let options = OpenOptions { schema: schema.cloned(), row_group_bytes: Some(split), ..OpenOptions::default() };
    Framed(layout).open(input?, &options)
}

fn projected(table: &dyn Table, projection: &[usize], threads: usize) -> Result<Vec<Row>> {
    let options = ScanOptions { projection: projection.to_vec(), ..ScanOptions::everything(table.schema()) };
    collect_rows(table, &options, threads)
}

fn read(table: Result<Box<dyn Table>>, threads: usize) -> Result<Vec<Row>> {
    let table = table?;
    projected(table.as_ref(), &ScanOptions::everything(table.schema()).projection, threads)
}

/// A compressed file with one chunk per piece.
fn compressed<'a>(pieces: impl IntoIterator<Item = (&'a [u8], u64)>) -> Vec<u8> {
    let format = brc_compress::by_name("zstd").unwrap().file_format().unwrap();
    let mut bytes = format.start();
    let chunks: Vec<_> =
        pieces.into_iter().map(|(piece, rows)| format.chunk(1, piece, rows as u32, &mut bytes)).collect();
    bytes.extend(format.finish(&chunks));
    bytes
}

/// A part as the pieces between its cuts.
fn chunks_of(part: &Part) -> Vec<(&[u8], u64)> {
    let ends = part.cuts.iter().map(|cut| (cut.at, cut.rows)).chain([(part.bytes.len(), part.rows)]);
    let piece = |start: &mut (usize, u64), end: (usize, u64)| {
        let (from, rows) = std::mem::replace(start, end);
        Some((&part.bytes[from..end.0], end.1 - rows))
    };
    ends.scan((0, 0), piece).collect()
}

#[test]
fn rows_round_trip() {
    for layout in LAYOUTS {
        for rows in [odd_rows(), many_keys(), wide_rows(), small()] {
            let (start, part, end) = rows.pieces(*layout, 1000);
            let bytes = [&start[..], &part.bytes, &end].concat();
            let pieces = [(&start[..], 0)].into_iter().chain(chunks_of(&part)).chain([(&end[..], 0)]);
            let compressed = compressed(pieces);
            for threads in [1, 3, 8] {
                for input in [file(&bytes), stream(&bytes, 1013), file(&compressed), stream(&compressed, 777)] {
                    let table = open(*layout, input, None, 1 << 14).unwrap();
                    assert!(table.schema().is_like(&rows.schema), "{}", table.schema());
                    assert!(
                        projected(table.as_ref(), &(0..rows.schema.fields().len()).collect::<Vec<_>>(), threads)
                            .unwrap()
                            == rows.rows,
                        "{}",
                        layout.name()
                    );
                }
            }
        }
    }
}

#[test]
fn unprojected_columns_are_not_delivered() {
    let rows = odd_rows();
    for layout in LAYOUTS {
        let bytes = rows.file(*layout);
        for projection in [&[][..], &[2], &[3, 0], &[1, 1]] {
            let table = open(*layout, file(&bytes), None, 1 << 20).unwrap();
            let found = projected(table.as_ref(), projection, 1).unwrap();
            let expected =
                rows.rows.iter().map(|row| projection.iter().map(|&column| row[column].clone()).collect::<Row>());
            assert!(found.into_iter().eq(expected), "{} {projection:?}", layout.name());
        }
    }
}

#[test]
fn frames_depend_on_the_rows_alone() {
    for layout in LAYOUTS {
        for rows in [many_keys(), wide_rows()] {
            let expected = rows.pieces(*layout, 1000).1;
            for step in [1, 100, 4096, 100_000] {
                let part = rows.pieces(*layout, step).1;
                assert!(part.bytes == expected.bytes && part.cuts == expected.cuts, "{} by {step}", layout.name());
            }
        }
    }
}

/// Converts a table to a file of a different encoding.
fn converted(table: &dyn Table, encoding: &dyn Encoding, threads: usize) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("target");
    let output = Output::create(&path, &OutputOptions::default()).unwrap();
    let options = CreateOptions::new(Compressor::none());
    let writer = writer(encoding, table.schema(), &options).unwrap();
    convert(table, writer, output, RejectLog::none(), threads, &Progress::default()).unwrap();
    std::fs::read(&path).unwrap()
}

#[test]
fn output_does_not_depend_on_threads_or_streams() {
    let rows = many_keys();
    let buren = crate::by_name("buren").unwrap();
    for layout in LAYOUTS {
        let bytes = rows.file(*layout);
        let table = |input| open(*layout, input, None, 200_000).unwrap();
        let first = converted(table(file(&bytes)).as_ref(), buren, 1);
        let again = converted(table(file(&bytes)).as_ref(), &Framed(*layout), 1);
        for threads in [1, 2, 3, 8] {
            let inputs = [file(&bytes), stream(&bytes, 10_000)];
            for input in inputs {
                let table = table(input);
                assert!(converted(table.as_ref(), buren, threads) == first, "{} with {threads}", layout.name());
            }
            assert!(converted(table(file(&bytes)).as_ref(), &Framed(*layout), threads) == again, "{}", layout.name());
        }
    }
}

/// Checks that a damaged file yields an error of a damaged file, or the same rows.
fn check_damaged(layout: &'static dyn Layout, bytes: &[u8], rows: &[Row], damage: &str) {
    for input in [file(bytes), stream(bytes, 4096)] {
        match read(open(layout, input, None, 1 << 20), 1) {
            Ok(found) => assert!(found == rows, "{}: {damage}: other rows", layout.name()),
            Err(Error::Corrupt { .. } | Error::Unsupported { .. }) => {}
            Err(error) => panic!("{}: {damage}: {error}", layout.name()),
        }
    }
}

#[test]
fn damage_is_detected() {
    let rows = small();
    for layout in LAYOUTS {
        let bytes = rows.file(*layout);
        for at in 0..bytes.len() {
            for mask in [1, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= mask;
                check_damaged(*layout, &damaged, &rows.rows, &format!("byte {at} ^ {mask}"));
            }
            check_damaged(*layout, &bytes[..at], &rows.rows, &format!("cut off at {at}"));
            let mut longer = bytes.clone();
            longer.insert(at, bytes[at]);
            check_damaged(*layout, &longer, &rows.rows, &format!("byte {at} twice"));
        }
        check_damaged(*layout, &[&bytes[..], &bytes].concat(), &rows.rows, "twice the same");
    }
}

/// Damaging any two bytes of the mark of `brc` does not make a file readable without checksums, not even if its
/// columns are given.
#[test]
fn a_damaged_magic_does_not_disable_checksums() {
    let rows = small();
    for layout in LAYOUTS {
        let bytes = rows.file(*layout);
        let length = layout.magic().len();
        for (first, second) in (0..length).flat_map(|first| (first..length).map(move |second| (first, second))) {
            for masks in [[0x01, 0x02], [0x80, 0x10], [0xff, 0x7f]] {
                let mut damaged = bytes.clone();
                damaged[first] ^= masks[0];
                damaged[second] ^= masks[1];
                let error = open(*layout, file(&damaged), Some(&rows.schema), 1 << 20).map(drop).unwrap_err();
                let location = format!("{}: bytes {first} and {second}: {error}", layout.name());
                assert!(matches!(error, Error::Corrupt { .. }), "{location}");
            }
        }
        // Without the header, only the frames identify the file.
        for start in 1..=length {
            let error = open(*layout, file(&bytes[start..]), Some(&rows.schema), 1 << 20).map(drop).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{}: from byte {start}: {error}", layout.name());
        }
    }
}

/// A later version is unknown; version 0 never existed.
#[test]
fn other_versions_are_rejected() {
    let rows = small();
    for layout in LAYOUTS {
        let (start, part, end) = rows.pieces(*layout, 1000);
        let (header, length) = layout.read_file_header(&start).unwrap();
        assert_eq!((header.version, length), (VERSION, start.len()), "{}", layout.name());
        let of_version = |version| {
            let header = layout.file_header(&FileHeader { version, ..header.clone() });
            let bytes = [header, part.bytes.clone(), end.clone()].concat();
            open(*layout, file(&bytes), None, 1 << 20).map(|table| table.rows())
        };
        assert_eq!(of_version(VERSION).unwrap(), Some(rows.rows.len() as u64), "{}", layout.name());
        assert!(matches!(of_version(0), Err(Error::Corrupt { .. })), "{}", layout.name());
        assert!(matches!(of_version(VERSION + 1), Err(Error::Unsupported { .. })), "{}", layout.name());
    }
}

/// The compression's checksum is right here: the content was damaged before.
#[test]
fn damage_within_chunks_is_detected() {
    let rows = small();
    for layout in LAYOUTS {
        let (start, part, end) = rows.pieces(*layout, 1000);
        let pieces = [&start[..], &part.bytes, &end];
        let check = |pieces: &[&[u8]], damage: &str| {
            let chunks =
                pieces.iter().enumerate().map(|(index, piece)| (*piece, if index == 1 { part.rows } else { 0 }));
            check_damaged(*layout, &compressed(chunks), &rows.rows, damage);
        };
        for piece in 0..3 {
            for at in 0..pieces[piece].len() {
                let mut damaged = pieces[piece].to_vec();
                damaged[at] ^= 1 << (at % 8);
                let mut all = pieces;
                all[piece] = &damaged;
                check(&all, &format!("byte {at} of piece {piece}"));
                all[piece] = &pieces[piece][..at];
                check(&all, &format!("piece {piece} cut off at {at}"));
            }
        }
        check(&[pieces[0], pieces[2]], "no frame");
        check(&[pieces[0], pieces[1], pieces[1], pieces[2]], "a frame twice");
        check(&[pieces[0], pieces[1]], "no end");
        check(&[pieces[1], pieces[0], pieces[2]], "pieces in another order");
        let wrong = [(pieces[0], 0), (pieces[1], part.rows + 1), (pieces[2], 0)];
        check_damaged(*layout, &compressed(wrong), &rows.rows, "a chunk of other rows than it says");
    }
}

#[test]
fn unframed_rows_are_read() {
    for layout in LAYOUTS {
        for rows in [odd_rows(), many_keys(), wide_rows()] {
            let bytes = rows.foreign(*layout);
            let (first, second) = bytes.split_at(bytes.len() / 3);
            let compressed = compressed([(first, 0), (second, 0)]);
            for (split, threads) in [(10_000, 8), (1 << 30, 1), (1, 2)] {
                if split == 1 && rows.rows.len() > 1000 {
                    continue;
                }
                for input in [file(&bytes), stream(&bytes, 991), file(&compressed)] {
                    let found = read(open(*layout, input, Some(&rows.schema), split), threads).unwrap();
                    assert!(found == rows.rows, "{}", layout.name());
                }
            }
        }
        let unknown = open(*layout, file(&small().foreign(*layout)), None, 1 << 20).err().unwrap().to_string();
        assert!(unknown.contains("--schema"), "{unknown}");
    }
}

#[test]
fn unframed_rows_may_be_cut_off_only_between_rows() {
    let rows = small();
    for layout in LAYOUTS {
        let bytes = rows.foreign(*layout);
        let mut whole = 0;
        for length in 1..=bytes.len() {
            match read(open(*layout, file(&bytes[..length]), Some(&rows.schema), 1 << 20), 1) {
                Ok(found) => {
                    assert!(rows.rows.starts_with(&found) && !found.is_empty(), "{}", layout.name());
                    whole += 1;
                }
                Err(error) => assert!(matches!(error, Error::Corrupt { .. }), "{}: {error}", layout.name()),
            }
        }
        // An encoding may have many rows in one item.
        let (mut ends, mut at) = (0, 0);
        while at < bytes.len() {
            at += layout.row_end(&rows.schema, &bytes[at..], 1).unwrap().unwrap().0;
            ends += 1;
        }
        assert_eq!(whole, ends, "{}", layout.name());
    }
}

/// Frames with too large lengths and valid checksums.
#[test]
fn forged_lengths_are_rejected() {
    let rows = small();
    for layout in LAYOUTS {
        let (start, part, end) = rows.pieces(*layout, 1000);
        let (head, body) = part.bytes.split_at(layout.frame_header_bytes());
        let sound = layout.read_frame_header(head).unwrap();
        let own = |header: FrameHeader| {
            let mut bytes = Vec::new();
            layout.frame_header(&header, &mut bytes);
            assert_eq!(bytes.len(), layout.frame_header_bytes(), "{}", layout.name());
            bytes
        };
        for header in [
            FrameHeader { length: u32::MAX, ..sound },
            FrameHeader { length: LARGEST_FRAME as u32 + 1, ..sound },
            FrameHeader { length: sound.length + 1, ..sound },
            FrameHeader { length: sound.length - 1, ..sound },
            FrameHeader { length: 0, ..sound },
            FrameHeader { rows: u32::MAX, ..sound },
            FrameHeader { rows: sound.rows + 1, ..sound },
            FrameHeader { rows: 0, ..sound },
            FrameHeader { rows: 0, length: 0, ..sound },
        ] {
            let bytes = [&start[..], &own(header), body, &end].concat();
            for input in [file(&bytes), stream(&bytes, 4096)] {
                let error = read(open(*layout, input, None, 1 << 20), 1).unwrap_err();
                assert!(matches!(error, Error::Corrupt { .. }), "{} {header:?}: {error}", layout.name());
            }
        }
        let counts = [start, part.bytes, own(FrameHeader::end(2))].concat();
        assert!(read(open(*layout, file(&counts), None, 1 << 20), 1).is_err());
    }
}

/// A string longer than any memory, at the start of an endless stream.
#[test]
fn endless_rows_are_rejected() {
    let schema = Schema::parse("s:string not null").unwrap();
    let heads: [(&str, &[u8]); 5] = [
        ("bincode", &[0xff, 0xff, 0xff, 0x03, 0, 0, 0, 0]),
        ("msgpack", b"\x91\xdb\xff\xff\xff\xff"),
        ("msgpack", b"\x91\xc6\xff\xff\xff\xff"),
        ("cbor", b"\x81\x7b\x7f\xff\xff\xff\xff\xff\xff\xff"),
        ("protobuf", b"\xff\xff\xff\xff\xff\x7f\x0a\xff\xff\xff\xff\x7f"),
    ];
    for (encoding, head) in heads {
        let layout = LAYOUTS.iter().find(|layout| layout.name() == encoding).unwrap();
        let endless = std::io::Cursor::new(head.to_vec()).chain(std::io::repeat(b'x'));
        let input = Input::from_stream(name(), Box::new(endless));
        let error = read(open(*layout, input, Some(&schema), 1), 1).unwrap_err().to_string();
        assert!(error.contains("a row does not end"), "{encoding}: {error}");
        let error = read(open(*layout, file(head), Some(&schema), 1), 1).unwrap_err().to_string();
        assert!(error.contains("ends within a row"), "{encoding}: {error}");
    }
}

fn any_rows() -> impl Strategy<Value = Rows> {
    let name = prop_oneof![
        "[a-c]{0,3}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..40),
        Just(vec![b'n'; 300]),
    ];
    let number = prop_oneof![any::<i64>(), -3000..3000i64, any::<i16>().prop_map(i64::from)];
    let row =
        (name, number, any::<i32>()).prop_map(|(name, a, b)| vec![a.into(), Cell::Bytes(name), i64::from(b).into()]);
    prop::collection::vec(row, 1..300).prop_map(|rows| Rows::new("a:int,name:string,b:decimal(3)", rows))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_rows_round_trip(rows in any_rows(), step in 1..300usize, portion in 1..3000usize) {
        for layout in LAYOUTS {
            let (start, part, end) = rows.pieces(*layout, step);
            let bytes = [start, part.bytes, end].concat();
            prop_assert!(read(open(*layout, file(&bytes), None, 1000), 2).unwrap() == rows.rows);
            let foreign = rows.foreign(*layout);
            prop_assert!(read(open(*layout, stream(&foreign, portion), Some(&rows.schema), 500), 2).unwrap() == rows.rows);
        }
    }

    /// Arbitrary bytes as rows never panic.
    #[test]
    fn any_bytes_are_read_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>()) {
        let rows = small();
        for layout in LAYOUTS {
            let _ = read(open(*layout, file(&bytes), Some(&rows.schema), 50), 1);
            let mut foreign = rows.foreign(*layout);
            let at = at.index(foreign.len());
            foreign.splice(at..at, bytes.iter().copied());
            let _ = read(open(*layout, file(&foreign), Some(&rows.schema), 50), 1);
        }
    }
}

/// A sink that truncates a file once its first rows arrive.
struct TruncatingSink(std::fs::File);

impl Sink for TruncatingSink {
    fn batch(&mut self, _: &Batch<'_>) -> Result<()> {
        self.0.set_len(0).unwrap();
        Ok(())
    }
}

impl Worker for TruncatingSink {
    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, _: Scanned) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_truncated_while_it_is_read_is_corrupt() {
    let rows = many_keys();
    for layout in LAYOUTS {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&rows.file(*layout)).unwrap();
        let same = file.try_clone().unwrap();
        let table = open(*layout, Input::from_file(name(), file), None, 1 << 14).unwrap();
        let options = ScanOptions::everything(table.schema());
        let new_worker = || TruncatingSink(same.try_clone().unwrap());
        let outcome = scan(table.as_ref(), &options, 2, &Progress::default(), new_worker).map(drop);
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{}: {error}", layout.name());
    }
}
