//! Files as `brc` writes them, intact and damaged, and files of other programs.

use brc_compress::file_format::{ChunkPlace, ChunkSummary, FileFormat};
use brc_compress::{COMPRESSIONS, Compression, Compressor, by_extension, by_prefix};
use proptest::prelude::*;
use std::fs;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;

fn formats() -> impl Iterator<Item = (Compressor, &'static dyn FileFormat)> {
    COMPRESSIONS.iter().filter_map(|compression| Some((Compressor::of(*compression), compression.file_format()?)))
}

fn write(format: &dyn FileFormat, level: i32, chunks: &[&[u8]]) -> Vec<u8> {
    let mut file = format.start();
    let summaries: Vec<_> = chunks
        .iter()
        .map(|chunk| {
            let start = file.len();
            let summary = format.chunk(level, chunk, chunk.len() as u32 / 2, &mut file);
            let ChunkSummary { stored, length, rows, .. } = summary;
            assert_eq!((stored as usize, length as usize), (file.len() - start, chunk.len()));
            assert_eq!(rows, length / 2);
            summary
        })
        .collect();
    file.extend(format.finish(&summaries));
    file
}

fn locations(format: &dyn FileFormat, file: &[u8]) -> io::Result<Option<Vec<ChunkPlace>>> {
    format.chunks(file.len() as u64, &mut |offset, buffer| {
        let end = offset as usize + buffer.len();
        buffer.copy_from_slice(file.get(offset as usize..end).ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    })
}

/// The content and the number of rows of a chunk.
type Chunk = (Vec<u8>, u32);

/// The chunks; `None` if the file has none.
fn read_chunks(format: &dyn FileFormat, file: &[u8]) -> io::Result<Option<Vec<Chunk>>> {
    let Some(locations) = locations(format, file)? else { return Ok(None) };
    let read = |location: &ChunkPlace| {
        let mut output = vec![0; location.length as usize];
        let stored = &file[location.offset as usize..][..location.stored as usize];
        format.decompress_chunk(location, stored, &mut output).map_err(io::Error::other)?;
        Ok((output, location.rows.unwrap_or(0)))
    };
    locations.iter().map(read).collect::<io::Result<_>>().map(Some)
}

fn read_stream(format: &dyn FileFormat, file: &[u8]) -> io::Result<Vec<u8>> {
    let mut output = Vec::new();
    format.reader(Box::new(Cursor::new(file.to_vec()))).read_to_end(&mut output)?;
    Ok(output)
}

/// Returns its bytes one by one, each after an interrupted read.
struct ByteByByte(Cursor<Vec<u8>>, bool);

impl Read for ByteByByte {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(ErrorKind::Interrupted.into());
        }
        let count = output.len().min(1);
        self.0.read(&mut output[..count])
    }
}

const SMALL: [&[u8]; 4] =
    [b"Hamburg;12.0\nHamburg;12.3\n", b"", b"Abha;-1.0\nAbha;-1.0\nAbha;-1.0\nAbha;-1.0\n", b"Z\xff\0"];

#[test]
fn extensions_are_pinned() {
    let all: Vec<_> = formats().map(|(compressor, format)| (compressor.to_string(), format.extensions())).collect();
    let expected: [(_, &[_]); 5] = [
        ("snappy", &["sz"]),
        ("lz4", &["lz4"]),
        ("gzip", &["gz"]),
        ("zlib", &["zz", "zlib"]),
        ("zstd", &["zst", "zstd"]),
    ];
    assert_eq!(all, expected.map(|(name, extensions)| (name.to_owned(), extensions)));
    assert_eq!(by_extension("GZ").unwrap().name(), "gzip");
    assert!(by_extension("csv").is_none());
}

