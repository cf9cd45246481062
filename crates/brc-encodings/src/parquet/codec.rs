//! The compression of pages: `brc`'s own block compressions, or one that only parquet files have.

use crate::columnar::{Fault, guarded};
use brc_compress::{Compression, Compressor};
use brotli_decompressor::Decompressor;
use lz4_flex::block::decompress_into;
use parquet::basic::CompressionCodec;
use std::io::{Cursor, Read};

/// The compression of the pages of a column chunk.
#[derive(Clone, Copy)]
pub(super) enum Codec {
    Block(&'static dyn Compression),
    Brotli,
    /// The format's deprecated LZ4, which writers implemented in three ways: Hadoop blocks with lengths, frames, and
    /// one raw block. Files do not say which it is.
    AnyLz4,
}

/// `brc`'s compressions under the format's names.
const BLOCKS: [(CompressionCodec, &str); 5] = [
    (CompressionCodec::UNCOMPRESSED, "none"),
    (CompressionCodec::SNAPPY, "snappy"),
    (CompressionCodec::LZ4_RAW, "lz4"),
    (CompressionCodec::GZIP, "gzip"),
    (CompressionCodec::ZSTD, "zstd"),
];

/// The format's id of a compression.
pub(super) fn written(compression: &dyn Compression) -> Option<CompressionCodec> {
    BLOCKS.iter().find(|(_, name)| *name == compression.name()).map(|(codec, _)| *codec)
}

impl Codec {
    /// The compression with an id of the format; `Some(None)` is no compression.
    pub(super) fn of(codec: CompressionCodec) -> Option<Option<Self>> {
        match codec {
            CompressionCodec::BROTLI => Some(Some(Self::Brotli)),
            CompressionCodec::LZ4 => Some(Some(Self::AnyLz4)),
            _ => {
                let (_, name) = BLOCKS.iter().find(|(known, _)| *known == codec)?;
                let compression = brc_compress::by_name(name)?;
                Some(if Compressor::of(compression).is_none() { None } else { Some(Self::Block(compression)) })
            }
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Block(compression) => compression.name(),
            Self::Brotli => "brotli",
            Self::AnyLz4 => "lz4",
        }
    }