#[test]
fn files_are_recognised_by_their_first_bytes() {
    for (compressor, format) in formats() {
        for chunks in [&SMALL[..], &[]] {
            let file = write(format, compressor.level, chunks);
            assert_eq!(by_prefix(&file).map(Compression::name), Some(compressor.compression.name()));
        }
    }
    let texts =
        [&b""[..], b"x", b"x^", b"x^2;1.0\nx^3;2.0\n", b"x\x01", b"x\x9c", b"hC;1.0\n", b"8O;1.0\nabc;2.0\n", b"BZh9"];
    for text in texts {
        assert_eq!(by_prefix(text).map(Compression::name), None, "{text:?}");
        let long = text.repeat(10_000);
        assert_eq!(by_prefix(&long).map(Compression::name), None, "{text:?}");
    }
}

/// Truncated files are still recognised, and so reported as corrupt instead of as a malformed table.
#[test]
fn truncated_files_are_recognised_by_their_first_bytes() {
    for (compressor, format) in formats() {
        let name = compressor.compression.name();
        let file = write(format, compressor.level, &SMALL);
        let least = if name == "zlib" { 7 } else { 4 };
        for length in least..file.len() {
            assert_eq!(by_prefix(&file[..length]).map(Compression::name), Some(name), "{length}");
        }
    }
}

/// Small streams of other programs, with all kinds of blocks.
#[allow(clippy::unwrap_used)]
fn zlib_streams() -> Vec<Vec<u8>> {
    let zlib = by_extension("zz").unwrap();
    let rows = (0..40).map(|row| format!("station {};{}.{}\n", row * row % 11, row % 7, row % 10));
    let contents = [rows.collect(), "Hamburg;12.0\nAbha;-3.4\nBulawayo;8.9\n".to_owned()].map(String::into_bytes);
    let compress = |content: &Vec<u8>| {
        [1, 6, 9].map(|level| {
            let mut stream = Vec::new();
            zlib.compress(level, content, &mut stream);
            stream
        })
    };
    let stored = |content: &Vec<u8>| {
        let length = content.len() as u16;
        let head = [&[0x78, 0x01, 1][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat();
        // Without the checksum it counts as damaged.
        [&head, &content[..], &[0; 4]].concat()
    };
    contents.iter().flat_map(compress).chain(contents.iter().map(stored)).collect()
}

#[test]
fn partly_valid_zlib_is_recognised() {
    for stream in zlib_streams() {
        for length in stream.len() / 2..stream.len() {
            assert_eq!(by_prefix(&stream[..length]).map(Compression::name), Some("zlib"), "cut off at {length}");
        }
        for at in stream.len() / 2..stream.len() {
            let mut damaged = stream.clone();
            damaged[at] ^= 1 << (at % 8);
            assert_eq!(by_prefix(&damaged).map(Compression::name), Some("zlib"), "a bit of byte {at} flipped");
        }
    }
}

/// The pairs of bytes that a zlib stream may start with.
fn zlib_headers() -> impl Iterator<Item = [u8; 2]> {
    let pairs = (0..=u16::MAX).filter(|pair| pair % 31 == 0 && pair & 0x0f20 == 0x0800 && pair >> 12 <= 7);
    pairs.map(u16::to_be_bytes)
}

/// Text in encodings other than UTF-8, and UTF-8 with control characters.
#[test]
fn no_text_beyond_ascii_is_taken_for_zlib() {
    let zlib = by_extension("zz").unwrap().file_format().unwrap();
    for header in zlib_headers() {
        for third in 1..=255 {
            let start = [header[0], header[1], third];
            for row in [&b";1.0\nZ\xfcrich;2.0\n"[..], b"\xe4\xf6\xfc\xdf;-12.3\n", b";1.0\r\n"] {
                let plain = !start.iter().any(u8::is_ascii_control);
                let rows = [&start, row, &b"M\xfcnchen;7.5\n".repeat(8)].concat();
                let is_utf8 = std::str::from_utf8(&rows).is_ok();
                assert!(!(plain || is_utf8) || !zlib.sniff(&rows), "{}", rows.escape_ascii());
            }
            let text = [String::from_utf8_lossy(&start).into_owned(), "\u{1};1.0\nXàtiva;2.0\n".repeat(9)].concat();
            assert!(!zlib.sniff(text.as_bytes()), "{}", text.escape_debug());
        }
    }
}

/// Rows of other programs without a header.
#[test]
fn no_binary_rows_are_taken_for_zlib() {
    let zlib = by_extension("zz").unwrap().file_format().unwrap();
    for [first, second] in zlib_headers() {
        for length in 0..=255 {
            let name = [b'x'; 255];
            let name = &name[..usize::from(length)];
            let rows = [
                // bincode, protobuf, and numbers as rows of msgpack or cbor.
                [&[first, second, 0, 0, 0, 0, 0, 0][..], name, &[length, 0, 0, 0, 0, 0, 0, 0]].concat(),
                [&[first, second, length][..], name, &[0x10, 0x14]].concat(),
                [&[first, second, 0x92, 0xa4][..], b"Abha", &[0x0a, 0x92, 0xd9, length], name, &[0x0b]].concat(),
                [&[first, second, 0x82, 0x64][..], b"Abha", &[0x0a, 0x82, 0x78, length], name, &[0x0b]].concat(),
            ];
            for rows in rows {
                assert!(!zlib.sniff(&rows), "{}", rows.escape_ascii());
            }
        }
    }
}

/// Text is not taken for a zlib file, whatever it starts with.
#[test]
fn no_text_is_taken_for_zlib() {
    let zlib = by_extension("zz").unwrap().file_format().unwrap();
    for first in 0x20..0x7f {
        for second in 0x20..0x7f {
            for third in (0x20..0x7f).chain(*b"\t\n\r") {
                let start = [first, second, third];
                assert!(!zlib.sniff(&start));
                assert!(!zlib.sniff(&[&start[..], b";12.3\nHamburg;4.0\n"].concat()));
                assert!(!zlib.sniff(&[&start[..], &b"bcd;12.3\nHamburg;4.0\n".repeat(1000)].concat()));
            }
        }
    }
}

#[test]
fn an_empty_table_is_a_file() {
    for (compressor, format) in formats() {
        let file = write(format, compressor.level, &[]);
        assert_eq!(locations(format, &file).unwrap(), Some(Vec::new()), "{compressor}");
        assert_eq!(read_stream(format, &file).unwrap(), b"", "{compressor}");
        assert_eq!(read_stream(format, b"").unwrap_err().kind(), ErrorKind::UnexpectedEof, "{compressor}");
        assert_eq!(locations(format, b"").unwrap(), None, "{compressor}");
    }
}

#[test]
fn truncated_files_are_an_error() {
    for (compressor, format) in formats() {
        let file = write(format, compressor.level, &SMALL);
        for length in 0..file.len() {
            let error = read_stream(format, &file[..length]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{compressor} at {length}: {error}");
            match locations(format, &file[..length]) {
                Ok(locations) => assert_eq!(locations, None, "{compressor} at {length}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{compressor} at {length}: {error}"),
            }
        }
    }
}

#[test]
fn a_damaged_file_is_an_error_or_the_same() {
    let rows: Vec<_> = SMALL.iter().map(|chunk| (chunk.to_vec(), chunk.len() as u32 / 2)).collect();
    for (compressor, format) in formats() {
        let file = write(format, compressor.level, &SMALL);
        for (position, bit) in (0..file.len()).flat_map(|position| (0..8).map(move |bit| (position, bit))) {
            let mut damaged = file.clone();
            damaged[position] ^= 1 << bit;
            match read_stream(format, &damaged) {
                Ok(content) => assert_eq!(content, SMALL.concat(), "{compressor} at {position}"),
                Err(error) => assert_ne!(error.kind(), ErrorKind::Unsupported, "{compressor} at {position}: {error}"),
            }
            if let Ok(Some(chunks)) = read_chunks(format, &damaged) {
                assert_eq!(chunks, rows, "{compressor} at {position}");
            }
        }
    }
}

#[test]
fn trailing_bytes_are_an_error() {
    for (compressor, format) in formats() {
        let file = write(format, compressor.level, &SMALL);
        for garbage in [&b"\0"[..], b"garbage", b"\0garbage"] {
            if garbage == b"\0" && compressor.compression.name() == "gzip" {
                continue; // Padding.
            }
            let file = [&file, garbage].concat();
            assert!(read_stream(format, &file).is_err(), "{compressor}");
            assert!(!matches!(locations(format, &file), Ok(Some(_))), "{compressor}");
        }
        let error = read_stream(format, &[&file[..], b"garbage"].concat()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{compressor}");
    }
}

/// Tapes pad their last block with zeros, and gzip(1) ignores them.
#[test]
fn zeros_after_gzip_members_are_padding() {
    let gzip = by_extension("gz").unwrap().file_format().unwrap();
    let rows: Vec<_> = SMALL.iter().map(|chunk| (chunk.to_vec(), chunk.len() as u32 / 2)).collect();
    let (own, empty) = (write(gzip, 6, &SMALL), write(gzip, 6, &[]));
    let foreign = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/two.gz")).unwrap();
    for count in [1, 7, 60, 512, 200_000] {
        let pad = |file: &[u8]| [file, &vec![0; count]].concat();
        assert_eq!(read_chunks(gzip, &pad(&own)).unwrap().as_ref(), Some(&rows), "{count}");
        assert_eq!(read_stream(gzip, &pad(&own)).unwrap(), SMALL.concat(), "{count}");
        assert_eq!(read_chunks(gzip, &pad(&empty)).unwrap(), Some(Vec::new()), "{count}");
        assert_eq!(read_stream(gzip, &pad(&empty)).unwrap(), b"", "{count}");
        assert_eq!(locations(gzip, &pad(&foreign)).unwrap(), None, "{count}");
        assert!(read_stream(gzip, &pad(&foreign)).unwrap() == table(), "{count}");
        // More members may follow: padded files may be concatenated.
        for (file, content) in [(&own, SMALL.concat()), (&foreign, table())] {
            let followed = [pad(file), file.clone()].concat();
            assert_eq!(locations(gzip, &followed).unwrap(), None, "{count}");
            assert!(read_stream(gzip, &followed).unwrap() == content.repeat(2), "{count}");
        }
        // Anything else after them is an error, and so is truncation.
        let followed = [pad(&own), b"garbage".to_vec()].concat();
        assert_eq!(locations(gzip, &followed).unwrap(), None, "{count}");
        assert_eq!(read_stream(gzip, &followed).unwrap_err().kind(), ErrorKind::InvalidData, "{count}");
        let last = locations(gzip, &own).unwrap().unwrap()[3];
        let cut = pad(&own[..last.offset as usize]);
        assert!(locations(gzip, &cut).is_err() && read_stream(gzip, &cut).is_err(), "{count}");
        assert!(read_stream(gzip, &pad(b"")).is_err(), "{count}");
    }
}

#[test]
fn missing_and_duplicate_chunks_are_an_error() {
    for (compressor, format) in formats() {
        let file = write(format, compressor.level, &SMALL);
        for location in locations(format, &file).unwrap().unwrap() {
            let (start, end) = (location.offset as usize, location.offset as usize + location.stored as usize);
            for changed in [[&file[..start], &file[end..]].concat(), [&file[..end], &file[start..]].concat()] {
                assert!(locations(format, &changed).is_err(), "{compressor}");
                let same_content = compressor.compression.name() == "zlib" && location.length == 0;
                assert!(read_stream(format, &changed).is_err() || same_content, "{compressor}");
            }
        }
    }
}

#[test]
fn concatenated_files_are_one_file() {
    for (compressor, format) in formats() {
        let file = write(format, compressor.level, &SMALL);
        let content = read_stream(format, &file.repeat(3)).unwrap();
        assert_eq!(content, SMALL.concat().repeat(3), "{compressor}");
        if let Some(chunks) = read_chunks(format, &file.repeat(3)).unwrap() {
            assert_eq!(chunks.len(), 3 * SMALL.len(), "{compressor}");
        }
    }
}

#[test]
fn content_of_all_lengths_round_trips() {
    let mut state = 1u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 56) as u8
    })
    .take(4_200_000)
    .collect();
    for (compressor, format) in formats() {
        let lowest = compressor.compression.levels().map_or(0, |levels| levels.lowest);
        for length in [1, 65_535, 65_536, 65_537, 1 << 18, (1 << 20) + 1, noise.len()] {
            for content in [&noise[..length], &b"Hamburg;12.0\n".repeat(length.div_ceil(13))] {
                let file = write(format, lowest, &[content]);
                let chunks = read_chunks(format, &file).unwrap().unwrap();
                assert!(chunks.len() == 1 && chunks[0].0 == content, "{compressor} of {length}");
                assert!(read_stream(format, &file).unwrap() == content, "{compressor} of {length}");
            }
        }
    }
}

/// Files of the first version remain readable.
#[test]
fn golden_files_are_read() {
    for (compressor, format) in formats() {
        let extension = format.extensions()[0];
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/small.{extension}"));
        let expected: Vec<_> = SMALL.iter().map(|chunk| (chunk.to_vec(), chunk.len() as u32 / 2)).collect();
        let file = fs::read(path).unwrap();
        assert_eq!(read_chunks(format, &file).unwrap(), Some(expected), "{compressor}");
        assert_eq!(read_stream(format, &file).unwrap(), SMALL.concat(), "{compressor}");
    }
}

/// The table that `tests/fixtures/make.sh` compresses.
fn table() -> Vec<u8> {
    (0..12_000).flat_map(|i| format!("station {};{}.{}\n", i * i % 11, i % 7, i % 10).into_bytes()).collect()
}

#[test]
fn files_of_other_programs_are_read() {
    let mut seen = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")).unwrap() {
        let path = entry.unwrap().path();
        let Some(compression) = path.extension().and_then(|extension| by_extension(extension.to_str()?)) else {
            continue;
        };
        seen += 1;
        let (format, file) = (compression.file_format().unwrap(), fs::read(&path).unwrap());
        assert_eq!(by_prefix(&file).map(Compression::name), Some(compression.name()), "{path:?}");
        match read_chunks(format, &file).unwrap() {
            Some(chunks) => {
                assert!(path.ends_with("bgzip.gz"), "{path:?}");
                assert!(locations(format, &file).unwrap().unwrap().iter().all(|location| location.rows.is_none()));
                assert!(chunks.into_iter().flat_map(|(bytes, _)| bytes).eq(table()));
            }
            None => assert!(!path.ends_with("bgzip.gz")),
        }
        assert!(read_stream(format, &file).unwrap() == table(), "{path:?}");
        for length in (1..file.len() - 8).step_by(997).chain([file.len() - 1]) {
            match read_stream(format, &file[..length]) {
                // Truncated between two members.
                Ok(content) => assert!(table().starts_with(&content) && content.len() < table().len(), "{path:?}"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{path:?} at {length}: {error}"),
            }
        }
    }
    assert_eq!(seen, 24);
}

/// The kind and the message of the error that ends reading.
#[allow(clippy::unwrap_used)]
fn refusal(extension: &str, file: &[u8]) -> (ErrorKind, String) {
    let format = by_extension(extension).unwrap().file_format().unwrap();
    let error = read_stream(format, file).unwrap_err();
    (error.kind(), error.to_string())
}

#[test]
fn windows_beyond_128_mib_are_not_supported() {
    // A frame header with a window of 2 GiB, and a raw block of one byte.
    let (kind, error) = refusal("zst", b"\x28\xb5\x2f\xfd\x00\xa8\x09\0\0x");
    assert_eq!(kind, ErrorKind::Unsupported, "{error}");
    assert!(error.contains("2048 MiB") && error.contains("128 MiB") && error.contains("zstd -d"), "{error}");
    // The smallest window that is too large, and a frame of one segment, whose window is its content.
    assert_eq!(refusal("zst", b"\x28\xb5\x2f\xfd\x00\x89\x09\0\0x").0, ErrorKind::Unsupported);
    assert_eq!(refusal("zst", b"\x28\xb5\x2f\xfd\xa0\x01\0\0\x08\x09\0\0x").0, ErrorKind::Unsupported);
    // Windows of 128 MiB.
    let zstd = by_extension("zst").unwrap().file_format().unwrap();
    assert_eq!(read_stream(zstd, b"\x28\xb5\x2f\xfd\x00\x88\x09\0\0x").unwrap(), b"x");
    let (kind, error) = refusal("zst", b"\x28\xb5\x2f\xfd\xa0\0\0\0\x08\x09\0\0x");
    assert_eq!(kind, ErrorKind::InvalidData, "the content is too short, nothing else: {error}");
}

#[test]
fn dictionaries_are_not_supported() {
    // A window of 1 KiB, and the dictionary 7 in one, two and four bytes.
    for head in [&b"\x01\0\x07"[..], b"\x02\0\x07\0", b"\x03\0\x07\0\0\0"] {
        let (kind, error) = refusal("zst", &[b"\x28\xb5\x2f\xfd", head, b"\x09\0\0x"].concat());
        assert_eq!(kind, ErrorKind::Unsupported, "{error}");
        assert!(error.contains("the dictionary 7") && error.contains("zstd -d -D"), "{error}");
    }
    // The number 0 means that no dictionary is given.
    let zstd = by_extension("zst").unwrap().file_format().unwrap();
    assert_eq!(read_stream(zstd, b"\x28\xb5\x2f\xfd\x01\0\0\x09\0\0x").unwrap(), b"x");
    // Independent blocks, and the dictionary 7.
    let (kind, error) = refusal("lz4", b"\x04\x22\x4d\x18\x61\x40\x07\0\0\0\xe3\0\0\0\0");
    assert_eq!(kind, ErrorKind::Unsupported, "{error}");
    assert!(error.contains("dictionary") && error.contains("lz4 -d -D"), "{error}");
}

#[test]
fn the_legacy_lz4_format_is_not_supported() {
    let legacy = b"\x02\x21\x4c\x18\x0a\0\0\0\x90Abha;1.0\n";
    assert_eq!(by_prefix(legacy).map(Compression::name), Some("lz4"));
    let skippable = b"\x50\x2a\x4d\x18\x02\0\0\0no";
    for file in [&legacy[..], &[&skippable[..], legacy].concat()] {
        let (kind, error) = refusal("lz4", file);
        assert_eq!(kind, ErrorKind::Unsupported, "{error}");
        assert!(error.contains("legacy") && error.contains("lz4 -d"), "{error}");
    }
}

fn some_chunks() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(prop::sample::select(b"ab;1.\n\0".to_vec()), 0..3000), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn files_round_trip(chunks in some_chunks(), effort in 0..=100i32) {
        let chunks: Vec<_> = chunks.iter().map(Vec::as_slice).collect();
        for (compressor, format) in formats() {
            let level = compressor.compression.levels().map_or(0, |levels| {
                levels.lowest + (levels.highest - levels.lowest) * effort / 100
            });
            let file = write(format, level, &chunks);
            prop_assert_eq!(&file, &write(format, level, &chunks));
            let expected: Vec<_> = chunks.iter().map(|chunk| (chunk.to_vec(), chunk.len() as u32 / 2)).collect();
            prop_assert_eq!(read_chunks(format, &file).unwrap(), Some(expected));
            prop_assert_eq!(read_stream(format, &file).unwrap(), chunks.concat());
            let mut dripped = Vec::new();
            format.reader(Box::new(ByteByByte(Cursor::new(file), false))).read_to_end(&mut dripped).unwrap();
            prop_assert_eq!(dripped, chunks.concat());
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes: Vec<u8>, whole in some_chunks(), at: prop::sample::Index) {
        let whole: Vec<_> = whole.iter().map(Vec::as_slice).collect();
        for (compressor, format) in formats() {
            let mut file = write(format, compressor.level, &whole);
            let at = at.index(file.len());
            file.splice(at..file.len().min(at + bytes.len()), bytes.iter().copied());
            for file in [&file, &bytes] {
                let _ = (format.sniff(file), read_chunks(format, file), read_stream(format, file));
            }
        }
    }
}