    /// Decompresses to exactly the length of `out`.
    pub(super) fn decompress(self, packed: &[u8], out: &mut [u8]) -> Result<(), Fault> {
        match self {
            Self::Block(compression) => {
                compression.decompress(packed, out).map_err(|error| Fault::corrupt(error.to_string()))
            }
            Self::Brotli => guarded(|| whole(Decompressor::new(packed, BROTLI_BUFFER), out))
                .map_err(|_| Fault::corrupt("malformed brotli data")),
            Self::AnyLz4 if packed.starts_with(&LZ4_FRAME) => lz4_frames(packed, out),
            Self::AnyLz4 => match hadoop_blocks(packed, out) {
                Some(()) => Ok(()),
                None if decompress_into(packed, out).is_ok_and(|written| written == out.len()) => Ok(()),
                None => Err(malformed_lz4()),
            },
        }
    }
}

/// The number of bytes that the brotli decoder reads at once.
const BROTLI_BUFFER: usize = 4 << 10;

/// The magic of an LZ4 frame.
const LZ4_FRAME: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

fn malformed_lz4() -> Fault {
    Fault::corrupt("malformed lz4 data")
}

/// Reads content that must have exactly the length of `out`.
fn whole(mut content: impl Read, out: &mut [u8]) -> Result<(), Fault> {
    match content.read_exact(out).and_then(|()| content.read(&mut [0])) {
        Ok(0) => Ok(()),
        _ => Err(Fault::corrupt("its content has another length")),
    }
}

fn lz4_frames(packed: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    let format = brc_compress::by_name("lz4").and_then(Compression::file_format);
    let format = format.ok_or_else(|| Fault::unsupported("this build reads no LZ4 frames"))?;
    whole(format.reader(Box::new(Cursor::new(packed.to_vec()))), out).map_err(|_| malformed_lz4())
}

/// Decompresses Hadoop's LZ4: blocks, each with its uncompressed length, made of pieces, each with its compressed
/// length; `None` if the bytes are something else.
fn hadoop_blocks(mut packed: &[u8], out: &mut [u8]) -> Option<()> {
    let mut done = 0;
    while !packed.is_empty() {
        let end = done + take_length(&mut packed)?;
        while done < end {
            let length = take_length(&mut packed)?;
            let (piece, rest) = packed.split_at_checked(length)?;
            let written = decompress_into(piece, out.get_mut(done..end)?).ok().filter(|written| *written > 0)?;
            (packed, done) = (rest, done + written);
        }
    }
    (done == out.len()).then_some(())
}

/// Takes a length off the front.
fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    let (length, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_be_bytes(*length) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lz4_flex::block::compress;
    use std::io::Write;

    fn content() -> Vec<u8> {
        (0..50_000u32).flat_map(|row| (row / 7).to_le_bytes()).collect()
    }

    fn hadoop(blocks: &[&[&[u8]]]) -> Vec<u8> {
        let mut packed = Vec::new();
        for pieces in blocks {
            let length: usize = pieces.iter().map(|piece| piece.len()).sum();
            packed.extend((length as u32).to_be_bytes());
            for piece in *pieces {
                let piece = compress(piece);
                packed.extend((piece.len() as u32).to_be_bytes());
                packed.extend(piece);
            }
        }
        packed
    }

    #[test]
    fn lz4_of_every_writer_is_read() {
        let content = content();
        let (first, second) = content.split_at(70_000);
        let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
        frame.write_all(&content).unwrap();
        let all = [
            hadoop(&[&[&content]]),
            hadoop(&[&[first, second]]),
            hadoop(&[&[first], &[], &[second]]),
            compress(&content),
            frame.finish().unwrap(),
        ];
        for packed in all {
            let mut out = vec![0; content.len()];
            Codec::AnyLz4.decompress(&packed, &mut out).unwrap();
            assert!(out == content);
            assert!(Codec::AnyLz4.decompress(&packed, &mut out[1..]).is_err());
            assert!(Codec::AnyLz4.decompress(&packed, &mut vec![0; content.len() + 1]).is_err());
            assert!(Codec::AnyLz4.decompress(&packed[..packed.len() - 1], &mut out).is_err());
        }
    }

    #[test]
    fn brotli_is_read() {
        // "brotli brotli brotli brotli\n", compressed by brotli.
        let packed = b"\x1b\x1b\x00\xf8\x1d\xa9\x53\x9f\xbb\x70\x25\x26\x97\x0a\x20\x74\x99\xc6\xf6\x56\x8a\xcc\x13\x09\xac\x9f\x00";
        let mut out = vec![0; 28];
        let outcome = Codec::Brotli.decompress(packed, &mut out);
        assert_eq!((outcome, out.as_slice()), (Ok(()), b"brotli brotli brotli brotli\n".as_slice()));
        for length in [0, 27, 29] {
            assert!(Codec::Brotli.decompress(packed, &mut vec![0; length]).is_err(), "{length}");
        }
        for end in 0..packed.len() - 1 {
            assert!(Codec::Brotli.decompress(&packed[..end], &mut out).is_err(), "{end}");
        }
    }

    #[test]
    fn every_codec_of_the_format_is_supported_or_rejected() {
        assert!(matches!(Codec::of(CompressionCodec::UNCOMPRESSED), Some(None)));
        assert!(Codec::of(CompressionCodec::LZO).is_none());
        for (codec, name) in [(CompressionCodec::BROTLI, "brotli"), (CompressionCodec::LZ4, "lz4")] {
            assert_eq!(Codec::of(codec).flatten().unwrap().name(), name);
        }
    }
}
